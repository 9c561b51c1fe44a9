// SPDX-License-Identifier: MIT
// A server's cost per tick for moving entities before anything is sent: read the true states, fit, compare
// with the published motions, publish. The floor is a memcpy of the true states.
#include "scenario/builtin/roamers.hpp"
#include "server/src/test_switches.hpp"

#include <cstring>
#include <optional>
#include <vector>

#include <benchmark/benchmark.h>

#include <reckoner/server/server.hpp>

namespace reckoner {
namespace {

constexpr std::size_t kEntities = 500;
constexpr std::size_t kTicks = 300;

class Nobody final : public Transport {
 public:
  void service(double) override {}
  std::optional<TransportEvent> poll() override { return std::nullopt; }
  bool send(PeerId, std::span<const std::byte>) override { return false; }
  [[nodiscard]] std::size_t max_datagram_bytes(PeerId) const override { return 0; }
  void disconnect(PeerId, std::uint32_t) override {}
  [[nodiscard]] const TransportStats& stats() const override { return stats_; }

 private:
  TransportStats stats_;
};

// The true states, ordered by tick, then by entity. If `moving` is true, the entities roam; otherwise they
// rest.
std::vector<State> truths(bool moving) {
  scenario::Roamers roamers(kEntities, 1);
  std::vector<State> all;
  for (std::size_t tick = 0; tick < kTicks; ++tick) {
    for (std::size_t i = 0; i < kEntities; ++i) {
      State state = roamers.state(i, moving ? static_cast<double>(tick) / 60.0 : 0.0);
      if (!moving) state.velocity = state.acceleration = state.angular_velocity = glm::vec3{0.0f};
      all.push_back(state);
    }
  }
  return all;
}

struct World {
  Nobody nobody;
  Server server = make_test_server({}, nobody);
  std::vector<EntityId> ids;

  explicit World(const std::vector<State>& all) {
    for (std::size_t i = 0; i < kEntities; ++i)
      ids.push_back(*server.spawn(0, "roamer", all[i]));
  }
  void tick(const State* truth) {
    for (std::size_t i = 0; i < kEntities; ++i)
      (void)server.move(ids[i], truth[i]);
    server.tick(server.tick_time_s(server.next_tick()));
  }
};

void BM_PublishTick(benchmark::State& run) {
  const std::vector<State> all = truths(run.range(0) != 0);
  std::optional<World> world(all);
  std::size_t tick = 0;
  for ([[maybe_unused]] auto _ : run) {
    if (tick == kTicks) {
      run.PauseTiming();
      world.emplace(all);
      tick = 0;
      run.ResumeTiming();
    }
    world->tick(&all[kEntities * tick++]);
  }
  run.SetItemsProcessed(run.iterations() * static_cast<std::int64_t>(kEntities));
  const ServerStats& stats = world->server.stats();
  run.counters["publishes_per_s"] =
      static_cast<double>(stats.publishes - kEntities) * 60.0 / static_cast<double>(stats.ticks * kEntities);
}
BENCHMARK(BM_PublishTick)->Arg(0)->Arg(1)->Unit(benchmark::kMicrosecond);

void BM_PublishTickFloor(benchmark::State& run) {
  const std::vector<State> all = truths(run.range(0) != 0);
  std::vector<State> copy(kEntities);
  std::size_t tick = 0;
  for ([[maybe_unused]] auto _ : run) {
    std::memcpy(static_cast<void*>(copy.data()), &all[kEntities * tick], kEntities * sizeof(State));
    benchmark::DoNotOptimize(copy.data());
    tick = (tick + 1) % kTicks;
  }
  run.SetItemsProcessed(run.iterations() * static_cast<std::int64_t>(kEntities));
}
BENCHMARK(BM_PublishTickFloor)->Arg(0)->Arg(1)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace reckoner
