// SPDX-License-Identifier: MIT
#pragma once

#include "harness/sim/sim_dialer.hpp"
#include "harness/sim/sim_transport.hpp"
#include "server/src/test_switches.hpp"
#include "tap.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <reckoner/client/client.hpp>
#include <reckoner/server/server.hpp>

namespace reckoner::test {

/// An exactly known motion: the state of a body at any server time.
using Truth = std::function<State(double time_s)>;

struct WorldConfig {
  ServerConfig server;
  harness::LinkPair links;
  std::string script;  ///< changes of the links, in the format of harness::LinkScript
  std::uint64_t seed = 1;
  double frame_rate_hz = 60.0;     ///< a blend with the default duration lasts 6.5 of these frames
  bool log_packets = false;        ///< for SimNetwork::packets()
  double silence_timeout_s = 0.0;  ///< SimNetworkConfig::silence_timeout_s
  bool sampled = false;            ///< clients use Client::shown_poses() instead of shown()
  bool arrival_times = false;      ///< SimNetworkConfig::arrival_times
  bool updates_per_frame = false;  ///< clients call update() only before each picture, not at each arrival
  ServerTestSwitches switches{};
  /// Makes a transport in front of the server's end of the network. Null: there is none.
  std::function<std::unique_ptr<Transport>(Transport& network)> door;
};

/// The clock of a client's machine: local = offset + time x rate.
struct LocalClock {
  double offset_s = 1000.0;
  double rate = 1.0;
  std::function<double(double time_s)> other{};  ///< if set, the clock shows this instead
};

/// A server, clients and moving bodies, in virtual time over simulated links. Ticks, pictures and arrivals
/// happen in the order of their times. The world's time is the server's time.
class World {
 public:
  explicit World(WorldConfig config);

  /// Adds a client that starts to connect now. Returns its index, counted from 0.
  std::size_t add_client(ClientConfig config = {}, LocalClock clock = {});
  /// Adds a client over its own links, which the script does not change.
  std::size_t add_client(ClientConfig config, LocalClock clock, const harness::LinkPair& links);

  /// Adds a client that reconnects by itself. It has no tap().
  std::size_t add_dialing_client(ClientConfig config = {}, LocalClock clock = {});
  /// Ends the client's process without a leave message.
  void kill_client(std::size_t client);
  /// Destroys the client object. Its connection goes on.
  void destroy_client(std::size_t client) { clients_[client]->client.reset(); }

  /// Ends the server's process without notice. Bodies keep moving. start_server() spawns them again, in
  /// another order if `shuffled`, so that they get other ids.
  void kill_server();
  void start_server(bool shuffled = false);
  /// Suspends the server's process until this time.
  void suspend_server(double until_s) { suspended_until_s_ = until_s; }

  /// Suspends the client's process until this time. Datagrams queue up.
  void suspend_client(std::size_t client, double until_s) { clients_[client]->suspended_until_s = until_s; }

  /// Replaces the client's clock from now on, as if the machine had slept or its clock had been set.
  void set_local_clock(std::size_t client, LocalClock clock) { clients_[client]->clock = clock; }

  /// Adds a body that spawns in the next tick and follows `path` from then on. `teleports`: the times at
  /// which the path jumps. The jumps are declared to the server.
  EntityId add_body(Truth path, std::vector<double> teleports = {}, const std::string& name = "body",
                    std::size_t archetype = 0);
  void remove_body(EntityId id);

  /// Runs everything up to `time_s`. on_frame is called after every picture of every client.
  void run_to(double time_s);

  std::function<void(std::size_t client, double time_s, std::span<const ShownEntity> shown)> on_frame;
  std::function<void(double time_s)> before_tick;  ///< before bodies are moved, at the tick's time
  std::function<void(double time_s)> after_tick;

  [[nodiscard]] Server& server() { return *server_; }
  [[nodiscard]] Client& client(std::size_t i) { return *clients_[i]->client; }
  /// The client, after an update() at the present time. In on_frame, every client is updated.
  [[nodiscard]] Client& updated(std::size_t i);
  [[nodiscard]] Tap& tap(std::size_t i) { return *clients_[i]->tap; }
  [[nodiscard]] Transport& client_transport(std::size_t i) { return *clients_[i]->tap; }
  [[nodiscard]] harness::SimDialer& dialer(std::size_t i) { return *clients_[i]->dialer; }
  /// The id that the current server uses for a body. `i` counts the bodies in the order in which they were
  /// added.
  [[nodiscard]] EntityId body(std::size_t i) const { return bodies_[i].id; }
  [[nodiscard]] harness::SimNetwork& network() { return network_; }
  [[nodiscard]] double now_s() const { return network_.now_s(); }
  [[nodiscard]] double local_s(std::size_t client, double time_s) const;

  /// All events of a client so far, oldest first.
  [[nodiscard]] const std::vector<ClientEvent>& events(std::size_t client) const {
    return clients_[client]->events;
  }
  [[nodiscard]] std::size_t count(std::size_t client, ClientEvent::Kind kind) const;
  /// Number of the client's events that only shown() or shown_poses() queued, after update().
  [[nodiscard]] std::size_t late_events(std::size_t client) const { return clients_[client]->late_events; }
  [[nodiscard]] const std::vector<ServerEvent>& server_events() const { return server_events_; }
  [[nodiscard]] std::size_t count(ServerEvent::Kind kind) const;

  /// The client's newest shown pose of the entity; null if it is not shown.
  [[nodiscard]] const ShownEntity* shown(std::size_t client, EntityId id) const;
  [[nodiscard]] const std::vector<ShownEntity>& shown(std::size_t client) const {
    return clients_[client]->shown;
  }

 private:
  struct Body {
    EntityId id;
    std::string name;
    std::size_t archetype = 0;
    Truth path;
    std::vector<double> teleports;
    std::size_t teleported = 0;
  };
  struct Player {
    std::unique_ptr<Tap> tap;                    // of a client with a single connection, else null
    std::unique_ptr<harness::SimDialer> dialer;  // of a client that reconnects, else null
    std::size_t connection = 0;                  // index in the network, if it has a tap
    LocalClock clock;
    std::unique_ptr<Client> client;
    std::vector<ClientEvent> events;
    std::size_t late_events = 0;
    std::vector<ShownEntity> shown;
    double suspended_until_s = -1e300;
  };

  std::size_t add_client(ClientConfig config, LocalClock clock, Transport& transport);
  [[nodiscard]] Transport& server_transport() { return door_ ? *door_ : network_.server(); }
  void tick(double time_s);
  void frame(double time_s);
  void deliver(double time_s);

  WorldConfig config_;
  harness::SimNetwork network_;
  std::unique_ptr<Transport> door_;  // null: the server uses the network itself
  std::unique_ptr<Server> server_;
  std::vector<std::unique_ptr<Player>> clients_;
  std::vector<Body> bodies_;
  std::vector<ServerEvent> server_events_;
  std::uint64_t frames_ = 0;
  double start_s_;
  double suspended_until_s_ = -1e300;
};

/// The link in both directions.
[[nodiscard]] harness::LinkPair both_ways(const harness::LinkOptions& options);

/// The named network in both directions.
[[nodiscard]] harness::LinkPair network(const std::string& name);

}  // namespace reckoner::test
