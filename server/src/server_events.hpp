// SPDX-License-Identifier: MIT
#pragma once

#include "server/src/server_log.hpp"

#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <utility>

#include <reckoner/net/ids.hpp>
#include <reckoner/server/server.hpp>

namespace reckoner {

/// The events that the game has not polled yet. Each event is also a record of the log, so that the game and
/// the operator see the same.
class ServerEvents {
 public:
  /// `log` and `stats` must outlive this object.
  ServerEvents(ServerLog& log, ServerStats& stats) : log_(log), stats_(stats) {}

  void client_joined(ClientId client, PeerId peer) {
    add(ServerEvent::Kind::client_joined, client, {});
    log_.joined(client, peer);
  }
  void client_refused(PeerId peer, const std::string& why) {
    add(ServerEvent::Kind::client_refused, {}, why);
    log_.refused(peer, why);
  }
  void client_left(ClientId client, PeerId peer, std::string why) {
    add(ServerEvent::Kind::client_left, client, std::move(why));
    log_.left(client, peer);
  }
  void client_lost(ClientId client, PeerId peer) {
    log_.lost(client, peer);
    add(ServerEvent::Kind::client_lost, client, "the connection was lost");
  }
  void client_back(ClientId client, PeerId peer) {
    add(ServerEvent::Kind::client_back, client, {});
    log_.back(client, peer);
  }
  /// `run(queue)` appends events about owners to the queue; they are then logged.
  template <class F>
  void collect_owner_events(F&& run) {
    const std::size_t first = queue_.size();
    run(queue_);
    log_.owner_events(queue_, first);
    limit();
  }

  /// Removes and returns the oldest event; nullopt if there is none.
  [[nodiscard]] std::optional<ServerEvent> poll() {
    if (queue_.empty()) return std::nullopt;
    ServerEvent event = std::move(queue_.front());
    queue_.pop_front();
    return event;
  }

 private:
  void add(ServerEvent::Kind kind, ClientId client, std::string text) {
    queue_.push_back({kind, client, std::move(text)});
    limit();
  }

  /// A game need not poll events, and a refused client causes one, so anybody could fill the memory.
  void limit() {
    constexpr std::size_t kMostWaiting = 16'384;
    while (queue_.size() > kMostWaiting) {
      queue_.pop_front();
      ++stats_.events_discarded;
    }
  }

  ServerLog& log_;
  ServerStats& stats_;
  std::deque<ServerEvent> queue_;
};

}  // namespace reckoner
