// SPDX-License-Identifier: MIT
#include "harness/process/child_process.hpp"
#include "harness/process/scratch_folder.hpp"
#include "harness/stress/load/load_run.hpp"
#include "harness/stress/load/recording/resource_use.hpp"
#include "harness/stress/soak/soak.hpp"
#include "programs/common/loop/clock.hpp"
#include "programs/common/loop/stop_signal.hpp"
#include "programs/common/security.hpp"
#include "programs/common/system/private_file.hpp"
#include "scenario/builtin/random.hpp"
#include "scenario/trace/utf8_path.hpp"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <thread>

#include <fmt/core.h>

namespace reckoner::harness {
namespace {

constexpr double kSoakPatienceS = 20.0;
constexpr double kRealSampleS = 1.0;
// Shorter runs do not check for growth, because clients still join for the first time.
constexpr double kGrowthCheckS = 120.0;
constexpr double kSettleS = 30.0;  // at the end no client leaves; all must be in the world within this time
constexpr double kRealCheckS = 0.5;
constexpr std::size_t kSoakClientsPerProcess = 50;

// Mean interval between stops of a process, and the maximum durations. Some stops last longer than the
// silence timeout of a connection.
constexpr double kStopEveryS = 20.0;
constexpr double kStopServerS = 3.0;
constexpr double kStopClientsS = 14.0;

class RealSoak {
 public:
  RealSoak(const SoakOptions& options, std::filesystem::path program)
      : options_(options), program_(std::move(program)) {}
  ~RealSoak() { resume_stopped(); }
  RealSoak(const RealSoak&) = delete;
  RealSoak& operator=(const RealSoak&) = delete;

  std::optional<Error> start() {
    if (scratch_.path().empty()) return Error{"cannot make a temporary folder"};
    const std::string key = utf8_of(scratch_.path() / "soak.key");
    if (auto wrong = program::write_private_file(key, SecretKey::make().text())) return wrong;
    const std::string clients = std::to_string(options_.clients);
    const std::vector<std::string> server{
        "load-server", "--clients", clients, "--entities", std::to_string(options_.entities),
        "--late",      clients,     "--key", key};
    if (auto wrong = add(server)) return wrong;
    const double end_s = program::monotonic_s() + kSoakPatienceS;
    while (!last_value(children_[0].output(), "listening on port")) {
      if (program::monotonic_s() > end_s) return Error{"the server did not start"};
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    const std::string address = "127.0.0.1:" + *last_value(children_[0].output(), "listening on port");
    const std::size_t processes = (options_.clients + kSoakClientsPerProcess - 1) / kSoakClientsPerProcess;
    for (std::size_t i = 0; i < processes; ++i) {
      const std::size_t count = options_.clients / processes + (i < options_.clients % processes ? 1 : 0);
      if (auto wrong = add({"soak-clients", "--connect", address, "--key", key, "--count",
                            std::to_string(count), "--seed", std::to_string(options_.seed + i), "--first-id",
                            std::to_string(1 + i * 1'000'000)}))
        return wrong;
    }
    return std::nullopt;
  }

  std::optional<Error> run(const SoakProgress& progress) {
    const double start_s = program::monotonic_s();
    double next_sample_s = start_s, next_stop_s = start_s + 0.5 * kStopEveryS;
    double settle_s = start_s + options_.seconds;
    bool settling = false;
    for (double now_s = start_s; now_s < settle_s + kSettleS; now_s = program::monotonic_s()) {
      if (auto wrong = check_processes()) return wrong;
      if (stopped_ && now_s >= resume_at_s_) resume_stopped();
      if (!settling && !stopped_ && now_s >= next_stop_s) {
        next_stop_s = now_s + 2.0 * kStopEveryS * chance();
        stop_one(now_s);
      }
      if (!settling && now_s >= next_sample_s) {
        next_sample_s += kRealSampleS;
        sample();
        progress((now_s - start_s) / options_.seconds);
      }
      if (!settling && now_s >= settle_s) {
        settling = true;
        resume_stopped();
        for (std::size_t i = 1; i < children_.size(); ++i)
          children_[i].write_line("settle");
      }
      if (settling && now_s >= next_sample_s) {
        next_sample_s = now_s + kRealCheckS;
        if (all_clients_joined()) {
          back_after_s_ = now_s - settle_s;
          break;
        }
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    return std::nullopt;
  }

  // True if every process has confirmed that its clients no longer leave, and has reported all of them as
  // joined.
  [[nodiscard]] bool all_clients_joined() const {
    for (std::size_t i = 1; i < children_.size(); ++i) {
      const nlohmann::json said = last_report_of(children_[i]);
      if (!said.is_object() || !said.value("settling", false) ||
          said.value("there", std::uint64_t{0}) != said.value("present", std::uint64_t{0}))
        return false;
    }
    return true;
  }

  SoakReport report() {
    SoakReport report;
    std::uint64_t there = 0, present = 0;
    nlohmann::ordered_json sums = {
        {"begun", 0}, {"joined", 0}, {"resumed", 0}, {"restarted", 0}, {"malformed", 0}};
    for (std::size_t i = 1; i < children_.size(); ++i) {
      const nlohmann::json said = last_report_of(children_[i]);
      if (!said.is_object()) continue;
      there += said.value("there", std::uint64_t{0});
      for (const auto& why : said.value("out", nlohmann::json::array()))
        report.wrong.push_back("not joined: " + why.get<std::string>());
      present += said.value("present", std::uint64_t{0});
      for (auto& [name, sum] : sums.items())
        sum = sum.get<std::uint64_t>() + said.value(name, std::uint64_t{0});
    }
    if (there < present || present == 0)
      report.wrong.push_back(
          fmt::format("only {} of {} clients are in the world at the end", there, present));
    if (sums["malformed"] != 0) report.wrong.emplace_back("clients refused messages of an honest server");
    auto& f = report.figures;
    f["seconds"] = options_.seconds;
    f["clients"] = options_.clients;
    f.update(sums);
    f["stops"] = stops_;
    f["all back at the end after, s"] = back_after_s_;
    for (const SoakSeries* series :
         {&server_bytes_, &server_descriptors_, &client_bytes_, &client_descriptors_}) {
      f[series->name + ", second fifth"] = series->mean(0.4, 0.6);
      f[series->name + ", last fifth"] = series->mean(0.8, 1.0);
    }
    if (options_.seconds >= kGrowthCheckS) judge_growth(report);
    const double most = static_cast<double>(options_.clients) + 20.0 * static_cast<double>(children_.size());
    if (client_descriptors_.mean(0.8, 1.0) > most)
      report.wrong.emplace_back("clients have too many descriptors open");
    return report;
  }

 private:
  [[nodiscard]] static nlohmann::json last_report_of(const ChildProcess& child) {
    return nlohmann::json::parse(last_value(child.output(), "so").value_or("{}"), nullptr, false);
  }

  // The memory of the clients may differ by 10 % because their number varies at random. Their descriptors are
  // not compared for the same reason.
  void judge_growth(SoakReport& report) const {
    for (const SoakSeries* series : {&server_bytes_, &client_bytes_}) {
      if (const std::string grew = growth(*series, 0.1, 2e6); !grew.empty()) report.wrong.push_back(grew);
    }
    if (const std::string grew = growth(server_descriptors_, 0.0, 1.0); !grew.empty())
      report.wrong.push_back(grew);
  }

  [[nodiscard]] double chance() {
    return scenario::to_unit_interval(scenario::hash(options_.seed, std::uint64_t{0x50C}, ++draws_));
  }

  std::optional<Error> add(const std::vector<std::string>& arguments) {
    auto child =
        ChildProcess::start(program_, arguments, scratch_.path() / fmt::format("{}.log", children_.size()),
                            ChildProcess::Input::piped);
    if (!child) return Error{child.error()};
    children_.push_back(std::move(*child));
    return std::nullopt;
  }

  // Stops the server or one process of clients, as if the machine slept.
  void stop_one(double now_s) {
    const auto index = static_cast<std::size_t>(chance() * static_cast<double>(children_.size()));
    resume_at_s_ = now_s + (index == 0 ? kStopServerS : kStopClientsS) * chance();
    if (!children_[index].set_stopped(true)) return;
    stopped_ = index;
    ++stops_;
  }
  void resume_stopped() {
    if (stopped_) (void)children_[*stopped_].set_stopped(false);
    stopped_.reset();
  }

  void sample() {
    const ProcessUse server = use_of(children_[0].pid());
    server_bytes_.values.push_back(static_cast<double>(server.resident_bytes));
    server_descriptors_.values.push_back(static_cast<double>(server.descriptors));
    double bytes = 0.0, descriptors = 0.0;
    for (std::size_t i = 1; i < children_.size(); ++i) {
      const ProcessUse use = use_of(children_[i].pid());
      bytes += static_cast<double>(use.resident_bytes);
      descriptors += static_cast<double>(use.descriptors);
    }
    client_bytes_.values.push_back(bytes);
    client_descriptors_.values.push_back(descriptors);
  }

  std::optional<Error> check_processes() {
    if (program::stop_requested()) return Error{"stopped"};
    for (ChildProcess& child : children_) {
      if (const auto code = child.exit_code())
        return Error{fmt::format("a process ended with code {}: {}", *code, last_line(child.output()))};
    }
    return std::nullopt;
  }

  SoakOptions options_;
  std::filesystem::path program_;
  ScratchFolder scratch_;
  std::vector<ChildProcess> children_;  // the server is the first
  std::uint64_t draws_ = 0;
  std::size_t stops_ = 0;
  double back_after_s_ = kSettleS;
  std::optional<std::size_t> stopped_;
  double resume_at_s_ = 0.0;
  SoakSeries server_bytes_{"server, bytes resident", {}};
  SoakSeries server_descriptors_{"server, descriptors", {}};
  SoakSeries client_bytes_{"clients, bytes resident", {}};
  SoakSeries client_descriptors_{"clients, descriptors", {}};
};

}  // namespace

Result<SoakReport> soak_in_real_time(const SoakOptions& options, const std::filesystem::path& program,
                                     const SoakProgress& progress) {
  RealSoak soak(options, program);
  if (auto wrong = soak.start()) return *wrong;
  if (auto wrong = soak.run(progress)) return *wrong;
  return soak.report();
}

}  // namespace reckoner::harness
