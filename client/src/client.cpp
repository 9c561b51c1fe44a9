// SPDX-License-Identifier: MIT
#include "client/src/client_impl.hpp"
#include "client/src/client_settings.hpp"
#include "client/src/client_world.hpp"
#include "client/src/ownership/known_motion.hpp"
#include "client/src/shown/shown_debug.hpp"
#include "net/src/config/archetype_settings.hpp"
#include "reckoning/src/motion/state_checks.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include <glm/geometric.hpp>

#include <reckoner/client/client.hpp>

namespace reckoner {

Client::Impl::Impl(ClientConfig given, Transport* given_transport, Dialer* given_dialer,
                   const ClientTestSwitches& given_switches)
    : config(std::move(given)),
      switches(given_switches),
      dialer(given_dialer),
      transport(given_transport),
      log(config.log),
      world(std::make_unique<ClientWorld>(config, switches, messages, stats)),
      back_off(config.reconnect) {
  if (dialer != nullptr) dial_s = -1e300;
}

std::optional<Error> find_invalid_setting(const PlayoutConfig& playout) {
  if (playout.mode > PlayoutMode::delayed) {
    return Error{"mode is " + std::to_string(static_cast<unsigned>(playout.mode)) +
                 "; it must be present, adaptive or delayed"};
  }
  return find_invalid<PlayoutConfig>(kPlayoutSettings, playout);
}

std::optional<Error> find_invalid_setting(const ClientConfig& config) {
  if (const auto error = find_invalid_setting(config.playout)) return Error{"playout." + error->message};
  if (auto error = find_invalid<ClientConfig>(kClientSettings, config)) return error;
  return find_invalid_setting(config.archetypes);
}

Result<Client> Client::create(ClientConfig config, Transport& transport) {
  if (auto error = find_invalid_setting(config)) return std::move(*error);
  return Client{std::make_unique<Impl>(std::move(config), &transport, nullptr)};
}

Result<Client> Client::create(ClientConfig config, Dialer& dialer) {
  if (auto error = find_invalid_setting(config)) return std::move(*error);
  return Client{std::make_unique<Impl>(std::move(config), nullptr, &dialer)};
}

Client::Client(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Client::~Client() = default;
Client::Client(Client&&) noexcept = default;
Client& Client::operator=(Client&&) noexcept = default;

Client make_test_client(ClientConfig config, Transport& transport, const ClientTestSwitches& switches) {
  return Client{
      std::make_unique<Client::Impl>(require_valid(std::move(config)), &transport, nullptr, switches)};
}

Client make_test_client(ClientConfig config, Dialer& dialer) {
  return Client{std::make_unique<Client::Impl>(require_valid(std::move(config)), nullptr, &dialer)};
}

void Client::receive(double local_s) {
  Impl& c = *impl_;
  local_s = c.time.of(local_s);
  c.last_local_s = local_s;
  c.note_clock();
  if (c.dialer != nullptr && c.dial_s && !c.lost_s) c.run_connection(local_s);  // the first call connects
  if (c.transport != nullptr) c.transport->service(local_s);
  c.advance(local_s);
  const bool slept = c.sleep.slept(local_s);
  if (slept)
    c.world->link.showing().note_jump();  // the server cannot know what is applied now in which order
  c.world->link.clock().set_backlog(slept);
  while (c.transport != nullptr) {
    const auto event = c.transport->poll();
    if (!event) break;
    c.handle(*event, local_s);
  }
  c.world->link.clock().set_backlog(false);
  c.review_clock(local_s);
  c.send_playout(local_s);
  c.acknowledge(local_s);
  c.run_connection(local_s);
  c.shown_world().report_changes();
  c.collect_events();
  c.log.review(c.stats, local_s);
}

// Call it in receive(). Reports times that the client had to ignore.
void Client::Impl::note_clock() {
  stats.times_refused = time.refused();
  const double lead_s = time.take_lead_s();
  if (lead_s > 0.0 && !std::exchange(says_lead, true)) log.leads(lead_s);
}

// Corrects the rate of local time if the game's clock does not run at the rate of the server's.
void Client::Impl::review_clock(double local_s) {
  const ClockSync::Review review = world->link.clock().review(local_s, time.rate());
  // The server notices the wrong clock by its time stamps, and sends more of its own.
  if (review.changed) world->link.sender().request_ack();
  if (review.set_by_s > 0.0) log.clock_set(review.set_by_s);
  if (review.factor == 1.0) return;
  const bool was_exact = time.rate() == 1.0;
  time.change_rate(review.factor);
  stats.clock_rate = time.rate();
  if (was_exact || time.rate() == 1.0) log.clock_rate(time.rate());
}

// Local time of a call that shows or changes something.
double Client::Impl::time_of_call(double given_s) {
  const double local_s = time.ahead(given_s);
  if (time.ended_lead()) {
    world->end_lead();
    if (before) before->end_lead();
  }
  stats.times_refused = time.refused();
  return local_s;
}

void Client::Impl::advance(double local_s) {
  if (before) before->advance(local_s);
  world->advance(local_s);
}

ClientWorld& Client::Impl::shown_world() {
  if (before && world->can_replace(last_local_s)) {
    before->end();
    collect_events();
    before.reset();
    events.push_back({ClientEvent::Kind::restarted, {}});
  }
  return before ? *before : *world;
}

// Events of a world that is not shown yet stay there until it is.
void Client::Impl::collect_events() {
  std::deque<ClientEvent>& of_world = (before ? *before : *world).events;
  events.insert(events.end(), of_world.begin(), of_world.end());
  of_world.clear();
}

std::span<const ShownEntity> Client::frame(double local_s) {
  Impl& c = *impl_;
  local_s = c.time_of_call(local_s);
  c.advance(local_s);
  ClientWorld& world = c.shown_world();
  if (!world.link.clock().ready()) return {};
  const auto shown = world.frame(c.origin, local_s);
  c.collect_events();
  return shown;
}

ShownPoses Client::sample(double local_s) {
  Impl& c = *impl_;
  local_s = c.time_of_call(local_s);
  c.advance(local_s);
  ClientWorld& world = c.shown_world();
  if (!world.link.clock().ready()) return {};
  const ShownPoses shown = world.sample(c.origin);
  c.collect_events();
  return shown;
}

void Client::set_paused(bool paused, double local_s) {
  Impl& c = *impl_;
  if (paused == c.shown_world().paused()) return;
  if (paused) {
    const auto shown = frame(local_s);
    c.shown_world().pause(shown, c.origin);
  } else {
    c.advance(c.time_of_call(local_s));
    c.shown_world().go_on();
  }
}

bool Client::set_playout(const PlayoutConfig& playout, double local_s) {
  Impl& c = *impl_;
  if (find_invalid_setting(playout)) return false;
  c.advance(c.time_of_call(local_s));
  c.config.playout = playout;
  c.world->set_playout(playout);
  if (c.before) c.before->set_playout(playout);
  return true;
}

const PlayoutConfig& Client::playout() const {
  return impl_->config.playout;
}

std::optional<ClientEvent> Client::poll_event() {
  impl_->collect_events();
  if (impl_->events.empty()) return std::nullopt;
  const ClientEvent event = impl_->events.front();
  impl_->events.pop_front();
  impl_->world->note_polled(event);
  return event;
}

ClientStatus Client::status() const {
  return impl_->status;
}
const std::string& Client::refusal() const {
  return impl_->refusal;
}

double Client::lost_for_s(double local_s) const {
  return impl_->lost_s ? impl_->time.look(local_s) - *impl_->lost_s : 0.0;
}

const EntityInfo* Client::info(EntityId id) const {
  const ClientWorld& world = impl_->shown_world();
  if (const KnownEntity* entity = world.entities.find(id)) return &entity->info;
  const Predictions::Prediction* prediction = world.predictions.find(id);
  return prediction != nullptr ? &prediction->info : nullptr;
}

bool Client::set_user_value(EntityId id, std::uint64_t value) {
  KnownEntity* entity = impl_->shown_world().entities.find(id);
  if (entity == nullptr) return false;
  entity->user_value = value;
  return true;
}

std::optional<std::uint64_t> Client::user_value(EntityId id) const {
  const KnownEntity* entity = std::as_const(impl_->shown_world().entities).find(id);
  return entity != nullptr ? std::optional{entity->user_value} : std::nullopt;
}

const FieldValue* Client::field(EntityId id, std::size_t field) const {
  const KnownEntity* entity = std::as_const(impl_->shown_world().entities).find(id);
  return entity != nullptr && field < entity->fields.size() ? &entity->fields.value(field) : nullptr;
}

bool Client::send(std::span<const std::byte> payload, Delivery delivery, std::optional<double> time_s) {
  Impl& c = *impl_;
  const bool waits = c.status == ClientStatus::reconnecting && delivery == Delivery::reliable;
  if (c.status != ClientStatus::joined && !waits) return false;
  Transport* const transport = c.admitted ? c.transport : nullptr;
  if (!c.messages.send(payload, delivery, time_s, c.last_local_s, c.server, transport, c.stats)) return false;
  if (c.world->link.showing().wanted())
    c.world->link.sender().request_ack();  // the message may be about what is shown just now
  return true;
}

void Client::flush(double local_s) {
  Impl& c = *impl_;
  local_s = c.time.of(local_s);
  if (c.transport == nullptr) return;
  c.advance(local_s);
  c.send_playout(local_s);
  c.acknowledge(local_s);
  c.transport->service(local_s);  // also sends reliable messages, which the transport may have queued
}

std::optional<GameMessage> Client::poll_message() {
  return impl_->messages.poll();
}

std::optional<double> Client::server_time_s(double local_s) const {
  const ClientWorld& world = std::as_const(*impl_).shown_world();
  if (!world.link.clock().ready()) return std::nullopt;
  return world.link.clock().server_time_s(impl_->time.look(local_s));
}

bool Client::correct(EntityId id, const State& shown, double local_s, double hold_s) {
  Impl& c = *impl_;
  c.advance(c.time_of_call(local_s));
  if (!is_sane(shown) || !(hold_s >= 0.0 && hold_s <= kMaxHoldS)) return false;
  State in_world = shown;
  in_world.position += c.origin;
  return c.shown_world().correct(id, in_world, hold_s);
}

std::optional<State> Client::motion_at(EntityId id, double server_time_s) const {
  const ClientWorld& world = std::as_const(*impl_).shown_world();
  if (!world.link.clock().ready()) return std::nullopt;
  auto motion = world.motion_at(id, server_time_s);
  if (motion) motion->position -= impl_->origin;
  return motion;
}

bool Client::set_origin(const glm::dvec3& origin) {
  if (!is_finite(origin)) return false;
  impl_->origin = origin;
  return true;
}

CallResult Client::move(EntityId id, const State& state, double local_s, EntityId frame) {
  return impl_->move(id, state, local_s, frame, false);
}

CallResult Client::teleport(EntityId id, const State& state, double local_s, EntityId frame) {
  return impl_->move(id, state, local_s, frame, true);
}

CallResult Client::Impl::move(EntityId entity, const State& state, double local_s, EntityId frame,
                              bool teleports) {
  local_s = time_of_call(local_s);
  advance(local_s);
  State counted = state;
  if (!frame) counted.position += origin;
  if (!is_sane(counted)) return CallError::not_finite;
  if (const CallResult moved = world->move(entity, counted, frame, local_s, teleports); !moved) return moved;
  acknowledge(local_s);
  return {};
}

SpawnResult Client::predict_spawn(std::size_t archetype, const State& state, std::uint32_t key,
                                  double local_s, double patience_s) {
  Impl& c = *impl_;
  c.advance(c.time_of_call(local_s));
  State counted = state;
  counted.position += c.origin;
  return c.world->predict_spawn(archetype, counted, key, patience_s);
}

bool Client::drop_prediction(EntityId id) {
  return impl_->world->drop_prediction(id);
}

std::optional<State> Client::owned(EntityId id, double local_s) const {
  const ClientWorld& world = *impl_->world;
  const KnownEntity* entity = std::as_const(world.entities).find(id);
  if (entity == nullptr || !entity->owned || !world.link.clock().known()) return std::nullopt;
  const Motion& go_on = entity->ownership_state.go_on;
  State state = state_at(go_on, world.link.clock().server_time_s(impl_->time.look(local_s)));
  if (!go_on.frame) state.position -= impl_->origin;
  return state;
}

EntityId Client::owned_frame(EntityId id) const {
  const KnownEntity* entity = std::as_const(impl_->world->entities).find(id);
  return entity != nullptr && entity->owned ? entity_of(entity->ownership_state.go_on.frame) : EntityId{};
}

std::optional<ShownDebug> Client::debug(EntityId id) const {
  const ClientWorld& world = std::as_const(*impl_).shown_world();
  const KnownEntity* entity = std::as_const(world.entities).find(id);
  if (entity == nullptr || !entity->visible || !world.link.clock().ready()) return std::nullopt;
  auto debug = debug_of(*entity, world.frames, world.playout.now_s(), world.playout.shown_s());
  if (!debug) return std::nullopt;
  const Archetype& archetype = world.config.archetypes[entity->info.archetype];
  debug->threshold_m = archetype.threshold_m;
  debug->threshold_rad = archetype.threshold_rad;
  debug->shown.position -= impl_->origin;
  debug->motion.position -= impl_->origin;
  return debug;
}

const ClientStats& Client::stats() const {
  return impl_->stats;
}

void Client::leave() {
  Impl& c = *impl_;
  c.leaving = true;
  if (c.server && c.transport != nullptr) {
    if (c.admitted) c.messages.send_all_waiting(c.server, *c.transport);
    return c.transport->disconnect(c.server, pack({EndReason::left, 0}));
  }
  if (c.status == ClientStatus::reconnecting || (c.transport == nullptr && !c.is_over()))
    c.finish(ClientStatus::disconnected, ClientEvent::Kind::disconnected);
}

// ClientWorld: what is shown.

std::span<const ShownEntity> ClientWorld::frame(const glm::dvec3& origin, double local_s) {
  if (frozen_.active()) return frozen_.shown(entities, origin);
  shown_.clear();
  const double now_s = link.clock().server_time_s(local_s);
  const double shown_s = playout.shown_s();
  const auto rate = static_cast<float>(playout.rate());
  change_fields(shown_s);
  settle_frames(shown_s);
  for (const auto& slot : entities.slots()) {
    if (!slot) continue;
    KnownEntity& entity = *slot;
    if (!appear(entity, shown_s)) continue;
    const State local = entity.remote.shown(shown_s);
    const FrameId frame = entity.remote.frame(shown_s);
    const State* in = frame ? frames.at(frame) : nullptr;
    if (frame && in == nullptr) continue;
    State state = in != nullptr ? out_of_frame(*in, local) : local;
    state.position -= origin;
    if (entity.owned) {  // an owned entity shows the present in every mode
      shown_.push_back(
          {entity.id, at_rate(state, rate), now_s, 0.0, nullptr, entity_of(frame), at_rate(local, rate)});
      continue;
    }
    shown_.push_back({entity.id, at_rate(state, rate), shown_s, now_s - entity.remote.newest().time_s,
                      entity.remote.route(shown_s), entity_of(frame), at_rate(local, rate)});
  }
  for (const Predictions::Prediction& prediction : predictions.all()) {
    State state = state_at(prediction.motion, now_s);
    state.position -= origin;
    shown_.push_back({prediction.id, state, now_s, 0.0, nullptr, {}, state});
  }
  return shown_;
}

ShownPoses ClientWorld::sample(const glm::dvec3& origin) {
  if (frozen_.active()) return frozen_.poses(entities, origin);
  const double shown_s = playout.shown_s();
  change_fields(shown_s);
  settle_frames(shown_s);
  entities.visit_changed([&](std::uint32_t slot, KnownEntity* entity) {
    batch_.update(slot, entity);
    // An entity in the batch can only appear or teleport when it changes. All others are checked below.
    if (entity != nullptr && batch_.holds(slot)) (void)appear(*entity, shown_s);
  });
  for (const std::uint32_t slot : batch_.unbatched()) {
    const auto& entity = entities.slots()[slot];
    if (!entity || !appear(*entity, shown_s)) continue;
    // The next sample() can take it into the batch.
    if (entity->remote.has_ended_catch_up(shown_s)) entities.at(slot)->remote.drop_ended_catch_up(shown_s);
  }
  batch_.sample(shown_s, entities, frames, origin);
  for (const Predictions::Prediction& prediction : predictions.all()) {
    Pose pose = state_at(prediction.motion, playout.now_s()).pose();
    pose.position -= origin;
    batch_.append(prediction.id, pose);
  }
  return {batch_.ids(), batch_.positions(), batch_.orientations(), shown_s};
}

bool ClientWorld::correct(EntityId id, const State& in_world, double hold_s) {
  KnownEntity* entity = entities.find(id);
  if (entity == nullptr || !entity->visible || entity->owned) return false;
  return hold_s > 0.0 ? hold(*entity, in_world, hold_s) : blend_from_world(*entity, in_world, blend_s());
}

// Shows the entity as the game anticipates it until its motion contains the hit, or for `hold_s`. Returns
// false if its frame is invalid.
bool ClientWorld::hold(KnownEntity& entity, const State& in_world, double hold_s) {
  const double shown_s = playout.shown_s();
  const State in_shown_time = at_rate(in_world, static_cast<float>(1.0 / playout.rate()));
  const auto local = frames.converted(in_shown_time, FrameId{}, entity.remote.frame(shown_s), shown_s);
  if (!local) return false;
  // What this client does now has an effect at the server after the one-way delay and some ticks.
  constexpr double kTicksS = 0.1;
  const double one_way_s = std::max(link.one_way_s(), 0.5 * stats.round_trip_s);
  if (!entity.remote.is_held()) held_.push_back(entity.id);
  entity.remote.hold(*local, shown_s, playout.now_s() + one_way_s + kTicksS, shown_s + hold_s);
  return true;
}

// Ends the holds that are over. The entity is blended from there so slowly that it does not run backwards.
void ClientWorld::review_held() {
  const double shown_s = playout.shown_s();
  std::erase_if(held_, [&](EntityId id) {
    const KnownEntity* known = std::as_const(entities).find(id);
    if (known == nullptr || !known->remote.is_held()) return true;
    if (!known->remote.is_hold_over(shown_s)) return false;
    KnownEntity& entity = *entities.find(id);
    RemoteEntity& remote = entity.remote;
    const State before = remote.shown(shown_s);
    const FrameId frame = remote.frame(shown_s);
    const std::uint8_t teleports = remote.teleports(shown_s);
    remote.release(shown_s);
    entity.frame_shown = remote.frame(shown_s);
    if (remote.teleports(shown_s) != teleports) return true;
    const auto from = frames.converted(before, frame, entity.frame_shown, shown_s);
    if (!from) return true;
    const State onto = remote.unblended(shown_s);
    // The offset changes at most 1.5 times as fast as on average (Blend), and the entity may slow down.
    constexpr double kShare = 2.5;
    const double off_m = glm::distance(from->position, onto.position);
    const double speed_mps = std::max(0.1, glm::length(glm::dvec3{onto.velocity}));
    // After a hit, the entity goes on in about the same direction. After a wrong guess it must turn back.
    const bool was_hit = glm::distance(from->velocity, onto.velocity) < 0.5 * speed_mps;
    const double longest_s = was_hit ? 2.0 * kLongestCatchUpS : kLongestCatchUpS;
    const double duration_s = std::min(kShare * off_m / speed_mps, longest_s);
    if (duration_s > blend_s()) {
      remote.correct_slowly(*from, shown_s, duration_s);
    } else {
      remote.correct(*from, shown_s, blend_s());
    }
    return true;
  });
}

std::optional<State> ClientWorld::motion_at(EntityId id, double time_s) const {
  if (const Predictions::Prediction* prediction = predictions.find(id)) {
    const bool is_known = std::isfinite(time_s) && time_s >= prediction->motion.time_s;
    return is_known ? std::optional(state_at(prediction->motion, time_s)) : std::nullopt;
  }
  const KnownEntity* entity = entities.find(id);
  if (entity == nullptr || !entity->visible) return std::nullopt;
  return known_motion(entities, link.owned(), id, time_s);
}

// Blends an entity from a state in the world onto its motion. Returns false if its frame is invalid.
bool ClientWorld::blend_from_world(KnownEntity& entity, const State& in_world, BlendTime blend) {
  // Blends run in shown time, so convert rates per second to rates per second of shown time.
  const auto per_shown_second = static_cast<float>(1.0 / playout.rate());
  State in_shown_time = in_world;
  in_shown_time.velocity *= per_shown_second;
  in_shown_time.angular_velocity *= per_shown_second;
  const double shown_s = playout.shown_s();
  const auto local = frames.converted(in_shown_time, FrameId{}, entity.remote.frame(shown_s), shown_s);
  if (!local) return false;
  entity.remote.correct(*local, shown_s, blend);
  return true;
}

CallResult ClientWorld::move(EntityId id, const State& counted, EntityId frame, double local_s,
                             bool teleports) {
  KnownEntity* entity = entities.find(id);
  if (entity == nullptr) return CallError::unknown_entity;
  if (!entity->owned) return CallError::not_owned;
  if (!link.clock().ready()) return CallError::no_clock;
  if (!entity->ownership_state.is_reported || entity->ownership_state.unpolled > 0)
    return CallError::event_not_polled;
  OwnedEntity& own = *link.owned().find(id);
  const double delay_s = link.one_way_s() + entity->ownership_state.viewers_s;
  const double shown_s = playout.shown_s();
  if (frame && !frames.can_enter(frame_of(frame), id, shown_s)) return CallError::unknown_frame;
  OwnershipState& owned = entity->ownership_state;
  if (owned.brake && !owned.brake->game_is_back) {
    owned.brake->game_is_back = true;
    ++owned.unpolled;
    events.push_back({ClientEvent::Kind::corrected, id});
    return CallError::event_not_polled;
  }
  if (owned.brake) {
    owned.brake.reset();
    own.interrupt();
    owned.moved = false;  // blends from where the entity came to rest
  }
  owned.moved_s = link.clock().server_time_s(local_s);
  const Quantisation& quantisation = *link.formats().quantisation(entity->info.archetype);
  Motion motion{.state = counted,
                .time_s = shown_s,
                .floor = quantisation.floor,
                .walls = quantisation.walls,
                .frame = frame_of(frame)};
  if (!own.move(motion.state, motion.frame, link.clock().server_time_s(local_s), delay_s, teleports))
    return find_unencodable(counted, quantisation);
  velocities_.note(config.log, config.archetypes, entity->info.archetype, own.missing_velocities());
  motion.teleports = own.teleports();
  show_owned(*entity, motion);
  return {};
}

void ClientWorld::pause(std::span<const ShownEntity> shown, const glm::dvec3& origin) {
  frozen_.freeze(shown, origin);
  paused_at_s_ = playout.now_s();
  link.showing().note_jump();
}

// Blends every entity from its frozen pose. An entity that stayed in its frame is blended within the frame,
// so that it stays in contact with the ground under it. All other entities are blended in the world. This is
// a second pass, because all frames must have their frozen pose before.
void ClientWorld::go_on() {
  frozen_.thaw();
  const double shown_s = playout.shown_s();
  const BlendTime blend = catch_up(playout.now_s() - paused_at_s_);
  frames.begin(shown_s);
  for (const bool crossed : {false, true}) {
    for (const ShownEntity& frozen_entity : frozen_.all()) {
      KnownEntity* entity = entities.find(frozen_entity.id);
      if (entity == nullptr || entity->owned || !entity->visible) continue;
      if (entity->remote.teleports(shown_s) != entity->teleports_shown) continue;
      if (frames.any() && path_ == MotionPath::interpolate && !crossed)
        frames.settle(*entity, shown_s, blend_s());
      const FrameId frame = entity->remote.frame(shown_s);
      if ((frame != frame_of(frozen_entity.frame)) != crossed) continue;
      const auto local =
          crossed ? frames.converted(frozen_entity.shown, FrameId{}, frame, shown_s) : frozen_entity.local;
      if (local) entity->remote.correct(*local, shown_s, blend);
    }
  }
  note_jumps();
  link.showing().note_jump();
}

void ClientWorld::end() {
  for (const auto& entity : entities.slots()) {
    if (entity && entity->is_reported) events.push_back({ClientEvent::Kind::despawned, entity->id});
  }
  for (const Predictions::Prediction& prediction : predictions.all())
    fail_prediction(prediction.id);
}

// Reports the frames that the entity is in, the outermost first, because they must be known before it.
// Returns false if one of them has not arrived yet.
bool ClientWorld::report_frames(const KnownEntity& entity, double shown_s) {
  std::array<EntityId, kMaxFrameDepth> outer;
  std::size_t count = 0;
  for (FrameId frame = entity.remote.frame(shown_s); frame && count < outer.size(); ++count) {
    const KnownEntity* known = std::as_const(entities).find(entity_of(frame));
    if (known == nullptr) {
      if (!entities.is_refused(entity_of(frame))) return false;
      break;
    }
    outer[count] = known->id;
    if (known->is_reported) break;
    frame = known->remote.frame(shown_s);
  }
  while (count > 0) {
    KnownEntity* frame = entities.find(outer[--count]);
    if (frame == nullptr || frame->is_reported || frame->lacks_fields != 0) continue;
    if (path_ == MotionPath::interpolate && shown_s < frame->spawned_s) continue;
    frame->is_reported = true;
    events.push_back({ClientEvent::Kind::spawned, frame->id});
    note_news(*frame);
  }
  return true;
}

// Reports the events of one entity up to `shown_s`. Returns false if the entity does not exist at `shown_s`;
// it may then have been removed.
bool ClientWorld::report(KnownEntity& entity, double shown_s) {
  if (entity.lacks_fields != 0) return false;
  if (!entity.is_reported && entity.remote.frame(shown_s) && !report_frames(entity, shown_s)) return false;
  if (entity.despawned_s && shown_s >= *entity.despawned_s) {
    remove(static_cast<std::uint32_t>(entity.id.slot()), *entity.despawned_s);
    return false;
  }
  // Shown time can fall behind the spawn again when the delay grows after a silence. A reported entity then
  // stays. An owned entity shows the present in every mode.
  if (path_ == MotionPath::interpolate && !entity.is_reported && !entity.owned && shown_s < entity.spawned_s)
    return false;
  const std::uint8_t teleports = entity.remote.teleports(shown_s);
  if (!entity.is_reported) {
    entity.is_reported = true;
    events.push_back({ClientEvent::Kind::spawned, entity.id, 0, continue_prediction(entity, shown_s)});
    entity.jumps_reported = entity.remote.jumps();
  } else if (teleports != entity.teleports_reported) {
    events.push_back({ClientEvent::Kind::teleported, entity.id});
  }
  entity.teleports_reported = teleports;
  if (has_jumped(entity) && shown_s >= entity.remote.jumped_s()) {
    entity.jumps_reported = entity.remote.jumps();
    events.push_back({ClientEvent::Kind::snapped, entity.id});
  }
  if (entity.owned && !entity.ownership_state.is_reported) {
    entity.ownership_state.is_reported = true;
    entity.ownership_state.moved_s = playout.now_s();
    ++entity.ownership_state.unpolled;
    events.push_back({ClientEvent::Kind::given, entity.id});
  }
  return true;
}

// If the client has predicted the entity, the entity continues from the predicted pose. Returns the id of the
// prediction, or null.
EntityId ClientWorld::continue_prediction(KnownEntity& entity, double shown_s) {
  const auto prediction = entity.prediction ? predictions.release(*entity.prediction) : std::nullopt;
  if (!prediction) return {};
  // In buffered modes the prediction is ahead by the delay. Updates that arrive meanwhile must not shorten
  // the way back to an ordinary blend, as they do not shorten a catch-up.
  const double delay_s = playout.delay_s();
  const BlendTime blend = delay_s <= kLongestCatchUpS ? BlendTime{blend_s(), delay_s}
                                                      : BlendTime{std::max(blend_s(), kLongestCatchUpS)};
  (void)blend_from_world(entity, state_at(prediction->motion, playout.now_s()), blend);
  entity.visible = true;
  entity.teleports_shown = entity.remote.teleports(shown_s);
  return prediction->id;
}

void ClientWorld::fail_prediction(EntityId id) {
  events.push_back({ClientEvent::Kind::prediction_failed, id});
}

SpawnResult ClientWorld::predict_spawn(std::size_t archetype, const State& counted, std::uint32_t key,
                                       double patience_s) {
  const Quantisation* q = link.formats().quantisation(archetype);
  if (q == nullptr) return CallError::unknown_archetype;
  if (!link.clock().ready()) return CallError::no_clock;
  if (const auto why = find_unencodable(counted, *q); why != CallError::none) return why;
  const double now_s = playout.now_s();
  const double until_s = now_s + (std::isfinite(patience_s) ? std::clamp(patience_s, 0.0, 60.0) : 0.0);
  const Motion motion{.state = counted, .time_s = now_s, .floor = q->floor, .walls = q->walls};
  const EntityId id = predictions.add(key, archetype, motion, until_s);
  if (!id) return CallError::world_full;
  return id;
}

bool ClientWorld::drop_prediction(EntityId id) {
  return predictions.release(id).has_value();
}

void ClientWorld::note_news(KnownEntity& entity) {
  if (std::exchange(entity.has_news, true)) return;
  with_news_.push_back(static_cast<std::uint32_t>(entity.id.slot()));
}

// Call it after something that may have made any entity jump.
void ClientWorld::note_jumps() {
  for (const auto& entity : entities.slots()) {
    if (entity && has_jumped(*entity)) note_news(*entity);
  }
}

void ClientWorld::report_changes() {
  if (paused() || !link.clock().ready()) return;
  const double shown_s = playout.shown_s();
  change_fields(shown_s);
  std::erase_if(with_news_, [&](std::uint32_t slot) {
    const auto& entity = entities.slots()[slot];
    if (!entity) return true;
    const bool exists = report(*entity, shown_s);
    if (!entity) return true;
    const bool comes_later = !exists || entity->despawned_s || has_jumped(*entity) ||
                             entity->remote.newest().teleports != entity->teleports_reported;
    entity->has_news = comes_later;
    return !comes_later;
  });
}

// Reports the events of an entity and marks it as drawn. Returns false if it does not exist at `shown_s`.
bool ClientWorld::appear(KnownEntity& entity, double shown_s) {
  if (!report(entity, shown_s)) return false;
  entity.visible = true;
  entity.appeared_s = std::min(entity.appeared_s, shown_s);
  entity.teleports_shown = entity.teleports_reported;
  return true;
}

// Entities in the frame of the removed entity get a substitute motion. Its time stamp is slightly before
// `ended_s`, so that every later motion from the server replaces it.
void ClientWorld::remove(std::uint32_t slot, double ended_s) {
  const KnownEntity* entity = entities.at(slot);
  if (entity == nullptr) return;
  if (entity->is_reported) {
    events.push_back({ClientEvent::Kind::despawned, entity->id});
  } else if (entity->prediction) {  // it ended before it was shown
    if (const auto prediction = predictions.release(*entity->prediction)) fail_prediction(prediction->id);
  }
  link.owned().remove(entity->id);
  constexpr double kBeforeS = 1e-4;
  const double shown_s = playout.started() ? playout.shown_s() : ended_s;
  if (frames.any()) frames.release(*entity, ended_s - kBeforeS, shown_s, blend_s());
  entities.remove(slot);
}

// Must run before anything is shown at `shown_s`.
void ClientWorld::settle_frames(double shown_s) {
  frames.begin(shown_s);
  if (frames.any() && path_ == MotionPath::interpolate) frames.settle(shown_s, blend_s());
}

// Must run before any entity appears, so that it appears with the field values of this time.
void ClientWorld::change_fields(double shown_s) {
  constexpr double kNow = std::numeric_limits<double>::infinity();  // everything that has arrived
  const double until_s = path_ == MotionPath::predict ? kNow : shown_s;
  waiting_fields_.advance(until_s, entities, [this](const KnownEntity& entity, std::uint32_t fields) {
    if (entity.is_reported) events.push_back({ClientEvent::Kind::fields_changed, entity.id, fields});
  });
}

void ClientWorld::advance(double local_s) {
  const bool stepped = link.clock().advance(local_s);
  if (!link.clock().ready()) return;
  const double now_s = link.clock().server_time_s(local_s);
  const bool first = !playout.started();
  double before_s = playout.shown_s();
  const double rate = playout.rate();
  const double stepped_by_s = now_s - playout.now_s();
  const bool jumped = playout.advance(now_s, stepped || std::exchange(ended_lead_, false));
  if (first) before_s = playout.shown_s();  // nothing was shown before
  if (jumped) {
    link.showing().note_jump();
    if (steps_in_a_row_.add(local_s, stepped ? stepped_by_s : 0.0)) {
      note_jumps();
    } else {
      blend_over_jump(before_s, rate);
    }
  }
  review_path();
  if (!held_.empty()) review_held();
  if (stepped) {
    holds.clock_stepped(stepped_by_s);
    if (switches.observer != nullptr) switches.observer->clock_stepped(stepped_by_s);
    say(config.log, LogLevel::warning, "clock stepped", {{"by_s", stepped_by_s}});
  }
  if (any_fading_ || holds.passed(playout.shown_s())) review_holds(before_s);
  if (!link.owned().empty()) brake_idle(now_s);
  while (const EntityId late = predictions.expire(now_s))
    fail_prediction(late);
  stats.delay_s = playout.delay_s();
  if (!retired_) messages.release(playout.shown_s());
}

void ClientWorld::set_playout(const PlayoutConfig& to) {
  const double blended_s = blend_s();
  config.playout = to;
  playout.change(to);
  if (blend_s() != blended_s)
    link.showing().note_jump();  // the server must use the new blend for lag compensation
  review_path();
}

// Changes to interpolation at once, while the delay is still zero. Changes back to prediction only when the
// delay has reached zero again. At zero delay both show the pose from the newest motion.
void ClientWorld::review_path() {
  if (path_ == wanted_path()) return;
  if (wanted_path() == MotionPath::predict && !playout.settled()) return;
  path_ = wanted_path();
  entities.all_changed();
  frames.set_path(path_, playout.shown_s(), blend_s());
  note_jumps();
  link.showing().note_jump();
}

void ClientWorld::note_arrival(double local_s) {
  if (link.clock().known()) holds.note_arrival(link.clock().arrival_s(local_s));
}

// Lets entities fade whose motion may no longer hold, and ends the fade of entities whose motion holds after
// all. The client has shown no instant later than `before_s` yet.
void ClientWorld::review_holds(double before_s) {
  const double shown_s = playout.shown_s();
  bool go_on = std::exchange(any_fading_, false);
  for (std::uint32_t slot = 0; slot < entities.slots().size(); ++slot) {
    const KnownEntity* known = entities.slots()[slot].get();
    if (known == nullptr || known->owned) continue;  // an owned entity needs no confirmation
    const double motion_s = known->remote.newest().time_s;
    const double limit_s = known->remote.valid_until_s();
    if (limit_s == kAlwaysValid && shown_s > holds.of(motion_s)) {
      entities.at(slot)->remote.set_valid_until(std::max(holds.of(motion_s), before_s), before_s, blend_s());
      any_fading_ = true;
    } else if (limit_s != kAlwaysValid && holds.holds_again(motion_s, limit_s, shown_s)) {
      KnownEntity& entity = *entities.at(slot);
      // An entity that was never shown has an old motion. A newer one is probably on its way, so it does not
      // jump.
      constexpr double kUnseenS = 0.5;
      const BlendTime blend =
          entity.visible ? catch_up(shown_s - limit_s) : BlendTime{std::max(blend_s(), kUnseenS)};
      entity.remote.set_valid_until(kAlwaysValid, shown_s, blend);
      if (has_jumped(entity)) note_news(entity);
      go_on = true;
    } else {
      any_fading_ = any_fading_ || limit_s != kAlwaysValid;
    }
  }
  if (go_on) link.showing().note_jump();  // the server cannot reconstruct this
}

void ClientWorld::blend_over_jump(double before_s, double rate) {
  entities.all_changed();
  frames.jump(before_s, playout.shown_s(), rate, catch_up(playout.shown_s() - before_s));
  note_jumps();
}

// Connections: connect, lose, resume.
namespace {

// After the program was suspended, the client waits this long for a sign of its server before it gives up the
// connection, s, unless ReconnectConfig::silence_s is shorter.
constexpr double kAfterSleepS = 1.5;

// True if another attempt would fail again, or would displace the client that replaced this one.
bool is_final(EndReason reason) {
  return reason == EndReason::version || reason == EndReason::archetypes || reason == EndReason::replaced ||
         reason == EndReason::kicked;
}

}  // namespace

// The caller must process arrivals first. A client that was suspended then knows whether its server ended the
// session meanwhile.
void Client::Impl::run_connection(double local_s) {
  if (dialer == nullptr || is_over()) return;
  if (lost_s && config.reconnect.give_up_s > 0.0 && local_s - *lost_s >= config.reconnect.give_up_s)
    return finish(ClientStatus::disconnected, ClientEvent::Kind::disconnected);
  if (dial_s) {
    if (local_s >= *dial_s) dial(local_s);
    return;
  }
  const bool stands = admitted && status == ClientStatus::joined;
  if (stands && local_s - received_s >= config.reconnect.silence_s)
    lose("the server stopped responding", local_s);
  if (lost_s && !dial_s && local_s - received_s >= config.reconnect.attempt_s)
    lose(server ? "the server does not answer" : no_answer(), local_s);
}

std::string Client::Impl::no_answer() const {
  const std::string failure_hint = dialer == nullptr ? std::string{} : dialer->failure_hint();
  return "the server does not answer" + (failure_hint.empty() ? failure_hint : "; " + failure_hint);
}

void Client::Impl::dial(double local_s) {
  dial_s.reset();
  server = {};
  admitted = resuming = false;
  next_session_key = {};
  received_s = local_s;
  auto dialed = dialer->dial();
  transport = dialed ? *dialed : nullptr;
  if (dialed) return;
  if (lost_s) return lose(dialed.error(), local_s);
  refusal = dialed.error();
  finish(ClientStatus::disconnected, ClientEvent::Kind::disconnected);
}

void Client::Impl::handle(const TransportEvent& event, double local_s) {
  switch (event.kind) {
    case TransportEvent::Kind::connected:
      received_s = local_s;
      handle_connected(event.peer);
      break;
    case TransportEvent::Kind::disconnected:
      handle_end(unpack_end_code(event.reason), local_s);
      break;
    case TransportEvent::Kind::received:
      note_heard(local_s);
      world->note_arrival(local_s);
      if (event.channel == Channel::control) {
        handle_control(event.payload, local_s);
        // otherwise the datagram overtook the welcome and cannot concern this client yet
      } else if (admitted) {
        world->handle_datagram(event.payload, local_s, local_s - std::max(0.0, event.waited_s));
        process_ordered(local_s);
        if (world->link.sender().ack_overdue()) acknowledge(local_s);
      }
      break;
  }
}

// Datagrams that queued up while the program was suspended do not prove that the server is still there.
void Client::Impl::note_heard(double local_s) {
  const bool doubtful = admitted && world->link.clock().is_backlog();
  const double patience_s = std::max(0.0, config.reconnect.silence_s - kAfterSleepS);
  received_s = doubtful ? std::max(received_s, local_s - patience_s) : local_s;
}

void Client::Impl::handle_connected(PeerId peer) {
  server = peer;
  if (leaving) return transport->disconnect(server, pack({EndReason::left, 0}));
  if (status == ClientStatus::connecting) status = ClientStatus::joining;
  std::array<std::byte, 64> buffer;
  resuming = static_cast<bool>(session);
  if (resuming) {
    transport->send(server, Channel::control,
                    encode(ResumeMessage{id, session, messages.reliable().received_count()}, buffer));
  }
  const JoinMessage join{kProtocolVersion, archetype_hash(config.archetypes),
                         config.playout.mode != PlayoutMode::present,
                         std::clamp(world->blend_s(), 0.0, kMaxBlendS)};
  transport->send(server, Channel::control, encode(join, buffer));
  joining_as = {join.shows_past, join.shows_past, join.blend_s};
}

void Client::Impl::handle_end(const EndCode& code, double local_s) {
  const bool was_joined = status == ClientStatus::joined || status == ClientStatus::reconnecting;
  const bool has_reason = code.reason != EndReason::none && code.reason != EndReason::left;
  const bool refused = has_reason && (!was_joined || is_final(code.reason));
  const std::string why = !server && !has_reason  ? no_answer()
                          : was_joined || refused ? describe(code) + kick_reason
                                                  : "the connection was lost";
  const bool closed = code.reason == EndReason::server_shutdown;
  server = {};
  if (dialer != nullptr && was_joined && !refused && !leaving) {
    if (closed && !lost_s) events.push_back({ClientEvent::Kind::server_closed, {}});
    return lose(why, local_s);
  }
  if (dialer != nullptr && !leaving && !is_final(code.reason) && goes_elsewhere(why, local_s)) return;
  refusal = why;
  finish(refused ? ClientStatus::refused : ClientStatus::disconnected,
         closed ? ClientEvent::Kind::server_closed : ClientEvent::Kind::disconnected);
}

// Call this when the connection was lost or could not be established. Schedules the next attempt.
void Client::Impl::lose(const std::string& why, double local_s) {
  refusal = why;
  server = {};
  transport = nullptr;
  admitted = false;
  status = ClientStatus::reconnecting;
  const bool within_round = lost_s && dialer->try_next_server();
  if (!lost_s) {
    lost_s = local_s;
    ++stats.connections_lost;
    log.lost(why);
    events.push_back({ClientEvent::Kind::lost, {}});
  }
  const double fraction = dialer->random_fraction();
  dial_s = local_s + (within_round ? back_off.within_round_s(fraction) : back_off.next_s(fraction));
}

// Tries the next server before the first session; false if there is no other server.
bool Client::Impl::goes_elsewhere(const std::string& why, double local_s) {
  if (!dialer->try_next_server()) return false;
  log.goes_elsewhere(why);
  refusal = why;
  server = {};
  transport = nullptr;
  status = ClientStatus::connecting;
  dial_s = local_s + back_off.within_round_s(dialer->random_fraction());
  return true;
}

void Client::Impl::finish(ClientStatus end, ClientEvent::Kind kind) {
  process_all_ordered();
  status = end;
  log.ended(end == ClientStatus::refused, leaving, refusal);
  server = {};
  admitted = false;
  dial_s.reset();
  events.push_back({kind, {}});
}

void Client::Impl::handle_control(std::span<const std::byte> payload, double local_s) {
  std::span<const std::byte> left = payload;
  do {
    const std::size_t bytes_left = left.size();
    auto message = decode_next_control(left);
    if (admitted && (!message || is_counted(*message))) {
      ordered.add(std::move(message), bytes_left - left.size());
      process_ordered(local_s);
    } else {
      process(message, local_s);
    }
  } while (!left.empty());
  world->link.sender().request_ack();  // the server waits for this before it sends state
}

// Processes the reliable messages that do not wait for a spawn any more.
void Client::Impl::process_ordered(double local_s) {
  while (const auto message = ordered.next(world->link.spawns())) {
    // Count refused messages, too: the server numbers all that it sends, and both sides must agree.
    messages.reliable().note_received();
    process(*message, local_s);
    world->link.sender().request_ack();
  }
  world->end_waiting();
}

// The session has ended: nothing that messages wait for will arrive.
void Client::Impl::process_all_ordered() {
  while (const auto message = ordered.next_at_the_end()) {
    if (*message) (void)world->handle(**message);
  }
}

void Client::Impl::process(const OrderedMessages::Message& message, double local_s) {
  const auto why = message ? handle_message(*message, local_s) : Refusal::malformed;
  if (!why) return;
  ++stats.malformed;
  ++stats.refusals[*why];
}

// Processes a message. Returns the reason if it is refused, else nullopt.
std::optional<Refusal> Client::Impl::handle_message(const ControlMessage& message, double local_s) {
  if (const auto* w = std::get_if<WelcomeMessage>(&message)) return welcome(*w, local_s);
  if (const auto* s = std::get_if<SessionMessage>(&message)) return handle(*s, local_s);
  if (const auto* k = std::get_if<KickMessage>(&message)) {
    kick_reason = k->reason.empty() ? std::string{} : ": " + k->reason;
    return std::nullopt;
  }
  if (!admitted) return Refusal::unexpected;
  return world->handle(message);
}

// Starts the first session, or a session that replaces one that the server no longer knows.
std::optional<Refusal> Client::Impl::welcome(const WelcomeMessage& message, double local_s) {
  const bool waits = status == ClientStatus::joining || (status == ClientStatus::reconnecting && !admitted);
  if (!waits || !server) return Refusal::unexpected;
  auto fresh = std::make_unique<ClientWorld>(config, switches, messages, stats);
  if (!fresh->begin(message, local_s)) return Refusal::beyond_limits;
  const bool first = status == ClientStatus::joining;
  if (!first) {
    process_all_ordered();
    messages.restart(stats);
    world->retire();
    if (!before) before = std::move(world);
  }
  world = std::move(fresh);
  status = ClientStatus::joined;
  admitted = true;
  id = message.client;
  session = std::exchange(next_session_key, {});
  sent_playout = joining_as;
  sent_playout_s.reset();
  messages.begin(static_cast<bool>(session));
  lost_s.reset();
  back_off.reset();
  log.joined(id, first);
  if (first) events.push_back({ClientEvent::Kind::joined, {}});
  return std::nullopt;
}

std::optional<Refusal> Client::Impl::handle(const SessionMessage& message, double local_s) {
  if (!server) return Refusal::unexpected;
  const bool another = message.key != session;
  if (admitted && another) return Refusal::unexpected;
  if (!admitted && (!resuming || another)) {
    next_session_key = message.key;
    return std::nullopt;
  }
  if (!SessionClock::is_valid_tick(message.tick)) return Refusal::from_future;
  if (!messages.reliable().confirm(message.processed)) return Refusal::never_sent;
  if (admitted) return std::nullopt;
  world->link.resume(message.tick, local_s);
  ordered.clear();  // the server sends them again
  messages.resend(server, *transport);
  if (sent_playout_s) sent_playout.reset();
  status = ClientStatus::joined;
  admitted = true;
  lost_s.reset();
  back_off.reset();
  events.push_back({ClientEvent::Kind::resumed, {}});
  log.resumed(id);
  return std::nullopt;
}

// Sends the playout settings when they change, at most as often as the server applies them.
void Client::Impl::send_playout(double local_s) {
  constexpr double kMinS = 0.5;
  if (!admitted || transport == nullptr || (sent_playout_s && local_s - *sent_playout_s < kMinS)) return;
  const PlayoutMessage shows = world->shows();
  if (shows == sent_playout) return;
  std::array<std::byte, 64> buffer;
  transport->send(server, Channel::control, encode(shows, buffer));
  // The server needs the blend for lag compensation. It applies the message when it arrives.
  constexpr double kMarginS = 0.05;
  if (sent_playout && sent_playout->blend_s != shows.blend_s)
    blend_known_s = local_s + kMarginS + stats.round_trip_s;
  sent_playout = shows;
  sent_playout_s = local_s;
}

// True while the server does not know yet how long this client's blends take.
bool Client::Impl::blend_is_unknown(double local_s) const {
  return local_s < blend_known_s || (sent_playout && sent_playout->blend_s != world->shows().blend_s);
}

void Client::Impl::acknowledge(double local_s) {
  if (!admitted || transport == nullptr) return;
  if (world->shows_unreported() || blend_is_unknown(local_s)) world->link.showing().note_jump();
  messages.send_waiting(server, *transport);
  std::optional<DatagramSender::Showing> showing;
  if (world->link.clock().ready()) {
    // Frames may be ahead of receive().
    const double now_s = std::max(world->link.clock().server_time_s(local_s), world->playout.now_s());
    showing = {now_s, world->playout.shown_s()};
  }
  world->link.sender().send_due(local_s, config.ack_interval_s, showing, server, *transport);
  // Only now, so that every message has been offered to a datagram once, however slow the frames are.
  messages.expire(local_s, stats);
}

}  // namespace reckoner
