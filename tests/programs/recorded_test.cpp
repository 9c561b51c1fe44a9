// SPDX-License-Identifier: MIT
// Recorded motion through real processes over real UDP and a bad network, compared with the project's
// guarantees. To save time, all recordings run at once. Each needs little processor time.
#include "pose_table.hpp"
#include "process.hpp"
#include "tests/support/locations.hpp"
#include "tests/support/loopback.hpp"

#include <csignal>
#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace reckoner::test {
namespace {

constexpr char kFlight[] = "flight_euroc_v102";
constexpr char kDuel[] = "shooter_quake_duel_povdmm4";
constexpr char kCars[] = "rocketcar_rl_b2a19";

std::string trace_path(const std::string& name) {
  return (shared_dir() / "traces" / (name + ".csv")).string();
}

/// Server, conditioner (intercity, seed 1) and client on one recording.
class RecordedRun {
 public:
  RecordedRun(const ScratchDir& dir, const std::string& name, const std::string& threshold_m,
              const std::string& start_s)
      : truth_(dir.file(name + ".truth.csv")),
        shown_(dir.file(name + ".shown.csv")),
        figures_(dir.file(name + ".json")),
        port_(free_udp_port()),
        relay_port_(free_udp_port()),
        server_("reckoner-server",
                {"--insecure", "--trace", trace_path(name), "--threshold-m", threshold_m, "--start", start_s,
                 "--port", port_, "--truth", truth_, "--seconds", "27", "--quiet"}),
        relay_("reckoner-harness", {"conditioner", "--listen", relay_port_, "--to", loopback_address(port_),
                                    "--network", "intercity", "--seed", "1"}),
        client_("reckoner-client", {"--insecure", "--connect", loopback_address(relay_port_), "--mode",
                                    "present", "--rendered", shown_, "--seconds", "25"}) {}

  void finish() {
    EXPECT_EQ(client_.wait(60.0), 0) << client_.errors();
    EXPECT_EQ(server_.wait(60.0), 0) << server_.errors();
    relay_.send_signal(SIGTERM);
    EXPECT_EQ(relay_.wait(), 0) << relay_.errors();
    const Finished measured = run(
        "reckoner-harness", {"measure", "--truth", truth_, "--rendered", shown_, "--json", figures_}, 60.0);
    ASSERT_EQ(measured.exit_code, 0) << measured.errors;
    figures = nlohmann::json::parse(read_file(figures_), nullptr, false);
    truth = read_poses(truth_);
    shown = read_poses(shown_);
  }

  nlohmann::json figures;
  PoseTable truth;
  PoseTable shown;

 private:
  std::string truth_, shown_, figures_, port_, relay_port_;
  Process server_, relay_, client_;
};

/// The three recordings, played once for all tests of this file.
class RecordedScenario : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    if (!std::filesystem::exists(trace_path(kFlight))) return;
    const ScratchDir dir;
    runs_[kFlight] = std::make_unique<RecordedRun>(dir, kFlight, "0.01", "0");
    runs_[kDuel] = std::make_unique<RecordedRun>(dir, kDuel, "0.05", "0");
    runs_[kCars] = std::make_unique<RecordedRun>(dir, kCars, "0.05", "55");  // a goal, and the next kick-off
    for (auto& [name, take] : runs_)
      take->finish();
  }
  static void TearDownTestSuite() { runs_.clear(); }

  void SetUp() override {
    if (runs_.empty()) GTEST_SKIP() << "no recordings in " << shared_dir();
  }

  static void expect_lifetimes_match_the_data(const RecordedRun& take) {
    const double entity_s = take.figures.at("entity_seconds");
    EXPECT_LE(take.figures.at("missing_s").get<double>(), 0.005 * entity_s);
    EXPECT_LE(take.figures.at("ghost_s").get<double>(), 0.005 * entity_s);
    std::set<std::string> expected, seen;
    for (const auto& [id, rows] : take.truth.entities)
      expected.insert(id);
    for (const auto& [id, rows] : take.shown.entities)
      seen.insert(id);
    EXPECT_EQ(seen, expected);
  }

  static inline std::map<std::string, std::unique_ptr<RecordedRun>> runs_;
};

TEST_F(RecordedScenario, DroneIsShownSmoothlyAtItsPosition) {
  const RecordedRun& take = *runs_.at(kFlight);
  EXPECT_LT(take.figures.at("now_error_m").at("p95").get<double>(), 0.06);
  EXPECT_LT(take.figures.at("velocity_step_mps").at("p99").get<double>(), 0.3);
  EXPECT_LT(take.figures.at("clock_error_ms").at("p95").get<double>(), 8.0);
  expect_lifetimes_match_the_data(take);
}

TEST_F(RecordedScenario, DuelPlayersRespawnWithoutABlend) {
  const RecordedRun& take = *runs_.at(kDuel);
  EXPECT_EQ(take.truth.entities.size(), 2u);
  EXPECT_GE(take.figures.at("teleports").get<int>(), 1);
  EXPECT_EQ(take.figures.at("between_teleport_frames").get<int>(), 0);
  EXPECT_LT(take.figures.at("now_error_m").at("p95").get<double>(), 2.0);
  expect_lifetimes_match_the_data(take);
}

TEST_F(RecordedScenario, CarsAndBallAppearAndDisappear) {
  const RecordedRun& take = *runs_.at(kCars);
  EXPECT_GE(take.truth.entities.size(), 12u);
  EXPECT_LT(take.figures.at("now_error_m").at("p95").get<double>(), 2.0);
  expect_lifetimes_match_the_data(take);
}

}  // namespace
}  // namespace reckoner::test
