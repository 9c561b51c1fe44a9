// SPDX-License-Identifier: MIT
#include "client/src/client_impl.hpp"
#include "client/src/client_session.hpp"
#include "client/src/client_settings.hpp"
#include "client/src/shown/shown_debug.hpp"
#include "net/src/config/archetype_settings.hpp"
#include "reckoning/src/motion/state_checks.hpp"

#include <string>
#include <utility>

#include <reckoner/client/client.hpp>

namespace reckoner {

std::optional<Error> find_invalid_setting(const PlayoutConfig& playout) {
  if (playout.mode > PlayoutMode::ahead) {
    return Error{"mode is " + std::to_string(static_cast<unsigned>(playout.mode)) +
                 "; it must be present, adaptive, delayed or ahead"};
  }
  if (playout.blend_curve > BlendCurve::damped) {
    return Error{"blend_curve is " + std::to_string(static_cast<unsigned>(playout.blend_curve)) +
                 "; it must be cubic or damped"};
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
  return Impl::make(std::move(config), &transport, nullptr);
}

Result<Client> Client::create(ClientConfig config, Dialer& dialer) {
  if (auto error = find_invalid_setting(config)) return std::move(*error);
  return Impl::make(std::move(config), nullptr, &dialer);
}

Client::Client(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Client::~Client() = default;
Client::Client(Client&&) noexcept = default;
Client& Client::operator=(Client&&) noexcept = default;

Client make_test_client(ClientConfig config, Transport& transport, const ClientTestSwitches& switches) {
  return Client::Impl::make(require_valid(std::move(config)), &transport, nullptr, switches);
}

Client make_test_client(ClientConfig config, Dialer& dialer) {
  return Client::Impl::make(require_valid(std::move(config)), nullptr, &dialer);
}

ClientStatus Client::update(double local_s) {
  Impl& c = *impl_;
  local_s = c.time.of(local_s);
  c.last_local_s = local_s;
  c.stats.times_refused = c.time.refused();
  if (c.connection.plans_first_session()) c.run_connection(local_s);  // the first call connects
  if (c.connection.transport() != nullptr) c.connection.transport()->service(local_s);
  c.advance(local_s);
  const bool slept = c.sleep.slept(local_s);
  if (slept)
    c.session->link.showing().note_jump();  // the server cannot know what is applied now in which order
  c.session->link.clock().set_backlog(slept);
  while (c.connection.transport() != nullptr) {
    const auto event = c.connection.transport()->poll();
    if (!event) break;
    c.receive(*event, local_s);
  }
  c.session->link.clock().set_backlog(false);
  c.review_clock(local_s);
  c.send_playout(local_s);
  c.send_due(local_s);
  c.end_if_left(local_s);
  c.run_connection(local_s);
  c.advance(local_s);  // again: what has arrived may have corrected the clock
  c.shown_session().report_changes();
  c.collect_events();
  c.log.review(c.stats, local_s);
  return c.status;
}

std::span<const ShownEntity> Client::shown() {
  Impl& c = *impl_;
  ClientSession& session = c.shown_session();
  if (!session.link.clock().ready()) return {};
  const auto shown = session.shown.shown(c.origin, session.show_s(c.last_local_s));
  c.collect_events();
  return shown;
}

ShownPoses Client::shown_poses() {
  Impl& c = *impl_;
  ClientSession& session = c.shown_session();
  if (!session.link.clock().ready()) return {};
  const ShownPoses poses = session.shown.poses(c.origin);
  c.collect_events();
  return poses;
}

void Client::set_paused(bool paused) {
  Impl& c = *impl_;
  if (paused == c.shown_session().shown.paused()) return;
  if (paused) {
    const auto frozen = shown();
    c.shown_session().shown.pause(frozen, c.origin);
  } else {
    c.shown_session().shown.go_on();
  }
}

CallResult Client::set_playout(const PlayoutConfig& playout) {
  Impl& c = *impl_;
  if (find_invalid_setting(playout)) return CallError::out_of_range;
  c.config.playout = playout;
  c.session->set_playout(playout);
  if (c.before) c.before->set_playout(playout);
  return {};
}

const PlayoutConfig& Client::playout() const {
  return impl_->config.playout;
}

std::optional<ClientEvent> Client::poll_event() {
  impl_->collect_events();
  return impl_->take_event();
}

ClientStatus Client::status() const {
  return impl_->status;
}

const std::string& Client::refusal() const {
  return impl_->refusal;
}

double Client::lost_for_s() const {
  const auto lost_s = impl_->connection.lost_s();
  return lost_s ? impl_->last_local_s - *lost_s : 0.0;
}

const EntityInfo* Client::info(EntityId id) const {
  const World& world = impl_->shown_session().world;
  if (const KnownEntity* entity = world.entities.find(id)) return &entity->info;
  const Predictions::Prediction* prediction = world.predictions.find(id);
  return prediction != nullptr ? &prediction->info : nullptr;
}

CallResult Client::set_user_value(EntityId id, std::uint64_t value) {
  KnownEntity* entity = impl_->shown_session().world.entities.find(id);
  if (entity == nullptr) return CallError::unknown_entity;
  entity->user_value = value;
  return {};
}

std::optional<std::uint64_t> Client::user_value(EntityId id) const {
  const KnownEntity* entity = std::as_const(impl_->shown_session().world.entities).find(id);
  return entity != nullptr ? std::optional{entity->user_value} : std::nullopt;
}

const FieldValue* Client::field(EntityId id, std::size_t field) const {
  const KnownEntity* entity = std::as_const(impl_->shown_session().world.entities).find(id);
  return entity != nullptr && field < entity->fields.size() ? &entity->fields.value(field) : nullptr;
}

CallResult Client::send(std::span<const std::byte> payload, Delivery delivery, std::optional<double> time_s) {
  Impl& c = *impl_;
  const bool waits = c.status == ClientStatus::reconnecting && delivery != Delivery::unreliable;
  if (c.leaving || (c.status != ClientStatus::joined && !waits)) return CallError::no_connection;
  const CallResult sent =
      c.messages.send(payload, delivery, time_s, c.last_local_s, c.handshake.is_admitted(), c.stats);
  if (sent && c.session->link.showing().wanted())
    c.session->link.sender().request_ack();  // the message may be about what is shown just now
  return sent;
}

void Client::flush() {
  Impl& c = *impl_;
  if (!c.connection.is_connected()) return;
  c.send_playout(c.last_local_s);
  c.send_due(c.last_local_s);
  c.connection.transport()->service(c.last_local_s);  // the transport may have queued what was sent
}

std::optional<GameMessage> Client::poll_message() {
  return impl_->messages.poll();
}

std::optional<double> Client::server_time_s() const {
  const SessionClock& clock = std::as_const(*impl_).shown_session().link.clock();
  if (!clock.ready()) return std::nullopt;
  return clock.server_time_s(impl_->last_local_s);
}

CallResult Client::correct(EntityId id, const State& shown, double anticipated_s) {
  Impl& c = *impl_;
  if (!is_sane(shown)) return CallError::not_finite;
  if (!(anticipated_s >= 0.0 && anticipated_s <= kMaxAnticipationS)) return CallError::out_of_range;
  State in_world = shown;
  in_world.position += c.origin;
  return c.shown_session().correct(id, in_world, anticipated_s);
}

std::optional<State> Client::motion_at(EntityId id, double server_time_s) const {
  const ClientSession& session = std::as_const(*impl_).shown_session();
  if (!session.link.clock().ready()) return std::nullopt;
  auto motion = session.motion_at(id, server_time_s);
  if (motion) motion->position -= impl_->origin;
  return motion;
}

CallResult Client::set_origin(const glm::dvec3& origin) {
  if (!is_finite(origin)) return CallError::not_finite;
  impl_->origin = origin;
  return {};
}

CallResult Client::move(EntityId id, const State& state, EntityId frame) {
  return impl_->move(id, state, frame, false);
}

CallResult Client::teleport(EntityId id, const State& state, EntityId frame) {
  return impl_->move(id, state, frame, true);
}

std::optional<PredictionStep> Client::next_step(std::span<const std::byte> input) {
  Impl& c = *impl_;
  if (!c.plays() || input.size() > kMaxInputBytes) return std::nullopt;
  PlayerInputs& inputs = c.session->link.inputs();
  inputs.begin();
  inputs.note_picture();
  const auto tick = inputs.due();
  if (!tick) return std::nullopt;
  const Input& used = inputs.step(input, c.session->playout.seen_s());
  // With predicted entities, the datagram waits for their results.
  if (c.session->predicted.all().empty()) c.send_due(c.last_local_s);
  return PredictionStep{*tick, used.bytes()};
}

CallResult Client::predict(EntityId id, Tick tick, const State& state,
                           std::span<const std::byte> game_state) {
  Impl& c = *impl_;
  State counted = state;
  counted.position += c.origin;
  bool complete = false;
  const CallResult done = c.session->predicted.predict(id, tick, counted, game_state, complete);
  if (complete) c.send_due(c.last_local_s);
  return done;
}

std::optional<Correction> Client::poll_correction() {
  Impl& c = *impl_;
  if (!c.plays()) return std::nullopt;
  return c.session->predicted.poll_correction(c.origin);
}

SpawnResult Client::predict_spawn(std::size_t archetype, const State& state, std::uint32_t key,
                                  double patience_s) {
  Impl& c = *impl_;
  State counted = state;
  counted.position += c.origin;
  return c.session->predict_spawn(archetype, counted, key, patience_s);
}

CallResult Client::drop_prediction(EntityId id) {
  const bool existed = impl_->session->world.predictions.release(id).has_value();
  return existed ? CallError::none : CallError::unknown_entity;
}

std::optional<State> Client::owned(EntityId id) const {
  const SessionClock& clock = impl_->session->link.clock();
  const KnownEntity* entity = std::as_const(impl_->session->world.entities).find(id);
  if (entity == nullptr || !entity->owned || !clock.known()) return std::nullopt;
  const Motion& go_on = entity->ownership_state.go_on;
  State state = state_at(go_on, clock.server_time_s(impl_->last_local_s));
  if (!go_on.frame) state.position -= impl_->origin;
  return state;
}

EntityId Client::owned_frame(EntityId id) const {
  const KnownEntity* entity = std::as_const(impl_->session->world.entities).find(id);
  return entity != nullptr && entity->owned ? entity_of(entity->ownership_state.go_on.frame) : EntityId{};
}

std::optional<ShownDebug> Client::debug(EntityId id) const {
  const ClientSession& session = std::as_const(*impl_).shown_session();
  const KnownEntity* entity = session.world.entities.find(id);
  if (entity == nullptr || !entity->visible || !session.link.clock().ready()) return std::nullopt;
  auto debug = debug_of(*entity, session.world.frames, session.playout.now_s(), session.playout.shown_s());
  if (!debug) return std::nullopt;
  const Archetype& archetype = session.config.archetypes[entity->info.archetype];
  debug->threshold_m = archetype.threshold_m;
  debug->threshold_rad = archetype.threshold_rad;
  if (entity->predicted) (void)session.predicted.fill_debug(id, *debug);
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
  if (c.connection.is_connected()) {
    constexpr double kLongestS = 10.0;
    c.leave_by_s = c.last_local_s + kLongestS;
    return c.end_if_left(c.last_local_s);
  }
  if (c.status == ClientStatus::reconnecting || (c.connection.transport() == nullptr && !c.is_over()))
    c.finish(ClientStatus::disconnected, ClientEvent::Kind::disconnected);
}

}  // namespace reckoner
