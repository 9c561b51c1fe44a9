// SPDX-License-Identifier: MIT
#include "scenario/trace/place.hpp"

#include "scenario/trace/csv.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <unordered_set>
#include <vector>

namespace reckoner::scenario {
namespace {

constexpr std::size_t kMaxNameBytes = 64;
constexpr std::size_t kMedianSamples = 100'000;

struct Beyond {
  const Recording::Entity* entity = nullptr;
  const TrackSample* sample = nullptr;
  glm::length_t axis = 0;
};

// The coordinate that is furthest from the origin, if one is beyond the world.
std::optional<Beyond> furthest(const Recording& recording) {
  Beyond most;
  double size_m = kWorldM;
  for (const Recording::Entity& entity : recording.entities) {
    for (const TrackSample& sample : entity.samples) {
      for (glm::length_t axis = 0; axis < 3; ++axis) {
        if (std::abs(sample.position[axis]) > size_m)
          most = {&entity, &sample, axis}, size_m = std::abs(sample.position[axis]);
      }
    }
  }
  if (most.entity == nullptr) return std::nullopt;
  return most;
}

// The median of each coordinate, in whole metres. Unlike the mean, it ignores the zeros that trackers write
// while they see nothing.
glm::dvec3 middle_of(const Recording& recording) {
  std::size_t all = 0;
  for (const Recording::Entity& entity : recording.entities)
    all += entity.samples.size();
  const std::size_t stride = all / kMedianSamples + 1;
  glm::dvec3 middle{0.0};
  for (glm::length_t axis = 0; axis < 3; ++axis) {
    std::vector<double> values;
    std::size_t count = 0;
    for (const Recording::Entity& entity : recording.entities) {
      for (const TrackSample& sample : entity.samples) {
        if (count++ % stride == 0) values.push_back(sample.position[axis]);
      }
    }
    const auto at = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), at, values.end());
    middle[axis] = std::round(*at);
  }
  return middle;
}

std::string whole_metres(double value) {
  char text[40];
  std::snprintf(text, sizeof text, "%.0f", value);
  return text;
}

std::string where_is(const Beyond& beyond) {
  char time[40];
  std::snprintf(time, sizeof time, "%.6g", beyond.sample->time_s);
  return "entity " + shown(beyond.entity->id) + " is at " + "xyz"[beyond.axis] + " = " +
         whole_metres(beyond.sample->position[beyond.axis]) + " m at t = " + time + " s";
}

}  // namespace

std::optional<Error> recentre(Recording& recording, const std::string& name, Recentre when) {
  if (when == Recentre::never) return std::nullopt;
  const std::optional<Beyond> beyond = furthest(recording);
  if (!beyond && when == Recentre::automatic) return std::nullopt;
  const std::string reason =
      beyond ? where_is(*beyond) + ", beyond the world's " + whole_metres(kWorldM) + " m; " : std::string{};
  const glm::dvec3 middle = middle_of(recording);
  for (Recording::Entity& entity : recording.entities) {
    for (TrackSample& sample : entity.samples)
      sample.position -= middle;
  }
  if (const auto still = furthest(recording)) {
    return Error{name + ": " + where_is(*still) + " from the middle of the recording, beyond the world's " +
                 whole_metres(kWorldM) +
                 " m: if the unit is wrong, add --units x=mm or another; otherwise choose entities that are "
                 "nearer to each other with --entity, or leave that sample out"};
  }
  recording.remarks.push_back(reason + "the recording was moved by (" + whole_metres(0.0 - middle.x) + ", " +
                              whole_metres(0.0 - middle.y) + ", " + whole_metres(0.0 - middle.z) +
                              ") m, so that its middle is at the origin (--recentre never: not)");
  return std::nullopt;
}

void shorten_names(Recording& recording) {
  std::size_t shortened = 0;
  std::unordered_set<std::string> taken;
  for (const Recording::Entity& entity : recording.entities)
    taken.insert(entity.id);
  for (Recording::Entity& entity : recording.entities) {
    if (entity.id.size() <= kMaxNameBytes) continue;
    ++shortened;
    std::string name;
    do {
      const std::string end = "~" + std::to_string(shortened);
      std::size_t length = kMaxNameBytes - end.size();
      while (length > 0 && (static_cast<unsigned char>(entity.id[length]) & 0xc0) == 0x80)
        --length;  // a character of UTF-8 stays whole
      name = entity.id.substr(0, length) + end;
      if (taken.contains(name)) ++shortened;
    } while (!taken.insert(name).second);
    entity.id = name;
  }
  if (shortened > 0)
    recording.remarks.push_back("names of entities that are longer than " + std::to_string(kMaxNameBytes) +
                                " bytes were shortened");
}

}  // namespace reckoner::scenario
