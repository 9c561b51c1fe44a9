// SPDX-License-Identifier: MIT
// The cost of predicted entities. On the server: the inputs and results of a client, and their comparison, in
// each tick. On the client: the library's part of a correction and the replay after it. The games themselves
// cost nothing here. There is no floor, because no simpler program gives these results.
#include "client/src/testing/test_switches.hpp"
#include "harness/sim/sim_transport.hpp"
#include "net/src/messages/messages.hpp"
#include "server/src/test_switches.hpp"

#include <array>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <memory>
#include <optional>
#include <vector>

#include <benchmark/benchmark.h>

#include <reckoner/client/client.hpp>
#include <reckoner/server/server.hpp>

namespace reckoner {
namespace {

constexpr double kTickS = 1.0 / 60.0;
constexpr double kWarmUpS = 5.0;
constexpr std::array<std::byte, 56> kGameState{};
constexpr std::array<std::byte, 8> kKeys{std::byte{1}, std::byte{127}};

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

// The processor's time of this program so far, s, to about a microsecond.
double processor_s() {
  return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

// Cars far from each other. Each client sees only its own, and predicts it while it drives to and fro;
// without predictions, the cars rest.
class Drives {
 public:
  Drives(std::size_t count, bool predicts, const harness::LinkOptions& link)
      : predicts_(predicts),
        network_(network_config(link)),
        server_(make_test_server(config(), network_.server())),
        drivers_(count) {
    for (std::size_t i = 0; i < count; ++i) {
      drivers_[i].car = *server_.spawn(0, "car", state(i, 0, 0.0));
      drivers_[i].client =
          std::make_unique<Client>(make_test_client({}, network_.add_client(kProtocolVersion)));
    }
    while (server_.tick_time_s(server_.next_tick()) < kWarmUpS)
      (void)tick();
  }

  /// Moves the server's cars aside, so that every client needs a correction.
  void push() { height_m_ = 0.5 - height_m_; }

  /// Runs a tick, and then each client. Returns the server's processor time for the tick, s.
  double tick() {
    const Tick tick = server_.next_tick();
    const double time_s = server_.tick_time_s(tick);
    network_.advance(time_s);
    const double begin_s = processor_s();
    server_.receive(time_s);
    for (std::size_t i = 0; i < drivers_.size(); ++i) {
      if (predicts_ && drivers_[i].id) benchmark::DoNotOptimize(server_.input(drivers_[i].id).bytes.data());
      (void)server_.move(drivers_[i].car, state(i, predicts_ ? tick : 0, height_m_));
      if (predicts_) (void)server_.set_game_state(drivers_[i].car, kGameState);
    }
    server_.tick(time_s);
    const double taken_s = processor_s() - begin_s;
    while (const auto event = server_.poll_event()) {
      if (event->kind == ServerEvent::Kind::client_joined) admit(event->client);
    }
    network_.advance(time_s + 0.3 * kTickS);
    for (std::size_t i = 0; i < drivers_.size(); ++i)
      drive(i, time_s + 0.3 * kTickS);
    return taken_s;
  }

  /// The library's time for the replays of the last tick, s, and the number of ticks that they stepped again.
  double replay_s = 0.0;
  std::size_t replayed = 0;

  /// Results that the server has compared.
  [[nodiscard]] std::uint64_t compared() const {
    std::uint64_t sum = 0;
    for (const Driver& driver : drivers_) {
      if (const auto stats = server_.prediction_stats(driver.id)) sum += stats->results;
    }
    return sum;
  }

 private:
  struct Driver {
    EntityId car;
    ClientId id;
    std::unique_ptr<Client> client;
    // Of the client's game, whose car may be another than `car`: clients join in any order.
    std::optional<std::size_t> predicted;  // index of the car
    double height_m = 0.0;
  };

  static harness::SimNetworkConfig network_config(const harness::LinkOptions& link) {
    harness::SimNetworkConfig config;
    config.links = {link, link};
    return config;
  }
  static ServerConfig config() {
    ServerConfig config;
    config.interest.radius_m = 20.0;
    config.threads = 1;
    return config;
  }
  static State state(std::size_t i, Tick tick, double height_m) {
    State state;
    const double phase = 0.02 * tick;
    state.position = {5.0 * std::sin(phase), 100.0 * static_cast<double>(i), height_m};
    state.velocity.x = static_cast<float>(5.0 * 0.02 / kTickS * std::cos(phase));
    return state;
  }
  void admit(ClientId id) {
    std::size_t i = 0;
    while (drivers_[i].id)
      ++i;
    drivers_[i].id = id;
    (void)server_.set_view(id, state(i, 0, 0.0).position);
    if (predicts_) (void)server_.let_predict(drivers_[i].car, id);
  }
  void drive(std::size_t i, double time_s) {
    Driver& driver = drivers_[i];
    Client& client = *driver.client;
    client.update(time_s);
    benchmark::DoNotOptimize(client.shown().data());
    while (const auto event = client.poll_event()) {
      for (std::size_t car = 0; car < drivers_.size(); ++car) {
        if (event->kind == ClientEvent::Kind::prediction_began && event->entity == drivers_[car].car)
          driver.predicted = car;
      }
    }
    const auto begin = std::chrono::steady_clock::now();
    if (const auto correction = client.poll_correction()) {
      driver.height_m = correction->entities.front().state.position.z;
      for (const PredictionStep& step : correction->steps)
        predict(driver, step.tick);
      replay_s += seconds_since(begin);
      replayed += correction->steps.size();
    }
    while (const auto step = client.next_step(kKeys)) {
      if (driver.predicted) predict(driver, step->tick);
    }
  }
  void predict(Driver& driver, Tick tick) {
    (void)driver.client->predict(drivers_[*driver.predicted].car, tick,
                                 state(*driver.predicted, tick, driver.height_m), kGameState);
  }

  bool predicts_;
  double height_m_ = 0.0;
  harness::SimNetwork network_;
  Server server_;
  std::vector<Driver> drivers_;
};

// The server's time for a client and tick. 1: with a predicted car, whose client sends an input and a result
// in each tick. 0: with a car that rests, so that the client only acknowledges. The difference is the price
// of prediction.
void BM_TickWithPrediction(benchmark::State& run) {
  constexpr std::size_t kClients = 64;
  Drives drives(kClients, run.range(0) == 1, *harness::find_network("lan"));
  const std::uint64_t before = drives.compared();
  for ([[maybe_unused]] auto _ : run)
    run.SetIterationTime(drives.tick() / kClients);
  run.counters["results_compared"] =
      static_cast<double>(drives.compared() - before) / (static_cast<double>(run.iterations()) * kClients);
}
// The clients take longer than what is measured, so the number of iterations is fixed.
BENCHMARK(BM_TickWithPrediction)->Arg(0)->Arg(1)->ArgName("predicts")->UseManualTime()->Iterations(3000);

// The client's library for a correction and the replay of 12 ticks: poll_correction() and predict().
void BM_ReplayTwelveTicks(benchmark::State& run) {
  harness::LinkOptions link;
  link.latency_ms = 95.0;
  Drives drives(1, true, link);
  constexpr double kTicks = 12.0;
  double replayed = 0.0, replays = 0.0;
  for ([[maybe_unused]] auto _ : run) {
    drives.push();
    drives.replay_s = 0.0;
    drives.replayed = 0;
    // A correction arrives after a trip up and one down.
    for (int i = 0; i < 60 && drives.replayed == 0; ++i)
      (void)drives.tick();
    for (int i = 0; i < 3; ++i)
      (void)drives.tick();
    if (drives.replayed == 0) {
      run.SkipWithError("no correction has arrived");
      break;
    }
    run.SetIterationTime(kTicks * drives.replay_s / static_cast<double>(drives.replayed));
    replayed += static_cast<double>(drives.replayed);
    replays += 1.0;
  }
  run.counters["ticks"] = replays > 0.0 ? replayed / replays : 0.0;
}
BENCHMARK(BM_ReplayTwelveTicks)->UseManualTime()->Iterations(300);

}  // namespace
}  // namespace reckoner
