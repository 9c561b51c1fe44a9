// SPDX-License-Identifier: MIT
#pragma once

#include "handshakes.hpp"
#include "net/src/secure/guard.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <queue>
#include <random>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace reckoner::test {

inline constexpr SocketAddress kOldAddress{0x01020304, 999}, kNewAddress{0x05060708, 1000},
    kAttacker{0x09090909, 7};
inline constexpr double kFrameS = 1.0 / 30.0;

/// Ordered key for maps and sets.
using Key = std::string;
inline Key key_of(const SocketAddress& address) {
  return text_of(address);
}

/// A server and a joined client that exchange a state payload in every picture. The client sends from one
/// address and receives at a set of addresses.
class PathWorld {
 public:
  explicit PathWorld(double one_way_s = 0.03)
      : one_way_s_(one_way_s),
        client_(token(), kGame),
        server_(secure::GateConfig{.key = key_, .game = kGame}) {
    EXPECT_TRUE(connects(client_, server_, kOldAddress, now_s));
    number_ = client_.joined()->number;
  }

  double now_s = 100.0;
  SocketAddress sends_from = kOldAddress;
  std::set<Key> receives_at{key_of(kOldAddress)};
  double lost_up = 0.0, lost_down = 0.0;
  /// Observes the client's datagrams as they leave, and the server's datagrams to addresses at which the
  /// client does not receive.
  std::function<void(const Bytes&)> on_client_datagram;
  std::function<void(const SocketAddress&, const Bytes&)> on_other_address;

  std::vector<double> received_s;  ///< when the client received a state payload
  std::set<std::uint32_t> said, received_numbers;
  int moves = 0, probes = 0;
  std::map<Key, std::size_t> in, out;  ///< bytes since the start

  [[nodiscard]] SocketAddress address() { return server_.find(number_)->address; }
  [[nodiscard]] const secure::Gate* gate() const { return server_.gate(); }
  [[nodiscard]] secure::Guard& server() { return server_; }
  [[nodiscard]] std::uint32_t number() const { return number_; }
  [[nodiscard]] double round_trip_s() const { return 2.0 * one_way_s_; }

  void run(double seconds) {
    const double end_s = now_s + seconds;
    for (; next_s_ < end_s; next_s_ += kFrameS) {
      deliver(next_s_);
      frame();
    }
    deliver(end_s);
  }
  /// Delivers a datagram with any source address, as an attacker could.
  void to_server(const SocketAddress& from, Bytes bytes, double delay_s) {
    in[key_of(from)] += bytes.size();
    at(delay_s, [this, from, bytes = std::move(bytes)] { arrive_up(from, bytes); });
  }
  void to_client(Bytes bytes, double delay_s) {
    at(delay_s, [this, bytes = std::move(bytes)] { arrive_down(bytes); });
  }
  Bytes sealed_by_client(secure::Kind kind, std::size_t bytes) {
    const auto sealed = client_.write(kind, Bytes(bytes));
    return {sealed.begin(), sealed.end()};
  }
  [[nodiscard]] double longest_silence_s(double from_s) const {
    double longest = 0.0, last = from_s;
    for (const double at : received_s) {
      if (at < from_s) continue;
      longest = std::max(longest, at - last);
      last = at;
    }
    return std::max(longest, now_s - last);
  }
  /// Expects that no address at which the client does not receive gets more bytes than were sent in its name.
  void expect_nobody_is_flooded() const {
    for (const auto& [to, bytes] : out) {
      const auto from = in.find(to);
      if (receives_at.contains(to) || to == key_of(kOldAddress)) continue;
      EXPECT_LE(bytes, from == in.end() ? 0 : from->second) << to;
    }
  }

 private:
  struct Event {
    double at_s;
    std::uint64_t order;
    std::function<void()> what;
    bool operator<(const Event& other) const {
      return std::tie(at_s, order) > std::tie(other.at_s, other.order);
    }
  };

  ConnectToken token() {
    key_ = SecretKey::make();
    ConnectGrant grant{.client_id = 1, .expires_s = kNow + 30};
    grant.servers = {kServer};
    return *issue_token(grant, key_, kGame);
  }
  void at(double delay_s, std::function<void()> what) {
    events_.push({now_s + delay_s, ++order_, std::move(what)});
  }
  void deliver(double until_s) {
    while (!events_.empty() && events_.top().at_s <= until_s) {
      const Event event = events_.top();
      events_.pop();
      now_s = event.at_s;
      event.what();
    }
    now_s = until_s;
  }
  [[nodiscard]] bool lost(double probability) {
    return std::uniform_real_distribution<double>()(random_) < probability;
  }

  void frame() {
    Bytes plain(10);
    const auto count = static_cast<std::uint32_t>(said.size());
    said.insert(count);
    for (std::size_t i = 0; i < 4; ++i)
      plain[i] = static_cast<std::byte>(count >> (8 * i));
    const auto up = client_.write(secure::Kind::datagram, plain);
    from_client({up.begin(), up.end()});
    const auto down = server_.write(*server_.find(number_), secure::Kind::datagram, Bytes(300));
    from_server(address(), {down.begin(), down.end()});
  }
  void from_client(const Bytes& bytes) {
    if (on_client_datagram) on_client_datagram(bytes);
    if (lost(lost_up)) return (void)(in[key_of(sends_from)] += bytes.size());
    to_server(sends_from, bytes, one_way_s_);
  }
  void from_server(const SocketAddress& to, const Bytes& bytes) {
    out[key_of(to)] += bytes.size();
    if (!receives_at.contains(key_of(to))) {
      if (on_other_address) on_other_address(to, bytes);
      return;
    }
    if (!lost(lost_down)) to_client(bytes, one_way_s_);
  }
  void arrive_up(const SocketAddress& from, const Bytes& bytes) {
    const auto arrival = server_.arrive(from, bytes, now_s, kNow);
    if (arrival.what == secure::Guard::Arrival::What::datagram) {
      std::uint32_t count = 0;
      for (std::size_t i = 0; i < 4 && i < arrival.bytes.size(); ++i)
        count |= std::to_integer<std::uint32_t>(arrival.bytes[i]) << (8 * i);
      received_numbers.insert(count);
    }
    moves += arrival.moved ? 1 : 0;
    if (!arrival.probe) return;
    server_.probe(*arrival.from, now_s, [&](const SocketAddress& to, std::span<const std::byte> probe) {
      ++probes;
      EXPECT_EQ(probe.size(), secure::PathCheck::kProbeBytes);
      from_server(to, {probe.begin(), probe.end()});
    });
  }
  void arrive_down(const Bytes& bytes) {
    const auto arrival = client_.arrive(kServer, bytes, now_s, kNow);
    if (arrival.what == secure::Guard::Arrival::What::datagram) received_s.push_back(now_s);
    if (arrival.what != secure::Guard::Arrival::What::answer) return;
    EXPECT_EQ(arrival.bytes.size(), bytes.size());
    from_client({arrival.bytes.begin(), arrival.bytes.end()});
  }

  double one_way_s_;
  SecretKey key_;
  secure::Guard client_, server_;
  std::uint32_t number_ = 0;
  std::priority_queue<Event> events_;
  std::uint64_t order_ = 0;
  double next_s_ = 100.0;
  std::mt19937 random_{7};
};

}  // namespace reckoner::test
