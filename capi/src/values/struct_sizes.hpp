// SPDX-License-Identifier: MIT
#pragma once

#include "capi/src/values/struct_members.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <reckoner.h>

namespace reckoner::capi {

/// The smallest struct_size of T, bytes. Programs may be compiled with any version of the header from the
/// first one on. Programs in other languages may declare fewer members of the first version: those of
/// docs/INTEGRATION.md do so for the structs below that have a comment.
template <class T>
inline constexpr std::size_t kFirstEnd = 0;
template <>
inline constexpr std::size_t kFirstEnd<reckoner_field_spec> = sizeof(reckoner_field_spec);
template <>
inline constexpr std::size_t kFirstEnd<reckoner_archetype> = offsetof(reckoner_archetype, never_reverses) +
                                                             sizeof(std::int32_t);
template <>
inline constexpr std::size_t kFirstEnd<reckoner_grant> = offsetof(reckoner_grant, renewable_until_s);
template <>
inline constexpr std::size_t kFirstEnd<reckoner_server_config> =
    offsetof(reckoner_server_config, tick_rate_hz);  // with the default settings
template <>
inline constexpr std::size_t kFirstEnd<reckoner_entity_debug> = sizeof(reckoner_entity_debug);
template <>
inline constexpr std::size_t kFirstEnd<reckoner_ownership_rules> = offsetof(reckoner_ownership_rules,
                                                                            frame_reach_m);
template <>
inline constexpr std::size_t kFirstEnd<reckoner_prediction_rules> = sizeof(reckoner_prediction_rules);
template <>
inline constexpr std::size_t kFirstEnd<reckoner_player_input> = sizeof(reckoner_player_input);
template <>
inline constexpr std::size_t kFirstEnd<reckoner_prediction_stats> = sizeof(reckoner_prediction_stats);
template <>
inline constexpr std::size_t kFirstEnd<reckoner_correction> = sizeof(reckoner_correction);
template <>
inline constexpr std::size_t kFirstEnd<reckoner_route_config> = offsetof(reckoner_route_config,
                                                                         angle_limit_rad);
template <>
inline constexpr std::size_t kFirstEnd<reckoner_message> = sizeof(reckoner_message);
template <>
inline constexpr std::size_t kFirstEnd<reckoner_server_event> = sizeof(reckoner_server_event);
template <>
inline constexpr std::size_t kFirstEnd<reckoner_server_stats> =
    offsetof(reckoner_server_stats, publishes);  // only the numbers of clients, entities and ticks
template <>
inline constexpr std::size_t kFirstEnd<reckoner_session_stats> = sizeof(reckoner_session_stats);
template <>
inline constexpr std::size_t kFirstEnd<reckoner_entity_traffic> = sizeof(reckoner_entity_traffic);
template <>
inline constexpr std::size_t kFirstEnd<reckoner_client_config> = offsetof(reckoner_client_config,
                                                                          token);  // without a token
template <>
inline constexpr std::size_t kFirstEnd<reckoner_client_event> = offsetof(reckoner_client_event,
                                                                         fields);  // without user fields
template <>
inline constexpr std::size_t kFirstEnd<reckoner_shown> = offsetof(reckoner_shown, on_route);
template <>
inline constexpr std::size_t kFirstEnd<reckoner_poses> = sizeof(reckoner_poses);
template <>
inline constexpr std::size_t kFirstEnd<reckoner_playout> = sizeof(reckoner_playout);
template <>
inline constexpr std::size_t kFirstEnd<reckoner_shown_debug> = offsetof(reckoner_shown_debug, predicted);
template <>
inline constexpr std::size_t kFirstEnd<reckoner_client_stats> = offsetof(reckoner_client_stats,
                                                                         field_changes_applied);

/// The largest struct_size, bytes. Later versions of the header may have larger structs. A struct_size that
/// the caller forgot to set is mostly larger, and must not make a function write far beyond the struct.
inline constexpr std::size_t kMaxStructSize = 2048;

/// True if `size` can be the struct_size of T in some version of the header: of an older one if it ends
/// behind a member of T, of a newer one if it is larger than T.
template <class T>
[[nodiscard]] bool is_size_of(std::size_t size) {
  static_assert(kFirstEnd<T> > 0 && sizeof(T) <= kMaxStructSize);
  if (size < kFirstEnd<T> || size > kMaxStructSize || size % alignof(T) != 0) return false;
  if (size >= sizeof(T)) return true;
  const auto ends_a_version = [size](std::size_t end) {
    return (end + alignof(T) - 1) / alignof(T) * alignof(T) == size;  // the compiler adds the padding
  };
  return std::ranges::any_of(kMemberEnds<T>, ends_a_version);
}

}  // namespace reckoner::capi
