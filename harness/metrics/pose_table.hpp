// SPDX-License-Identifier: MIT
#pragma once

#include "scenario/source.hpp"
#include "scenario/trace/pose_csv.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include <reckoner/reckoning/result.hpp>

namespace reckoner::harness {

/// A source made of the truth that a real server wrote, which has one row per tick and entity. Times are on
/// the machine's monotonic clock. Between rows, positions follow a C1 cubic with three-point tangents for
/// uneven times, and orientations follow the shortest arc. A step longer than 1 m and faster than
/// `teleport_mps` is a teleport. The earlier pose is then valid until the time of the later row. Rows more
/// than 0.25 s apart leave a gap.
class PoseTable final : public scenario::Source {
 public:
  /// Fails if a row lacks monotonic_s, or if the times of an id decrease.
  [[nodiscard]] static Result<PoseTable> make(std::span<const scenario::PoseRow> rows, double teleport_mps);

  [[nodiscard]] std::size_t size() const override { return entities_.size(); }
  [[nodiscard]] const scenario::SourceEntity& entity(std::size_t index) const override {
    return entities_[index];
  }
  [[nodiscard]] Pose pose(std::size_t index, double time_s) const override;
  [[nodiscard]] bool teleports_within(std::size_t index, double from_s, double to_s) const override;
  [[nodiscard]] bool in_gap(std::size_t index, double time_s) const override;
  [[nodiscard]] bool has_frames() const override { return has_frames_; }
  [[nodiscard]] std::optional<std::size_t> frame_of(std::size_t index, double time_s) const override;
  [[nodiscard]] bool changes_frame(std::size_t index) const override { return tracks_[index].changes_frame; }
  [[nodiscard]] double start_s() const override { return start_s_; }
  [[nodiscard]] double end_s() const override { return end_s_; }

  /// Index of the entity called `id`, or nullopt.
  [[nodiscard]] std::optional<std::size_t> find(const std::string& id) const;

 private:
  struct Track {
    std::vector<double> times_s;
    std::vector<Pose> poses;
    // For each row, the index of the entity in whose frame this entity is; nullopt: the world's frame.
    std::vector<std::optional<std::size_t>> frames;
    bool changes_frame = false;
    std::vector<glm::dvec3> tangents;  // velocity at each row, m/s; a one-sided difference next to a teleport
    std::vector<double> teleports_s;   // times of the teleports, ascending
  };

  PoseTable() = default;
  void finish(Track& track, scenario::SourceEntity& entity, double teleport_mps);

  std::vector<scenario::SourceEntity> entities_;
  std::vector<Track> tracks_;
  std::unordered_map<std::string, std::size_t> indices_;
  bool has_frames_ = false;
  double start_s_ = 0.0;
  double end_s_ = 0.0;
};

}  // namespace reckoner::harness
