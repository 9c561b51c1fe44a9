// SPDX-License-Identifier: MIT
#include "net/src/secure/guard.hpp"

#include "net/src/secure/keys.hpp"
#include "net/src/wire/byte_stream.hpp"

#include <algorithm>
#include <array>
#include <tuple>

namespace reckoner::secure {

namespace {

// The content of a close.
using Reason = std::array<std::byte, 4>;

Reason content_of(std::uint32_t reason) {
  Reason content;
  wire::ByteWriter(content).number(reason);
  return content;
}

}  // namespace

using What = Guard::Arrival::What;

Guard::Arrival Guard::arrive(const SocketAddress& from, std::span<const std::byte> datagram, double now_s,
                             std::uint64_t unix_s) {
  const auto refused = [](Refusal why) { return Arrival{.refusal = why}; };
  if (datagram.size() > kLargest) return refused(Refusal::too_large);
  const auto session = is_open_ ? open_session(datagram) : sealed_session(datagram);
  if (Client* const client = std::get_if<Client>(&end_)) {
    const auto& begun = client->handshake.session();
    if (session && (!begun || (is_open_ && begun->number != *session))) return refused(Refusal::no_session);
    if (session) return to_client(*client, *session, datagram);
    if (!client->handshake.receive(datagram)) return refused(client->handshake.refusal());
    if (client->handshake.session() && !is_open_) {
      const ClientHandshake::Session& joined = *client->handshake.session();
      client->sealer.emplace(joined.keys.to_server, joined.number);
      client->opener.emplace(joined.keys.to_client);
    }
    return {};
  }
  Gate& gate = std::get<Gate>(end_);
  if (!session) {
    const auto answer = gate.receive(from, datagram, now_s, unix_s);
    if (!answer) return {.refusal = gate.refusal()};
    return {.what = What::answer, .bytes = *answer, .refusal = gate.refusal()};
  }
  Gate::Session* const found = gate.find(*session);
  if (found == nullptr || (is_open_ && found->address != from)) return refused(Refusal::no_session);
  return to_server(gate, *found, from, datagram, now_s);
}

// A sealed datagram is genuine, whatever its sender address. It is accepted and charged to the session. The
// address to which the session sends is decided separately, in follow().
Guard::Arrival Guard::to_server(Gate& gate, Gate::Session& session, const SocketAddress& from,
                                std::span<const std::byte> datagram, double now_s) {
  bool newest = false;
  Arrival arrival = opened(session.opener ? &*session.opener : nullptr, session.number, datagram, &newest);
  const bool genuine = arrival.what != What::nothing;
  const bool no_echo = arrival.what == What::echo && arrival.bytes.size() != PathNumbers::kBytes;
  const auto beyond = genuine ? gate.beyond_share(session, datagram.size(), now_s) : std::nullopt;
  if (beyond) {
    arrival = {.refusal = *beyond};
  } else if (arrival.what == What::malformed || arrival.what == What::ticket || arrival.what == What::probe ||
             no_echo) {
    arrival = {.refusal = Refusal::malformed};  // only a server sends tickets and probes
  }
  arrival.session = session.number;
  arrival.tag = session.tag;
  arrival.from = &session;
  if (!is_open_ && (from != session.address || session.path.open()))
    follow(gate, session, {from, datagram.size(), genuine, newest}, arrival, now_s);
  if (arrival.what == What::echo) arrival.what = What::nothing;
  return arrival;
}

void Guard::follow(Gate& gate, Gate::Session& session, const PathCheck::Datagram& datagram, Arrival& arrival,
                   double now_s) {
  PathCheck& path = session.path;
  path.received(session.address, datagram, now_s);
  if (arrival.what == What::echo) {
    const auto good = [&](const SocketAddress& to) {
      return numbers_.good(arrival.bytes, session.number, to, now_s);
    };
    path.answered(session.address, datagram.from, good, now_s);
    if (!good(datagram.from) && !good(session.address)) arrival.refusal = Refusal::wrong_cookie;
  }
  const SocketAddress now_at = path.decide(session.address, now_s);
  arrival.moved = now_at != session.address;
  if (arrival.moved) gate.move(session, now_at);
  arrival.probe = path.due(now_at, now_s);
}

// A datagram that is sealed for this session is from the server, whatever its sender address. So only the
// server's probes are answered, and each only once. Answers are sent like all other datagrams, because they
// must prove where those come from.
Guard::Arrival Guard::to_client(Client& client, std::uint32_t session, std::span<const std::byte> datagram) {
  const Arrival arrival = opened(client.opener ? &*client.opener : nullptr, session, datagram, nullptr);
  if (arrival.what == What::probe && arrival.bytes.size() == PathNumbers::kBytes)
    return {.what = What::answer, .bytes = write(Kind::echo, arrival.bytes)};
  const bool is_unexpected =
      arrival.what == What::malformed || arrival.what == What::probe || arrival.what == What::echo;
  if (is_unexpected) return {.refusal = Refusal::malformed};
  if (arrival.what != What::ticket) return arrival;
  const auto ticket = read_ticket(arrival.bytes);
  if (!ticket) return {.refusal = Refusal::malformed};
  client.handshake.renew(*ticket);
  return {};
}

Guard::Arrival Guard::opened(Opener* opener, std::uint32_t session, std::span<const std::byte> datagram,
                             bool* newest) {
  Arrival arrival{.bytes = datagram.subspan(std::min(kOpenHead, datagram.size())), .session = session};
  auto kind = static_cast<Kind>(datagram[0]);
  if (opener != nullptr) {
    const auto open = opener->open(datagram, plain_);
    if (!open) return {.refusal = Refusal::not_genuine};
    if (newest != nullptr) *newest = open->newest;
    kind = open->kind;
    arrival.bytes = open->plain;
  } else if (kind != Kind::datagram && kind != Kind::alive && kind != Kind::close && kind != Kind::closed) {
    return {.refusal = Refusal::malformed};
  }
  const std::size_t size = arrival.bytes.size();
  const bool is_empty_kind = kind == Kind::alive || kind == Kind::closed;
  const bool is_malformed = (is_empty_kind && size != 0) ||
                            (kind == Kind::close && size != std::tuple_size_v<Reason>) ||
                            (kind == Kind::datagram && (size == 0 || size > kMaxDatagramBytes));
  if (kind == Kind::close && !is_malformed)
    arrival.reason = wire::ByteReader(arrival.bytes).number<std::uint32_t>();
  arrival.what = is_malformed             ? What::malformed
                 : kind == Kind::datagram ? What::datagram
                 : kind == Kind::alive    ? What::alive
                 : kind == Kind::close    ? What::close
                 : kind == Kind::closed   ? What::closed
                 : kind == Kind::ticket   ? What::ticket
                 : kind == Kind::probe    ? What::probe
                                          : What::echo;
  return arrival;
}

bool Guard::bind(std::uint32_t session, std::uint32_t tag) {
  Gate* const gate = std::get_if<Gate>(&end_);
  if (gate == nullptr) return true;  // a client
  Gate::Session* const found = gate->find(session);
  if (found == nullptr || !gate->bind(*found)) return false;
  found->tag = tag;
  return true;
}

void Guard::give_back(std::uint32_t session) {
  Gate* const gate = std::get_if<Gate>(&end_);
  const Gate::Session* const found = gate != nullptr ? gate->find(session) : nullptr;
  if (found != nullptr) gate->give_back(*found);
}

PeerLogin Guard::login(std::uint32_t session) const {
  const Gate* const gate = std::get_if<Gate>(&end_);
  return gate == nullptr ? PeerLogin{} : gate->login(session);
}

void Guard::revoke_login(const PeerLogin& login, double now_s, std::uint64_t unix_ms) {
  if (Gate* const gate = std::get_if<Gate>(&end_)) gate->revoke_login(login, now_s, unix_ms);
}

void Guard::release(std::uint32_t session, double now_s) {
  if (Gate* const gate = std::get_if<Gate>(&end_)) gate->release(session, now_s);
}

std::span<const std::byte> Guard::sealed_ticket(Gate::Session& session, const Ticket& ticket) {
  auto plain = secure::write(ticket);
  const auto sealed = write(session, Kind::ticket, plain);
  sodium_memzero(plain.data(), plain.size());
  return sealed;
}

std::span<const std::byte> Guard::write(Kind kind, std::span<const std::byte> content) {
  Client& client = std::get<Client>(end_);
  return write(client.sealer ? &*client.sealer : nullptr, client.handshake.session()->number, kind, content);
}

std::span<const std::byte> Guard::write(Sealer* sealer, std::uint32_t session, Kind kind,
                                        std::span<const std::byte> content) {
  if (content.size() > kLargest) return {};
  if (sealer != nullptr) return sealer->seal(kind, content, sealed_);
  wire::ByteWriter(sealed_).number(static_cast<std::uint8_t>(kind)).number(session);
  std::ranges::copy(content, sealed_.begin() + kOpenHead);
  return std::span(sealed_).first(kOpenHead + content.size());
}

std::span<const std::byte> Guard::write_close(Gate::Session& session, std::uint32_t reason) {
  return write(session, Kind::close, content_of(reason));
}

std::span<const std::byte> Guard::write_close(std::uint32_t reason) {
  return write(Kind::close, content_of(reason));
}

Gate::Session* Guard::find(std::uint32_t session) {
  Gate* const gate = std::get_if<Gate>(&end_);
  return gate == nullptr ? nullptr : gate->find(session);
}

std::optional<std::span<const std::byte>> Guard::to_send(double now_s) {
  Client* const client = std::get_if<Client>(&end_);
  return client == nullptr ? std::nullopt : client->handshake.to_send(now_s);
}

std::optional<TokenFault> Guard::token_fault(double now_s) const {
  const Client* const client = std::get_if<Client>(&end_);
  if (client == nullptr) return std::nullopt;
  if (client->handshake.is_ignored(now_s) && !client->handshake.has_ticket()) return TokenFault::ignored;
  return client->handshake.refused();
}

bool Guard::was_ignored() const {
  const Client* const client = std::get_if<Client>(&end_);
  return client != nullptr && client->handshake.is_probably_ignored();
}

const ClientHandshake::Session* Guard::joined() const {
  const Client* const client = std::get_if<Client>(&end_);
  return client != nullptr && client->handshake.session() ? &*client->handshake.session() : nullptr;
}

}  // namespace reckoner::secure
