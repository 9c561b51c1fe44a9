// SPDX-License-Identifier: MIT
#include "cluster/src/simulator/simulator_core.hpp"

#include <algorithm>

namespace reckoner::cluster {

// The right to write: the epochs of the held entities in the table, and the cells that they are in.

// After a pause or a lost connection, others may hold the cells and entities. Nothing is written until the
// epochs are asserted again.
void SimulatorCore::doubt() {
  connects = bus.stats().connects;
  ticked_s = now_s;
  members.forgive(now_s);
  cells.doubt(now_s);
  for (auto& [id, h] : held) {
    ++h.turn;
    h.busy = false;
    h.state = Held::State::asserting;
    h.to = {};
  }
}

// Writes the epoch of a new entity into the table.
void SimulatorCore::confirm(EntityId id) {
  Held& h = held.at(id);
  h.busy = true;
  const std::uint32_t turn = h.turn;
  requests.put_if(BusTable::epochs, slot_key(id),
                  encode_value(EpochValue{h.epoch, member.process, id.generation}), h.revision,
                  [this, id, turn](const BusAnswer& answer) {
                    Held* written = find(id);
                    if (written == nullptr || written->turn != turn) return;
                    written->busy = false;
                    if (answer.status == BusAnswer::Status::conflict) return read_and_assert(id);
                    if (answer.status != BusAnswer::Status::done) return;
                    written->revision = answer.revision;
                    written->confirmed = true;
                    (void)epochs.note_slot(id, written->epoch, member.process, answer.revision);
                  });
}

// Advances the epoch of a held entity. If another process has done so, the entity is lost.
void SimulatorCore::assert_entity(EntityId id, std::uint64_t revision, std::uint32_t at_least) {
  Held& h = held.at(id);
  h.busy = true;
  const std::uint32_t turn = h.turn;
  const std::uint32_t epoch = next_epoch(std::max({h.epoch, at_least, epochs.slot_epoch(id)}));
  requests.put_if(
      BusTable::epochs, slot_key(id), encode_value(EpochValue{epoch, member.process, id.generation}),
      revision, [this, id, turn, epoch](const BusAnswer& answer) {
        Held* asserted = find(id);
        if (asserted == nullptr || asserted->turn != turn) return;
        asserted->busy = false;
        if (answer.status == BusAnswer::Status::conflict) return read_and_assert(id);
        if (answer.status != BusAnswer::Status::done) return;
        asserted->epoch = epoch;
        asserted->revision = answer.revision;
        asserted->confirmed = true;
        asserted->state = Held::State::holding;
        asserted->describe = true;
        asserted->cause = Cause::refresh;
        mirror.hold(id, epoch, asserted->cell, static_cast<std::uint32_t>(access.archetype(id).value_or(0)),
                    answer.revision);
        access.publish_in_next_tick(id);
      });
}

// A compare-and-set failed. Either its predecessor succeeded without an answer, and the table names this
// process, or another process holds the entity.
void SimulatorCore::read_and_assert(EntityId id) {
  Held& h = held.at(id);
  h.busy = true;
  const std::uint32_t turn = h.turn;
  requests.get(BusTable::epochs, slot_key(id), [this, id, turn](const BusAnswer& answer) {
    Held* doubtful_one = find(id);
    if (doubtful_one == nullptr || doubtful_one->turn != turn) return;
    doubtful_one->busy = false;
    if (answer.status == BusAnswer::Status::unavailable) return;
    const auto stored = decode_epoch(answer.value);
    // An attempt to give the entity away has succeeded after all: its new holder may not know it yet.
    if (stored && stored->holder == doubtful_one->committing_to &&
        stored->epoch == next_epoch(doubtful_one->epoch) && stored->generation == id.generation)
      return finish_commit(id, stored->holder, answer.revision);
    if (stored && (stored->holder != member.process || stored->generation != id.generation)) {
      ++stats.writes_refused;
      // Nobody else looks for the entity of a process that never was a member.
      if (members.find(stored->holder) == nullptr) recover_at.push_back(now_s + kRecoverAgainS);
      return lose(id);
    }
    doubtful_one->state = Held::State::asserting;
    assert_entity(id, answer.status == BusAnswer::Status::done ? answer.revision : 0,
                  stored ? stored->epoch : 0);
  });
}

// Another process holds the entity.
void SimulatorCore::lose(EntityId id) {
  const auto found = held.find(id);
  if (found == held.end()) return;
  held.erase(found);
  ++stats.entities_lost;
  events.push_back({SimulatorEvent::Kind::released, id});
  mirror.release(id, {}, world_s(now_s));
}

// The cell of an entity. An entity in a frame is in the cell of the outermost frame.
std::uint32_t SimulatorCore::cell_of(EntityId id, std::uint32_t before) const {
  EntityId root = id;
  while (const EntityId outer = server.frame_of(root))
    root = outer;
  if (root != id) {
    if (const auto found = held.find(root); found != held.end()) return found->second.cell;
    if (const Mirror::Known* known = mirror.find(root)) return known->cell;
  }
  const auto state = server.in_world(root);
  return state ? grid.cell_at(state->position, before) : before;
}

// The process that should hold an entity; null if it is this one or nobody is known.
ProcessId SimulatorCore::target_of(EntityId id, const Held& h) const {
  EntityId root = id;
  while (const EntityId outer = server.frame_of(root))
    root = outer;
  if (root != id) {
    if (held.contains(root)) return {};
    const Mirror::Known* known = mirror.find(root);
    return known != nullptr && members.takes(known->writer) ? known->writer : ProcessId{};
  }
  if (cells.holds(h.cell)) return {};
  const ProcessId holder = cells.holder(h.cell);
  return holder != member.process && members.takes(holder) ? holder : ProcessId{};
}

void SimulatorCore::move_between_cells() {
  for (auto& [id, h] : held) {
    const std::uint32_t cell = cell_of(id, h.cell);
    if (cell == h.cell) continue;
    if (!h.describe && may_write(h)) batch_of(h.cell).gone.push_back({id, h.epoch, cell});
    h.cell = cell;
    h.describe = true;
    if (h.cause != Cause::spawned) h.cause = Cause::refresh;
    mirror.move_held(id, cell);
  }
}

}  // namespace reckoner::cluster
