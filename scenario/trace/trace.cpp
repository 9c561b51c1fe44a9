// SPDX-License-Identifier: MIT
#include "scenario/trace/trace.hpp"

#include "scenario/trace/csv.hpp"
#include "scenario/trace/memory.hpp"
#include "scenario/trace/place.hpp"
#include "scenario/trace/track.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstdio>
#include <functional>
#include <iterator>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

namespace reckoner::scenario {
namespace {

constexpr double kPauseBetweenIdsS = 1.0;
constexpr std::size_t kNamesInErrors = 8;

class TraceSource final : public Source {
 public:
  struct Part {
    SourceEntity entity;
    Track track;
  };

  /// `parts` must contain at least one part.
  TraceSource(std::vector<Part> parts, std::vector<std::string> remarks)
      : parts_(std::move(parts)), remarks_(std::move(remarks)) {
    assert(!parts_.empty());
    for (const Part& part : parts_) {
      start_s_ = std::min(start_s_, part.entity.first_s);
      end_s_ = std::max(end_s_, part.entity.last_s);
    }
  }

  std::size_t size() const override { return parts_.size(); }
  const SourceEntity& entity(std::size_t index) const override { return parts_[index].entity; }
  Pose pose(std::size_t index, double time_s) const override { return parts_[index].track.pose(time_s); }
  bool teleports_within(std::size_t index, double from_s, double to_s) const override {
    return parts_[index].track.teleports_within(from_s, to_s);
  }
  bool in_gap(std::size_t index, double time_s) const override { return parts_[index].track.in_gap(time_s); }
  double start_s() const override { return start_s_; }
  double end_s() const override { return end_s_; }
  std::span<const std::string> remarks() const override { return remarks_; }

 private:
  std::vector<Part> parts_;
  std::vector<std::string> remarks_;
  double start_s_ = std::numeric_limits<double>::infinity();
  double end_s_ = -std::numeric_limits<double>::infinity();
};

// True if every id starts at t = 0. The ids are then taken for successive recordings, because as one
// recording they would all appear at once.
bool are_successive(const Recording& recording) {
  const std::vector<Recording::Entity>& entities = recording.entities;
  return !recording.has_one_clock && entities.size() > 1 &&
         std::ranges::all_of(
             entities, [](const Recording::Entity& entity) { return entity.samples.front().time_s == 0.0; });
}

std::string known_ids(const Recording& recording) {
  std::string text;
  for (std::size_t i = 0; i < recording.entities.size(); ++i) {
    if (i == kNamesInErrors) {
      text += ", ... (" + std::to_string(recording.entities.size()) + " in total)";
      break;
    }
    (text += i == 0 ? "" : ", ") += recording.entities[i].id;
  }
  return text;
}

// If the options name an entity, removes all other entities.
std::optional<Error> remove_unselected(Recording& recording, const std::string& name,
                                       const TraceOptions& options) {
  if (options.entity == "all" || options.entity == "busiest") return std::nullopt;
  const std::string ids = known_ids(recording);
  std::erase_if(recording.entities, [&](const auto& entity) { return entity.id != options.entity; });
  if (!recording.entities.empty()) return std::nullopt;
  return Error{name + ": expected the id of an entity, \"busiest\" or \"all\", found " +
               shown(options.entity) + "; the ids are " + ids};
}

// Converts recorded times to times of the source. If only one entity is selected, it keeps its recorded
// times.
std::vector<TraceSource::Part> make_parts(Recording& recording, const TraceOptions& options) {
  const bool in_turn =
      options.entity == "all" && (options.timeline == Timeline::successive ||
                                  (options.timeline == Timeline::automatic && are_successive(recording)));
  std::vector<TraceSource::Part> parts;
  parts.reserve(recording.entities.size());
  double offset_s = 0.0;
  for (Recording::Entity& recorded : recording.entities) {
    // Recorded times count from the beginning of the recording, unless all ids start at 0.
    if (in_turn && !parts.empty()) offset_s -= recorded.samples.front().time_s;
    for (TrackSample& sample : recorded.samples)
      sample.time_s += offset_s;
    Track track(recorded.samples, options.teleport_mps, options.gap_s);
    const SourceEntity entity{.name = recorded.id,
                              .first_s = track.first_s(),
                              .last_s = track.last_s(),
                              .offset_s = offset_s,
                              .has_orientation = recording.has_orientation};
    if (in_turn) offset_s = track.last_s() + kPauseBetweenIdsS;
    parts.push_back({entity, std::move(track)});
  }
  if (options.entity == "busiest") {
    std::ranges::stable_sort(parts, std::greater{},
                             [](const auto& part) { return part.track.path_length_m(); });
    parts.erase(parts.begin() + 1, parts.end());
  }
  return parts;
}

// Limits the entities to the selected time window. Keeps all samples, also those outside the window, so that
// the curve inside the window does not change.
std::optional<Error> limit_to_window(std::vector<TraceSource::Part>& parts, const std::string& name,
                                     const TraceOptions& options) {
  double earliest_s = std::numeric_limits<double>::infinity();
  double latest_s = -earliest_s;
  for (const TraceSource::Part& part : parts) {
    earliest_s = std::min(earliest_s, part.entity.first_s);
    latest_s = std::max(latest_s, part.entity.last_s);
  }
  const double from_s = earliest_s + options.start_s;
  const double to_s = options.seconds > 0.0 ? from_s + options.seconds : latest_s;
  std::erase_if(parts, [&](const TraceSource::Part& part) {
    return part.entity.last_s < from_s || part.entity.first_s > to_s;
  });
  if (parts.empty()) {
    return Error{name + ": no samples between " + std::to_string(from_s) + " s and " + std::to_string(to_s) +
                 " s; the selected samples are between " + std::to_string(earliest_s) + " s and " +
                 std::to_string(latest_s) + " s"};
  }
  for (TraceSource::Part& part : parts) {
    part.entity.first_s = std::max(part.entity.first_s, from_s);
    part.entity.last_s = std::min(part.entity.last_s, to_s);
  }
  return std::nullopt;
}

std::string three_digits(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g", value);
  return text;
}

// Says what part of a recording cannot be shown or measured.
std::vector<std::string> scarcity(const std::vector<TraceSource::Part>& parts, const TraceOptions& options) {
  std::string single;
  std::size_t singles = 0;
  double life_s = 0.0;
  double gaps_s = 0.0;
  std::size_t steps = 0;
  for (const TraceSource::Part& part : parts) {
    if (part.track.size() == 1) {
      if (++singles <= kNamesInErrors) (single += single.empty() ? "" : ", ") += shown(part.entity.name);
      continue;
    }
    life_s += part.track.last_s() - part.track.first_s();
    gaps_s += part.track.gaps_s();
    steps += part.track.size() - 1;
  }
  std::vector<std::string> remarks;
  if (singles == parts.size()) {
    remarks.push_back("every entity has one sample only, so nothing moves and nothing is measured");
    return remarks;
  }
  if (gaps_s > 0.5 * life_s) {
    const double step_s = life_s / static_cast<double>(steps);
    remarks.push_back(
        "there are " + three_digits(1.0 / step_s) + " samples a second, " + three_digits(step_s) +
        " s apart; nothing is measured between samples that are more than " + three_digits(options.gap_s) +
        " s apart, which is " + three_digits(100.0 * gaps_s / life_s) + " % of the time: record at least " +
        three_digits(1.0 / options.gap_s) + " samples a second, or add --longest-gap " +
        three_digits(1.5 * step_s));
  }
  if (singles > 0)
    remarks.push_back(std::to_string(singles) + " of " + std::to_string(parts.size()) +
                      " entities have one sample only and are not shown: " + single +
                      (singles > kNamesInErrors ? ", ..." : ""));
  return remarks;
}

std::optional<Error> check(const TraceOptions& options) {
  if (!(options.teleport_mps > 0.0)) return Error{"the teleport speed must be above 0 m/s"};
  if (!(options.gap_s > 0.0)) return Error{"the longest gap must be above 0 s"};
  if (!(options.start_s >= 0.0) || !std::isfinite(options.start_s)) {
    return Error{"the start must be at least 0 s"};
  }
  if (!(options.seconds >= 0.0) || !std::isfinite(options.seconds)) {
    return Error{"the length must be at least 0 s (0: to the end)"};
  }
  return std::nullopt;
}

}  // namespace

Result<std::unique_ptr<Source>> play_recording(Recording recording, const std::string& name,
                                               const TraceOptions& options) {
  if (std::optional<Error> error = check(options)) return *std::move(error);
  if (std::optional<Error> error = remove_unselected(recording, name, options)) return *std::move(error);
  shorten_names(recording);
  if (std::optional<Error> error = recentre(recording, name, options.recentre)) return *std::move(error);
  std::vector<TraceSource::Part> parts = make_parts(recording, options);
  if (std::optional<Error> error = limit_to_window(parts, name, options)) return *std::move(error);
  // What makes a measurement worthless comes first.
  std::vector<std::string> remarks = scarcity(parts, options);
  std::ranges::move(recording.remarks, std::back_inserter(remarks));
  return std::unique_ptr<Source>(std::make_unique<TraceSource>(std::move(parts), std::move(remarks)));
}

Result<std::unique_ptr<Source>> parse_trace(const std::string& text, const std::string& name,
                                            const TraceOptions& options) {
  if (std::optional<Error> error = check(options)) return *std::move(error);  // before the text is read
  Result<Recording> recording = read_recording(text, name, options.table);
  if (!recording) return Error{recording.error()};
  return play_recording(std::move(*recording), name, options);
}

Result<std::unique_ptr<Source>> load_trace(const std::string& path, const TraceOptions& options) {
  const Result<std::string> text = read_text_file(path);
  if (!text) return Error{text.error()};
  return naming_the_file(path, [&] { return parse_trace(*text, path, options); });
}

}  // namespace reckoner::scenario
