// SPDX-License-Identifier: MIT
#include "scenario/trace/recording.hpp"

#include "scenario/trace/csv.hpp"
#include "scenario/trace/encoding.hpp"
#include "scenario/trace/table.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <unordered_map>

#include <glm/geometric.hpp>

namespace reckoner::scenario {
namespace {

constexpr std::string_view kHeader = "a header id,t,x,y,z or id,t,x,y,z,qw,qx,qy,qz (id is optional)";

constexpr double kRareStepS = 4.0;     // usual steps that are longer are probably not in seconds
constexpr double kFastestMps = 200.0;  // usual speeds that are higher are probably not in metres
constexpr std::size_t kFewSteps = 10;

// Reads the project's own form, and nothing else.
class Reader {
 public:
  Reader(std::string_view text, std::string_view name) : name_(name), cursor_(text) {}

  Result<Recording> read() {
    if (std::optional<Error> error = read_header()) return *std::move(error);
    for (;;) {
      const CsvCursor::Step step = cursor_.next(fields_);
      if (step == CsvCursor::Step::end) break;
      if (step == CsvCursor::Step::bad_quoting) return bad_quoting();
      if (std::optional<Error> error = read_row()) return *std::move(error);
    }
    if (recording_.entities.empty())
      return expected(name_, cursor_.line(), "at least one row of samples", "none");
    return std::move(recording_);
  }

 private:
  std::optional<Error> read_header() {
    const CsvCursor::Step step = cursor_.next(fields_);
    if (step == CsvCursor::Step::end) return expected(name_, cursor_.line(), kHeader, "the end of the file");
    if (step == CsvCursor::Step::bad_quoting) return bad_quoting();
    std::string joined;
    for (const std::string_view field : fields_)
      (joined += joined.empty() ? "" : ",") += field;
    std::string_view rest = joined;
    has_id_ = rest.starts_with("id,");
    if (has_id_) rest.remove_prefix(3);
    recording_.has_orientation = rest == "t,x,y,z,qw,qx,qy,qz";
    if (!recording_.has_orientation && rest != "t,x,y,z") {
      return expected(name_, cursor_.line(), kHeader, shown(joined));
    }
    columns_ = fields_.size();
    return std::nullopt;
  }

  std::optional<Error> read_row() {
    const std::size_t line = cursor_.line();
    if (fields_.size() == 1 && fields_[0].empty()) {
      return expected(name_, line, std::to_string(columns_) + " fields", "an empty line");
    }
    if (fields_.size() != columns_) {
      return expected(name_, line, std::to_string(columns_) + " fields", std::to_string(fields_.size()));
    }
    const std::size_t first_number = has_id_ ? 1 : 0;
    double numbers[8] = {0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0};
    for (std::size_t i = first_number; i < columns_; ++i) {
      const std::optional<double> number = parse_number(fields_[i]);
      if (!number) return expected(name_, line, "a finite number", shown(fields_[i]));
      numbers[i - first_number] = *number;
    }
    const auto& [t, x, y, z, qw, qx, qy, qz] = numbers;
    const double norm = std::sqrt(qw * qw + qx * qx + qy * qy + qz * qz);
    if (std::abs(norm - 1.0) > kUnitTolerance) {
      return expected(name_, line, "a unit quaternion", "a quaternion of length " + std::to_string(norm));
    }
    std::vector<TrackSample>& samples = samples_of(has_id_ ? fields_[0] : "0");
    if (!samples.empty() && !(t > samples.back().time_s)) {
      return expected(
          name_, line,
          "a time later than the previous one of this id, " + std::to_string(samples.back().time_s),
          shown(fields_[first_number]));
    }
    samples.push_back({t, {x, y, z}, glm::dquat(qw, qx, qy, qz)});
    return std::nullopt;
  }

  std::vector<TrackSample>& samples_of(std::string_view id) {
    std::vector<Recording::Entity>& entities = recording_.entities;
    if (last_ >= entities.size() || entities[last_].id != id) {
      const auto [found, added] = index_.try_emplace(std::string(id), entities.size());
      if (added) entities.push_back({std::string(id), {}});
      last_ = found->second;
    }
    return entities[last_].samples;
  }

  Error bad_quoting() const {
    return expected(name_, cursor_.line(), "a field with matching quotes", "unmatched quotes");
  }

  std::string_view name_;
  CsvCursor cursor_;
  std::vector<std::string_view> fields_;
  std::size_t columns_ = 0;
  bool has_id_ = false;
  Recording recording_;
  std::unordered_map<std::string, std::size_t> index_;
  // Index of the entity in the previous row; most rows have the same id as the row before.
  std::size_t last_ = 0;
};

double order_statistic(std::vector<double>& values, std::size_t at) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(at);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// True unless the times or the positions must have another unit than s and m.
bool is_plausible(const Recording& recording) {
  std::vector<double> steps_s;
  std::vector<double> speeds_mps;
  for (const Recording::Entity& entity : recording.entities) {
    for (std::size_t i = 1; i < entity.samples.size(); ++i) {
      const TrackSample& before = entity.samples[i - 1];
      const TrackSample& after = entity.samples[i];
      steps_s.push_back(after.time_s - before.time_s);
      speeds_mps.push_back(glm::length(after.position - before.position) / steps_s.back());
    }
  }
  if (steps_s.size() < kFewSteps) return true;
  return order_statistic(steps_s, steps_s.size() / 2) < kRareStepS &&
         order_statistic(speeds_mps, speeds_mps.size() * 9 / 10) <= kFastestMps;
}

}  // namespace

Result<Recording> read_recording(std::string_view text, std::string_view name, const TableOptions& options) {
  const std::optional<std::string> converted = utf8_from_utf16(text);
  if (converted) text = *converted;
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  if (options.columns.empty() && options.units.empty()) {
    Result<Recording> own = Reader(text, name).read();
    if (own && is_plausible(*own)) return own;
  }
  return read_table(text, name, options);
}

}  // namespace reckoner::scenario
