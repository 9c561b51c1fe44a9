// SPDX-License-Identifier: MIT
#include "server_game.hpp"

namespace arena {
namespace {

using reckoner::EntityId;

constexpr int kBots = 40, kRiders = 4;
constexpr double kReachM = 4.0;       // a player may fire this far from where the server sees the avatar
constexpr double kLatestBoltS = 0.2;  // a bolt starts where it is by now, if its message was not later
constexpr double kToleranceS = 0.15;  // the link may bring two shots closer together than they were sent
constexpr double kBotShotsPerS = 0.12, kBotSightM = 10.0;
constexpr std::size_t kMostLetters = 80;

// The id of a new entity; null if the world is full (ServerConfig::max_entities).
EntityId id_or_null(const reckoner::SpawnResult& spawned) {
  return spawned ? *spawned : EntityId{};
}

}  // namespace

ServerGame::ServerGame(reckoner::Server& server, std::uint32_t seed) : server_(server), random_(seed) {
  platform_ = id_or_null(server_.spawn(kPlatform, "platform", platform_state(0.0)));
  (void)server_.set_boardable(platform_, true);  // players may step on it
  for (std::size_t i = 0; i < kDoors.size(); ++i)
    doors_[i] =
        id_or_null(server_.spawn(kDoor, "door " + std::to_string(i), {.position = {kDoors[i].middle, 0.0}}));
  for (int i = 0; i < kBots; ++i)
    spawn_fighter(kBot, "bot " + std::to_string(i), spawn_place());
  for (int i = 0; platform_ && i < kRiders; ++i) {
    const glm::dvec3 on_deck{i % 2 == 0 ? -1.5 : 1.5, i < 2 ? -1.2 : 1.2, 0.0};
    spawn_fighter(kRider, "rider " + std::to_string(i), {.position = on_deck});
  }
}

void ServerGame::receive(double now_s) {
  server_.receive(now_s);
  while (const auto event = server_.poll_event()) {
    if (event->kind == reckoner::ServerEvent::Kind::client_left ||
        event->kind == reckoner::ServerEvent::Kind::client_lost)
      forget(event->client);
  }
  while (const auto message = server_.poll_message())
    handle_message(*message);
}

void ServerGame::tick(double now_s) {
  const double time_s = server_.tick_time_s(server_.next_tick());
  (void)server_.move(platform_, platform_state(time_s));
  spawn_waiting();
  move_fighters(1.0 / config().tick_rate_hz);
  move_doors();
  fire_for_bots(time_s);
  move_bolts(time_s);
  judge_beams();
  server_.tick(now_s);
}

void ServerGame::forget(reckoner::ClientId player) {
  waiting_.erase(player);
  const auto avatar = avatars_.find(player);
  if (avatar == avatars_.end()) return;
  announce(fighters_.at(avatar->second).name + " has left");
  fighters_.erase(avatar->second);
  avatars_.erase(avatar);  // the entity itself despawns (OwnerGone::despawn)
}

void ServerGame::handle_message(const reckoner::GameMessage& message) {
  const auto kind = first<MessageKind>(message.payload);
  const auto avatar = avatars_.find(message.sender);
  if (avatar == avatars_.end()) {  // the only message of somebody without an avatar
    if (kind != MessageKind::hello || waiting_.contains(message.sender)) return;
    std::string name = unpack_text(message.payload, 12);
    if (name.empty()) name = "player " + std::to_string(message.sender.value);
    if (!spawn_avatar(message.sender, name, 0)) waiting_.emplace(message.sender, Waiting{name, 0});
    return announce(name + " has joined");
  }
  if (kind == MessageKind::chat)
    announce(fighters_.at(avatar->second).name + ": " + unpack_text(message.payload, kMostLetters));
  if (const auto shot = unpack<Shot>(message.payload); kind == MessageKind::shot && shot && message.time_s)
    handle_shot(message.sender, *shot, *message.time_s);
}

EntityId ServerGame::spawn_fighter(Kind kind, const std::string& name, const reckoner::State& state) {
  // A rider's state is relative to the platform, from the spawn on.
  const EntityId id = id_or_null(server_.spawn(kind, name, state, kind == kRider ? platform_ : EntityId{}));
  if (!id) return {};
  fighters_.emplace(id,
                    Fighter{.kind = kind, .name = name, .body{state, kBotGripMps2}, .bot = Bot(random_())});
  return id;
}

// Gives the player a new avatar. An avatar that has died is gone, and the player gets the next one. Returns
// false if the world is full.
bool ServerGame::spawn_avatar(reckoner::ClientId player, const std::string& name, std::int64_t score) {
  const EntityId id = spawn_fighter(kPlayer, name, spawn_place());
  if (!id) return false;
  // Limits that leave room for everything an honest player does: a dash starts within one picture, and the
  // longest distance between two pads is 40 m.
  (void)server_.give(id, player,
                     {.gone = reckoner::OwnerGone::despawn,
                      .max_acceleration_mps2 = 2500.0,
                      .frame_reach_m = 8.0,
                      .max_teleport_m = 42.0,
                      .teleport_interval_s = 0.5});
  (void)server_.set_field(id, kScore, score);
  avatars_[player] = id;
  return true;
}

// The world was full when these players joined or lost their avatars. There may be room by now.
void ServerGame::spawn_waiting() {
  std::erase_if(waiting_, [&](const auto& entry) {
    return spawn_avatar(entry.first, entry.second.name, entry.second.score);
  });
}

reckoner::State ServerGame::spawn_place() {
  const double y = uniform(random_, 9.5, 12.0);  // in the outer halls, away from pads and platform
  return {.position = {uniform(random_, -12.0, 12.0), random_() % 2 == 0 ? y : -y, 0.0}};
}

void ServerGame::handle_shot(reckoner::ClientId player, const Shot& shot, double time_s) {
  const EntityId avatar = avatars_.at(player);
  const auto is_sane = [](double number) { return std::abs(number) < 100.0; };
  if (shot.weapon >= kWeapons || !is_sane(shot.place.x) || !is_sane(shot.place.y) ||
      !is_sane(shot.heading_rad))
    return;
  const double now_s = server_.tick_time_s(server_.next_tick());
  const glm::dvec3 at{shot.place, place_of(avatar).z};
  double& next_s = fighters_.at(avatar).next_shot_s[shot.weapon];
  if (glm::distance(at, place_of(avatar)) > kReachM || now_s < next_s - kToleranceS)
    return (void)server_.refuse_prediction(player, shot.key);
  next_s = std::max(next_s, now_s - kToleranceS) + kPauseS[shot.weapon];
  if (shot.weapon == kBeamGun) return (void)beams_.push_back({player, shot, time_s});
  const double age_s = std::clamp(now_s - time_s, 0.0, kLatestBoltS);
  fire_bolt(avatar, bolt_state(at, shot.heading_rad, age_s), now_s, player, shot.key);
}

void ServerGame::fire_bolt(EntityId shooter, const reckoner::State& start, double time_s,
                           reckoner::ClientId player, std::uint32_t key) {
  const glm::dvec2 direction = glm::dvec2(start.velocity) / kBoltMps;
  const double path_m = clear_path_m(glm::dvec2(start.position), direction, solids(open_));
  const double end_s = time_s + std::min(path_m / kBoltMps, kBoltLifeS);
  const std::uint64_t from = reckoner::to_number(shooter);  // clients draw the bolt in the shooter's colour
  const auto id = server_.spawn_short_lived(kBolt, start,
                                            {.end_s = end_s,
                                             .data = std::as_bytes(std::span(&from, 1)),
                                             .predicted_by = player,
                                             .prediction = key});
  if (id) bolts_.push_back({*id, shooter, start, time_s, end_s});
}

void ServerGame::fire_for_bots(double time_s) {
  for (const auto& [id, fighter] : fighters_) {
    if (fighter.kind != kBot || uniform(random_, 0.0, 1.0) > kBotShotsPerS / config().tick_rate_hz) continue;
    const glm::dvec3 at = place_of(id);
    for (const auto& [player, avatar] : avatars_) {
      const glm::dvec3 to = place_of(avatar) - at;
      const double heading = heading_of(glm::dvec2(to)) + uniform(random_, -0.2, 0.2);
      if (glm::length(to) < kBotSightM) fire_bolt(id, bolt_state(at, heading), time_s);
    }
  }
}

void ServerGame::move_fighters(double step_s) {
  places_.clear();
  for (const auto& [id, fighter] : fighters_)
    places_.emplace_back(place_of(id));
  const std::vector<Box> solid = solids(open_);
  const glm::dvec2 platform(place_of(platform_));
  for (auto& [id, fighter] : fighters_) {
    if (fighter.kind == kPlayer) continue;
    Body& body = fighter.body;
    if (fighter.kind == kBot)
      body.step(fighter.bot.roam(body.state(), places_, platform, step_s), step_s, solid);
    else
      body.step(fighter.bot.ride(body.state(), step_s), step_s, {});
    if (fighter.kind == kBot && body.use_pad())
      (void)server_.teleport(id, body.state());  // the clients draw it at the exit at once, without a blend
    else
      (void)server_.move(id, body.state());
  }
}

// A door is open while a fighter is near. Clients that show the past see the field change with the motion.
void ServerGame::move_doors() {
  for (std::size_t i = 0; i < kDoors.size(); ++i) {
    const bool open = std::any_of(places_.begin(), places_.end(), [&](const glm::dvec2& at) {
      return glm::distance(at, kDoors[i].middle) < (open_[i] ? 3.2 : 2.8);
    });
    if (open != std::exchange(open_[i], open)) (void)server_.set_field(doors_[i], kOpen, open);
  }
}

void ServerGame::move_bolts(double time_s) {
  std::erase_if(bolts_, [&](const FlyingBolt& bolt) {
    if (time_s >= bolt.end_s) return true;  // Reckoner ends the entity at this instant, everywhere
    const glm::dvec3 at = bolt.start.position + (time_s - bolt.start_s) * glm::dvec3(bolt.start.velocity);
    for (const auto& [id, fighter] : fighters_) {
      const glm::dvec3 body = place_of(id);
      if (id == bolt.shooter || glm::distance(glm::dvec2(body), glm::dvec2(at)) > kBodyRadiusM) continue;
      if (body.z > at.z) continue;  // it jumps over the bolt
      (void)server_.despawn(bolt.id);
      hurt(id, bolt.shooter, 15);
      return true;
    }
    return false;
  });
}

// A reliable message may overtake the report of what its sender saw. Such a beam waits for the report.
void ServerGame::judge_beams() {
  std::erase_if(beams_, [&](const WaitingBeam& beam) {
    if (server_.rewind_status(beam.player, beam.time_s) == reckoner::RewindStatus::pending) return false;
    const auto avatar = avatars_.find(beam.player);
    if (avatar == avatars_.end()) return true;
    const Verdict verdict = judge(beam);
    // A verdict names its shot, so the order does not matter.
    (void)server_.send(beam.player, pack(MessageKind::verdict, verdict),
                       reckoner::Delivery::reliable_unordered);
    if (verdict.target != 0) hurt(reckoner::entity_id_of(verdict.target), avatar->second, 35);
    return true;
  });
}

// Finds the first fighter on the beam, at the poses that the shooter's client was drawing at that instant.
Verdict ServerGame::judge(const WaitingBeam& beam) {
  const glm::dvec2 from = beam.shot.place, direction = direction_of(beam.shot.heading_rad);
  double nearest_m = std::min(kBeamRangeM, clear_path_m(from, direction, solids(open_)));
  Verdict verdict{.key = beam.shot.key};
  const auto poses = server_.rewind(beam.player, beam.time_s);
  const std::vector<reckoner::SeenPose> on_screen(poses.begin(), poses.end());  // calls may void the span
  for (const reckoner::SeenPose& seen : on_screen) {
    if (!fighters_.contains(seen.entity)) continue;
    const glm::dvec2 place(seen.pose.position);
    const auto along_m = meets_disc_m(from, direction, place, kBodyRadiusM);
    if (!along_m || *along_m > nearest_m) continue;
    nearest_m = *along_m;
    verdict.target = reckoner::to_number(seen.entity);
    verdict.seen = place;
    verdict.truth = glm::dvec2(place_of(seen.entity));
  }
  return verdict;
}

void ServerGame::hurt(EntityId id, EntityId by, std::int64_t amount) {
  const auto found = fighters_.find(id);
  if (found == fighters_.end()) return;
  Fighter& fighter = found->second;
  const std::int64_t health = number(id, kHealth) - amount;
  (void)server_.set_field(id, kHealth, health > 0 ? health : 100);  // a bot that has lost goes on elsewhere
  if (health > 0) return;
  if (const auto winner = fighters_.find(by); winner != fighters_.end()) {
    (void)server_.set_field(by, kScore, std::min<std::int64_t>(number(by, kScore) + 1, 9999));
    if (winner->second.kind == kPlayer || fighter.kind == kPlayer)
      announce(winner->second.name + " beats " + fighter.name);
  }
  if (const auto player = server_.owner(id)) {
    const std::string name = fighter.name;
    const std::int64_t score = number(id, kScore);
    (void)server_.despawn(id);
    fighters_.erase(found);
    avatars_.erase(*player);
    if (!spawn_avatar(*player, name, score)) waiting_.emplace(*player, Waiting{name, score});
    return;
  }
  if (fighter.kind == kRider) return;
  fighter.body.continue_from(spawn_place());
  (void)server_.teleport(id, fighter.body.state());
}

// The value of one of a fighter's fields. The server keeps them; this game needs no copy.
std::int64_t ServerGame::number(EntityId id, FighterField field) const {
  return std::get<std::int64_t>(server_.field(id, field).value_or(std::int64_t{0}));
}

void ServerGame::announce(const std::string& line) {
  (void)server_.broadcast(pack_text(MessageKind::chat, line), reckoner::Delivery::reliable);
}

}  // namespace arena
