// SPDX-License-Identifier: MIT
#include "harness/metrics/pose_table.hpp"

#include "reckoning/src/motion/rotation.hpp"

#include <algorithm>
#include <functional>
#include <limits>

#include <glm/geometric.hpp>

namespace reckoner::harness {
namespace {

constexpr double kGapS = 0.25;

bool is_jump(const Pose& a, const Pose& b, double dt_s, double teleport_mps) {
  const double step = glm::length(b.position - a.position);
  return step > 1.0 && step > teleport_mps * dt_s;
}

}  // namespace

Result<PoseTable> PoseTable::make(std::span<const scenario::PoseRow> rows, double teleport_mps) {
  PoseTable table;
  for (const scenario::PoseRow& row : rows) {
    if (!row.monotonic_s) return Error{"the truth has no column monotonic_s: a real server did not write it"};
    const auto [found, fresh] = table.indices_.try_emplace(row.id, table.tracks_.size());
    if (fresh) {
      table.tracks_.emplace_back();
      table.entities_.emplace_back();
      table.entities_.back().name = row.id;
    }
    Track& track = table.tracks_[found->second];
    if (!track.times_s.empty() && *row.monotonic_s < track.times_s.back()) {
      return Error{"the truth of " + row.id + " goes back in time"};
    }
    if (!track.times_s.empty() && *row.monotonic_s == track.times_s.back()) continue;
    track.times_s.push_back(*row.monotonic_s);
    track.poses.push_back(row.pose);
    track.frames.emplace_back();
    if (row.frame.empty()) continue;
    // In each tick, the row of an entity comes before the rows of the entities in its frame.
    const auto frame = table.indices_.find(row.frame);
    if (frame == table.indices_.end())
      return Error{"the truth of " + row.id + " is in a picture without rows"};
    track.frames.back() = frame->second;
    table.has_frames_ = true;
  }
  if (table.tracks_.empty()) return Error{"the truth has no rows"};
  table.start_s_ = std::numeric_limits<double>::infinity();
  table.end_s_ = -table.start_s_;
  for (std::size_t i = 0; i < table.tracks_.size(); ++i) {
    table.finish(table.tracks_[i], table.entities_[i], teleport_mps);
  }
  return table;
}

void PoseTable::finish(Track& track, scenario::SourceEntity& entity, double teleport_mps) {
  const std::size_t count = track.times_s.size();
  entity.first_s = track.times_s.front();
  entity.last_s = track.times_s.back();
  entity.has_orientation = std::any_of(track.poses.begin(), track.poses.end(), [](const Pose& pose) {
    return pose.orientation != glm::quat{1.0f, 0.0f, 0.0f, 0.0f};
  });
  start_s_ = std::min(start_s_, entity.first_s);
  end_s_ = std::max(end_s_, entity.last_s);

  track.changes_frame = std::adjacent_find(track.frames.begin(), track.frames.end(), std::not_equal_to<>{}) !=
                        track.frames.end();
  // Mean velocity of the step from each row to the next, m/s.
  std::vector<glm::dvec3> slopes(count, glm::dvec3{0.0});
  // For each row, true if the step to the next row is not a teleport.
  std::vector<bool> joined(count, false);
  for (std::size_t i = 0; i + 1 < count; ++i) {
    const double dt_s = track.times_s[i + 1] - track.times_s[i];
    joined[i] = !is_jump(track.poses[i], track.poses[i + 1], dt_s, teleport_mps);
    if (!joined[i]) track.teleports_s.push_back(track.times_s[i + 1]);
    slopes[i] = (track.poses[i + 1].position - track.poses[i].position) / dt_s;
  }
  track.tangents.assign(count, glm::dvec3{0.0});
  for (std::size_t i = 0; i < count; ++i) {
    const bool before = i > 0 && joined[i - 1];
    const bool after = joined[i];
    if (before && after) {
      const double h0 = track.times_s[i] - track.times_s[i - 1];
      const double h1 = track.times_s[i + 1] - track.times_s[i];
      track.tangents[i] = (slopes[i - 1] * h1 + slopes[i] * h0) / (h0 + h1);
    } else if (before || after) {
      track.tangents[i] = before ? slopes[i - 1] : slopes[i];
    }
  }
}

Pose PoseTable::pose(std::size_t index, double time_s) const {
  const Track& track = tracks_[index];
  const auto after = std::upper_bound(track.times_s.begin(), track.times_s.end(), time_s);
  if (after == track.times_s.begin()) return track.poses.front();
  if (after == track.times_s.end()) return track.poses.back();
  const auto i = static_cast<std::size_t>(after - track.times_s.begin()) - 1;
  if (std::binary_search(track.teleports_s.begin(), track.teleports_s.end(), *after)) return track.poses[i];
  const double dt = track.times_s[i + 1] - track.times_s[i];
  const double u = (time_s - track.times_s[i]) / dt;
  const double uu = u * u;
  const double uuu = uu * u;
  const Pose& from = track.poses[i];
  const Pose& to = track.poses[i + 1];
  return {from.position * (2.0 * uuu - 3.0 * uu + 1.0) + track.tangents[i] * (dt * (uuu - 2.0 * uu + u)) +
              to.position * (3.0 * uu - 2.0 * uuu) + track.tangents[i + 1] * (dt * (uuu - uu)),
          slerp(from.orientation, to.orientation, u)};
}

std::optional<std::size_t> PoseTable::frame_of(std::size_t index, double time_s) const {
  const Track& track = tracks_[index];
  const auto after = std::upper_bound(track.times_s.begin(), track.times_s.end(), time_s);
  const auto row = after == track.times_s.begin() ? after : after - 1;
  return track.frames[static_cast<std::size_t>(row - track.times_s.begin())];
}

bool PoseTable::teleports_within(std::size_t index, double from_s, double to_s) const {
  const std::vector<double>& stamps = tracks_[index].teleports_s;
  const auto first = std::upper_bound(stamps.begin(), stamps.end(), from_s);
  return first != stamps.end() && *first <= to_s;
}

bool PoseTable::in_gap(std::size_t index, double time_s) const {
  const std::vector<double>& times = tracks_[index].times_s;
  const auto after = std::upper_bound(times.begin(), times.end(), time_s);
  if (after == times.begin() || after == times.end()) return false;
  return *after - *(after - 1) > kGapS;
}

std::optional<std::size_t> PoseTable::find(const std::string& id) const {
  const auto found = indices_.find(id);
  return found == indices_.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace reckoner::harness
