// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string_view>

#include <reckoner/net/ids.hpp>
#include <reckoner/reckoning/export.hpp>
#include <reckoner/reckoning/result.hpp>

namespace reckoner {

/// Why a server or a client did not do what its game asked for.
enum class CallError : std::uint8_t {
  none = 0,               ///< it was done
  unknown_entity = 1,     ///< there is no entity with this id
  unknown_archetype = 2,  ///< the archetype's index is not below the number of archetypes
  unknown_frame = 3,      ///< the frame's entity is unknown, short-lived or in the entity's own frame
  too_deep = 4,           ///< the entity, or one in its frame, would be in more than kMaxFrameDepth frames
  name_too_long = 5,      ///< the name has more than 64 bytes
  data_too_long = 6,      ///< the data has more bytes than allowed, or does not fit beside the fields
  end_out_of_range = 7,   ///< the end is before the next tick or more than kMaxShortLifeS after it
  world_full = 8,         ///< there are max_entities or 64 predictions already
  not_finite = 9,         ///< a number is not finite, or the orientation is not a unit quaternion
  outside_world = 10,     ///< the position is beyond Archetype::world_size_m
  too_fast = 11,          ///< the speed is above Archetype::max_speed_mps along an axis, or would have to be
  beyond_limits = 12,     ///< the acceleration, the angular velocity or the place on the route cannot be sent
  owned = 13,             ///< a client owns the entity and moves it
  not_owned = 14,         ///< this client does not own the entity
  event_not_polled = 15,  ///< the game has not polled the event about a grant or a correction yet
  no_clock = 16,          ///< the client does not know the server's time yet
  no_route = 17,          ///< the entity follows no route
  circle = 18,            ///< the frame belongs to the entity itself, or to an entity in its frame
  short_lived = 19,       ///< the entity is short-lived: it has no owner, and nothing can enter its frame
  unknown_client = 20,    ///< there is no client with this id
  no_connection = 21,     ///< the client has no connection at present
  no_owner = 22,          ///< no client owns the entity
  unknown_route = 23,     ///< there is no route with this id
  unknown_field = 24,     ///< the field's index is not below the number of the archetype's fields
  wrong_type = 25,        ///< the value has another type than the field
  out_of_range = 26,      ///< a number is out of its range
  message_empty = 27,     ///< the message has no bytes
  message_too_long = 28,  ///< the message has more bytes than its kind of delivery allows
  queue_full = 29,        ///< too many messages for the receiver wait, or are not acknowledged yet
  invalid_time = 30,      ///< the time is not finite, or too far away
  reason_too_long = 31,   ///< the reason has more than kMaxKickReasonBytes
  not_shown = 32,         ///< the client does not show the entity
  not_predicted = 33,     ///< this client does not predict the entity
  too_many_predicted = 34,  ///< the client predicts kMaxPredicted entities already
  predicted = 35,           ///< a client predicts the entity
  no_step = 36,             ///< the client has not stepped this tick, or not any more
};

/// The error in one line of text; empty for `none`.
[[nodiscard]] RECKONER_NET_API std::string_view describe(CallError error);

/// Whether a call was done, and why not.
class [[nodiscard]] CallResult {
 public:
  /// Done, or not done for this reason.
  constexpr CallResult(CallError error = CallError::none) : error_(error) {}
  /// True if it was done.
  [[nodiscard]] constexpr explicit operator bool() const { return error_ == CallError::none; }
  /// Why it was not done; `none` if it was.
  [[nodiscard]] constexpr CallError error() const { return error_; }

 private:
  CallError error_;
};

/// The id of a new entity, or why there is none.
using SpawnResult = Result<EntityId, CallError>;

}  // namespace reckoner
