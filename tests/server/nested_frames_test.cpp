// SPDX-License-Identifier: MIT
// Frames nested to the maximum depth: a ship, a turret that turns on it, an arm that turns on the turret, a
// basket that turns on the arm, and a passenger who stands still in the basket.
#include "reckoning/src/motion/rotation.hpp"
#include "tests/support/paths.hpp"
#include "tests/support/world.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <glm/geometric.hpp>
#include <gtest/gtest.h>

#include <reckoner/reckoning/state.hpp>

namespace reckoner::test {
namespace {

constexpr double kTurnRps = 0.4;
const glm::dvec3 kPassengerPosition{0.5, -0.3, 1.0};  // the passenger's position in the basket

class Crane {
 public:
  explicit Crane(World& world) : world_(world) {
    for (int depth = 0; depth < kMaxFrameDepth; ++depth) {
      const Circle circle{.radius_m = depth == 0 ? 30.0 : 2.0,
                          .turn_rps = depth == 0 ? 0.2 : kTurnRps + 0.1 * depth,
                          .centre = {0.0, 0.0, 1.0 * depth}};
      parts_.push_back(world.add_body(circle, {}, "part " + std::to_string(depth)));
    }
    State still;
    still.position = kPassengerPosition;
    passenger_ = world.add_body([still](double) { return still; }, {}, "stands");
    // Entering from the inside out works like entering from the outside in: all frames are set before the
    // first tick sends them.
    for (int depth = 1; depth < kMaxFrameDepth; ++depth)
      EXPECT_TRUE(world.server().enter_frame(parts_[static_cast<std::size_t>(depth)],
                                             parts_[static_cast<std::size_t>(depth - 1)]));
    EXPECT_TRUE(world.server().enter_frame(passenger_, parts_.back()));
  }

  [[nodiscard]] EntityId stands() const { return passenger_; }
  [[nodiscard]] EntityId basket() const { return parts_.back(); }

 private:
  World& world_;
  std::vector<EntityId> parts_;  // each part lives in the part before it
  EntityId passenger_;
};

const ShownEntity* find(std::span<const ShownEntity> shown, EntityId id) {
  const auto found = std::ranges::find(shown, id, &ShownEntity::id);
  return found == shown.end() ? nullptr : &*found;
}

TEST(NestedFrames, PassengerInTheInnermostFrameStandsStillOverABadLink) {
  for (const PlayoutMode mode : {PlayoutMode::present, PlayoutMode::adaptive}) {
    WorldConfig config{.links = network("mobile"), .seed = 3};
    config.server.rewind_s = 1.0;
    World world(config);
    const Crane crane(world);
    ClientConfig client;
    client.playout.mode = mode;
    world.add_client(client);
    std::vector<double> off_m, seen_m;
    double path_m = 0.0;
    glm::dvec3 before{0.0};
    world.on_frame = [&](std::size_t, double time_s, std::span<const ShownEntity> shown) {
      const ShownEntity* basket = find(shown, crane.basket());
      const ShownEntity* who = find(shown, crane.stands());
      if (time_s < 3.0 || basket == nullptr || who == nullptr) return;
      EXPECT_EQ(who->frame, crane.basket());
      off_m.push_back(
          glm::distance(into_frame(basket->shown.pose(), who->shown.pose()).position, kPassengerPosition));
      if (off_m.size() > 1) path_m += glm::distance(before, who->shown.position);
      before = who->shown.position;
      // shown_poses() agree with shown().
      const ShownPoses poses = world.client(0).shown_poses();
      const auto at = std::ranges::find(poses.ids, crane.stands()) - poses.ids.begin();
      EXPECT_LT(glm::distance(poses.positions[static_cast<std::size_t>(at)], who->shown.position), 1e-5);
    };
    // The server knows what the client drew as soon as it has the client's report.
    std::vector<std::pair<double, glm::dvec3>> drawn;
    world.after_tick = [&](double time_s) {
      const ShownEntity* who = world.shown(0, crane.stands());
      const auto client_s = world.client(0).server_time_s();
      if (time_s < 5.0 || who == nullptr || !client_s) return;
      while (!drawn.empty() && drawn.front().first < *client_s - 0.4) {
        const auto pose = world.server().pose_seen_by(ClientId{1}, crane.stands(), drawn.front().first);
        if (pose) seen_m.push_back(glm::distance(pose->position, drawn.front().second));
        drawn.erase(drawn.begin());
      }
    };
    const auto compare = world.on_frame;
    world.on_frame = [&](std::size_t i, double time_s, std::span<const ShownEntity> shown) {
      compare(i, time_s, shown);
      const auto client_s = world.client(0).server_time_s();
      const ShownEntity* who = find(shown, crane.stands());
      if (client_s && who != nullptr) drawn.emplace_back(*client_s, who->shown.position);
    };
    world.run_to(25.0);
    ASSERT_GT(off_m.size(), 1000u);
    ASSERT_GT(seen_m.size(), 1000u);
    EXPECT_GT(path_m, 100.0) << "the ship moves on its circle";
    std::ranges::sort(off_m);
    std::ranges::sort(seen_m);
    EXPECT_LT(off_m[off_m.size() * 99 / 100], 0.02) << static_cast<int>(mode);
    EXPECT_LT(seen_m[seen_m.size() * 99 / 100], mode == PlayoutMode::present ? 0.05 : 0.02);
  }
}

TEST(NestedFrames, RefusesOneMoreLevel) {
  World world({});
  const Crane crane(world);
  const EntityId deeper = world.add_body(Circle{.radius_m = 1.0});
  EXPECT_EQ(world.server().enter_frame(deeper, crane.stands()).error(), CallError::too_deep);
}

}  // namespace
}  // namespace reckoner::test
