// SPDX-License-Identifier: MIT
#include "harness/report/child_process.hpp"
#include "harness/report/scratch_folder.hpp"
#include "harness/stress/load/load_run.hpp"
#include "harness/stress/load/resource_use.hpp"
#include "harness/stress/soak/soak.hpp"
#include "programs/common/clock.hpp"
#include "programs/common/security.hpp"
#include "programs/common/stop_signal.hpp"
#include "scenario/builtin/random.hpp"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <thread>

#include <fmt/core.h>

namespace reckoner::harness {
namespace {

constexpr double kPatienceS = 20.0;
constexpr double kRealSampleS = 1.0;
constexpr double kTellingS = 120.0;  // whoever comes is still coming before, and everything grows
constexpr double kSettleS = 30.0;    // after the end nobody leaves: all who are there must be in by then
constexpr double kRealCheckS = 0.5;
constexpr std::size_t kClientsPerProcess = 50;

// A process is stopped as often in the mean, for so long at most: longer than connections last, now and then.
constexpr double kStopEveryS = 20.0;
constexpr double kStopServerS = 3.0;
constexpr double kStopClientsS = 14.0;

class RealSoak {
 public:
  RealSoak(const SoakOptions& options, std::filesystem::path program)
      : options_(options), program_(std::move(program)) {}
  ~RealSoak() { go_on(); }
  RealSoak(const RealSoak&) = delete;
  RealSoak& operator=(const RealSoak&) = delete;

  std::optional<Error> start() {
    if (scratch_.path().empty()) return Error{"cannot make a temporary folder"};
    const std::string key = (scratch_.path() / "soak.key").string();
    if (auto wrong = program::write_secret_file(key, SecretKey::make().text())) return wrong;
    const std::string clients = std::to_string(options_.clients);
    const std::vector<std::string> server{
        "load-server", "--clients", clients, "--entities", std::to_string(options_.entities),
        "--late",      clients,     "--key", key};
    if (auto wrong = add(server)) return wrong;
    const double end_s = program::monotonic_s() + kPatienceS;
    while (!last_said(children_[0].output(), "listening on port")) {
      if (program::monotonic_s() > end_s) return Error{"the server does not start"};
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    const std::string address = "127.0.0.1:" + *last_said(children_[0].output(), "listening on port");
    const std::size_t processes = (options_.clients + kClientsPerProcess - 1) / kClientsPerProcess;
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
      if (auto wrong = look_after()) return wrong;
      if (stopped_ && now_s >= go_on_s_) go_on();
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
        go_on();
        for (std::size_t i = 1; i < children_.size(); ++i)
          children_[i].tell("settle");
      }
      if (settling && now_s >= next_sample_s) {
        next_sample_s = now_s + kRealCheckS;
        if (all_are_back()) {
          back_after_s_ = now_s - settle_s;
          break;
        }
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    return std::nullopt;
  }

  // As all of them said last, and since they were told that nobody leaves any more.
  [[nodiscard]] bool all_are_back() const {
    for (std::size_t i = 1; i < children_.size(); ++i) {
      const nlohmann::json said = newest_of(children_[i]);
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
      const nlohmann::json said = newest_of(children_[i]);
      if (!said.is_object()) continue;
      there += said.value("there", std::uint64_t{0});
      for (const auto& why : said.value("out", nlohmann::json::array()))
        report.wrong.push_back("not back: " + why.get<std::string>());
      present += said.value("present", std::uint64_t{0});
      for (auto& [name, sum] : sums.items())
        sum = sum.get<std::uint64_t>() + said.value(name, std::uint64_t{0});
    }
    if (there < present || present == 0)
      report.wrong.push_back(
          fmt::format("only {} of {} clients are in the world at the end", there, present));
    if (sums["malformed"] != 0) report.wrong.emplace_back("clients refused what an honest server sent");
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
    if (options_.seconds >= kTellingS) judge_growth(report);
    const double most = static_cast<double>(options_.clients) + 20.0 * static_cast<double>(children_.size());
    if (client_descriptors_.mean(0.8, 1.0) > most)
      report.wrong.emplace_back("clients have too many descriptors open");
    return report;
  }

 private:
  [[nodiscard]] static nlohmann::json newest_of(const ChildProcess& child) {
    return nlohmann::json::parse(last_said(child.output(), "so").value_or("{}"), nullptr, false);
  }

  // Who comes and goes by chance is not as many in every fifth of the time.
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
                            ChildProcess::Input::told);
    if (!child) return Error{child.error()};
    children_.push_back(std::move(*child));
    return std::nullopt;
  }

  // The server, or some clients, as when a machine sleeps.
  void stop_one(double now_s) {
    const auto who = static_cast<std::size_t>(chance() * static_cast<double>(children_.size()));
    go_on_s_ = now_s + (who == 0 ? kStopServerS : kStopClientsS) * chance();
    stopped_ = children_[who].pid();
    ++stops_;
    (void)kill(*stopped_, SIGSTOP);
  }
  void go_on() {
    if (stopped_) (void)kill(*stopped_, SIGCONT);
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

  std::optional<Error> look_after() {
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
  std::vector<ChildProcess> children_;  // the server first
  std::uint64_t draws_ = 0;
  std::size_t stops_ = 0;
  double back_after_s_ = kSettleS;
  std::optional<int> stopped_;
  double go_on_s_ = 0.0;
  SoakSeries server_bytes_{"server, bytes resident", {}};
  SoakSeries server_descriptors_{"server, descriptors", {}};
  SoakSeries client_bytes_{"clients, bytes resident", {}};
  SoakSeries client_descriptors_{"clients, descriptors", {}};
};

}  // namespace

Result<SoakReport> soak_really(const SoakOptions& options, const std::filesystem::path& program,
                               const SoakProgress& progress) {
  RealSoak soak(options, program);
  if (auto wrong = soak.start()) return *wrong;
  if (auto wrong = soak.run(progress)) return *wrong;
  return soak.report();
}

}  // namespace reckoner::harness
