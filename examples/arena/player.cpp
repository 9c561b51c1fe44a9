// SPDX-License-Identifier: MIT
#include "player.hpp"

namespace arena {
namespace {

using reckoner::ClientEvent;
using reckoner::EntityId;

constexpr double kBeamDrawnS = 0.25, kVerdictDrawnS = 2.5;
constexpr std::size_t kChatLines = 8;

}  // namespace

void Player::frame(double local_s, const Controls& controls) {
  const double step_s = std::clamp(local_s - last_frame_s_, 0.0, 0.1);
  last_frame_s_ = local_s;
  client_.update(local_s);
  while (const auto event = client_.poll_event())
    handle_event(*event);
  while (const auto message = client_.poll_message())
    handle_message(*message);
  show();
  update_doors();
  move_avatar(local_s, step_s, controls);
  show();
  std::erase_if(drawn_beams_, [&](DrawnBeam& beam) { return (beam.left_s -= step_s) <= 0.0; });
  std::erase_if(verdicts_, [&](DrawnVerdict& drawn) { return (drawn.left_s -= step_s) <= 0.0; });
}

void Player::show() {
  const auto shown = client_.shown();
  shown_.assign(shown.begin(), shown.end());
}

void Player::handle_event(const ClientEvent& event) {
  using enum ClientEvent::Kind;
  const bool starts = event.kind == joined || event.kind == resumed || event.kind == restarted;
  if (starts && !name_.empty())  // ask for an avatar
    (void)client_.send(pack_text(MessageKind::hello, name_), reckoner::Delivery::reliable);
  if (event.kind == spawned && kind(event.entity) == kPlatform) platform_ = event.entity;
  if (event.kind == given || event.kind == corrected) {
    // The server's game has given the player an avatar, or does not accept how it moved.
    if (const auto state = client_.owned(event.entity)) {
      avatar_ = event.entity;
      frame_ = client_.owned_frame(avatar_);
      body_.emplace(*state, kPlayerGripMps2);
    }
  }
  if ((event.kind == revoked || event.kind == despawned) && event.entity == avatar_) avatar_ = {};
}

void Player::handle_message(const reckoner::GameMessage& message) {
  const auto kind = first<MessageKind>(message.payload);
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
    for (std::size_t i = 0; kind(entity.id) == kDoor && i < kDoors.size(); ++i) {
      const auto* open = client_.field(entity.id, kOpen);
      if (open != nullptr && glm::distance(kDoors[i].middle, glm::dvec2(entity.shown.position)) < 0.5)
        open_[i] = std::get<bool>(*open);
    }
  }
}

void Player::move_avatar(double local_s, double step_s, Controls controls) {
  if (!avatar_) return;
  aim_rad_ = controls.aim_rad;
  change_frame();
  if (frame_) {  // the controls are directions in the world, the body lives on the deck
    const auto* deck = find(frame_);
    const double turn = deck != nullptr ? heading_of(deck->shown.orientation) : 0.0;
    controls.aim_rad -= turn;
    controls.walk = {glm::dot(controls.walk, direction_of(turn)),
                     glm::dot(controls.walk, direction_of(turn + 0.5 * std::numbers::pi))};
    body_->step(controls, step_s, {});
  } else {
    body_->step(controls, step_s, solids(open_));
  }
  if (frame_ || local_s < next_pad_s_ || !body_->use_pad())
    return (void)client_.move(avatar_, body_->state(), frame_);
  // The player's own game decides that the pad works, and shows it at once. The server checks the distance.
  next_pad_s_ = local_s + 0.6;
  (void)client_.teleport(avatar_, body_->state());
}

// Steps onto the platform or off it. On the platform, the avatar's state is relative to the deck, so that it
// stands still there on every screen, however late the news about the platform is.
void Player::change_frame() {
  const reckoner::ShownEntity* platform = find(platform_);
  if (platform == nullptr) return;
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

// The message's stamp tells the server which instant to rewind to: what this player has on the screen now.
bool Player::fire(Weapon weapon, double local_s) {
  const auto at = avatar_state();
  const auto server_s = client_.server_time_s();
  if (!at || !server_s || local_s < next_shot_s_[weapon]) return false;
  next_shot_s_[weapon] = local_s + kPauseS[weapon];
  const Shot shot{++shots_, weapon, glm::dvec2(at->position), aim_rad_};
  if (weapon == kBoltGun) {
    // The bolt leaves the muzzle on this screen at once. When the server's bolt arrives, the client puts it
    // in the prediction's place.
    (void)client_.predict_spawn(kBolt, bolt_state(at->position, aim_rad_), shot.key);
  } else {
    const glm::dvec2 from(at->position), direction = direction_of(aim_rad_);
    const double path_m = std::min(kBeamRangeM, clear_path_m(from, direction, solids(open_)));
    drawn_beams_.push_back({from, from + path_m * direction, kBeamDrawnS});
  }
  return static_cast<bool>(
      client_.send(pack(MessageKind::shot, shot), reckoner::Delivery::reliable, server_s));
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

std::size_t Player::kind(EntityId id) const {
  const reckoner::EntityInfo* info = client_.info(id);
  return info != nullptr ? info->archetype : std::size_t{kBolt};  // only predicted bolts have no info yet
}

std::int64_t Player::number(EntityId id, std::size_t field) const {
  const auto* value = client_.field(id, field);
  return value != nullptr ? std::get<std::int64_t>(*value) : 0;
}

}  // namespace arena
