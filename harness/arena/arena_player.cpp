// SPDX-License-Identifier: MIT
#include "harness/arena/arena_player.hpp"

#include "client/src/testing/test_switches.hpp"
#include "harness/arena/arena_rules.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string_view>

#include <glm/geometric.hpp>

namespace reckoner::harness {
namespace {

constexpr double kShotPeriodS = 1.0;
constexpr double kBeamPeriodS = 0.5;
constexpr double kMenuPeriodS =
    20.0;  // now and then a player opens a menu, and the game does not move the avatar
constexpr double kMenuS = 1.5;
constexpr double kShortestDrawnS =
    0.3;                        // in present mode, one with a shorter life may end before it is known
constexpr double kTailS = 3.0;  // projectiles that were fired later do not count

ClientConfig player_config(const ArenaOptions& options) {
  ClientConfig config;
  config.archetypes = arena_archetypes(options.calls);
  config.playout.mode = options.mode;
  return config;
}

// The number of a projectile. An ordinary entity carries it in its name.
std::optional<std::uint32_t> number_of(const EntityInfo& info) {
  if (info.short_lived) return parse_projectile(info.data);
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(info.name.data(), info.name.data() + info.name.size(), number);
  return error == std::errc{} ? std::optional{number} : std::nullopt;
}

}  // namespace

ArenaPlayer::ArenaPlayer(const ArenaOptions& options, std::size_t index, Transport& transport,
                         ArenaRecord& record)
    : options_(options),
      index_(index),
      clock_offset_s_(1000.0 * static_cast<double>(index + 1)),
      record_(record),
      transport_(transport),
      client_(make_test_client(player_config(options), transport)),
      fighter_(FighterStyle::acrobat, options.seed, 2000 + index),
      next_shot_s_(2.0 + 0.1 * static_cast<double>(index)),
      next_beam_s_(2.0 + 0.07 * static_cast<double>(index)) {}

void ArenaPlayer::turn(double now_s) {
  const double local_s = now_s + clock_offset_s_;
  client_.update(local_s);
  handle_events(now_s);
  handle_messages(now_s);
  move_avatar(now_s);
  shoot(now_s);
  const auto shown = client_.shown();
  measure(now_s, shown);
  fire_beam(now_s, shown);
  if (last_turn_s_ < kArenaWarmUpS && now_s >= kArenaWarmUpS) {
    bytes_before_down_ = transport_.stats().wire_bytes_received;
    bytes_before_up_ = transport_.stats().wire_bytes_sent;
  }
  last_turn_s_ = now_s;
}

void ArenaPlayer::handle_events(double now_s) {
  while (const auto event = client_.poll_event()) {
    switch (event->kind) {
      case ClientEvent::Kind::spawned:
        spawned_.insert(event->entity);
        if (event->predicted) predicted_shots_.erase(event->predicted);
        break;
      case ClientEvent::Kind::given:
        avatar_ = event->entity;
        given_s_ = now_s;
        [[fallthrough]];
      case ClientEvent::Kind::corrected:
        if (const auto state = client_.owned(avatar_)) fighter_.continue_from(*state);
        break;
      case ClientEvent::Kind::prediction_failed:
        ++record_.failed_predictions;
        predicted_shots_.erase(event->entity);
        break;
      case ClientEvent::Kind::despawned:
        spawned_.erase(event->entity);
        if (event->entity == avatar_) avatar_ = {};
        break;
      default:
        break;
    }
  }
}

void ArenaPlayer::handle_messages(double now_s) {
  while (const auto message = client_.poll_message()) {
    if (const auto number = parse_projectile(message->payload)) seen(*number).message_s = now_s;
  }
}

void ArenaPlayer::move_avatar(double now_s) {
  if (!avatar_) return;
  const bool in_menu = std::fmod(now_s + 3.0 * static_cast<double>(index_), kMenuPeriodS) < kMenuS;
  if (in_menu && !given_s_) return;
  fighter_.step(now_s - last_turn_s_);
  const CallResult moved = client_.move(avatar_, fighter_.state());
  if (!given_s_) return;
  if (!moved) return (void)++record_.refused_moves;
  record_.grant_ms.push_back(1e3 * (now_s - *given_s_));
  given_s_.reset();
}

void ArenaPlayer::shoot(double now_s) {
  const auto server_s = client_.server_time_s();
  if (!avatar_ || !server_s || now_s < next_shot_s_) return;
  next_shot_s_ = now_s + kShotPeriodS;
  // Across the arena, so that a shot that comes late has not hit the wall yet.
  const glm::dvec3& at = fighter_.state().position;
  const double heading = std::atan2(-at.y, -at.x) + 0.7 * std::sin(2.4 * static_cast<double>(shots_));
  const ArenaRequest request{ArenaRequest::Kind::shot, static_cast<std::uint8_t>(index_), shots_++, at,
                             heading};
  if (!client_.send(request.bytes(), Delivery::reliable, *server_s)) return;
  own_shots_[request.number].fired_s = now_s;
  if (!options_.calls.prediction) return;
  const State state = shot_state(request.position, request.heading, 0.0);
  if (const auto id = client_.predict_spawn(kShotArchetype, state, request.number))
    predicted_shots_[*id] = request.number;
}

void ArenaPlayer::fire_beam(double now_s, std::span<const ShownEntity> shown) {
  const auto server_s = client_.server_time_s();
  if (!server_s || now_s < next_beam_s_) return;
  next_beam_s_ = now_s + kBeamPeriodS;
  auto& beams = record_.beams[index_];
  const ArenaRequest request{ArenaRequest::Kind::beam, static_cast<std::uint8_t>(index_),
                             static_cast<std::uint32_t>(beams.size())};
  if (!client_.send(request.bytes(), Delivery::reliable, *server_s)) return;
  ArenaBeam beam{*server_s, {}};
  for (const ShownEntity& entity : shown) {
    const EntityInfo* info = client_.info(entity.id);
    if (info != nullptr && info->archetype == kFighterArchetype && entity.id != avatar_)
      beam.drawn.push_back({entity.id, {entity.shown.position, entity.shown.orientation}});
  }
  beams.push_back(std::move(beam));
}

double ArenaPlayer::instant_s(const ShownEntity& entity, double now_s) const {
  return options_.mode == PlayoutMode::present ? now_s : entity.shown_time_s;
}

void ArenaPlayer::measure(double now_s, std::span<const ShownEntity> shown) {
  if (const auto server_s = client_.server_time_s(); server_s && now_s > kArenaWarmUpS)
    record_.clock_error_ms.push_back(1e3 * std::abs(*server_s - now_s));
  for (const ShownEntity& entity : shown) {
    if (const auto predicted = predicted_shots_.find(entity.id); predicted != predicted_shots_.end()) {
      note_own_shot(predicted->second, now_s);
      continue;
    }
    const EntityInfo* info = client_.info(entity.id);
    if (info == nullptr) continue;
    if (spawned_.insert(entity.id).second) ++record_.late_events;
    if (info->archetype == kFighterArchetype) measure_fighter(entity, *info, now_s);
    if (info->archetype == kShotArchetype) measure_projectile(entity, *info, now_s);
  }
}

void ArenaPlayer::measure_fighter(const ShownEntity& entity, const EntityInfo& info, double now_s) {
  if (entity.id == avatar_) {
    record_.truth.note(avatar_, now_s, entity.shown.position);
    return;
  }
  DrawnFighter drawn{FighterKind::bot, entity.id, now_s, instant_s(entity, now_s), entity.shown.position, {}};
  if (info.name.starts_with("rider")) {
    drawn.kind = FighterKind::rider;
    drawn.position = entity.local.position;
  } else if (info.name.starts_with("avatar")) {
    drawn.kind = FighterKind::avatar;
    auto& place = places_[entity.id];
    if (place.frame_s == last_turn_s_)
      drawn.speed_mps = glm::distance(drawn.position, place.position) / (now_s - last_turn_s_);
    place = {now_s, drawn.position};
  }
  record_.note_drawn(drawn);
}

void ArenaPlayer::measure_projectile(const ShownEntity& entity, const EntityInfo& info, double now_s) {
  const auto number = number_of(info);
  if (!number || *number >= record_.projectiles.size()) return;
  SeenProjectile& projectile = seen(*number);
  if (!projectile.drawn_s) projectile.drawn_s = now_s;
  projectile.last_instant_s = instant_s(entity, now_s);
  if (record_.projectiles[*number].shooter == index_) note_own_shot(record_.projectiles[*number].key, now_s);
}

void ArenaPlayer::note_own_shot(std::uint32_t key, double now_s) {
  OwnShot& shot = own_shots_[key];
  if (std::exchange(shot.drawn, true) || now_s < kArenaWarmUpS) return;
  record_.own_appeared_ms.push_back(1e3 * (now_s - shot.fired_s));
}

ArenaPlayer::SeenProjectile& ArenaPlayer::seen(std::size_t number) {
  if (number >= projectiles_.size()) projectiles_.resize(number + 1);
  return projectiles_[number];
}

void ArenaPlayer::finish() {
  record_.bytes_down += transport_.stats().wire_bytes_received - bytes_before_down_;
  record_.bytes_up += transport_.stats().wire_bytes_sent - bytes_before_up_;
  for (std::size_t number = 0; number < record_.projectiles.size(); ++number) {
    const ArenaProjectile& projectile = record_.projectiles[number];
    if (projectile.fired_s < kArenaWarmUpS || projectile.fired_s > last_turn_s_ - kTailS) continue;
    const SeenProjectile& was_seen = seen(number);
    if (was_seen.drawn_s) {
      const double past_ms = 1e3 * std::max(0.0, was_seen.last_instant_s - projectile.end_s);
      (projectile.hit ? record_.past_hit_ms : record_.past_wall_ms).push_back(past_ms);
    }
    if (projectile.end_s < projectile.fired_s + kShortestDrawnS) continue;
    ++record_.should_drawn;
    if (!was_seen.drawn_s) ++record_.never_drawn;
    if (was_seen.drawn_s && was_seen.message_s)
      record_.appeared_ms.push_back(1e3 * (*was_seen.drawn_s - *was_seen.message_s));
  }
}

}  // namespace reckoner::harness
