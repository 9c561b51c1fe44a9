// SPDX-License-Identifier: MIT
// A separate program, because it counts all of its allocations.
#include "net/src/link/ack_window.hpp"
#include "net/src/messages/datagram.hpp"
#include "net/src/messages/messages.hpp"
#include "scenario/builtin/roamers.hpp"
#include "server/src/test_switches.hpp"
#include "tests/support/counted_allocations.hpp"

#include <array>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <variant>
#include <vector>

#include <glm/gtc/quaternion.hpp>
#include <gtest/gtest.h>

#include <reckoner/reckoning/shown_motions.hpp>
#include <reckoner/server/server.hpp>

namespace reckoner {
namespace {

using test::allocations;
using test::counting;

constexpr std::size_t kClients = 12;
constexpr std::size_t kEntities = 200;

/// While an instance exists, the test's own allocations are not counted.
class Uncounted {
 public:
  Uncounted() : was_(counting.exchange(false)) {}
  ~Uncounted() { counting = was_; }

 private:
  bool was_;
};

/// Clients that join, acknowledge every third tick and lose every 50th datagram.
class Clients final : public Transport {
 public:
  /// If `mode` is not nullopt, the clients report what they show, for a server with lag compensation.
  Clients(const std::vector<Archetype>& archetypes, std::optional<MotionPath> mode) : mode_(mode) {
    for (std::uint32_t peer = 1; peer <= kClients; ++peer) {
      events_.push_back({{TransportEvent::Kind::connected, {peer}, 0, {}}, {}});
      const bool shows_past = mode && *mode != MotionPath::predict;
      add(peer,
          request_datagram(
              {kProtocolVersion, archetype_hash(archetypes), shows_past, {BlendCurve::damped, 0.1}, {}}));
    }
  }

  void answer(std::uint32_t tick, double now_s) {
    const Uncounted uncounted;
    now_s_ = now_s;
    for (std::uint32_t i = 0; i < kClients; ++i) {
      Client& client = clients_[i];
      if (!client.window.any() || (tick + i) % 3 != 0) continue;
      ClientDatagram datagram;
      datagram.sequence = client.next++;
      datagram.ack = client.window.acknowledge();
      if (mode_) datagram.showing = report(client);
      std::array<std::byte, 256> buffer;
      BitWriter writer{buffer};
      write(writer, datagram);
      add(i + 1, writer.finish());
    }
  }

  void service(double) override {}
  std::optional<TransportEvent> poll() override {
    const Uncounted uncounted;
    if (events_.empty()) return std::nullopt;
    current_ = std::move(events_.front());
    events_.pop_front();
    current_.event.payload = current_.bytes;
    return current_.event;
  }
  bool send(PeerId peer, std::span<const std::byte> payload) override {
    const Uncounted uncounted;
    Client& client = clients_[peer.value - 1];
    BitReader reader{payload};
    if (++sent_ % 50 == 0) return true;
    const ServerHeader header = read_server_header(reader);
    EXPECT_TRUE(!header.has_reliable || header.control.answer) << "a message besides the welcome";
    const Sequence sequence = header.sequence;
    if (client.window.note(sequence)) {
      client.window.want(sequence);
      client.arrivals.push_front({sequence, now_s_});
    }
    if (client.arrivals.size() > kReported) client.arrivals.pop_back();
    return true;
  }
  [[nodiscard]] std::size_t max_datagram_bytes(PeerId) const override { return kMaxDatagramBytes; }
  void disconnect(PeerId, std::uint32_t) override {}
  [[nodiscard]] const TransportStats& stats() const override { return stats_; }

 private:
  static constexpr std::size_t kReported = 8;  // arrivals in a report

  struct Arrival {
    Sequence sequence;
    double time_s;
  };
  struct Client {
    std::deque<Arrival> arrivals;  // newest first
    ReceivedWindow window;
    Sequence next = 0;
  };
  struct Waiting {
    TransportEvent event;
    std::vector<std::byte> bytes;
  };
  [[nodiscard]] ShowingReport report(const Client& client) const {
    constexpr double kDelayS = 0.1;
    const double delay_s = *mode_ == MotionPath::predict ? 0.0 : kDelayS;
    ShowingReport report;
    report.clock = static_cast<std::uint16_t>(static_cast<std::int64_t>(now_s_ / kStampUnitS));
    report.delay = static_cast<std::uint32_t>(delay_s / kStampUnitS);
    for (const Arrival& arrival : client.arrivals)
      report.arrivals[report.count++] = {arrival.sequence,
                                         static_cast<std::uint32_t>((now_s_ - arrival.time_s) / kStampUnitS)};
    return report;
  }
  void add(std::uint32_t peer, std::span<const std::byte> bytes) {
    events_.push_back({{TransportEvent::Kind::received, {peer}, 0, {}}, {bytes.begin(), bytes.end()}});
  }

  std::optional<MotionPath> mode_;
  double now_s_ = 0.0;
  std::array<Client, kClients> clients_;
  std::deque<Waiting> events_;
  Waiting current_;
  std::uint64_t sent_ = 0;
  TransportStats stats_;
};

// A game of roaming entities. If `rich`, some of them live on a rotating stage, and the clients' views
// circle, so that levels of detail change all the time.
struct Game {
  /// If `rewinds` is not nullopt, the server reconstructs what its clients show in this mode.
  explicit Game(unsigned threads, bool rich, std::optional<MotionPath> rewinds = std::nullopt)
      : rich_(rich),
        clients(archetypes(rich), rewinds),
        server(make_test_server(config(threads, rich, rewinds.has_value()), clients)) {
    if (rich) stage = *server.spawn(0, "stage", State{});
    for (std::size_t i = 0; i < kEntities; ++i)
      ids.push_back(*server.spawn(0, "", roamers.state(i, 0.0), rich && i % 10 == 0 ? stage : EntityId{}));
  }

  static std::vector<Archetype> archetypes(bool rich) {
    std::vector<Archetype> all(1);
    if (rich) all[0].fields = {{"health", IntegerField{0, 1000, 100}}};
    return all;
  }

  static ServerConfig config(unsigned threads, bool rich, bool rewinds) {
    ServerConfig config;
    config.rewind_s = rewinds ? 0.5 : 0.0;
    config.archetypes = archetypes(rich);
    config.threads = threads;
    if (rich) {
      // The radius covers all entities, because the spawn of an entity that enters the view may
      // allocate.
      config.interest.radius_m = 1000.0;
      config.interest.level_distance_m = {8.0, 14.0};
    }
    return config;
  }

  void tick(std::uint32_t tick) {
    const double now_s = server.tick_time_s(server.next_tick());
    for (std::size_t i = 0; i < kEntities; ++i)
      EXPECT_TRUE(server.move(ids[i], roamers.state(i, now_s)));
    if (rich_) {
      State turns;
      turns.angular_velocity = {0.0f, 0.0f, 0.2f};
      turns.orientation = glm::angleAxis(static_cast<float>(0.2 * now_s), glm::vec3{0.0f, 0.0f, 1.0f});
      EXPECT_TRUE(server.move(stage, turns));
      (void)server.set_field(ids[tick % kEntities], 0, static_cast<std::int64_t>(tick % 100));
      for (std::size_t i = 0; i < joined.size(); ++i) {
        // During the warm-up, each view visits every entity, so that every entity was sent at every level of
        // detail.
        const double angle = 0.5 * now_s + static_cast<double>(i);
        const glm::dvec3 round{15.0 * std::cos(angle), 15.0 * std::sin(angle), 0.0};
        const std::size_t visited = (tick / 4 + i * 17) % kEntities;
        EXPECT_TRUE(server.set_view(joined[i], tick < 1200 ? roamers.state(visited, now_s).position : round));
      }
    }
    clients.answer(tick, now_s);
    server.receive(now_s);
    server.tick(now_s);
    while (const auto event = server.poll_event()) {
      if (event->kind == ServerEvent::Kind::client_joined) joined.push_back(event->client);
    }
  }

  bool rich_;
  scenario::Roamers roamers{kEntities, 1};
  Clients clients;
  Server server;
  EntityId stage;
  std::vector<EntityId> ids;
  std::vector<ClientId> joined;
};

// Covers ticks, acknowledgements, losses, repairs and entities that stop and start. A rich game adds moving
// views, levels of detail, fields and frames.
TEST(Allocations, NoneInAServerAfterWarmUp) {
  for (const bool rich : {false, true}) {
    for (const unsigned threads : {1u, 3u}) {
      Game game(threads, rich);
      std::uint64_t updates = 0, lost = 0;
      allocations = 0;
      counting = true;
      for (std::uint32_t tick = 0; tick < 1800; ++tick) {
        if (tick == 100) {
          counting = false;
          EXPECT_GT(allocations, 1000u) << "the counter does not work";
        }
        if (tick == 1500) {
          updates = game.server.stats().updates_sent;
          lost = game.server.stats().datagrams_lost;
          allocations = 0;
          counting = true;
        }
        game.tick(tick);
      }
      counting = false;
      EXPECT_EQ(allocations, 0u) << threads << " threads, " << (rich ? "rich" : "plain");
      EXPECT_GT(game.server.stats().updates_sent, updates + (rich ? 500 : 5000));
      EXPECT_GT(game.server.stats().datagrams_lost, lost + 5);
    }
  }
}

// Lag compensation: the histories of what each client showed keep their memory. There are 2400 of them; one
// that becomes longer than ever before grows. Before they kept it, there were 330 allocations per tick.
TEST(Allocations, FewInAServerThatRewindsAfterWarmUp) {
  constexpr std::uint32_t kWarmUp = 3000;
  constexpr std::uint32_t kTicks = 300;
  for (const MotionPath mode : {MotionPath::predict, MotionPath::interpolate}) {
    Game game(1, false, mode);
    std::size_t seen = 0;
    for (std::uint32_t tick = 0; tick < kWarmUp + kTicks; ++tick) {
      if (tick == kWarmUp) allocations = 0;
      counting = tick >= kWarmUp;
      game.tick(tick);
      seen += game.server.rewind({1}, game.server.tick_time_s(tick) - 0.1).size();
    }
    counting = false;
    EXPECT_LT(allocations, kTicks / 2) << "mode " << static_cast<int>(mode);
    EXPECT_GT(seen, 100'000u);
  }
}

}  // namespace
}  // namespace reckoner
