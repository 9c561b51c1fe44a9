// SPDX-License-Identifier: MIT
// What an honest client over UDP shows while somebody attacks the live view of its server: over IPv4 and
// IPv6, sealed. Real processes, so the tests wait. The attackers are threads of low priority, so that on a
// machine with few processors they disturb the others as little as programs on another machine.
#include "pose_table.hpp"
#include "programs/common/security.hpp"
#include "watch_attackers.hpp"
#include "watch_server.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <sys/resource.h>

namespace reckoner::test {
namespace {

using Security = WebSocket::Security;

constexpr std::size_t kThreads = 4;
constexpr double kTokenS = 600.0;
constexpr std::uint64_t kHonestId = 1, kAttackerId = 7;
constexpr double kSettleS = 0.1;

void wait_s(double seconds) {
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
}

double setting(const char* name, double otherwise) {
  const char* const given = std::getenv(name);
  return given != nullptr ? std::atof(given) : otherwise;
}

/// Threads of low priority that do something again and again until the object is destroyed.
class Attackers {
 public:
  Attackers(std::size_t threads, const std::function<void(std::size_t thread, std::size_t turn)>& act) {
    for (std::size_t i = 0; i < threads; ++i) {
      threads_.emplace_back([this, i, act] {
        (void)setpriority(PRIO_PROCESS, 0, 19);  // of this thread only (Linux)
        for (std::size_t turn = 0; !stopping_; ++turn, ++turns_)
          act(i, turn);
      });
    }
  }
  ~Attackers() {
    stopping_ = true;
    for (std::thread& each : threads_)
      each.join();
  }
  Attackers(const Attackers&) = delete;
  Attackers& operator=(const Attackers&) = delete;

  [[nodiscard]] std::size_t turns() const { return turns_; }

 private:
  std::atomic<bool> stopping_ = false;
  std::atomic<std::size_t> turns_ = 0;
  std::vector<std::thread> threads_;
};

struct ViewAttack {
  const char* name;
  const char* refusal;  // why the server refuses it; the dribblers' connections are closed uncounted
  bool tls = false;
};

class WatchErrors : public WatchServer, public testing::WithParamInterface<ViewAttack> {
 protected:
  /// A server with a key, which writes the true poses.
  void start_server() {
    ASSERT_EQ(run("reckoner-token", {"key", file("game.key")}).exit_code, 0);
    const auto key = program::read_key_file(file("game.key"));
    ASSERT_TRUE(key) << key.error();
    key_ = *key;
    const std::vector<std::string> options{"--key",    file("game.key"), "--host",
                                           loopback(), "--truth",        file("truth.csv")};
    security() == Security::tls ? start_with_tls(options) : start(options);
  }

  [[nodiscard]] ConnectToken issue(std::uint64_t client_id) const {
    ConnectGrant grant{.client_id = client_id};
    grant.servers = {{loopback_ip(), port_}};
    return *program::issue_now(grant, *key_, kTokenS);
  }
  [[nodiscard]] std::vector<std::byte> hello() const {
    return message(Kind::hello, *write_token(issue(kAttackerId)), kProtocolVersion);
  }
  [[nodiscard]] std::string file(const char* name) const { return scratch_.file(name); }
  [[nodiscard]] Security security() const { return GetParam().tls ? Security::tls : Security::none; }

  // What an attack consists of. Each begins when it is made and ends when it is destroyed.
  struct Attack {
    std::unique_ptr<Dribblers> dribblers;
    std::unique_ptr<Attackers> attackers;
    [[nodiscard]] std::size_t size() const { return attackers ? attackers->turns() : dribblers->closed(); }
  };
  Attack begin() const;
  void ask_for_another_host(std::size_t turn) const;
  void flood_with_pings(std::size_t turn) const;
  void show_a_token_again(std::size_t turn, std::vector<std::byte>& last) const;
  static Attack dribble(std::uint16_t port, const std::string& opening) {
    Attack attack{.dribblers = std::make_unique<Dribblers>(port, 552, opening, "x"), .attackers = {}};
    for (int i = 0; i < 200 && !attack.dribblers->are_connected(); ++i)
      wait_s(0.05);
    EXPECT_TRUE(attack.dribblers->are_connected());
    return attack;
  }

 private:
  std::optional<SecretKey> key_;
};

// A page of a stranger, whose name leads to the server, asks for files and for WebSockets.
void WatchErrors::ask_for_another_host(std::size_t turn) const {
  WebSocket socket(watch_, security());
  const std::string evil = "evil.example:" + std::to_string(watch_);
  (void)socket.send_raw(turn % 2 == 0 ? "GET / HTTP/1.1\r\nHost: " + evil + "\r\n\r\n"
                                      : open_request("http://" + evil, "reckoner", evil));
  (void)socket.read_until_closed(2.0);
}

// Before and after the hello.
void WatchErrors::flood_with_pings(std::size_t turn) const {
  static const std::string pings = many_frames(500, 0x89);
  WebSocket socket(watch_, security());
  if (!socket.open(page_origin(security()))) return;
  if (turn % 2 == 1) (void)socket.send(hello());
  (void)send_again_and_again(socket, pings, 1.0);
}

// Each thread shows each of its tokens fifty times. All tokens have one client id, so that the first use of a
// token ends the view of another one.
void WatchErrors::show_a_token_again(std::size_t turn, std::vector<std::byte>& last) const {
  if (turn % 50 == 0) last = hello();
  WebSocket socket(watch_, security());
  if (!socket.open(page_origin(security())) || !socket.send(last)) return;
  // The game's thread answers. Only the first use waits for it.
  for (const double until_s = now_s() + 2.0; turn % 50 == 0 && now_s() < until_s;) {
    if (socket.next() || socket.has_ended()) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

WatchErrors::Attack WatchErrors::begin() const {
  const std::string name = GetParam().name;
  if (name == "DribbledBodies")
    return dribble(watch_, "POST / HTTP/1.1\r\nHost: " + url_host() + "\r\nContent-Length: 1000000\r\n\r\n");
  if (name == "DribbledRequests") return dribble(watch_, "GET / HTTP/1.1\r\nHost: " + url_host() + "\r\nx: ");
  if (name == "DribbledHandshakes") return dribble(watch_, tls_record_header());
  const auto attack = [](const std::function<void(std::size_t, std::size_t)>& act) {
    return Attack{.dribblers = {}, .attackers = std::make_unique<Attackers>(kThreads, act)};
  };
  if (name.starts_with("Pings"))
    return attack([this](std::size_t, std::size_t turn) { flood_with_pings(turn); });
  if (name.starts_with("ForeignHosts"))
    return attack([this](std::size_t, std::size_t turn) { ask_for_another_host(turn); });
  auto tokens = std::make_shared<std::vector<std::vector<std::byte>>>(kThreads);
  return attack(
      [this, tokens](std::size_t thread, std::size_t turn) { show_a_token_again(turn, (*tokens)[thread]); });
}

// Intervals without and with the attack follow each other in one session. A busy machine disturbs some of
// them, and a server that waits for its attackers disturbs all. RECKONER_ATTACK_SECONDS and
// RECKONER_ATTACK_PAIRS make the measurement exact (docs/SECURITY.md).
TEST_P(WatchErrors, AreThoseWithoutAnAttack) {
  const double seconds = setting("RECKONER_ATTACK_SECONDS", 0.4);
  const auto pairs = static_cast<std::size_t>(setting("RECKONER_ATTACK_PAIRS", 3.0));
  start_server();
  ASSERT_FALSE(program::write_token_file(file("honest.token"), issue(kHonestId)));
  Process client("reckoner-client", {"--token", file("honest.token"), "--rendered", file("shown.csv")});
  ASSERT_TRUE(client.wait_for("joined")) << client.errors();
  wait_s(1.0);
  struct Interval {
    double from_s = 0.0, until_s = 0.0;
  };
  std::vector<Interval> intervals;  // quiet and attacked in turn
  const auto measure = [&] {
    wait_s(kSettleS);
    const double from_s = now_s();
    wait_s(seconds);
    intervals.push_back({from_s, now_s()});
  };
  std::size_t size = 0;
  for (std::size_t i = 0; i < pairs; ++i) {
    measure();
    const Attack attack = begin();
    measure();
    size += attack.size();
  }
  const std::string refusal = GetParam().refusal;
  if (!refusal.empty()) {
    EXPECT_GE(refused(refusal, 10), 10);
  }
  for (Process* const each : {&client, server_.get()}) {
    each->send_signal(SIGTERM);
    EXPECT_EQ(each->wait(), 0) << each->errors();
  }
  const PoseTable shown = read_poses(file("shown.csv")), truth = read_poses(file("truth.csv"));
  const auto p99_m = [&](const Interval& interval) {
    const auto errors = same_time_errors(within(shown, interval.from_s, interval.until_s), truth, 0.0);
    EXPECT_GT(static_cast<double>(errors.size()), 20.0 * 20.0 * seconds) << "20 entities, some of 60 frames";
    return errors.empty() ? 0.0 : errors[errors.size() * 99 / 100];
  };
  std::vector<double> ratios;
  std::size_t disturbed = 0;
  for (std::size_t i = 0; i < pairs; ++i) {
    const double quiet_m = p99_m(intervals[2 * i]), attacked_m = p99_m(intervals[2 * i + 1]);
    ratios.push_back(attacked_m / quiet_m);
    std::printf("  p99 %.4f m, with the attack %.4f m, ratio %.3f\n", quiet_m, attacked_m, ratios.back());
    disturbed += attacked_m > 2.0 * quiet_m + 0.05 ? 1 : 0;
  }
  std::ranges::sort(ratios);
  std::printf("  median ratio %.3f, size of the attacks %zu\n", ratios[ratios.size() / 2], size);
  EXPECT_LE(disturbed, pairs / 2);
  EXPECT_GT(size, 10u);
}

INSTANTIATE_TEST_SUITE_P(
    , WatchErrors,
    testing::Values(ViewAttack{"ForeignHosts", "wrong_origin"},
                    ViewAttack{"ForeignHostsOverTls", "wrong_origin", true},
                    ViewAttack{"DribbledBodies", "unexpected"}, ViewAttack{"DribbledRequests", ""},
                    ViewAttack{"DribbledHandshakes", "", true}, ViewAttack{"Pings", "peer_limit"},
                    ViewAttack{"PingsOverTls", "peer_limit", true}, ViewAttack{"UsedToken", "token_reused"},
                    ViewAttack{"UsedTokenOverTls", "token_reused", true}),
    [](const auto& each) { return std::string(each.param.name); });

}  // namespace
}  // namespace reckoner::test
