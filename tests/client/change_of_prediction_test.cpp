// SPDX-License-Identifier: MIT
// An entity becomes a predicted one and an ordinary one again while the game runs: nothing jumps.
#include "tests/support/paths.hpp"
#include "tests/support/world.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <glm/geometric.hpp>
#include <gtest/gtest.h>

namespace reckoner::test {
namespace {

constexpr double kChangeSpeedMps = 8.0;

struct ChangeSetting {
  PlayoutConfig playout;
  double picture_hz = 60.0;
  double tick_hz = 60.0;
  Truth path = Circle{.radius_m = 10.0, .turn_rps = 0.8};  // kChangeSpeedMps
  std::string network = {};                                // empty: no losses
  std::uint64_t seed = 1;
  bool sampled = false;  // shown_poses() instead of shown()
};

// The server lets a client predict a body for a second or two, and again. The client's game knows where the
// body will be, so that all steps are those of the library.
struct Change {
  struct Picture {
    double time_s = 0.0;
    glm::dvec3 position{0.0};
    bool predicted = false;
  };

  explicit Change(const ChangeSetting& given) : setting(given) {
    const harness::LinkPair steady = both_ways({.latency_ms = 40.0, .jitter_ms = 5.0});
    WorldConfig config{.links = setting.network.empty() ? steady : network(setting.network),
                       .seed = setting.seed,
                       .frame_rate_hz = 1e-6};
    config.server.tick_rate_hz = setting.tick_hz;
    world.emplace(config);
    body = world->add_body(setting.path);
    ClientConfig client;
    client.playout = setting.playout;
    world->add_client(client);
  }

  void run_to(double until_s) {
    for (; pictures_drawn / setting.picture_hz < until_s; ++pictures_drawn) {
      world->run_to(0.0003 + pictures_drawn / setting.picture_hz);
      draw(world->now_s());
    }
  }

  // In the order of a game: what has arrived, corrections, steps, the picture.
  void draw(double time_s) {
    Client& client = world->updated(0);
    while (const auto event = client.poll_event()) {
      if (event->kind == ClientEvent::Kind::prediction_began) predicts = true, ++begins;
      if (event->kind == ClientEvent::Kind::prediction_ended) predicts = false, ++ends;
    }
    if (const auto correction = client.poll_correction()) {
      for (const PredictionStep& step : correction->steps)
        predict(step.tick);
    }
    while (const auto step = client.next_step({})) {
      if (predicts) predict(step->tick);
    }
    std::optional<glm::dvec3> drawn;
    if (setting.sampled) {
      const ShownPoses poses = client.shown_poses();
      if (poses.ids.size() == 1) drawn = poses.positions[0];
    } else {
      const auto shown = client.shown();
      if (shown.size() == 1) drawn = shown[0].shown.position;
      if (shown.size() == 1) shown_s = shown[0].shown_time_s;
    }
    if (drawn) pictures.push_back({time_s, *drawn, predicts});
  }
  void predict(Tick tick) {
    EXPECT_TRUE(world->client(0).predict(body, tick, setting.path(tick / setting.tick_hz)));
  }

  // What is left of the steps between two pictures, in multiples of what the truth does.
  struct Steps {
    double position_m = 0.0;  // distance between two pictures, minus that of the truth
    double corner_m = 0.0;    // what two pictures say of the third, minus the same of the truth
  };
  [[nodiscard]] Steps steps(double from_s, double until_s) const {
    Steps worst;
    const auto at = [&](std::size_t i) { return setting.path(pictures[i].time_s).position; };
    for (std::size_t i = 2; i < pictures.size(); ++i) {
      if (pictures[i - 2].time_s < from_s || pictures[i].time_s > until_s) continue;
      const glm::dvec3 &a = pictures[i - 2].position, &b = pictures[i - 1].position,
                       &c = pictures[i].position;
      worst.position_m = std::max(worst.position_m, glm::distance(b, c) - glm::distance(at(i - 1), at(i)));
      worst.corner_m = std::max(
          worst.corner_m, glm::length(a - 2.0 * b + c) - glm::length(at(i - 2) - 2.0 * at(i - 1) + at(i)));
    }
    return worst;
  }

  ChangeSetting setting;
  std::optional<World> world;
  EntityId body;
  bool predicts = false;
  std::size_t begins = 0, ends = 0;
  double pictures_drawn = 0.0;
  double shown_s = 0.0;
  std::vector<Picture> pictures;
};

constexpr double kFirstChangeS = 8.0;

// The steps while the prediction begins and ends, several times, and without any change.
struct ChangeFigures {
  Change::Steps quiet, begin, end;
};
void take_worse(Change::Steps& to, const Change::Steps& other) {
  to.position_m = std::max(to.position_m, other.position_m);
  to.corner_m = std::max(to.corner_m, other.corner_m);
}
ChangeFigures change_figures_of(const ChangeSetting& setting) {
  Change change(setting);
  ChangeFigures figures;
  change.run_to(kFirstChangeS);
  const ClientId player = change.world->server().clients()[0];
  figures.quiet = change.steps(3.0, kFirstChangeS);
  double now_s = kFirstChangeS;
  for (int i = 0; i < 4; ++i) {
    EXPECT_TRUE(change.world->server().let_predict(change.body, player));
    change.run_to(now_s + 1.6);
    take_worse(figures.begin, change.steps(now_s, now_s + 1.6));
    EXPECT_TRUE(change.world->server().stop_prediction(change.body, player));
    change.run_to(now_s + 3.27);
    take_worse(figures.end, change.steps(now_s + 1.6, now_s + 3.27));
    now_s += 3.27;
  }
  EXPECT_EQ(change.begins, 4u);
  EXPECT_EQ(change.ends, 4u);
  return figures;
}

PlayoutConfig changed_playout(PlayoutMode mode) {
  return {.mode = mode, .delay_s = 0.15, .blend_s = 0.1};
}

const std::vector<double> kPictureRates{30.0, 60.0, 144.0};
const std::vector<double> kTickRates{20.0, 60.0, 128.0};

// No more than what ordinary corrections cause in the same run, and 1 cm. Without losses: a lost motion
// causes a larger correction, and by chance it is in one of the two parts of a run.
TEST(ChangeOfPrediction, IsInvisibleInAheadMode) {
  for (const double picture_hz : kPictureRates) {
    for (const double tick_hz : kTickRates) {
      for (std::uint64_t seed = 1; seed <= 6; ++seed) {
        SCOPED_TRACE(std::to_string(picture_hz) + " Hz, " + std::to_string(tick_hz) + " ticks/s, seed " +
                     std::to_string(seed));
        const ChangeFigures f = change_figures_of({.playout = changed_playout(PlayoutMode::ahead),
                                                   .picture_hz = picture_hz,
                                                   .tick_hz = tick_hz,
                                                   .seed = seed,
                                                   .sampled = seed % 2 == 0});
        for (const Change::Steps& steps : {f.begin, f.end}) {
          EXPECT_LT(steps.position_m, f.quiet.position_m + 0.01);
          // Velocity: 0.6 m/s and the ordinary corrections.
          EXPECT_LT(steps.corner_m, f.quiet.corner_m + 0.6 / picture_hz);
        }
      }
    }
  }
}

// In the other modes, the body goes over to another instant: up to 0.3 s in delayed mode, in 0.75 s and more.
// It neither stops nor runs twice as fast, and its velocity changes as fast as that takes.
TEST(ChangeOfPrediction, FadesOverTheJumpInTimeInTheOtherModes) {
  for (const PlayoutMode which : {PlayoutMode::present, PlayoutMode::delayed, PlayoutMode::adaptive}) {
    for (const double picture_hz : kPictureRates) {
      for (const double tick_hz : kTickRates) {
        for (std::uint64_t seed = 1; seed <= 2; ++seed) {
          SCOPED_TRACE("mode " + std::to_string(static_cast<int>(which)) + ", " + std::to_string(picture_hz) +
                       " Hz, " + std::to_string(tick_hz) + " ticks/s, seed " + std::to_string(seed));
          const ChangeFigures f = change_figures_of({.playout = changed_playout(which),
                                                     .picture_hz = picture_hz,
                                                     .tick_hz = tick_hz,
                                                     .seed = seed});
          for (const Change::Steps& steps : {f.begin, f.end}) {
            EXPECT_LT(steps.position_m, kChangeSpeedMps / picture_hz + f.quiet.position_m + 0.01);
            EXPECT_LT(steps.corner_m, f.quiet.corner_m + 1.7 / picture_hz);
          }
        }
      }
    }
  }
}

// The end of the prediction and the first motion after it may be lost.
TEST(ChangeOfPrediction, SurvivesLosses) {
  for (const char* net : {"intercity", "wifi", "mobile"}) {
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
      SCOPED_TRACE(std::string(net) + " seed " + std::to_string(seed));
      const ChangeFigures f =
          change_figures_of({.playout = changed_playout(PlayoutMode::ahead), .network = net, .seed = seed});
      for (const Change::Steps& steps : {f.begin, f.end})
        EXPECT_LT(steps.position_m, kChangeSpeedMps / 60.0);
    }
  }
}

}  // namespace
}  // namespace reckoner::test
