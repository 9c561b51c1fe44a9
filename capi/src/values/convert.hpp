// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <reckoner.h>

#include <reckoner/net/archetype.hpp>
#include <reckoner/net/call_result.hpp>
#include <reckoner/net/connect_token.hpp>
#include <reckoner/net/ids.hpp>
#include <reckoner/net/refusal.hpp>
#include <reckoner/net/transport.hpp>
#include <reckoner/reckoning/state.hpp>

/// Conversions between the values of C and those of C++.
namespace reckoner::capi {

/// True if the number is one of reckoner_blend_curve.
[[nodiscard]] constexpr bool is_blend_curve(std::int32_t curve) {
  return curve == RECKONER_BLEND_CUBIC || curve == RECKONER_BLEND_DAMPED;
}

[[nodiscard]] constexpr reckoner_entity to_c(EntityId id) {
  return to_number(id);
}
[[nodiscard]] constexpr EntityId entity_id(reckoner_entity entity) {
  return entity_id_of(entity);
}

[[nodiscard]] reckoner_state to_c(const State& state);
/// The result of a call; keeps the error in `last`.
[[nodiscard]] reckoner_result to_c(CallError error, CallError& last);
[[nodiscard]] State from_c(const reckoner_state& state);
[[nodiscard]] reckoner_pose to_c(const Pose& pose);

[[nodiscard]] reckoner_value to_c(const FieldValue& value);
/// Converts a value. Nullopt if its type is unknown or the blob is too large.
[[nodiscard]] std::optional<FieldValue> from_c(const reckoner_value& value);

/// The first byte. Null if there is none.
[[nodiscard]] const std::uint8_t* to_c(std::span<const std::byte> bytes);
[[nodiscard]] reckoner_message to_c(const GameMessage& message);
/// Converts a delivery. Nullopt if there is no such delivery.
[[nodiscard]] std::optional<Delivery> delivery_of(std::int32_t delivery);

/// Converts archetypes. Nullopt if an argument cannot be read: `result` is then the error, and `fault`
/// describes it. Does not check the values; Server::create() and Client::create() do that.
[[nodiscard]] std::optional<std::vector<Archetype>> archetypes_of(const reckoner_archetype* first,
                                                                  std::uint32_t count,
                                                                  reckoner_result& result,
                                                                  std::string& fault);

/// Replaces the names of settings in an error text by those of the C API, for example interest.radius_m by
/// interest_radius_m.
[[nodiscard]] std::string with_c_names(std::string_view error);

/// The numbers of payloads and datagrams that were refused for a reason. Either pointer may be null.
[[nodiscard]] reckoner_result refused_for(std::uint32_t reason, const RefusalCounts& payloads_refused,
                                          const RefusalCounts& datagrams_refused, std::uint64_t* payloads,
                                          std::uint64_t* datagrams);

/// Adds the addresses in `more` (blanks between them; null: none) to those of the array. Returns nullopt if a
/// text is no address. `need_port`: every text must contain a port.
[[nodiscard]] std::optional<std::vector<SocketAddress>> addresses_of(const reckoner_address* first,
                                                                     std::uint32_t count, const char* more,
                                                                     bool need_port);
[[nodiscard]] SecretKey key_of(const std::uint8_t* bytes);

}  // namespace reckoner::capi
