// SPDX-License-Identifier: MIT
#include "cluster/src/authority/epoch_table.hpp"
#include "cluster/src/authority/grid.hpp"
#include "cluster/src/authority/members.hpp"
#include "cluster/src/authority/name_lease.hpp"
#include "cluster/src/bus/requests.hpp"
#include "cluster/src/mail/allowance.hpp"
#include "cluster/src/mail/conversation.hpp"
#include "cluster/src/mirror/mirror.hpp"
#include "cluster/src/mirror/watch_cells.hpp"
#include "cluster/src/wire/bus_messages.hpp"
#include "cluster/src/wire/senders.hpp"
#include "cluster/src/wire/subjects.hpp"
#include "server/src/world_access.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include <reckoner/cluster/gateway.hpp>

namespace reckoner {
namespace {

using namespace cluster;

constexpr double kWatchEveryS = 0.2;
constexpr double kLingerS = 2.0;  // a cell stays subscribed for this time after no client needs it
constexpr double kDelayEveryS = 1.0;
// After its start, a gateway waits for the heartbeats of the simulators before it reads their batches.
constexpr double kListenFirstS = 2.0 * Members::kHeartbeatS;
// Of a client to all entities: what is not acknowledged, and to how many it writes.
constexpr std::size_t kMostLetters = 1024;
constexpr std::size_t kMostLetterBytes = 256 * 1024;
constexpr std::size_t kMostConversations = 1024;
constexpr double kForgetEveryS = 5.0;

}  // namespace

struct Gateway::Impl {
  Impl(const ClusterConfig& given, const GatewayConfig& given_settings, const WorldMember& given_member,
       Bus& given_bus, Server given_server, double now);

  [[nodiscard]] double world_s(double now) const { return now - member.epoch_s; }
  void send(ProcessId to, const BusPayload& message) {
    bus.publish(inbox_subject(config.world, to, Role::gateway), encode(message, codec));
  }
  void handle(const BusMessage& message);
  void handle(const Batch& batch) { mirror.receive(batch, world_s(now_s)); }
  /// Continues what waited for reads of the table of epochs.
  void settle();
  void handle(const Heartbeat& heartbeat) { members.note(heartbeat, now_s); }
  void handle(const Mail& mail);
  void handle(const MailReceived& received);
  template <class Other>
  void handle(const Other&) {}  // between simulators

  void choose_cells();
  void send_heartbeat();
  void send_mail();
  void forget_clients();

  ClusterConfig config;
  GatewayConfig settings;
  WorldMember member;
  Bus& bus;
  Requests requests;
  WorldCodec codec;
  ClusterStats stats;
  Server server;
  WorldAccess access;
  Grid grid;
  ReceivedSubjects subjects;
  EpochTable epochs;
  Members members;
  Mirror mirror;
  NameLease name;

  struct Conversation {
    Inbox inbox;
    Outbox outbox;
    ProcessId holder;     // to whom the outbox was sent last
    Allowance to_client;  // of the entity
  };
  std::map<std::pair<ClientId, EntityId>, Conversation> mail;
  struct Sender {
    Allowance allowance;
    std::size_t letters = 0;  // in its outboxes
    std::size_t bytes = 0;
    std::size_t conversations = 0;
  };
  std::map<ClientId, Sender> senders;
  [[nodiscard]] Conversation* conversation(ClientId client, EntityId entity);
  std::map<std::uint32_t, double> needed;  // cells, and when a client needed them last
  double now_s = 0.0;
  double began_s = 0.0;
  double watched_s = -1e300;
  double heartbeat_s = -1e300;
  double delay_at_s = -1e300;
  double forgot_s = -1e300;
  double delay_s = 0.0;
};

Gateway::Impl::Impl(const ClusterConfig& given, const GatewayConfig& given_settings,
                    const WorldMember& given_member, Bus& given_bus, Server given_server, double now)
    : config(given),
      settings(given_settings),
      member(given_member),
      bus(given_bus),
      requests(given_bus),
      codec(config.archetypes),
      server(std::move(given_server)),
      access(server),
      grid(config),
      subjects(config.world, member.process),
      epochs(grid.size(), requests, stats),
      members(config, member.process, requests, stats),
      mirror(
          config, server, member.process, epochs, members,
          [this](ProcessId to, const BusPayload& message) { send(to, message); }, settings.silence_s, stats),
      name(config, member, Role::gateway, requests),
      now_s(now),
      began_s(now) {
  access.start_at(whole_ticks(world_s(now) * config.tick_rate_hz) + 1);
  subjects.subscribe(bus);
}

Result<Gateway> Gateway::create(const ClusterConfig& config, const GatewayConfig& gateway,
                                const WorldMember& member, Bus& bus, Transport& transport, double now_s) {
  if (auto error = find_invalid_setting(config)) return *error;
  if (!(gateway.message_bytes_per_s >= kMaxMailBytes && gateway.message_bytes_per_s <= 1e9))
    return Error{"message_bytes_per_s is " + std::to_string(gateway.message_bytes_per_s) +
                 "; valid are 16384 to 1e9"};
  GatewayConfig settings = gateway;
  settings.server.tick_rate_hz = config.tick_rate_hz;
  settings.server.archetypes = config.archetypes;
  settings.server.epoch_s = 0.0;
  settings.server.max_entities = kMaxEntities;
  auto server = Server::create(settings.server, transport);
  if (!server) return Error{server.error()};
  for (const RouteDefinition& route : config.routes) {
    const auto added = server->add_route(route);
    if (!added) return Error{added.error()};
  }
  return Gateway{std::make_unique<Impl>(config, settings, member, bus, std::move(*server), now_s)};
}

Gateway::Gateway(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Gateway::~Gateway() = default;
Gateway::Gateway(Gateway&& other) noexcept = default;
Gateway& Gateway::operator=(Gateway&& other) noexcept = default;

Server& Gateway::server() {
  return impl_->server;
}
const Server& Gateway::server() const {
  return impl_->server;
}
Tick Gateway::next_tick() const {
  return impl_->server.next_tick();
}
double Gateway::tick_time_s(Tick tick) const {
  return impl_->member.epoch_s + impl_->server.tick_time_s(tick);
}
double Gateway::epoch_s() const {
  return impl_->member.epoch_s;
}
std::size_t Gateway::cell_count() const {
  return impl_->mirror.watched().size();
}
const ClusterStats& Gateway::stats() const {
  return impl_->stats;
}
std::uint32_t Gateway::epoch(EntityId id) const {
  const Mirror::Known* known = impl_->mirror.find(id);
  return known != nullptr ? known->epoch : 0;
}
ClusterClient Gateway::address(ClientId client) const {
  return {impl_->member.process, client.value};
}

bool Gateway::send(ClientId from, EntityId to, std::span<const std::byte> payload) {
  Impl& s = *impl_;
  const auto clients = s.server.clients();
  if (std::find(clients.begin(), clients.end(), from) == clients.end()) return false;
  if (!to || payload.empty() || payload.size() > kMaxMailBytes) return false;
  Impl::Sender& sender = s.senders[from];
  Impl::Conversation* c = nullptr;
  if (sender.letters < kMostLetters && sender.bytes + payload.size() <= kMostLetterBytes)
    c = s.conversation(from, to);
  if (c == nullptr || !sender.allowance.spend(payload.size(), s.settings.message_bytes_per_s, s.now_s)) {
    ++s.stats.messages_refused;
    return false;
  }
  c->outbox.push(payload);
  ++sender.letters;
  sender.bytes += payload.size();
  ++s.stats.messages_sent;
  return true;
}

// The conversation of a client with an entity; null if there are too many.
Gateway::Impl::Conversation* Gateway::Impl::conversation(ClientId client, EntityId entity) {
  const auto found = mail.find({client, entity});
  if (found != mail.end()) return &found->second;
  Sender& sender = senders[client];
  if (sender.conversations >= kMostConversations) return nullptr;
  ++sender.conversations;
  return &mail[{client, entity}];
}

void Gateway::receive(double now_s) {
  Impl& s = *impl_;
  s.now_s = now_s;
  s.epochs.begin(now_s);
  s.bus.service(now_s);
  if (!s.bus.connected()) s.members.forgive(now_s);  // the silence of the others means nothing
  while (const auto message = s.bus.poll())
    s.handle(*message);
  s.requests.poll();
  s.epochs.run(s.bus.connected());
  s.settle();
  s.stats.is_member = s.name.is_member();
  s.server.receive(s.world_s(now_s));
}

void Gateway::tick(double now_s) {
  Impl& s = *impl_;
  s.now_s = now_s;
  s.epochs.begin(now_s);
  (void)s.members.review(now_s, s.bus.connected());
  s.choose_cells();
  s.name.run(now_s, s.bus.connected());
  s.mirror.run(s.world_s(now_s));
  s.server.tick(s.world_s(now_s));
  s.send_heartbeat();
  s.send_mail();
  s.forget_clients();
  s.bus.service(now_s);
}

void Gateway::Impl::handle(const BusMessage& message) {
  const auto payload = decode(message.payload, codec);
  const auto role = payload ? subjects.sender_role(message.subject, *payload) : std::nullopt;
  if (!role) {
    ++stats.malformed;
    return;
  }
  const ProcessId from = sender_of(*payload);
  if (from == member.process) return;  // its own heartbeat
  if (!std::holds_alternative<Heartbeat>(*payload) && !members.has(from, *role)) {
    ++stats.unknown_refused;
    return;
  }
  std::visit([this](const auto& m) { handle(m); }, *payload);
}

void Gateway::Impl::settle() {
  (void)epochs.take_read_cells();  // the epochs of the entities decide
  mirror.settle(epochs.take_read_slots(), world_s(now_s));
}

// Subscribes to the cells that clients can see: those around their eyes, or all.
void Gateway::Impl::choose_cells() {
  if (now_s - watched_s < kWatchEveryS || now_s - began_s < kListenFirstS) return;
  watched_s = now_s;
  const InterestConfig& interest = settings.server.interest;
  if (interest.radius_m <= 0.0) {
    for (std::uint32_t cell = 0; cell < grid.size(); ++cell)
      needed[cell] = now_s;
  } else {
    const double reach_m = interest.radius_m * (1.0 + interest.hysteresis) + config.hysteresis_m;
    for (const ClientId client : server.clients()) {
      const auto eye = access.eye(client);
      if (eye) grid.for_each_near(*eye, reach_m, [&](std::uint32_t cell) { needed[cell] = now_s; });
    }
  }
  std::erase_if(needed, [&](const auto& entry) { return now_s - entry.second > kLingerS; });
  std::set<std::uint32_t> wanted;
  for (const auto& [cell, at_s] : needed)
    wanted.insert(cell);
  watch_cells(wanted, config.world, bus, mirror);
}

void Gateway::Impl::send_heartbeat() {
  if (now_s - heartbeat_s < Members::kHeartbeatS || !bus.connected() || !name.is_member()) return;
  heartbeat_s = now_s;
  if (now_s - delay_at_s > kDelayEveryS) {
    delay_at_s = now_s;
    // The simulators publish for the slowest tenth of the clients, as a single server does.
    std::vector<double> delays;
    for (const ClientId client : server.clients()) {
      const auto one_way_s = access.one_way_s(client);
      if (one_way_s) delays.push_back(*one_way_s);
    }
    std::sort(delays.begin(), delays.end());
    delay_s = delays.empty() ? 0.0 : std::max(0.0, delays[(9 * (delays.size() - 1) + 5) / 10]);
  }
  Heartbeat heartbeat;
  heartbeat.process = member.process;
  heartbeat.name = member.name;
  heartbeat.gateway = true;
  heartbeat.entities = static_cast<std::uint32_t>(server.entity_count());
  heartbeat.delay_s = delay_s;
  bus.publish(members_subject(config.world, Role::gateway), encode(heartbeat, codec));
}

void Gateway::Impl::send_mail() {
  for (auto& [key, c] : mail) {
    if (c.outbox.waiting() == 0) continue;
    const auto& [client, entity] = key;
    const Mirror::Known* known = mirror.find(entity);
    if (known == nullptr || !known->writer) continue;
    if (known->writer != c.holder) c.outbox.hurry();
    c.holder = known->writer;
    bool repeats = false;
    if (!c.outbox.due(now_s, repeats)) continue;
    if (repeats) ++stats.messages_repeated;
    send(c.holder, Mail{member.process, {member.process, client.value}, entity, false, c.outbox.take(now_s)});
  }
}

void Gateway::Impl::handle(const Mail& m) {
  if (m.client.gateway != member.process) return;
  const ClientId client{m.client.client};
  const auto clients = server.clients();
  // A client that has left needs no messages: they count as received, so that they are not sent for ever.
  if (std::find(clients.begin(), clients.end(), client) == clients.end()) {
    if (!m.letters.empty())
      send(m.from, MailReceived{member.process, m.client, m.entity, true, m.letters.back().number});
    return;
  }
  // Only the holder speaks for an entity. A new holder sends its messages again until the table was read.
  Conversation* c = epochs.is_holder(m.entity, m.from) ? conversation(client, m.entity) : nullptr;
  if (c == nullptr) {
    ++stats.unconfirmed_refused;
    return;
  }
  c->inbox.receive(m.letters, [&](std::uint32_t, const std::vector<std::byte>& payload) {
    const bool allowed = c->to_client.spend(payload.size(), settings.message_bytes_per_s, now_s);
    if (allowed && server.send(client, payload, Delivery::reliable)) {
      ++stats.messages_received;
      return true;
    }
    if (allowed) c->to_client.give_back(payload.size());
    ++stats.messages_refused;  // for now: it is sent again
    return false;
  });
  send(m.from, MailReceived{member.process, m.client, m.entity, true, c->inbox.received()});
}

void Gateway::Impl::handle(const MailReceived& received) {
  if (received.client.gateway != member.process) return;
  const ClientId client{received.client.client};
  const auto found = mail.find({client, received.entity});
  if (found == mail.end() || received.from != found->second.holder) return;
  Outbox& outbox = found->second.outbox;
  Sender& sender = senders[client];
  sender.letters -= outbox.waiting();
  sender.bytes -= outbox.bytes();
  if (!outbox.acknowledge(received.number)) ++stats.malformed;
  sender.letters += outbox.waiting();
  sender.bytes += outbox.bytes();
}

void Gateway::Impl::forget_clients() {
  if (now_s - forgot_s < kForgetEveryS) return;
  forgot_s = now_s;
  const auto clients = server.clients();
  const auto has_left = [&](ClientId client) {
    return std::find(clients.begin(), clients.end(), client) == clients.end();
  };
  std::erase_if(mail, [&](const auto& entry) { return has_left(entry.first.first); });
  std::erase_if(senders, [&](const auto& entry) { return has_left(entry.first); });
}

}  // namespace reckoner
