// SPDX-License-Identifier: MIT
#include "player.hpp"

#include <algorithm>
#include <cmath>

#include <glm/geometric.hpp>
#include <glm/gtc/quaternion.hpp>

namespace arena {
namespace {

using reckoner::ClientEvent;
using reckoner::EntityId;

constexpr double kBeamDrawnS = 0.25, kVerdictDrawnS = 2.5;
constexpr std::size_t kChatLines = 8;

}  // namespace

reckoner::ClientConfig Player::config(const reckoner::PlayoutConfig& playout) {
  reckoner::ClientConfig config;
  config.archetypes = archetypes();
  config.playout = playout;
  return config;
}

void Player::play() {
  plays_ = true;
  (void)client_.send(pack_text(MessageKind::hello, name_), reckoner::Delivery::reliable);
}

void Player::frame(double local_s, const Controls& controls) {
  const double step_s = std::clamp(local_s - last_frame_s_, 0.0, 0.1);
  last_frame_s_ = local_s;
  client_.receive(local_s);
  while (const auto event = client_.poll_event())
    handle_event(*event, local_s);
  while (const auto message = client_.poll_message())
    handle_message(*message);
  update_doors();
  move_avatar(local_s, step_s, controls);
  const auto shown = client_.frame(local_s);
  shown_.assign(shown.begin(), shown.end());
  std::erase_if(drawn_beams_, [&](DrawnBeam& beam) { return (beam.left_s -= step_s) <= 0.0; });
  std::erase_if(verdicts_, [&](DrawnVerdict& drawn) { return (drawn.left_s -= step_s) <= 0.0; });
}

void Player::handle_event(const ClientEvent& event, double local_s) {
  switch (event.kind) {
    case ClientEvent::Kind::joined:
    case ClientEvent::Kind::resumed:
    case ClientEvent::Kind::restarted:
      if (plays_) play();
      break;
    case ClientEvent::Kind::spawned:
      if (const auto* info = client_.info(event.entity); info != nullptr && info->archetype == kPlatform)
        platform_ = event.entity;
      break;
    case ClientEvent::Kind::given:      // the server's game has given the player an avatar, or
    case ClientEvent::Kind::corrected:  // does not accept how it moved: go on from the server's state
      if (const auto state = client_.owned(event.entity, local_s)) {
        avatar_ = event.entity;
        frame_ = client_.owned_frame(avatar_);
        body_.emplace(*state, kPlayerGripMps2);
      }
      break;
    case ClientEvent::Kind::revoked:
    case ClientEvent::Kind::despawned:
      if (event.entity == avatar_) avatar_ = {};
      break;
    default:
      break;
  }
}

void Player::handle_message(const reckoner::GameMessage& message) {
  const auto kind = kind_of(message.payload);
  if (kind == MessageKind::chat) {
    chat_.push_back(unpack_text(message.payload, 110));
    if (chat_.size() > kChatLines) chat_.pop_front();
  }
  if (const auto verdict = unpack<Verdict>(message.payload); kind == MessageKind::verdict && verdict)
    verdicts_.push_back({*verdict, kVerdictDrawnS});
}

// The doors are entities at rest; a field says whether they are open.
void Player::update_doors() {
  for (const reckoner::ShownEntity& entity : shown_) {
    const reckoner::EntityInfo* info = client_.info(entity.id);
    if (info == nullptr || info->archetype != kDoor) continue;
    for (std::size_t i = 0; i < kDoors.size(); ++i) {
      if (glm::distance(kDoors[i].middle, glm::dvec2(entity.shown.position)) > 0.5) continue;
      if (const auto* open = client_.field(entity.id, kOpen)) open_[i] = std::get<bool>(*open);
    }
  }
}

void Player::move_avatar(double local_s, double step_s, Controls controls) {
  if (!avatar_) return;
  aim_rad_ = controls.aim_rad;
  change_frame(local_s);
  if (frame_) {  // the controls are directions in the world, the body lives on the deck
    const double turn = heading_of(find(frame_) != nullptr ? find(frame_)->shown.orientation : glm::quat());
    controls.aim_rad -= turn;
    controls.walk = {glm::dot(controls.walk, direction_of(turn)),
                     glm::dot(controls.walk, direction_of(turn + 0.5 * std::numbers::pi))};
    body_->step(controls, step_s, {});
  } else {
    body_->step(controls, step_s, solids(open_));
  }
  const auto exit = frame_ ? std::nullopt : exit_of_pad(body_->state().position);
  if (!exit || local_s < next_pad_s_) return (void)client_.move(avatar_, body_->state(), local_s, frame_);
  // The player's own game decides that the pad works, and shows it at once. The server checks the distance.
  next_pad_s_ = local_s + 0.6;
  reckoner::State there = body_->state();
  there.position = {*exit, 0.0};
  body_->continue_from(there);
  (void)client_.teleport(avatar_, there, local_s);
}

// Steps onto the platform or off it. On the platform, the avatar's state is relative to the deck, so that it
// stands still there on every screen, however late the news about the platform is.
void Player::change_frame(double local_s) {
  const auto frame_now = client_.frame(local_s);  // where the platform is drawn at this instant
  const auto platform = std::find_if(frame_now.begin(), frame_now.end(),
                                     [&](const auto& entity) { return entity.id == platform_; });
  if (platform == frame_now.end()) return;
  if (!frame_) {
    const reckoner::State local = reckoner::into_frame(platform->shown, body_->state());
    if (!on_deck(local.position) || local.position.z > 0.05) return;
    body_->continue_from(local);
    frame_ = platform_;
  } else if (!on_deck(body_->state().position)) {
    reckoner::State world = reckoner::out_of_frame(platform->shown, body_->state());
    world.acceleration = {0.0f, 0.0f, body_->state().acceleration.z};  // gravity, if it jumps off
    world.angular_velocity = {};
    body_->continue_from(world);
    frame_ = {};
  }
}

std::optional<Trigger> Player::trigger(double& next_s, double pause_s, double local_s) {
  const auto at = avatar_state();
  if (!at || local_s < next_s) return std::nullopt;
  next_s = local_s + pause_s;
  return Trigger{++shots_, 0, at->position.x, at->position.y, aim_rad_};
}

// The bolt leaves the muzzle on this screen at once. When the server's bolt arrives, the client puts it in
// the prediction's place.
bool Player::fire_bolt(double local_s) {
  const auto shot = trigger(next_bolt_s_, kBoltPauseS, local_s);
  const auto server_s = client_.server_time_s(local_s);
  if (!shot || !server_s) return false;
  const reckoner::State start = bolt_state(avatar_state()->position, shot->heading_rad);
  (void)client_.predict_spawn(kBolt, start, shot->key, local_s);
  return client_.send(pack(MessageKind::bolt, *shot), reckoner::Delivery::reliable, server_s);
}

// The stamp tells the server which instant to rewind to: what this player has on the screen now.
bool Player::fire_beam(double local_s) {
  const auto shot = trigger(next_beam_s_, kBeamPauseS, local_s);
  const auto server_s = client_.server_time_s(local_s);
  if (!shot || !server_s) return false;
  const glm::dvec2 from{shot->x, shot->y}, direction = direction_of(shot->heading_rad);
  const double way_m = std::min(kBeamRangeM, clear_way_m(from, direction, solids(open_)));
  drawn_beams_.push_back({from, from + way_m * direction, kBeamDrawnS});
  return client_.send(pack(MessageKind::beam, *shot), reckoner::Delivery::reliable, server_s);
}

void Player::say(const std::string& text) {
  if (!text.empty()) (void)client_.send(pack_text(MessageKind::chat, text), reckoner::Delivery::reliable);
}

const reckoner::ShownEntity* Player::find(EntityId id) const {
  const auto found = std::find_if(shown_.begin(), shown_.end(), [&](const auto& e) { return e.id == id; });
  return found == shown_.end() ? nullptr : &*found;
}

std::optional<reckoner::State> Player::avatar_state() const {
  const reckoner::ShownEntity* entity = avatar_ ? find(avatar_) : nullptr;
  return entity != nullptr ? std::optional{entity->shown} : std::nullopt;
}

std::int64_t Player::number(EntityId id, std::size_t field) const {
  const auto* value = client_.field(id, field);
  return value != nullptr && std::holds_alternative<std::int64_t>(*value) ? std::get<std::int64_t>(*value)
                                                                          : 0;
}

}  // namespace arena
