// SPDX-License-Identifier: MIT
#include "cluster/src/simulator/simulator_core.hpp"

namespace reckoner {

using namespace cluster;

namespace {

// A simulator runs a tick so long before its time that its motions are at the gateways when they send the
// tick. Gateways then run on time: clients find the server's clock in the times of ticks.
constexpr double kLeadS = 0.006;
// A tick that is this late, in shares of the lease time, was a pause: others may hold everything by now.
constexpr double kPause = 0.4;

}  // namespace

SimulatorCore::SimulatorCore(const ClusterConfig& given, const WorldMember& given_member, Bus& given_bus,
                             Server given_server, std::unique_ptr<NullTransport> given_transport, double now)
    : config(given),
      member(given_member),
      bus(given_bus),
      requests(given_bus),
      codec(config.archetypes),
      transport(std::move(given_transport)),
      server(std::move(given_server)),
      access(server),
      grid(config),
      subjects(config.world, member.process),
      epochs(grid.size(), requests, stats),
      members(config, member.process, requests, stats),
      cells(
          config, member.process, requests, epochs, members,
          [this](ProcessId to, const BusPayload& message) { send(to, message); }, stats),
      mirror(
          config, server, member.process, epochs, members,
          [this](ProcessId to, const BusPayload& message) { send(to, message); }, kGhostSilenceS, stats),
      ids(requests),
      name(config, member, Role::simulator, requests),
      entities_in(grid.size()),
      now_s(now),
      ticked_s(now),
      connects(bus.stats().connects) {
  access.start_at(whole_ticks(world_s(now) * config.tick_rate_hz) + 1);
  subjects.subscribe(bus);
}

Result<Simulator> Simulator::create(const ClusterConfig& config, const WorldMember& member, Bus& bus,
                                    double now_s) {
  if (auto error = find_invalid_setting(config)) return *error;
  ServerConfig settings;
  settings.tick_rate_hz = config.tick_rate_hz;
  settings.archetypes = config.archetypes;
  settings.max_entities = kMaxEntities;
  auto transport = std::make_unique<NullTransport>();
  auto server = Server::create(settings, *transport);
  if (!server) return Error{server.error()};
  for (const RouteDefinition& route : config.routes) {
    const auto added = server->add_route(route);
    if (!added) return Error{added.error()};
  }
  return Simulator{
      std::make_unique<Impl>(config, member, bus, std::move(*server), std::move(transport), now_s)};
}

Simulator::Simulator(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Simulator::~Simulator() = default;
Simulator::Simulator(Simulator&& other) noexcept = default;
Simulator& Simulator::operator=(Simulator&& other) noexcept = default;

// What the game calls.

SpawnResult Simulator::spawn(std::size_t archetype, const std::string& name, const State& state,
                             EntityId frame) {
  Impl& s = *impl_;
  const auto slot = s.ids.take(s.now_s);
  if (!slot) return CallError::world_full;
  const SpawnResult spawned = s.access.spawn_as(slot->id, archetype, name, state, frame);
  if (!spawned) {
    s.ids.give_back({slot->id.index1, static_cast<std::uint16_t>(slot->id.generation - 1)}, slot->epoch,
                    slot->revision, s.now_s);
    return spawned;
  }
  Held h;
  h.epoch = next_epoch(slot->epoch);
  h.revision = slot->revision;
  h.cell = s.cell_of(slot->id, s.grid.cell_at(state.position));
  h.fields_changed = false;
  s.mirror.hold(slot->id, h.epoch, h.cell, static_cast<std::uint32_t>(archetype), slot->revision);
  s.held.emplace(slot->id, std::move(h));
  return slot->id;
}

CallResult Simulator::despawn(EntityId id) {
  Impl& s = *impl_;
  Held* h = s.find(id);
  if (h == nullptr) return s.why_not_held(id);
  if (h->state == Held::State::committing) return CallError::owned;
  if (s.may_write(*h)) {
    s.batch_of(h->cell).gone.push_back({id, h->epoch, std::nullopt});
  }
  s.bus.put(BusTable::checkpoints, slot_key(id), encode_value(CheckpointValue{}, s.codec));
  // The revision is not known while a request is unanswered; the slot is then left alone.
  if (!h->busy) s.ids.give_back(id, h->epoch, h->revision, s.now_s);
  s.held.erase(id);
  s.mirror.forget(id);
  return {};
}

CallResult Simulator::move(EntityId id, const State& truth) {
  return impl_->server.move(id, truth);
}
CallResult Simulator::teleport(EntityId id, const State& truth) {
  return holds(id) ? impl_->server.teleport(id, truth) : impl_->why_not_held(id);
}
CallResult Simulator::follow(EntityId id, RouteId route) {
  return holds(id) ? impl_->server.follow(id, route) : impl_->why_not_held(id);
}
CallResult Simulator::leave_route(EntityId id) {
  return holds(id) ? impl_->server.leave_route(id) : impl_->why_not_held(id);
}
CallResult Simulator::move_along(EntityId id, const RouteState& along) {
  return holds(id) ? impl_->server.move_along(id, along) : impl_->why_not_held(id);
}
CallResult Simulator::enter_frame(EntityId id, EntityId frame) {
  return holds(id) ? impl_->server.enter_frame(id, frame) : impl_->why_not_held(id);
}
CallResult Simulator::set_field(EntityId id, std::size_t field, const FieldValue& value) {
  Held* h = impl_->find(id);
  if (h == nullptr) return impl_->why_not_held(id);
  const CallResult set = impl_->server.set_field(id, field, value);
  if (set) h->fields_changed = h->checkpoint_due = true;
  return set;
}
CallResult Simulator::set_relevance(EntityId id, Relevance relevance) {
  Held* h = impl_->find(id);
  if (h == nullptr) return impl_->why_not_held(id);
  h->describe = true;
  return impl_->server.set_relevance(id, relevance);
}
CallResult Simulator::set_groups(EntityId id, std::uint32_t groups) {
  Held* h = impl_->find(id);
  if (h == nullptr) return impl_->why_not_held(id);
  h->describe = true;
  return impl_->server.set_groups(id, groups);
}
CallResult Simulator::set_data(EntityId id, std::span<const std::byte> data) {
  Held* h = impl_->find(id);
  if (h == nullptr) return impl_->why_not_held(id);
  if (data.size() > kMaxEntityDataBytes) return CallError::data_too_long;
  h->data.assign(data.begin(), data.end());
  h->checkpoint_due = true;
  return {};
}

std::optional<SimulatorEvent> Simulator::poll_event() {
  if (impl_->events.empty()) return std::nullopt;
  SimulatorEvent event = std::move(impl_->events.front());
  impl_->events.pop_front();
  return event;
}

Tick Simulator::next_tick() const {
  return impl_->server.next_tick();
}
double Simulator::tick_time_s(Tick tick) const {
  return impl_->member.epoch_s + impl_->server.tick_time_s(tick) - kLeadS;
}
void Simulator::leave() {
  impl_->leaving = true;
}
bool Simulator::finished() const {
  const bool alone = impl_->members.simulators().empty();
  return impl_->leaving &&
         ((impl_->held.empty() && impl_->cells.held() == 0 && impl_->committed.empty()) || alone);
}
bool Simulator::ready() const {
  return impl_->ids.has_free();
}
bool Simulator::holds(EntityId id) const {
  return impl_->held.contains(id);
}
std::vector<EntityId> Simulator::held() const {
  std::vector<EntityId> ids;
  for (const auto& [id, h] : impl_->held)
    ids.push_back(id);
  return ids;
}
std::size_t Simulator::held_count() const {
  return impl_->held.size();
}
std::string Simulator::name(EntityId id) const {
  const std::string* name = impl_->access.name(id);
  return name != nullptr ? *name : std::string{};
}
bool Simulator::holds_cell(std::uint32_t cell) const {
  return cell < impl_->grid.size() && impl_->cells.holds(cell);
}
std::size_t Simulator::cell_count() const {
  return impl_->cells.held();
}
std::uint32_t Simulator::cell_epoch(std::uint32_t cell) const {
  return cell < impl_->grid.size() ? impl_->cells.epoch(cell) : 0;
}
const Server& Simulator::server() const {
  return impl_->server;
}
const ClusterStats& Simulator::stats() const {
  return impl_->stats;
}
std::uint32_t Simulator::epoch(EntityId id) const {
  const auto found = impl_->held.find(id);
  if (found != impl_->held.end()) return found->second.epoch;
  const Mirror::Known* known = impl_->mirror.find(id);
  return known != nullptr ? known->epoch : 0;
}

void Simulator::receive(double now_s) {
  Impl& s = *impl_;
  s.now_s = now_s;
  s.epochs.begin(now_s);
  s.bus.service(now_s);
  const bool regained_name = s.lost_name && !s.name.is_lost();
  s.lost_name = s.name.is_lost();
  s.stats.is_member = s.name.is_member();
  // Before anything else: after a pause, nothing that this process believes holds.
  if (s.bus.stats().connects != s.connects || now_s - s.ticked_s > kPause * s.config.lease_s || regained_name)
    s.doubt();
  s.doubtful = !s.bus.connected() || s.lost_name;
  while (const auto message = s.bus.poll())
    s.handle(*message);
  s.requests.poll();
  s.epochs.run(s.bus.connected());
  s.settle();
  for (const EntityId id : s.mirror.take_overtaken()) {
    if (const Held* h = s.find(id); h != nullptr && s.epochs.slot_epoch(id) > h->epoch) s.lose(id);
  }
}

void Simulator::tick(double now_s) {
  Impl& s = *impl_;
  s.now_s = now_s;
  s.epochs.begin(now_s);
  // A process can pause at any instruction. Here it checks for the last time before it writes.
  if (now_s - s.ticked_s > kPause * s.config.lease_s) s.doubt();
  s.ticked_s = now_s;
  s.doubtful = !s.bus.connected() || s.lost_name;
  if (!s.bus.connected())
    s.members.forgive(now_s);  // without a connection, the silence of the others means nothing
  if (s.members.review(now_s, s.bus.connected()))
    for (const double later_s : {0.0, 1.0, 3.0, 6.0, 12.0})
      s.recover_at.push_back(now_s + later_s);
  s.count_entities();
  s.cells.run(now_s, !s.doubtful, s.leaving, [&](std::uint32_t cell) { return s.entities_in[cell]; });
  if (s.cells.has_claimed())
    for (const double later_s : {0.05, 0.5, 1.0, 2.0, 6.0})
      s.recover_at.push_back(now_s + later_s);
  const std::size_t cells = s.cells.held();
  if (cells != s.cells_before)
    s.events.push_back(
        {cells > s.cells_before ? SimulatorEvent::Kind::cells_gained : SimulatorEvent::Kind::cells_lost});
  s.cells_before = cells;
  s.ids.run(now_s, s.bus.connected());
  s.name.run(now_s, s.bus.connected());
  s.watch_neighbours();
  s.mirror.run(s.world_s(now_s));
  s.move_between_cells();
  s.offer_entities();
  s.repeat_commits();
  s.check_expected();
  s.recover();
  s.access.set_distant_delay(s.members.delay_s());
  s.server.tick(s.world_s(now_s));
  s.collect_batches();
  s.send_batches();
  s.send_heartbeat();
  s.write_checkpoints();
  s.send_mail();
  s.bus.service(now_s);
}

void SimulatorCore::handle(const BusMessage& message) {
  const auto payload = decode(message.payload, codec);
  const auto role = payload ? subjects.sender_role(message.subject, *payload) : std::nullopt;
  if (!role) {
    ++stats.malformed;
    return;
  }
  const ProcessId from = sender_of(*payload);
  if (from == member.process) return;  // what this process has published
  if (!std::holds_alternative<Heartbeat>(*payload) && !members.has(from, *role)) {
    ++stats.unknown_refused;
    return;
  }
  std::visit([this](const auto& m) { handle(m); }, *payload);
}

void SimulatorCore::settle() {
  for (const std::uint32_t cell : epochs.take_read_cells())
    cells.settle(cell, now_s);
  mirror.settle(epochs.take_read_slots(), world_s(now_s));
  check_commits();
}

}  // namespace reckoner
