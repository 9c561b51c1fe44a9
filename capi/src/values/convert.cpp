// SPDX-License-Identifier: MIT
#include "capi/src/values/convert.hpp"

#include "capi/src/values/boundary.hpp"
#include "capi/src/values/shared_fields.hpp"
#include "net/src/config/archetype_settings.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include <reckoner/client/client.hpp>
#include <reckoner/server/server.hpp>

namespace reckoner::capi {
namespace {

// C values never change. These checks allow a plain cast to and from the C++ enumerators.
template <class Enum>
constexpr bool same(Enum value, int number) {
  return static_cast<int>(value) == number;
}
static_assert(same(CallError::unknown_entity, RECKONER_CALL_UNKNOWN_ENTITY));
static_assert(same(CallError::unknown_archetype, RECKONER_CALL_UNKNOWN_ARCHETYPE));
static_assert(same(CallError::unknown_frame, RECKONER_CALL_UNKNOWN_FRAME));
static_assert(same(CallError::too_deep, RECKONER_CALL_TOO_DEEP));
static_assert(same(CallError::name_too_long, RECKONER_CALL_NAME_TOO_LONG));
static_assert(same(CallError::data_too_long, RECKONER_CALL_DATA_TOO_LONG));
static_assert(same(CallError::end_out_of_range, RECKONER_CALL_END_OUT_OF_RANGE));
static_assert(same(CallError::world_full, RECKONER_CALL_WORLD_FULL));
static_assert(same(CallError::not_finite, RECKONER_CALL_NOT_FINITE));
static_assert(same(CallError::outside_world, RECKONER_CALL_OUTSIDE_WORLD));
static_assert(same(CallError::too_fast, RECKONER_CALL_TOO_FAST));
static_assert(same(CallError::beyond_limits, RECKONER_CALL_BEYOND_LIMITS));
static_assert(same(CallError::owned, RECKONER_CALL_OWNED));
static_assert(same(CallError::not_owned, RECKONER_CALL_NOT_OWNED));
static_assert(same(CallError::event_not_polled, RECKONER_CALL_EVENT_NOT_POLLED));
static_assert(same(CallError::no_clock, RECKONER_CALL_NO_CLOCK));
static_assert(same(CallError::no_route, RECKONER_CALL_NO_ROUTE));
static_assert(same(CallError::circle, RECKONER_CALL_CIRCLE));
static_assert(same(CallError::short_lived, RECKONER_CALL_SHORT_LIVED));
static_assert(same(CallError::unknown_client, RECKONER_CALL_UNKNOWN_CLIENT));
static_assert(same(CallError::no_connection, RECKONER_CALL_NO_CONNECTION));
static_assert(same(CallError::no_owner, RECKONER_CALL_NO_OWNER));
static_assert(same(CallError::unknown_route, RECKONER_CALL_UNKNOWN_ROUTE));
static_assert(same(CallError::unknown_field, RECKONER_CALL_UNKNOWN_FIELD));
static_assert(same(CallError::wrong_type, RECKONER_CALL_WRONG_TYPE));
static_assert(same(CallError::out_of_range, RECKONER_CALL_OUT_OF_RANGE));
static_assert(same(CallError::message_empty, RECKONER_CALL_MESSAGE_EMPTY));
static_assert(same(CallError::message_too_long, RECKONER_CALL_MESSAGE_TOO_LONG));
static_assert(same(CallError::queue_full, RECKONER_CALL_QUEUE_FULL));
static_assert(same(CallError::invalid_time, RECKONER_CALL_INVALID_TIME));
static_assert(same(CallError::reason_too_long, RECKONER_CALL_REASON_TOO_LONG));
static_assert(same(CallError::not_shown, RECKONER_CALL_NOT_SHOWN));
static_assert(same(CallError::not_predicted, RECKONER_CALL_NOT_PREDICTED));
static_assert(same(CallError::too_many_predicted, RECKONER_CALL_TOO_MANY_PREDICTED));
static_assert(same(CallError::predicted, RECKONER_CALL_PREDICTED));
static_assert(same(CallError::no_step, RECKONER_CALL_NO_STEP));
static_assert(same(CorrectionReason::begins, RECKONER_CORRECTION_BEGINS));
static_assert(same(CorrectionReason::input_missing, RECKONER_CORRECTION_INPUT_MISSING));
static_assert(same(CorrectionReason::differs, RECKONER_CORRECTION_DIFFERS));
static_assert(same(CorrectionReason::teleported, RECKONER_CORRECTION_TELEPORTED));
static_assert(kMaxInputBytes == RECKONER_MAX_INPUT_BYTES);
static_assert(kMaxGameStateBytes == RECKONER_MAX_GAME_STATE_BYTES);
static_assert(same(RewindStatus::pending, RECKONER_REWIND_PENDING));
static_assert(same(RewindStatus::unavailable, RECKONER_REWIND_UNAVAILABLE));
static_assert(same(ServerEvent::Kind::client_joined, RECKONER_SERVER_EVENT_CLIENT_JOINED));
static_assert(same(ServerEvent::Kind::client_left, RECKONER_SERVER_EVENT_CLIENT_LEFT));
static_assert(same(ServerEvent::Kind::client_refused, RECKONER_SERVER_EVENT_CLIENT_REFUSED));
static_assert(same(ServerEvent::Kind::owner_corrected, RECKONER_SERVER_EVENT_OWNER_CORRECTED));
static_assert(same(ServerEvent::Kind::owner_refused, RECKONER_SERVER_EVENT_OWNER_REFUSED));
static_assert(same(ServerEvent::Kind::client_lost, RECKONER_SERVER_EVENT_CLIENT_LOST));
static_assert(same(ServerEvent::Kind::client_back, RECKONER_SERVER_EVENT_CLIENT_BACK));
static_assert(same(ClientEvent::Kind::lost, RECKONER_CLIENT_EVENT_LOST));
static_assert(same(ClientEvent::Kind::resumed, RECKONER_CLIENT_EVENT_RESUMED));
static_assert(same(ClientEvent::Kind::restarted, RECKONER_CLIENT_EVENT_RESTARTED));
static_assert(same(ClientEvent::Kind::prediction_failed, RECKONER_CLIENT_EVENT_PREDICTION_FAILED));
static_assert(same(ClientEvent::Kind::snapped, RECKONER_CLIENT_EVENT_SNAPPED));
static_assert(same(ClientEvent::Kind::prediction_began, RECKONER_CLIENT_EVENT_PREDICTION_BEGAN));
static_assert(same(ClientEvent::Kind::prediction_ended, RECKONER_CLIENT_EVENT_PREDICTION_ENDED));
static_assert(same(ClientStatus::reconnecting, RECKONER_STATUS_RECONNECTING));
static_assert(same(ClientEvent::Kind::joined, RECKONER_CLIENT_EVENT_JOINED));
static_assert(same(ClientEvent::Kind::spawned, RECKONER_CLIENT_EVENT_SPAWNED));
static_assert(same(ClientEvent::Kind::despawned, RECKONER_CLIENT_EVENT_DESPAWNED));
static_assert(same(ClientEvent::Kind::teleported, RECKONER_CLIENT_EVENT_TELEPORTED));
static_assert(same(ClientEvent::Kind::fields_changed, RECKONER_CLIENT_EVENT_FIELDS_CHANGED));
static_assert(same(ClientEvent::Kind::given, RECKONER_CLIENT_EVENT_GIVEN));
static_assert(same(ClientEvent::Kind::revoked, RECKONER_CLIENT_EVENT_REVOKED));
static_assert(same(ClientEvent::Kind::corrected, RECKONER_CLIENT_EVENT_CORRECTED));
static_assert(same(ClientEvent::Kind::server_closed, RECKONER_CLIENT_EVENT_SERVER_CLOSED));
static_assert(same(ClientEvent::Kind::disconnected, RECKONER_CLIENT_EVENT_DISCONNECTED));
static_assert(same(ClientStatus::connecting, RECKONER_STATUS_CONNECTING) &&
              same(ClientStatus::joining, RECKONER_STATUS_JOINING) &&
              same(ClientStatus::joined, RECKONER_STATUS_JOINED) &&
              same(ClientStatus::refused, RECKONER_STATUS_REFUSED) &&
              same(ClientStatus::disconnected, RECKONER_STATUS_DISCONNECTED));
static_assert(same(PlayoutMode::present, RECKONER_MODE_PRESENT) &&
              same(PlayoutMode::adaptive, RECKONER_MODE_ADAPTIVE) &&
              same(PlayoutMode::delayed, RECKONER_MODE_DELAYED) &&
              same(PlayoutMode::ahead, RECKONER_MODE_AHEAD));
static_assert(same(BlendCurve::cubic, RECKONER_BLEND_CUBIC) &&
              same(BlendCurve::damped, RECKONER_BLEND_DAMPED));
static_assert(same(BlendProfile::article, RECKONER_PROFILE_ARTICLE) &&
              same(BlendProfile::balanced, RECKONER_PROFILE_BALANCED) &&
              same(BlendProfile::accurate, RECKONER_PROFILE_ACCURATE) &&
              same(BlendProfile::gentle, RECKONER_PROFILE_GENTLE));
static_assert(same(Relevance::by_distance, RECKONER_RELEVANCE_BY_DISTANCE) &&
              same(Relevance::always, RECKONER_RELEVANCE_ALWAYS) &&
              same(Relevance::never, RECKONER_RELEVANCE_NEVER));
static_assert(same(OwnerPolicy::accept, RECKONER_OWNER_POLICY_ACCEPT) &&
              same(OwnerPolicy::correct, RECKONER_OWNER_POLICY_CORRECT) &&
              same(OwnerPolicy::refuse, RECKONER_OWNER_POLICY_REFUSE));
static_assert(same(VelocitySource::automatic, RECKONER_VELOCITY_AUTOMATIC) &&
              same(VelocitySource::given, RECKONER_VELOCITY_GIVEN) &&
              same(VelocitySource::estimated, RECKONER_VELOCITY_ESTIMATED));
static_assert(same(OwnerGone::rest, RECKONER_OWNER_GONE_REST) &&
              same(OwnerGone::despawn, RECKONER_OWNER_GONE_DESPAWN));

std::optional<FieldSpec> field_of(const reckoner_field_spec& c) {
  FieldSpec field;
  field.name = c.name != nullptr ? c.name : "";
  switch (c.type) {
    case RECKONER_VALUE_BOOLEAN:
      field.type = BooleanField{c.initial.integer != 0};
      return field;
    case RECKONER_VALUE_INTEGER:
      field.type = IntegerField{c.integer_least, c.integer_most, c.initial.integer};
      return field;
    case RECKONER_VALUE_REAL:
      field.type = RealField{c.real_least, c.real_most, c.real_step, c.initial.real};
      return field;
    case RECKONER_VALUE_BLOB: {
      if (c.initial.blob_size > sizeof c.initial.blob) return std::nullopt;
      const auto blob = Blob::of(std::as_bytes(std::span(c.initial.blob, c.initial.blob_size)));
      if (!blob) return std::nullopt;
      field.type = BlobField{c.most_bytes, *blob};
      return field;
    }
    default:
      return std::nullopt;
  }
}

reckoner_result add_fields(const reckoner_archetype& c, Archetype& archetype) {
  if (c.field_count > kMaxFields || (c.field_count > 0 && c.fields == nullptr))
    return RECKONER_ERROR_ARGUMENT;
  for (std::uint32_t i = 0; i < c.field_count; ++i) {
    reckoner_field_spec spec;
    reckoner_field_spec_init(&spec, sizeof spec);
    if (const auto result = read_element(c.fields, i, spec); result != RECKONER_OK) return result;
    auto field = field_of(spec);
    if (!field) return RECKONER_ERROR_ARGUMENT;
    archetype.fields.push_back(std::move(*field));
  }
  return RECKONER_OK;
}

// Sets the floor of an archetype.
reckoner_result add_floor(const reckoner_archetype& c, Archetype& archetype) {
  if (c.floor == RECKONER_FLOOR_NONE) return RECKONER_OK;
  const bool is_terrain = c.floor == RECKONER_FLOOR_TERRAIN;
  if (is_terrain ? c.floor_at == nullptr : c.floor != RECKONER_FLOOR_PLANE) return RECKONER_ERROR_ARGUMENT;
  Floor floor{.up = {c.floor_up[0], c.floor_up[1], c.floor_up[2]}, .height_m = c.floor_height_m};
  if (is_terrain) {
    floor.height = [at = c.floor_at, user = c.floor_user](const glm::dvec3& position) {
      const double place[3] = {position.x, position.y, position.z};
      return at(user, place);
    };
  }
  archetype.floor = std::make_shared<const Floor>(std::move(floor));
  return RECKONER_OK;
}

// Sets the walls of an archetype.
reckoner_result add_walls(const reckoner_archetype& c, Archetype& archetype) {
  if (c.wall_count == 0 && c.wall_reach == nullptr) return RECKONER_OK;
  if (c.wall_count > kMaxWallBoxes || (c.wall_count > 0 && c.wall_boxes == nullptr))
    return RECKONER_ERROR_ARGUMENT;
  Walls walls{.margin_m = c.wall_margin_m};
  for (std::uint32_t i = 0; i < c.wall_count; ++i) {
    const reckoner_wall_box& box = c.wall_boxes[i];
    const float* q = box.orientation;
    walls.boxes.push_back({{box.centre[0], box.centre[1], box.centre[2]},
                           {box.half_size[0], box.half_size[1], box.half_size[2]},
                           glm::quat{q[3], q[0], q[1], q[2]}});
  }
  if (c.wall_reach != nullptr) {
    walls.reach = [at = c.wall_reach, user = c.wall_user](const glm::dvec3& from, const glm::dvec3& to) {
      const double begin[3] = {from.x, from.y, from.z};
      const double end[3] = {to.x, to.y, to.z};
      double reached[3] = {to.x, to.y, to.z};
      at(user, begin, end, reached);
      return glm::dvec3{reached[0], reached[1], reached[2]};
    };
  }
  archetype.walls = std::make_shared<const Walls>(std::move(walls));
  return RECKONER_OK;
}

reckoner_result read_archetype(const reckoner_archetype* first, std::size_t i, Archetype& archetype) {
  reckoner_archetype c;
  reckoner_archetype_init(&c, sizeof c);
  if (const auto result = read_element(first, i, c); result != RECKONER_OK) return result;
  archetype.name = c.name != nullptr ? c.name : "";
  archetype.codes = c.codes != nullptr ? c.codes : "";
  if (c.velocity < 0 || c.velocity > RECKONER_VELOCITY_ESTIMATED) return RECKONER_ERROR_ARGUMENT;
  copy_from_c(kArchetypeFields, archetype, c);
  if (const auto result = add_floor(c, archetype); result != RECKONER_OK) return result;
  if (const auto result = add_walls(c, archetype); result != RECKONER_OK) return result;
  return add_fields(c, archetype);
}

}  // namespace

reckoner_result to_c(CallError error, CallError& last) {
  last = error;
  switch (error) {
    case CallError::none:
      return RECKONER_OK;
    case CallError::unknown_entity:
    case CallError::unknown_frame:
    case CallError::unknown_client:
    case CallError::unknown_route:
    case CallError::unknown_field:
    case CallError::no_connection:
      return RECKONER_ERROR_UNKNOWN;
    default:
      return RECKONER_ERROR_REFUSED;
  }
}

reckoner_state to_c(const State& s) {
  return {{s.position.x, s.position.y, s.position.z},
          {s.velocity.x, s.velocity.y, s.velocity.z},
          {s.acceleration.x, s.acceleration.y, s.acceleration.z},
          {s.orientation.x, s.orientation.y, s.orientation.z, s.orientation.w},
          {s.angular_velocity.x, s.angular_velocity.y, s.angular_velocity.z}};
}

State from_c(const reckoner_state& c) {
  State state;
  state.position = {c.position[0], c.position[1], c.position[2]};
  state.velocity = {c.velocity[0], c.velocity[1], c.velocity[2]};
  state.acceleration = {c.acceleration[0], c.acceleration[1], c.acceleration[2]};
  state.orientation = glm::quat{c.orientation[3], c.orientation[0], c.orientation[1], c.orientation[2]};
  state.angular_velocity = {c.angular_velocity[0], c.angular_velocity[1], c.angular_velocity[2]};
  return state;
}

reckoner_pose to_c(const Pose& p) {
  return {{p.position.x, p.position.y, p.position.z},
          {p.orientation.x, p.orientation.y, p.orientation.z, p.orientation.w}};
}

reckoner_value to_c(const FieldValue& value) {
  reckoner_value c{};
  c.type = static_cast<std::int32_t>(value.index());
  if (const auto* boolean = std::get_if<bool>(&value)) c.integer = *boolean ? 1 : 0;
  if (const auto* integer = std::get_if<std::int64_t>(&value)) c.integer = *integer;
  if (const auto* real = std::get_if<double>(&value)) c.real = *real;
  if (const auto* blob = std::get_if<Blob>(&value)) {
    c.blob_size = static_cast<std::uint32_t>(blob->bytes().size());
    std::memcpy(c.blob, blob->bytes().data(), blob->bytes().size());
  }
  return c;
}

std::optional<FieldValue> from_c(const reckoner_value& c) {
  switch (c.type) {
    case RECKONER_VALUE_BOOLEAN:
      return FieldValue{c.integer != 0};
    case RECKONER_VALUE_INTEGER:
      return FieldValue{c.integer};
    case RECKONER_VALUE_REAL:
      return FieldValue{c.real};
    case RECKONER_VALUE_BLOB: {
      if (c.blob_size > sizeof c.blob) return std::nullopt;
      const auto blob = Blob::of(std::as_bytes(std::span(c.blob, c.blob_size)));
      return blob ? std::optional<FieldValue>{*blob} : std::nullopt;
    }
    default:
      return std::nullopt;
  }
}

const std::uint8_t* to_c(std::span<const std::byte> bytes) {
  return bytes.empty() ? nullptr : reinterpret_cast<const std::uint8_t*>(bytes.data());
}

reckoner_message to_c(const GameMessage& message) {
  reckoner_message c{};
  c.sender = message.sender.value;
  c.bytes = reinterpret_cast<const std::uint8_t*>(message.payload.data());
  c.size = message.payload.size();
  c.has_time = message.time_s ? 1 : 0;
  c.time_s = message.time_s.value_or(0.0);
  return c;
}

std::optional<Delivery> delivery_of(std::int32_t delivery) {
  if (delivery == RECKONER_DELIVERY_RELIABLE) return Delivery::reliable;
  if (delivery == RECKONER_DELIVERY_UNRELIABLE) return Delivery::unreliable;
  if (delivery == RECKONER_DELIVERY_RELIABLE_UNORDERED) return Delivery::reliable_unordered;
  return std::nullopt;
}

std::optional<std::vector<Archetype>> archetypes_of(const reckoner_archetype* first, std::uint32_t count,
                                                    reckoner_result& result, std::string& fault) {
  result = RECKONER_ERROR_ARGUMENT;
  if (const auto error = find_invalid_archetype_count(count)) {
    fault = error->message;
    return std::nullopt;
  }
  if (first == nullptr) {
    fault = "archetypes is null";
    return std::nullopt;
  }
  std::vector<Archetype> archetypes;
  for (std::uint32_t i = 0; i < count; ++i) {
    result = read_archetype(first, i, archetypes.emplace_back());
    if (result != RECKONER_OK) {
      fault = "archetypes[" + std::to_string(i) + "] has an invalid struct_size, or an invalid field";
      return std::nullopt;
    }
  }
  return archetypes;
}

std::string with_c_names(std::string_view error) {
  static constexpr std::pair<std::string_view, std::string_view> kPrefixes[] = {
      {"interest.", "interest_"}, {"reconnect.", "reconnect_"}, {"limits.", "limit_"}, {"playout.", ""}};
  for (const auto& [cpp, c] : kPrefixes) {
    if (error.starts_with(cpp)) return std::string(c) + std::string(error.substr(cpp.size()));
  }
  return std::string(error);
}

reckoner_result refused_for(std::uint32_t reason, const RefusalCounts& payloads_refused,
                            const RefusalCounts& datagrams_refused, std::uint64_t* payloads,
                            std::uint64_t* datagrams) {
  if (reason >= RefusalCounts::kReasons) return RECKONER_ERROR_UNKNOWN;
  const auto why = static_cast<Refusal>(reason);
  if (payloads != nullptr) *payloads = payloads_refused[why];
  if (datagrams != nullptr) *datagrams = datagrams_refused[why];
  return RECKONER_OK;
}

std::optional<std::vector<SocketAddress>> addresses_of(const reckoner_address* first, std::uint32_t count,
                                                       const char* more, bool need_port) {
  std::vector<SocketAddress> addresses;
  for (std::uint32_t i = 0; first != nullptr && i < count; ++i)
    addresses.push_back({IpAddress(first[i].host), first[i].port});
  std::string_view rest = more != nullptr ? more : "";
  while (!rest.empty()) {
    const std::string_view text = rest.substr(0, rest.find(' '));
    rest.remove_prefix(std::min(text.size() + 1, rest.size()));
    if (text.empty()) continue;
    const auto split = split_host_port(text);
    const auto host = split ? parse_host(split->host) : std::nullopt;
    if (!host || (need_port && split->port == 0)) return std::nullopt;
    addresses.push_back({host->host, split->port, host->scope});
  }
  return addresses;
}

SecretKey key_of(const std::uint8_t* bytes) {
  return SecretKey(std::as_bytes(std::span<const std::uint8_t, SecretKey::kBytes>(bytes, SecretKey::kBytes)));
}

}  // namespace reckoner::capi
