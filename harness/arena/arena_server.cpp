// SPDX-License-Identifier: MIT
#include "harness/arena/arena_server.hpp"

#include "scenario/builtin/builtin_source.hpp"
#include "server/src/test_switches.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <string>

#include <fmt/core.h>
#include <glm/geometric.hpp>

namespace reckoner::harness {
namespace {

constexpr double kStepS = 1.0 / kArenaTickHz;
constexpr double kLifeS = 12.0;         // of an avatar, until it dies and spawns again
constexpr double kBotShotsPerS = 12.0;  // the players fire eight more
constexpr double kPadMiddleM = 12.0;    // along both axes
constexpr double kPadRadiusM = 1.5;
constexpr double kHitRadiusM = 0.6;
constexpr double kBodyHeightM = 1.8;
constexpr double kBeamPatienceS = 1.0;
constexpr double kLargestAgeS =
    0.2;  // a shot starts where it is by now, if its message was not later than this

ServerConfig arena_config(const ArenaOptions& options) {
  ServerConfig config;
  config.tick_rate_hz = kArenaTickHz;
  config.archetypes = arena_archetypes(options.calls);
  config.rewind_s = 1.0;
  return config;
}

// A pad in each quarter of the arena leads to the opposite one. Returns the place where a body at `at` comes
// out, if it is on a pad.
std::optional<glm::dvec3> exit_of_pad(const glm::dvec3& at) {
  const glm::dvec3 pad{std::copysign(kPadMiddleM, at.x), std::copysign(kPadMiddleM, at.y), 0.0};
  if (at.z > 0.1 || glm::distance(pad, at) > kPadRadiusM) return std::nullopt;
  return -0.7 * pad;
}

// The platform goes to and fro in the middle of the arena and turns a little.
State platform_state(double time_s) {
  State state;
  state.position = {0.0, 10.0 * std::sin(0.5 * time_s), 1.0};
  state.velocity = {0.0f, static_cast<float>(5.0 * std::cos(0.5 * time_s)), 0.0f};
  state.acceleration = {0.0f, static_cast<float>(-2.5 * std::sin(0.5 * time_s)), 0.0f};
  state.orientation = scenario::heading_orientation(0.5 * std::sin(0.3 * time_s));
  state.angular_velocity = {0.0f, 0.0f, static_cast<float>(0.15 * std::cos(0.3 * time_s))};
  return state;
}

}  // namespace

ArenaServer::ArenaServer(const ArenaOptions& options, Transport& transport, ArenaRecord& record)
    : options_(options),
      record_(record),
      server_(make_test_server(arena_config(options), transport)),
      random_(options.seed, std::uint64_t{0xA7E4A}) {
  spawn_bodies(0.0);
}

void ArenaServer::spawn_bodies(double now_s) {
  platform_ = *server_.spawn(kPlatformArchetype, "platform", platform_state(now_s));
  const auto add = [&](std::vector<Body>& bodies, const char* name, FighterStyle style, std::size_t i,
                       EntityId frame) {
    const Fighter fighter(style, options_.seed, (style == FighterStyle::rider ? 1000 : 0) + i);
    const EntityId id =
        *server_.spawn(kFighterArchetype, fmt::format("{} {}", name, i), fighter.state(), frame);
    bodies.push_back({id, fighter});
  };
  for (std::size_t i = 0; i < options_.bots; ++i)
    add(bots_, "bot", FighterStyle::acrobat, i, {});
  for (std::size_t i = 0; i < options_.riders; ++i)
    add(riders_, "rider", FighterStyle::rider, i, platform_);
}

void ArenaServer::turn(double now_s) {
  server_.receive(now_s);
  handle_events(now_s);
  handle_messages(now_s);
  move_platform(now_s);
  move_bots(now_s);
  move_avatars(now_s);
  fire_for_bots(now_s);
  move_projectiles(now_s);
  judge_beams(now_s);
  server_.tick(now_s);
}

void ArenaServer::handle_events(double now_s) {
  while (const auto event = server_.poll_event()) {
    if (event->kind == ServerEvent::Kind::client_joined) avatars_[event->client].respawn_s = now_s;
    if (event->kind == ServerEvent::Kind::client_left) avatars_.erase(event->client);
  }
  const OwnershipStats& owners = server_.ownership_stats();
  record_.corrected = owners.corrected + owners.refused;
}

void ArenaServer::handle_messages(double now_s) {
  while (const auto message = server_.poll_message()) {
    const auto request = ArenaRequest::parse(message->payload);
    if (!request || !message->time_s) continue;
    if (request->kind == ArenaRequest::Kind::beam) {
      beams_.push_back({message->sender, *request, now_s});
    } else {
      const double age_s = std::clamp(now_s - *message->time_s, 0.0, kLargestAgeS);
      fire(shot_state(request->position, request->heading, age_s), now_s, request->player, *request,
           message->sender);
    }
  }
}

void ArenaServer::move_platform(double now_s) {
  const State state = platform_state(now_s);
  (void)server_.move(platform_, state);
  record_.truth.note(platform_, now_s, state.position);
  for (Body& rider : riders_) {
    rider.fighter.step(kStepS);
    (void)server_.move(rider.id, rider.fighter.state());
    record_.truth.note(rider.id, now_s, rider.fighter.state().position);
  }
}

void ArenaServer::move_bots(double now_s) {
  for (Body& bot : bots_) {
    bot.fighter.step(kStepS);
    const glm::dvec3 at = bot.fighter.state().position;
    if (const auto exit = exit_of_pad(at)) {
      State there = bot.fighter.state();
      there.position = *exit;
      bot.fighter.continue_from(there);
      (void)server_.teleport(bot.id, bot.fighter.state());
      record_.truth.note_jump(bot.id, {now_s, at, *exit});
    } else {
      (void)server_.move(bot.id, bot.fighter.state());
    }
    record_.truth.note(bot.id, now_s, bot.fighter.state().position);
  }
}

void ArenaServer::move_avatars(double now_s) {
  for (auto& [client, avatar] : avatars_) {
    if (now_s >= avatar.respawn_s) {
      if (avatar.id) (void)server_.despawn(avatar.id);
      State state;
      state.position = {random_.uniform(-15.0, 15.0), random_.uniform(-15.0, 15.0), 0.0};
      avatar.id =
          *server_.spawn(kFighterArchetype, fmt::format("avatar {} {}", client.value, ++avatar.lives), state);
      (void)server_.give(avatar.id, client, {.max_acceleration_mps2 = 2500.0});
      avatar.respawn_s = now_s + random_.uniform(0.8, 1.2) * kLifeS;
    }
    auto state = server_.state(avatar.id);
    if (!state || now_s < avatar.pad_s + 1.0) continue;
    if (const auto exit = exit_of_pad(state->position)) {
      const glm::dvec3 from = state->position;
      state->position = *exit;
      (void)server_.teleport(avatar.id, *state);
      record_.truth.note_jump(avatar.id, {now_s, from, *exit});
      avatar.pad_s = now_s;
    }
  }
}

void ArenaServer::fire(const State& state, double now_s, std::size_t shooter, const ArenaRequest& request,
                       ClientId client) {
  const auto number = static_cast<std::uint32_t>(record_.projectiles.size());
  const double end_s = now_s + time_to_wall_s(state);
  if (end_s <= now_s + kStepS) {
    (void)server_.refuse_prediction(client, request.number);
    return;
  }
  const auto data = projectile_bytes(number);
  ShortLived life{.end_s = end_s, .data = data};
  if (shooter != kNoPlayer && options_.calls.prediction) {
    life.predicted_by = client;
    life.prediction = request.number;
  }
  const SpawnResult spawned = options_.calls.short_lived
                                  ? server_.spawn_short_lived(kShotArchetype, state, life)
                                  : server_.spawn(kShotArchetype, std::to_string(number), state);
  if (!spawned) return;
  record_.projectiles.push_back({now_s, end_s, false, shooter, request.number});
  flying_.push_back({number, *spawned, state, now_s});
  const bool stamped = options_.mode != PlayoutMode::present;
  (void)server_.broadcast(data, Delivery::unreliable, stamped ? std::optional{now_s} : std::nullopt);
}

void ArenaServer::fire_for_bots(double now_s) {
  for (; now_s >= bots_fire_s_; bots_fire_s_ += random_.uniform(0.5, 1.5) / kBotShotsPerS) {
    if (bots_.empty()) continue;
    const State& shooter = bots_[random_.below(bots_.size())].fighter.state();
    const double heading = random_.uniform(-std::numbers::pi, std::numbers::pi);
    fire(shot_state(shooter.position, heading, 0.04), now_s, kNoPlayer, {}, {});
  }
}

EntityId ArenaServer::find_hit(const Flying& shot, const glm::dvec3& at) const {
  const auto hits = [&](const glm::dvec3& body) {
    const glm::dvec3 off = at - body;
    return off.z > 0.0 && off.z < kBodyHeightM && std::hypot(off.x, off.y) < kHitRadiusM;
  };
  if (glm::distance(at, shot.start.position) < 2.0) return {};  // not yet clear of the shooter
  const auto bot =
      std::ranges::find_if(bots_, [&](const Body& b) { return hits(b.fighter.state().position); });
  return bot == bots_.end() ? EntityId{} : bot->id;
}

void ArenaServer::take_health(EntityId id) {
  const auto health = server_.field(id, 0);
  if (!health) return;
  const std::int64_t left = std::get<std::int64_t>(*health) - 10;
  (void)server_.set_field(id, 0, left > 0 ? left : std::int64_t{100});
}

void ArenaServer::move_projectiles(double now_s) {
  std::erase_if(flying_, [&](const Flying& shot) {
    ArenaProjectile& projectile = record_.projectiles[shot.number];
    if (now_s >= projectile.end_s) {
      if (!options_.calls.short_lived) (void)server_.despawn(shot.id);
      return true;
    }
    State state = shot.start;
    state.position += (now_s - shot.start_s) * glm::dvec3(state.velocity);
    if (const EntityId victim = find_hit(shot, state.position)) {
      projectile.end_s = now_s;
      projectile.hit = true;
      (void)server_.despawn(shot.id);
      take_health(victim);
      return true;
    }
    if (!options_.calls.short_lived) (void)server_.move(shot.id, state);
    return false;
  });
}

void ArenaServer::judge_beams(double now_s) {
  std::erase_if(beams_, [&](const WaitingBeam& waiting) {
    const ArenaBeam& beam = record_.beams[waiting.request.player].at(waiting.request.number);
    const bool waits = options_.calls.pending && now_s < waiting.arrived_s + kBeamPatienceS;
    if (waits && server_.rewind_status(waiting.client, beam.client_s) == RewindStatus::pending) return false;
    if (waiting.arrived_s < kArenaWarmUpS) return true;
    for (const SeenPose& drawn : beam.drawn) {
      const auto pose = server_.pose_seen_by(waiting.client, drawn.entity, beam.client_s);
      if (pose) {
        record_.rewind_error_m.push_back(glm::distance(pose->position, drawn.pose.position));
      } else {
        ++record_.rewind_unknown;
      }
    }
    return true;
  });
}

}  // namespace reckoner::harness
