// SPDX-License-Identifier: MIT
#include "harness/cluster/cluster_process.hpp"
#include "harness/cluster/wander.hpp"
#include "harness/report/report_error.hpp"
#include "harness/stress/load/recording/resource_use.hpp"
#include "harness/stress/load/roles/parent_lines.hpp"

#include <cstdio>
#include <cstdlib>
#include <string>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include <reckoner/cluster/simulator.hpp>

namespace reckoner::harness {

ClusterConfig cluster_config(const ClusterWorldOptions& options) {
  ClusterConfig config;
  config.world = options.world;
  config.tick_rate_hz = options.tick_rate_hz;
  config.cell_m = options.cell_m;
  config.columns = config.rows = static_cast<std::uint32_t>(options.columns);
  config.hysteresis_m = 2.0;
  config.checkpoint_s = options.checkpoint_s;
  Archetype body;
  body.name = "body";
  body.has_orientation = false;
  body.max_speed_mps = 100.0;
  // A simulator writes its mark into the bodies that it takes, so that clients see when a handover happened.
  body.fields = {{"holder", IntegerField{0, 65'535, 0}}};
  config.archetypes = {body};
  return config;
}

namespace {

class ClusterSimulator {
 public:
  ClusterSimulator(const ClusterSimulatorOptions& options, EnteredWorld& entered, Simulator simulator)
      : options_(options),
        wander_(options.world.side_m(), options.world.seed),
        bus_(*entered.bus),
        mark_(entered.member.process.value % 65'535 + 1),
        simulator_(std::move(simulator)) {}

  int run() {
    while (!ended_ && !program::stop_requested()) {
      const double due_s = simulator_.tick_time_s(simulator_.next_tick());
      while (program::monotonic_s() < due_s) {
        const double left_s = due_s - program::monotonic_s();
        std::this_thread::sleep_for(std::chrono::duration<double>(std::clamp(left_s, 0.0, 0.001)));
        simulator_.receive(program::monotonic_s());
      }
      simulator_.receive(program::monotonic_s());
      ++ticks_;
      late_ticks_ += program::monotonic_s() - due_s > 1.0 / options_.world.tick_rate_hz ? 1 : 0;
      play();
      simulator_.tick(program::monotonic_s());
      handle_commands();
    }
    return program::kOk;
  }

 private:
  void play() {
    while (const auto event = simulator_.poll_event()) {
      if (event->kind != SimulatorEvent::Kind::acquired) continue;
      (void)simulator_.set_field(event->entity, 0, FieldValue{std::int64_t{mark_}});
    }
    while (const auto message = simulator_.poll_message())
      (void)simulator_.send(message->entity, message->sender, message->payload);  // an echo
    const double time_s = simulator_.server().tick_time_s(simulator_.next_tick());
    while (options_.spawns && spawned_ < options_.world.entities && simulator_.ready()) {
      if (!simulator_.spawn(0, fmt::format("b{}", spawned_), wander_.at(spawned_, time_s))) break;
      if (++spawned_ == options_.world.entities) {
        fmt::print("spawned {}\n", spawned_);
        std::fflush(stdout);
      }
      if (spawned_ % 256 == 0) break;  // some in each tick
    }
    for (const EntityId id : simulator_.held()) {
      const auto body = body_of(id);
      if (body) refused_ += simulator_.move(id, wander_.at(*body, time_s)) ? 0 : 1;
    }
  }

  // The number of a body is in its name.
  std::optional<std::size_t> body_of(EntityId id) {
    const auto known = bodies_.find(id);
    if (known != bodies_.end()) return known->second;
    const auto name = simulator_.name(id);
    if (name.size() < 2 || name[0] != 'b') return std::nullopt;
    return bodies_[id] = std::strtoull(name.c_str() + 1, nullptr, 10);
  }

  void handle_commands() {
    while (const auto line = lines_.next()) {
      if (*line == "measure") {
        before_ = simulator_.stats();
        bus_before_ = bus_.stats();
        began_s_ = program::monotonic_s();
        cpu_before_s_ = process_cpu_time().total_s();
        ticks_ = late_ticks_ = 0;
      } else if (*line == "report") {
        report();
      } else if (line->starts_with("held ")) {
        report_held(*line);
      } else {
        ended_ = true;
      }
    }
    if (lines_.closed()) ended_ = true;
  }

  void report() {
    const ClusterStats& now = simulator_.stats();
    const double seconds = program::monotonic_s() - began_s_;
    nlohmann::json json = {{"seconds", seconds},
                           {"handovers", now.handovers_in - before_.handovers_in},
                           {"adopted", now.adopted - before_.adopted},
                           {"writes_refused", now.writes_refused},
                           {"stale_refused", now.stale_refused},
                           {"unconfirmed_refused", now.unconfirmed_refused},
                           {"unknown_refused", now.unknown_refused},
                           {"entities_lost", now.entities_lost},
                           {"malformed", now.malformed},
                           {"gaps", now.gaps},
                           {"bus_bytes", bus_.stats().bytes_sent - bus_before_.bytes_sent},
                           {"motions", now.motions_sent - before_.motions_sent},
                           {"checkpoints", now.checkpoints - before_.checkpoints},
                           {"moves_refused", refused_},
                           {"cells", simulator_.cell_count()},
                           {"ticks", ticks_},
                           {"late_ticks", late_ticks_},  // by more than one tick: the machine is too slow
                           {"cpu", (process_cpu_time().total_s() - cpu_before_s_) / seconds}};
    fmt::print("result {}\n", json.dump());
    std::fflush(stdout);
  }

  // `label` tells the answers apart.
  void report_held(const std::string& label) {
    std::vector<std::size_t> held;
    for (const EntityId id : simulator_.held()) {
      if (const auto body = body_of(id)) held.push_back(*body);
    }
    fmt::print("{} {}\n", label, nlohmann::json(held).dump());
    std::fflush(stdout);
  }

  ClusterSimulatorOptions options_;
  Wander wander_;
  NatsBus& bus_;
  std::uint32_t mark_;
  Simulator simulator_;
  ParentLines lines_;
  std::map<EntityId, std::size_t> bodies_;
  std::size_t spawned_ = 0;
  std::uint64_t refused_ = 0;
  std::uint64_t ticks_ = 0;
  std::uint64_t late_ticks_ = 0;
  ClusterStats before_;
  BusStats bus_before_;
  double began_s_ = 0.0;
  double cpu_before_s_ = 0.0;
  bool ended_ = false;
};

}  // namespace

int run_cluster_simulator(const ClusterSimulatorOptions& options) {
  program::catch_stop_signals();
  auto entered = enter_world(options.world, options.name);
  if (!entered) return report_error(entered.error(), program::kFailed);
  auto created = Simulator::create(cluster_config(options.world), entered->member, *entered->bus,
                                   program::monotonic_s());
  if (!created) return report_error(created.error(), program::kFailed);
  fmt::print("running {}\n", options.name);
  std::fflush(stdout);
  return ClusterSimulator(options, *entered, std::move(*created)).run();
}

}  // namespace reckoner::harness
