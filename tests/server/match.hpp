// SPDX-License-Identifier: MIT
#pragma once

#include "tests/support/paths.hpp"
#include "tests/support/world.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <glm/geometric.hpp>

namespace reckoner::test {

/// Path of the avatar: oscillates within 3.6 m of the origin.
inline State weave(double t) {
  State s;
  s.position = {3.0 * std::sin(1.7 * t), 2.0 * std::sin(2.3 * t), 0.0};
  s.velocity = {5.1f * static_cast<float>(std::cos(1.7 * t)), 4.6f * static_cast<float>(std::cos(2.3 * t)),
                0.0f};
  return s;
}

/// A world with two players: clients 0 and 1, which joined in this order.
class Match {
 public:
  explicit Match(const std::string& first = "wifi", const std::string& second = "mobile",
                 std::uint64_t seed = 1, double max_speed_mps = 12.0, PlayoutMode mode = PlayoutMode::present)
      : world_(world_config(max_speed_mps, seed)) {
    ClientConfig client;
    client.playout.mode = mode;
    client.playout.use(BlendProfile::article);  // the limits of velocity steps are those of its blends
    world_.add_client(client, {}, network(first));
    world_.run_to(1.0);
    world_.add_client(client, {.offset_s = -77.0}, network(second));
    world_.run_to(2.0);
    world_.on_frame = [this](std::size_t client_index, double time_s, std::span<const ShownEntity>) {
      frame(client_index, time_s);
    };
    // The server moves the avatar while no client owns it.
    world_.after_tick = [this](double time_s) {
      if (avatar && !server().owner(avatar)) {
        EXPECT_TRUE(server().move(avatar, story(time_s + 1.0 / 60.0)));
      }
    };
  }

  static WorldConfig world_config(double max_speed_mps, std::uint64_t seed) {
    WorldConfig config;
    config.seed = seed;
    config.server.archetypes[0].max_speed_mps = max_speed_mps;
    return config;
  }

  /// Path that the avatar's owner follows: server time (s) to state.
  std::function<State(double)> story = weave;
  /// Pose of the avatar in every picture, by client: server time (s) and state.
  std::map<std::size_t, std::vector<std::pair<double, State>>> shown_poses;

  World& world() { return world_; }
  Server& server() { return world_.server(); }
  static ClientId id(std::size_t client) { return {static_cast<std::uint32_t>(client + 1)}; }

  EntityId spawn_avatar() {
    const State start = story(world_.now_s());
    avatar = *server().spawn(0, "avatar", start);
    return avatar;
  }

  /// Quantile `share` of the distance (m) between a client's shown pose and the path, over all frames since
  /// `from_s`.
  [[nodiscard]] double error_m(std::size_t client, double from_s, double share) const {
    std::vector<double> errors;
    for (const auto& [time_s, state] : shown_poses.at(client)) {
      if (time_s >= from_s) errors.push_back(glm::distance(state.position, story(time_s).position));
    }
    std::sort(errors.begin(), errors.end());
    return errors.at(static_cast<std::size_t>(share * static_cast<double>(errors.size() - 1)));
  }

  /// Largest change of the shown velocity (m/s) from one picture to the next, minus the path's own change.
  [[nodiscard]] double velocity_step_mps(std::size_t client, double from_s, double until_s = 1e9) const {
    const auto& d = shown_poses.at(client);
    double worst = 0.0;
    for (std::size_t i = 2; i < d.size(); ++i) {
      if (d[i - 2].first < from_s || d[i].first > until_s) continue;
      const glm::dvec3 v1 = (d[i].second.position - d[i - 1].second.position) * 60.0;
      const glm::dvec3 v0 = (d[i - 1].second.position - d[i - 2].second.position) * 60.0;
      const auto at = [&](std::size_t frame) { return story(d[frame].first).position; };
      const glm::dvec3 truth = (at(i) - 2.0 * at(i - 1) + at(i - 2)) * 60.0;
      worst = std::max(worst, glm::length(v1 - v0 - truth));
    }
    return worst;
  }

  EntityId avatar;
  bool owner_idle = false;  ///< the owners' games do not call move()

 private:
  void frame(std::size_t client, double time_s) {
    const ShownEntity* shown = world_.shown(client, avatar);
    if (shown != nullptr) shown_poses[client].emplace_back(time_s, shown->shown);
    if (owner_idle || !world_.client(client).owned(avatar)) return;
    (void)world_.client(client).move(avatar, story(time_s));
  }

  World world_;
};

}  // namespace reckoner::test
