// SPDX-License-Identifier: MIT
#pragma once

#include "world.hpp"

#include <algorithm>
#include <cstddef>
#include <deque>
#include <span>
#include <vector>

#include <glm/geometric.hpp>
#include <gtest/gtest.h>

namespace reckoner::test {

/// Records the last pictures of the first client. A while later, compares them with the poses that the server
/// computes for them.
class RewindCheck {
 public:
  RewindCheck(World& world, double later_s) : world_(world), later_s_(later_s) {
    world.on_frame = [this](std::size_t client, double time_s, std::span<const ShownEntity> shown) {
      auto client_s = world_.client(client).server_time_s();
      if (client_s && by_shown_time && !shown.empty()) client_s = std::max(*client_s, shown[0].shown_time_s);
      if (client == 0 && client_s) frames_.push_back({time_s, *client_s, {shown.begin(), shown.end()}});
    };
    world.after_tick = [this](double time_s) {
      while (!frames_.empty() && frames_.front().time_s <= time_s - later_s_) {
        if (time_s > from_s) look(frames_.front());
        frames_.pop_front();
      }
    };
  }

  double from_s = 3.0;
  bool by_shown_time = false;  // the stamp is the shown instant if that is ahead of the server's time
  std::size_t unknown = 0;
  std::size_t pending = 0;  // number of pictures
  std::vector<double> errors_m;
  double worst_m = 0.0;
  double worst_s = 0.0;  // when the worst picture was drawn

  [[nodiscard]] double share_below(double error_m) const {
    const auto below = std::count_if(errors_m.begin(), errors_m.end(), [&](double e) { return e < error_m; });
    return errors_m.empty() ? 0.0 : static_cast<double>(below) / static_cast<double>(errors_m.size());
  }

 private:
  struct Frame {
    double time_s;
    double client_s;
    std::vector<ShownEntity> shown;
  };

  void look(const Frame& frame) {
    const ClientId client{1};
    if (world_.server().rewind_status(client, frame.client_s) == RewindStatus::pending) ++pending;
    const auto all = world_.server().rewind(client, frame.client_s);
    for (const ShownEntity& drawn : frame.shown) {
      const auto pose = world_.server().pose_seen_by(client, drawn.id, frame.client_s);
      const auto found =
          std::find_if(all.begin(), all.end(), [&](const SeenPose& p) { return p.entity == drawn.id; });
      ASSERT_EQ(pose.has_value(), found != all.end());
      if (!pose) {
        ++unknown;
        continue;
      }
      EXPECT_EQ(pose->position, found->pose.position);
      errors_m.push_back(glm::distance(pose->position, drawn.shown.position));
      if (errors_m.back() > worst_m) {
        worst_m = errors_m.back();
        worst_s = frame.time_s;
      }
    }
  }

  World& world_;
  double later_s_;
  std::deque<Frame> frames_;
};

}  // namespace reckoner::test
