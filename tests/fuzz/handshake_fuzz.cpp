// SPDX-License-Identifier: MIT
// The way in, at both ends, and what is sealed behind it, with somebody on the way who drops, repeats,
// changes and invents: server and clients stand behind their guards.
#include "fixed_random.hpp"
#include "guard.hpp"
#include "target.hpp"

#include <array>
#include <functional>
#include <optional>
#include <set>
#include <string_view>

namespace reckoner::fuzz {
namespace {

using namespace secure;

constexpr std::uint64_t kGame = 5;
constexpr std::uint64_t kNow = 1'800'000'000;
constexpr ServerAddress kServer{0x0A000001, 4000};
constexpr std::size_t kClients = 3;

// Stands for a datagram. The datagrams themselves would be compared byte by byte, where libFuzzer looks on:
// the same keys are drawn in every run, so that it would forge what it has seen sealed in an earlier one.
std::size_t mark_of(const Bytes& bytes) {
  return std::hash<std::string_view>{}({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

class Way {
 public:
  explicit Way(Choices& choices) : choices_(choices) {
    fix_random();
    const SecretKey key = SecretKey::make();
    config_ = {.key = key,
               .game = kGame,
               .addresses = {kServer},
               .most_sessions = 4,
               .most_sessions_per_host = 2,
               .handshakes_per_second = 3.0,
               .ticket_s = 40.0};
    server_.emplace(config_);
    for (std::size_t i = 0; i < kClients; ++i) {
      ConnectGrant grant{.client_id = i + 1, .expires_s = kNow + 30};
      grant.servers = {kServer};
      clients_[i].emplace(issue_token(grant, key, kGame), kGame);
    }
  }

  void step() {
    const std::size_t i = choices_.up_to(kClients - 1);
    switch (choices_.up_to(7)) {
      case 0:
        now_s_ += choices_.flag() ? choices_.real(0.0, 12.0) : 0.3;
        return tidy();
      case 1:
      case 2:
        if (const auto message = clients_[i]->to_send(now_s_)) up(i, Bytes(message->begin(), message->end()));
        return;
      case 3:
        return seal(i);
      case 4:
        return up(i, choices_.bytes(900));
      case 5:
        return down(i, choices_.bytes(900));
      case 6:
        return again(i);
      default:
        return use(i);
    }
  }

 private:
  [[nodiscard]] std::uint64_t unix_s() const { return kNow + static_cast<std::uint64_t>(now_s_ - 100.0); }
  [[nodiscard]] ServerAddress address(std::size_t client) {
    const bool elsewhere = choices_.rarely(7);
    return {0x01020300u + static_cast<std::uint32_t>(elsewhere ? 9 : client / 2),
            static_cast<std::uint16_t>(1000 + client)};
  }

  // Tickets that are given out on this occasion reach anybody.
  void tidy() {
    std::vector<Bytes> tickets;
    server_->tidy(now_s_, unix_s(), [&](const ServerAddress&, std::span<const std::byte> datagram) {
      tickets.emplace_back(datagram.begin(), datagram.end());
    });
    for (const Bytes& ticket : tickets)
      down(choices_.up_to(kClients - 1), ticket);
  }

  void up(std::size_t i, Bytes bytes) {
    seen_.push_back(bytes);
    if (choices_.rarely(3)) (void)damage(choices_, bytes);
    const auto arrival = server_->arrive(address(i), bytes, now_s_, unix_s());
    using What = Guard::Arrival::What;
    if (arrival.what == What::answer) {
      check(arrival.bytes.size() <= bytes.size(), "no answer is longer than what asked for it");
      down(i, Bytes(arrival.bytes.begin(), arrival.bytes.end()));
    } else if (arrival.what != What::nothing) {
      check(sealed_.erase(mark_of(bytes)) == 1, "only what was sealed is opened, and once");
      check(arrival.session != 0, "it is of a session");
    }
    check(server_->gate()->sessions() <= config_.most_sessions, "there are not too many sessions");
  }

  void down(std::size_t i, Bytes bytes) {
    seen_.push_back(bytes);
    if (choices_.rarely(3)) (void)damage(choices_, bytes);
    const bool joined = clients_[i]->joined() != nullptr;
    const auto arrival = clients_[i]->arrive(kServer, bytes, now_s_, unix_s());
    check(arrival.what == Guard::Arrival::What::nothing || from_server_.erase(mark_of(bytes)) == 1,
          "a client opens only what the server sealed, and once");
    if (joined || clients_[i]->joined() == nullptr) return;
    check(server_->find(clients_[i]->joined()->number) != nullptr || now_s_ > 100.0,
          "a session is one of the server's");
  }

  void seal(std::size_t i) {
    const auto* joined = clients_[i]->joined();
    if (joined == nullptr) return;
    const Bytes plain = choices_.bytes(40);
    const Kind kind = choices_.rarely(7) ? Kind::ticket : choices_.flag() ? Kind::enet : Kind::state;
    Sealer* sealer = clients_[i]->sealer_of(0);
    check(sealer != nullptr, "who has joined can seal");
    const auto sealed = clients_[i]->seal(*sealer, kind, plain);
    Bytes bytes(sealed.begin(), sealed.end());
    sealed_.insert(mark_of(bytes));
    up(i, bytes);
    Sealer* back = server_->sealer_of(joined->number);
    if (back == nullptr) return;
    const auto answer = server_->seal(*back, kind, plain);
    bytes.assign(answer.begin(), answer.end());
    from_server_.insert(mark_of(bytes));
    down(i, bytes);
  }

  // What went by before, in any direction.
  void again(std::size_t i) {
    if (seen_.empty()) return;
    const Bytes bytes = seen_[choices_.up_to(seen_.size() - 1)];
    choices_.flag() ? up(i, bytes) : down(i, bytes);
  }

  // What ENet would do with a session.
  void use(std::size_t i) {
    const auto* joined = clients_[i]->joined();
    if (joined == nullptr) return;
    check(!Guard::belongs(0, joined->number) && Guard::belongs(joined->number, joined->number),
          "a session has a connection of its own");
    if (choices_.flag()) server_->hold(joined->number, static_cast<std::uint32_t>(i + 1));
    if (choices_.rarely(3)) server_->release(joined->number, now_s_);
  }

  Choices& choices_;
  GateConfig config_;
  std::optional<Guard> server_;
  std::array<std::optional<Guard>, kClients> clients_;
  double now_s_ = 100.0;
  std::vector<Bytes> seen_;
  std::set<std::size_t> sealed_, from_server_;  // not opened yet
};

}  // namespace

void run(std::span<const std::byte> input) {
  Choices choices{input};
  Way way{choices};
  for (int steps = 0; !choices.empty() && steps < 300; ++steps)
    way.step();
}

std::vector<Bytes> seeds() {
  std::vector<Bytes> out;
  add_choices(out, 24, 400, std::byte{0});
  // All three join, and speak.
  Bytes all;
  for (const unsigned client : {0u, 1u, 2u}) {
    for (const unsigned step : {1u, 1u, 3u, 3u, 7u}) {
      all.push_back(static_cast<std::byte>(client));
      all.push_back(static_cast<std::byte>(step));
      all.insert(all.end(), 6, std::byte{0});
    }
  }
  out.push_back(all);
  return out;
}

}  // namespace reckoner::fuzz
