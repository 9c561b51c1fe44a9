// SPDX-License-Identifier: MIT
#pragma once

#include "server/src/session/session.hpp"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include <reckoner/net/ids.hpp>
#include <reckoner/net/transport.hpp>
#include <reckoner/server/server.hpp>

namespace reckoner {

/// All sessions in the order in which the clients joined. The order is fixed so that results are
/// deterministic. References to a session stay valid until it is removed.
class SessionTable {
 public:
  Session& add(ClientId id, PeerId peer, const ServerConfig& config, const SenderParts& parts = {}) {
    sessions_.push_back(std::make_unique<Session>(id, peer, config, parts));
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

  /// Moves the session to the connection `to`. A null `to` means that the session has no connection for now.
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
  /// The ids of all sessions, in the same order.
  [[nodiscard]] std::span<const ClientId> ids() const { return ids_; }
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

  // The lists are searched many times per tick. A sorted list of a few kB stays in the processor's
  // first-level cache, but the sessions do not.
  std::vector<std::unique_ptr<Session>> sessions_;
  std::vector<ClientId> ids_;  // ids of sessions_; a new id is larger than all earlier ids
  ByPeer by_peer_;             // sorted by peer
};

}  // namespace reckoner
