// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <reckoner.h>

#include <reckoner/net/archetype.hpp>
#include <reckoner/net/connect_token.hpp>
#include <reckoner/net/ids.hpp>
#include <reckoner/net/refusal.hpp>
#include <reckoner/net/transport.hpp>
#include <reckoner/reckoning/state.hpp>

/// Values as C has them, and back.
namespace reckoner::capi {

[[nodiscard]] constexpr reckoner_entity to_c(EntityId id) {
  return (std::uint64_t{id.generation} << 32) | id.index1;
}
[[nodiscard]] constexpr EntityId entity_id(reckoner_entity entity) {
  return {static_cast<std::uint32_t>(entity), static_cast<std::uint16_t>(entity >> 32)};
}

[[nodiscard]] reckoner_state to_c(const State& state);
[[nodiscard]] State from_c(const reckoner_state& state);
[[nodiscard]] reckoner_pose to_c(const Pose& pose);

[[nodiscard]] reckoner_value to_c(const FieldValue& value);
/// Nothing if its type is none, or the blob too large.
[[nodiscard]] std::optional<FieldValue> from_c(const reckoner_value& value);

[[nodiscard]] reckoner_message to_c(const GameMessage& message);
/// Nothing if it is none.
[[nodiscard]] std::optional<Delivery> delivery_of(std::int32_t delivery);

/// Kinds of entity as both sides declare them. `result` says why there are none.
[[nodiscard]] std::optional<std::vector<Archetype>> archetypes_of(const reckoner_archetype* first,
                                                                  std::uint32_t count,
                                                                  reckoner_result& result);

/// How many payloads and datagrams were refused for a reason; either pointer may be null.
[[nodiscard]] reckoner_result refused_for(std::uint32_t reason, const RefusalCounts& payloads_refused,
                                          const RefusalCounts& datagrams_refused, std::uint64_t* payloads,
                                          std::uint64_t* datagrams);

[[nodiscard]] std::vector<ServerAddress> addresses_of(const reckoner_address* first, std::uint32_t count);
[[nodiscard]] SecretKey key_of(const std::uint8_t* bytes);

}  // namespace reckoner::capi
