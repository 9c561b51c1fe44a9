// SPDX-License-Identifier: MIT
#include "scenario/feed.hpp"

#include "reckoning/src/motion/rotation.hpp"

#include <algorithm>
#include <cassert>
#include <iterator>

namespace reckoner::scenario {

Feed::Feed(const Source& source, double start_s, double tick_rate_hz)
    : source_(&source), start_s_(start_s), tick_rate_hz_(tick_rate_hz) {
  assert(tick_rate_hz > 0.0);
  for (std::size_t i = 0; i < source.size(); ++i) {
    if (source.entity(i).last_s >= start_s) spawns_.push_back(i);
  }
  std::ranges::stable_sort(spawns_, {}, [&source](std::size_t i) { return source.entity(i).first_s; });
}

double Feed::next_time_s() const {
  return start_s_ + static_cast<double>(tick_) / tick_rate_hz_;
}

std::span<const FeedItem> Feed::next() {
  const double time_s = next_time_s();
  const double last_time_s = tick_ == 0 ? time_s : start_s_ + static_cast<double>(tick_ - 1) / tick_rate_hz_;
  ++tick_;
  spawn_due(time_s);
  items_.clear();
  for (Memory& memory : alive_) {
    FeedItem& item = items_.emplace_back();
    item.entity = memory.entity;
    if (time_s > source_->entity(memory.entity).last_s) {
      item.kind = FeedItem::Kind::despawn;
      item.truth = advance(memory, memory.last, true);  // the entity is at rest at its last pose
      continue;
    }
    const bool spawns = memory.poses == 0;
    const bool teleports = !spawns && source_->teleports_within(memory.entity, last_time_s, time_s);
    if (spawns) item.kind = FeedItem::Kind::spawn;
    if (teleports) item.kind = FeedItem::Kind::teleport;
    item.truth = advance(memory, source_->pose(memory.entity, time_s), spawns || teleports);
    item.frame = source_->frame_of(memory.entity, time_s);
    item.local = item.frame ? in_frame(memory, *item.frame, time_s) : item.truth;
  }
  std::erase_if(alive_, [&](const Memory& memory) { return time_s > source_->entity(memory.entity).last_s; });
  return items_;
}

// Adds the entities whose lives have begun. Skips an entity whose whole life lies between two ticks.
void Feed::spawn_due(double time_s) {
  const auto old_count = static_cast<std::ptrdiff_t>(alive_.size());
  for (; next_spawn_ < spawns_.size(); ++next_spawn_) {
    const SourceEntity& entity = source_->entity(spawns_[next_spawn_]);
    if (entity.first_s > time_s) break;
    if (time_s <= entity.last_s) alive_.push_back({.entity = spawns_[next_spawn_]});
  }
  const auto middle = alive_.begin() + old_count;
  if (middle == alive_.end()) return;
  std::sort(middle, alive_.end(), [](const Memory& a, const Memory& b) { return a.entity < b.entity; });
  std::inplace_merge(alive_.begin(), middle, alive_.end(),
                     [](const Memory& a, const Memory& b) { return a.entity < b.entity; });
}

// Computes the differences in the frame of the entity `frame`, as advance() does in the world's frame. Uses
// all poses since the history began.
State Feed::in_frame(const Memory& memory, std::size_t frame, double time_s) const {
  Memory replayed{.entity = memory.entity};
  State state;
  for (std::uint32_t ago = memory.poses; ago-- > 0;) {
    const double then_s = ago == 0 ? time_s : time_s - ago / tick_rate_hz_;
    state = advance(replayed, source_->pose_in(memory.entity, frame, then_s), false);
  }
  return state;
}

// Returns the state that a server derives from a new pose. If `restarts` is true, it ignores all earlier
// poses.
State Feed::advance(Memory& memory, const Pose& pose, bool restarts) const {
  State state{.position = pose.position, .orientation = pose.orientation};
  if (restarts) memory = {.entity = memory.entity};
  const std::uint32_t n = memory.poses;  // ticks since the history began
  if (n >= 1) {
    const glm::dvec3 velocity = (pose.position - memory.last.position) * tick_rate_hz_;
    // After 3 ticks there are only three velocities, which span 2 ticks.
    glm::dvec3 acceleration{0.0};
    if (n >= 4) {
      acceleration = (velocity - memory.velocities[2]) * (tick_rate_hz_ / 3.0);
    } else if (n == 3) {
      acceleration = (velocity - memory.velocities[1]) * (tick_rate_hz_ / 2.0);
    }
    const glm::dquat turn =
        glm::dquat(pose.orientation) * glm::conjugate(glm::dquat(memory.last.orientation));
    state.velocity = glm::vec3(velocity);
    state.acceleration = glm::vec3(acceleration);
    state.angular_velocity = glm::vec3(rotation_log(glm::normalize(turn)) * tick_rate_hz_);
    std::shift_right(std::begin(memory.velocities), std::end(memory.velocities), 1);
    memory.velocities[0] = velocity;
  }
  memory.last = pose;
  if (memory.poses < 5) ++memory.poses;
  return state;
}

}  // namespace reckoner::scenario
