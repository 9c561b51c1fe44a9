// SPDX-License-Identifier: MIT
#include "harness/stress/load/roles/load_world.hpp"

#include "scenario/builtin/random.hpp"

#include <algorithm>
#include <charconv>
#include <limits>
#include <vector>

#include <glm/geometric.hpp>

namespace reckoner::harness {
namespace {

// Number of pairs of an eye and a place that are at most `radius_m` apart.
std::size_t pairs_within(const std::vector<glm::dvec2>& eyes, const std::vector<glm::dvec2>& places,
                         double radius_m) {
  std::size_t pairs = 0;
  for (const glm::dvec2& eye : eyes) {
    for (const glm::dvec2& place : places) {
      const glm::dvec2 apart = place - eye;
      pairs += glm::dot(apart, apart) <= radius_m * radius_m ? 1 : 0;
    }
  }
  return pairs;
}

}  // namespace

LoadWorld::LoadWorld(const LoadWorldOptions& options)
    : options_(options), roamers_(options.entities, options.seed, options.resting) {}

State LoadWorld::resting(std::size_t number) const {
  constexpr std::uint64_t kStream = 0x7265737465727300;  // differs from the streams of the roamers
  scenario::Random random(options_.seed ^ kStream, number);
  State state;
  state.position = {random.uniform(-0.5, 0.5) * roamers_.side_m(),
                    random.uniform(-0.5, 0.5) * roamers_.side_m(), 0.0};
  return state;
}

std::size_t LoadWorld::followed_by(std::size_t client) const {
  return client * roamers_.size() / std::max(options_.clients, std::size_t{1}) % roamers_.size();
}

double LoadWorld::view_radius_m() {
  if (options_.see == 0 || options_.see >= options_.entities) return 0.0;
  std::vector<glm::dvec2> places, eyes;
  for (std::size_t i = 0; i < roamers_.size(); ++i)
    places.emplace_back(roamers_.state(i, 0.0).position);
  constexpr std::size_t kEyes = 200;  // sufficient for a mean
  const std::size_t count = std::min(options_.clients, kEyes);
  for (std::size_t i = 0; i < count; ++i)
    eyes.push_back(places[followed_by(i * options_.clients / count)]);

  const std::size_t wanted = options_.see * eyes.size();
  double low_m = 0.0, high_m = 2.0 * roamers_.side_m();
  for (int i = 0; i < 24; ++i) {
    const double middle_m = 0.5 * (low_m + high_m);
    (pairs_within(eyes, places, middle_m) < wanted ? low_m : high_m) = middle_m;
  }
  return high_m;
}

std::size_t LoadWorld::number_of(const std::string& name) {
  std::size_t number = 0;
  const char* const end = name.data() + name.size();
  const auto [last, wrong] = std::from_chars(name.data(), end, number);
  return wrong == std::errc{} && last == end ? number : std::numeric_limits<std::size_t>::max();
}

}  // namespace reckoner::harness
