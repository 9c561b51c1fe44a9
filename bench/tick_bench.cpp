// SPDX-License-Identifier: MIT
// A complete server tick without sockets. The server sends each client updates of the entities around it,
// about a hundred. The clients acknowledge the updates. The benchmark counts one item per client and tick.
#include "answering_clients.hpp"
#include "scenario/builtin/roamers.hpp"
#include "server/src/test_switches.hpp"

#include <cmath>
#include <vector>

#include <benchmark/benchmark.h>

#include <reckoner/server/server.hpp>

namespace reckoner {
namespace {

constexpr double kSeen = 100.0;
constexpr int kWarmUpTicks = 240;

// The worlds of the benchmarks: how much a client sees, and how often it gets datagrams.
struct Kind {
  double seen = kSeen;        // entities around each client; 0: everyone sees all
  double send_rate_hz = 0.0;  // 0: once a tick
};

class World {
 public:
  World(std::size_t clients, std::size_t entities, unsigned threads, const Kind& kind = {})
      : roamers_(entities, 1),
        transport_(clients, config(1, kind).archetypes),
        server_(make_test_server(config(threads, kind), transport_)) {
    for (std::size_t i = 0; i < entities; ++i)
      ids_.push_back(*server_.spawn(0, "roamer", truth(i)));
    for (int i = 0; i < kWarmUpTicks; ++i) {
      tick();
      while (const auto event = server_.poll_event())
        followers_.push_back(event->client);
      for (std::size_t c = 0; c < followers_.size(); ++c)
        (void)server_.set_view(followers_[c], truth(c * entities / clients).position);
    }
  }

  void tick() {
    for (std::size_t i = 0; i < ids_.size(); ++i)
      (void)server_.move(ids_[i], truth(i));
    const double now_s = server_.tick_time_s(server_.next_tick());
    transport_.answer();
    server_.receive(now_s);
    server_.tick(now_s);
    time_s_ = now_s;
  }

  [[nodiscard]] const ServerStats& stats() const { return server_.stats(); }

 private:
  // The interest radius is chosen so that a circle of this radius contains `seen` entities on average.
  static ServerConfig config(unsigned threads, const Kind& kind) {
    ServerConfig config;
    config.max_clients = 4000;
    config.interest.radius_m = std::sqrt(kind.seen * scenario::Roamers::kAreaEachM2 / 3.14159265);
    config.send_rate_hz = kind.send_rate_hz;
    config.threads = threads;
    return config;
  }
  State truth(std::size_t i) { return roamers_.state(i, time_s_); }

  scenario::Roamers roamers_;
  AnsweringClients transport_;
  Server server_;
  std::vector<EntityId> ids_;
  std::vector<ClientId> followers_;
  double time_s_ = 0.0;
};

void BM_ServerTick(benchmark::State& run) {
  const auto clients = static_cast<std::size_t>(run.range(0));
  World world(clients, static_cast<std::size_t>(run.range(1)), static_cast<unsigned>(run.range(2)));
  const ServerStats before = world.stats();
  for ([[maybe_unused]] auto _ : run)
    world.tick();
  const ServerStats& after = world.stats();
  const auto client_ticks = static_cast<double>(run.iterations()) * static_cast<double>(clients);
  run.SetItemsProcessed(static_cast<std::int64_t>(client_ticks));
  run.counters["updates_per_client_tick"] =
      static_cast<double>(after.updates_sent - before.updates_sent) / client_ticks;
  run.counters["bytes_per_update"] = static_cast<double>(after.update_bits_sent - before.update_bits_sent) /
                                     8.0 / static_cast<double>(after.updates_sent - before.updates_sent);
}
BENCHMARK(BM_ServerTick)
    ->Args({1000, 1000, 1})
    ->Args({1000, 1000, 2})
    ->Args({100, 10'000, 1})
    ->Unit(benchmark::kMillisecond);

// A small world that everyone sees whole, 20 datagrams a second to each client. Two runs with different
// numbers of clients show what a further client costs.
void BM_EveryoneSeesAll(benchmark::State& run) {
  const auto clients = static_cast<std::size_t>(run.range(0));
  World world(clients, 250, 1, {.seen = 0.0, .send_rate_hz = 20.0});
  const ServerStats before = world.stats();
  for ([[maybe_unused]] auto _ : run)
    world.tick();
  const ServerStats& after = world.stats();
  const auto datagrams = static_cast<double>(after.datagrams_sent - before.datagrams_sent);
  run.SetItemsProcessed(static_cast<std::int64_t>(datagrams));
  run.counters["updates_per_datagram"] =
      static_cast<double>(after.updates_sent - before.updates_sent) / datagrams;
  run.counters["bytes_per_update"] = static_cast<double>(after.update_bits_sent - before.update_bits_sent) /
                                     8.0 / static_cast<double>(after.updates_sent - before.updates_sent);
  run.counters["datagrams_per_client_tick"] =
      datagrams / static_cast<double>(run.iterations()) / static_cast<double>(clients);
}
BENCHMARK(BM_EveryoneSeesAll)->Arg(1)->Arg(40)->Arg(240)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace reckoner
