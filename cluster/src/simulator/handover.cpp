// SPDX-License-Identifier: MIT
#include "cluster/src/simulator/simulator_core.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace reckoner::cluster {
namespace {

constexpr double kRepeatOfferS = 0.1;
constexpr double kOfferEntityForS = 1.0;  // then the receiver is chosen again
constexpr double kRepeatCommitS = 0.1;
constexpr double kExpectCommitS = 0.5;  // after this time without a commit, the receiver asks the table
constexpr double kKeepOfferS = 5.0;
constexpr double kCoastS = 1.0;               // an orphan has moved on for this time at most
constexpr std::uint32_t kLostLetters = 1000;  // numbers that a dead holder may have used since its checkpoint
constexpr std::size_t kMostInFlight = 512;    // requests; more wait

}  // namespace

// Handover of an entity: offer, accept, commit. Every message may be lost.

void SimulatorCore::offer_entities() {
  for (auto& [id, h] : held) {
    if (requests.waiting() > kMostInFlight) return;
    if (h.busy || !bus.connected()) continue;
    if (h.state == Held::State::asserting) {
      assert_entity(id, h.revision, 0);
      continue;
    }
    if (h.state == Held::State::holding && !h.confirmed) {
      confirm(id);
      continue;
    }
    if (h.state == Held::State::committing) continue;
    const ProcessId to = target_of(id, h);
    if (!to) {
      h.state = Held::State::holding;
      continue;
    }
    if (h.state == Held::State::holding || h.to != to || now_s - h.offer_began_s > kOfferEntityForS) {
      h.state = Held::State::offering;
      h.to = to;
      h.offer_began_s = now_s;
      h.offered_s = -1e300;
    }
    // The last motion of this process is then as new as possible, and the silence until the first one of the
    // receiver short.
    access.publish_in_next_tick(id);
    if (now_s - h.offered_s < kRepeatOfferS) continue;
    const auto entity = record_of(id, h);
    if (!entity) continue;
    h.offered_s = now_s;
    send(to, Offer{member.process, *entity, baggage_of(id, h)});
  }
}

void SimulatorCore::handle(const Offer& offer) {
  const EntityRecord& entity = offer.entity;
  if (leaving || doubtful || held.contains(entity.id)) return;
  const auto verdict = epochs.check_slot(entity.id, entity.epoch, offer.from);
  if (verdict == EpochTable::Verdict::refuted) ++stats.unconfirmed_refused;
  if (verdict != EpochTable::Verdict::confirmed) return;  // offers are repeated
  const EntityId frame = entity.motion.frame;
  if (frame ? !held.contains(frame) : entity.cell >= grid.size() || !cells.holds(entity.cell)) return;
  expected[entity.id] = {offer, now_s, now_s};
  send(offer.from, Accept{member.process, entity.id, entity.epoch});
}

void SimulatorCore::handle(const Accept& accept) {
  Held* h = find(accept.id);
  if (h == nullptr || h->state != Held::State::offering || h->to != accept.from || h->epoch != accept.epoch)
    return;
  if (h->busy || doubtful) return;
  begin_commit(accept.id, accept.from);
}

// Names the new holder in the table of epochs. Until the answer is there, this process continues to write.
void SimulatorCore::begin_commit(EntityId id, ProcessId to) {
  Held& h = held.at(id);
  h.state = Held::State::committing;
  h.committing_to = to;
  h.busy = true;
  access.publish_in_next_tick(id);
  const std::uint32_t turn = h.turn;
  requests.put_if(BusTable::epochs, slot_key(id),
                  encode_value(EpochValue{next_epoch(h.epoch), to, id.generation}), h.revision,
                  [this, id, turn, to](const BusAnswer& answer) {
                    Held* given = find(id);
                    if (given == nullptr || given->turn != turn) return;
                    given->busy = false;
                    if (answer.status == BusAnswer::Status::done)
                      return finish_commit(id, to, answer.revision);
                    // Unknown, or overtaken. The table tells whether the write has happened after all.
                    given->busy = true;
                    requests.get(BusTable::epochs, slot_key(id), [this, id, turn, to](const BusAnswer& read) {
                      Held* unsure = find(id);
                      if (unsure == nullptr || unsure->turn != turn) return;
                      unsure->busy = false;
                      const auto stored = decode_epoch(read.value);
                      if (!stored) {
                        unsure->state = Held::State::asserting;
                      } else if (stored->holder == to && stored->epoch == next_epoch(unsure->epoch)) {
                        finish_commit(id, to, read.revision);
                      } else {
                        read_and_assert(id);
                      }
                    });
                  });
}

// The new holder is in the table: sends it everything and stops writing.
void SimulatorCore::finish_commit(EntityId id, ProcessId to, std::uint64_t revision) {
  Held& h = held.at(id);
  auto entity = record_of(id, h);
  if (!entity) return lose(id);
  EntityBaggage baggage = baggage_of(id, h);
  const std::uint32_t epoch = next_epoch(h.epoch);
  entity->epoch = epoch;
  baggage.holder = to;
  baggage.revision = revision;
  Commit commit{member.process, std::move(*entity), std::move(baggage), access.memory(id)};
  send(to, commit);
  committed[id] = {std::move(commit), to, now_s};
  held.erase(id);
  ++stats.handovers_out;
  events.push_back({SimulatorEvent::Kind::released, id});
  (void)epochs.note_slot(id, epoch, to, revision);
  mirror.release(id, to, world_s(now_s));
}

// Repeats commits until the new holder confirms them. If it dies before, this process takes the entity back:
// nobody else has a state that is as new.
void SimulatorCore::repeat_commits() {
  std::vector<Committed> unclaimed;
  for (auto& [id, c] : committed) {
    if (is_orphan(c.to)) {
      unclaimed.push_back(c);
    } else if (now_s - c.sent_s > kRepeatCommitS) {
      c.sent_s = now_s;
      send(c.to, c.commit);
    }
  }
  if (!bus.connected()) return;
  for (const Committed& c : unclaimed) {
    const EntityRecord& entity = c.commit.entity;
    committed.erase(entity.id);
    if (!held.contains(entity.id))
      adopt({entity, c.commit.baggage}, EpochValue{entity.epoch, c.to, entity.id.generation},
            c.commit.baggage.revision, true);
  }
}

// A commit counts only if the table of epochs names this process. Its sender has written that before it sent
// the commit, and repeats the commit until this process confirms it.
void SimulatorCore::handle(const Commit& commit) {
  const EntityRecord& entity = commit.entity;
  const Held* h = find(entity.id);
  if ((h != nullptr && h->epoch == entity.epoch) || epochs.slot_epoch(entity.id) > entity.epoch) {
    send(commit.from, Done{member.process, entity.id, entity.epoch});
    return;
  }
  if (h != nullptr) return;
  switch (epochs.check_slot(entity.id, entity.epoch, member.process)) {
    case EpochTable::Verdict::confirmed:
      return accept(commit);
    case EpochTable::Verdict::refuted:
      ++stats.unconfirmed_refused;
      return;
    case EpochTable::Verdict::open:
      if (open_commits.size() < kMostInFlight)
        open_commits.try_emplace(std::pair{entity.id, entity.epoch}, OpenCommit{commit, now_s});
      return;
  }
}

void SimulatorCore::accept(const Commit& commit) {
  const EntityRecord& entity = commit.entity;
  expected.erase(entity.id);
  take_over(entity, commit.baggage, entity.epoch, epochs.slot_revision(entity.id), false, commit.memory);
  send(commit.from, Done{member.process, entity.id, entity.epoch});
}

void SimulatorCore::check_commits() {
  for (auto it = open_commits.begin(); it != open_commits.end();) {
    const auto& [id, epoch] = it->first;
    const Commit& commit = it->second.commit;
    const auto verdict = epochs.check_slot(id, epoch, member.process, it->second.since_s);
    if (verdict == EpochTable::Verdict::open) {
      ++it;
      continue;
    }
    if (verdict == EpochTable::Verdict::refuted) ++stats.unconfirmed_refused;
    if (verdict == EpochTable::Verdict::confirmed && !held.contains(id)) accept(commit);
    it = open_commits.erase(it);
  }
}

void SimulatorCore::handle(const Done& done) {
  const auto found = committed.find(done.id);
  if (found != committed.end() && found->second.to == done.from &&
      found->second.commit.entity.epoch == done.epoch)
    committed.erase(found);
}

// An accepted offer without a commit: the commit was lost, and its sender may have died. If the table names
// this process, it takes the entity with what was offered.
void SimulatorCore::check_expected() {
  std::erase_if(expected, [&](const auto& entry) { return entry.second.over || held.contains(entry.first); });
  for (auto& [key, e] : expected) {
    const EntityId id = key;
    if (e.asked || now_s - e.asked_s < kExpectCommitS || !bus.connected()) continue;
    e.asked = true;
    e.asked_s = now_s;
    requests.get(BusTable::epochs, slot_key(id), [this, id](const BusAnswer& read) {
      const auto waiting = expected.find(id);
      if (waiting == expected.end() || held.contains(id)) return;
      Expected& unsure = waiting->second;
      unsure.asked = false;
      if (read.status == BusAnswer::Status::unavailable) return;
      const auto stored = decode_epoch(read.value);
      const bool named = stored && stored->holder == member.process && stored->generation == id.generation;
      if (named) return adopt({unsure.offer.entity, unsure.offer.baggage}, *stored, read.revision, true);
      // It stays with the other process, or went elsewhere. The offer would be repeated.
      unsure.over = now_s - unsure.accepted_s > kKeepOfferS;
    });
  }
}

void SimulatorCore::take_over(EntityRecord entity, EntityBaggage baggage, std::uint32_t epoch,
                              std::uint64_t revision, bool adopted, const MotionFit::Memory& memory) {
  const EntityId id = entity.id;
  State state = baggage.state;
  const Mirror::Known* known = mirror.find(id);
  const auto ahead_s = [&](Tick tick) {
    return static_cast<std::int32_t>(tick - server.next_tick()) / config.tick_rate_hz;
  };
  if (adopted) {
    // The newest known motion is better than a checkpoint. One from the future is damaged.
    const auto shown = server.state(id);
    if (known != nullptr && shown &&
        (!earlier(known->tick, baggage.tick) || ahead_s(baggage.tick) > kCoastS)) {
      state = *shown;
    } else {
      if (is_sane(state)) state = extrapolate(state, std::clamp(-ahead_s(baggage.tick), 0.0, kCoastS));
    }
  }
  const Quantisation& q = codec.quantisation[entity.archetype];
  state = nearest_encodable(state, q);
  if (known == nullptr || !server.state(id)) {
    mirror.forget(id);
    if (!access.spawn_as(id, entity.archetype, entity.name, state, entity.motion.frame)) {
      ++stats.malformed;
      if (++damaged[id] < kMostRecoveries) recover_at.push_back(now_s + kRecoverAgainS);
      return;
    }
  } else if (server.frame_of(id) != entity.motion.frame) {
    // The frame changed between the last batch and the commit; feeding the motion puts the entity into it.
    (void)access.feed(id, entity.motion, entity.tick, world_s(now_s), kGhostSilenceS);
  }
  access.hold(id, state, baggage.priors, memory);
  if (baggage.route != 0) (void)server.follow(id, {baggage.route});
  for (std::size_t i = 0; i < entity.fields.size(); ++i)
    (void)server.set_field(id, i, entity.fields[i]);
  (void)server.set_relevance(id, entity.relevance);
  (void)server.set_groups(id, entity.groups);
  Held h;
  h.epoch = epoch;
  h.revision = revision;
  h.confirmed = true;
  h.cell = cell_of(id, entity.cell);
  h.cause = adopted ? Cause::adopted : Cause::handed_over;
  h.data = std::move(baggage.data);
  h.inherited = baggage.priors;
  h.checkpoint_tick = baggage.checkpoint_tick;
  if (!adopted) h.checkpoint_s = now_s + std::min(0.0, ahead_s(baggage.checkpoint_tick));
  for (Correspondence& c : baggage.mail) {
    Held::Conversation& mine = h.mail[c.client];
    mine.inbox.resume(c.received);
    mine.polled = c.received;
    mine.outbox.resume(c.sent + (adopted ? kLostLetters : 0), std::move(c.waiting));
  }
  SimulatorEvent event{SimulatorEvent::Kind::acquired, id, h.data, adopted};
  mirror.hold(id, epoch, h.cell, entity.archetype, revision);
  held.insert_or_assign(id, std::move(h));
  events.push_back(std::move(event));
  ++(adopted ? stats.adopted : stats.handovers_in);
}

}  // namespace reckoner::cluster
