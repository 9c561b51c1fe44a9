// SPDX-License-Identifier: MIT
#include "harness/cluster/cluster_run.hpp"

#include "cluster/src/witness/witness.hpp"
#include "harness/cluster/cluster_process.hpp"
#include "harness/process/child_process.hpp"
#include "harness/process/scratch_folder.hpp"
#include "programs/common/security.hpp"
#include "programs/common/system/private_file.hpp"
#include "reckoning/src/statistics/quantile.hpp"

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <vector>

#include <fmt/core.h>

namespace reckoner::harness {
namespace {

constexpr double kPatienceS = 30.0;
constexpr double kSettleS = 8.0;  // after the chaos
constexpr double kPauseS = 10.0;  // of a paused simulator in the chaos
constexpr std::size_t kFaultsOfAKind = 3;

// A process of the run.
struct Process {
  std::string name;
  ChildProcess child;
  std::vector<std::string> arguments;
  double killed_s = 0.0;  // above 0: it was killed on purpose
};

class ClusterRun {
 public:
  ClusterRun(const ClusterRunOptions& options, const ClusterProgress& progress)
      : options_(options), progress_(progress) {}
  ~ClusterRun() {
    for (std::optional<Process>* one : {&clients_, &single_}) {
      if (*one) (*one)->child.write_line("end");
    }
    witness_.reset();
    witness_bus_.reset();
  }

  Result<nlohmann::ordered_json> run() {
    if (scratch_.path().empty()) return Error{"cannot make a temporary folder"};
    key_ = (scratch_.path() / "key").string();
    if (auto wrong = program::write_private_file(key_, SecretKey::make().text())) return *wrong;
    nlohmann::json single = nlohmann::json::object();
    if (options_.compare) {
      auto measured = measure_single();
      if (!measured) return Error{measured.error()};
      single = std::move(*measured);
    }
    if (auto wrong = start_cluster()) return *wrong;
    if (auto wrong = measure_cluster()) return *wrong;
    return figures(single);
  }

 private:
  std::vector<std::string> world_arguments(const std::string& command) const {
    const ClusterWorldOptions& w = options_.world;
    return {command,
            "--nats",
            nats_url_,
            "--entities",
            std::to_string(w.entities),
            "--columns",
            std::to_string(w.columns),
            "--cell-m",
            fmt::format("{}", w.cell_m),
            "--radius-m",
            fmt::format("{}", w.radius_m),
            "--tick-rate",
            fmt::format("{}", w.tick_rate_hz),
            "--checkpoint-s",
            fmt::format("{}", w.checkpoint_s),
            "--seed",
            std::to_string(w.seed)};
  }

  Result<Process> start(const std::string& name, const std::vector<std::string>& arguments,
                        const std::filesystem::path& program) {
    auto child =
        ChildProcess::start(program, arguments, scratch_.path() / fmt::format("{}-{}.log", name, ++logs_),
                            ChildProcess::Input::piped);
    if (!child) return Error{child.error()};
    return Process{name, std::move(*child), arguments};
  }

  template <class Done>
  std::optional<Error> wait_until(Done done, const std::string& stuck, double patience_s = kPatienceS) {
    const double end_s = program::monotonic_s() + patience_s;
    while (!done()) {
      if (auto wrong = check()) return wrong;
      if (program::monotonic_s() >= end_s) return Error{stuck};
      rest(0.05);
    }
    return std::nullopt;
  }

  // Reads the bus while it waits.
  void rest(double seconds) {
    if (witness_) witness_->run(program::monotonic_s());
    std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
  }

  std::optional<Error> check() {
    if (program::stop_requested()) return Error{"stopped"};
    const auto dead = [](Process& p) -> std::optional<Error> {
      const auto code = p.child.exit_code();
      if (!code || p.killed_s > 0.0) return std::nullopt;
      return Error{fmt::format("{} ended with code {}: {}", p.name, *code, last_line(p.child.output()))};
    };
    for (auto* group : {&simulators_, &gateways_, &conditioners_}) {
      for (Process& p : *group) {
        if (auto wrong = dead(p)) return wrong;
      }
    }
    for (std::optional<Process>* one : {&clients_, &single_, &nats_}) {
      if (!*one) continue;
      if (auto wrong = dead(**one)) return wrong;
    }
    return std::nullopt;
  }

  std::optional<Error> start_conditioner(const std::string& port) {
    auto started = start("conditioner",
                         {"conditioner", "--listen", "0", "--to", "127.0.0.1:" + port, "--network",
                          options_.network, "--seed", std::to_string(conditioners_.size() + 1)},
                         options_.program);
    if (!started) return Error{started.error()};
    conditioners_.push_back(std::move(*started));
    Process& p = conditioners_.back();
    if (auto wrong = wait_until([&] { return last_value(p.child.output(), "listening on port").has_value(); },
                                "a conditioner did not start"))
      return wrong;
    if (!servers_.empty()) servers_ += ",";
    servers_ += *last_value(p.child.output(), "listening on port");
    return std::nullopt;
  }

  std::optional<Error> start_clients(const std::string& epoch) {
    auto arguments = world_arguments("cluster-clients");
    arguments.insert(arguments.end(),
                     {"--servers", servers_, "--key", key_, "--count", std::to_string(options_.clients),
                      "--watched", std::to_string(std::min(options_.watched, options_.clients))});
    auto started = start("clients", arguments, options_.program);
    if (!started) return Error{started.error()};
    clients_ = std::move(*started);
    if (!clients_->child.write_line("epoch " + epoch)) return Error{"the clients do not read"};
    progress_("clients join", 0.0);
    return wait_until(
        [&] {
          return last_value(clients_->child.output(), "joined").value_or("0") ==
                 std::to_string(options_.clients);
        },
        "not all clients have joined", 60.0);
  }

  void pause(
      double seconds, const std::string& what, const std::function<void(double)>& each = [](double) {}) {
    const double begin_s = program::monotonic_s();
    while (program::monotonic_s() - begin_s < seconds && !program::stop_requested()) {
      each(program::monotonic_s() - begin_s);
      progress_(what, (program::monotonic_s() - begin_s) / seconds);
      rest(0.02);
    }
  }

  Result<nlohmann::json> ask_result(Process& p) {
    if (!p.child.write_line("report")) return Error{p.name + " does not read"};
    if (auto wrong = wait_until([&] { return last_value(p.child.output(), "result").has_value(); },
                                p.name + " printed no figures"))
      return *wrong;
    auto json = nlohmann::json::parse(*last_value(p.child.output(), "result"), nullptr, false);
    if (!json.is_object()) return Error{p.name + " printed malformed figures"};
    return json;
  }

  struct Holders {
    std::set<std::size_t> none;  // bodies that no simulator holds
    std::set<std::size_t> many;  // bodies that several hold
  };
  Result<Holders> find_holders(int round) {
    std::map<std::size_t, int> times;
    const std::string label = fmt::format("held {}", round);
    for (Process& p : simulators_) {
      if (p.killed_s > 0.0) continue;
      if (!p.child.write_line(label)) return Error{p.name + " does not read"};
      if (auto wrong = wait_until([&] { return last_value(p.child.output(), label).has_value(); },
                                  p.name + " does not say what it holds"))
        return *wrong;
      const auto bodies = nlohmann::json::parse(*last_value(p.child.output(), label), nullptr, false);
      if (!bodies.is_array()) return Error{p.name + " printed malformed figures"};
      for (const auto& body : bodies)
        ++times[body.get<std::size_t>()];
    }
    Holders holders;
    for (std::size_t body = 0; body < options_.world.entities; ++body) {
      const auto found = times.find(body);
      if (found == times.end()) holders.none.insert(body);
      if (found != times.end() && found->second > 1) holders.many.insert(body);
    }
    return holders;
  }

  // The simulators answer one after the other, and a handover in between looks like a loss or a second
  // holder. Only what several rounds agree on counts.
  std::optional<Error> check_holders() {
    for (int round = 0; round < 4; ++round) {
      auto now = find_holders(round);
      if (!now) return Error{now.error()};
      if (round == 0) {
        holders_ = std::move(*now);
        continue;
      }
      std::erase_if(holders_.none, [&](std::size_t body) { return !now->none.contains(body); });
      std::erase_if(holders_.many, [&](std::size_t body) { return !now->many.contains(body); });
    }
    return std::nullopt;
  }

  // One server with an equal world.
  Result<nlohmann::json> measure_single() {
    nats_url_ = "nats://127.0.0.1:1";  // not used
    auto arguments = world_arguments("cluster-gateway");
    arguments.insert(arguments.end(),
                     {"--single", "--key", key_, "--clients", std::to_string(options_.clients), "--view-m",
                      fmt::format("{}", options_.fixed_view_m)});
    auto started = start("server", arguments, options_.program);
    if (!started) return Error{started.error()};
    single_ = std::move(*started);
    const auto listens = [&] { return last_value(single_->child.output(), "listening on port").has_value(); };
    if (auto wrong = wait_until(listens, "the single server did not start")) return *wrong;
    if (auto wrong = start_conditioner(*last_value(single_->child.output(), "listening on port")))
      return *wrong;
    if (auto wrong = start_clients(*last_value(single_->child.output(), "epoch"))) return *wrong;
    pause(options_.warm_up_s, "one server: warming up");
    (void)single_->child.write_line("measure");
    (void)clients_->child.write_line("measure");
    pause(std::min(options_.seconds, 30.0), "one server: measuring");
    (void)clients_->child.write_line("stop");
    pause(2.0, "one server: waiting for messages");
    auto clients = ask_result(*clients_);
    if (!clients) return clients;
    auto server = ask_result(*single_);
    if (!server) return server;
    (*clients)["server"] = *server;
    clients_->killed_s = single_->killed_s = 1.0;
    (void)clients_->child.write_line("end");
    (void)single_->child.write_line("end");
    pause(0.3, "one server: ending");
    clients_.reset();
    single_.reset();
    conditioners_.clear();
    servers_.clear();
    return clients;
  }

  std::optional<Error> start_nats() {
    auto started = start("nats-server",
                         {"-js", "-sd", (scratch_.path() / "nats").string(), "-a", "127.0.0.1", "-p",
                          std::to_string(nats_port_)},
                         "nats-server");
    if (!started) return Error{started.error() + " (Debian: apt-get install nats-server)"};
    nats_ = std::move(*started);
    return std::nullopt;
  }

  std::optional<Error> start_simulator(bool spawns) {
    auto arguments = world_arguments("cluster-simulator");
    arguments.insert(arguments.end(), {"--name", fmt::format("sim{}", ++simulator_names_)});
    if (spawns) arguments.push_back("--spawn");
    auto started = start("simulator", arguments, options_.program);
    if (!started) return Error{started.error()};
    simulators_.push_back(std::move(*started));
    return std::nullopt;
  }

  std::optional<Error> start_gateway(const std::string& port) {
    auto arguments = world_arguments("cluster-gateway");
    arguments.insert(arguments.end(), {"--name", fmt::format("gate{}", ++gateway_names_), "--key", key_,
                                       "--port", port, "--clients", std::to_string(options_.clients),
                                       "--view-m", fmt::format("{}", options_.fixed_view_m)});
    auto started = start("gateway", arguments, options_.program);
    if (!started) return Error{started.error()};
    gateways_.push_back(std::move(*started));
    return std::nullopt;
  }

  std::optional<Error> start_cluster() {
    std::random_device random;
    nats_port_ = static_cast<std::uint16_t>(20'000 + random() % 20'000);
    nats_url_ = fmt::format("nats://127.0.0.1:{}", nats_port_);
    if (auto wrong = start_nats()) return wrong;
    if (auto wrong =
            wait_until([&] { return nats_->child.output().find("Server is ready") != std::string::npos; },
                       "the NATS server did not start"))
      return wrong;
    for (std::size_t i = 0; i < options_.simulators; ++i) {
      if (auto wrong = start_simulator(i == 0)) return wrong;
    }
    progress_("the simulators start", 0.0);
    if (auto wrong =
            wait_until([&] { return last_value(simulators_[0].child.output(), "spawned").has_value(); },
                       "the bodies were not spawned", 180.0))
      return wrong;
    for (std::size_t i = 0; i < options_.gateways; ++i) {
      if (auto wrong = start_gateway("0")) return wrong;
      Process& gateway = gateways_.back();
      if (auto wrong =
              wait_until([&] { return last_value(gateway.child.output(), "listening on port").has_value(); },
                         "a gateway did not start"))
        return wrong;
      ports_.push_back(*last_value(gateway.child.output(), "listening on port"));
      if (auto wrong = start_conditioner(ports_.back())) return wrong;
    }
    NatsConfig nats;
    nats.url = nats_url_;
    nats.world = options_.world.world;
    nats.name = "harness";
    auto bus = NatsBus::open(nats);
    if (!bus) return Error{bus.error()};
    witness_bus_ = std::move(*bus);
    witness_.emplace(cluster_config(options_.world), *witness_bus_);
    return start_clients(*last_value(gateways_[0].child.output(), "epoch"));
  }

  template <class F>
  void each_running(F&& f) {
    for (auto* group : {&simulators_, &gateways_}) {
      for (Process& p : *group) {
        if (p.killed_s == 0.0) f(p);
      }
    }
  }

  std::optional<Error> measure_cluster() {
    pause(options_.warm_up_s, "cluster: warming up");
    each_running([](Process& p) { (void)p.child.write_line("measure"); });
    (void)clients_->child.write_line("measure");
    plan_chaos();
    pause(options_.seconds, "cluster: measuring", [&](double at_s) { make_chaos(at_s); });
    finish_chaos();
    if (options_.chaos) pause(kSettleS, "cluster: settling", [&](double) { make_chaos(options_.seconds); });
    (void)clients_->child.write_line("stop");
    pause(3.0, "cluster: waiting for messages");
    return check();
  }

  // The faults: at regular times, in an order from the seed.
  struct Fault {
    enum class Kind : std::uint8_t { kill_simulator, kill_gateway, kill_nats, pause_simulator };
    Kind kind;
    double at_s;
  };
  void plan_chaos() {
    if (!options_.chaos) return;
    std::mt19937_64 random(options_.world.seed);
    std::vector<Fault::Kind> kinds;
    for (std::size_t i = 0; i < kFaultsOfAKind; ++i) {
      for (const auto kind : {Fault::Kind::kill_simulator, Fault::Kind::kill_gateway, Fault::Kind::kill_nats,
                              Fault::Kind::pause_simulator})
        kinds.push_back(kind);
    }
    for (std::size_t i = kinds.size(); i > 1; --i)
      std::swap(kinds[i - 1], kinds[random() % i]);
    const double every_s = options_.seconds / static_cast<double>(kinds.size() + 1);
    for (std::size_t i = 0; i < kinds.size(); ++i)
      faults_.push_back({kinds[i], every_s * static_cast<double>(i + 1)});
  }

  void make_chaos(double at_s) {
    const double now_s = program::monotonic_s();
    for (auto& [when_s, what] : later_) {
      if (when_s > now_s || !what) continue;
      what();
      what = nullptr;
    }
    if (next_fault_ >= faults_.size() || faults_[next_fault_].at_s > at_s) return;
    const Fault fault = faults_[next_fault_++];
    const auto pick = [&](std::vector<Process>& from) -> std::size_t {
      std::vector<std::size_t> running;
      for (std::size_t i = 0; i < from.size(); ++i) {
        if (from[i].killed_s == 0.0 && !paused_.contains(from[i].child.pid())) running.push_back(i);
      }
      return running.size() < 2 ? from.size() : running[next_fault_ % running.size()];
    };
    switch (fault.kind) {
      case Fault::Kind::kill_simulator: {
        const std::size_t i = pick(simulators_);
        if (i == simulators_.size()) return;
        simulators_[i].killed_s = now_s;
        (void)kill(simulators_[i].child.pid(), SIGKILL);
        ++killed_simulators_;
        later_.emplace_back(now_s + 4.0, [this] { (void)start_simulator(false); });
        break;
      }
      case Fault::Kind::kill_gateway: {
        const std::size_t i = pick(gateways_);
        if (i == gateways_.size()) return;
        gateways_[i].killed_s = now_s;
        const std::string port = last_value(gateways_[i].child.output(), "listening on port").value_or("0");
        (void)kill(gateways_[i].child.pid(), SIGKILL);
        gateway_kills_s_.push_back(now_s);
        later_.emplace_back(now_s + 6.0, [this, port] { (void)start_gateway(port); });
        break;
      }
      case Fault::Kind::kill_nats:
        if (!nats_ || nats_->killed_s > 0.0) return;
        nats_->killed_s = now_s;
        (void)kill(nats_->child.pid(), SIGKILL);
        ++killed_nats_;
        later_.emplace_back(now_s + 2.0, [this] {
          nats_.reset();
          (void)start_nats();
        });
        break;
      case Fault::Kind::pause_simulator: {
        const std::size_t i = pick(simulators_);
        if (i == simulators_.size()) return;
        const int pid = simulators_[i].child.pid();
        paused_.insert(pid);
        ++pauses_;
        (void)kill(pid, SIGSTOP);
        later_.emplace_back(now_s + kPauseS, [this, pid] {
          (void)kill(pid, SIGCONT);
          paused_.erase(pid);
        });
        break;
      }
    }
  }

  void finish_chaos() {
    next_fault_ = faults_.size();
    for (auto& [when_s, what] : later_) {
      if (what) what();
      what = nullptr;
    }
  }

  [[nodiscard]] std::vector<double> rejoin_times() const {
    std::vector<double> times;
    const std::string output = clients_->child.output();
    for (std::size_t at = output.find("back "); at != std::string::npos; at = output.find("back ", at + 1)) {
      if (at > 0 && output[at - 1] != '\n') continue;
      unsigned long number = 0;
      double back_s = 0.0;
      if (std::sscanf(output.c_str() + at, "back %lu %lf", &number, &back_s) != 2) continue;
      // Since the last kill of a gateway before it.
      double since_s = -1.0;
      for (const double killed_s : gateway_kills_s_) {
        if (killed_s < back_s) since_s = back_s - killed_s;
      }
      if (since_s >= 0.0) times.push_back(since_s);
    }
    return times;
  }

  Result<nlohmann::ordered_json> figures(const nlohmann::json& single) {
    auto clients = ask_result(*clients_);
    if (!clients) return Error{clients.error()};
    std::vector<nlohmann::json> simulators, gateways;
    for (Process& p : simulators_) {
      if (p.killed_s > 0.0) continue;
      auto result = ask_result(p);
      if (!result) return Error{result.error()};
      simulators.push_back(std::move(*result));
    }
    for (Process& p : gateways_) {
      if (p.killed_s > 0.0) continue;
      auto result = ask_result(p);
      if (!result) return Error{result.error()};
      gateways.push_back(std::move(*result));
    }
    if (auto wrong = check_holders()) return *wrong;
    return summary(*clients, simulators, gateways, single);
  }

  static double sum(const std::vector<nlohmann::json>& all, const char* name) {
    double total = 0.0;
    for (const auto& one : all)
      total += one.value(name, 0.0);
    return total;
  }

  // The smallest number of ticks that is not exceeded by a share of the silences.
  static std::size_t ticks_at(const std::vector<std::uint64_t>& histogram, double share) {
    std::uint64_t total = 0;
    for (const std::uint64_t count : histogram)
      total += count;
    std::uint64_t below = 0;
    for (std::size_t i = 0; i < histogram.size(); ++i) {
      below += histogram[i];
      if (total > 0 && static_cast<double>(below) >= share * static_cast<double>(total)) return i;
    }
    return 0;
  }

  nlohmann::ordered_json summary(const nlohmann::json& clients, const std::vector<nlohmann::json>& simulators,
                                 const std::vector<nlohmann::json>& gateways,
                                 const nlohmann::json& single) const {
    const double entities = static_cast<double>(options_.world.entities);
    std::vector<std::uint64_t> silence(64, 0);
    std::vector<double> orphans;
    for (const auto& one : gateways) {
      const auto part = one.value("silence_ticks", std::vector<std::uint64_t>{});
      for (std::size_t i = 0; i < std::min(part.size(), silence.size()); ++i)
        silence[i] += part[i];
      for (const double orphan_s : one.value("orphan_s", std::vector<double>{}))
        orphans.push_back(orphan_s);
    }
    std::size_t longest = 0;
    for (std::size_t i = 0; i < silence.size(); ++i)
      longest = silence[i] > 0 ? i : longest;
    auto rejoins = rejoin_times();
    const auto p99 = [](std::vector<double>& values) {
      return values.empty() ? 0.0 : quantile(values, 0.99);
    };
    const auto ratio = [](double a, double b) { return b > 0.0 ? a / b : 0.0; };
    const double seconds = gateways.empty() ? 1.0 : gateways[0].value("seconds", 1.0);
    nlohmann::ordered_json json;
    json["simulators"] = options_.simulators;
    json["gateways"] = options_.gateways;
    json["clients"] = options_.clients;
    json["entities"] = options_.world.entities;
    json["network"] = options_.network;
    json["seconds"] = options_.seconds;
    json["chaos"] = options_.chaos;
    json["handovers"] = sum(simulators, "handovers");
    json["handover_silence_ticks"] = {
        {"p50", ticks_at(silence, 0.5)}, {"p99", ticks_at(silence, 0.99)}, {"max", longest}};
    json["handover_velocity_step_ratio_p99"] =
        ratio(clients.value("handover_step_mps_p99", 0.0), single.value("velocity_step_mps_p99", 0.0));
    json["now_error_ratio_p95"] = ratio(clients.value("error_m_p95", 0.0), single.value("error_m_p95", 0.0));
    json["entities_lost"] = holders_.none.size();
    json["entities_doubled"] = holders_.many.size();
    json["shown_twice"] = clients.value("shown_twice", 0);
    json["other_ids"] = clients.value("other_ids", 0);
    json["messages"] = clients.value("messages", 0);
    json["messages_lost"] = clients.value("messages_unanswered", 0) + clients.value("messages_skipped", 0);
    json["messages_repeated"] = clients.value("messages_repeated", 0);
    json["messages_abandoned"] = clients.value("messages_abandoned", 0);
    json["writes_refused"] =
        sum(simulators, "writes_refused") + sum(simulators, "stale_refused") + sum(gateways, "stale_refused");
    json["stale_writes_accepted"] = witness_ ? witness_->stale_accepted() : 0;
    json["orphans"] = orphans.size();
    json["orphan_s"] = {{"p99", p99(orphans)}};
    json["rejoins"] = rejoins.size();
    json["rejoin_s"] = {{"p99", p99(rejoins)}, {"each", rejoins}};
    json["rejoin_error_m_p95"] = clients.value("rejoin_error_m_p95", 0.0);
    json["error_m_p95"] = clients.value("error_m_p95", 0.0);
    json["visible"] = clients.value("visible", 0.0);
    json["bus_bytes_per_entity_s"] = sum(simulators, "bus_bytes") / entities / seconds;
    json["gateway_bytes_per_s"] = ratio(sum(gateways, "client_bytes") + sum(gateways, "bus_bytes"),
                                        seconds * static_cast<double>(gateways.size()));
    json["gateway_cpu"] = ratio(sum(gateways, "cpu"), static_cast<double>(gateways.size()));
    json["one_server_cpu"] = single.contains("server") ? single["server"].value("cpu", 0.0) : 0.0;
    json["simulator_cpu"] = ratio(sum(simulators, "cpu"), static_cast<double>(simulators.size()));
    json["simulator_late_ticks"] = sum(simulators, "late_ticks");
    json["bus_lag_ms"] = ratio(sum(gateways, "lag_ms"), static_cast<double>(gateways.size()));
    json["gaps"] = sum(gateways, "gaps") + sum(simulators, "gaps");
    json["malformed"] = sum(gateways, "malformed") + sum(simulators, "malformed");
    json["faults"] = {{"simulators_killed", killed_simulators_},
                      {"gateways_killed", gateway_kills_s_.size()},
                      {"nats_killed", killed_nats_},
                      {"simulators_paused", pauses_}};
    json["witness"] = witness_ ? witness_->faults() : std::vector<std::string>{};
    json["cluster_clients"] = clients;
    json["one_server"] = single;
    json["each_gateway"] = gateways;
    json["each_simulator"] = simulators;
    for (auto& one : json["each_gateway"]) {
      one.erase("orphan_s");
      one.erase("silence_ticks");
    }
    return json;
  }

  const ClusterRunOptions& options_;
  const ClusterProgress& progress_;
  ScratchFolder scratch_;  // declared before the processes that write into it
  std::string key_;
  std::string nats_url_;
  std::uint16_t nats_port_ = 0;
  std::size_t logs_ = 0;
  std::size_t simulator_names_ = 0;
  std::size_t gateway_names_ = 0;
  std::optional<Process> nats_, single_, clients_;
  std::vector<Process> simulators_, gateways_, conditioners_;
  std::vector<std::string> ports_;
  std::string servers_;
  std::unique_ptr<NatsBus> witness_bus_;
  std::optional<cluster::Witness> witness_;
  std::vector<Fault> faults_;
  std::size_t next_fault_ = 0;
  std::vector<std::pair<double, std::function<void()>>> later_;
  std::set<int> paused_;
  Holders holders_;
  std::vector<double> gateway_kills_s_;
  std::size_t killed_simulators_ = 0, killed_nats_ = 0, pauses_ = 0;
};

}  // namespace

Result<nlohmann::ordered_json> run_cluster(const ClusterRunOptions& options,
                                           const ClusterProgress& progress) {
  ClusterRun run(options, progress);
  return run.run();
}

std::string cluster_table(const nlohmann::ordered_json& figures) {
  std::string text;
  for (const auto& [name, value] : figures.items()) {
    if (value.is_array() || (value.is_object() && value.size() > 4)) continue;
    const std::string shown =
        value.is_number_float() ? fmt::format("{:.4g}", value.get<double>()) : value.dump();
    text += fmt::format("{:<34} {}\n", name, shown);
  }
  return text;
}

}  // namespace reckoner::harness
