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
constexpr double kStepS = 1.0 / kTickHz;
// A player predicts the ball within this distance, and until it is farther away than the second one. A ball
// or a dash is here before the news of it has made a round trip.
constexpr double kNearBallM = 7.0, kFarFromBallM = 9.0;
// Other people's kicks are corrections anyway. Below this error, nobody sees one.
constexpr reckoner::PredictionRules kBallRules{.position_m = 0.05};

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
  ball_id_ = id_or_null(server_.spawn(kBall, "ball", ball_));
  kick_off({0.0, 12.0}, {0.0, 0.0});
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
  step_all(time_s);
  predict_ball();
  move_doors();
  fire_for_bots(time_s);
  move_bolts(time_s);
  judge_beams();
  report_inputs();
  server_.tick(now_s);
}

void ServerGame::kick_off(const glm::dvec2& at, const glm::dvec2& mps) {
  ball_ = {.position = {at, 0.0}, .velocity = glm::vec3(mps, 0.0)};
  (void)server_.teleport(ball_id_, ball_);
}

EntityId ServerGame::avatar(reckoner::ClientId player) const {
  const auto found = avatars_.find(player);
  return found != avatars_.end() ? found->second : EntityId{};
}

void ServerGame::forget(reckoner::ClientId player) {
  waiting_.erase(player);
  ball_players_.erase(player);
  const auto avatar = avatars_.find(player);
  if (avatar == avatars_.end()) return;
  announce(fighters_.at(avatar->second).name + " has left");
  fighters_.erase(avatar->second);
  (void)server_.despawn(avatar->second);  // one that the player owned is gone by now (OwnerGone::despawn)
  avatars_.erase(avatar);
}

void ServerGame::handle_message(const reckoner::GameMessage& message) {
  const auto kind = first<MessageKind>(message.payload);
  const auto avatar = avatars_.find(message.sender);
  if (avatar == avatars_.end()) {  // the only message of somebody without an avatar
    if (kind != MessageKind::hello || waiting_.contains(message.sender)) return;
    std::string name = unpack_text(message.payload, 12);
    if (name.empty()) name = "player " + std::to_string(message.sender.value);
    if (!spawn_avatar(message.sender, {name})) waiting_.emplace(message.sender, Seat{name});
    return announce(name + " has joined");
  }
  if (const auto number = unpack<std::uint32_t>(message.payload); kind == MessageKind::authority && number) {
    if (const auto authority = authority_of(*number)) change_authority(message.sender, *authority);
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
  fighters_.emplace(id, Fighter{.kind = kind,
                                .name = name,
                                .body{state, kind == kPlayer ? kPlayerBuild : kBotBuild, kind == kRider},
                                .bot = Bot(random_()),
                                .player = {}});
  return id;
}

// Gives the player a new avatar. An avatar that has died is gone, and the player gets the next one. Returns
// false if the world is full.
bool ServerGame::spawn_avatar(reckoner::ClientId player, const Seat& seat) {
  const EntityId id = spawn_fighter(kPlayer, seat.name, spawn_place());
  if (!id) return false;
  Fighter& fighter = fighters_.at(id);
  fighter.player = player, fighter.authority = seat.authority;
  avatars_[player] = id;
  authorize(id, fighter);
  (void)server_.set_field(id, kScore, seat.score);
  return true;
}

// The world was full when these players joined or lost their avatars. There may be room by now.
void ServerGame::spawn_waiting() {
  std::erase_if(waiting_, [&](const auto& entry) { return spawn_avatar(entry.first, entry.second); });
}

void ServerGame::change_authority(reckoner::ClientId player, Authority authority) {
  const EntityId avatar = avatars_.at(player);
  Fighter& fighter = fighters_.at(avatar);
  if (fighter.authority == authority) return;
  if (fighter.authority == Authority::predicted) (void)server_.stop_prediction(avatar, player);
  if (fighter.authority == Authority::own) {
    (void)server_.revoke(avatar);  // the server's body goes on from the owner's
    fighter.body.continue_from(server_.state(avatar).value_or(fighter.body.state()),
                               static_cast<bool>(server_.frame_of(avatar)));
  }
  fighter.authority = authority;
  authorize(avatar, fighter);
}

// Lets the player's machine do with the avatar what its authority says.
void ServerGame::authorize(EntityId avatar, Fighter& fighter) {
  if (fighter.authority == Authority::predicted) (void)server_.let_predict(avatar, fighter.player);
  // Limits that leave room for everything an honest player does: a dash starts within one picture, and the
  // longest distance between two pads is 40 m.
  if (fighter.authority == Authority::own)
    (void)server_.give(avatar, fighter.player,
                       {.gone = reckoner::OwnerGone::despawn,
                        .max_acceleration_mps2 = 2500.0,
                        .frame_reach_m = 8.0,
                        .max_teleport_m = 42.0,
                        .teleport_interval_s = 0.5});
  const AvatarNews news{reckoner::to_number(avatar), static_cast<std::uint32_t>(fighter.authority)};
  (void)server_.send(fighter.player, pack(MessageKind::avatar, news), reckoner::Delivery::reliable);
}

reckoner::State ServerGame::spawn_place() {
  const double y = uniform(random_, 9.5, 12.0);  // in the outer halls, away from pads and platform
  return {.position = {uniform(random_, -12.0, 12.0), random_() % 2 == 0 ? y : -y, 0.0}};
}

// The shot of a player who moves the avatar: everything that the player's machine says is checked.
void ServerGame::handle_shot(reckoner::ClientId player, const Shot& shot, double time_s) {
  const EntityId avatar = avatars_.at(player);
  Fighter& fighter = fighters_.at(avatar);
  const auto is_sane = [](double number) { return std::abs(number) < 100.0; };
  if (shot.weapon >= kWeapons || !is_sane(shot.place.x) || !is_sane(shot.place.y) ||
      !is_sane(shot.heading_rad))
    return;
  const double now_s = server_.tick_time_s(server_.next_tick());
  const glm::dvec3 at{shot.place, place_of(avatar).z};
  double& next_s = fighter.next_shot_s[shot.weapon];
  if (fighter.authority != Authority::own || glm::distance(at, place_of(avatar)) > kReachM ||
      now_s < next_s - kToleranceS)
    return (void)server_.refuse_prediction(player, shot.key);
  next_s = std::max(next_s, now_s - kToleranceS) + kPauseS[shot.weapon];
  shoot(player, shot, at, time_s);
}

// `time_s` is when the player pulled the trigger, and so the time of the picture that the player aimed in.
void ServerGame::shoot(reckoner::ClientId player, const Shot& shot, const glm::dvec3& at, double time_s) {
  if (shot.weapon == kBeamGun) return (void)beams_.push_back({player, shot, time_s});
  const double now_s = server_.tick_time_s(server_.next_tick());
  const double age_s = std::clamp(now_s - time_s, 0.0, kLatestBoltS);
  fire_bolt(avatars_.at(player), bolt_state(at, shot.heading_rad, age_s), now_s, player, shot.key);
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
    if (fighter.kind != kBot || uniform(random_, 0.0, 1.0) > kBotShotsPerS / kTickHz) continue;
    const glm::dvec3 at = place_of(id);
    for (const auto& [player, avatar] : avatars_) {
      const glm::dvec3 to = place_of(avatar) - at;
      const double heading = heading_of(glm::dvec2(to)) + uniform(random_, -0.2, 0.2);
      if (glm::length(to) < kBotSightM) fire_bolt(id, bolt_state(at, heading), time_s);
    }
  }
}

// Moves everything that this server moves, with the step that the players predict.
void ServerGame::step_all(double time_s) {
  places_.clear();
  for (const auto& [id, fighter] : fighters_)
    places_.emplace_back(place_of(id));
  places_.emplace_back(ball_.position);  // bots keep away from the ball, too
  const std::vector<Box> solid = solids(open_);
  const Stage stage{solid, platform_state(time_s)};
  actors_.clear();
  for (auto& [id, fighter] : fighters_)
    actors_.push_back({&fighter.body, controls_of(id, fighter, stage)});
  places_.pop_back();
  step(actors_, ball_id_ ? &ball_ : nullptr, stage, kStepS);
  for (auto& [id, fighter] : fighters_)
    publish(id, fighter, stage);
  (void)server_.move(ball_id_, ball_);
}

// What a fighter does in this tick; nullopt if its player's machine moves it.
std::optional<Controls> ServerGame::controls_of(EntityId id, Fighter& fighter, const Stage& stage) {
  const reckoner::State& state = fighter.body.state();
  if (fighter.kind == kBot)
    return fighter.bot.roam(state, places_, glm::dvec2(stage.platform->position), kStepS);
  if (fighter.kind == kRider)
    return turned(fighter.bot.ride(state, kStepS), heading_of(stage.platform->orientation));
  if (fighter.authority == Authority::own) {
    fighter.body.continue_from(server_.state(id).value_or(state), static_cast<bool>(server_.frame_of(id)));
    return std::nullopt;
  }
  const reckoner::PlayerInput input = server_.input(fighter.player);
  Controls controls = from_input(input.bytes, heading_of(state.orientation));
  if (input.repeated > 0) controls.fires = {};  // the player has pulled the trigger for another tick
  fighter.seen_s = input.seen_s;
  return controls;
}

// Hands the results of a step to Reckoner, and lets players fire.
void ServerGame::publish(EntityId id, Fighter& fighter, const Stage& stage) {
  const Body& body = fighter.body;
  if (fighter.kind == kPlayer && fighter.authority == Authority::own) return;
  const EntityId frame = body.aboard() ? platform_ : EntityId{};
  if (server_.frame_of(id) != frame) (void)server_.enter_frame(id, frame);
  if (body.has_used_pad())
    (void)server_.teleport(id, body.state());  // the clients draw it at the exit at once, without a blend
  else
    (void)server_.move(id, body.state());
  if (fighter.kind != kPlayer) return;
  (void)server_.set_game_state(id, body.memory_bytes());
  const reckoner::State world = body.in_world(stage.platform);
  for (const Weapon weapon : {kBoltGun, kBeamGun}) {
    if (body.has_fired(weapon))
      shoot(fighter.player,
            {server_.next_tick(), weapon, glm::dvec2(world.position), heading_of(world.orientation)},
            world.position, fighter.seen_s);
  }
}

// The ball belongs to the predicted entities of every player near it.
void ServerGame::predict_ball() {
  for (const auto& [player, avatar] : avatars_) {
    const bool predicts = ball_players_.contains(player);
    const double away_m = glm::distance(glm::dvec2(place_of(avatar)), glm::dvec2(ball_.position));
    const bool should = fighters_.at(avatar).authority == Authority::predicted &&
                        away_m < (predicts ? kFarFromBallM : kNearBallM);
    if (should && !predicts && server_.let_predict(ball_id_, player, kBallRules))
      ball_players_.insert(player);
    if (!should && predicts) {
      (void)server_.stop_prediction(ball_id_, player);
      ball_players_.erase(player);
    }
  }
}

// Tells each player once a second how its inputs arrive. The news is replaced soon, so it may get lost.
void ServerGame::report_inputs() {
  if (server_.next_tick() % static_cast<reckoner::Tick>(kTickHz) != 0) return;
  for (const auto& [player, avatar] : avatars_) {
    const auto stats = server_.prediction_stats(player);
    if (!stats || fighters_.at(avatar).authority == Authority::own) continue;
    const InputNews news{stats->ticks, stats->ticks_repeated};
    (void)server_.send(player, pack(MessageKind::inputs, news), reckoner::Delivery::unreliable);
  }
}

// A door is open while a fighter is near. Clients that show the past see the field change with the motion.
void ServerGame::move_doors() {
  for (std::size_t i = 0; i < kDoors.size(); ++i) {
    const bool open = std::any_of(places_.begin(), places_.end(),
                                  [&](const glm::dvec2& at) { return opens(at, kDoors[i], open_[i]); });
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
    if (!fighters_.contains(seen.entity) || seen.entity == avatar(beam.player)) continue;
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
  if (const reckoner::ClientId player = fighter.player) {
    const Seat seat{fighter.name, number(id, kScore), fighter.authority};
    (void)server_.despawn(id);
    fighters_.erase(found);
    avatars_.erase(player);
    if (!spawn_avatar(player, seat)) waiting_.emplace(player, seat);
    return;
  }
  if (fighter.kind == kRider) return;
  fighter.body.continue_from(spawn_place(), false);
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
