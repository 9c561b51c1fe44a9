// SPDX-License-Identifier: MIT
#pragma once

#include "server/src/session/session.hpp"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace reckoner {

/// All sessions, in the order in which the clients joined, so that no result depends on a hash. References
/// stay valid until remove().
class SessionTable {
 public:
  Session& add(ClientId id, PeerId peer, const ServerConfig& config) {
    sessions_.push_back(std::make_unique<Session>(id, peer, config));
    Session& added = *sessions_.back();
    ids_.push_back(id);
    by_peer_.insert(position_of(peer), {peer, &added});
    return added;
  }

  /// Null if there is no such session.
  [[nodiscard]] Session* find(PeerId peer) const {
    const auto found = position_of(peer);
    return found == by_peer_.end() || found->first != peer ? nullptr : found->second;
  }
  [[nodiscard]] Session* find(ClientId id) const {
    const auto found = std::lower_bound(ids_.begin(), ids_.end(), id);
    return found == ids_.end() || *found != id ? nullptr : sessions_[index_of(found)].get();
  }

  void remove(ClientId id) {
    const auto gone = std::lower_bound(ids_.begin(), ids_.end(), id);
    if (gone == ids_.end() || *gone != id) return;
    forget(sessions_[index_of(gone)]->peer());
    sessions_.erase(sessions_.begin() + static_cast<std::ptrdiff_t>(index_of(gone)));
    ids_.erase(gone);
  }

  /// Moves the session to another connection. `to` is null if it has none for now.
  void move(Session& session, PeerId to) {
    forget(session.peer());
    session.set_peer(to);
    if (to) by_peer_.insert(position_of(to), {to, &session});
  }
  void clear() {
    sessions_.clear();
    ids_.clear();
    by_peer_.clear();
  }

  [[nodiscard]] std::span<const std::unique_ptr<Session>> all() const { return sessions_; }
  [[nodiscard]] std::size_t size() const { return sessions_.size(); }

 private:
  using ByPeer = std::vector<std::pair<PeerId, Session*>>;

  [[nodiscard]] ByPeer::const_iterator position_of(PeerId peer) const {
    return std::lower_bound(by_peer_.begin(), by_peer_.end(), peer,
                            [](const auto& entry, PeerId wanted) { return entry.first < wanted; });
  }
  void forget(PeerId peer) {
    const auto found = position_of(peer);
    if (found != by_peer_.end() && found->first == peer) by_peer_.erase(found);
  }
  [[nodiscard]] std::size_t index_of(std::vector<ClientId>::const_iterator id) const {
    return static_cast<std::size_t>(id - ids_.begin());
  }

  // Sorted lists, because they are searched many times per tick: a few kB stay in the processor's first-level
  // cache, the sessions themselves do not.
  std::vector<std::unique_ptr<Session>> sessions_;
  std::vector<ClientId> ids_;  // of sessions_; new ids are always larger
  ByPeer by_peer_;             // sorted by peer
};

}  // namespace reckoner
