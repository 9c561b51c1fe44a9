// SPDX-License-Identifier: MIT
#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
#include <utility>

#include <reckoner/client/client.hpp>
#include <reckoner/net/ack_window.hpp>
#include <reckoner/net/clock_sync.hpp>
#include <reckoner/net/datagram.hpp>
#include <reckoner/net/messages.hpp>

#include "entity_store.hpp"
#include "playout_clock.hpp"

namespace reckoner {
namespace {

// A datagram this much older than the newest is refused: the server uses a slot again only later than that.
constexpr double kOldestDatagramS = 2.0;

// Stamps may lie ahead of the estimated server time by this much before they count as malformed.
constexpr double kFutureS = 1.0;

// Until the clock has settled, the server is asked for the time more often.
constexpr double kSettlingS = 1.0;
constexpr double kSettlingIntervalS = 0.025;
constexpr double kKeepAliveS = 0.25;
constexpr int kExchangesToShow = 3;

std::uint32_t to_stamp(double local_s) {
  const double units = std::fmod(std::floor(local_s / kStampUnitS), double{1u << kStampBits});
  return static_cast<std::uint32_t>(units < 0.0 ? units + double{1u << kStampBits} : units);
}

// The local time of a stamp that came back: the latest before `local_s` that looks like it.
double from_stamp(std::uint32_t stamp, double local_s) {
  const std::uint32_t age = (to_stamp(local_s) - stamp) & ((1u << kStampBits) - 1u);
  return (std::floor(local_s / kStampUnitS) - age) * kStampUnitS;
}

bool is_valid(const ArchetypeLimits& limits) { return limits.threshold_m > 0.0 && limits.threshold_rad > 0.0; }

}  // namespace

struct Client::Impl {
  Impl(ClientConfig given, Transport& given_transport)
      : config(std::move(given)), transport(given_transport), playout(config.playout, config.silence_s) {}

  struct Update {
    std::uint32_t slot;
    Motion motion;
  };

  void handle(const TransportEvent& event, double local_s);
  void handle_end(const TransportEvent& event);
  void handle_control(const TransportEvent& event, double local_s);
  void handle_state(const TransportEvent& event, double local_s);
  [[nodiscard]] bool welcome(const WelcomeMessage& message);
  [[nodiscard]] bool spawn(const SpawnMessage& message);
  [[nodiscard]] bool despawn(const DespawnMessage& message);
  [[nodiscard]] bool read_updates(BitReader& reader, Tick tick);
  void apply_updates(double now_s);
  void note_header(const ServerHeader& header, Tick tick, double local_s);
  void advance(double local_s);
  void blend_over_jump(double before_s, double rate);
  void acknowledge(double local_s);
  void remove(std::uint32_t slot);

  [[nodiscard]] double time_of(Tick tick) const { return epoch_s + tick / tick_rate_hz; }
  [[nodiscard]] double blend_s() const {
    return frames_to_seconds(config.playout.blend_frames, config.playout.frame_rate_hz);
  }
  [[nodiscard]] Path path() const {
    return config.playout.mode == PlayoutMode::present ? Path::predict : Path::interpolate;
  }
  [[nodiscard]] bool clock_ready() const { return clock.known() && exchanges >= kExchangesToShow; }

  ClientConfig config;
  Transport& transport;
  PlayoutClock playout;
  ClockSync clock;
  EntityStore entities;
  std::vector<Quantisation> quantisation;
  std::deque<ClientEvent> events;
  std::vector<ShownEntity> shown;
  std::vector<Update> updates;  // of the datagram being read

  ClientStatus status = ClientStatus::connecting;
  std::string refusal;
  PeerId server;
  double tick_rate_hz = 60.0;
  double epoch_s = 0.0;
  Tick newest_tick = 0;
  int exchanges = 0;

  ReceivedWindow received;
  Sequence newest_sequence = 0;
  std::int64_t sequences_seen = 0;  // from the first to the newest
  double newest_arrival_s = 0.0;
  Sequence next_sequence = 0;
  std::uint16_t control_count = 0;
  bool ack_wanted = false;
  double joined_s = 0.0;
  double last_ack_s = -1e9;
  ClientStats stats;
};

Client::Client(ClientConfig config, Transport& transport)
    : impl_(std::make_unique<Impl>(std::move(config), transport)) {}
Client::~Client() = default;

void Client::receive(double local_s) {
  Impl& c = *impl_;
  c.transport.service(local_s);
  c.advance(local_s);
  while (const auto event = c.transport.poll()) c.handle(*event, local_s);
  c.acknowledge(local_s);
}

std::span<const ShownEntity> Client::frame(double local_s) {
  Impl& c = *impl_;
  c.shown.clear();
  c.advance(local_s);
  if (!c.clock_ready()) return {};
  const double now_s = c.clock.server_time_s(local_s);
  const double shown_s = c.playout.shown_s();
  const auto rate = static_cast<float>(c.playout.rate());
  for (auto& slot : c.entities.slots()) {
    if (!slot) continue;
    KnownEntity& entity = *slot;
    if (entity.despawned_s && shown_s >= *entity.despawned_s) {
      c.remove(static_cast<std::uint32_t>(entity.id.slot()));
      continue;
    }
    if (c.path() == Path::interpolate && shown_s < entity.spawned_s) continue;
    const std::uint8_t teleports = entity.remote.teleports(shown_s);
    if (!entity.visible) {
      entity.visible = true;
      c.events.push_back({ClientEvent::Kind::spawned, entity.id});
    } else if (teleports != entity.teleports_shown) {
      c.events.push_back({ClientEvent::Kind::teleported, entity.id});
    }
    entity.teleports_shown = teleports;
    State state = entity.remote.shown(shown_s);
    state.velocity *= rate;
    state.angular_velocity *= rate;
    c.shown.push_back({entity.id, state, shown_s, now_s - entity.remote.newest().time_s});
  }
  return c.shown;
}

std::optional<ClientEvent> Client::poll_event() {
  if (impl_->events.empty()) return std::nullopt;
  const ClientEvent event = impl_->events.front();
  impl_->events.pop_front();
  return event;
}

ClientStatus Client::status() const { return impl_->status; }
const std::string& Client::refusal() const { return impl_->refusal; }

const EntityInfo* Client::info(EntityId id) const {
  const KnownEntity* entity = std::as_const(impl_->entities).find(id);
  return entity != nullptr ? &entity->info : nullptr;
}

std::optional<double> Client::server_time_s(double local_s) const {
  if (!impl_->clock_ready()) return std::nullopt;
  return impl_->clock.server_time_s(local_s);
}

bool Client::correct(EntityId id, const State& shown, double local_s) {
  KnownEntity* entity = impl_->entities.find(id);
  if (entity == nullptr || !is_sane(shown)) return false;
  impl_->advance(local_s);
  entity->remote.correct(shown, impl_->playout.shown_s(), impl_->blend_s());
  return true;
}

const ClientStats& Client::stats() const { return impl_->stats; }

void Client::leave() {
  if (impl_->server) impl_->transport.disconnect(impl_->server, 0);
}

void Client::Impl::handle(const TransportEvent& event, double local_s) {
  switch (event.kind) {
    case TransportEvent::Kind::connected: {
      server = event.peer;
      status = ClientStatus::joining;
      std::array<std::byte, 64> buffer;
      transport.send(server, Channel::control,
                     encode(JoinMessage{kProtocolVersion, archetype_hash(config.archetypes)}, buffer));
      break;
    }
    case TransportEvent::Kind::disconnected: handle_end(event); break;
    case TransportEvent::Kind::received:
      if (event.channel == Channel::control) {
        handle_control(event, local_s);
      } else {
        handle_state(event, local_s);
      }
      break;
  }
}

void Client::Impl::handle_end(const TransportEvent& event) {
  const EndCode code = unpack_end_code(event.reason);
  const bool was_joined = status == ClientStatus::joined;
  const bool refused = !was_joined && code.reason != EndReason::none;
  if (was_joined || refused) {
    refusal = describe(code);
  } else {
    refusal = status == ClientStatus::connecting ? "the server does not answer" : "the connection was lost";
  }
  status = refused ? ClientStatus::refused : ClientStatus::disconnected;
  server = {};
  const bool closed = code.reason == EndReason::server_shutdown;
  events.push_back({closed ? ClientEvent::Kind::server_closed : ClientEvent::Kind::disconnected, {}});
}

void Client::Impl::handle_control(const TransportEvent& event, double local_s) {
  const auto message = decode_control(event.payload);
  bool ok = message.has_value();
  if (ok) {
    if (const auto* w = std::get_if<WelcomeMessage>(&*message)) {
      ok = status == ClientStatus::joining && welcome(*w);
      if (ok) joined_s = local_s;
    } else {
      // Counted even if it makes no sense: the server numbers what it sends, and both must stay in step.
      ++control_count;
      if (const auto* s = std::get_if<SpawnMessage>(&*message)) {
        ok = status == ClientStatus::joined && spawn(*s);
      } else if (const auto* d = std::get_if<DespawnMessage>(&*message)) {
        ok = status == ClientStatus::joined && despawn(*d);
      } else {
        ok = false;
      }
    }
  } else {
    ++control_count;
  }
  if (!ok) ++stats.malformed;
  ack_wanted = true;
  last_ack_s = -1e9;  // the server waits for this before it sends state
}

bool Client::Impl::welcome(const WelcomeMessage& message) {
  if (message.archetypes.size() != config.archetypes.size() ||
      !std::all_of(message.archetypes.begin(), message.archetypes.end(), is_valid)) {
    return false;
  }
  for (std::size_t i = 0; i < config.archetypes.size(); ++i) {
    const ArchetypeLimits& limits = message.archetypes[i];
    Archetype& archetype = config.archetypes[i];
    archetype.threshold_m = limits.threshold_m;
    archetype.threshold_rad = limits.threshold_rad;
    archetype.max_speed_mps = limits.max_speed_mps;
    archetype.world_size_m = limits.world_size_m;
    quantisation.push_back(quantisation_for(archetype));
  }
  tick_rate_hz = message.tick_rate_hz;
  epoch_s = message.epoch_s;
  newest_tick = message.tick;
  status = ClientStatus::joined;
  events.push_back({ClientEvent::Kind::joined, {}});
  return true;
}

bool Client::Impl::spawn(const SpawnMessage& message) {
  if (message.archetype >= quantisation.size()) return false;
  const Quantisation& q = quantisation[message.archetype];
  if (message.orientation_bits != q.orientation_bits || message.motion_tick > message.tick) return false;
  const auto state = dequantise(message.state, q);
  if (!state) return false;
  newest_tick = std::max(newest_tick, message.tick);
  const Motion motion{*state, time_of(message.motion_tick), message.state.teleports};
  remove(static_cast<std::uint32_t>(message.entity.slot()));
  entities.put({message.entity, {message.archetype, message.name}, RemoteEntity{motion, path()}, motion.time_s,
                std::nullopt, false, motion.teleports});
  return true;
}

bool Client::Impl::despawn(const DespawnMessage& message) {
  KnownEntity* entity = entities.find(message.entity);
  if (entity == nullptr) return false;
  if (path() == Path::predict) {
    remove(static_cast<std::uint32_t>(message.entity.slot()));
  } else {
    entity->despawned_s = time_of(message.tick);
  }
  return true;
}

void Client::Impl::remove(std::uint32_t slot) {
  const KnownEntity* entity = entities.at(slot);
  if (entity == nullptr) return;
  if (entity->visible) events.push_back({ClientEvent::Kind::despawned, entity->id});
  entities.remove(slot);
}

void Client::Impl::handle_state(const TransportEvent& event, double local_s) {
  if (status != ClientStatus::joined) return;  // overtook the welcome; nothing in it can be for us yet
  BitReader reader{event.payload};
  const ServerHeader header = read_server_header(reader);
  const Tick tick = unwrap16(header.tick, newest_tick);
  const double oldest_s = time_of(newest_tick) - kOldestDatagramS;
  const bool from_future = clock_ready() && time_of(tick) > clock.server_time_s(local_s) + kFutureS;
  updates.clear();
  if (reader.failed() || from_future || !read_updates(reader, tick)) {
    ++stats.malformed;
    return;
  }
  if (time_of(tick) < oldest_s || !received.note(header.sequence)) {
    ++stats.updates_stale;
    return;
  }
  ++stats.datagrams_received;
  stats.state_bytes_received += event.payload.size();
  note_header(header, tick, local_s);
  if (clock.known()) playout.note_arrival(clock.server_time_s(local_s));
  advance(local_s);
  apply_updates(clock.known() ? clock.server_time_s(local_s) : time_of(tick));
}

bool Client::Impl::read_updates(BitReader& reader, Tick tick) {
  std::int64_t previous = -1;
  while (const auto update = read_update(reader, previous)) {
    previous = update->slot;
    const auto archetype = entities.archetype_of(update->slot);
    if (!archetype || update->age > tick) return false;
    const Quantisation& q = quantisation[*archetype];
    const QuantisedState encoded = read_full(reader, q);
    if (reader.failed()) return false;
    const auto state = dequantise(encoded, q);
    if (!state) return false;
    updates.push_back({update->slot, {*state, time_of(tick - update->age), encoded.teleports}});
  }
  return reader.finished();
}

void Client::Impl::apply_updates(double now_s) {
  for (const Update& update : updates) {
    KnownEntity* entity = entities.at(update.slot);
    // Despawned meanwhile, or from before this slot's entity began.
    if (entity == nullptr || update.motion.time_s < entity->spawned_s) {
      ++stats.updates_stale;
      continue;
    }
    const double gap_s = update.motion.time_s - entity->remote.newest().time_s;
    if (!entity->remote.receive(update.motion, playout.shown_s(), blend_s())) {
      ++stats.updates_stale;
      continue;
    }
    ++stats.updates_applied;
    if (gap_s > 0.0) playout.note_update(now_s - update.motion.time_s, gap_s);
  }
}

void Client::Impl::note_header(const ServerHeader& header, Tick tick, double local_s) {
  if (received.ack().newest == header.sequence) {
    sequences_seen += sequences_seen == 0 ? 1 : sequence_distance(header.sequence, newest_sequence);
    newest_sequence = header.sequence;
    newest_arrival_s = local_s;
  }
  newest_tick = static_cast<std::int32_t>(tick - newest_tick) > 0 ? tick : newest_tick;
  stats.datagrams_lost = static_cast<std::uint64_t>(
      std::max<std::int64_t>(0, sequences_seen - static_cast<std::int64_t>(stats.datagrams_received)));

  clock.add_arrival(time_of(tick), local_s);
  if (header.echo) {
    const double sent_s = from_stamp(header.echo->stamp, local_s);
    clock.add_exchange(sent_s, time_of(tick) - header.echo->held * kStampUnitS, time_of(tick), local_s);
    ++exchanges;
  }
  if (const auto round_trip_s = clock.round_trip_s()) stats.round_trip_s = *round_trip_s;
  ack_wanted = true;
}

void Client::Impl::advance(double local_s) {
  const bool stepped = clock.advance(local_s);
  if (!clock_ready()) return;
  const double now_s = clock.server_time_s(local_s);
  const double before_s = playout.shown_s();
  const double rate = playout.rate();
  if (playout.advance(now_s) || stepped) blend_over_jump(before_s, rate);
  stats.delay_s = playout.delay_s();
}

void Client::Impl::blend_over_jump(double before_s, double rate) {
  for (auto& slot : entities.slots()) {
    if (!slot || !slot->visible) continue;
    RemoteEntity& remote = slot->remote;
    if (remote.teleports(before_s) != remote.teleports(playout.shown_s())) continue;
    State shown_before = remote.shown(before_s);
    shown_before.velocity *= static_cast<float>(rate);
    shown_before.angular_velocity *= static_cast<float>(rate);
    remote.correct(shown_before, playout.shown_s(), blend_s());
  }
}

void Client::Impl::acknowledge(double local_s) {
  if (status != ClientStatus::joined) return;
  const bool settling = local_s - joined_s < kSettlingS;
  const double interval_s = settling     ? kSettlingIntervalS
                            : ack_wanted ? config.ack_interval_s
                                         : kKeepAliveS;
  if (local_s - last_ack_s < interval_s) return;
  ClientDatagram datagram;
  datagram.sequence = next_sequence++;
  datagram.control_count = control_count;
  datagram.stamp = to_stamp(local_s);
  if (received.any()) {
    datagram.ack = received.ack();
    const double delay_s = std::clamp(local_s - newest_arrival_s, 0.0, 10.0);
    datagram.ack_delay = static_cast<std::uint32_t>(delay_s / kStampUnitS);
  }
  std::array<std::byte, 64> buffer;
  BitWriter writer{buffer};
  write(writer, datagram);
  transport.send(server, Channel::state, writer.finish());
  transport.service(local_s);
  last_ack_s = local_s;
  ack_wanted = false;
}

}  // namespace reckoner
