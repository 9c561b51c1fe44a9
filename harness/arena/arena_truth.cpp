// SPDX-License-Identifier: MIT
#include "harness/arena/arena_truth.hpp"

#include <algorithm>

namespace reckoner::harness {
namespace {

constexpr double kKeptS = 5.0;

}  // namespace

void ArenaTruth::note(EntityId id, double time_s, const glm::dvec3& position) {
  Track& track = tracks_[id];
  if (track.samples.empty()) track.first_s = time_s;
  track.samples.push_back({time_s, position});
  while (track.samples.front().time_s < time_s - kKeptS)
    track.samples.pop_front();
}

void ArenaTruth::note_jump(EntityId id, const Jump& jump) {
  auto& jumps = tracks_[id].jumps;
  jumps.push_back(jump);
  while (jumps.front().time_s < jump.time_s - kKeptS)
    jumps.pop_front();
}

std::optional<glm::dvec3> ArenaTruth::at(EntityId id, double time_s) const {
  const auto track = tracks_.find(id);
  if (track == tracks_.end()) return std::nullopt;
  const auto& samples = track->second.samples;
  const auto after = std::ranges::lower_bound(samples, time_s, {}, &Sample::time_s);
  if (after == samples.end() || (after == samples.begin() && after->time_s > time_s)) return std::nullopt;
  if (after->time_s == time_s) return after->position;
  const Sample& before = *std::prev(after);
  const Jump* jump = last_jump(id, after->time_s);
  if (jump != nullptr && jump->time_s > before.time_s)
    return time_s < jump->time_s ? before.position : after->position;
  const double share = (time_s - before.time_s) / (after->time_s - before.time_s);
  return before.position + share * (after->position - before.position);
}

std::optional<double> ArenaTruth::first_s(EntityId id) const {
  const auto track = tracks_.find(id);
  return track == tracks_.end() ? std::nullopt : std::optional{track->second.first_s};
}

const ArenaTruth::Jump* ArenaTruth::last_jump(EntityId id, double time_s) const {
  const auto track = tracks_.find(id);
  if (track == tracks_.end()) return nullptr;
  const auto& jumps = track->second.jumps;
  const auto last =
      std::find_if(jumps.rbegin(), jumps.rend(), [time_s](const Jump& j) { return j.time_s <= time_s; });
  return last == jumps.rend() ? nullptr : &*last;
}

}  // namespace reckoner::harness
