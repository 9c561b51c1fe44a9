// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include <reckoner/reckoning/frame.hpp>
#include <reckoner/reckoning/route.hpp>
#include <reckoner/reckoning/state.hpp>

namespace reckoner::scenario {

/// One entity of a source.
struct SourceEntity {
  std::string name{};     ///< the trace's own id, or a made-up one
  double first_s = 0.0;   ///< it exists from here
  double last_s = 0.0;    ///< to here, both included; infinity: for ever
  double offset_s = 0.0;  ///< its time here minus the time it was recorded with
  bool has_orientation = true;
};

/// Where motion comes from: a recording, or a rule. A pure function of time: asking twice gives the same.
class Source {
 public:
  virtual ~Source() = default;

  [[nodiscard]] virtual std::size_t size() const = 0;
  [[nodiscard]] virtual const SourceEntity& entity(std::size_t index) const = 0;

  /// Truth about an entity at `time_s`, within its life; outside of it a pose of its edges or nearby.
  [[nodiscard]] virtual Pose pose(std::size_t index, double time_s) const = 0;

  /// True if a declared teleport lies in (from_s, to_s].
  [[nodiscard]] virtual bool teleports_within(std::size_t index, double from_s, double to_s) const = 0;

  /// True if `time_s` lies where nothing was recorded for longer than 0.25 s: no truth to measure against.
  [[nodiscard]] virtual bool in_gap(std::size_t index, double time_s) const = 0;

  /// The routes that entities follow, to be registered with a server.
  [[nodiscard]] virtual std::span<const RouteDefinition> routes() const { return {}; }

  /// The index in routes() of the one that an entity follows; nothing if it moves freely.
  [[nodiscard]] virtual std::optional<std::size_t> route_of(std::size_t) const { return std::nullopt; }

  /// True while an entity is exactly on the route it follows: not on an excursion.
  [[nodiscard]] virtual bool on_route(std::size_t index, double) const { return route_of(index).has_value(); }

  /// True if entities may live in the frames of others, or would if these moved: a scenario to measure that
  /// by.
  [[nodiscard]] virtual bool has_frames() const { return false; }

  /// The index of the entity in whose frame one lives at `time_s`; nothing: in the world's. pose() is in the
  /// world all the same.
  [[nodiscard]] virtual std::optional<std::size_t> frame_of(std::size_t, double) const {
    return std::nullopt;
  }

  /// True if it goes from frame to frame, or would if these moved.
  [[nodiscard]] virtual bool changes_frame(std::size_t) const { return false; }

  /// True if all it does is to be carried along by another: in that one's frame it stands still.
  [[nodiscard]] virtual bool is_carried(std::size_t) const { return false; }

  /// The pose in the frame of another entity, or in the world's.
  [[nodiscard]] virtual Pose pose_in(std::size_t index, std::optional<std::size_t> frame,
                                     double time_s) const {
    const Pose world = pose(index, time_s);
    return frame ? into_frame(pose(*frame, time_s), world) : world;
  }

  [[nodiscard]] virtual double start_s() const = 0;  ///< first instant of any entity
  [[nodiscard]] virtual double end_s() const = 0;    ///< last instant of any entity; may be infinity
};

}  // namespace reckoner::scenario
