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
  shots_.clear();
  if (owned_) move_owned(step_s, controls);
  // While the server has not answered yet, the inputs are on their way: the server goes on with them at once.
  if (!owned_ || authority_ != Authority::own) {
    predictor_.run(controls, open_, shown_);
    if (!owned_) shots_.assign(predictor_.shots().begin(), predictor_.shots().end());
  }
  show();
  for (const Shot& shot : shots_)
    draw_shot(shot);
  if (!shots_.empty()) show();
  std::erase_if(drawn_beams_, [&](DrawnBeam& beam) { return (beam.left_s -= step_s) <= 0.0; });
  std::erase_if(verdicts_, [&](DrawnVerdict& drawn) { return (drawn.left_s -= step_s) <= 0.0; });
}

void Player::set_authority(Authority authority) {
  authority_ = authority;
  (void)client_.send(pack(MessageKind::authority, authority), reckoner::Delivery::reliable);
}

void Player::show() {
  const auto shown = client_.shown();
  shown_.assign(shown.begin(), shown.end());
}

void Player::handle_event(const ClientEvent& event) {
  using enum ClientEvent::Kind;
  predictor_.handle_event(event);
  const bool starts = event.kind == joined || event.kind == resumed || event.kind == restarted;
  if (starts && !name_.empty()) {  // ask for an avatar
    (void)client_.send(pack_text(MessageKind::hello, name_), reckoner::Delivery::reliable);
    set_authority(authority_);
  }
  if (event.kind == spawned && kind(event.entity) == kPlatform) platform_ = event.entity;
  if (event.kind == given || event.kind == corrected) {
    // The server's game has given the player an avatar, or does not accept how it moved.
    if (const auto state = client_.owned(event.entity)) {
      avatar_ = event.entity;
      owned_.emplace(*state, kPlayerBuild, static_cast<bool>(client_.owned_frame(avatar_)));
    }
  }
  if (event.kind == prediction_began && kind(event.entity) == kPlayer) avatar_ = event.entity;
  if ((event.kind == revoked || event.kind == despawned) && event.entity == avatar_) owned_.reset();
  if (event.kind == despawned && event.entity == avatar_) avatar_ = {};
}

void Player::handle_message(const reckoner::GameMessage& message) {
  const auto kind = first<MessageKind>(message.payload);
  if (kind == MessageKind::chat) {
    chat_.push_back(unpack_text(message.payload, 110));
    if (chat_.size() > kChatLines) chat_.pop_front();
  }
  if (const auto news = unpack<AvatarNews>(message.payload); kind == MessageKind::avatar && news)
    avatar_ = reckoner::entity_id_of(news->avatar);
  if (const auto news = unpack<InputNews>(message.payload); kind == MessageKind::inputs && news)
    inputs_ = *news;
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

// This machine decides where the avatar is, and shows it there at once. On the platform, the state is
// relative to the deck as it is drawn.
void Player::move_owned(double step_s, const Controls& controls) {
  const std::vector<Box> solid = solids(open_);
  const reckoner::ShownEntity* platform = find(platform_);
  owned_->step(controls, step_s,
               {solid, platform != nullptr ? std::optional(platform->shown) : std::nullopt});
  const EntityId frame = owned_->aboard() ? platform_ : EntityId{};
  if (owned_->has_used_pad())
    (void)client_.teleport(avatar_, owned_->state());  // the server checks the distance
  else
    (void)client_.move(avatar_, owned_->state(), frame);
  fire_owned(controls.aim_rad);
}

// The message's stamp tells the server which instant to rewind to: what this player has on the screen now.
void Player::fire_owned(double aim_rad) {
  show();
  const auto at = avatar_state();
  const auto server_s = client_.server_time_s();
  for (const Weapon weapon : {kBoltGun, kBeamGun}) {
    if (!at || !server_s || !owned_->has_fired(weapon)) continue;
    const Shot shot{++own_shots_, weapon, glm::dvec2(at->position), aim_rad};
    if (client_.send(pack(MessageKind::shot, shot), reckoner::Delivery::reliable, server_s))
      shots_.push_back(shot);
  }
}

// On this screen, a bolt leaves the muzzle at once. When the server's bolt arrives, the client puts it in the
// prediction's place.
void Player::draw_shot(const Shot& shot) {
  const auto at = avatar_state();
  if (!at) return;
  if (shot.weapon == kBoltGun)
    return (void)client_.predict_spawn(kBolt, bolt_state(at->position, shot.heading_rad), shot.key);
  const glm::dvec2 from(at->position), direction = direction_of(shot.heading_rad);
  const double path_m = std::min(kBeamRangeM, clear_path_m(from, direction, solids(open_)));
  drawn_beams_.push_back({from, from + path_m * direction, kBeamDrawnS});
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
