// SPDX-License-Identifier: MIT
// Handshake, sealed datagrams and address changes at both ends. Server and clients use their guards. An
// attacker drops, repeats, changes and invents datagrams and forges source addresses. All addresses are of
// one family.
#include "fixed_random.hpp"
#include "net/src/secure/guard.hpp"
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
constexpr std::size_t kClients = 3;
constexpr std::uint64_t kNetwork = 0x2001'0db8'0000'0000;

struct Addresses {
  SocketAddress server;
  // Two clients share a host, as limits count hosts: an IPv4 address or an IPv6 /64.
  std::array<IpAddress, kClients> clients;
  std::array<IpAddress, 2> victims;  // hosts without a client
};
const Addresses kIpv4{{0x0A000001, 4000}, {0x01020300, 0x01020300, 0x01020301}, {0x09090900, 0x09090901}};
const Addresses kIpv6{{IpAddress(kNetwork, 1), 4000},
                      {IpAddress(kNetwork + 1, 1), IpAddress(kNetwork + 1, 2), IpAddress(kNetwork + 2, 1)},
                      {IpAddress(kNetwork + 9, 1), IpAddress(kNetwork + 9, 2)}};

// Identifies a datagram by a hash. libFuzzer observes byte comparisons. Since every run uses the same keys,
// it could otherwise learn sealed datagrams from an earlier run and forge them.
std::size_t mark_of(const Bytes& bytes) {
  return std::hash<std::string_view>{}({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

class HandshakeWorld {
 public:
  explicit HandshakeWorld(Choices& choices) : choices_(choices), addresses_(choices.flag() ? kIpv6 : kIpv4) {
    fix_random();
    const SecretKey key = SecretKey::make();
    config_ = {.key = key,
               .game = kGame,
               .addresses = {addresses_.server},
               .most_sessions = 4,
               .most_sessions_per_host = 2,
               .handshakes_per_second = 3.0,
               .ticket_s = 40.0};
    server_.emplace(config_);
    for (std::size_t i = 0; i < kClients; ++i) {
      ConnectGrant grant{.client_id = i % 2, .expires_s = kNow + 30};  // two for the same client
      grant.servers = {addresses_.server};
      grant.issued_ms = kNow * 1000 + i / 2;
      clients_[i].emplace(*issue_token(grant, key, kGame), kGame);
    }
  }

  void step() {
    const std::size_t i = choices_.up_to(kClients - 1);
    switch (choices_.up_to(8)) {
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
      case 7:
        return use(i);
      default:
        return rejoin(i);
    }
  }

  // The tasks of a transport after every datagram.
  void settle() {
    server_->end_replaced([](std::uint32_t tag, bool) { check(tag <= kClients, "a session has its tag"); });
    std::array<std::size_t, kClients> bound{};
    for (const std::uint32_t number : sessions_) {
      const auto* const session = server_->find(number);
      if (session == nullptr) continue;
      bound[session->grant.client_id] += session->is_bound ? 1 : 0;
      check(bound[session->grant.client_id] <= 1, "a client has one connection");
    }
  }

 private:
  [[nodiscard]] std::uint64_t unix_s() const { return kNow + static_cast<std::uint64_t>(now_s_ - 100.0); }
  // Each client has a few addresses. Some addresses belong to victims.
  [[nodiscard]] SocketAddress address(std::size_t client) {
    if (choices_.rarely(7)) return {addresses_.victims[choices_.up_to(1)], 80};
    const std::size_t moved = choices_.rarely(3) ? choices_.up_to(2) : 0;
    return {addresses_.clients[client], static_cast<std::uint16_t>(1000 + 10 * moved + client)};
  }
  // Bytes from the victim at this address that were not answered yet. Null if it is not a victim's address.
  [[nodiscard]] std::size_t* credit(const SocketAddress& address) {
    for (std::size_t i = 0; i < credit_.size(); ++i)
      if (address.host == addresses_.victims[i]) return &credit_[i];
    return nullptr;
  }
  [[nodiscard]] bool is_victims(const SocketAddress& address) { return credit(address) != nullptr; }

  void sent(const SocketAddress& to, std::size_t bytes) {
    std::size_t* const left = credit(to);
    if (left == nullptr) return;
    check(bytes <= *left, "no victim receives more than was sent in its name");
    *left -= bytes;
  }

  // Tickets that are issued here may reach any client.
  void tidy() {
    std::vector<Bytes> tickets;
    server_->tidy(now_s_, unix_s(), [&](const SocketAddress& to, std::span<const std::byte> datagram) {
      sent(to, datagram.size());
      tickets.emplace_back(datagram.begin(), datagram.end());
    });
    for (const Bytes& ticket : tickets)
      down(choices_.up_to(kClients - 1), ticket);
  }

  void up(std::size_t i, Bytes bytes) {
    seen_.push_back(bytes);
    if (choices_.rarely(3)) (void)damage(choices_, bytes);
    const SocketAddress from = address(i);
    if (std::size_t* const left = credit(from)) *left += bytes.size();
    const auto arrival = server_->arrive(from, bytes, now_s_, unix_s());
    using What = Guard::Arrival::What;
    if (arrival.from != nullptr) {
      check(!is_victims(arrival.from->address), "no session is sent where its client does not hear");
      if (arrival.probe) probe(*arrival.from);
    }
    if (arrival.what == What::answer) {
      check(arrival.bytes.size() <= bytes.size(), "no answer is longer than what asked for it");
      sent(from, arrival.bytes.size());
      if (static_cast<Kind>(arrival.bytes.front()) == Kind::accepted)
        newest_ = mark_of({arrival.bytes.begin(), arrival.bytes.end()});
      if (is_victims(from)) return;
      down(i, Bytes(arrival.bytes.begin(), arrival.bytes.end()));
    } else if (arrival.what != What::nothing) {
      check(sealed_.erase(mark_of(bytes)) == 1, "only what was sealed is opened, and once");
      check(arrival.session != 0, "it is of a session");
    }
    check(server_->gate()->sessions() <= config_.most_sessions, "there are not too many sessions");
  }

  // If a client receives at the address, it gets the probe. Otherwise the probe is delayed and may be
  // forwarded later.
  void probe(Gate::Session& session) {
    std::vector<Bytes> heard;
    int probes = 0;
    server_->probe(session, now_s_, [&](const SocketAddress& to, std::span<const std::byte> sealed) {
      ++probes;
      sent(to, sealed.size());
      const Bytes bytes(sealed.begin(), sealed.end());
      from_server_.insert(mark_of(bytes));
      if (!is_victims(to)) heard.push_back(bytes);
    });
    check(probes == 1 || probes == 2, "a probe goes to one address or two");
    if (depth_ > 2) return;
    ++depth_;
    for (const Bytes& bytes : heard)
      choices_.rarely(3) ? seen_.push_back(bytes) : down(choices_.up_to(kClients - 1), bytes);
    --depth_;
  }

  void down(std::size_t i, Bytes bytes) {
    seen_.push_back(bytes);
    if (choices_.rarely(3)) (void)damage(choices_, bytes);
    const bool joined = clients_[i]->joined() != nullptr;
    const auto arrival = clients_[i]->arrive(addresses_.server, bytes, now_s_, unix_s());
    check(arrival.what == Guard::Arrival::What::nothing || from_server_.erase(mark_of(bytes)) == 1,
          "a client opens only what the server sealed, and once");
    if (arrival.what == Guard::Arrival::What::answer) {
      check(arrival.bytes.size() <= bytes.size(), "nor is an echo");
      const Bytes echo(arrival.bytes.begin(), arrival.bytes.end());
      sealed_.insert(mark_of(echo));
      return up(i, echo);
    }
    if (joined || clients_[i]->joined() == nullptr) return;
    sessions_.insert(clients_[i]->joined()->number);
    // Another login of the same client may have replaced an older session before its answer arrived.
    check(server_->find(clients_[i]->joined()->number) != nullptr || now_s_ > 100.0 ||
              mark_of(bytes) != newest_,
          "the newest session is one of the server's");
  }

  void seal(std::size_t i) {
    const auto* joined = clients_[i]->joined();
    if (joined == nullptr) return;
    const Bytes plain = choices_.bytes(40);
    constexpr std::array kRare{Kind::ticket, Kind::probe, Kind::echo, Kind::close, Kind::closed};
    const Kind kind = choices_.rarely(7) ? kRare[choices_.up_to(kRare.size() - 1)]
                      : choices_.flag()  ? Kind::alive
                                         : Kind::datagram;
    const auto sealed = clients_[i]->write(kind, plain);
    Bytes bytes(sealed.begin(), sealed.end());
    sealed_.insert(mark_of(bytes));
    up(i, bytes);
    Gate::Session* const back = server_->find(joined->number);
    if (back == nullptr) return;
    const auto answer = server_->write(*back, kind, plain);
    bytes.assign(answer.begin(), answer.end());
    from_server_.insert(mark_of(bytes));
    down(i, bytes);
  }

  // Repeats an earlier datagram of either direction.
  void again(std::size_t i) {
    if (seen_.empty()) return;
    const Bytes bytes = seen_[choices_.up_to(seen_.size() - 1)];
    choices_.flag() ? up(i, bytes) : down(i, bytes);
  }

  // Uses a session like the transport would.
  void use(std::size_t i) {
    const auto* joined = clients_[i]->joined();
    if (joined == nullptr) return;
    if (choices_.flag() && server_->bind(joined->number, static_cast<std::uint32_t>(i + 1)))
      check(server_->find(joined->number)->is_bound, "an accepted session can be bound");
    if (choices_.rarely(3)) server_->release(joined->number, now_s_);
  }

  // Joins again with the client's ticket, whether or not its session still exists.
  void rejoin(std::size_t i) {
    const auto* joined = clients_[i]->joined();
    if (joined == nullptr) return;
    const Ticket& t = joined->ticket;
    const ConnectToken ticket{t.expires_s, t.nonce, t.sealed, {}, t.to_server, t.to_client};
    clients_[i].emplace(ticket, kGame);
  }

  Choices& choices_;
  const Addresses& addresses_;
  GateConfig config_;
  std::optional<Guard> server_;
  std::array<std::optional<Guard>, kClients> clients_;
  double now_s_ = 100.0;
  int depth_ = 0;                        // depth of probes that cause other probes
  std::array<std::size_t, 2> credit_{};  // bytes from each victim, not answered yet
  std::vector<Bytes> seen_;
  std::set<std::size_t> sealed_, from_server_;  // not opened yet
  std::size_t newest_ = 0;                      // mark of the server's newest answer that began a session
  std::set<std::uint32_t> sessions_;            // sessions that were joined
};

}  // namespace

void run(std::span<const std::byte> input) {
  Choices choices{input};
  HandshakeWorld world{choices};
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
  // All three clients join and send.
  Bytes all;
  for (const unsigned client : {0u, 1u, 2u}) {
    for (const unsigned step : {1u, 1u, 3u, 3u, 7u, 8u, 1u, 1u, 7u}) {
      all.push_back(static_cast<std::byte>(client));
      all.push_back(static_cast<std::byte>(step));
      all.insert(all.end(), 6, std::byte{0});
    }
  }
  for (const std::byte family : kFamilies)
    out.push_back(marked(family, all));
  // They join and send from another address, and from a third one, once with a victim's source address.
  Bytes moves;
  const auto put = [&](std::initializer_list<unsigned> choices) {
    for (const unsigned choice : choices)
      moves.push_back(static_cast<std::byte>(choice));
  };
  for (const unsigned client : {0u, 1u, 2u}) {
    for (int message = 0; message < 2; ++message)
      put({client, 1, 0, 0, 0, 0});
    for (const unsigned place : {1u, 2u, 0u, 1u}) {
      put({client, 3, 12});
      put({0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0});  // the payload to seal
      put({0, 0});                                // as a state payload
      put({0, 0, 3, place});
      for (int probe = 0; probe < 2; ++probe)
        put({0, client, 0, 0, 0, 3, place});
      put({0});
      put({client, 0, 0});  // 0.3 s
    }
    put({client, 3, 12});
    put({0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0});
    put({0, 0, 0, 7, client % 2});
    put({0, client, 0, 0, 0, 3, 1});
    put({0});
  }
  for (const std::byte family : kFamilies)
    out.push_back(marked(family, moves));
  return out;
}

}  // namespace reckoner::fuzz
