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

// Fair share between entities when not everything fits: those that wait longest go first.
bool waits_longer(Tick a, Tick b) {
  return static_cast<std::int32_t>(a - b) < 0;
}

}  // namespace

Session::Session(ClientId id, PeerId peer, const ServerConfig& config)
    : id_(id),
      peer_(peer),
      bytes_per_second_(static_cast<double>(config.bytes_per_second)),
      heartbeat_s_(config.heartbeat_s),
      tick_s_(1.0 / config.tick_rate_hz) {}

void Session::announce(const Entity& entity, Tick tick, std::span<const Archetype> archetypes,
                       Transport& transport) {
  SpawnMessage message;
  message.entity = entity.id;
  message.archetype = static_cast<std::uint8_t>(entity.archetype);
  message.name = entity.name;
  message.tick = tick;
  message.motion_tick = entity.published_tick;
  message.orientation_bits =
      static_cast<std::uint8_t>(quantisation_for(archetypes[entity.archetype]).orientation_bits);
  message.state = entity.encoded;

  std::array<std::byte, 1024> buffer;
  transport.send(peer_, Channel::control, encode(message, buffer));

  const std::size_t slot = entity.id.slot();
  if (slot >= known_.size()) known_.resize(slot + 1);
  known_[slot] = {};
  known_[slot].id = entity.id;
  known_[slot].announcement = ++control_sent_;
  known_[slot].sent_tick = entity.published_tick;
}

void Session::retract(EntityId id, Tick tick, Transport& transport) {
  if (id.slot() >= known_.size() || known_[id.slot()].id != id) return;
  std::array<std::byte, 64> buffer;
  transport.send(peer_, Channel::control, encode(DespawnMessage{id, tick}, buffer));
  ++control_sent_;
  known_[id.slot()] = {};
}

void Session::published(const Entity& entity, Tick tick) {
  const std::size_t slot = entity.id.slot();
  if (slot >= known_.size() || known_[slot].id != entity.id || !known_[slot].confirmed) return;
  set_due(known_[slot], tick, false);
}

void Session::set_due(Known& known, Tick since, bool repair) {
  known.repair = repair;
  if (known.due) return;
  known.due = true;
  known.due_since = since;
  due_.push_back(static_cast<std::uint32_t>(known.id.slot()));
}

bool Session::receive(const ClientDatagram& datagram, double now_s, const EntityTable& entities, Tick tick,
                      ServerStats& stats) {
  const std::uint32_t confirmed = unwrap16(datagram.control_count, control_confirmed_);
  if (static_cast<std::int32_t>(confirmed - control_sent_) > 0) return false;
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
  settle(entities, tick, stats);
  confirm(datagram.control_count, entities, tick);
  return true;
}

void Session::confirm(std::uint16_t control_count, const EntityTable& entities, Tick tick) {
  const std::uint32_t confirmed = unwrap16(control_count, control_confirmed_);
  if (static_cast<std::int32_t>(confirmed - control_confirmed_) <= 0) return;
  control_confirmed_ = confirmed;
  for (Known& known : known_) {
    if (!known.id || known.confirmed) continue;
    if (static_cast<std::int32_t>(known.announcement - confirmed) > 0) continue;
    known.confirmed = true;
    const Entity* entity = entities.find(known.id);
    // It was published again while the announcement was on its way.
    if (entity != nullptr && entity->published_tick != known.sent_tick) set_due(known, tick, false);
  }
}

void Session::settle(const EntityTable& entities, Tick tick, ServerStats& stats) {
  for (const SentWindow::Outcome& outcome : sent_.outcomes()) {
    std::vector<Carried>& carried = in_flight_[outcome.sequence % SentWindow::kCapacity];
    if (!outcome.acked) {
      ++stats.datagrams_lost;
      for (const Carried& c : carried) {
        Known& known = known_[c.id.slot()];
        const bool newest = known.id == c.id && known.sent_tick == c.motion_tick;
        if (newest && entities.find(c.id) != nullptr) set_due(known, tick, true);
      }
    }
    carried.clear();
  }
  sent_.clear_outcomes();
}

void Session::send(const EntityTable& entities, std::span<const Quantisation> quantisation, Tick tick,
                   double tick_time_s, double now_s, Transport& transport, ServerStats& stats,
                   std::vector<std::uint32_t>& repaired) {
  if (joined_s_ < 0.0) joined_s_ = now_s;
  sent_.expire(now_s, link_.timeout_s(kAnswerDelayS));
  settle(entities, tick, stats);

  tokens_ = std::min(tokens_ + bytes_per_second_ * tick_s_,
                     std::max(bytes_per_second_ * kBudgetDepthS, 1.0 * kMaxStateBytes));
  std::erase_if(due_, [&](std::uint32_t slot) { return !known_[slot].due; });
  const auto affordable = [&] { return bytes_per_second_ <= 0.0 || tokens_ > 0.0; };
  while (!due_.empty() && affordable()) {
    if (!send_datagram(entities, quantisation, tick, tick_time_s, now_s, transport, stats, repaired)) return;
  }
  const double heartbeat_s = now_s - joined_s_ < kSettlingS ? kSettlingHeartbeatS : heartbeat_s_;
  if (now_s - last_send_s_ >= heartbeat_s - 0.5 * tick_s_) {
    send_datagram(entities, quantisation, tick, tick_time_s, now_s, transport, stats, repaired);
  }
}

std::uint32_t Session::complete_age(Tick tick) const {
  // Nothing is missing before the oldest update that is still owed.
  std::uint32_t age = 0;
  for (const std::uint32_t slot : due_) {
    if (known_[slot].due) age = std::max(age, tick - known_[slot].due_since + 1);
  }
  return age;
}

ServerHeader Session::make_header(Tick tick, double tick_time_s) const {
  ServerHeader header;
  header.tick = static_cast<std::uint16_t>(tick);
  if (received_.any()) header.ack = received_.ack();
  if (stamp_) {
    const double held = std::round((tick_time_s - stamp_arrival_s_) / kStampUnitS);
    if (std::abs(held) <= Echo::kMostHeld) header.echo = Echo{*stamp_, static_cast<std::int32_t>(held)};
  }
  return header;
}

bool Session::send_datagram(const EntityTable& entities, std::span<const Quantisation> quantisation,
                            Tick tick, double tick_time_s, double now_s, Transport& transport,
                            ServerStats& stats, std::vector<std::uint32_t>& repaired) {
  std::array<std::byte, kMaxStateBytes> buffer;
  const std::size_t room = transport.max_state_bytes(peer_);
  if (room == 0) return false;  // the peer is gone; its disconnect is on the way

  // Encode the longest-waiting first until the datagram is full, then put them in order of slot.
  std::sort(due_.begin(), due_.end(), [&](std::uint32_t a, std::uint32_t b) {
    const Tick since_a = known_[a].due_since;
    const Tick since_b = known_[b].due_since;
    return since_a != since_b ? waits_longer(since_a, since_b) : a < b;
  });
  constexpr std::size_t kHeaderBits = 256;  // more than any head of a datagram or an update takes
  constexpr std::size_t kUpdateHeaderBits = 96;
  std::size_t bits = kHeaderBits;
  std::size_t count = 0;
  while (count < due_.size()) {
    const Entity& entity = entities.slots()[due_[count]];
    std::array<std::byte, 128> scratch;
    BitWriter sizing{scratch};
    write_full(sizing, entity.encoded, quantisation[entity.archetype]);
    bits += kUpdateHeaderBits + sizing.bits_written();
    if (bits > room * 8) break;
    ++count;
  }
  std::sort(due_.begin(), due_.begin() + static_cast<std::ptrdiff_t>(count));

  ServerHeader header = make_header(tick, tick_time_s);
  for (std::size_t i = 0; i < count; ++i)
    known_[due_[i]].due = false;
  header.complete_age = complete_age(tick);
  header.sequence = sent_.send(now_s);
  settle(entities, tick, stats);  // a full window gives up its oldest
  std::vector<Carried>& carried = in_flight_[header.sequence % SentWindow::kCapacity];
  carried.clear();

  BitWriter writer{std::span{buffer}.first(room)};
  write(writer, header);
  std::int64_t previous = -1;
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint32_t slot = due_[i];
    const Entity& entity = entities.slots()[slot];
    Known& known = known_[slot];
    write(writer, UpdateHeader{slot, tick - entity.published_tick}, previous);
    write_full(writer, entity.encoded, quantisation[entity.archetype]);
    previous = slot;
    carried.push_back({known.id, entity.published_tick});
    known.sent_tick = entity.published_tick;
    if (known.repair) repaired.push_back(slot);
    ++stats.updates_sent;
    stats.repairs_sent += known.repair ? 1 : 0;
    known.repair = false;
  }
  writer.write(0, 1);
  due_.erase(due_.begin(), due_.begin() + static_cast<std::ptrdiff_t>(count));

  const std::span<const std::byte> payload = writer.finish();
  transport.send(peer_, Channel::state, payload);
  tokens_ -= static_cast<double>(payload.size());
  stamp_.reset();
  last_send_s_ = now_s;
  ++stats.datagrams_sent;
  stats.state_bytes_sent += payload.size();
  return true;
}

}  // namespace reckoner
