// SPDX-License-Identifier: MIT
// Step 5: what server and client must agree about: the kinds of entities with their fields, and the messages.
#pragma once

#include <cstddef>
#include <vector>

#include <reckoner/net/archetype.hpp>

// snip: things
inline std::vector<reckoner::Archetype> archetypes() {
  reckoner::Archetype player;
  player.name = "player";
  player.has_orientation = false;  // discs do not turn
  player.fields = {{"pokes", reckoner::IntegerField{.least = 0, .most = 9}}};
  return {player};
}
constexpr std::size_t kPlayer = 0, kPokes = 0;  // indices of the archetype and of its field

// The first byte of a message says what it is.
constexpr std::byte kPoke{1};   // client to server: poke everybody who is near
constexpr std::byte kPoked{2};  // server to client: somebody has poked you
// snip: end
