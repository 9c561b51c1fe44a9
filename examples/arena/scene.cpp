// SPDX-License-Identifier: MIT
#include "scene.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include <glm/geometric.hpp>
#include <glm/gtc/quaternion.hpp>

namespace arena {
namespace {

constexpr Color kFloorColor{36, 40, 50}, kHallColor{31, 35, 44}, kGridColor{46, 51, 62},
    kWallColor{126, 136, 156};
constexpr Color kDeckColor{124, 97, 68}, kPlankColor{98, 76, 54}, kDoorColor{232, 166, 62},
    kPadColor{72, 205, 214};
constexpr Color kBotColor{120, 134, 166}, kRiderColor{186, 160, 118}, kDim{150, 158, 174},
    kGood{98, 214, 128}, kBad{240, 96, 88};

void draw_box(Canvas& canvas, const Box& box, Color color) {
  canvas.box(box.middle - box.half, box.middle + box.half, color);
}

void draw_floor(Canvas& canvas, const Player& player) {
  draw_box(canvas, {{0.0, 0.0}, {kHalfSideM + 0.3, kHalfSideM + 0.3}}, kWallColor);
  draw_box(canvas, {{0.0, 0.0}, {kHalfSideM, kHalfSideM}}, kFloorColor);
  draw_box(canvas, {{0.0, 0.0}, {kHalfSideM, 8.0}}, kHallColor);
  for (double at = -14.0; at <= 14.0; at += 2.0) {
    canvas.line({at, -kHalfSideM, 0.0}, {at, kHalfSideM, 0.0}, kGridColor);
    canvas.line({-kHalfSideM, at, 0.0}, {kHalfSideM, at, 0.0}, kGridColor);
  }
  draw_box(canvas, {{0.0, 0.0}, {12.0, 0.12}}, {70, 62, 54});  // the rail of the platform
  for (const Pad& pad : kPads) {
    canvas.disc({pad.at, 0.0}, kPadRadiusM, faded(kPadColor, 0.25));
    canvas.ring({pad.at, 0.0}, kPadRadiusM, kPadColor);
    canvas.ring({pad.at, 0.0}, 0.55 * kPadRadiusM, faded(kPadColor, 0.6));
    canvas.ring({pad.exit, 0.0}, 0.4, faded(kPadColor, 0.35));
  }
  for (const Box& wall : walls())
    draw_box(canvas, wall, kWallColor);
  for (std::size_t i = 0; i < kDoors.size(); ++i) {
    Box door = kDoors[i];
    if (player.open_doors()[i]) {  // the leaf has slid into the wall
      door.middle.x -= door.half.x * 0.86;
      door.half.x *= 0.14;
    }
    draw_box(canvas, door, kDoorColor);
  }
}

void draw_platform(Canvas& canvas, const reckoner::State& platform) {
  const auto on_platform = [&](double x, double y) {
    return reckoner::out_of_frame(platform.pose(), reckoner::Pose{{x, y, 0.0}}).position;
  };
  const double x = kDeckHalfM.x, y = kDeckHalfM.y;
  canvas.quad(std::array{on_platform(-x, -y), on_platform(x, -y), on_platform(x, y), on_platform(-x, y)},
              kDeckColor);
  for (double at = -x; at <= x; at += 1.0)
    canvas.line(on_platform(at, -y), on_platform(at, y), kPlankColor);
}

void draw_fighter(Canvas& canvas, const Player& player, const reckoner::ShownEntity& entity) {
  const reckoner::EntityInfo& info = *player.client().info(entity.id);
  const bool own = entity.id == player.avatar(),
             bot = info.name.starts_with("bot ") || info.name.starts_with("rider ");
  const glm::dvec3 at = entity.shown.position;
  const Color color = color_of(player.client(), entity.id);
  canvas.disc({at.x + 0.08, at.y - 0.08, 0.0}, kBodyRadiusM,
              {0, 0, 0, 90});  // the shadow stays on the ground
  if (own) canvas.ring(at, kBodyRadiusM + 0.14, {255, 255, 255, 220});
  canvas.disc(at, kBodyRadiusM, color);
  const glm::dvec3 nose = at + glm::dvec3(entity.shown.orientation * glm::vec3(0.3f, 0.0f, 0.0f));
  canvas.disc(nose, 0.14, {24, 26, 32});
  if (!bot) canvas.label(at, at.y > 15.0 ? -22 : 22, info.name, {240, 242, 248});
  const double health = static_cast<double>(player.number(entity.id, kHealth)) / 100.0;
  if (health >= 1.0) return;
  const glm::dvec3 left = at + glm::dvec3(-0.5, 0.68, 0.0);
  canvas.line(left, left + glm::dvec3(1.0, 0.0, 0.0), {0, 0, 0, 160}, 0.16);
  if (health > 0.0) canvas.line(left, left + glm::dvec3(health, 0.0, 0.0), health > 0.4 ? kGood : kBad, 0.16);
}

void draw_bolt(Canvas& canvas, const Player& player, const reckoner::ShownEntity& entity) {
  Color color{255, 240, 170};
  std::uint64_t shooter = to_number(player.avatar());  // a predicted bolt has no data yet: it is one's own
  if (const auto* info = player.client().info(entity.id);
      info != nullptr && info->data.size() == sizeof shooter)
    std::memcpy(&shooter, info->data.data(), sizeof shooter);
  if (const auto id = reckoner::entity_id_of(shooter)) color = color_of(player.client(), id);
  const glm::dvec3 at = entity.shown.position;
  const glm::dvec3 tail = at - 0.025 * glm::dvec3(entity.shown.velocity);
  canvas.line(tail, at, faded(color, 0.55), 0.16);
  canvas.disc(at, 0.17, color);
  canvas.disc(at, 0.09, {255, 255, 255});
}

// The beam, and how the server judged it: green where the shooter saw the
// target, red where it was by then.
void draw_beams(Canvas& canvas, const Player& player) {
  for (const DrawnBeam& beam : player.beams()) {
    const double share = std::min(1.0, beam.left_s / 0.25);
    canvas.line({beam.from, 0.8}, {beam.to, 0.8}, faded({255, 90, 200}, 0.35 * share), 0.3);
    canvas.line({beam.from, 0.8}, {beam.to, 0.8}, faded({255, 220, 250}, share), 0.08);
  }
  for (const DrawnVerdict& drawn : player.verdicts()) {
    if (drawn.verdict.target == 0) continue;
    const double share = std::min(1.0, drawn.left_s);
    const glm::dvec3 seen{drawn.verdict.seen_x, drawn.verdict.seen_y, 0.0};
    const glm::dvec3 truth{drawn.verdict.true_x, drawn.verdict.true_y, 0.0};
    canvas.line(seen, truth, faded({255, 255, 255}, share));
    canvas.ring(truth, kBodyRadiusM, faded(kBad, share));
    canvas.ring(seen, kBodyRadiusM, faded(kGood, share), 3);
    char words[64];
    std::snprintf(words, sizeof words, "hit where seen, %.2f m from there now", glm::distance(seen, truth));
    canvas.label(seen, 26, words, faded(kGood, share));
  }
}

}  // namespace

Color color_of(const reckoner::Client& client, reckoner::EntityId id) {
  constexpr std::array<Color, 6> kPlayers{
      {{98, 190, 255}, {255, 150, 84}, {160, 228, 96}, {238, 130, 214}, {255, 222, 96}, {124, 232, 208}}};
  const reckoner::EntityInfo* info = client.info(id);
  if (info == nullptr || info->name.starts_with("bot ")) return kBotColor;
  if (info->name.starts_with("rider ")) return kRiderColor;
  return kPlayers[std::hash<std::string>{}(info->name) % kPlayers.size()];
}

void draw_scene(Canvas& canvas, const Player& player) {
  draw_floor(canvas, player);
  const auto draw_all = [&](Kind kind, const auto& draw) {
    for (const reckoner::ShownEntity& entity : player.shown()) {
      const reckoner::EntityInfo* info = player.client().info(entity.id);
      if ((info != nullptr ? info->archetype : std::size_t{kBolt}) == kind) draw(entity);
    }
  };
  draw_all(kPlatform, [&](const auto& entity) { draw_platform(canvas, entity.shown); });
  draw_all(kFighter, [&](const auto& entity) { draw_fighter(canvas, player, entity); });
  draw_all(kBolt, [&](const auto& entity) { draw_bolt(canvas, player, entity); });
  draw_beams(canvas, player);
}

void draw_status(Canvas& canvas, const Player& player, const std::string& typing) {
  const int right = 1046;
  canvas.text(right, 24, "PLAYERS", kDim);
  int y = 46;
  for (const reckoner::ShownEntity& entity : player.shown()) {
    const reckoner::EntityInfo* info = player.client().info(entity.id);
    if (info == nullptr || info->archetype != kFighter || info->name.starts_with("bot ") ||
        info->name.starts_with("rider "))
      continue;
    char line[64];
    std::snprintf(line, sizeof line, "%-12s %3d %5d", info->name.c_str(),
                  static_cast<int>(player.number(entity.id, kHealth)),
                  static_cast<int>(player.number(entity.id, kScore)));
    canvas.panel(right, y + 3, 6, 10, color_of(player.client(), entity.id));
    canvas.text(right + 14, y, line);
    y += 20;
  }
  int chat_y = 560;
  for (const std::string& line : player.chat()) {
    for (std::size_t at = 0; at < line.size();
         at += 27, chat_y += 17)  // as many letters as fit beside the arena
      canvas.text(right, chat_y, line.substr(at, 27), kDim);
  }
  if (!typing.empty())
    canvas.text(right, 768, typing.substr(typing.size() - std::min<std::size_t>(typing.size(), 26)) + "_");
}

}  // namespace arena
