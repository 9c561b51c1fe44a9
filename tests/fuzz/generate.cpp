// SPDX-License-Identifier: MIT
#include "generate.hpp"

#include "net/src/codec/field_codec.hpp"
#include "net/src/link/message_length.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <variant>

#include <reckoner/net/transport.hpp>

namespace reckoner::fuzz {
namespace {

constexpr double kMost = 1e12;  // the largest number in a message

std::vector<Archetype> make_archetypes() {
  std::vector<Archetype> kinds(3);
  kinds[0].name = "body";
  kinds[0].fields = {{"armed", BooleanField{true}},
                     {"health", IntegerField{-5, 100, 100}},
                     {"heat", RealField{-1.0, 2.0, 0.01, 0.0}},
                     {"label", BlobField{8, {}}}};
  kinds[1].name = "crate";
  kinds[1].has_orientation = false;
  kinds[1].never_reverses = true;
  kinds[1].threshold_m = 0.5;
  kinds[1].max_speed_mps = 20.0;
  kinds[1].fields = {{"mass", IntegerField{0, 7, 1}}};
  kinds[2].name = "hand";
  kinds[2].threshold_m = 0.001;
  kinds[2].threshold_rad = 0.001;
  kinds[2].max_speed_mps = 12.0;
  kinds[2].world_size_m = 100.0;
  return kinds;
}

template <std::size_t N>
void fill(Choices& choices, std::array<std::int8_t, N>& gains) {
  for (std::int8_t& gain : gains)
    gain = static_cast<std::int8_t>(choices.integer(8));
}

template <class E>
E any_of(Choices& choices, E last) {
  return static_cast<E>(choices.up_to(static_cast<std::uint64_t>(last)));
}

glm::dvec3 any_point(Choices& choices, double most) {
  const double x = choices.real(-most, most);
  const double y = choices.real(-most, most);
  return {x, y, choices.real(-most, most)};
}

glm::vec3 any_rate(Choices& choices, double most) {
  return glm::vec3{any_point(choices, most)};
}

template <class T>
void any_three(Choices& choices, std::array<T, 3>& three, unsigned bits) {
  for (T& each : three)
    each = static_cast<T>(choices.integer(bits));
}

BlendSettings any_blend(Choices& choices) {
  const double duration_s = choices.real(0.0, kMaxBlendS);
  return {choices.flag() ? BlendCurve::damped : BlendCurve::cubic, duration_s};
}

PlayoutMessage any_playout(Choices& choices) {
  PlayoutMessage m;
  m.interpolates = choices.flag();
  m.shows_past = m.interpolates && choices.flag();
  m.blend = any_blend(choices);
  return m;
}

SessionKey any_key(Choices& choices) {
  return {choices.up_to(UINT64_MAX), choices.up_to(UINT64_MAX)};
}

WelcomeMessage any_welcome(Choices& choices) {
  WelcomeMessage m;
  m.client.value = static_cast<std::uint32_t>(choices.up_to(UINT32_MAX));
  m.key = any_key(choices);
  m.tick_rate_hz = choices.real(1.0, 1000.0);
  m.epoch_s = choices.real(-kMost, kMost);
  m.tick = static_cast<Tick>(choices.up_to(UINT32_MAX));
  m.longest_gap_s = choices.real(0.0, kMost);
  m.rewinds = choices.flag();
  const std::size_t count = choices.rarely(3) ? choices.up_to(5) : archetypes().size();
  for (std::size_t i = 0; i < count; ++i) {
    const Archetype a = any_limits(choices);
    m.archetypes.push_back(
        {a.threshold_m, a.threshold_rad, a.max_speed_mps, a.world_size_m, any_codes(choices)});
  }
  return m;
}

// A number at least 1 and near `newest`.
std::uint32_t any_number(Choices& choices, std::uint32_t newest) {
  const std::int64_t number = newest + choices.integer(6);
  return static_cast<std::uint32_t>(std::max<std::int64_t>(1, number));
}

Spawn any_spawn(Choices& choices, std::uint32_t newest) {
  Spawn s;
  s.number = any_number(choices, newest);
  s.entity = any_entity(choices);
  const std::size_t kind = choices.up_to(archetypes().size() - 1);
  s.archetype = static_cast<std::uint8_t>(kind);
  s.level = static_cast<std::uint8_t>(choices.up_to(UpdateHeader::kLevels - 1));
  s.orientation_bits = static_cast<std::uint8_t>(quantisations()[kind].orientation_bits);
  s.age = static_cast<std::uint32_t>(choices.up_to(choices.rarely(7) ? 1000 : 9));
  s.state = any_quantised(choices, s.orientation_bits);
  if (choices.flag()) {
    Spawn::ShortLife& life = s.short_lived.emplace();
    if (choices.flag())
      life.life = static_cast<std::uint32_t>(choices.up_to(choices.rarely(7) ? UINT32_MAX : 50'000));
    if (choices.flag()) life.prediction = static_cast<std::uint32_t>(choices.up_to(UINT32_MAX));
    life.data = choices.bytes(choices.rarely(7) ? kMaxSpawnDataBytes : 8);
  } else {
    s.name = choices.text(kMaxNameBytes);
  }
  s.values_follow = choices.rarely(3);
  if (s.values_follow) return s;
  s.fields.resize(kMaxValuesBytes);
  BitWriter writer{s.fields};
  write_values(writer, archetypes()[kind].fields, any_values(choices, archetypes()[kind].fields));
  s.fields.resize(writer.finish().size());
  return s;
}

Despawn any_despawn(Choices& choices, std::uint32_t newest) {
  Despawn d;
  d.number =
      choices.flag() ? any_number(choices, newest) : static_cast<std::uint32_t>(choices.up_to(newest)) + 1;
  d.entity = any_entity(choices);
  d.age = static_cast<std::uint32_t>(choices.up_to(choices.rarely(7) ? UINT32_MAX : 9));
  if (choices.flag()) d.after_messages = static_cast<std::uint16_t>(choices.up_to(UINT16_MAX));
  return d;
}

OwnershipMessage any_ownership(Choices& choices) {
  OwnershipMessage m;
  m.entity = any_entity(choices);
  m.change = any_of(choices, OwnershipMessage::Change::repeated);
  m.term = static_cast<std::uint8_t>(choices.up_to(kTerms - 1));
  m.viewers_s = choices.real(0.0, 10.0);
  if (m.change != OwnershipMessage::Change::given && m.change != OwnershipMessage::Change::corrected)
    return m;
  m.motion_tick = static_cast<Tick>(choices.up_to(200));
  const auto& all = quantisations();
  m.orientation_bits = static_cast<std::uint8_t>(all[choices.up_to(all.size() - 1)].orientation_bits);
  m.state = any_quantised(choices, m.orientation_bits);
  return m;
}

GameDataMessage any_game_data(Choices& choices) {
  GameDataMessage m;
  if (choices.flag()) m.time_s = choices.real(-kMaxStamp, kMaxStamp);
  m.payload = choices.bytes(64);
  if (m.payload.empty()) m.payload.resize(1);
  return m;
}

}  // namespace

const std::vector<Archetype>& archetypes() {
  static const std::vector<Archetype> kinds = make_archetypes();
  return kinds;
}

const std::vector<Quantisation>& quantisations() {
  static const std::vector<Quantisation> all = [] {
    std::vector<Quantisation> made;
    for (const Archetype& kind : archetypes())
      made.push_back(quantisation_for(kind));
    return made;
  }();
  return all;
}

FieldSpec any_field(Choices& choices, const std::string& name) {
  FieldSpec field{name, {}};
  switch (choices.up_to(3)) {
    case 0:
      field.type = BooleanField{choices.flag()};
      break;
    case 1: {
      const auto [least, most] = std::minmax({choices.integer(64), choices.integer(64)});
      field.type = IntegerField{least, most, choices.flag() ? least : most};
      break;
    }
    case 2: {
      const auto [least, most] = std::minmax({choices.real(-1e9, 1e9), choices.real(-1e9, 1e9)});
      const double bound = std::max({std::abs(least), std::abs(most), 1e-30});
      field.type = RealField{least, most, bound * std::exp2(-static_cast<double>(choices.up_to(48))), least};
      break;
    }
    default:
      field.type = BlobField{choices.up_to(kMaxBlobBytes), {}};
      break;
  }
  return field;
}

FieldValue any_value(Choices& choices, const FieldSpec& field) {
  FieldValue value;
  if (std::holds_alternative<BooleanField>(field.type)) {
    value = choices.flag();
  } else if (const auto* whole = std::get_if<IntegerField>(&field.type)) {
    const auto span = static_cast<std::uint64_t>(whole->most) - static_cast<std::uint64_t>(whole->least);
    value = static_cast<std::int64_t>(static_cast<std::uint64_t>(whole->least) + choices.up_to(span));
  } else if (const auto* real = std::get_if<RealField>(&field.type)) {
    value = choices.real(real->least, real->most);
  } else {
    value = *Blob::of(choices.bytes(std::get<BlobField>(field.type).most_bytes));
  }
  return quantise(value, field).value_or(initial_value(field));
}

std::vector<FieldValue> any_values(Choices& choices, std::span<const FieldSpec> fields) {
  std::vector<FieldValue> values;
  for (const FieldSpec& field : fields)
    values.push_back(choices.flag() ? any_value(choices, field) : initial_value(field));
  return values;
}

CodeParameters any_codes(Choices& choices) {
  CodeParameters c;
  if (!choices.rarely(3)) return c;
  for (OrderRule& rule : c.orders) {
    rule.offset = static_cast<std::int8_t>(choices.integer(7));
    rule.slope = static_cast<std::uint8_t>(choices.up_to(OrderRule::kMaxSlope));
  }
  fill(choices, c.velocity);
  for (Prior& prior : c.priors) {
    fill(choices, prior.horizontal);
    fill(choices, prior.vertical);
    fill(choices, prior.tilt);
    fill(choices, prior.yaw);
    prior.pitch_share = static_cast<std::uint8_t>(choices.up_to(CodeParameters::kMaxShare));
    prior.other_share = static_cast<std::uint8_t>(choices.up_to(CodeParameters::kMaxShare));
  }
  return c;
}

Archetype any_limits(Choices& choices) {
  const auto& kinds = archetypes();
  Archetype a = kinds[choices.up_to(kinds.size() - 1)];
  if (!choices.rarely(3)) return a;
  a.threshold_m = choices.real(1e-6, kMost);
  a.threshold_rad = choices.real(1e-6, kMost);
  a.max_speed_mps = choices.real(0.0, kMost);
  a.world_size_m = choices.real(0.0, kMost);
  return a;
}

State any_state(Choices& choices, const Quantisation& q) {
  State s;
  s.position = any_point(choices, 1.2 * q.world_size_m);
  s.velocity = any_rate(choices, 1.2 * q.max_speed_mps);
  s.acceleration = any_rate(choices, 2e5);
  s.angular_velocity = any_rate(choices, 2e4);
  const glm::vec3 axis = any_rate(choices, 1.0);
  const glm::quat turn{static_cast<float>(choices.real(-1.0, 1.0)), axis.x, axis.y, axis.z};
  if (glm::length(turn) > 1e-3f) s.orientation = glm::normalize(turn);
  return s;
}

QuantisedState any_quantised(Choices& choices, unsigned orientation_bits) {
  QuantisedState s;
  if (choices.rarely(7)) s.frame = any_entity(choices);
  s.teleports = static_cast<std::uint8_t>(choices.up_to(kTeleportModulus - 1));
  CodingMode& m = s.coding_mode;
  m.precision = static_cast<std::uint8_t>(choices.up_to(kMaxPrecision));
  if (choices.rarely(7)) {
    s.along = {{static_cast<std::uint32_t>(choices.up_to(3) + 1)},
               static_cast<std::int32_t>(choices.up_to(INT32_MAX)),
               static_cast<std::int32_t>(choices.integer(32)),
               static_cast<std::int32_t>(choices.integer(32))};
    return s;
  }
  m.reach = static_cast<std::uint8_t>(choices.up_to(kMaxReach));
  m.prior = static_cast<std::uint8_t>(choices.up_to(kPriorCount - 1));
  m.wander = static_cast<std::uint8_t>(choices.up_to(kMaxWander));
  m.bends = choices.flag();
  if (m.bends) s.link = static_cast<std::uint8_t>(choices.up_to(MotionTransition::kLinks - 1));
  m.steady = !m.bends && choices.flag();
  s.sudden = m.steady && choices.flag();
  // Mostly values that are valid for some archetype, because all others are refused early.
  const bool wild = choices.rarely(7);
  any_three(choices, s.position, wild ? 48 : 17);
  if (!choices.rarely(3)) {
    any_three(choices, s.velocity, wild ? 31 : 8);
    if (!m.steady) any_three(choices, s.acceleration, wild ? 31 : 6);
  }
  if (orientation_bits == 0) return s;
  m.twist = static_cast<std::uint8_t>(choices.up_to(kMaxTwist));
  s.largest = static_cast<std::uint8_t>(choices.up_to(3));
  any_three(choices, s.orientation, 8);
  any_three(choices, s.angular_velocity, wild ? 31 : 6);
  for (std::int16_t& each : s.orientation)
    each = static_cast<std::int16_t>(std::clamp<int>(each, -127, 127));
  return s;
}

namespace {

std::vector<glm::dvec3> any_points(Choices& choices, double size_m) {
  std::vector<glm::dvec3> points(choices.up_to(12));
  for (glm::dvec3& point : points)
    point = any_point(choices, size_m);
  return points;
}

TcbRoute any_tcb_route(Choices& choices, double size_m) {
  TcbRoute route;
  double time = choices.real(-1.0, 1.0);
  for (std::size_t left = choices.up_to(12); left > 0; --left) {
    TcbKey<glm::dvec3> key;
    key.time = time += choices.real(0.0, 10.0);
    key.value = any_point(choices, size_m);
    key.shape = {choices.real(-2.0, 2.0), choices.real(-2.0, 2.0), choices.real(-2.0, 2.0)};
    key.ease_to = choices.real(0.0, 1.0);
    key.ease_from = choices.real(0.0, 1.0);
    route.keys.push_back(key);
  }
  route.closing_time = choices.real(0.0, 10.0);
  return route;
}

ChaikinRoute any_chaikin_route(Choices& choices, double size_m) {
  ChaikinRoute route{.points = any_points(choices, size_m)};
  route.passes = static_cast<int>(choices.up_to(15));
  if (choices.flag()) route.angle_limit = choices.real(0.0, 4.0);
  if (choices.flag()) route.outlier_limit = choices.real(0.0, 4.0);
  return route;
}

RouteCurve any_curve(Choices& choices, double size_m) {
  switch (choices.up_to(3)) {
    case 0: {
      CatmullRomRoute route{.points = any_points(choices, size_m)};
      route.knots = any_of(choices, CatmullRomKnots::chordal);
      route.reflect_ends = choices.flag();
      return route;
    }
    case 1:
      return any_tcb_route(choices, size_m);
    case 2:
      return any_chaikin_route(choices, size_m);
    default:
      return PolylineRoute{any_points(choices, size_m)};
  }
}

}  // namespace

RouteDefinition any_route(Choices& choices) {
  RouteDefinition d;
  d.wrap = any_of(choices, RouteWrap::ping_pong);
  d.facing = any_of(choices, RouteFacing::fixed);
  const double size_m = choices.rarely(7) ? kMost : 100.0;
  d.curve = any_curve(choices, size_m);
  if (choices.rarely(3)) d.up = any_point(choices, size_m);
  if (choices.rarely(3)) d.orientation = {choices.real(-1.0, 1.0), 0.0, choices.real(-1.0, 1.0), 0.0};
  if (choices.rarely(3)) d.tolerance = choices.real(1e-9, 1.0);
  return d;
}

EntityId any_entity(Choices& choices) {
  // Mostly ids of a small world, sometimes any id.
  if (!choices.rarely(7)) return {static_cast<std::uint32_t>(choices.up_to(7) + 1), 0};
  return {static_cast<std::uint32_t>(choices.up_to(kMaxEntities - 1) + 1),
          static_cast<std::uint16_t>(choices.up_to(UINT16_MAX))};
}

ReliableMessage any_reliable(Choices& choices) {
  switch (choices.up_to(8)) {
    case 0:
      return any_welcome(choices);
    case 1:
    case 2:
      return AfterSpawnsMessage{static_cast<std::uint32_t>(choices.up_to(choices.flag() ? 20 : UINT32_MAX))};
    case 3:
      return RouteMessage{{static_cast<std::uint32_t>(choices.up_to(3) + 1)}, any_route(choices)};
    case 4:
      return any_game_data(choices);
    case 5:
      return any_ownership(choices);
    case 6:
      return KickMessage{choices.text(kMaxKickReasonBytes)};
    case 7: {
      UnorderedMessage message{any_game_data(choices), std::nullopt};
      if (choices.flag()) message.after_spawns = static_cast<std::uint32_t>(choices.up_to(UINT32_MAX));
      return message;
    }
    default:
      return any_playout(choices);
  }
}

SpawnEntry any_spawn_entry(Choices& choices, std::uint32_t newest) {
  switch (choices.up_to(7)) {
    case 0:
      return PredictionRefusal{static_cast<std::uint32_t>(choices.up_to(UINT32_MAX))};
    case 1:
    case 2:
    case 3:
      return any_despawn(choices, newest);
    default:
      return any_spawn(choices, newest);
  }
}

std::vector<ReliablePart> any_parts(Choices& choices, std::uint64_t near) {
  std::vector<ReliablePart> parts;
  std::uint64_t at = near;
  if (choices.flag()) at -= std::min<std::uint64_t>(near, choices.up_to(choices.flag() ? 20 : 2000));
  if (choices.flag()) at += choices.up_to(choices.rarely(7) ? (1u << 23) - 1 : 30);
  for (std::uint64_t n = 1 + choices.up_to(3); n > 0; --n) {
    ReliablePart& part = parts.emplace_back();
    part.offset = at;
    switch (choices.up_to(5)) {
      case 0:  // a length that has any form
        part.bytes = choices.bytes(4);
        break;
      case 1:
        part.bytes.assign(1 + choices.up_to(ReliablePartsWriter::kMaxPartBytes - 1), std::byte{1});
        break;
      case 2:
        for (std::uint64_t m = choices.up_to(20); m > 0; --m)
          part.bytes.insert(part.bytes.end(), {std::byte{1}, std::byte{7}});  // a message of one byte
        break;
      default: {
        const Bytes message = encoded(any_reliable(choices));
        append_message_length(part.bytes, message.size());
        part.bytes.insert(part.bytes.end(), message.begin(), message.end());
        if (choices.flag()) (void)damage(choices, part.bytes);
        break;
      }
    }
    if (part.bytes.empty()) part.bytes.resize(1);
    if (part.bytes.size() > ReliablePartsWriter::kMaxPartBytes)
      part.bytes.resize(ReliablePartsWriter::kMaxPartBytes);
    if (choices.flag())
      part.unordered = static_cast<std::uint32_t>(choices.flag() ? choices.up_to(part.bytes.size() - 1) : 0);
    at += part.bytes.size();
    if (choices.flag()) at += choices.up_to(choices.rarely(15) ? UINT32_MAX - 1 : 30);
  }
  return parts;
}

bool write_parts(BitWriter& writer, std::span<const ReliablePart> parts) {
  ReliablePartsWriter section;
  std::uint64_t end = 0;
  for (const ReliablePart& part : parts) {
    if (section.any() && part.offset - end >= UINT32_MAX) return false;
    section.add(writer, part.offset, part.bytes, part.unordered);
    end = part.offset + part.bytes.size();
  }
  section.finish(writer);
  return true;
}

namespace {

// Mostly the input before, with another byte: keys that are held, and sticks.
Input any_input(Choices& choices, const Input& before) {
  if (choices.rarely(3)) return Input(choices.bytes(kMaxInputBytes));
  std::array<std::byte, kMaxInputBytes> bytes{};
  std::ranges::copy(before.bytes(), bytes.begin());
  const std::size_t size = before.bytes().size();
  if (size > 0 && choices.flag())
    bytes[choices.up_to(size - 1)] = static_cast<std::byte>(choices.up_to(UINT8_MAX));
  return Input(std::span(bytes).first(size));
}

PredictedResult any_result(Choices& choices) {
  const auto bits = [&](unsigned count) {
    return static_cast<std::uint8_t>(choices.up_to((std::uint64_t{1} << count) - 1));
  };
  PredictedResult r;
  for (std::uint8_t& part : r.position)
    part = bits(PredictedResult::kPositionBits);
  for (std::uint8_t& part : r.rotation)
    part = bits(PredictedResult::kRotationBits);
  r.game_state = bits(PredictedResult::kGameStateBits);
  return r;
}

ExactState any_exact(Choices& choices) {
  ExactState exact;
  exact.entity = any_entity(choices);
  State& s = exact.state;
  s.position = any_point(choices, choices.flag() ? 1e3 : 1e300);
  if (choices.flag()) s.velocity = any_rate(choices, 100.0);
  if (choices.flag()) s.acceleration = any_rate(choices, 1e5);
  if (choices.flag()) s.angular_velocity = any_rate(choices, 1e30);
  const glm::vec3 axis = any_rate(choices, 1.0);
  const glm::quat turn{static_cast<float>(choices.real(-1.0, 1.0)), axis.x, axis.y, axis.z};
  if (glm::length(turn) > 1e-3f) s.orientation = glm::normalize(turn);
  exact.teleports = static_cast<std::uint8_t>(choices.up_to(UINT8_MAX));
  exact.tolerance = {static_cast<float>(choices.real(1e-4, 100.0)),
                     static_cast<float>(choices.real(1e-4, 1.0))};
  exact.game_state = choices.bytes(choices.rarely(3) ? kMaxGameStateBytes : 8);
  return exact;
}

}  // namespace

InputBatch any_inputs(Choices& choices, Tick newest, const std::function<const Input*(Tick)>& find) {
  InputBatch batch;
  batch.newest = newest;
  batch.corrected = static_cast<std::uint8_t>(choices.up_to(UINT8_MAX));
  batch.seen_age_ms = static_cast<std::uint16_t>(choices.up_to(InputBatch::kMostSeenAgeMs));
  const std::uint64_t more = choices.up_to(choices.rarely(7) ? InputBatch::kMost - 1 : 5);
  const Input* base = find(static_cast<Tick>(newest - more - 1));
  batch.has_base = base != nullptr && choices.flag();
  Input input = batch.has_base ? *base : Input{};
  for (std::uint64_t n = 0; n <= more; ++n)
    batch.inputs.push_back(input = any_input(choices, input));
  for (std::uint64_t n = choices.flag() ? choices.up_to(kMaxPredicted) : 0; n > 0; --n)
    batch.results.push_back(any_result(choices));
  if (!batch.results.empty())
    batch.results_behind = static_cast<std::uint8_t>(choices.up_to(InputBatch::kMostDelay));
  return batch;
}

PredictionReport any_predictions(Choices& choices, Tick near) {
  PredictionReport report;
  if (choices.flag()) {
    InputReport& inputs = report.inputs.emplace();
    inputs.newest = static_cast<Tick>(near + choices.integer(choices.rarely(7) ? 16 : 7));
    if (choices.flag()) {
      inputs.early = static_cast<int>(choices.integer(7));
      inputs.timed = inputs.newest - static_cast<Tick>(choices.up_to(choices.rarely(7) ? 127 : 3));
    }
  }
  if (report.inputs && !choices.flag()) return report;
  CorrectionPart& part = report.correction.emplace();
  part.number = static_cast<std::uint8_t>(choices.up_to(UINT8_MAX));
  part.total = static_cast<std::uint8_t>(choices.up_to(choices.rarely(7) ? kMaxPredicted : 2));
  part.reason = any_of(choices, CorrectionReason::teleported);
  if (part.total == 0) return report;
  part.first = static_cast<std::uint8_t>(choices.up_to(choices.rarely(3) ? part.total - 1u : 0));
  const std::uint64_t count =
      part.total - part.first - choices.up_to(choices.rarely(3) ? part.total - part.first - 1u : 0);
  for (std::uint64_t n = count; n > 0; --n)
    part.entities.push_back(any_exact(choices));
  // In order of slot, none twice.
  const auto is_before = [](const ExactState& a, const ExactState& b) {
    return a.entity.index1 < b.entity.index1;
  };
  const auto is_same = [](const ExactState& a, const ExactState& b) {
    return a.entity.index1 == b.entity.index1;
  };
  std::sort(part.entities.begin(), part.entities.end(), is_before);
  part.entities.erase(std::unique(part.entities.begin(), part.entities.end(), is_same), part.entities.end());
  return report;
}

std::optional<Ack> any_ack(Choices& choices, Sequence near) {
  if (!choices.flag()) return std::nullopt;
  Ack ack{.newest = static_cast<Sequence>(near + choices.integer(choices.flag() ? 4 : 16))};
  ack.words = 1 + choices.up_to(choices.rarely(3) ? Ack::kMaxWords - 1 : 0);
  for (std::size_t w = 0; w < ack.words; ++w)
    ack.window[w] = choices.flag() ? UINT32_MAX : static_cast<std::uint32_t>(choices.up_to(UINT32_MAX));
  return ack;
}

ServerControl any_server_control(Choices& choices) {
  ServerControl control;
  if (choices.flag()) control.answer.emplace();
  if (control.answer && choices.flag()) {
    ResumeAnswer& resumed = control.answer->resumed.emplace();
    resumed.processed = static_cast<std::uint32_t>(choices.up_to(choices.flag() ? 8 : UINT32_MAX));
    resumed.received =
        resumed.processed + static_cast<std::uint32_t>(choices.up_to(choices.flag() ? 8 : UINT32_MAX));
    resumed.tick = static_cast<Tick>(choices.up_to(choices.flag() ? 200 : UINT32_MAX));
  }
  if (!control.answer || choices.flag()) {
    control.processed = static_cast<std::uint16_t>(choices.up_to(choices.flag() ? 8 : UINT16_MAX));
  }
  return control;
}

ServerHeader any_server_header(Choices& choices) {
  ServerHeader h;
  h.sequence = static_cast<Sequence>(choices.up_to(UINT16_MAX));
  h.ack = any_ack(choices, 0);
  h.tick = static_cast<std::uint16_t>(choices.up_to(UINT16_MAX));
  h.complete_age = static_cast<std::uint32_t>(choices.up_to(choices.flag() ? 3 : UINT32_MAX - 1));
  if (choices.flag()) {
    h.echo = Echo{static_cast<std::uint32_t>(choices.up_to((1u << kStampBits) - 1)),
                  static_cast<std::int32_t>(choices.integer(13))};
    h.echo->waited = std::clamp(h.echo->waited, -Echo::kMaxWaited, Echo::kMaxWaited);
  }
  h.coding = {static_cast<unsigned>(choices.up_to(UpdateCoding::kMaxGapOrder)),
              static_cast<unsigned>(choices.up_to(UpdateCoding::kMaxReferenceOrder)),
              static_cast<std::uint32_t>(choices.up_to(choices.rarely(7) ? UINT32_MAX - 10 : 4))};
  if (choices.rarely(3)) h.control = any_server_control(choices);
  return h;
}

ClientDatagram any_client_datagram(Choices& choices, Sequence newest) {
  ClientDatagram d;
  d.sequence = static_cast<Sequence>(newest + choices.integer(choices.rarely(7) ? 16 : 4));
  d.ack = any_ack(choices, newest);
  if (d.ack) d.ack_delay = static_cast<std::uint32_t>(choices.up_to(choices.flag() ? 1000 : UINT32_MAX - 1));
  d.processed = static_cast<std::uint16_t>(choices.up_to(choices.flag() ? 8 : UINT16_MAX));
  d.stamp = static_cast<std::uint32_t>(choices.up_to((1u << kStampBits) - 1));
  if (!choices.flag()) return d;
  ShowingReport& r = d.showing.emplace();
  r.clock = static_cast<std::uint16_t>(choices.up_to(UINT16_MAX));
  r.delay = static_cast<std::uint32_t>(choices.up_to(ShowingReport::kMaxDelay));
  r.era = static_cast<std::uint8_t>(choices.up_to(ShowingReport::kEras - 1));
  if (!d.ack) return d;
  r.count = static_cast<std::uint8_t>(choices.up_to(ShowingReport::kMaxArrivals));
  std::uint32_t ago = 0;
  for (std::size_t i = 0; i < r.count; ++i) {
    ago += static_cast<std::uint32_t>(choices.up_to(choices.rarely(7) ? 100'000'000 : 40));
    r.arrivals[i] = {static_cast<Sequence>(d.ack->newest - choices.up_to(40)), ago};
  }
  return d;
}

ClientDatagram any_join_datagram(Choices& choices) {
  ClientDatagram d;
  // Nothing before the request means anything, but any client can write it.
  if (choices.rarely(3)) d.sequence = static_cast<Sequence>(choices.up_to(UINT16_MAX));
  if (choices.rarely(7)) d.ack = any_ack(choices, 0);
  JoinRequest& request = d.join.emplace();
  if (choices.rarely(7)) request.version = static_cast<std::uint16_t>(choices.up_to(UINT16_MAX));
  request.archetype_hash = choices.rarely(3) ? static_cast<std::uint32_t>(choices.up_to(UINT32_MAX))
                                             : archetype_hash(archetypes());
  request.shows_past = choices.flag();
  request.blend = any_blend(choices);
  if (!choices.flag()) return d;
  request.resume = {{static_cast<std::uint32_t>(choices.up_to(3))},
                    any_key(choices),
                    static_cast<std::uint32_t>(choices.up_to(choices.flag() ? 8 : UINT32_MAX))};
  return d;
}

Bytes encoded(const ReliableMessage& message) {
  static Bytes buffer(kMaxReliableMessageBytes);
  const auto bytes = encode(message, buffer);
  return {bytes.begin(), bytes.end()};
}

Bytes finished(BitWriter& writer) {
  const auto bytes = writer.finish();
  return {bytes.begin(), bytes.end()};
}

}  // namespace reckoner::fuzz
