// SPDX-License-Identifier: MIT
#include "harness/stress/load/load_run.hpp"

#include "harness/process/child_process.hpp"
#include "harness/process/scratch_folder.hpp"
#include "harness/stress/load/recording/datagram_record.hpp"
#include "programs/common/loop/clock.hpp"
#include "programs/common/loop/stop_signal.hpp"
#include "programs/common/security.hpp"
#include "programs/common/system/private_file.hpp"
#include "scenario/trace/utf8_path.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <optional>
#include <thread>

#include <fmt/core.h>

namespace reckoner::harness {
namespace {

constexpr double kPatienceS = 20.0;  // longest wait without progress
constexpr std::size_t kClientsPerProcess = 250;

// A server process and the processes of its clients.
class LoadProcesses {
 public:
  /// `host`: the address of the server for its clients.
  LoadProcesses(const LoadRunOptions& options, std::string name, std::string host,
                const LoadProgress& progress)
      : options_(options), name_(std::move(name)), host_(std::move(host)), progress_(progress) {}

  std::optional<Error> start_server(const std::vector<std::string>& arguments) {
    if (scratch_.path().empty()) return Error{"cannot make a temporary folder"};
    if (auto wrong = add("server", arguments)) return wrong;
    const auto listens = [this] { return printed_value(0, "listening on port").has_value(); };
    if (auto wrong = wait_until(listens, kPatienceS, "the server did not start", 0.0)) return wrong;
    port_ = *printed_value(0, "listening on port");
    epoch_ = printed_value(0, "epoch").value_or("0");
    return std::nullopt;
  }

  // Appends the arguments that differ from process to process to `arguments`.
  std::optional<Error> start_clients(const std::vector<std::string>& arguments) {
    client_arguments_ = arguments;
    const std::size_t all = options_.world.clients;
    const std::size_t wanted =
        options_.processes > 0 ? options_.processes : (all + kClientsPerProcess - 1) / kClientsPerProcess;
    const std::size_t count = std::clamp<std::size_t>(wanted, 1, all);
    std::size_t first_id = 1;
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t clients = all / count + (i < all % count ? 1 : 0);
      const std::size_t watched = options_.watched / count + (i < options_.watched % count ? 1 : 0);
      auto own = arguments;
      own.insert(
          own.end(),
          {"--connect", server_address(), "--count", std::to_string(clients), "--dial-again", "--join-rate",
           fmt::format("{}", options_.join_rate_hz / static_cast<double>(count)), "--watched",
           std::to_string(watched), "--epoch", epoch_, "--first-id", std::to_string(first_id)});
      first_id += clients;
      if (auto wrong = add(fmt::format("clients {}", i + 1), own)) return wrong;
    }
    if (options_.talkers > 0) {
      auto own = arguments;
      own.insert(own.end(), {"--connect", server_address(), "--count", std::to_string(options_.talkers),
                             "--dial-again", "--first-id", "200001", "--watched", "0", "--epoch", epoch_,
                             "--talk-bytes", std::to_string(options_.talk_bytes)});
      if (auto wrong = add("talkers", own)) return wrong;
    }
    return join();
  }

  Result<LoadResult> measure() {
    if (auto wrong = pause(options_.warmup_s, "warming up")) return *wrong;
    if (!write_line(0, children_.size(), fmt::format("measure {}", options_.seconds))) return ended_early();
    const std::size_t started = children_.size();
    if (auto wrong = start_flood_and_late_clients()) return *wrong;
    if (auto wrong = pause(options_.seconds, "measuring")) return *wrong;
    // The server measures a number of ticks. If it cannot keep up, this takes longer, and the clients measure
    // longer, too.
    const double patience_s = kPatienceS + 10.0 * options_.seconds;
    const auto server_printed = [this] { return printed_value(0, "result").has_value(); };
    if (auto wrong = wait_until(server_printed, patience_s, "the server printed no figures", 1.0))
      return *wrong;
    if (!write_line(1, started, "report")) return ended_early();
    const std::size_t expected_results = started + (flood_ ? 1 : 0);
    const auto all_printed = [this, expected_results] {
      for (std::size_t i = 0; i < expected_results; ++i) {
        if (!printed_value(i, "result")) return false;
      }
      return true;
    };
    if (auto wrong = wait_until(all_printed, kPatienceS, "clients printed no figures", 1.0)) return *wrong;
    LoadResult result;
    for (std::size_t i = 0; i < expected_results; ++i) {
      auto json = nlohmann::json::parse(*printed_value(i, "result"), nullptr, false);
      if (!json.is_object()) return Error{name_ + ": malformed figures"};
      if (i == 0) {
        result.server = std::move(json);
      } else if (i == started) {
        result.flood = std::move(json);
      } else {
        result.clients.push_back(std::move(json));
      }
    }
    if (options_.late > 0) result.late_joined = joined_of(children_.size() - 1);
    for (auto child = children_.rbegin(); child != children_.rend(); ++child)
      child->write_line("end");
    return result;
  }

 private:
  [[nodiscard]] std::string server_address() const {
    return (host_.find(':') != std::string::npos ? '[' + host_ + ']' : host_) + ':' + port_;
  }

  [[nodiscard]] bool write_line(std::size_t first, std::size_t end, const std::string& line) {
    for (std::size_t i = first; i < end; ++i) {
      if (!children_[i].write_line(line)) return false;
    }
    return true;
  }

  // Starts the flood and the clients that join during it.
  std::optional<Error> start_flood_and_late_clients() {
    flood_ = options_.flood_per_second > 0.0;
    if (flood_) {
      if (auto wrong = add("strangers", {"load-flood", "--connect", server_address(), "--per-second",
                                         fmt::format("{}", options_.flood_per_second), "--seconds",
                                         fmt::format("{}", options_.seconds)}))
        return wrong;
    }
    if (options_.late == 0) return std::nullopt;
    auto own = client_arguments_;
    own.insert(own.end(), {"--connect", server_address(), "--count", std::to_string(options_.late),
                           "--first-id", "100001", "--join-rate",
                           fmt::format("{}", 2.0 * static_cast<double>(options_.late) / options_.seconds),
                           "--watched", "0", "--epoch", epoch_});
    return add("late clients", own);
  }

  [[nodiscard]] std::size_t joined_of(std::size_t child) const {
    return static_cast<std::size_t>(
        std::strtoull(printed_value(child, "joined").value_or("0").c_str(), nullptr, 10));
  }

  Error ended_early() {
    if (auto wrong = check_processes()) return *wrong;
    return Error{name_ + ": a process does not read its input any more"};
  }

  std::optional<Error> add(const std::string& what, const std::vector<std::string>& arguments) {
    auto child = ChildProcess::start(options_.program, arguments,
                                     scratch_.path() / fmt::format("{}.log", children_.size()),
                                     ChildProcess::Input::piped);
    if (!child) return Error{child.error()};
    children_.push_back(std::move(*child));
    names_.push_back(what);
    return std::nullopt;
  }

  std::optional<std::string> printed_value(std::size_t child, const std::string& key) const {
    return last_value(children_[child].output(), key);
  }

  std::optional<Error> join() {
    const std::size_t all = options_.world.clients + options_.talkers;
    std::size_t joined = 0;
    while (joined < all) {
      std::size_t now = joined;
      const auto more = [&] {
        now = 0;
        for (std::size_t i = 1; i < children_.size(); ++i)
          now += joined_of(i);
        return now > joined;
      };
      const double done = static_cast<double>(joined) / static_cast<double>(all);
      const std::string stuck = fmt::format("only {} of {} clients have joined", joined, all);
      if (auto wrong = wait_until(more, kPatienceS, stuck, done, "clients join")) return wrong;
      joined = now;
    }
    return std::nullopt;
  }

  std::optional<Error> pause(double seconds, const std::string& what) {
    const double end_s = program::monotonic_s() + seconds;
    while (program::monotonic_s() < end_s) {
      if (auto wrong = check_processes()) return wrong;
      progress_(name_ + ": " + what, 1.0 - (end_s - program::monotonic_s()) / seconds);
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
    return std::nullopt;
  }

  template <class Done>
  std::optional<Error> wait_until(Done done, double patience_s, const std::string& stuck, double share,
                                  const std::string& what = "waiting") {
    const double end_s = program::monotonic_s() + patience_s;
    while (!done()) {
      if (auto wrong = check_processes()) return wrong;
      if (program::monotonic_s() >= end_s) return Error{name_ + ": " + stuck};
      progress_(name_ + ": " + what, share);
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    return std::nullopt;
  }

  // Returns an error if a process has ended too early or the user wants to stop.
  std::optional<Error> check_processes() {
    if (program::stop_requested()) return Error{"stopped"};
    for (std::size_t i = 0; i < children_.size(); ++i) {
      if (const auto code = children_[i].exit_code()) {
        if (*code == 0 && names_[i] == "strangers") continue;  // the flood has printed its result
        return Error{fmt::format("{}: {} ended with code {}: {}", name_, names_[i], *code,
                                 last_line(children_[i].output()))};
      }
    }
    return std::nullopt;
  }

  const LoadRunOptions& options_;
  std::string name_;
  std::string host_;
  const LoadProgress& progress_;
  ScratchFolder scratch_;               // declared before the processes that write into it
  std::vector<ChildProcess> children_;  // the server is the first
  std::vector<std::string> names_;
  std::vector<std::string> client_arguments_;
  bool flood_ = false;
  std::string port_;
  std::string epoch_;
};

std::vector<std::string> world_arguments(const char* command, const LoadRunOptions& options) {
  const LoadWorldOptions& world = options.world;
  return {command,
          "--clients",
          std::to_string(world.clients),
          "--entities",
          std::to_string(world.entities),
          "--resting",
          std::to_string(world.resting),
          "--see",
          std::to_string(world.see),
          "--seed",
          std::to_string(world.seed),
          "--tick-rate",
          fmt::format("{}", options.tick_rate_hz)};
}

std::vector<std::string> client_arguments(const char* command, const LoadRunOptions& options) {
  auto arguments = world_arguments(command, options);
  const double rate_hz = options.client_rate_hz > 0.0 ? options.client_rate_hz : options.tick_rate_hz;
  arguments.insert(arguments.end(), {"--frame-rate", fmt::format("{}", rate_hz)});
  return arguments;
}

}  // namespace

Result<LoadResult> run_load(const LoadRunOptions& options, const std::filesystem::path& record,
                            const LoadProgress& progress) {
  LoadProcesses started(options, "Reckoner", options.connect, progress);
  auto server = world_arguments("load-server", options);
  auto clients = client_arguments("load-clients", options);
  clients.insert(clients.end(), {"--loss", fmt::format("{}", options.client_loss_percent)});
  server.insert(server.end(), {"--record", utf8_of(record), "--threads", std::to_string(options.threads),
                               "--send-rate", fmt::format("{}", options.send_rate_hz), "--late",
                               std::to_string(options.late + options.talkers), "--listen", options.listen});
  for (auto* arguments : {&server, &clients})
    arguments->insert(arguments->end(), {"--transport", options.transport});
  if (!options.insecure) {
    const std::string key = utf8_of(record) + ".key";
    if (auto wrong = program::write_private_file(key, SecretKey::make().text())) return *wrong;
    for (auto* arguments : {&server, &clients})
      arguments->insert(arguments->end(), {"--key", key});
  }
  if (auto wrong = started.start_server(server)) return *wrong;
  if (auto wrong = started.start_clients(clients)) return *wrong;
  return started.measure();
}

Result<LoadResult> run_plain(const LoadRunOptions& options, const std::filesystem::path& record,
                             const LoadProgress& progress) {
  const auto recorded = load_record(record);
  if (!recorded) return Error{recorded.error()};
  LoadProcesses started(options, "plain ENet", "127.0.0.1", progress);
  auto server = world_arguments("load-plain-server", options);
  server.insert(server.end(), {"--record", utf8_of(record)});
  if (auto wrong = started.start_server(server)) return *wrong;
  auto clients = client_arguments("load-plain-clients", options);
  clients.insert(clients.end(),
                 {"--payload", std::to_string(std::max<std::size_t>(1, recorded->uplink_bytes))});
  if (auto wrong = started.start_clients(clients)) return *wrong;
  return started.measure();
}

}  // namespace reckoner::harness
