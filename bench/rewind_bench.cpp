// SPDX-License-Identifier: MIT
// The cost of rewinding. For each of 32 clients, the server computes the poses of 64 roaming entities as the
// client showed them a moment ago. The floor copies the same number of poses.
#include "client/src/testing/test_switches.hpp"
#include "harness/sim/sim_transport.hpp"
#include "net/src/messages/messages.hpp"
#include "scenario/builtin/roamers.hpp"
#include "server/src/test_switches.hpp"

#include <chrono>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include <reckoner/client/client.hpp>
#include <reckoner/server/server.hpp>

namespace reckoner {
namespace {

constexpr std::size_t kEntities = 64;
constexpr std::size_t kClients = 32;
constexpr double kRunS = 6.0;
constexpr double kTickS = 1.0 / 60.0;

// A server and its clients after some seconds on a bad network.
struct Match {
  explicit Match(PlayoutMode mode, bool rewinds = true)
      : network(network_config()), server(make_test_server(server_config(rewinds), network.server())) {
    for (std::size_t i = 0; i < kEntities; ++i)
      ids.push_back(*server.spawn(0, "roamer", roamers.state(i, 0.0)));
    ClientConfig config;
    config.playout.mode = mode;
    for (std::size_t i = 0; i < kClients; ++i)
      clients.push_back(
          std::make_unique<Client>(make_test_client(config, network.add_client(kProtocolVersion))));
    while (time_s < kRunS)
      (void)step();
  }

  // Runs one tick and returns the time that the server takes for it, s.
  double step() {
    time_s += kTickS;
    network.advance(time_s);
    for (std::size_t i = 0; i < kEntities; ++i)
      (void)server.move(ids[i], roamers.state(i, time_s));
    const auto begin = std::chrono::steady_clock::now();
    server.receive(time_s);
    server.tick(time_s);
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
    for (const auto& client : clients) {
      client->update(time_s);
      (void)client->shown();
    }
    return taken.count();
  }

  static harness::SimNetworkConfig network_config() {
    harness::SimNetworkConfig config;
    config.links.up = config.links.down = *harness::find_network("intercity");
    return config;
  }
  static ServerConfig server_config(bool rewinds) {
    ServerConfig config;
    config.rewind_s = rewinds ? 1.0 : 0.0;
    config.follow_link = false;
    return config;
  }

  double time_s = 0.0;
  scenario::Roamers roamers{kEntities, 1};
  std::vector<EntityId> ids;
  harness::SimNetwork network;
  Server server;
  std::vector<std::unique_ptr<Client>> clients;
};

void BM_Rewind(benchmark::State& state) {
  Match match(state.range(0) == 0 ? PlayoutMode::present : PlayoutMode::adaptive);
  const double at_s = kRunS - 0.3;
  std::size_t poses = 0;
  for (auto _ : state) {
    poses = 0;
    for (std::uint32_t client = 1; client <= kClients; ++client) {
      const auto seen = match.server.rewind({client}, at_s);
      benchmark::DoNotOptimize(seen.data());
      poses += seen.size();
    }
  }
  if (poses != kEntities * kClients)
    state.SkipWithError(("unexpected number of known poses: " + std::to_string(poses)).c_str());
}
BENCHMARK(BM_Rewind)->Arg(0)->Arg(1)->ArgName("buffered")->Unit(benchmark::kMicrosecond);

void BM_RewindFloor(benchmark::State& state) {
  const std::vector<SeenPose> poses(kEntities * kClients);
  std::vector<SeenPose> seen(poses.size());
  for (auto _ : state) {
    std::memcpy(static_cast<void*>(seen.data()), poses.data(), poses.size() * sizeof(SeenPose));
    benchmark::ClobberMemory();
  }
}
BENCHMARK(BM_RewindFloor)->Arg(0)->Arg(1)->ArgName("buffered")->Unit(benchmark::kMicrosecond);

// What lag compensation costs in every tick: the server's time for a tick with it (1) and without (0).
void BM_TickWithRewind(benchmark::State& state) {
  Match match(state.range(1) == 0 ? PlayoutMode::present : PlayoutMode::adaptive, state.range(0) == 1);
  for ([[maybe_unused]] auto _ : state)
    state.SetIterationTime(match.step());
}
BENCHMARK(BM_TickWithRewind)
    ->ArgsProduct({{0, 1}, {0, 1}})
    ->ArgNames({"rewinds", "buffered"})
    ->UseManualTime()
    ->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace reckoner
