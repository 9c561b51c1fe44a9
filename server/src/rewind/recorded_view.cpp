// SPDX-License-Identifier: MIT
#include "server/src/rewind/recorded_view.hpp"

namespace reckoner {

RecordedView::RecordedView() = default;
RecordedView::~RecordedView() = default;

void RecordedView::record(MotionPath path, const BlendSettings& blend, double limit_s) {
  history_ = std::make_unique<ShownHistory>(path, blend, limit_s);
}

void RecordedView::change(MotionPath path, const BlendSettings& blend) {
  if (history_) history_->change(path, blend);
}

std::optional<State> RecordedView::shown(EntityId entity, double time_s, double present_s) const {
  const auto shown_s = history_ ? history_->shown_at(time_s, present_s) : std::nullopt;
  if (!shown_s) return std::nullopt;
  return history_->shown(entity, *shown_s);
}

void RecordedView::shown(double time_s, double present_s, std::vector<SeenPose>& poses) const {
  const auto shown_s = history_ ? history_->shown_at(time_s, present_s) : std::nullopt;
  if (shown_s) history_->shown(*shown_s, poses);
}

RewindStatus RecordedView::status(double time_s, double present_s) const {
  return history_ ? history_->status(time_s, present_s) : RewindStatus::unavailable;
}

void RecordedView::note_owned_frame(const Motion& motion) const {
  if (history_) history_->note_owned_frame(motion);
}

}  // namespace reckoner
