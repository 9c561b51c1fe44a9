// SPDX-License-Identifier: MIT
#pragma once

#include "server/src/rewind/shown_history.hpp"

#include <memory>
#include <optional>
#include <vector>

#include <reckoner/net/ids.hpp>
#include <reckoner/server/server.hpp>

namespace reckoner {

/// What one client showed, if the server records it. `time_s` is the client's estimate of server time at that
/// moment, and `present_s` the present server time.
class RecordedView {
 public:
  RecordedView();
  ~RecordedView();

  /// Starts to record. Call it before anything is sent to the client.
  void record(MotionPath path, const BlendSettings& blend, double limit_s);
  /// Call it when the client's path or its blend has changed.
  void change(MotionPath path, const BlendSettings& blend);
  /// The record; null if there is none.
  [[nodiscard]] ShownHistory* history() const { return history_.get(); }

  /// The state of `entity` that the client showed; nullopt if it is unknown.
  [[nodiscard]] std::optional<State> shown(EntityId entity, double time_s, double present_s) const;
  /// Appends to `poses` the poses of all entities that the client showed; nothing if they are unknown.
  void shown(double time_s, double present_s, std::vector<SeenPose>& poses) const;
  /// Tells whether it is known what the client showed.
  [[nodiscard]] RewindStatus status(double time_s, double present_s) const;
  /// Records the frame of a motion that the client sent as an owner (ShownHistory::note_owned_frame()).
  void note_owned_frame(const Motion& motion) const;

 private:
  std::unique_ptr<ShownHistory> history_;
};

}  // namespace reckoner
