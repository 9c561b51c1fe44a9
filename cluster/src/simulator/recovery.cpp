// SPDX-License-Identifier: MIT
#include "cluster/src/simulator/simulator_core.hpp"

#include <algorithm>
#include <string_view>
#include <unordered_map>

namespace reckoner::cluster {

// Checkpoints, and recovery: the entities of dead simulators.

// Stores what a successor needs: of a changed entity at most once per checkpoint_s.
void SimulatorCore::write_checkpoints() {
  if (doubtful) return;
  for (auto& [id, h] : held) {
    if (h.checkpoint_s && now_s - *h.checkpoint_s < config.checkpoint_s) continue;
    if (!may_write(h) || h.state == Held::State::committing) continue;
    const auto motion = access.published(id);
    if (!motion) continue;
    const auto state = server.state(id);
    const bool moves =
        state && (state->velocity != glm::vec3{0.0f} || state->angular_velocity != glm::vec3{0.0f});
    const bool changed = h.checkpoint_due || motion->tick != h.checkpointed_motion || moves;
    if (!changed || (!h.confirmed && h.checkpoint_s)) continue;
    h.checkpoint_s = now_s;
    h.checkpoint_tick = last_tick();
    h.checkpointed_motion = motion->tick;
    h.checkpoint_due = !h.confirmed;  // again, with the revision
    const CheckpointValue value{CheckpointValue::Content{*record_of(id, h), baggage_of(id, h)}};
    bus.put(BusTable::checkpoints, slot_key(id), encode_value(value, codec));
    ++stats.checkpoints;
  }
}

void SimulatorCore::recover() {
  const auto due =
      std::find_if(recover_at.begin(), recover_at.end(), [&](double at_s) { return at_s <= now_s; });
  if (due == recover_at.end() || !bus.connected() || leaving) return;
  std::erase_if(recover_at, [&](double at_s) { return at_s <= now_s; });
  const auto later = [this] { recover_at.push_back(now_s + kRecoverAgainS); };
  requests.list(BusTable::checkpoints, [this, later](const BusAnswer& checkpoints) {
    if (checkpoints.status != BusAnswer::Status::done) return later();
    requests.list(BusTable::epochs, [this, later, stored = checkpoints.entries](const BusAnswer& listed) {
      if (listed.status != BusAnswer::Status::done) return later();
      std::unordered_map<std::string_view, const BusEntry*> by_key;
      for (const BusEntry& entry : listed.entries)
        by_key.emplace(entry.key, &entry);
      for (const BusEntry& entry : stored) {
        const auto found = by_key.find(entry.key);
        recover(entry, found != by_key.end() ? found->second : nullptr);
      }
    });
  });
}

// Adopts the entity of a checkpoint if its holder is dead. The table of epochs names the holder: a checkpoint
// is older, and the holder that was named last may have died before it wrote anything. Without an entry in
// that table, the entity never existed for anyone.
void SimulatorCore::recover(const BusEntry& stored, const BusEntry* stored_epoch) {
  const auto checkpoint = decode_checkpoint(stored.value, codec);
  if (!checkpoint || (checkpoint->content && stored.key != slot_key(checkpoint->content->entity.id))) {
    ++stats.malformed;
    return;
  }
  if (!checkpoint->content) return;
  const CheckpointValue::Content& content = *checkpoint->content;
  const EntityId id = content.entity.id;
  if (held.contains(id) || adopting.contains(id)) return;
  if (const auto bad = damaged.find(id); bad != damaged.end() && bad->second >= kMostRecoveries) return;
  const auto epoch = stored_epoch != nullptr ? decode_epoch(stored_epoch->value) : std::nullopt;
  if (!epoch || epoch->epoch == 0) {
    ++stats.unconfirmed_refused;
    return;
  }
  if (epoch->generation != id.generation) return;  // the entity has ended, or was never confirmed
  const ProcessId holder = epoch->holder;
  // A handover is in progress: the newer state is in its messages.
  const auto given = committed.find(id);
  if (holder == member.process ? expected.contains(id)
                               : given != committed.end() && given->second.to == holder)
    return;
  const Mirror::Known* known = mirror.find(id);
  const bool here = (content.entity.cell < grid.size() && cells.holds(content.entity.cell)) ||
                    unanswered.contains(id) || (known != nullptr && cells.holds(known->cell));
  if (here && is_orphan(holder)) adopt(content, *epoch, stored_epoch->revision, true);
}

// Takes an entity whose holder is dead. The table of epochs decides: it may name a living process.
void SimulatorCore::adopt(const CheckpointValue::Content& content, const EpochValue& stored,
                          std::uint64_t revision, bool again) {
  const EntityId id = content.entity.id;
  if (content.entity.motion.frame && !server.state(content.entity.motion.frame)) {
    adopting.erase(id);  // a later pass
    return;
  }
  if (again && !adopting.insert(id).second) return;
  const std::uint32_t epoch = next_epoch(std::max(stored.epoch, epochs.slot_epoch(id)));
  requests.put_if(BusTable::epochs, slot_key(id),
                  encode_value(EpochValue{epoch, member.process, id.generation}), revision,
                  [this, content, id, epoch, again](const BusAnswer& answer) {
                    if (answer.status == BusAnswer::Status::conflict && again) return read_and_adopt(content);
                    adopting.erase(id);
                    unanswered.erase(id);
                    if (answer.status == BusAnswer::Status::unavailable) {
                      unanswered.insert(id);
                      recover_at.push_back(now_s + kRecoverAgainS);
                    }
                    if (answer.status != BusAnswer::Status::done) return;
                    if (!held.contains(id) && epochs.note_slot(id, epoch, member.process, answer.revision))
                      take_over(content.entity, content.baggage, epoch, answer.revision, true);
                    // The table names this process, so nobody else takes it.
                    if (!held.contains(id) && damaged[id] < kMostRecoveries)
                      recover_at.push_back(now_s + kRecoverAgainS);
                  });
}

// The checkpoint was older than the table. The entity may be taken if the process in the table is dead.
void SimulatorCore::read_and_adopt(const CheckpointValue::Content& content) {
  const EntityId id = content.entity.id;
  requests.get(BusTable::epochs, slot_key(id), [this, content, id](const BusAnswer& read) {
    const auto stored = decode_epoch(read.value);
    const bool free = stored && is_orphan(stored->holder) && stored->generation == id.generation;
    if (!free || held.contains(id)) {
      adopting.erase(id);
      if (read.status == BusAnswer::Status::done) unanswered.erase(id);
      return;
    }
    adopt(content, *stored, read.revision, false);
  });
}

}  // namespace reckoner::cluster
