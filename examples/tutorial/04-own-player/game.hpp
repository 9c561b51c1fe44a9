// SPDX-License-Identifier: MIT
// Step 4: the rules of the game. Server and client compile the same function.
#pragma once

#include <cstddef>
#include <span>

#include <glm/common.hpp>
#include <glm/vec2.hpp>
#include <glm/vec3.hpp>

#include <reckoner/reckoning/state.hpp>

// snip: step
constexpr float kTickS = 1.0f / 60.0f;
enum Keys : unsigned { kLeft = 1, kRight = 2, kUp = 4, kDown = 8 };  // one bit each

// What one tick does to a player. `input` has one byte with the keys, or nothing.
inline void step(reckoner::State& player, std::span<const std::byte> input) {
  const unsigned keys = input.empty() ? 0u : std::to_integer<unsigned>(input[0]);
  const auto held = [&](unsigned key) { return (keys & key) != 0 ? 1.0f : 0.0f; };
  const glm::vec3 push{held(kRight) - held(kLeft), held(kUp) - held(kDown), 0.0f};
  player.velocity += (40.0f * push - 4.0f * player.velocity) * kTickS;
  player.position += glm::dvec3(player.velocity * kTickS);
  const glm::dvec3 inside =
      glm::clamp(player.position, glm::dvec3{-15.0, -9.0, 0.0}, glm::dvec3{15.0, 9.0, 0.0});
  if (inside.x != player.position.x) player.velocity.x *= -0.5f;  // a wall
  if (inside.y != player.position.y) player.velocity.y *= -0.5f;
  player.position = inside;
}
// snip: end

inline std::byte keys_of(const glm::vec2& arrows) {
  return static_cast<std::byte>((arrows.x < 0.0f ? kLeft : 0u) | (arrows.x > 0.0f ? kRight : 0u) |
                                (arrows.y > 0.0f ? kUp : 0u) | (arrows.y < 0.0f ? kDown : 0u));
}
