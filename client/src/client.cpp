// SPDX-License-Identifier: MIT
#include "client_impl.hpp"
#include "shown_debug.hpp"

#include <cassert>
#include <cmath>
#include <utility>

#include <reckoner/client/client.hpp>

namespace reckoner {

Client::Impl::Impl(ClientConfig given, Transport* given_transport, Dialer* given_dialer)
    : config(std::move(given)),
      dialer(given_dialer),
      transport(given_transport),
      log(config.log),
      world(std::make_unique<ClientWorld>(config, mail, stats)),
      back_off(config.reconnect) {
  for ([[maybe_unused]] const Archetype& archetype : config.archetypes)
    assert(is_valid(archetype.fields));
  if (dialer != nullptr) dial_s = -1e300;
}

Client::Client(ClientConfig config, Transport& transport)
    : impl_(std::make_unique<Impl>(std::move(config), &transport, nullptr)) {}
Client::Client(ClientConfig config, Dialer& dialer)
    : impl_(std::make_unique<Impl>(std::move(config), nullptr, &dialer)) {}
Client::~Client() = default;

void Client::receive(double local_s) {
  Impl& c = *impl_;
  local_s = c.time.of(local_s);
  c.last_local_s = local_s;
  if (c.dialer != nullptr && c.dial_s && !c.lost_s) c.live(local_s);  // the first time
  if (c.transport != nullptr) c.transport->service(local_s);
  c.advance(local_s);
  c.world->link.take_for_history(c.sleep.slept(local_s));
  while (c.transport != nullptr) {
    const auto event = c.transport->poll();
    if (!event) break;
    c.handle(*event, local_s);
  }
  c.world->link.take_for_history(false);
  c.tell_playout(local_s);
  c.acknowledge(local_s);
  c.live(local_s);
  c.collect_events();
  c.log.review(c.stats, local_s);
}

void Client::Impl::advance(double local_s) {
  if (before) before->advance(local_s);
  world->advance(local_s);
}

ClientWorld& Client::Impl::shown_world() {
  if (before && world->link.clock_ready()) {
    before->end();
    collect_events();
    before.reset();
    events.push_back({ClientEvent::Kind::restarted, {}});
  }
  return before ? *before : *world;
}

// Those of a world that is not shown yet wait.
void Client::Impl::collect_events() {
  std::deque<ClientEvent>& of_world = (before ? *before : *world).events;
  events.insert(events.end(), of_world.begin(), of_world.end());
  of_world.clear();
}

std::span<const ShownEntity> Client::frame(double local_s) {
  Impl& c = *impl_;
  local_s = c.time.of(local_s);
  c.advance(local_s);
  ClientWorld& world = c.shown_world();
  if (!world.link.clock_ready()) return {};
  const auto shown = world.frame(c.origin, local_s);
  c.collect_events();
  return shown;
}

ShownPoses Client::sample(double local_s) {
  Impl& c = *impl_;
  local_s = c.time.of(local_s);
  c.advance(local_s);
  ClientWorld& world = c.shown_world();
  if (!world.link.clock_ready()) return {};
  const ShownPoses shown = world.sample(c.origin);
  c.collect_events();
  return shown;
}

void Client::set_paused(bool paused, double local_s) {
  Impl& c = *impl_;
  local_s = c.time.of(local_s);
  if (paused == c.shown_world().paused()) return;
  if (paused) {
    const auto shown = frame(local_s);
    c.shown_world().pause(shown, c.origin);
  } else {
    c.advance(local_s);
    c.shown_world().go_on();
  }
}

bool Client::set_playout(const PlayoutConfig& playout, double local_s) {
  Impl& c = *impl_;
  const auto is_count = [](double number) { return std::isfinite(number) && number >= 0.0; };
  if (!is_count(playout.delay_s) || !is_count(playout.max_delay_s) || !is_count(playout.blend_frames) ||
      !is_count(playout.frame_rate_hz) || playout.frame_rate_hz <= 0.0)
    return false;
  c.advance(c.time.of(local_s));
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
  const KnownEntity* entity = std::as_const(impl_->shown_world().entities).find(id);
  return entity != nullptr ? &entity->info : nullptr;
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
  if (!c.mail.send(payload, delivery, time_s, c.last_local_s, c.server, transport, c.stats)) return false;
  if (c.world->link.rewinds()) c.world->link.hurry();  // the message may be about what is shown just now
  return true;
}

std::optional<GameMessage> Client::poll_message() {
  return impl_->mail.poll();
}

std::optional<double> Client::server_time_s(double local_s) const {
  const ClientWorld& world = std::as_const(*impl_).shown_world();
  if (!world.link.clock_ready()) return std::nullopt;
  return world.link.server_time_s(impl_->time.look(local_s));
}

bool Client::correct(EntityId id, const State& shown, double local_s) {
  Impl& c = *impl_;
  c.advance(c.time.of(local_s));
  if (!is_sane(shown)) return false;
  State in_world = shown;
  in_world.position += c.origin;
  return c.shown_world().correct(id, in_world);
}

bool Client::set_origin(const glm::dvec3& origin) {
  if (!std::isfinite(origin.x) || !std::isfinite(origin.y) || !std::isfinite(origin.z)) return false;
  impl_->origin = origin;
  return true;
}

bool Client::move(EntityId id, const State& state, double local_s, EntityId frame) {
  Impl& c = *impl_;
  local_s = c.time.of(local_s);
  c.advance(local_s);
  State counted = state;
  if (!frame) counted.position += c.origin;
  if (!is_sane(counted) || !c.world->move(id, counted, frame, local_s)) return false;
  c.acknowledge(local_s);
  return true;
}

std::optional<State> Client::owned(EntityId id, double local_s) const {
  const ClientWorld& world = *impl_->world;
  const KnownEntity* entity = std::as_const(world.entities).find(id);
  if (entity == nullptr || !entity->owned || !world.link.clock_known()) return std::nullopt;
  const Motion& go_on = entity->possession.go_on;
  State state = state_at(go_on, world.link.server_time_s(impl_->time.look(local_s)));
  if (!go_on.frame) state.position -= impl_->origin;
  return state;
}

EntityId Client::owned_frame(EntityId id) const {
  const KnownEntity* entity = std::as_const(impl_->world->entities).find(id);
  return entity != nullptr && entity->owned ? entity_of(entity->possession.go_on.frame) : EntityId{};
}

std::optional<ShownDebug> Client::debug(EntityId id) const {
  const ClientWorld& world = std::as_const(*impl_).shown_world();
  const KnownEntity* entity = std::as_const(world.entities).find(id);
  if (entity == nullptr || !entity->visible || !world.link.clock_ready()) return std::nullopt;
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
    if (c.admitted) c.mail.let_all_go(c.server, *c.transport);
    return c.transport->disconnect(c.server, pack({EndReason::left, 0}));
  }
  if (c.status == ClientStatus::reconnecting || (c.transport == nullptr && !c.is_over()))
    c.finish(ClientStatus::disconnected, ClientEvent::Kind::disconnected);
}

}  // namespace reckoner
