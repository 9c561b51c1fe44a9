// SPDX-License-Identifier: MIT
#pragma once

#include "harness/conditioner/conditioner.hpp"
#include "tests/net/real_time.hpp"
#include "transport_row.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <glm/vec3.hpp>

#include <reckoner/client/client.hpp>
#include <reckoner/net/connect_token.hpp>
#include <reckoner/net/network_dialer.hpp>
#include <reckoner/net/network_transport.hpp>
#include <reckoner/server/server.hpp>

namespace reckoner::test {

using Bytes = std::vector<std::byte>;

inline constexpr harness::LinkOptions kGoodLink{.latency_ms = 20.0, .jitter_ms = 5.0};
inline constexpr harness::LinkOptions kFifthLost{.latency_ms = 20.0, .jitter_ms = 5.0, .loss_percent = 20.0};
inline constexpr harness::LinkOptions kAllLost{.latency_ms = 20.0, .jitter_ms = 5.0, .loss_percent = 100.0};

/// A client and what it has received.
struct SocketPlayer {
  std::unique_ptr<NetworkDialer> dialer;
  std::optional<Client> client;
  std::vector<ClientEvent> events;
  std::vector<Bytes> messages;     ///< from the server, oldest first
  std::vector<ShownEntity> shown;  ///< in the newest picture

  [[nodiscard]] ClientStatus status() const { return client->status(); }
  [[nodiscard]] bool has_joined() const { return status() == ClientStatus::joined; }
  [[nodiscard]] bool is_over() const {
    return status() == ClientStatus::disconnected || status() == ClientStatus::refused;
  }
  [[nodiscard]] std::size_t count(ClientEvent::Kind kind) const {
    return static_cast<std::size_t>(std::ranges::count(events, kind, &ClientEvent::kind));
  }
  /// Null if the client does not show the entity.
  [[nodiscard]] const ShownEntity* find(EntityId id) const {
    const auto found = std::ranges::find(shown, id, &ShownEntity::id);
    return found == shown.end() ? nullptr : &*found;
  }
};

struct SocketWorldConfig {
  ServerConfig server{};
  TransportLimits limits{};
};

/// A server over a row of NetworkTransport, its clients, and bad networks between them: real sockets in real
/// time. All run in turn on this thread, so that a test can change everything at any time.
class SocketWorld {
 public:
  /// The state of a body at any server time.
  using Path = std::function<State(double time_s)>;

  explicit SocketWorld(const TransportRow& row, SocketWorldConfig config = {});

  /// Puts a relay with these links in front of the server. Returns the relay's port.
  std::uint16_t add_network(const harness::LinkOptions& both_ways);
  /// Changes the links of all relays.
  void set_networks(const harness::LinkOptions& both_ways);

  /// Starts to join the server, or the relay at `port`. The client uses the world's row.
  SocketPlayer& dial(std::uint16_t port, ClientConfig config = {});
  /// Starts to join the server as a client that is set to another row.
  SocketPlayer& dial_as(const TransportRow& row);
  /// Starts to join and waits until the client has joined.
  SocketPlayer& join(std::uint16_t port, ClientConfig config = {});
  SocketPlayer& join() { return join(port()); }
  /// Starts to join with several clients and waits until all have joined.
  void join_all(std::size_t clients, std::uint16_t port);
  /// True if `what` is true for all clients.
  [[nodiscard]] bool all(const std::function<bool(const SocketPlayer& player)>& what) const {
    return std::ranges::all_of(players_, [&](const auto& player) { return what(*player); });
  }

  /// Adds a body that follows `path`.
  EntityId add_body(Path path);

  /// Lets everything work once.
  void turn();
  /// Lets everything work until `done` returns true (result: true), or until the time is up (result: false).
  bool until(const std::function<bool()>& done, double patience_s = kTimeoutS) {
    return turn_until([this] { turn(); }, done, patience_s);
  }
  void pass(double seconds) {
    (void)until([] { return false; }, seconds);
  }
  /// Server time, s.
  [[nodiscard]] double now_s() const { return test::now_s() - started_s_; }
  /// The time of all clients. It differs from the server's, as on different machines.
  [[nodiscard]] double local_s() const { return 1000.0 + now_s(); }

  [[nodiscard]] Server& server() { return *server_; }
  [[nodiscard]] NetworkTransport& transport() { return *transport_; }
  /// The server's port.
  [[nodiscard]] std::uint16_t port() const { return transport_->port(); }
  /// The address at which the server listens.
  [[nodiscard]] const std::string& host() const { return host_; }
  /// How a server of the world's row listens, for a second server that accepts the tokens of this one.
  [[nodiscard]] ListenConfig listen_config(std::uint32_t peers) const;
  /// What a client of this row presents. Each call makes a token for another player.
  [[nodiscard]] OrInsecure<ClientSecurity> security_of(const TransportRow& row);
  [[nodiscard]] const std::vector<std::unique_ptr<SocketPlayer>>& players() const { return players_; }

  [[nodiscard]] const std::vector<ServerEvent>& events() const { return events_; }
  [[nodiscard]] std::size_t count(ServerEvent::Kind kind) const {
    return static_cast<std::size_t>(std::ranges::count(events_, kind, &ServerEvent::kind));
  }
  /// The client that joined last. Null if none has joined.
  [[nodiscard]] ClientId newest_client() const;
  /// The messages that the server has received from a client, oldest first.
  [[nodiscard]] const std::vector<Bytes>& messages_of(ClientId client) { return messages_[client.value]; }

  std::function<void()> before_tick;                   ///< before bodies are moved
  std::function<void(SocketPlayer& player)> on_frame;  ///< after each picture of each client, 60 a second

 private:
  struct Body {
    EntityId id;
    Path path;
  };

  void serve();
  void play(SocketPlayer& player, bool draws);

  TransportRow row_;
  std::string host_;
  SecretKey key_ = SecretKey::make();
  std::uint64_t players_made_ = 0;
  double started_s_ = test::now_s();
  double next_frame_s_ = 0.0;
  std::unique_ptr<NetworkTransport> transport_;
  std::optional<Server> server_;
  std::vector<harness::Conditioner> networks_;
  std::vector<Body> bodies_;
  std::vector<std::unique_ptr<SocketPlayer>> players_;
  std::vector<ServerEvent> events_;
  std::map<std::uint64_t, std::vector<Bytes>> messages_;  // by client
};

/// How well a client shows a body that follows a path.
class Sight {
 public:
  Sight(EntityId body, SocketWorld::Path path, double tolerance_m)
      : body_(body), path_(std::move(path)), tolerance_m_(tolerance_m) {}

  /// Adds a frame.
  void add(const SocketPlayer& player);
  [[nodiscard]] std::size_t frames() const { return frames_; }
  /// Frames without the body, or with a shown position too far from the path.
  [[nodiscard]] std::size_t wrong() const { return wrong_; }
  /// How far the shown body has moved, m.
  [[nodiscard]] double distance_m() const { return distance_m_; }

 private:
  EntityId body_;
  SocketWorld::Path path_;
  double tolerance_m_;
  std::size_t frames_ = 0, wrong_ = 0;
  double distance_m_ = 0.0;
  std::optional<glm::dvec3> last_;
};

}  // namespace reckoner::test
