// SPDX-License-Identifier: MIT
#include "scenario/builtin/builtin.hpp"

#include "scenario/builtin/builtin_source.hpp"
#include "scenario/trace/csv.hpp"

#include <algorithm>
#include <iterator>

namespace reckoner::scenario {
namespace {

using Make = std::unique_ptr<Source> (*)(std::size_t, std::uint64_t);

constexpr BuiltinInfo kInfos[] = {
    {"orbit", "spinning bodies on tilted ellipses; smooth and easy to predict", 16},
    {"traffic", "cars on a grid of streets with stops and turns; at most 3 m/s^2 along the road", 64},
    {"crowd", "walkers that start, stop, turn sharply, pause and rest", 100},
    {"hop", "jumping characters, each with a teleport every 10 s", 8},
    {"patrol", "guards on curved routes; they change speed, stop, leave the route briefly and return", 24},
    {"visitors", "walkers that appear for 5 s to 40 s each; ends with the last one", 200},
    {"duel", "pairs of players that face each other, strafe, stand and jump", 8},
    {"owned", "avatars owned by players; they move as in duel", 2},
    {"ship", "a ship that turns and accelerates; people rest and walk on deck, and some board and leave", 16},
    {"ashore", "the people of the ship scenario on firm ground, for comparison", 16},
    {"football", "cars that play football: boost, hits, jumps, walls, a ball, a moving platform, kick-offs",
     8},
};
constexpr Make kMakes[] = {make_orbit, make_traffic, make_crowd, make_hop,    make_patrol,  make_visitors,
                           make_duel,  make_owned,   make_ship,  make_ashore, make_football};
static_assert(std::size(kInfos) == std::size(kMakes));

constexpr BuiltinInfo kPhysicsInfos[] = {
    {"asteroids", "bodies that fly through space and collide; a published benchmark; 120 s", 250},
    {"cubes", "a player's cube rolls through 900 small ones; a published benchmark; 47 s", 901},
};

std::string known_names() {
  std::string names;
  for (const auto infos : {builtin_scenarios(), physics_scenarios()}) {
    for (const BuiltinInfo& known : infos)
      (names += names.empty() ? "" : ", ") += known.name;
  }
  return names;
}

}  // namespace

std::span<const BuiltinInfo> builtin_scenarios() {
  return kInfos;
}

std::span<const BuiltinInfo> physics_scenarios() {
  return kPhysicsInfos;
}

Result<std::unique_ptr<Source>> make_builtin(std::string_view name, std::size_t entities,
                                             std::uint64_t seed) {
  if (std::ranges::find(kPhysicsInfos, name, &BuiltinInfo::name) != std::end(kPhysicsInfos))
    return make_physics_scene(name, entities, seed);
  const auto* const info = std::ranges::find(kInfos, name, &BuiltinInfo::name);
  if (info == std::end(kInfos))
    return Error{"expected a scenario (" + known_names() + "), found " + shown(name)};
  return kMakes[info - kInfos](entities == 0 ? info->default_entities : entities, seed);
}

}  // namespace reckoner::scenario
