// SPDX-License-Identifier: MIT
#include "harness/arena/arena_record.hpp"

#include "harness/metrics/figures.hpp"
#include "harness/metrics/measured_pictures.hpp"

#include <algorithm>
#include <cmath>

#include <glm/geometric.hpp>

namespace reckoner::harness {
namespace {

constexpr double kSettledS = 0.1;     // the truth about a picture is complete after this time
constexpr double kAvatarJumpS = 1.5;  // an owner learns of a teleport later than the others
constexpr double kWrongRewindM = 0.05;
constexpr double kBelowFloorM = 0.01;

double percentile_of(std::vector<double> values, double fraction) {
  std::ranges::sort(values);
  return percentile(values, fraction);
}
double largest_of(const std::vector<double>& values) {
  return values.empty() ? 0.0 : *std::ranges::max_element(values);
}
double percent_above(const std::vector<double>& values, double limit) {
  const auto above = std::ranges::count_if(values, [limit](double value) { return value > limit; });
  return values.empty() ? 0.0 : 100.0 * static_cast<double>(above) / static_cast<double>(values.size());
}
double percent(std::size_t part, std::size_t all) {
  return all == 0 ? 0.0 : 100.0 * static_cast<double>(part) / static_cast<double>(all);
}

// True if the position is between the ends of a jump, and far from both.
bool is_between(const glm::dvec3& position, const ArenaTruth::Jump& jump) {
  const glm::dvec3 displacement = jump.to - jump.from;
  const double along = glm::dot(position - jump.from, displacement) / glm::dot(displacement, displacement);
  if (along <= 0.0 || along >= 1.0 || glm::distance(position, jump.from + along * displacement) > 0.25)
    return false;
  const double far_m = std::max(0.5, 0.25 * glm::length(displacement));
  return glm::distance(position, jump.from) > far_m && glm::distance(position, jump.to) > far_m;
}

}  // namespace

void ArenaRecord::note_drawn(const DrawnFighter& drawn) {
  drawn_.push_back(drawn);
}

void ArenaRecord::settle(double now_s) {
  for (; !drawn_.empty() && drawn_.front().frame_s <= now_s - kSettledS; drawn_.pop_front())
    compare(drawn_.front());
}

void ArenaRecord::compare(const DrawnFighter& drawn) {
  const auto first_s = truth.first_s(drawn.id);
  const auto position = truth.at(drawn.id, drawn.instant_s);
  if (drawn.frame_s < kArenaWarmUpS || !first_s || !position) return;
  const ArenaTruth::Jump* jump = truth.last_jump(drawn.id, drawn.instant_s);
  const double skip_s = drawn.kind == FighterKind::avatar ? kAvatarJumpS : kSkipTeleportS;
  const double error_m = glm::distance(drawn.position, *position);
  if (jump != nullptr && drawn.kind == FighterKind::bot && drawn.instant_s < jump->time_s + kSkipTeleportS &&
      is_between(drawn.position, *jump))
    ++between_pads_;
  const bool starts = drawn.instant_s < *first_s + kSkipEntityS;
  if (starts || (jump != nullptr && drawn.instant_s < jump->time_s + skip_s)) return;
  if (drawn.kind != FighterKind::rider) below_floor_m.push_back(std::max(0.0, -drawn.position.z));
  switch (drawn.kind) {
    case FighterKind::bot:
      bot_error_m_.push_back(error_m);
      break;
    case FighterKind::rider:
      rider_error_m_.push_back(error_m);
      break;
    case FighterKind::avatar:
      avatar_error_m_.push_back(error_m);
      if (drawn.speed_mps) avatar_speed_mps_.push_back(*drawn.speed_mps);
      break;
  }
}

std::vector<ArenaFigure> ArenaRecord::figures(double seconds, std::size_t players) const {
  const double player_seconds = seconds * static_cast<double>(players);
  const std::size_t rewound = rewind_error_m.size() + rewind_unknown;
  return {
      {"bot_error_p50_m", "error of bots, p50, m", percentile_of(bot_error_m_, 0.5), 3},
      {"bot_error_p95_m", "  p95, m", percentile_of(bot_error_m_, 0.95), 3},
      {"rider_error_p95_m", "error of riders on the platform, p95, m", percentile_of(rider_error_m_, 0.95),
       3},
      {"rider_error_worst_m", "  worst, m", largest_of(rider_error_m_), 2},
      {"avatar_error_p95_m", "error of others' avatars, p95, m", percentile_of(avatar_error_m_, 0.95), 3},
      {"avatar_speed_p99_mps", "  their drawn speed, p99, m/s", percentile_of(avatar_speed_mps_, 0.99), 1},
      {"avatar_speed_most_mps", "  largest, m/s", largest_of(avatar_speed_mps_), 1},
      {"owners_corrected", "  motions that the server corrected", static_cast<double>(corrected), 0},
      {"below_floor_percent", "drawn more than 1 cm below the floor, %",
       percent_above(below_floor_m, kBelowFloorM), 2},
      {"below_floor_deepest_m", "  deepest, m", largest_of(below_floor_m), 2},
      {"between_pads", "frames between the ends of a teleport", static_cast<double>(between_pads_), 0},
      {"shot_after_message_p95_ms", "projectile after its message, p95, ms", percentile_of(appeared_ms, 0.95),
       0},
      {"shot_never_drawn_percent", "  never drawn, %", percent(never_drawn, should_drawn), 2},
      {"shot_past_wall_p95_ms", "  drawn past the wall, p95, ms", percentile_of(past_wall_ms, 0.95), 0},
      {"shot_past_wall_worst_ms", "  worst, ms", largest_of(past_wall_ms), 0},
      {"shot_past_hit_p95_ms", "  drawn past a hit, p95, ms", percentile_of(past_hit_ms, 0.95), 0},
      {"own_shot_p95_ms", "own projectile after the trigger, p95, ms", percentile_of(own_appeared_ms, 0.95),
       0},
      {"predictions_failed", "  predictions that failed", static_cast<double>(failed_predictions), 0},
      {"rewind_unknown_percent", "rewind: unknown, %", percent(rewind_unknown, rewound), 2},
      {"rewind_wrong_percent", "  wrong by more than 5 cm, %", percent_above(rewind_error_m, kWrongRewindM),
       3},
      {"rewind_p99_m", "  error, p99, m", percentile_of(rewind_error_m, 0.99), 3},
      {"grant_p95_ms", "grant to first move(), p95, ms", percentile_of(grant_ms, 0.95), 0},
      {"refused_moves", "  refused moves", static_cast<double>(refused_moves), 0},
      {"late_events", "drawn before the event `spawned`", static_cast<double>(late_events), 0},
      {"clock_error_p95_ms", "error of the client's clock, p95, ms", percentile_of(clock_error_ms, 0.95), 1},
      {"bytes_down_per_s", "received by a player, B/s", static_cast<double>(bytes_down) / player_seconds, 0},
      {"bytes_up_per_s", "sent by a player, B/s", static_cast<double>(bytes_up) / player_seconds, 0},
  };
}

}  // namespace reckoner::harness
