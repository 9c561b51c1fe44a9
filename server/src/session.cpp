// SPDX-License-Identifier: MIT
#include "session.hpp"

#include <algorithm>
#include <cmath>

namespace reckoner {
namespace {

// The byte budget saves up for this long at most: a burst of publishes passes, a flood does not.
constexpr double kBudgetDepthS = 0.25;

// The client waits this long at most before it acknowledges (ClientConfig::ack_interval_s and its
// keep-alive).
constexpr double kAnswerDelayS = 0.1;

// A new client gets datagrams more often until its clock has settled.
constexpr double kSettlingS = 1.5;
constexpr double kSettlingHeartbeatS = 0.05;

// Announcements on their way at most. Bounds what waits for a slow client, and keeps the count of messages
// taken in, of which 16 bits travel, unambiguous.
constexpr std::uint32_t kMostUnconfirmed = 4096;

// More than the head of a datagram and its end ever take.
constexpr std::size_t kHeaderBits = 256;

constexpr bool earlier(Tick a, Tick b) {
  return static_cast<std::int32_t>(a - b) < 0;
}

}  // namespace

Session::Session(ClientId id, PeerId peer, const ServerConfig& config)
    : id_(id),
      peer_(peer),
      bytes_per_second_(static_cast<double>(config.bytes_per_second)),
      heartbeat_s_(config.heartbeat_s),
      tick_s_(1.0 / config.tick_rate_hz) {}

void Session::tell_route(const RouteMessage& message, Transport& transport) {
  std::vector<std::byte> buffer(kMaxControlBytes);
  transport.send(peer_, Channel::control, encode(message, buffer));
  routes_.push_back(++control_sent_);
}

bool Session::knows_route(RouteId route) const {
  return !route || (route.value <= routes_.size() && !earlier(control_confirmed_, routes_[route.value - 1]));
}

void Session::announce(const Entity& entity) {
  const std::size_t slot = entity.id.slot();
  if (slot >= known_.size()) known_.resize(slot + 1);
  known_[slot] = {};
  known_[slot].id = entity.id;
  untold_.push_back({entity.id, entity.published_tick, 0});
}

void Session::retract(EntityId id, Tick tick, Transport& transport) {
  if (id.slot() >= known_.size() || known_[id.slot()].id != id) return;
  if (known_[id.slot()].told) {
    std::array<std::byte, 64> buffer;
    transport.send(peer_, Channel::control, encode(DespawnMessage{id, tick}, buffer));
    unconfirmed_.push_back({id, tick, ++control_sent_});
  }
  known_[id.slot()] = {};
}

void Session::published(const Entity& entity, Tick tick) {
  const std::size_t slot = entity.id.slot();
  if (slot >= known_.size() || known_[slot].id != entity.id || !known_[slot].confirmed) return;
  set_due(known_[slot], tick, false);
}

void Session::set_due(Known& known, Tick since, bool repair) {
  known.repair = repair && (known.repair || !known.due);
  known.due_since = known.due && earlier(known.due_since, since) ? known.due_since : since;
  if (known.due) return;
  known.due = true;
  due_.push_back(static_cast<std::uint32_t>(known.id.slot()));
}

bool Session::receive(const ClientDatagram& datagram, double now_s, const EntityTable& entities,
                      ServerStats& stats) {
  const std::uint32_t confirmed = unwrap16(datagram.control_count, control_confirmed_);
  if (earlier(control_sent_, confirmed)) return false;
  if (datagram.ack && !sent_.acknowledge(*datagram.ack)) return false;
  const bool newest = !received_.any() || sequence_distance(datagram.sequence, received_.ack().newest) > 0;
  if (!received_.note(datagram.sequence)) return true;  // a duplicate: harmless, but told before

  if (newest) {
    stamp_ = datagram.stamp;
    stamp_arrival_s_ = now_s;
  }
  for (const SentWindow::Outcome& outcome : sent_.outcomes()) {
    if (outcome.acked && outcome.sequence == datagram.ack->newest) {
      link_.add(now_s - outcome.sent_s - datagram.ack_delay * kStampUnitS);
    }
  }
  settle(entities, stats);
  if (earlier(control_confirmed_, confirmed)) confirm(confirmed, entities);
  return true;
}

void Session::confirm(std::uint32_t control_count, const EntityTable& entities) {
  control_confirmed_ = control_count;
  while (!unconfirmed_.empty() && !earlier(control_count, unconfirmed_.front().number)) {
    const EntityId id = unconfirmed_.front().id;
    unconfirmed_.pop_front();
    Known& known = known_[id.slot()];
    if (known.id != id) continue;  // a despawn, or despawned meanwhile
    known.confirmed = true;
    const Entity* entity = entities.find(id);
    // It was published again while the announcement was on its way.
    if (entity != nullptr && entity->published_tick != known.sent_tick) {
      set_due(known, known.sent_tick + 1, false);
    }
  }
}

void Session::settle(const EntityTable& entities, ServerStats& stats) {
  for (const SentWindow::Outcome& outcome : sent_.outcomes()) {
    std::vector<Carried>& carried = in_flight_[outcome.sequence % SentWindow::kCapacity];
    if (!outcome.acked) {
      ++stats.datagrams_lost;
      for (const Carried& c : carried) {
        Known& known = known_[c.id.slot()];
        const bool newest = known.id == c.id && known.sent_tick == c.motion_tick;
        if (newest && entities.find(c.id) != nullptr) set_due(known, c.motion_tick, true);
      }
    }
    carried.clear();
  }
  sent_.clear_outcomes();
}

void Session::tell(const Step& step) {
  while (!untold_.empty() && control_sent_ - control_confirmed_ < kMostUnconfirmed) {
    const Entity* entity = step.entities.find(untold_.front().id);
    untold_.pop_front();
    if (entity != nullptr) tell_of(*entity, step);  // null: gone before its turn came
  }
}

void Session::tell_of(const Entity& entity, const Step& step) {
  SpawnMessage message;
  message.entity = entity.id;
  message.archetype = static_cast<std::uint8_t>(entity.archetype);
  message.name = entity.name;
  message.tick = step.tick;
  message.motion_tick = entity.published_tick;
  message.orientation_bits = static_cast<std::uint8_t>(step.quantisation[entity.archetype].orientation_bits);
  message.state = entity.encoded;
  std::array<std::byte, 1024> buffer;
  step.transport.send(peer_, Channel::control, encode(message, buffer));

  Known& known = known_[entity.id.slot()];
  known.told = true;
  known.sent_tick = entity.published_tick;
  unconfirmed_.push_back({entity.id, entity.published_tick, ++control_sent_});
}

void Session::send(const Step& step) {
  if (joined_s_ < 0.0) joined_s_ = step.now_s;
  tell(step);
  sent_.expire(step.now_s, link_.timeout_s(kAnswerDelayS));
  settle(step.entities, step.stats);

  tokens_ = std::min(tokens_ + bytes_per_second_ * tick_s_,
                     std::max(bytes_per_second_ * kBudgetDepthS, 1.0 * kMaxStateBytes));
  // Fair share when not everything fits: what waits longest goes first.
  due_.insert(due_.end(), held_.begin(), held_.end());
  std::erase_if(due_, [&](std::uint32_t slot) { return !known_[slot].due; });
  const auto held = std::partition(due_.begin(), due_.end(), [&](std::uint32_t slot) {
    return knows_route(step.entities.slots()[slot].encoded.along.route);
  });
  held_.assign(held, due_.end());
  due_.erase(held, due_.end());
  std::sort(due_.begin(), due_.end(), [&](std::uint32_t a, std::uint32_t b) {
    const Tick since_a = known_[a].due_since;
    const Tick since_b = known_[b].due_since;
    return since_a != since_b ? earlier(since_a, since_b) : a < b;
  });
  const auto affordable = [&] { return bytes_per_second_ <= 0.0 || tokens_ > 0.0; };
  while (!due_.empty() && affordable()) {
    if (send_datagram(step, true) == 0) break;
  }
  const double heartbeat_s = step.now_s - joined_s_ < kSettlingS ? kSettlingHeartbeatS : heartbeat_s_;
  if (step.now_s - last_send_s_ >= heartbeat_s - 0.5 * tick_s_) send_datagram(step, affordable());
}

std::uint32_t Session::complete_age(Tick tick) const {
  // Nothing is missing before the oldest that is still owed.
  Tick oldest = tick + 1;
  const auto note = [&](Tick since) { oldest = earlier(since, oldest) ? since : oldest; };
  for (const std::vector<std::uint32_t>* owed : {&due_, &held_}) {
    for (const std::uint32_t slot : *owed) {
      if (known_[slot].due) note(known_[slot].due_since);
    }
  }
  for (const Unconfirmed& u : unconfirmed_)
    note(u.since);
  for (const Unconfirmed& u : untold_)
    note(u.since);
  return tick + 1 - oldest;
}

ServerHeader Session::make_header(const Step& step) const {
  ServerHeader header;
  header.tick = static_cast<std::uint16_t>(step.tick);
  header.complete_age = complete_age(step.tick);
  if (received_.any()) header.ack = received_.ack();
  if (stamp_) {
    const double held = std::round((step.tick_time_s - stamp_arrival_s_) / kStampUnitS);
    if (std::abs(held) <= Echo::kMostHeld) header.echo = Echo{*stamp_, static_cast<std::int32_t>(held)};
  }
  return header;
}

// How many of the first due updates fit into a datagram.
std::size_t Session::choose(const Step& step, std::size_t room) const {
  std::size_t bits = kHeaderBits;
  std::size_t count = 0;
  for (; count < due_.size(); ++count) {
    const Entity& entity = step.entities.slots()[due_[count]];
    std::array<std::byte, 128> scratch;
    BitWriter sizing{scratch};
    // As if it were the first: the gap to the update before it only makes the head shorter.
    write(sizing, UpdateHeader{due_[count], step.tick - entity.published_tick}, -1);
    write_full(sizing, entity.encoded, step.quantisation[entity.archetype]);
    bits += sizing.bits_written();
    if (bits > room * 8) break;
  }
  return count;
}

std::size_t Session::send_datagram(const Step& step, bool with_updates) {
  std::array<std::byte, kMaxStateBytes> buffer;
  const std::size_t room = step.transport.max_state_bytes(peer_);
  if (room == 0) return 0;  // the peer is gone; its disconnect is on the way

  // First of all, because a full window gives up its oldest datagram, which may make more due.
  const Sequence sequence = sent_.send(step.now_s);
  settle(step.entities, step.stats);
  const std::size_t count = with_updates ? choose(step, room) : 0;
  std::sort(due_.begin(), due_.begin() + static_cast<std::ptrdiff_t>(count));
  for (std::size_t i = 0; i < count; ++i)
    known_[due_[i]].due = false;

  ServerHeader header = make_header(step);
  header.sequence = sequence;
  BitWriter writer{std::span{buffer}.first(room)};
  write(writer, header);
  write_updates(step, count, in_flight_[sequence % SentWindow::kCapacity], writer);
  due_.erase(due_.begin(), due_.begin() + static_cast<std::ptrdiff_t>(count));

  const std::span<const std::byte> payload = writer.finish();
  step.transport.send(peer_, Channel::state, payload);
  tokens_ -= static_cast<double>(payload.size());
  stamp_.reset();
  last_send_s_ = step.now_s;
  ++step.stats.datagrams_sent;
  step.stats.state_bytes_sent += payload.size();
  return count;
}

void Session::note_update(const Entity& entity, std::size_t bits, ServerStats& stats) {
  stats.update_bits_sent += bits;
  if (!entity.encoded.along.route) return;
  stats.route_bits_sent += bits;
  ++stats.route_updates_sent;
}

// Writes the first `count` due updates, which are in order of slot, and notes them as carried.
void Session::write_updates(const Step& step, std::size_t count, std::vector<Carried>& carried,
                            BitWriter& writer) {
  std::int64_t previous = -1;
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint32_t slot = due_[i];
    const Entity& entity = step.entities.slots()[slot];
    Known& known = known_[slot];
    const std::size_t bits_before = writer.bits_written();
    write(writer, UpdateHeader{slot, step.tick - entity.published_tick}, previous);
    write_full(writer, entity.encoded, step.quantisation[entity.archetype]);
    note_update(entity, writer.bits_written() - bits_before, step.stats);
    previous = slot;
    carried.push_back({known.id, entity.published_tick});
    known.sent_tick = entity.published_tick;
    if (known.repair) step.repaired.push_back(slot);
    ++step.stats.updates_sent;
    step.stats.repairs_sent += known.repair ? 1 : 0;
    known.repair = false;
  }
  writer.write(0, 1);
}

}  // namespace reckoner
