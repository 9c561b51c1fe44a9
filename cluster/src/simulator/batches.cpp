// SPDX-License-Identifier: MIT
#include "cluster/src/mirror/watch_cells.hpp"
#include "cluster/src/simulator/simulator_core.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <set>
#include <utility>

namespace reckoner::cluster {
namespace {

constexpr double kBatchEveryS = 0.25;      // a batch is sent at least this often, s
constexpr std::size_t kSnapshotPart = 64;  // entities in one message of a snapshot
constexpr double kSnapshotEveryS = 0.1;    // of one cell to one process

}  // namespace

// What simulators and gateways tell each other in every tick: batches, snapshots, heartbeats.

std::optional<EntityRecord> SimulatorCore::record_of(EntityId id, const Held& h) const {
  const auto motion = access.published(id);
  if (!motion) return std::nullopt;
  EntityRecord entity;
  entity.id = id;
  entity.epoch = h.epoch;
  entity.archetype = static_cast<std::uint32_t>(*access.archetype(id));
  entity.name = *access.name(id);
  entity.groups = access.groups(id);
  entity.relevance = access.relevance(id);
  entity.cell = h.cell;
  entity.tick = motion->tick;
  entity.motion = motion->encoded;
  for (std::size_t i = 0; i < config.archetypes[entity.archetype].fields.size(); ++i)
    entity.fields.push_back(*server.field(id, i));
  return entity;
}

EntityBaggage SimulatorCore::baggage_of(EntityId id, const Held& h) const {
  EntityBaggage baggage;
  baggage.holder = member.process;
  baggage.revision = h.confirmed ? h.revision : 0;
  baggage.state = server.state(id).value_or(State{});
  baggage.tick = last_tick();
  baggage.checkpoint_tick = h.checkpoint_tick;
  baggage.route = access.route(id).value;
  baggage.data = h.data;
  baggage.priors = access.priors(id);
  if (!baggage.priors.linear) baggage.priors.linear = h.inherited.linear;
  if (!baggage.priors.angular) baggage.priors.angular = h.inherited.angular;
  for (const auto& [client, c] : h.mail)
    baggage.mail.push_back({client, c.polled, c.outbox.last(), c.outbox.letters()});
  return baggage;
}

Batch SimulatorCore::new_batch(std::uint32_t cell) const {
  Batch batch;
  batch.cell = cell;
  batch.writer = member.process;
  batch.tick = last_tick();
  return batch;
}

// Sorts what the tick has published into batches by cell.
void SimulatorCore::collect_batches() {
  published.clear();
  access.append_published(published);
  for (const EntityId id : published) {
    const Held* h = find(id);
    if (h == nullptr || h->describe || !may_write(*h)) continue;
    const auto motion = access.published(id);
    batch_of(h->cell).motions.push_back(
        {id, h->epoch, static_cast<std::uint32_t>(*access.archetype(id)), motion->tick, motion->encoded});
    ++stats.motions_sent;
  }
  for (auto& [id, h] : held) {
    if (h.state == Held::State::committing) access.publish_in_next_tick(id);
    if (!may_write(h) || !(h.describe || h.fields_changed)) continue;
    auto entity = record_of(id, h);
    if (!entity) continue;
    if (h.describe) {
      batch_of(h.cell).described.push_back({h.cause, std::move(*entity)});
      ++stats.motions_sent;
    } else {
      batch_of(h.cell).fields.push_back({id, h.epoch, entity->archetype, std::move(entity->fields)});
    }
    h.describe = h.fields_changed = false;
    h.cause = Cause::refresh;
  }
}

void SimulatorCore::count_entities() {
  std::fill(entities_in.begin(), entities_in.end(), 0);
  for (const auto& [id, h] : held)
    ++entities_in[h.cell];
}

void SimulatorCore::send_batch(std::uint32_t cell, Batch& batch) {
  batch.tick = last_tick();
  batch.holds_cell = cells.holds(cell);
  batch.cell_epoch = cells.epoch(cell);
  batch.entities = static_cast<std::uint32_t>(entities_in[cell]);
  if (!batch.snapshot) {
    Stream& stream = streams[cell];
    batch.sequence = ++stream.sequence;
    stream.sent_s = now_s;
  }
  bus.publish(cell_subject(config.world, cell), encode(batch, codec));
  ++stats.batches_sent;
}

void SimulatorCore::send_batches() {
  if (doubtful) {
    batches.clear();
    return;
  }
  count_entities();
  for (std::uint32_t cell = 0; cell < grid.size(); ++cell) {
    const auto found = batches.find(cell);
    const bool silent =
        (cells.holds(cell) || entities_in[cell] > 0) && now_s - streams[cell].sent_s > kBatchEveryS;
    if (found == batches.end() && !silent) continue;
    Batch batch = found != batches.end() ? std::move(found->second) : new_batch(cell);
    // A large batch goes in parts, so that no message exceeds the limit of the bus.
    constexpr std::size_t kPart = 200;
    while (batch.described.size() > kPart) {
      Batch part = new_batch(cell);
      part.described.assign(std::make_move_iterator(batch.described.end() - kPart),
                            std::make_move_iterator(batch.described.end()));
      batch.described.resize(batch.described.size() - kPart);
      send_batch(cell, part);
    }
    send_batch(cell, batch);
  }
  batches.clear();
}

void SimulatorCore::handle(const Ask& ask) {
  if (doubtful || ask.cell >= grid.size()) return;
  double& sent_s = snapshots.try_emplace({ask.from, ask.cell}, -1e300).first->second;
  if (now_s - sent_s < kSnapshotEveryS) return;
  sent_s = now_s;
  Batch batch = new_batch(ask.cell);
  batch.snapshot = true;
  batch.holds_cell = cells.holds(ask.cell);
  batch.cell_epoch = cells.epoch(ask.cell);
  batch.sequence = streams[ask.cell].sequence;
  batch.entities = static_cast<std::uint32_t>(entities_in[ask.cell]);
  batch.last_part = false;
  for (const auto& [id, h] : held) {
    if (h.cell != ask.cell || h.describe || !may_write(h)) continue;
    auto entity = record_of(id, h);
    if (!entity) continue;
    batch.described.push_back({Cause::refresh, std::move(*entity)});
    if (batch.described.size() < kSnapshotPart) continue;
    send(ask.from, batch);
    batch.described.clear();
  }
  batch.last_part = true;
  send(ask.from, batch);
}

void SimulatorCore::handle(const Batch& batch) {
  if (batch.cell >= grid.size()) return;
  if (batch.holds_cell) cells.note_holder(batch.cell, batch.writer, batch.cell_epoch, now_s);
  mirror.receive(batch, world_s(now_s));
}

void SimulatorCore::send_heartbeat() {
  if (now_s - heartbeat_s < Members::kHeartbeatS || doubtful || !name.is_member()) return;
  heartbeat_s = now_s;
  Heartbeat heartbeat;
  heartbeat.process = member.process;
  heartbeat.name = member.name;
  heartbeat.simulator = true;
  heartbeat.entities = static_cast<std::uint32_t>(held.size());
  heartbeat.leaving = leaving;
  for (std::uint32_t cell = 0; cell < grid.size(); ++cell) {
    if (!cells.holds(cell)) continue;
    heartbeat.cells.push_back(cell);
    heartbeat.epochs.push_back(cells.epoch(cell));
  }
  bus.publish(members_subject(config.world, Role::simulator), encode(heartbeat, codec));
  members.note_self(heartbeat, now_s);
  std::erase_if(snapshots, [&](const auto& entry) { return members.find(entry.first.first) == nullptr; });
}

void SimulatorCore::handle(const Heartbeat& heartbeat) {
  members.note(heartbeat, now_s);
  if (!members.has(heartbeat.process, Role::simulator) || !heartbeat.simulator) return;
  for (std::size_t i = 0; i < heartbeat.cells.size(); ++i) {
    if (heartbeat.cells[i] < grid.size())
      cells.note_holder(heartbeat.cells[i], heartbeat.process, heartbeat.epochs[i], now_s);
  }
}

// Subscribes to the held cells, because guests write there, and to their neighbours.
void SimulatorCore::watch_neighbours() {
  std::set<std::uint32_t> wanted;
  for (std::uint32_t cell = 0; cell < grid.size(); ++cell) {
    if (!cells.holds(cell) && entities_in[cell] == 0) continue;
    grid.for_each_around(cell, [&](std::uint32_t near) { wanted.insert(near); });
  }
  watch_cells(wanted, config.world, bus, mirror);
}

}  // namespace reckoner::cluster
