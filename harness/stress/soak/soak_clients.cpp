// SPDX-License-Identifier: MIT
#include "client/src/testing/test_switches.hpp"
#include "harness/report/report_error.hpp"
#include "harness/stress/load/recording/resource_use.hpp"
#include "harness/stress/load/roles/parent_lines.hpp"
#include "harness/stress/soak/soak.hpp"
#include "net/src/messages/messages.hpp"
#include "programs/common/archetypes.hpp"
#include "programs/common/loop/clock.hpp"
#include "programs/common/loop/stop_signal.hpp"
#include "programs/common/options/options.hpp"
#include "programs/common/security.hpp"
#include "scenario/builtin/random.hpp"

#include <chrono>
#include <cmath>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include <fmt/core.h>

#include <reckoner/client/client.hpp>
#include <reckoner/net/network_dialer.hpp>

namespace reckoner::harness {
namespace {

constexpr double kMeanRealStayS = 40.0;
constexpr double kFrameS = 1.0 / 30.0;
constexpr double kReportEveryS = 5.0, kReportEverySettlingS = 0.25;
constexpr double kTokenS = 60.0;
constexpr std::size_t kMaxExplained = 3;

// Runs the clients of one process. Each client joins at random, then leaves with or without a goodbye, or is
// not served for a while.
class SoakClients {
 public:
  SoakClients(const SoakClientsOptions& options, HostAndPort server, const SecretKey& key)
      : options_(options), server_(std::move(server)), key_(key), players_(options.count) {}

  int run() {
    for (Player& player : players_)
      player.until_s = program::monotonic_s() + 5.0 * chance();
    while (!ended_ && !program::stop_requested()) {
      for (Player& player : players_)
        turn(player, program::monotonic_s());
      if (program::monotonic_s() >= next_report_s_) {
        print_report();
        next_report_s_ = program::monotonic_s() + (settling_ ? kReportEverySettlingS : kReportEveryS);
      }
      handle_commands();
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    return program::kOk;
  }

 private:
  struct Player {
    std::unique_ptr<NetworkDialer> dialer;
    std::unique_ptr<Client> client;
    double until_s = 0.0;
    double next_turn_s = 0.0;
    bool asleep = false;
  };

  [[nodiscard]] double chance() {
    return scenario::to_unit_interval(scenario::hash(options_.seed, std::uint64_t{0x50B}, ++draws_));
  }
  [[nodiscard]] double stay_s() { return -kMeanRealStayS * std::log(1.0 - chance()); }

  void begin(Player& p, double now_s) {
    ConnectGrant grant{.client_id = options_.first_id + begun_++};
    grant.servers = {{0x7F000001, server_.port}};
    const ClientSecurity security{*program::issue_now(grant, key_, kTokenS), program::kGameNumber};
    p.dialer = std::make_unique<NetworkDialer>(
        ConnectConfig{.host = server_.host, .port = server_.port, .security = security});
    ClientConfig config;
    config.archetypes = program::archetypes();
    p.client = std::make_unique<Client>(make_test_client(config, *p.dialer));
    p.until_s = now_s + stay_s();
  }

  void turn(Player& p, double now_s) {
    if (now_s < p.next_turn_s) return;
    p.next_turn_s = now_s + kFrameS;
    if (!p.client && now_s >= p.until_s && !settling_) begin(p, now_s);
    if (!p.client || (p.asleep && now_s < p.until_s && !settling_)) return;
    if (p.asleep) p.until_s = now_s + stay_s();
    p.asleep = false;
    p.client->update(now_s);
    (void)p.client->shown();
    while (const auto event = p.client->poll_event()) {
      resumed_ += event->kind == ClientEvent::Kind::resumed ? 1 : 0;
      restarted_ += event->kind == ClientEvent::Kind::restarted ? 1 : 0;
      joined_ += event->kind == ClientEvent::Kind::joined ? 1 : 0;
    }
    while (p.client->poll_message()) {
    }
    const ClientStatus status = p.client->status();
    const bool out = status == ClientStatus::refused || status == ClientStatus::disconnected;
    if (out) ++refused_;
    if (out) return end(p, now_s + 1.0);
    if (now_s < p.until_s || settling_) return;
    const double what = chance();
    if (what < 0.4) {
      p.asleep = true;
      p.until_s = now_s + 40.0 * chance() * chance();
      return;
    }
    if (what < 0.7) p.client->leave();
    p.client->update(now_s);
    end(p, now_s + 3.0 * chance());
  }
  static void end(Player& p, double until_s) {
    p.client.reset();
    p.dialer.reset();
    p.until_s = until_s;
  }

  void handle_commands() {
    while (const auto line = parent_lines_.next()) {
      if (*line == "settle") settle();
      ended_ = ended_ || *line == "end";
    }
    if (parent_lines_.closed()) ended_ = true;
  }

  void settle() {
    settling_ = true;
    next_report_s_ = 0.0;
  }

  void print_report() {
    std::size_t there = 0, begun_players = 0;
    std::uint64_t malformed = 0;
    nlohmann::json out = nlohmann::json::array();  // reasons why clients are not in the world
    for (const Player& p : players_) {
      begun_players += p.client ? 1 : 0;
      const bool is_there = p.client && p.client->status() == ClientStatus::joined;
      there += is_there ? 1 : 0;
      if (p.client && settling_ && !is_there && out.size() < kMaxExplained)
        out.push_back(fmt::format("{:.1f} s, {}", p.client->lost_for_s(),
                                  p.client->refusal().empty() ? "never joined" : p.client->refusal()));
      malformed += p.client ? p.client->stats().malformed : 0;
    }
    const nlohmann::json json = {{"there", there},      {"present", begun_players}, {"begun", begun_},
                                 {"joined", joined_},   {"resumed", resumed_},      {"restarted", restarted_},
                                 {"refused", refused_}, {"malformed", malformed},   {"settling", settling_},
                                 {"out", out}};
    fmt::print("so {}\n", json.dump());
    std::fflush(stdout);
  }

  SoakClientsOptions options_;
  HostAndPort server_;
  SecretKey key_;
  std::vector<Player> players_;
  ParentLines parent_lines_;
  std::uint64_t draws_ = 0, begun_ = 0, joined_ = 0, resumed_ = 0, restarted_ = 0, refused_ = 0;
  double next_report_s_ = 0.0;
  bool settling_ = false;  // clients no longer leave
  bool ended_ = false;
};

}  // namespace

int run_soak_clients(const SoakClientsOptions& options) {
  program::catch_stop_signals();
  lower_priority();
  if (const std::string wrong = raise_open_file_limit(kSocketsPerClient * options.count); !wrong.empty())
    return report_error(wrong, program::kFailed);
  auto server = program::parse_host_port(options.server);
  if (!server) return report_error(server.error());
  const auto key = program::read_key_file(options.key);
  if (!key) return report_error(key.error());
  return SoakClients(options, std::move(*server), *key).run();
}

}  // namespace reckoner::harness
