// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include <reckoner/reckoning/route.hpp>
#include <reckoner/reckoning/state.hpp>

namespace reckoner::scenario {

/// One entity of a source.
struct SourceEntity {
  std::string name{};     ///< the id in the trace, or a generated name
  double first_s = 0.0;   ///< start of its life, s
  double last_s = 0.0;    ///< end of its life, s, inclusive; may be infinity
  double offset_s = 0.0;  ///< time in this source minus the time in the recording, s
  bool has_orientation = true;
};

/// A source of true motion: a recording or a generator. It is a pure function of time: equal calls return
/// equal results.
class Source {
 public:
  virtual ~Source() = default;

  [[nodiscard]] virtual std::size_t size() const = 0;
  [[nodiscard]] virtual const SourceEntity& entity(std::size_t index) const = 0;

  /// Returns the true pose of an entity at `time_s`. Outside the entity's life, returns a pose at or near the
  /// nearest end of its life.
  [[nodiscard]] virtual Pose pose(std::size_t index, double time_s) const = 0;

  /// True if a declared teleport happens later than `from_s` and not later than `to_s`.
  [[nodiscard]] virtual bool teleports_within(std::size_t index, double from_s, double to_s) const = 0;

  /// True if `time_s` is in an interval of more than 0.25 s (TraceOptions::gap_s) without samples. The true
  /// pose is unknown there, so nothing can be measured.
  [[nodiscard]] virtual bool in_gap(std::size_t index, double time_s) const = 0;

  /// The routes that entities follow. Register them with the server.
  [[nodiscard]] virtual std::span<const RouteDefinition> routes() const { return {}; }

  /// Index in routes() of the route that an entity follows. Nullopt if the entity moves freely.
  [[nodiscard]] virtual std::optional<std::size_t> route_of(std::size_t) const { return std::nullopt; }

  /// True while an entity is exactly on its route, and not on an excursion.
  [[nodiscard]] virtual bool on_route(std::size_t index, double) const { return route_of(index).has_value(); }

  /// True if the scenario serves to measure frames: some entities are in the frames of others, or the
  /// scenario is the comparison without moving frames.
  [[nodiscard]] virtual bool has_frames() const { return false; }

  /// Index of the entity in whose frame this entity is at `time_s`. Nullopt means the world's frame. pose()
  /// is always in the world's frame.
  [[nodiscard]] virtual std::optional<std::size_t> frame_of(std::size_t, double) const {
    return std::nullopt;
  }

  /// True if the entity moves from one frame to another during its life. Also true in the comparison scenario
  /// without moving frames.
  [[nodiscard]] virtual bool changes_frame(std::size_t) const { return false; }

  /// True if the entity only stands still in the frame of another entity.
  [[nodiscard]] virtual bool rests_in_frame(std::size_t) const { return false; }

  /// Returns the pose in the frame of another entity, or in the world's frame if `frame` is nullopt.
  [[nodiscard]] virtual Pose pose_in(std::size_t index, std::optional<std::size_t> frame,
                                     double time_s) const {
    const Pose world = pose(index, time_s);
    return frame ? into_frame(pose(*frame, time_s), world) : world;
  }

  /// What the reader of a recording assumed, left out or could not use, a sentence each, most important
  /// first.
  [[nodiscard]] virtual std::span<const std::string> remarks() const { return {}; }

  [[nodiscard]] virtual double start_s() const = 0;  ///< earliest time of any entity, s
  [[nodiscard]] virtual double end_s() const = 0;    ///< latest time of any entity, s; may be infinity
};

}  // namespace reckoner::scenario
