// SPDX-License-Identifier: MIT
#include "net/src/messages/correction.hpp"

#include "net/src/messages/datagram.hpp"
#include "net/src/wire/bit_archive.hpp"

#include <bit>
#include <cassert>
#include <cmath>

namespace reckoner {
namespace {

constexpr unsigned kTimedOrder = 1;  // usually the newest input
constexpr std::uint32_t kMostBehind = 127;

template <class Archive>
void serialize_float(Archive& archive, float& value) {
  auto bits = std::bit_cast<std::uint32_t>(value);
  archive(bits);
  value = std::bit_cast<float>(bits);
}

template <class Archive>
void serialize_double(Archive& archive, double& value) {
  auto bits = std::bit_cast<std::uint64_t>(value);
  archive(bits);
  value = std::bit_cast<double>(bits);
}

// One bit if all parts are zero, as they often are. Minus zero is sent in full: the states are exact.
template <class Archive>
void serialize_vector(Archive& archive, glm::vec3& v) {
  const auto is_zero = [](float part) { return std::bit_cast<std::uint32_t>(part) == 0; };
  bool any = !(is_zero(v.x) && is_zero(v.y) && is_zero(v.z));
  archive(any);
  if (!any) return;
  serialize_float(archive, v.x);
  serialize_float(archive, v.y);
  serialize_float(archive, v.z);
  if constexpr (Archive::is_loading::value) {
    if (is_zero(v.x) && is_zero(v.y) && is_zero(v.z)) archive.bits().fail();  // a vector has one encoding
  }
}

template <class Archive>
void serialize_id(Archive& archive, EntityId& id) {
  std::uint32_t slot = id ? static_cast<std::uint32_t>(id.slot()) : 0;
  archive(wire::ranged(slot, 0, kMaxEntities - 1), id.generation);
  id.index1 = slot + 1;
}

template <class Archive>
void serialize_exact(Archive& archive, ExactState& e) {
  serialize_id(archive, e.entity);
  serialize_double(archive, e.state.position.x);
  serialize_double(archive, e.state.position.y);
  serialize_double(archive, e.state.position.z);
  serialize_vector(archive, e.state.velocity);
  serialize_vector(archive, e.state.acceleration);
  serialize_vector(archive, e.state.angular_velocity);
  serialize_float(archive, e.state.orientation.w);
  serialize_float(archive, e.state.orientation.x);
  serialize_float(archive, e.state.orientation.y);
  serialize_float(archive, e.state.orientation.z);
  archive(e.teleports);
  serialize_float(archive, e.tolerance.position_m);
  serialize_float(archive, e.tolerance.angle_rad);
  archive(wire::bytes(e.game_state, kMaxGameStateBytes));
}

template <class Archive>
void serialize_report(Archive& archive, InputReport& r, Tick near) {
  auto low = static_cast<std::uint16_t>(r.newest);
  archive(low);
  if constexpr (Archive::is_loading::value) r.newest = unwrap16(low, near);
  bool any = r.early.has_value();
  archive(any);
  if (!any) return;
  int early = r.early.value_or(0);
  std::uint32_t behind = r.newest - r.timed;
  archive(wire::ranged(early, InputReport::kLeastEarly, InputReport::kMostEarly),
          wire::golomb(behind, kTimedOrder));
  if constexpr (Archive::is_loading::value) {
    if (behind > kMostBehind) archive.bits().fail();
    r.early = early;
    r.timed = r.newest - behind;
  }
}

template <class Archive>
void serialize_head(Archive& archive, CorrectionPart& part, std::uint32_t& count) {
  auto reason = static_cast<std::uint8_t>(part.reason);
  archive(part.number, wire::ranged(part.total, 0, kMaxPredicted), wire::ranged(part.first, 0, kMaxPredicted),
          wire::ranged(count, 0, kMaxPredicted), wire::fixed(reason, 2));
  part.reason = static_cast<CorrectionReason>(reason);
}

bool is_valid(const ExactState& e) {
  const auto is_positive = [](float value) { return std::isfinite(value) && value > 0.0f; };
  return is_sane(e.state) && is_positive(e.tolerance.position_m) && is_positive(e.tolerance.angle_rad);
}

}  // namespace

void write(BitWriter& writer, const InputReport& report) {
  assert(report.newest - report.timed <= kMostBehind || !report.early);
  wire::BitOutputArchive archive{writer};
  InputReport copy = report;
  serialize_report(archive, copy, 0);
}

void write(BitWriter& writer, const ExactState& state) {
  wire::BitOutputArchive archive{writer};
  ExactState copy = state;
  serialize_exact(archive, copy);
}

void write(BitWriter& writer, const PredictionReport& report) {
  assert(report.inputs || report.correction);
  writer.write(report.inputs ? 1 : 0, 1);
  if (report.inputs) write(writer, *report.inputs);
  if (report.inputs) writer.write(report.correction ? 1 : 0, 1);
  if (!report.correction) return;
  wire::BitOutputArchive archive{writer};
  CorrectionPart head = {report.correction->number,
                         report.correction->first,
                         report.correction->total,
                         report.correction->reason,
                         {}};
  auto count = static_cast<std::uint32_t>(report.correction->entities.size());
  serialize_head(archive, head, count);
  for (const ExactState& state : report.correction->entities)
    write(writer, state);
}

void read_predictions(BitReader& reader, Tick near, PredictionReport& report) {
  report.clear();
  wire::BitInputArchive archive{reader};
  bool any = false, corrects = true;
  archive(any);
  if (any) {
    serialize_report(archive, report.inputs.emplace(), near);
    archive(corrects);
  }
  if (!corrects) return;
  CorrectionPart& part = report.correction.emplace();
  std::uint32_t count = 0;
  serialize_head(archive, part, count);
  // A part is empty only if the whole correction is.
  if (part.first + count > part.total || (count == 0) != (part.total == 0)) reader.fail();
  for (std::uint32_t i = 0; i < count && !reader.failed(); ++i) {
    ExactState& state = part.entities.emplace_back();
    serialize_exact(archive, state);
    if (!is_valid(state)) reader.fail();
    if (i > 0 && !(part.entities[i - 1].entity.index1 < state.entity.index1)) reader.fail();
  }
}

}  // namespace reckoner
