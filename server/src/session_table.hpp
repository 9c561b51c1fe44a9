// SPDX-License-Identifier: MIT
#pragma once

#include "session.hpp"

#include <algorithm>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

namespace reckoner {

/// All sessions, in order of joining, so that nothing depends on hashes. References stay valid until
/// remove().
class SessionTable {
 public:
  Session& add(ClientId id, PeerId peer, const ServerConfig& config) {
    sessions_.push_back(std::make_unique<Session>(id, peer, config));
    by_peer_[peer.value] = sessions_.back().get();
    return *sessions_.back();
  }

  /// Null if there is none.
  [[nodiscard]] Session* find(PeerId peer) const {
    const auto found = by_peer_.find(peer.value);
    return found == by_peer_.end() ? nullptr : found->second;
  }
  [[nodiscard]] Session* find(ClientId id) const {
    const auto found =
        std::lower_bound(sessions_.begin(), sessions_.end(), id,
                         [](const auto& session, ClientId wanted) { return session->id() < wanted; });
    return found == sessions_.end() || (*found)->id() != id ? nullptr : found->get();
  }

  void remove(PeerId peer) {
    const Session* gone = find(peer);
    by_peer_.erase(peer.value);
    std::erase_if(sessions_, [&](const auto& session) { return session.get() == gone; });
  }
  void clear() {
    sessions_.clear();
    by_peer_.clear();
  }

  [[nodiscard]] std::span<const std::unique_ptr<Session>> all() const { return sessions_; }
  [[nodiscard]] std::size_t size() const { return sessions_.size(); }

 private:
  std::vector<std::unique_ptr<Session>> sessions_;  // client ids only grow
  std::unordered_map<std::uint32_t, Session*> by_peer_;
};

}  // namespace reckoner
