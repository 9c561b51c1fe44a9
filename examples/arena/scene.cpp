// SPDX-License-Identifier: MIT
#include "scene.hpp"

#include <fmt/format.h>

namespace arena {
namespace {

constexpr Color kFloorColor{36, 40, 50}, kHallColor{31, 35, 44}, kGridColor{46, 51, 62},
    kWallColor{126, 136, 156}, kRailColor{70, 62, 54}, kDeckColor{124, 97, 68}, kPlankColor{98, 76, 54},
    kDoorColor{232, 166, 62}, kPadColor{72, 205, 214}, kBotColor{120, 134, 166}, kRiderColor{186, 160, 118},
    kBallColor{236, 238, 244};

void draw_floor(Canvas& canvas, const Player& player) {
  canvas.panel(0, 0, kWidthPx, kHeightPx, {16, 18, 24});
  canvas.box({0.0, 0.0}, {kHalfSideM + 0.3, kHalfSideM + 0.3}, kWallColor);
  canvas.box({0.0, 0.0}, {kHalfSideM, kHalfSideM}, kFloorColor);
  canvas.box({0.0, 0.0}, {kHalfSideM, 8.0}, kHallColor);
  for (double at = -14.0; at <= 14.0; at += 2.0) {
    canvas.box({at, 0.0}, {0.02, kHalfSideM}, kGridColor);
    canvas.box({0.0, at}, {kHalfSideM, 0.02}, kGridColor);
  }
  canvas.box({0.0, 0.0}, {12.0, 0.12}, kRailColor);  // of the platform
  for (const glm::dvec2& pad : kPads) {
    canvas.disc({pad, 0.0}, kPadRadiusM, faded(kPadColor, 0.25));
    canvas.ring({pad, 0.0}, kPadRadiusM, kPadColor);
    canvas.ring({pad, 0.0}, 0.55 * kPadRadiusM, faded(kPadColor, 0.6));
    canvas.ring({exit_of(pad), 0.0}, 0.4, faded(kPadColor, 0.35));
  }
  for (const Box& wall : kWalls)
    canvas.box(wall.middle, wall.half, kWallColor);
  for (std::size_t i = 0; i < kDoors.size(); ++i) {
    Box door = kDoors[i];
    if (player.open_doors()[i]) {  // the leaf has slid into the wall
      door.middle.x -= door.half.x * 0.86;
      door.half.x *= 0.14;
    }
    canvas.box(door.middle, door.half, kDoorColor);
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
    canvas.line(on_platform(at, -y), on_platform(at, y), kPlankColor, 0.05);
}

// Players have bright colours, each its own.
Color color_of(const Player& player, reckoner::EntityId id) {
  constexpr std::array<Color, 6> kPlayers{
      {{98, 190, 255}, {255, 150, 84}, {160, 228, 96}, {238, 130, 214}, {255, 222, 96}, {124, 232, 208}}};
  const reckoner::EntityInfo* info = player.client().info(id);
  if (player.kind(id) == kRider) return kRiderColor;
  if (info == nullptr || info->archetype != kPlayer) return kBotColor;
  return kPlayers[std::hash<std::string>{}(info->name) % kPlayers.size()];
}

void draw_fighter(Canvas& canvas, const Player& player, const reckoner::ShownEntity& entity) {
  const glm::dvec3 at = entity.shown.position;
  canvas.disc({at.x + 0.08, at.y - 0.08, 0.0}, kBodyRadiusM, {0, 0, 0, 90});  // the shadow stays below
  if (entity.id == player.avatar()) canvas.ring(at, kBodyRadiusM + 0.14, {255, 255, 255, 220});
  canvas.disc(at, kBodyRadiusM, color_of(player, entity.id));
  const glm::dvec3 nose = at + glm::dvec3(entity.shown.orientation * glm::vec3(0.3f, 0.0f, 0.0f));
  canvas.disc(nose, 0.14, {24, 26, 32});
  if (player.kind(entity.id) == kPlayer)
    canvas.label(at, at.y > 15.0 ? -22 : 26, player.client().info(entity.id)->name, {240, 242, 248});
  const double health = static_cast<double>(player.number(entity.id, kHealth)) / 100.0;
  if (health >= 1.0) return;
  const glm::ivec2 bar = Canvas::pixel(at) + glm::dvec2(-12.0, -18.0);
  canvas.panel(bar.x, bar.y, 24, 4, {0, 0, 0, 160});
  canvas.panel(bar.x, bar.y, static_cast<int>(24.0 * health), 4, health > 0.4 ? kGood : kBad);
}

void draw_ball(Canvas& canvas, const Player& player, const glm::dvec3& at) {
  canvas.disc({at.x + 0.1, at.y - 0.1, 0.0}, kBallRadiusM, {0, 0, 0, 90});
  canvas.disc(at, kBallRadiusM, kBallColor);
  // The rim says whether this player predicts the ball.
  canvas.ring(at, kBallRadiusM, player.predictor().predicts_ball() ? kGood : kDim, 3);
}

void draw_bolt(Canvas& canvas, const Player& player, const reckoner::ShownEntity& entity) {
  const reckoner::EntityInfo* info = player.client().info(entity.id);
  // A predicted bolt has no data yet: it is one's own.
  const auto shooter = info != nullptr ? first<std::uint64_t>(info->data) : to_number(player.avatar());
  const Color color = color_of(player, reckoner::entity_id_of(shooter.value_or(0)));
  const glm::dvec3 at = entity.shown.position;
  canvas.line(at - 0.025 * glm::dvec3(entity.shown.velocity), at, faded(color, 0.55), 0.16);
  canvas.disc(at, 0.17, color);
  canvas.disc(at, 0.09, {});
}

// The beam, and how the server judged it: green where the shooter saw the target, red where it was by then.
void draw_beams(Canvas& canvas, const Player& player) {
  for (const DrawnBeam& beam : player.beams()) {
    const double share = std::min(1.0, beam.left_s / 0.25);
    canvas.line({beam.from, 0.8}, {beam.to, 0.8}, faded({255, 90, 200}, 0.35 * share), 0.3);
    canvas.line({beam.from, 0.8}, {beam.to, 0.8}, faded({255, 220, 250}, share), 0.08);
  }
  for (const auto& [verdict, left_s] : player.verdicts()) {
    if (verdict.target == 0) continue;
    const double share = std::min(1.0, left_s);
    const glm::dvec3 seen{verdict.seen, 0.0}, truth{verdict.truth, 0.0};
    canvas.line(seen, truth, faded({}, share), 0.05);
    canvas.ring(truth, kBodyRadiusM, faded(kBad, share));
    canvas.ring(seen, kBodyRadiusM, faded(kGood, share), 3);
    canvas.label(seen, 26, fmt::format("hit, {:.2f} m off now", glm::distance(seen, truth)),
                 faded(kGood, share));
  }
}

// Health, scores and chat, beside the arena.
void draw_status(Canvas& canvas, const Player& player) {
  constexpr int kRight = 1046;  // px
  canvas.text(kRight, 24, "PLAYER     HEALTH  SCORE", kDim);
  int y = 46;
  for (const reckoner::ShownEntity& entity : player.shown()) {
    if (player.kind(entity.id) != kPlayer) continue;
    const std::string line = fmt::format("{:12} {:4} {:6}", player.client().info(entity.id)->name,
                                         player.number(entity.id, kHealth), player.number(entity.id, kScore));
    canvas.text(kRight, y, line, color_of(player, entity.id));
    y += 20;
  }
  canvas.text(kRight, 480, fmt::format("{}", fmt::join(player.chat(), "\n")), kDim);
}

}  // namespace

void draw_scene(Canvas& canvas, const Player& player) {
  draw_floor(canvas, player);
  for (const std::size_t layer : {kPlatform, kBall, kPlayer, kBolt}) {
    for (const reckoner::ShownEntity& entity : player.shown()) {
      const std::size_t kind = player.kind(entity.id);
      if (layer == kPlatform && kind == kPlatform) draw_platform(canvas, entity.shown);
      if (layer == kBall && kind == kBall) draw_ball(canvas, player, entity.shown.position);
      if (layer == kPlayer && is_fighter(kind)) draw_fighter(canvas, player, entity);
      if (layer == kBolt && kind == kBolt) draw_bolt(canvas, player, entity);
    }
  }
  draw_beams(canvas, player);
  draw_status(canvas, player);
}

}  // namespace arena
