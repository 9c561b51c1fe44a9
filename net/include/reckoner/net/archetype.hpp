// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <reckoner/net/export.hpp>
#include <reckoner/net/user_fields.hpp>

namespace reckoner {

/// A kind of entity: how exactly it is shown and what is worth sending. Declared by the game on both sides in
/// the same order; names and fields are compared by hash when a client joins. The tolerances are the server's
/// and travel to the client.
struct Archetype {
  std::string name = "entity";      ///< at most 32 bytes
  bool has_orientation = true;      ///< false: orientation is never sent and stays the identity
  double threshold_m = 0.05;        ///< publish threshold, m; > 0. Half a decimetre is invisible at 10 m
  double threshold_rad = 0.05;      ///< publish threshold, rad; > 0
  double max_speed_mps = 1000.0;    ///< faster is refused as malformed; above any game vehicle's speed
  double world_size_m = 100'000.0;  ///< positions further than this from the origin are refused
  bool never_reverses = false;      ///< what slows down is taken to come to rest: cars, ships, anything that
                                    ///< brakes; not what swings or turns back. Compared by hash
  std::vector<FieldSpec> fields;    ///< what else is told about each entity; is_valid(), compared by hash
};

/// Hash of what both sides must agree on: the number, order and names of the archetypes, how they move, and
/// their fields with names, types, ranges and initial values.
[[nodiscard]] RECKONER_NET_API std::uint32_t archetype_hash(std::span<const Archetype> archetypes);

}  // namespace reckoner
