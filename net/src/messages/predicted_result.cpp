// SPDX-License-Identifier: MIT
#include "net/src/messages/predicted_result.hpp"

#include <algorithm>
#include <cmath>

namespace reckoner {
namespace {

// Parts of a tolerance to which numbers are rounded.
constexpr double kSteps = 4.0;

// A rotation by the angle a changes the parts of a quaternion by a / 2 at most.
constexpr double kPartsPerAngle = 0.5;

std::uint8_t low_bits(double value, double tolerance, unsigned bits) {
  constexpr double kMost = 4503599627370496.0;  // 2^52
  const double units = std::clamp(std::round(value * (kSteps / tolerance)), -kMost, kMost);
  const auto whole = static_cast<std::uint64_t>(static_cast<std::int64_t>(units));
  return static_cast<std::uint8_t>(whole & ((1u << bits) - 1));
}

std::array<std::uint8_t, 3> rotation_bits(const glm::quat& q, double angle_rad) {
  const double unit = kPartsPerAngle * angle_rad;
  return {low_bits(q.x, unit, PredictedResult::kRotationBits),
          low_bits(q.y, unit, PredictedResult::kRotationBits),
          low_bits(q.z, unit, PredictedResult::kRotationBits)};
}

// FNV-1a (G. Fowler, L. C. Noll, K.-P. Vo), 32 bits, folded to a few bits.
// With the tick, two states of the game that look alike in one tick do not in the next.
std::uint8_t hash_bits(std::span<const std::byte> bytes, Tick tick) {
  std::uint32_t hash = (2166136261u ^ tick) * 16777619u;
  for (const std::byte byte : bytes)
    hash = (hash ^ std::to_integer<std::uint32_t>(byte)) * 16777619u;
  hash ^= hash >> 16;
  hash ^= hash >> 8;
  return static_cast<std::uint8_t>(hash & ((1u << PredictedResult::kGameStateBits) - 1));
}

// True if the numbers with these low bits differ by at most a tolerance, or by a multiple of the range.
bool are_close(const std::array<std::uint8_t, 3>& a, const std::array<std::uint8_t, 3>& b, unsigned bits) {
  const int range = 1 << bits;
  for (std::size_t i = 0; i < 3; ++i) {
    const int apart = std::abs(int{a[i]} - int{b[i]});
    if (std::min(apart, range - apart) > static_cast<int>(kSteps)) return false;
  }
  return true;
}

}  // namespace

PredictedResult result_of(const State& state, std::span<const std::byte> game_state,
                          const PredictionTolerance& tolerance, Tick tick) {
  const auto& p = state.position;
  const double step_m = tolerance.position_m;
  return {{low_bits(p.x, step_m, PredictedResult::kPositionBits),
           low_bits(p.y, step_m, PredictedResult::kPositionBits),
           low_bits(p.z, step_m, PredictedResult::kPositionBits)},
          rotation_bits(state.orientation, tolerance.angle_rad),
          hash_bits(game_state, tick)};
}

bool agrees(const PredictedResult& client, const State& server, std::span<const std::byte> game_state,
            const PredictionTolerance& tolerance, Tick tick) {
  const PredictedResult own = result_of(server, game_state, tolerance, tick);
  if (client.game_state != own.game_state) return false;
  if (!are_close(client.position, own.position, PredictedResult::kPositionBits)) return false;
  // A quaternion and its negative are the same rotation.
  const auto opposite = rotation_bits(-server.orientation, tolerance.angle_rad);
  return are_close(client.rotation, own.rotation, PredictedResult::kRotationBits) ||
         are_close(client.rotation, opposite, PredictedResult::kRotationBits);
}

}  // namespace reckoner
