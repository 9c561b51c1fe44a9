// SPDX-License-Identifier: MIT
// Handshake and datagrams of sessions without security, at both ends. Server and clients use their guards.
// An attacker drops, repeats, changes and invents datagrams and forges source addresses, but it does not
// receive what is sent to its victims. Nothing is sealed: an attacker that knows the number of a session and
// the address of its client can send datagrams in it. Two properties must be true. No session begins at an
// address that does not receive what the server sends. No address receives more bytes than were sent in its
// name.
#include "fixed_random.hpp"
#include "net/src/secure/guard.hpp"
#include "target.hpp"

#include <array>
#include <map>
#include <optional>
#include <set>

namespace reckoner::fuzz {
namespace {

using namespace secure;
using What = Guard::Arrival::What;

constexpr std::uint64_t kNow = 1'800'000'000;
constexpr std::size_t kClients = 4;
constexpr std::uint64_t kNetwork = 0x2001'0db8'0000'0000;

struct Addresses {
  SocketAddress server;
  // The first three clients share a host, as limits count hosts: an IPv4 address or an IPv6 /64.
  std::array<IpAddress, kClients> clients;
  IpAddress victim;  // a host without a client
};
const Addresses kIpv4{
    {0x0A000001, 4000}, {0x01020300, 0x01020300, 0x01020300, 0x01020301}, IpAddress(0x09090900)};
const Addresses kIpv6{{IpAddress(kNetwork, 1), 4000},
                      {IpAddress(kNetwork + 1, 1), IpAddress(kNetwork + 1, 2), IpAddress(kNetwork + 1, 3),
                       IpAddress(kNetwork + 2, 1)},
                      IpAddress(kNetwork + 9, 1)};

class OpenHandshakeWorld {
 public:
  explicit OpenHandshakeWorld(Choices& choices)
      : choices_(choices), addresses_(choices.flag() ? kIpv6 : kIpv4) {
    fix_random();
    config_ = {.is_open = true,
               .most_sessions = 3,
               .most_sessions_per_host = 2,
               .handshakes_per_second = 3.0,
               .half_open_s = 5.0};
    server_.emplace(config_);
    for (auto& client : clients_)
      client.emplace(kProtocolVersion);
  }

  void step() {
    const std::size_t i = choices_.up_to(kClients - 1);
    switch (choices_.up_to(8)) {
      case 0:
        now_s_ += choices_.flag() ? choices_.real(0.0, 12.0) : 0.3;
        return server_->tidy(now_s_, kNow, [](const SocketAddress&, std::span<const std::byte>) {
          check(false, "a server without security issues no tickets");
        });
      case 1:
      case 2:
        if (const auto message = clients_[i]->to_send(now_s_)) up(i, Bytes(message->begin(), message->end()));
        return;
      case 3:
        return speak(i);
      case 4:
        return up(i, choices_.bytes(160));
      case 5:
        return down(i, choices_.bytes(160));
      case 6:
        return again(i);
      case 7:
        return use(i);
      default:
        clients_[i].emplace(kProtocolVersion);  // the game was started again
    }
  }

  void settle() {
    check(server_->gate()->sessions() <= config_.most_sessions, "there are not too many sessions");
    std::map<std::size_t, std::size_t> at_host;
    for (const std::uint32_t number : sessions_) {
      const Gate::Session* const session = server_->find(number);
      if (session == nullptr) continue;
      check(session->address.host != addresses_.victim, "no session is sent where its client does not hear");
      check(!session->sealer && !session->opener, "nothing is sealed");
      check(++at_host[session->address.host == addresses_.clients.back() ? 1 : 0] <=
                config_.most_sessions_per_host,
            "a host has not too many sessions");
    }
  }

 private:
  [[nodiscard]] SocketAddress address(std::size_t client) {
    if (choices_.rarely(7)) return {addresses_.victim, 80};
    const std::size_t other = choices_.rarely(3) ? choices_.up_to(2) : 0;
    return {addresses_.clients[client], static_cast<std::uint16_t>(1000 + 10 * other + client)};
  }

  void up(std::size_t i, Bytes bytes) {
    seen_.push_back(bytes);
    if (choices_.rarely(3)) (void)damage(choices_, bytes);
    const SocketAddress from = address(i);
    const auto arrival = server_->arrive(from, bytes, now_s_, kNow);
    const bool is_victim = from.host == addresses_.victim;
    check(!arrival.moved && !arrival.probe, "a session without security stays at its address");
    if (arrival.what == What::answer) {
      check(arrival.bytes.size() <= bytes.size(), "no answer is longer than what asked for it");
      const auto accepted = read_open_accepted(arrival.bytes);
      check(!accepted || !is_victim, "nobody is accepted whose address is not proven");
      if (is_victim) return;
      if (accepted) sessions_.insert(accepted->session);
      return down(i, Bytes(arrival.bytes.begin(), arrival.bytes.end()));
    }
    if (arrival.what == What::nothing) return;
    check(arrival.from != nullptr && arrival.from->address == from, "a session has one address");
    check(arrival.session == arrival.from->number, "and one number");
    check(arrival.what == What::datagram || arrival.what == What::alive || arrival.what == What::close ||
              arrival.what == What::closed,
          "tickets and probes exist only with security");
    check(arrival.what != What::datagram || !arrival.bytes.empty(), "a datagram has content");
  }

  void down(std::size_t i, Bytes bytes) {
    seen_.push_back(bytes);
    if (choices_.rarely(3)) (void)damage(choices_, bytes);
    const auto* const before = clients_[i]->joined();
    const std::uint32_t number = before != nullptr ? before->number : 0;
    const auto arrival = clients_[i]->arrive(addresses_.server, bytes, now_s_, kNow);
    check(arrival.what != What::answer, "a client without security answers no probe");
    const auto* const after = clients_[i]->joined();
    check(before == nullptr || (after != nullptr && after->number == number), "a client keeps its session");
    check(after != nullptr || arrival.what == What::nothing, "without a session there are no datagrams");
  }

  // Both ends say something in the client's session.
  void speak(std::size_t i) {
    const auto* const joined = clients_[i]->joined();
    if (joined == nullptr) return;
    const Bytes content = choices_.bytes(40);
    constexpr std::array kKinds{Kind::datagram, Kind::alive, Kind::close, Kind::closed,
                                Kind::ticket,   Kind::probe, Kind::echo};
    const Kind kind = kKinds[choices_.up_to(kKinds.size() - 1)];
    const auto written = clients_[i]->write(kind, content);
    up(i, Bytes(written.begin(), written.end()));
    Gate::Session* const back = server_->find(joined->number);
    if (back == nullptr) return;
    const auto answer = server_->write(*back, kind, content);
    down(i, Bytes(answer.begin(), answer.end()));
  }

  // Repeats an earlier datagram of either direction.
  void again(std::size_t i) {
    if (seen_.empty()) return;
    const Bytes bytes = seen_[choices_.up_to(seen_.size() - 1)];
    choices_.flag() ? up(i, bytes) : down(i, bytes);
  }

  // Uses a session like the transport would.
  void use(std::size_t i) {
    const auto* const joined = clients_[i]->joined();
    if (joined == nullptr) return;
    if (choices_.flag()) (void)server_->bind(joined->number, static_cast<std::uint32_t>(i + 1));
    if (choices_.rarely(3)) server_->release(joined->number, now_s_);
  }

  Choices& choices_;
  const Addresses& addresses_;
  GateConfig config_;
  std::optional<Guard> server_;
  std::array<std::optional<Guard>, kClients> clients_;
  double now_s_ = 100.0;
  std::vector<Bytes> seen_;
  std::set<std::uint32_t> sessions_;  // that the server has accepted, some of which may have ended
};

}  // namespace

void run(std::span<const std::byte> input) {
  Choices choices{input};
  OpenHandshakeWorld world{choices};
  for (int steps = 0; !choices.empty() && steps < 300; ++steps) {
    world.step();
    world.settle();
  }
}

std::vector<Bytes> seeds() {
  std::vector<Bytes> out;
  constexpr std::byte kFamilies[] = {std::byte{0}, std::byte{1}};  // IPv4, IPv6
  for (const std::byte family : kFamilies)
    add_choices(out, 12, 400, family);
  // All clients join, one after the other; the third one is one too many at its host. Those with a session
  // speak, and are started again.
  Bytes all;
  for (const unsigned client : {0u, 1u, 2u, 3u}) {
    for (const unsigned step : {1u, 1u, 7u, 3u, 3u, 8u, 1u, 1u}) {
      all.push_back(static_cast<std::byte>(client));
      all.push_back(static_cast<std::byte>(step));
      all.insert(all.end(), 6, std::byte{0});
    }
  }
  for (const std::byte family : kFamilies)
    out.push_back(marked(family, all));
  return out;
}

}  // namespace reckoner::fuzz
