// SPDX-License-Identifier: MIT
#include "programs/server/cluster_server.hpp"

#include "programs/common/archetypes.hpp"
#include "programs/common/loop/clock.hpp"
#include "programs/common/loop/stop_signal.hpp"
#include "programs/server/cluster_play.hpp"
#include "programs/server/report.hpp"
#include "programs/server/serving.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <limits>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <thread>

#include <fmt/format.h>

#include <reckoner/cluster/gateway.hpp>
#include <reckoner/cluster/nats_bus.hpp>
#include <reckoner/cluster/simulator.hpp>

namespace reckoner::program {
namespace {

constexpr double kStepS = 0.002;   // longest time without a look at the bus
constexpr double kAnswerS = 10.0;  // patience with the bus at the start
constexpr double kLeaveS = 5.0;    // patience with the handovers at the end
constexpr const char* kSourceKey = "source";
constexpr const char* kDefaultUrl = "nats://127.0.0.1:4222";

void rest(double seconds) {
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
}

// A role's connection to the bus, and its membership of the world. A process with both roles has two.
struct Entered {
  std::unique_ptr<NatsBus> bus;
  WorldMember member;
};

Result<Entered> enter(const ServerOptions& options, const ClusterConfig& config, const std::string& role) {
  const ClusterOptions& o = options.cluster;
  std::random_device random;
  const ProcessId number{random() | 1u};
  std::string name = o.name;
  if (name.empty()) {
    name = fmt::format("{}-{:08x}", role, number.value);
  } else if (o.role.empty() || o.role == "both") {
    name += "-" + role;
  }
  NatsConfig nats;
  nats.url = o.nats.empty() ? kDefaultUrl : o.nats;
  nats.world = config.world;
  nats.name = name;
  nats.lease_s = config.lease_s;
  nats.user = o.user;
  nats.password = o.password;
  nats.ca_file = o.ca_file;
  nats.cert_file = o.cert_file;
  nats.key_file = o.key_file;
  nats.replicas = o.replicas;
  auto bus = NatsBus::open(nats);
  if (!bus) return Error{bus.error()};
  WorldEntry entry(config, name, number, **bus);
  while (!stop_requested()) {
    if (const auto entered = entry.service(wall_s())) {
      if (!*entered) return Error{entered->error()};
      return Entered{std::move(*bus), **entered};
    }
    rest(kStepS);
  }
  return Error{"stopped before it entered the world"};
}

// Waits for the answer to the only unanswered request.
std::optional<BusAnswer> wait_for_answer(NatsBus& bus) {
  const double until_s = monotonic_s() + kAnswerS;
  while (monotonic_s() < until_s && !stop_requested()) {
    bus.service(wall_s());
    if (auto answer = bus.poll_answer()) return answer;
    rest(kStepS);
  }
  return std::nullopt;
}

std::string text_of(const SourceOptions& source) {
  return source.trace.empty()
             ? fmt::format("scenario {}, entities {}, seed {}", source.scenario, source.entities, source.seed)
             : fmt::format("trace {}", source.trace);
}

// The first simulator of the world adds the entities of its source: a compare-and-set decides. The others
// must play an equal source.
Result<bool> claim_source(Entered& entered, const std::string& world, const SourceOptions& source) {
  const std::string own = fmt::format("{} {}", entered.member.process.value, text_of(source));
  const double until_s = monotonic_s() + kAnswerS;
  while (monotonic_s() < until_s && !stop_requested()) {
    (void)entered.bus->put_if(BusTable::world, kSourceKey, std::as_bytes(std::span{own}), 0);
    const auto written = wait_for_answer(*entered.bus);
    if (written && written->status == BusAnswer::Status::done) return true;
    (void)entered.bus->get(BusTable::world, kSourceKey);
    const auto read = wait_for_answer(*entered.bus);
    if (!read || read->status != BusAnswer::Status::done) continue;
    const std::string stored(reinterpret_cast<const char*>(read->value.data()), read->value.size());
    if (stored == own) return true;  // the answer to the write was lost
    const std::string theirs = stored.substr(std::min(stored.find(' '), stored.size() - 1) + 1);
    if (theirs != text_of(source))
      return Error{fmt::format("the world '{}' plays '{}', this process '{}': all simulators need one source",
                               world, theirs, text_of(source))};
    return false;
  }
  return Error{"the bus does not answer"};
}

// A process of a world on several servers. The order of the members is that of their construction.
class ClusterServer {
 public:
  explicit ClusterServer(const ServerOptions& options) : options_(options), log_(kServerName, options.log) {}

  int run() {
    if (const auto wrong = open()) return fail(kServerName, wrong->message, exit_code_);
    times_ = play();
    if (outsider_) return fail(kServerName, outsider_->message, kFailed);
    metrics_->note_stopping();
    leave();
    print_summary(shown_server().stats(), wire(), times_);
    if (play_ && play_->refused() > 0)
      log_.warn("poses were refused: outside the world, or too fast", {{"poses", play_->refused()}});
    if (!options_.json_path.empty()) {
      if (const auto error = write_counts(options_.json_path, shown_server().stats(), wire(), times_))
        return fail(kServerName, error->message, kFailed);
    }
    return kOk;
  }

 private:
  [[nodiscard]] bool simulates() const { return options_.cluster.role != "gateway"; }
  [[nodiscard]] bool serves() const { return options_.cluster.role != "simulator"; }

  std::optional<Error> open() {
    if (!options_.truth_path.empty()) return Error{"--truth does not work with --world"};
    if (options_.watch_port) return Error{"--watch-port does not work with --world"};
    const bool has_source = !options_.source.trace.empty() || !options_.source.scenario.empty();
    if (simulates() || has_source) {
      auto source = open_source(options_.source);
      if (!source) return Error{source.error()};
      source_ = std::move(*source);
    }
    config_.world = options_.cluster.world;
    config_.tick_rate_hz = options_.server.tick_rate_hz;
    config_.archetypes = archetypes(options_.thresholds.threshold_m, options_.thresholds.threshold_rad,
                                    options_.thresholds.velocity);
    config_.cell_m = options_.cluster.cell_m;
    config_.columns = options_.cluster.columns;
    config_.rows = options_.cluster.rows;
    config_.hysteresis_m = std::min(config_.hysteresis_m, 0.05 * config_.cell_m);
    if (source_) config_.routes.assign(source_->routes().begin(), source_->routes().end());
    if (auto wrong = find_invalid_setting(config_)) return wrong;
    if (serves()) {
      auto security = open_security(options_.security, options_.host);
      if (!security) return Error{security.error()};
      security_ = std::move(*security);
    }
    exit_code_ = kFailed;
    if (simulates()) {
      if (auto wrong = open_simulator()) return wrong;
    }
    if (serves()) {
      if (auto wrong = open_gateway()) return wrong;
    }
    metrics_.emplace(config_.tick_rate_hz, monotonic_s(), options_.metrics_clients);
    auto page = open_page(options_, *metrics_);
    if (!page) return Error{page.error()};
    page_ = std::move(*page);
    fmt::print("joined world {}\n", config_.world);
    say_listening(options_, transport_.get(), page_.get(), "", security_, log_);
    return std::nullopt;
  }

  std::optional<Error> open_simulator() {
    auto entered = enter(options_, config_, "simulator");
    if (!entered) return Error{entered.error()};
    simulator_entry_ = std::move(*entered);
    const auto adds = claim_source(simulator_entry_, config_.world, options_.source);
    if (!adds) return Error{adds.error()};
    auto created = Simulator::create(config_, simulator_entry_.member, *simulator_entry_.bus, wall_s());
    if (!created) return Error{created.error()};
    simulator_.emplace(std::move(*created));
    play_.emplace(*source_, *simulator_, config_.tick_rate_hz, *adds, log_);
    return std::nullopt;
  }

  std::optional<Error> open_gateway() {
    auto entered = enter(options_, config_, "gateway");
    if (!entered) return Error{entered.error()};
    gateway_entry_ = std::move(*entered);
    auto transport = open_transport(options_, security_, sinks_);
    if (!transport) return Error{transport.error()};
    transport_ = std::move(*transport);
    GatewayConfig settings{.server = server_config(options_, 0.0)};
    settings.server.log = sinks_.server.sink();
    auto created =
        Gateway::create(config_, settings, gateway_entry_.member, *gateway_entry_.bus, *transport_, wall_s());
    if (!created) return Error{created.error()};
    gateway_.emplace(std::move(*created));
    return std::nullopt;
  }

  void receive() {
    if (simulator_) simulator_->receive(wall_s());
    if (gateway_) gateway_->receive(wall_s());
  }

  // Runs the ticks that are due. The metrics are those of the gateway, if there is one.
  void run_ticks() {
    const double now_s = wall_s();
    if (const double due_s = simulator_due_s(); now_s >= due_s) {
      play_->step();
      simulator_->tick(wall_s());
      if (!gateway_) note_tick(simulator_->server(), now_s - due_s, wall_s() - now_s);
    }
    if (const double due_s = gateway_due_s(); now_s >= due_s) {
      const double began_s = wall_s();
      take_events(gateway_->server(), *metrics_, sinks_);
      while (gateway_->server().poll_message()) {  // entities of a source do not answer
      }
      gateway_->tick(wall_s());
      note_tick(gateway_->server(), now_s - due_s, wall_s() - began_s);
    }
  }

  [[nodiscard]] double simulator_due_s() const {
    return simulator_ ? simulator_->tick_time_s(simulator_->next_tick()) : kNever;
  }
  [[nodiscard]] double gateway_due_s() const {
    return gateway_ ? gateway_->tick_time_s(gateway_->next_tick()) : kNever;
  }

  void wait(double seconds) {
    if (transport_) {
      transport_->wait(std::min(seconds, kStepS));
    } else {
      rest(std::min(seconds, kStepS));
    }
  }

  RunTimes play() {
    RunTimes times;
    const double started_s = monotonic_s();
    const double end_s = options_.source.seconds > 0.0 ? started_s + options_.source.seconds : kNever;
    while (!stop_requested() && monotonic_s() < end_s) {
      if (play_ && play_->time_s() > source_->end_s()) break;
      const double due_s = std::min(simulator_due_s(), gateway_due_s());
      if (wall_s() < due_s) wait(due_s - wall_s());
      receive();
      is_member_ = is_member_ || ((!simulator_ || simulator_->stats().is_member) &&
                                  (!gateway_ || gateway_->stats().is_member));
      if (!is_member_ && monotonic_s() - started_s > kAnswerS) {
        outsider_ = Error{fmt::format(
            "the world '{}' does not know this process: its NATS user may not write the lease of its role",
            config_.world)};
        break;
      }
      if (wall_s() < due_s) continue;
      times.worst_late_s = std::max(times.worst_late_s, wall_s() - due_s);
      run_ticks();
    }
    times.seconds = monotonic_s() - started_s;
    return times;
  }

  void note_tick(const Server& server, double late_s, double took_s) {
    const double now_s = monotonic_s();
    if (now_s - noted_s_ > kNoteEveryS) {
      noted_s_ = now_s;
      metrics_->note_cluster(figures());
    }
    Played played;
    if (play_) played = {play_->ids(), play_->refused()};
    metrics_->note_tick(server, wire(), played, now_s, late_s, took_s);
  }

  [[nodiscard]] ClusterFigures figures() const {
    ClusterFigures f;
    f.connected = true;
    const auto add = [&](const ClusterStats& s, const NatsBus& bus) {
      f.connected = f.connected && bus.connected() && s.is_member;
      f.handovers_in += s.handovers_in;
      f.handovers_out += s.handovers_out;
      f.adopted += s.adopted;
      f.writes_refused += s.writes_refused;
      f.stale_refused += s.stale_refused;
      f.unconfirmed_refused += s.unconfirmed_refused;
      f.unknown_refused += s.unknown_refused;
      f.messages_refused += s.messages_refused;
      f.table_reads += s.table_reads;
      f.bus_bytes_sent += bus.stats().bytes_sent;
      f.bus_bytes_received += bus.stats().bytes_received;
      f.bus_dropped += bus.stats().dropped;
      f.gaps += s.gaps;
      f.repairs += s.repairs;
      f.malformed += s.malformed + bus.stats().foreign;
      f.lag_s = s.lag_s;
    };
    if (simulator_) {
      add(simulator_->stats(), *simulator_entry_.bus);
      f.held_cells = simulator_->cell_count();
      f.held_entities = simulator_->held_count();
      for (std::uint32_t cell = 0; cell < config_.columns * config_.rows; ++cell) {
        if (simulator_->holds_cell(cell)) f.epochs.emplace_back(cell, simulator_->cell_epoch(cell));
      }
    }
    if (gateway_) {
      add(gateway_->stats(), *gateway_entry_.bus);
      f.shown_cells = gateway_->cell_count();
    }
    return f;
  }

  // Hands everything over, and disconnects the clients.
  void leave() {
    if (simulator_) {
      simulator_->leave();
      const double until_s = monotonic_s() + kLeaveS;
      while (!simulator_->finished() && monotonic_s() < until_s) {
        const double due_s = std::min(simulator_due_s(), gateway_due_s());
        if (wall_s() < due_s) wait(due_s - wall_s());
        receive();
        if (wall_s() >= due_s) run_ticks();
      }
      if (!simulator_->finished())
        log_.warn("entities stay until their leases end: nobody took them",
                  {{"entities", static_cast<std::uint64_t>(simulator_->held_count())}});
    }
    if (gateway_)
      disconnect_clients(
          gateway_->server(), *transport_, [this] { gateway_->receive(wall_s()); }, log_);
  }

  [[nodiscard]] const Server& shown_server() const {
    return gateway_ ? gateway_->server() : simulator_->server();
  }
  [[nodiscard]] TransportStats wire() const { return transport_ ? transport_->stats() : TransportStats{}; }

  static constexpr double kNever = std::numeric_limits<double>::infinity();
  static constexpr double kNoteEveryS = 0.25;

  const ServerOptions& options_;
  int exit_code_ = kBadInput;
  Log log_;
  Sinks sinks_{log_};
  std::unique_ptr<scenario::Source> source_;
  ClusterConfig config_;
  OrInsecure<ServerSecurity> security_{Insecure{}};
  Entered simulator_entry_;
  Entered gateway_entry_;
  std::unique_ptr<NetworkTransport> transport_;
  std::optional<Simulator> simulator_;
  std::optional<ClusterPlay> play_;
  std::optional<Gateway> gateway_;
  std::optional<ServerMetrics> metrics_;
  std::unique_ptr<StatusPage> page_;
  RunTimes times_;
  double noted_s_ = -1e300;
  bool is_member_ = false;         // the other processes know this one
  std::optional<Error> outsider_;  // why they do not
};

}  // namespace

int run_cluster_server(const ServerOptions& options) {
  return ClusterServer(options).run();
}

}  // namespace reckoner::program
