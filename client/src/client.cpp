// SPDX-License-Identifier: MIT
#include "client_mail.hpp"
#include "entity_store.hpp"
#include "frames.hpp"
#include "frozen_frame.hpp"
#include "hold_limit.hpp"
#include "playout_clock.hpp"
#include "server_link.hpp"
#include "shown_batch.hpp"
#include "shown_debug.hpp"
#include "waiting_fields.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <deque>
#include <limits>
#include <utility>

#include <reckoner/client/client.hpp>
#include <reckoner/net/field_codec.hpp>
#include <reckoner/net/messages.hpp>

namespace reckoner {
namespace {

// An update that has arrived takes so long until it shows: half a blend.
constexpr double kTakesEffectS = 0.05;

// What has fallen behind by some time is caught up in as much time, so that it overtakes at a speed like its
// own; at most so long.
constexpr double kLongestCatchUpS = 0.5;

}  // namespace

struct Client::Impl {
  Impl(ClientConfig given, Transport& given_transport)
      : config(std::move(given)),
        transport(given_transport),
        playout(config.playout),
        holds(config.silence_s, config.unconfirmed_s) {
    for ([[maybe_unused]] const Archetype& archetype : config.archetypes)
      assert(is_valid(archetype.fields));
  }

  void handle(const TransportEvent& event, double local_s);
  void handle_end(const TransportEvent& event);
  void handle_control(const TransportEvent& event, double local_s);
  [[nodiscard]] std::optional<Refusal> handle_message(const ControlMessage& message, double local_s);
  void handle_state(const TransportEvent& event, double local_s);
  [[nodiscard]] std::optional<Refusal> spawn(const SpawnMessage& message);
  [[nodiscard]] std::optional<Refusal> despawn(const DespawnMessage& message);
  [[nodiscard]] std::optional<Refusal> own(const OwnershipMessage& message, double local_s);
  void apply(std::span<const ServerLink::Update> updates, double local_s);
  void advance(double local_s);
  void apply(std::span<const ServerLink::FieldUpdate> updates);
  void change_fields(double shown_s);
  void note_polled(const ClientEvent& event);
  void show_own(KnownEntity& entity, const Motion& motion);
  void acknowledge(double local_s);
  void note_arrival(double local_s);
  void review_holds(double before_s);
  void blend_over_jump(double before_s, double rate);
  void remove(std::uint32_t slot, double ended_s);
  void settle_frames(double shown_s);
  [[nodiscard]] bool appear(KnownEntity& entity, double shown_s);
  void resume(double paused_s);

  [[nodiscard]] double blend_s() const {
    return frames_to_seconds(config.playout.blend_frames, config.playout.frame_rate_hz);
  }
  // What has fallen behind by `behind_s` is caught up in as much time.
  [[nodiscard]] double catch_up_s(double behind_s) const {
    return std::max(blend_s(), std::min(std::abs(behind_s), kLongestCatchUpS));
  }
  // What is left of that: an update in the middle of it does not make it a leap.
  [[nodiscard]] double catch_up_left_s(const Blend& blend, double shown_s) const {
    return blend.duration_s() > blend_s() ? blend.start_s() + blend.duration_s() - shown_s : 0.0;
  }
  [[nodiscard]] Path path() const {
    return config.playout.mode == PlayoutMode::present ? Path::predict : Path::interpolate;
  }

  ClientConfig config;
  Transport& transport;
  ServerLink link;
  PlayoutClock playout;
  HoldLimit holds;
  bool some_fade = false;  // some entity has a limit
  EntityStore entities;
  Frames frames{entities};
  glm::dvec3 origin{0.0};  // that what is shown counts from
  std::deque<ClientEvent> events;
  std::vector<ShownEntity> shown;
  ShownBatch batch;
  FrozenFrame frozen;        // what a paused client shows
  double paused_at_s = 0.0;  // server time
  WaitingFields waiting_fields;
  ClientMail mail;
  double last_local_s = 0.0;  // of the last receive()

  ClientStatus status = ClientStatus::connecting;
  std::string refusal;
  PeerId server;
  bool leaving = false;
  ClientStats stats;
};

Client::Client(ClientConfig config, Transport& transport)
    : impl_(std::make_unique<Impl>(std::move(config), transport)) {}
Client::~Client() = default;

void Client::receive(double local_s) {
  Impl& c = *impl_;
  c.last_local_s = local_s;
  c.transport.service(local_s);
  c.advance(local_s);
  while (const auto event = c.transport.poll())
    c.handle(*event, local_s);
  c.acknowledge(local_s);
}

std::span<const ShownEntity> Client::frame(double local_s) {
  Impl& c = *impl_;
  c.shown.clear();
  c.advance(local_s);
  if (!c.link.clock_ready()) return {};
  if (c.frozen.active()) return c.frozen.shown(c.entities, c.origin);
  const double now_s = c.link.server_time_s(local_s);
  const double shown_s = c.playout.shown_s();
  const auto rate = static_cast<float>(c.playout.rate());
  c.change_fields(shown_s);
  c.settle_frames(shown_s);
  for (const auto& slot : c.entities.slots()) {
    if (!slot) continue;
    KnownEntity& entity = *slot;
    if (!c.appear(entity, shown_s)) continue;
    const State local = entity.remote.shown(shown_s);
    const FrameId frame = entity.remote.frame(shown_s);
    const State* in = frame ? c.frames.at(frame) : nullptr;
    if (frame && in == nullptr) continue;
    State state = in != nullptr ? out_of_frame(*in, local) : local;
    state.position -= c.origin;
    if (entity.owned) {  // it is the present, whatever is shown of others
      c.shown.push_back(
          {entity.id, at_rate(state, rate), now_s, 0.0, nullptr, entity_of(frame), at_rate(local, rate)});
      continue;
    }
    c.shown.push_back({entity.id, at_rate(state, rate), shown_s, now_s - entity.remote.newest().time_s,
                       entity.remote.route(shown_s), entity_of(frame), at_rate(local, rate)});
  }
  return c.shown;
}

ShownPoses Client::sample(double local_s) {
  Impl& c = *impl_;
  c.advance(local_s);
  if (!c.link.clock_ready()) return {};
  if (c.frozen.active()) return c.frozen.poses(c.entities, c.origin);
  const double shown_s = c.playout.shown_s();
  c.change_fields(shown_s);
  c.settle_frames(shown_s);
  c.entities.visit_changed([&](std::uint32_t slot, KnownEntity* entity) {
    c.batch.update(slot, entity);
    // What is in the batch appears or jumps by a change only; the others, below, in their own time.
    if (entity != nullptr && c.batch.holds(slot)) (void)c.appear(*entity, shown_s);
  });
  for (const std::uint32_t slot : c.batch.alone()) {
    if (const auto& entity = c.entities.slots()[slot]) (void)c.appear(*entity, shown_s);
  }
  c.batch.sample(shown_s, c.entities, c.frames, c.origin);
  return {c.batch.ids(), c.batch.positions(), c.batch.orientations(), shown_s};
}

void Client::set_paused(bool paused, double local_s) {
  Impl& c = *impl_;
  if (paused == c.frozen.active()) return;
  if (paused) {
    c.frozen.freeze(frame(local_s), c.origin);
    c.paused_at_s = c.playout.now_s();
  } else {
    c.frozen.thaw();
    c.advance(local_s);
    c.resume(c.playout.now_s() - c.paused_at_s);
  }
  c.link.note_jump();
}

std::optional<ClientEvent> Client::poll_event() {
  if (impl_->events.empty()) return std::nullopt;
  const ClientEvent event = impl_->events.front();
  impl_->events.pop_front();
  impl_->note_polled(event);
  return event;
}

ClientStatus Client::status() const {
  return impl_->status;
}
const std::string& Client::refusal() const {
  return impl_->refusal;
}

const EntityInfo* Client::info(EntityId id) const {
  const KnownEntity* entity = std::as_const(impl_->entities).find(id);
  return entity != nullptr ? &entity->info : nullptr;
}

const FieldValue* Client::field(EntityId id, std::size_t field) const {
  const KnownEntity* entity = std::as_const(impl_->entities).find(id);
  return entity != nullptr && field < entity->fields.size() ? &entity->fields.value(field) : nullptr;
}

bool Client::send(std::span<const std::byte> payload, Delivery delivery, std::optional<double> time_s) {
  Impl& c = *impl_;
  if (c.status != ClientStatus::joined ||
      !c.mail.send(payload, delivery, time_s, c.last_local_s, c.server, c.transport, c.stats)) {
    return false;
  }
  if (c.link.rewinds()) c.link.hurry();  // the message may be about what is shown just now
  return true;
}

std::optional<GameMessage> Client::poll_message() {
  return impl_->mail.poll();
}

std::optional<double> Client::server_time_s(double local_s) const {
  if (!impl_->link.clock_ready()) return std::nullopt;
  return impl_->link.server_time_s(local_s);
}

bool Client::correct(EntityId id, const State& shown, double local_s) {
  KnownEntity* entity = impl_->entities.find(id);
  impl_->advance(local_s);
  if (entity == nullptr || !entity->visible || entity->owned || !is_sane(shown)) return false;
  // Blends run in shown time.
  const auto per_shown_second = static_cast<float>(1.0 / impl_->playout.rate());
  State in_shown_time = shown;
  in_shown_time.velocity *= per_shown_second;
  in_shown_time.angular_velocity *= per_shown_second;
  in_shown_time.position += impl_->origin;
  const double shown_s = impl_->playout.shown_s();
  const auto local = impl_->frames.carried(in_shown_time, FrameId{}, entity->remote.frame(shown_s), shown_s);
  if (!local) return false;
  entity->remote.correct(*local, shown_s, impl_->blend_s());
  return true;
}

bool Client::set_origin(const glm::dvec3& origin) {
  if (!std::isfinite(origin.x) || !std::isfinite(origin.y) || !std::isfinite(origin.z)) return false;
  impl_->origin = origin;
  return true;
}

bool Client::move(EntityId id, const State& state, double local_s, EntityId frame) {
  Impl& c = *impl_;
  c.advance(local_s);
  KnownEntity* entity = c.entities.find(id);
  if (entity == nullptr || !entity->owned || entity->possession.unpolled > 0 || !c.link.clock_ready())
    return false;
  OwnedEntity& own = *c.link.owned().find(id);
  const double ahead_s = c.link.owned().one_way_s() + entity->possession.viewers_s + kTakesEffectS;
  const double shown_s = c.playout.shown_s();
  if (frame && !c.frames.can_hold(frame_of(frame), id, shown_s)) return false;
  Motion motion{.state = state, .time_s = shown_s, .frame = frame_of(frame)};
  if (!frame) motion.state.position += c.origin;
  if (!is_sane(motion.state) ||
      !own.move(motion.state, motion.frame, c.link.server_time_s(local_s), ahead_s)) {
    return false;
  }
  motion.teleports = own.teleports();
  c.show_own(*entity, motion);
  c.acknowledge(local_s);
  return true;
}

std::optional<State> Client::owned(EntityId id, double local_s) const {
  const KnownEntity* entity = std::as_const(impl_->entities).find(id);
  if (entity == nullptr || !entity->owned || !impl_->link.clock_known()) return std::nullopt;
  const Motion& go_on = entity->possession.go_on;
  State state = state_at(go_on, impl_->link.server_time_s(local_s));
  if (!go_on.frame) state.position -= impl_->origin;
  return state;
}

EntityId Client::owned_frame(EntityId id) const {
  const KnownEntity* entity = std::as_const(impl_->entities).find(id);
  return entity != nullptr && entity->owned ? entity_of(entity->possession.go_on.frame) : EntityId{};
}

std::optional<ShownDebug> Client::debug(EntityId id) const {
  const Impl& c = *impl_;
  const KnownEntity* entity = std::as_const(c.entities).find(id);
  if (entity == nullptr || !entity->visible || !c.link.clock_ready()) return std::nullopt;
  auto debug = debug_of(*entity, c.frames, c.playout.now_s(), c.playout.shown_s());
  if (!debug) return std::nullopt;
  const Archetype& archetype = c.config.archetypes[entity->info.archetype];
  debug->threshold_m = archetype.threshold_m;
  debug->threshold_rad = archetype.threshold_rad;
  debug->shown.position -= c.origin;
  debug->motion.position -= c.origin;
  return debug;
}

const ClientStats& Client::stats() const {
  return impl_->stats;
}

void Client::leave() {
  impl_->leaving = true;
  if (impl_->server) impl_->transport.disconnect(impl_->server, 0);
}

void Client::Impl::handle(const TransportEvent& event, double local_s) {
  switch (event.kind) {
    case TransportEvent::Kind::connected: {
      server = event.peer;
      if (leaving) return transport.disconnect(server, 0);
      status = ClientStatus::joining;
      std::array<std::byte, 64> buffer;
      transport.send(server, Channel::control,
                     encode(JoinMessage{kProtocolVersion, archetype_hash(config.archetypes),
                                        config.playout.mode != PlayoutMode::present,
                                        std::clamp(blend_s(), 0.0, kMostBlendS)},
                            buffer));
      break;
    }
    case TransportEvent::Kind::disconnected:
      handle_end(event);
      break;
    case TransportEvent::Kind::received:
      note_arrival(local_s);
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
  std::span<const std::byte> left = event.payload;
  do {
    const auto message = take_control(left);
    const bool welcome = message && std::holds_alternative<WelcomeMessage>(*message);
    // Counted even if it makes no sense: the server numbers what it sends, and both must stay in step.
    if (!welcome) link.note_control();
    const auto why = message ? handle_message(*message, local_s) : Refusal::malformed;
    if (!why) continue;
    ++stats.malformed;
    ++stats.refusals[*why];
  } while (!left.empty());
  link.hurry();  // the server waits for this before it sends state
}

// Why the message makes no sense now, or nothing.
std::optional<Refusal> Client::Impl::handle_message(const ControlMessage& message, double local_s) {
  if (const auto* w = std::get_if<WelcomeMessage>(&message)) {
    if (status != ClientStatus::joining) return Refusal::unexpected;
    if (!link.join(*w, config.archetypes, local_s)) return Refusal::beyond_limits;
    status = ClientStatus::joined;
    playout.expect_gaps(w->longest_gap_s);
    events.push_back({ClientEvent::Kind::joined, {}});
    return std::nullopt;
  }
  if (status != ClientStatus::joined) return Refusal::unexpected;
  if (const auto* s = std::get_if<SpawnMessage>(&message)) return spawn(*s);
  if (const auto* d = std::get_if<DespawnMessage>(&message)) return despawn(*d);
  if (const auto* r = std::get_if<RouteMessage>(&message)) {
    return link.add_route(*r) ? std::nullopt : std::optional{Refusal::unknown_route};
  }
  if (const auto* o = std::get_if<OwnershipMessage>(&message)) return own(*o, local_s);
  const auto* m = std::get_if<GameDataMessage>(&message);
  if (m == nullptr) return Refusal::unexpected;
  mail.receive(m->payload, m->time_s, stats);
  return std::nullopt;
}

std::optional<Refusal> Client::Impl::spawn(const SpawnMessage& message) {
  const Quantisation* q = link.quantisation(message.archetype);
  if (q == nullptr || message.orientation_bits != q->orientation_bits) return Refusal::beyond_limits;
  if (message.motion_tick > message.tick || link.is_far_ahead(message.tick)) return Refusal::from_future;
  const auto decoded = motion_of(message.state, link.time_of(message.motion_tick), *q, link.routes());
  if (!decoded) return why_no_motion(message.state, link.routes());
  std::vector<FieldValue> values;
  BitReader reader{message.fields};
  read_values(reader, config.archetypes[message.archetype].fields, values);
  if (!reader.finished()) return Refusal::malformed;
  link.note_tick(message.tick);
  const Motion& motion = *decoded;
  // Whatever it lives in was announced before.
  if (motion.frame && (motion.frame == frame_of(message.entity) ||
                       std::as_const(entities).find(entity_of(motion.frame)) == nullptr))
    return Refusal::unknown_frame;
  remove(static_cast<std::uint32_t>(message.entity.slot()), link.time_of(message.tick));
  entities.put({message.entity,
                {message.archetype, message.name},
                RemoteEntity{motion, path()},
                motion.time_s,
                std::nullopt,
                false,
                motion.teleports,
                FieldTimeline{std::move(values), link.time_of(message.tick)},
                motion.frame});
  frames.note(static_cast<std::uint32_t>(message.entity.slot()), motion);
  entities.references(static_cast<std::uint32_t>(message.entity.slot()))
      ->note(message.level, message.motion_tick, message.state);
  return std::nullopt;
}

// Whose an entity is. What its game says of one that is this client's is shown as if it were the newest
// motion of the server's, made for the instant that is shown.
std::optional<Refusal> Client::Impl::own(const OwnershipMessage& message, double local_s) {
  using News = OwnershipMessage::News;
  KnownEntity* entity = entities.find(message.entity);
  if (entity == nullptr || (message.news != News::given && !entity->owned)) return Refusal::unknown_entity;
  Possession& possession = entity->possession;
  possession.viewers_s = message.viewers_s;
  if (message.news == News::again) {
    link.owned().find(message.entity)->say_again();
    return std::nullopt;
  }
  const double shown_s = playout.shown_s();
  if (message.news == News::taken) {
    const State before = entity->remote.shown(shown_s);
    Motion last{before, link.clock_known() ? link.server_time_s(local_s) : shown_s,
                entity->remote.newest().teleports};
    last.frame = entity->remote.frame(shown_s);
    entity->remote = RemoteEntity{last, path()};
    entity->remote.correct(before, shown_s, blend_s());
    entity->owned = false;
    link.owned().remove(message.entity);
    events.push_back({ClientEvent::Kind::taken, message.entity});
    return std::nullopt;
  }
  const Quantisation& q = *link.quantisation(entity->info.archetype);
  if (message.orientation_bits != q.orientation_bits) return Refusal::beyond_limits;
  const auto motion = motion_of(message.state, link.time_of(message.motion_tick), q, link.routes());
  if (!motion) return why_no_motion(message.state, link.routes());
  if (motion->route != nullptr) return Refusal::unexpected;
  if (motion->frame && std::as_const(entities).find(entity_of(motion->frame)) == nullptr)
    return Refusal::unknown_frame;
  if (OwnedEntity* known = link.owned().find(message.entity)) {
    known->restart(message.term, *motion);
  } else {
    link.owned().add(message.entity, OwnedEntity{config.archetypes[entity->info.archetype], q, link.clock(),
                                                 config.owned_updates_per_second, message.term, *motion});
    possession.unpolled = 0;
    entity->remote.set_path(Path::predict, shown_s, blend_s());
  }
  entity->owned = true;
  possession.go_on = *motion;
  possession.moved = false;
  ++possession.unpolled;
  const bool corrected = message.news == News::corrected;
  stats.corrections += corrected ? 1 : 0;
  events.push_back({corrected ? ClientEvent::Kind::corrected : ClientEvent::Kind::given, message.entity});
  return std::nullopt;
}

void Client::Impl::note_polled(const ClientEvent& event) {
  if (event.kind != ClientEvent::Kind::given && event.kind != ClientEvent::Kind::corrected) return;
  KnownEntity* entity = entities.find(event.entity);
  if (entity != nullptr && entity->possession.unpolled > 0) --entity->possession.unpolled;
}

// From now on `state` is what is shown; the first time, what was shown before is blended into it.
void Client::Impl::show_own(KnownEntity& entity, const Motion& motion) {
  const double shown_s = motion.time_s;
  const bool snaps = motion.teleports != entity.remote.newest().teleports || !entity.visible;
  if (entity.possession.moved || snaps) {
    ShownBlends blends = entity.remote.blends();
    if (snaps || blends.frame != motion.frame)  // how it goes over is its game's to say
      blends = {.teleports = motion.teleports,
                .frame = motion.frame,
                .gentle_until_s = blends.gentle_until_s,
                .lever_m = blends.lever_m};
    entity.remote = RemoteEntity{{&motion, 1}, Path::predict, blends};
  } else {
    const State last = entity.remote.shown(shown_s);
    const auto before = frames.carried(last, entity.remote.frame(shown_s), motion.frame, shown_s);
    const double behind_s = std::min(playout.delay_s(), kLongestCatchUpS);
    entity.remote = RemoteEntity{motion, Path::predict};
    if (before) entity.remote.correct(*before, shown_s, std::max(blend_s(), behind_s));
  }
  entity.frame_shown = motion.frame;
  frames.note(static_cast<std::uint32_t>(entity.id.slot()), motion);
  entity.possession.moved = true;
}

std::optional<Refusal> Client::Impl::despawn(const DespawnMessage& message) {
  KnownEntity* entity = entities.find(message.entity);
  if (entity == nullptr) return Refusal::unknown_entity;
  if (path() == Path::predict) {
    remove(static_cast<std::uint32_t>(message.entity.slot()), link.time_of(message.tick));
  } else {
    entity->despawned_s = link.time_of(message.tick);
  }
  return std::nullopt;
}

// Says what has become of an entity by the instant that is shown; false if it is not to be seen at it.
bool Client::Impl::appear(KnownEntity& entity, double shown_s) {
  if (entity.despawned_s && shown_s >= *entity.despawned_s) {
    remove(static_cast<std::uint32_t>(entity.id.slot()), *entity.despawned_s);
    return false;
  }
  // Shown time can fall behind the spawn again when the delay grows after a silence; what is there stays.
  if (path() == Path::interpolate && !entity.visible && shown_s < entity.spawned_s) return false;
  const std::uint8_t teleports = entity.remote.teleports(shown_s);
  if (!entity.visible) {
    entity.visible = true;
    events.push_back({ClientEvent::Kind::spawned, entity.id});
  } else if (teleports != entity.teleports_shown) {
    events.push_back({ClientEvent::Kind::teleported, entity.id});
  }
  entity.teleports_shown = teleports;
  return true;
}

// What stood still goes on from where it stood. Whoever has stayed in his frame does so there, so that he
// stays with what he stands on; the others in the world, when all frames stand where they stood.
void Client::Impl::resume(double paused_s) {
  const double shown_s = playout.shown_s();
  const double duration_s = catch_up_s(paused_s);
  frames.begin(shown_s);
  for (const bool crossed : {false, true}) {
    for (const ShownEntity& frozen_entity : frozen.all()) {
      KnownEntity* entity = entities.find(frozen_entity.id);
      if (entity == nullptr || entity->owned || !entity->visible) continue;
      if (entity->remote.teleports(shown_s) != entity->teleports_shown) continue;
      if (frames.any() && path() == Path::interpolate && !crossed) frames.settle(*entity, shown_s, blend_s());
      const FrameId frame = entity->remote.frame(shown_s);
      if ((frame != frame_of(frozen_entity.frame)) != crossed) continue;
      const auto local =
          crossed ? frames.carried(frozen_entity.shown, FrameId{}, frame, shown_s) : frozen_entity.local;
      if (local) entity->remote.correct(*local, shown_s, duration_s);
    }
  }
}

// What lived in its frame is told of as of `ended_s`, so that what is made up for it is older.
void Client::Impl::remove(std::uint32_t slot, double ended_s) {
  const KnownEntity* entity = entities.at(slot);
  if (entity == nullptr) return;
  if (entity->visible) events.push_back({ClientEvent::Kind::despawned, entity->id});
  link.owned().remove(entity->id);
  constexpr double kBeforeS = 1e-4;
  if (frames.any()) frames.release(*entity, ended_s - kBeforeS, playout.shown_s(), blend_s());
  entities.remove(slot);
}

// Before anything is shown at `shown_s`.
void Client::Impl::settle_frames(double shown_s) {
  frames.begin(shown_s);
  if (frames.any() && path() == Path::interpolate) frames.settle(shown_s, blend_s());
}

void Client::Impl::handle_state(const TransportEvent& event, double local_s) {
  if (status != ClientStatus::joined) return;  // overtook the welcome; nothing in it can be for us yet
  const auto updates = link.receive(event.payload, local_s, entities, stats);
  if (!updates) return;
  if (const auto complete_s = link.complete_s()) holds.note_complete(*complete_s);
  note_arrival(local_s);
  advance(local_s);
  if (link.clock_ready()) link.note_applied(playout.shown_s());
  apply(*updates, local_s);
  apply(link.field_updates());
  mail.receive(link.messages(), stats);
  if (link.ack_overdue()) acknowledge(local_s);
}

void Client::Impl::apply(std::span<const ServerLink::Update> updates, double local_s) {
  for (const ServerLink::Update& update : updates) {
    if (References* references = entities.references(update.slot))
      references->note(update.level, update.tick, update.encoded);
    KnownEntity* entity = entities.at(update.slot);
    // Despawned meanwhile, or from before this slot's entity began.
    if (entity == nullptr || entity->owned || update.motion.time_s < entity->spawned_s) {
      ++stats.updates_stale;
      continue;
    }
    Motion motion = update.motion;
    if (!config.uses_stamps && link.clock_known()) motion.time_s = link.server_time_s(local_s);
    const double gap_s = motion.time_s - entity->remote.newest().time_s;
    RemoteEntity& remote = entity->remote;
    const double shown_s = playout.shown_s();
    const double duration_s = std::max(catch_up_s(std::max(0.0, shown_s - remote.holds_until_s())),
                                       catch_up_left_s(remote.blend(), shown_s));
    const double holds_s = holds.of(std::max(motion.time_s, remote.newest().time_s));
    const double limit_s = shown_s > holds_s ? holds_s : kHoldsForever;
    // What was never shown has nothing to be blended from.
    if (!frames.receive(*entity, motion, shown_s, entity->visible ? duration_s : 0.0, limit_s)) {
      ++stats.updates_stale;
      continue;
    }
    some_fade = some_fade || limit_s != kHoldsForever;
    ++stats.updates_applied;
    if (gap_s > 0.0 && link.clock_known()) {
      playout.note_update(link.server_time_s(local_s) - motion.time_s, gap_s);
    }
  }
}

void Client::Impl::apply(std::span<const ServerLink::FieldUpdate> updates) {
  for (const ServerLink::FieldUpdate& update : updates) {
    const bool fresh = waiting_fields.add(update.slot, update.field, update.time_s, update.value, entities);
    ++(fresh ? stats.field_changes_applied : stats.field_changes_stale);
  }
}

// Before anything appears: what changed by then, it appears with.
void Client::Impl::change_fields(double shown_s) {
  constexpr double kNow = std::numeric_limits<double>::infinity();  // whatever has arrived
  const double until_s = path() == Path::predict ? kNow : shown_s;
  waiting_fields.advance(until_s, entities, [this](const KnownEntity& entity, std::uint32_t fields) {
    if (entity.visible) events.push_back({ClientEvent::Kind::fields_changed, entity.id, fields});
  });
}

void Client::Impl::advance(double local_s) {
  const bool stepped = link.advance(local_s);
  if (!link.clock_ready()) return;
  const double now_s = link.server_time_s(local_s);
  const double before_s = playout.shown_s();
  const double rate = playout.rate();
  const double stepped_by_s = now_s - playout.now_s();
  if (playout.advance(now_s, stepped)) {
    link.note_jump();
    blend_over_jump(before_s, rate);
  }
  if (stepped) holds.clock_stepped(stepped_by_s);
  if (some_fade || holds.passed(playout.shown_s())) review_holds(before_s);
  stats.delay_s = playout.delay_s();
  mail.release(playout.shown_s());
}

void Client::Impl::acknowledge(double local_s) {
  if (status != ClientStatus::joined) return;
  if (frozen.active()) link.note_jump();  // what is shown is not what the server would find out
  mail.expire(local_s, stats);
  std::optional<ServerLink::Showing> showing;
  if (link.clock_ready()) showing = {link.server_time_s(local_s), playout.shown_s()};
  stats.messages_sent +=
      link.acknowledge(local_s, config.ack_interval_s, showing, mail.outbox(), server, transport);
}

void Client::Impl::note_arrival(double local_s) {
  if (link.clock_known()) holds.note_arrival(link.server_time_s(local_s));
}

// Has those entities fade whose motion may no longer hold, and those go on whose motion does after all.
// Nobody has seen anything later than `before_s` yet.
void Client::Impl::review_holds(double before_s) {
  const double shown_s = playout.shown_s();
  bool go_on = false;
  some_fade = false;
  for (std::uint32_t slot = 0; slot < entities.slots().size(); ++slot) {
    const KnownEntity* known = entities.slots()[slot].get();
    if (known == nullptr || known->owned) continue;  // of its own the client needs no word
    const double motion_s = known->remote.newest().time_s;
    const double limit_s = known->remote.holds_until_s();
    if (limit_s == kHoldsForever && shown_s > holds.of(motion_s)) {
      entities.at(slot)->remote.hold_until(std::max(holds.of(motion_s), before_s), before_s, blend_s());
      some_fade = true;
    } else if (limit_s != kHoldsForever && holds.holds_again(motion_s, limit_s, shown_s)) {
      entities.at(slot)->remote.hold_until(kHoldsForever, shown_s, catch_up_s(shown_s - limit_s));
      go_on = true;
    } else {
      some_fade = some_fade || limit_s != kHoldsForever;
    }
  }
  if (go_on) link.note_jump();  // how it was done, the server cannot find out
}

void Client::Impl::blend_over_jump(double before_s, double rate) {
  const double duration_s = catch_up_s(playout.shown_s() - before_s);
  entities.all_changed();
  frames.jump(before_s, playout.shown_s(), rate, duration_s);
}

}  // namespace reckoner
