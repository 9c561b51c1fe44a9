// SPDX-License-Identifier: MIT
#include "guard.hpp"

#include "sodium_bytes.hpp"

namespace reckoner::secure {

using What = Guard::Arrival::What;

Guard::Arrival Guard::arrive(const ServerAddress& from, std::span<const std::byte> datagram, double now_s,
                             std::uint64_t unix_s) {
  const auto refused = [](Refusal why) { return Arrival{.refusal = why}; };
  if (datagram.size() > kLargest) return refused(Refusal::too_large);
  const auto session = sealed_session(datagram);
  if (Client* const client = std::get_if<Client>(&end_)) {
    if (session && !client->opener) return refused(Refusal::no_session);
    if (session) return to_client(*client, *session, datagram);
    if (!client->handshake.receive(datagram)) return refused(Refusal::malformed);
    if (client->handshake.session()) {
      const ClientHandshake::Session& joined = *client->handshake.session();
      client->sealer.emplace(joined.keys.to_server, joined.number);
      client->opener.emplace(joined.keys.to_client);
    }
    return {};
  }
  Gate& gate = std::get<Gate>(end_);
  if (!session) {
    const auto answer = gate.receive(from, datagram, now_s, unix_s);
    return answer ? Arrival{.what = What::answer, .bytes = *answer} : refused(gate.refusal());
  }
  Gate::Session* const found = gate.find(*session);
  if (found == nullptr) return refused(Refusal::no_session);
  bool newest = false;
  Arrival arrival = opened(found->opener, *session, datagram, &newest);
  if (arrival.what == What::ticket) return refused(Refusal::malformed);  // a server gives them out
  arrival.tag = found->tag;
  // Only the newest moves it: a copy of an old one that somebody sends on from elsewhere must not.
  if (arrival.what != What::nothing && newest && found->address != from) {
    found->address = from;
    arrival.moved = true;
  }
  return arrival;
}

Guard::Arrival Guard::to_client(Client& client, std::uint32_t session, std::span<const std::byte> datagram) {
  const Arrival arrival = opened(*client.opener, session, datagram, nullptr);
  if (arrival.what != What::ticket) return arrival;
  const auto ticket = read_ticket(arrival.bytes);
  if (!ticket) return {.refusal = Refusal::malformed};
  client.handshake.renew(*ticket);
  return {};
}

Guard::Arrival Guard::opened(Opener& opener, std::uint32_t session, std::span<const std::byte> datagram,
                             bool* newest) {
  const auto open = opener.open(datagram, plain_);
  if (!open) return {.refusal = Refusal::not_genuine};
  if (newest != nullptr) *newest = open->newest;
  const What what = open->kind == Kind::state    ? What::state
                    : open->kind == Kind::ticket ? What::ticket
                                                 : What::enet;
  return {.what = what, .bytes = open->plain, .session = session};
}

void Guard::hold(std::uint32_t session, std::uint32_t tag) {
  Gate* const gate = std::get_if<Gate>(&end_);
  Gate::Session* const found = gate == nullptr ? nullptr : gate->find(session);
  if (found == nullptr) return;
  gate->hold(*found);
  found->tag = tag;
}

void Guard::release(std::uint32_t session, double now_s) {
  if (Gate* const gate = std::get_if<Gate>(&end_)) gate->release(session, now_s);
}

std::span<const std::byte> Guard::sealed_ticket(Gate::Session& session, const Ticket& ticket) {
  auto plain = write(ticket);
  const auto sealed = seal(session.sealer, Kind::ticket, plain);
  sodium_memzero(plain.data(), plain.size());
  return sealed;
}

Sealer* Guard::sealer_of(std::uint32_t session) {
  if (Client* const client = std::get_if<Client>(&end_)) return client->sealer ? &*client->sealer : nullptr;
  Gate::Session* const found = std::get<Gate>(end_).find(session);
  return found == nullptr ? nullptr : &found->sealer;
}

std::span<const std::byte> Guard::seal(Sealer& sealer, Kind kind, std::span<const std::byte> plain) {
  if (plain.size() > kLargest) return {};
  return sealer.seal(kind, plain, sealed_);
}

const Gate::Session* Guard::find(std::uint32_t session) {
  Gate* const gate = std::get_if<Gate>(&end_);
  return gate == nullptr ? nullptr : gate->find(session);
}

std::optional<std::span<const std::byte>> Guard::to_send(double now_s) {
  Client* const client = std::get_if<Client>(&end_);
  return client == nullptr ? std::nullopt : client->handshake.to_send(now_s);
}

const ClientHandshake::Session* Guard::joined() const {
  const Client* const client = std::get_if<Client>(&end_);
  return client != nullptr && client->handshake.session() ? &*client->handshake.session() : nullptr;
}

}  // namespace reckoner::secure
