// SPDX-License-Identifier: MIT
// The players' game of the scenario football: what its figures mean, and what they say about each method.
#include "harness/commands/football/football_arguments.hpp"
#include "harness/commands/football/football_output.hpp"
#include "harness/prediction/football_run.hpp"
#include "harness/prediction/football_summary.hpp"
#include "harness/sim/link.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <glm/geometric.hpp>
#include <gtest/gtest.h>

namespace reckoner::harness::football {
namespace {

constexpr double kRateHz = 60.0;

FootballOptions over(const char* network, double seconds) {
  FootballOptions options;
  options.links = {*find_network(network), *find_network(network)};
  options.seconds = seconds;
  return options;
}

// A car on a circle, as the server has it, and a ball that rests.
class Circle {
 public:
  static constexpr double kRadiusM = 10.0, kSpeedMps = 15.0, kEndS = kWarmUpS + 6.0;

  Circle() : truth(kRateHz) {
    for (Tick tick = 0; tick <= static_cast<Tick>(kEndS * kRateHz); ++tick)
      truth.note(tick, states(tick / kRateHz), {});
  }

  static State car(double time_s) {
    const double angle = kSpeedMps / kRadiusM * time_s;
    State state;
    state.position = {kRadiusM * std::cos(angle), kRadiusM * std::sin(angle), 0.0};
    state.velocity = {static_cast<float>(-kSpeedMps * std::sin(angle)),
                      static_cast<float>(kSpeedMps * std::cos(angle)), 0.0f};
    return state;
  }
  static std::array<State, kBodies> states(double time_s) {
    std::array<State, kBodies> all;
    all[0] = car(time_s);
    return all;
  }

  /// A player who sees the truth at `rate_hz`, and `beside_m` to the side from `from_s` on.
  static PlayerRecord seen(double rate_hz, double from_s = kEndS, double beside_m = 0.0) {
    PlayerRecord record;
    for (double time_s = kWarmUpS - 1.0; time_s < kEndS - 0.5; time_s += 1.0 / rate_hz) {
      Picture picture;
      picture.time_s = picture.own_s = picture.ball_s = picture.others_s = time_s;
      for (Drawn& drawn : picture.own) {
        drawn.position = car(time_s).position;
        if (time_s >= from_s) drawn.position.z += beside_m;
      }
      record.pictures.push_back(picture);
    }
    return record;
  }

  [[nodiscard]] FootballFigures figures(const PlayerRecord& record) const {
    FootballOptions options;
    options.seconds = kEndS - kWarmUpS;
    const std::array players{&record};
    return summarise("built", collect_samples(options, truth, players, Display::reckoner, {}, {}), nullptr);
  }

  FootballTruth truth;
};

TEST(PlayersGameFigures, APathThatIsShownAsItIsHasTheRatioOne) {
  const Circle circle;
  for (const double rate_hz : {30.0, 60.0, 144.0}) {
    const FootballFigures figures = circle.figures(Circle::seen(rate_hz));
    EXPECT_NEAR(figures.own_velocity_step_ratio_p99, 1.0, 0.01) << rate_hz;
    EXPECT_LT(figures.own_error_m.max, 1e-3) << rate_hz;
    EXPECT_LT(figures.own_excess_acceleration_mps2, 1.0) << rate_hz;
  }
}

// A step of 5 cm in one picture is a change of velocity of 3 m/s, and the way back another one. The circle's
// own changes are v^2 / r / 60 = 0.375 m/s.
TEST(PlayersGameFigures, AStepCountsOnlyNearItsCorrection) {
  const Circle circle;
  const double at_s = kWarmUpS + 2.0;
  PlayerRecord record = Circle::seen(kRateHz, at_s, 0.05);
  record.corrections.push_back({at_s - 0.1, at_s, CorrectionReason::differs});
  const FootballFigures near = circle.figures(record);
  const double step_mps = std::hypot(0.05 * kRateHz, 15.0 * 15.0 / 10.0 / kRateHz);
  EXPECT_NEAR(near.own_velocity_step_ratio_p99, step_mps / 0.375, 0.2);
  EXPECT_NEAR(near.own_velocity_step_ratio_all_p99, 1.0, 0.01) << "two pictures of 330";
  EXPECT_NEAR(near.own_error_m.max, 0.05, 1e-3);
  EXPECT_NEAR(near.corrections_differs_per_minute, 60.0 / (Circle::kEndS - kWarmUpS), 1e-9);
  record.corrections.front() = {at_s + 1.0, at_s + 1.1, CorrectionReason::input_missing};
  const FootballFigures far = circle.figures(record);
  EXPECT_NEAR(far.own_velocity_step_ratio_p99, 1.0, 0.01);
  EXPECT_EQ(far.corrections_differs_per_minute, 0.0);
  EXPECT_GT(far.corrections_input_missing_per_minute, 0.0);
}

TEST(PlayersGameFigures, PicturesAfterAKickOffDoNotCount) {
  Circle circle;
  const double at_s = kWarmUpS + 2.0;
  circle.truth.note_kick_off(at_s);
  const FootballFigures figures = circle.figures(Circle::seen(kRateHz, at_s, 0.05));
  EXPECT_LT(figures.own_velocity_step_ratio_all_p99, 1.01);
  EXPECT_NEAR(figures.own_error_m.max, 0.05, 1e-3) << "from 1.2 s after it";
}

TEST(PlayersGameFigures, AContactThatTheServerDoesNotHaveIsDenied) {
  FootballTruth truth(kRateHz);
  const auto tick = [](double time_s) { return static_cast<Tick>(time_s * kRateHz); };
  const double ball_s = kWarmUpS + 1.0, car_s = kWarmUpS + 3.0;
  for (Tick t = 0; t <= tick(kWarmUpS + 6.0); ++t) {
    Contacts contacts;
    if (t == tick(ball_s)) contacts.add(0, kBall);
    if (t == tick(car_s)) contacts.add(0, 1);
    truth.note(t, {}, contacts);
  }
  PlayerRecord record;
  record.contacts = {{tick(ball_s + 0.2), kBall},  // 0.2 s late: the same
                     {tick(ball_s + 0.4), kBall},  // another one, which does not happen
                     {tick(car_s), 1},
                     {tick(car_s), 2},                // not the car that was hit
                     {tick(kWarmUpS - 1.0), kBall}};  // does not count
  FootballOptions options;
  options.seconds = 6.0;
  const std::array players{static_cast<const PlayerRecord*>(&record)};
  const FootballFigures figures =
      summarise("built", collect_samples(options, truth, players, Display::reckoner, {}, {}), nullptr);
  EXPECT_EQ(figures.contacts_seen, 4u);
  EXPECT_EQ(figures.contacts_denied_share, 0.5);
  EXPECT_EQ(figures.ball_contacts_denied_share, 0.5);
  EXPECT_EQ(figures.car_contacts_denied_share, 0.5);
}

TEST(PlayersGameFigures, RatesAreForEachClientAndRunsArePooled) {
  FootballOptions options;
  options.seconds = 10.0;
  const FootballTruth truth(kRateHz);
  const PlayerRecord record;
  const std::array players{&record, &record};
  FootballCounters before, after;
  before.up_bits = 800;
  after.up_bits = 800 + 8 * 2 * 10 * 500;
  after.down_bytes = 2 * 10 * 70;
  after.ticks = 1000;
  after.ticks_repeated = 4;
  FootballSamples samples = collect_samples(options, truth, players, Display::reckoner, before, after);
  samples.step_max_m = 0.01;
  FootballSamples other = samples;
  other.step_max_m = 0.02;
  other.lead = {0.1, 0.2};
  other.sent.ticks_repeated = 0;
  samples += other;
  const FootballFigures figures = summarise("built", samples, nullptr);
  EXPECT_DOUBLE_EQ(figures.up_bytes_per_s, 500.0);
  EXPECT_DOUBLE_EQ(figures.down_payload_bytes_per_s, 70.0);
  EXPECT_DOUBLE_EQ(figures.ticks_without_input_share.value(), 0.002);
  EXPECT_EQ(figures.own_position_step_m_max, 0.02);
  EXPECT_EQ(figures.pictures, 2u);
}

TEST(PlayersGame, IsDeterministic) {
  FootballOptions options = over("wifi", 3.0);
  options.players = 3;
  const auto json = [&](std::size_t threads) {
    constexpr std::array<std::uint64_t, 2> kSeeds{3, 4};
    return football_json(options, kSeeds, play_football(options, kSeeds, threads)).dump();
  };
  const std::string once = json(1);
  EXPECT_EQ(json(2), once);
  EXPECT_NE(once.find("\"reckoner-present\""), std::string::npos);
}

const FootballFigures& find(const std::vector<FootballFigures>& all, const std::string& method) {
  for (const FootballFigures& one : all) {
    if (one.method == method) return one;
  }
  ADD_FAILURE() << method;
  return all.front();
}

TEST(PlayersGame, PredictionAnswersInThePictureOfTheKey) {
  constexpr std::array<std::uint64_t, 1> kSeeds{1};
  const auto methods = play_football(over("intercity", 8.0), kSeeds);
  ASSERT_EQ(methods.size(), 8u);
  const FootballFigures& none = find(methods, "no-prediction");
  EXPECT_GE(none.own_response_frames.p50, 9.0) << "a round trip of 160 ms";
  for (const char* method :
       {"ownership", "snap", "exponential-0.9", "reckoner", "reckoner-ahead", "reckoner-present"}) {
    const FootballFigures& one = find(methods, method);
    EXPECT_GT(one.own_response_frames.count, 50u) << method;
    EXPECT_LE(one.own_response_frames.p50, 1.0) << method;
    EXPECT_LT(one.own_response_frames.p99, none.own_response_frames.p50) << method;
  }
  const FootballFigures& reckoner = find(methods, "reckoner");
  EXPECT_LT(*reckoner.correction_acceleration_to_snap, 1.0);
  EXPECT_EQ(*find(methods, "snap").correction_acceleration_to_snap, 1.0);
  EXPECT_GT(reckoner.contacts_seen, 0u);
  EXPECT_FALSE(none.contacts_denied_share);
  EXPECT_FALSE(none.lead_s);
  EXPECT_GT(reckoner.lead_s->mean, 0.08);
  EXPECT_EQ(reckoner.corrections_per_minute, find(methods, "snap").corrections_per_minute);
}

// The players draw at different phases between two ticks.
TEST(PlayersGame, NoCorrectionOnAPerfectNetworkWithoutContacts) {
  FootballOptions options;
  options.has_contacts = false;
  options.seconds = 20.0;
  const auto displays = run_football(options);
  ASSERT_EQ(displays.size(), kDisplays);
  const FootballFigures figures =
      summarise("reckoner", displays[static_cast<std::size_t>(Display::reckoner)], nullptr);
  EXPECT_EQ(figures.corrections_per_minute, 0.0);
  EXPECT_EQ(figures.ticks_without_input_share, 0.0);
  EXPECT_LT(figures.own_error_m.max, 1e-3);
  EXPECT_GT(figures.pictures, 6u * 1000u);
}

// The keys of others travel, the game steps their cars with them, and the server agrees with more contacts.
TEST(PlayersGame, SteppedCarsOfOthersHaveFewerDeniedContacts) {
  constexpr std::array<std::uint64_t, 4> kSeeds{21, 22, 23, 24};
  const auto methods = play_football(over("mobile", 30.0), kSeeds);
  const FootballFigures& stepped = find(methods, "reckoner");
  const FootballFigures& present = find(methods, "reckoner-present");
  ASSERT_GT(present.contacts_seen, 100u);
  ASSERT_GT(stepped.contacts_seen, 100u);
  EXPECT_LT(*stepped.contacts_denied_share, 0.7 * *present.contacts_denied_share);
  EXPECT_LT(stepped.own_velocity_step_ratio_p99, present.own_velocity_step_ratio_p99);
  EXPECT_GT(stepped.down_bytes_per_s, 0.0);
}

TEST(PlayersGame, PlaysWithEachOption) {
  FootballOptions options = over("broadband", 2.0);
  options.players = 2;
  options.tick_rate_hz = 128.0;
  options.frame_rate_hz = 30.0;
  options.input_delay_ticks = 3;
  options.inputs_per_datagram = 4;
  options.predicts_ball = false;
  options.others_at = OthersAt::present;
  const FootballSamples delayed = run_football(options).back();
  EXPECT_GT(delayed.lead.size(), 2u * 50u);
  // Three ticks of 1/128 s take one picture of 1/30 s.
  EXPECT_LE(describe(delayed.response).p99, 2.0);
  options.input_delay_ticks = 0;
  options.inputs_per_datagram = 1;
  EXPECT_GT(run_football(options).back().sent.up_bits, delayed.sent.up_bits)
      << "fewer datagrams have fewer copies of inputs";
}

// Every number of the table is one of the JSON.
TEST(PlayersGame, TableAndJsonAgree) {
  FootballOptions options = over("lan", 2.0);
  constexpr std::array<std::uint64_t, 1> kSeeds{1};
  options.others_at = OthersAt::present;
  const auto methods = play_football(options, kSeeds);
  const auto json = football_json(options, kSeeds, methods);
  const std::string text = football_text(options, "lan", kSeeds, methods);
  EXPECT_EQ(text.substr(0, text.find('\n')), "players' game over lan: 6 players, 2 s, seed 1");
  ASSERT_EQ(json["methods"].size(), 6u);
  const auto number = [&](const std::string& line, std::size_t method) {
    const std::size_t row = text.find('\n' + line);
    EXPECT_NE(row, std::string::npos) << line;
    const std::string cell = text.substr(row + 1 + 38 + 17 * method, 17);
    return cell.find('-') == std::string::npos ? std::stod(cell) : -1.0;
  };
  for (std::size_t i = 0; i < 6; ++i) {
    const auto& one = json["methods"][i];
    EXPECT_NEAR(number("corrections per minute", i), one["corrections_per_minute"].get<double>(), 0.051);
    EXPECT_NEAR(number("error to the server's path, cm, p50", i),
                100.0 * one["own_error_m"]["p50"].get<double>(), 0.051);
    EXPECT_NEAR(number("bytes a second up", i), one["up_bytes_per_s"].get<double>(), 0.51);
    EXPECT_EQ(number("lead, ms, mean", i) < 0.0, one["lead_s"].is_null()) << i;
  }
}

Result<FootballOptions> parsed(std::vector<std::string> arguments, double tick_rate_hz = 60.0,
                               double frame_rate_hz = 60.0) {
  CLI::App app;
  FootballArguments game;
  game.options.tick_rate_hz = tick_rate_hz;
  game.options.frame_rate_hz = frame_rate_hz;
  add_football_options(app, game);
  const bool is_empty = arguments.empty();
  std::reverse(arguments.begin(), arguments.end());  // the order that CLI11 expects
  try {
    app.parse(arguments);
  } catch (const CLI::ParseError& error) {
    return Error{error.what()};
  }
  EXPECT_EQ(used_football_option(app).empty(), is_empty);
  return football_options(game);
}

TEST(PlayersGameOptions, AreThoseOfTheCommandLine) {
  const auto options = parsed({"--players", "2", "--input-delay", "1", "--input-rate", "30", "--others",
                               "present", "--ball", "shown", "--no-contacts", "--tolerance-m", "0.05"});
  ASSERT_TRUE(options) << options.error();
  EXPECT_EQ(options->players, 2u);
  EXPECT_EQ(options->input_delay_ticks, 1u);
  EXPECT_EQ(options->inputs_per_datagram, 2u);
  EXPECT_EQ(options->others_at, OthersAt::present);
  EXPECT_FALSE(options->predicts_ball);
  EXPECT_FALSE(options->has_contacts);
  EXPECT_EQ(options->rules.position_m, 0.05);
  EXPECT_EQ(parsed({})->others_at, OthersAt::stepped);
  EXPECT_EQ(parsed({"--others", "ahead"})->others_at, OthersAt::ahead);
  EXPECT_EQ(parsed({"--input-rate", "60"}, 128.0)->inputs_per_datagram, 2u);
}

TEST(PlayersGameOptions, ErrorsNameTheOptionAndTheRange) {
  const auto error = [](const std::vector<std::string>& arguments, double tick_rate_hz = 60.0,
                        double frame_rate_hz = 60.0) {
    const auto options = parsed(arguments, tick_rate_hz, frame_rate_hz);
    EXPECT_FALSE(options);
    return options ? std::string{} : options.error();
  };
  EXPECT_NE(error({"--players", "7"}).find("--players"), std::string::npos);
  EXPECT_NE(error({"--players", "0"}).find("range 1 to 6"), std::string::npos);
  EXPECT_NE(error({"--input-delay", "4"}).find("--input-delay"), std::string::npos);
  EXPECT_NE(error({"--others", "past"}).find("{present,ahead,stepped}"), std::string::npos);
  EXPECT_NE(error({"--tolerance-m", "0"}).find("--tolerance-m"), std::string::npos);
  EXPECT_EQ(error({"--input-rate", "45"}),
            "--input-rate 45: with 60 ticks a second, the rates are about 60, 30, 20 and 15");
  EXPECT_EQ(error({}, 10.0), "--tick-rate 10: players' games have 20 to 128");
  EXPECT_EQ(error({}, 60.0, 300.0), "--frame-rate 300: players' games have 30 to 240");
}

}  // namespace
}  // namespace reckoner::harness::football
