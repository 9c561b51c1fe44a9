// SPDX-License-Identifier: MIT
#include <reckoner/net/call_result.hpp>

namespace reckoner {

std::string_view describe(CallError error) {
  switch (error) {
    case CallError::none:
      return "";
    case CallError::unknown_entity:
      return "there is no such entity";
    case CallError::unknown_archetype:
      return "there is no such archetype";
    case CallError::unknown_frame:
      return "the entity cannot be in this frame: the frame's entity is unknown, short-lived or inside it";
    case CallError::too_deep:
      return "the entity would be in too many frames";
    case CallError::name_too_long:
      return "the name has more than 64 bytes";
    case CallError::data_too_long:
      return "the data of the entity is too long";
    case CallError::end_out_of_range:
      return "the end of a short-lived entity is in the past or too late";
    case CallError::world_full:
      return "there are already as many entities (max_entities) or predictions as allowed";
    case CallError::not_finite:
      return "a number is not finite, or the orientation is not a unit quaternion";
    case CallError::outside_world:
      return "the position is outside of the archetype's world_size_m";
    case CallError::too_fast:
      return "the velocity, or the distance since the last moves, is above the archetype's max_speed_mps";
    case CallError::beyond_limits:
      return "the acceleration, the angular velocity or the place on the route cannot be sent";
    case CallError::owned:
      return "a client owns the entity";
    case CallError::not_owned:
      return "this client does not own the entity";
    case CallError::event_not_polled:
      return "the event about the grant or the correction was not polled yet";
    case CallError::no_clock:
      return "the client does not know the server's time yet";
    case CallError::no_route:
      return "the entity follows no route";
    case CallError::circle:
      return "the frame's entity is the entity itself or inside it";
    case CallError::short_lived:
      return "the entity is short-lived: no client can own it, and nothing can enter its frame";
    case CallError::unknown_client:
      return "there is no such client";
    case CallError::no_connection:
      return "the client has no connection at present";
    case CallError::no_owner:
      return "no client owns the entity";
    case CallError::unknown_route:
      return "there is no such route";
    case CallError::unknown_field:
      return "the entity has no such field";
    case CallError::wrong_type:
      return "the value has another type than the field";
    case CallError::out_of_range:
      return "a number is out of its range";
    case CallError::message_empty:
      return "the message is empty";
    case CallError::message_too_long:
      return "the message is too long for its kind of delivery";
    case CallError::queue_full:
      return "too many messages for the receiver wait or are not acknowledged yet";
    case CallError::invalid_time:
      return "the time is not finite or too far away";
    case CallError::reason_too_long:
      return "the reason is too long";
    case CallError::not_shown:
      return "the client does not show the entity";
    case CallError::not_predicted:
      return "the client does not predict the entity";
    case CallError::too_many_predicted:
      return "the client predicts as many entities as it may";
    case CallError::predicted:
      return "a client predicts the entity";
    case CallError::no_step:
      return "the client has not stepped this tick, or it was too long ago";
  }
  return "unknown error";
}

}  // namespace reckoner
