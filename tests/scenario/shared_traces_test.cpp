// SPDX-License-Identifier: MIT
// The recorded traces, read from their folder.
#include "scenario/feed.hpp"
#include "scenario/trace/csv.hpp"
#include "scenario/trace/trace.hpp"
#include "tests/support/locations.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <glm/geometric.hpp>
#include <gtest/gtest.h>

namespace reckoner::scenario {
namespace {

struct Facts {
  const char* name;
  std::size_t entities;
  int teleports;  // over all entities
  bool has_orientation;
  double last_s;  // last time of the recording, or of the last id if ids play in turn
};

// Counted from the files by other means.
constexpr Facts kFacts[] = {
    {"ball_football_min1", 1, 0, false, 59.35699},   {"firstperson_l4d1_drainage", 1, 0, true, 92.03333},
    {"firstperson_portal_a15", 1, 18, true, 119.76}, {"flight_euroc_v102", 1, 0, true, 83.505},
    {"hand_tum_fr2desk", 1, 0, true, 89.998},        {"pointer_osu_a", 1, 0, false, 119.981},
    {"racing_f1_2019_a", 3, 0, false, 0.0},          {"rigid_cube_tosses", 80, 0, true, 0.0},
    {"rocketcar_rl_b2a19", 16, 0, true, 119.95833},  {"rocketcar_rl_idle", 15, 0, true, 79.95833},
    {"shooter_quake_4on4_dm2", 8, 58, true, 89.985}, {"shooter_quake_duel_povdmm4", 2, 29, true, 119.994},
    {"vehicle_hl2ep2_car", 1, 1, true, 94.53},       {"vr_head_questpro_traj1", 1, 0, true, 69.99},
    {"vr_head_spacepirate_a", 1, 0, true, 55.99178},
};

class SharedTraces : public testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(folder())) GTEST_SKIP() << "no recorded traces in " << folder();
  }
  static std::string folder() { return (test::shared_dir() / "traces/").string(); }
  static std::unique_ptr<Source> load(const std::string& name, const TraceOptions& options = {}) {
    auto source = load_trace(folder() + name + ".csv", options);
    EXPECT_TRUE(source) << source.error();
    return source ? std::move(*source) : nullptr;
  }
};

TEST_F(SharedTraces, AllLoad) {
  for (const Facts& facts : kFacts) {
    const auto source = load(facts.name);
    ASSERT_TRUE(source) << facts.name;
    EXPECT_EQ(source->size(), facts.entities) << facts.name;
    EXPECT_EQ(source->entity(0).has_orientation, facts.has_orientation) << facts.name;
    if (facts.last_s > 0.0) {
      EXPECT_EQ(source->end_s(), facts.last_s) << facts.name;
    }
  }
}

// Reads the numbers of a trace without the reader, and compares all bits. Nothing needs a remark.
TEST_F(SharedTraces, ReadEveryNumberExactly) {
  for (const Facts& facts : kFacts) {
    const auto text = read_text_file(folder() + facts.name + ".csv");
    ASSERT_TRUE(text) << facts.name;
    const auto recording = read_recording(*text, facts.name);
    ASSERT_TRUE(recording) << recording.error();
    EXPECT_TRUE(recording->remarks.empty()) << facts.name;
    EXPECT_TRUE(load(facts.name)->remarks().empty()) << facts.name;
    std::map<std::string, std::size_t> rows;
    std::map<std::string, const Recording::Entity*> entities;
    for (const Recording::Entity& entity : recording->entities)
      entities[entity.id] = &entity;
    std::istringstream lines(*text);
    std::string line;
    bool has_id = false;
    while (std::getline(lines, line)) {
      if (line.starts_with('#')) continue;
      if (line.starts_with("id,") || line.starts_with("t,")) {
        has_id = line.starts_with("id,");
        continue;
      }
      std::istringstream cells(line);
      std::string id = "0";
      if (has_id) std::getline(cells, id, ',');
      std::vector<double> numbers;
      for (std::string cell; std::getline(cells, cell, ',');)
        numbers.push_back(std::strtod(cell.c_str(), nullptr));
      ASSERT_TRUE(entities.contains(id)) << line;
      const TrackSample& sample = entities[id]->samples.at(rows[id]++);
      ASSERT_EQ(sample.time_s, numbers.at(0)) << line;
      ASSERT_EQ(sample.position, glm::dvec3(numbers.at(1), numbers.at(2), numbers.at(3))) << line;
      if (numbers.size() == 8) {
        ASSERT_EQ(sample.orientation, glm::dquat(numbers[4], numbers[5], numbers[6], numbers[7])) << line;
      }
    }
    for (const Recording::Entity& entity : recording->entities)
      EXPECT_EQ(rows[entity.id], entity.samples.size()) << facts.name;
  }
}

TEST_F(SharedTraces, FeedReportsEveryLifetimeAndTeleport) {
  for (const Facts& facts : kFacts) {
    const auto source = load(facts.name);
    Feed feed(*source, source->start_s(), 60.0);
    std::size_t spawns = 0;
    std::size_t despawns = 0;
    int teleports = 0;
    while (!feed.finished()) {
      for (const FeedItem& item : feed.next()) {
        spawns += item.kind == FeedItem::Kind::spawn ? 1 : 0;
        despawns += item.kind == FeedItem::Kind::despawn ? 1 : 0;
        teleports += item.kind == FeedItem::Kind::teleport ? 1 : 0;
        ASSERT_TRUE(is_sane(item.truth)) << facts.name;
        // Declared jumps do not count as speed.
        ASSERT_LT(glm::length(item.truth.velocity), 200.0f) << facts.name;
      }
    }
    EXPECT_EQ(spawns, facts.entities) << facts.name;
    EXPECT_EQ(despawns, facts.entities) << facts.name;
    EXPECT_EQ(teleports, facts.teleports) << facts.name;
  }
}

TEST_F(SharedTraces, TakesPlayInTurnAndMatchesTogether) {
  const auto racing = load("racing_f1_2019_a");
  ASSERT_EQ(racing->size(), 3u);
  for (std::size_t i = 1; i < racing->size(); ++i) {
    EXPECT_DOUBLE_EQ(racing->entity(i).first_s, racing->entity(i - 1).last_s + 1.0);
    EXPECT_DOUBLE_EQ(racing->entity(i).offset_s, racing->entity(i).first_s);
  }
  EXPECT_EQ(racing->entity(1).name, "3");
  const auto match = load("rocketcar_rl_b2a19");
  for (std::size_t i = 0; i < match->size(); ++i)
    EXPECT_EQ(match->entity(i).offset_s, 0.0);
}

TEST_F(SharedTraces, BusiestSelectsOneEntity) {
  const auto match = load("shooter_quake_4on4_dm2", {.entity = "busiest"});
  ASSERT_EQ(match->size(), 1u);
  EXPECT_LT(match->entity(0).name.size(), 3u);
}

TEST_F(SharedTraces, HandHeldCameraHasGaps) {
  const auto hand = load("hand_tum_fr2desk");
  int inside = 0;
  for (int k = 0; k < 89'998; ++k)
    inside += hand->in_gap(0, 0.001 * k) ? 1 : 0;
  EXPECT_NEAR(0.001 * inside, 21.2512, 0.02);  // ten steps above 0.25 s in total
}

}  // namespace
}  // namespace reckoner::scenario
