// SPDX-License-Identifier: MIT
// A player's own body over the C API: inputs, results, corrections, and what is refused. Both games are
// written with C alone.
#include "pair.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <string>

namespace reckoner::test {
namespace {

constexpr double kTickS = 1.0 / 60.0;

// A car on a plane that accelerates while the key is held. Its step is deterministic.
struct Car {
  double position_m = 0.0;
  double speed_mps = 0.0;
  double fuel = 1.0;  // the state does not contain it

  void step(const std::uint8_t* input, std::size_t size) {
    const bool pressed = size > 0 && input[0] != 0;
    speed_mps = std::clamp(speed_mps + (pressed ? 12.0 : -4.0) * kTickS, 0.0, 20.0);
    position_m += speed_mps * kTickS;
    fuel -= 1e-4 * speed_mps * kTickS;
  }
  [[nodiscard]] reckoner_state state() const {
    reckoner_state s;
    reckoner_state_init(&s);
    s.position[0] = position_m;
    s.velocity[0] = static_cast<float>(speed_mps);
    return s;
  }
  // Two doubles.
  static constexpr std::size_t kBytes = 16;
  void save(unsigned char* bytes) const {
    std::memcpy(bytes, &speed_mps, 8);
    std::memcpy(bytes + 8, &fuel, 8);
  }
  void restore(const reckoner_corrected_entity& entity) {
    ASSERT_EQ(entity.game_state_size, kBytes);
    position_m = entity.state.position[0];
    std::memcpy(&speed_mps, entity.game_state, 8);
    std::memcpy(&fuel, entity.game_state + 8, 8);
  }
};

// The server's game steps one car for the client, whose game predicts it.
struct Drive {
  Pair pair;
  reckoner_entity entity = 0;
  Car truth, own;
  bool is_mine = false;
  double push_m = 0.0;                            // moves the car at the server's next step
  std::map<std::uint32_t, double> path, results;  // position by tick: the server's and the client's
  std::map<std::int32_t, int> corrections;        // number by reason
  std::size_t polled = 0, replayed = 0;
  std::uint32_t last_tick = 0;
  reckoner_player_input last_input{};

  [[nodiscard]] bool start() {
    pair.step_s = 1.0 / 240.0;
    if (!pair.start()) return false;
    const reckoner_state state = truth.state();
    EXPECT_EQ(reckoner_server_spawn(pair.server, 0, "car", &state, 0, &entity), RECKONER_OK);
    EXPECT_EQ(reckoner_server_let_predict(pair.server, entity, pair.peer, nullptr), RECKONER_OK);
    pair.each_tick = [this](double) { server_step(); };
    return until([this] { return is_mine && !results.empty(); });
  }
  [[nodiscard]] bool until(const std::function<bool()>& so) {
    return pair.until([&] {
      client_step();
      return so();
    });
  }
  void run(double seconds) {
    const double end_s = pair.now_s() + seconds;
    (void)until([&] { return pair.now_s() >= end_s; });
  }

  void server_step() {
    std::uint32_t tick = 0;
    ASSERT_EQ(reckoner_server_next_tick(pair.server, &tick, nullptr), RECKONER_OK);
    last_input.struct_size = sizeof last_input;
    ASSERT_EQ(reckoner_server_input(pair.server, pair.peer, &last_input), RECKONER_OK);
    truth.step(last_input.bytes, last_input.size);
    truth.position_m += std::exchange(push_m, 0.0);
    const reckoner_state state = truth.state();
    ASSERT_EQ(reckoner_server_move(pair.server, entity, &state), RECKONER_OK);
    unsigned char bytes[Car::kBytes];
    truth.save(bytes);
    ASSERT_EQ(reckoner_server_set_game_state(pair.server, entity, bytes, sizeof bytes), RECKONER_OK);
    path[tick] = truth.position_m;
  }

  void client_step() {
    for (; polled < pair.events.size(); ++polled) {
      const std::int32_t kind = pair.events[polled].kind;
      if (kind == RECKONER_CLIENT_EVENT_PREDICTION_BEGAN) is_mine = true;
      if (kind == RECKONER_CLIENT_EVENT_PREDICTION_ENDED) is_mine = false;
    }
    reckoner_correction correction{};
    correction.struct_size = sizeof correction;
    if (reckoner_client_poll_correction(pair.client, &correction) == RECKONER_OK) {
      ++corrections[correction.reason];
      ASSERT_EQ(correction.entity_count, 1u);
      ASSERT_EQ(correction.entities[0].entity, entity);
      own.restore(correction.entities[0]);
      for (std::uint32_t i = 0; i < correction.step_count; ++i, ++replayed) {
        EXPECT_EQ(correction.steps[i].tick, correction.tick + 1 + i);
        predict(correction.steps[i]);
      }
    }
    const std::uint8_t key = std::fmod(pair.now_s(), 1.0) < 0.6 ? 1 : 0;
    reckoner_prediction_step step{};
    while (reckoner_client_next_step(pair.client, &key, 1, &step) == RECKONER_OK) {
      last_tick = step.tick;
      if (is_mine) predict(step);
    }
  }
  void predict(const reckoner_prediction_step& step) {
    own.step(step.input, step.input_size);
    const reckoner_state state = own.state();
    unsigned char bytes[Car::kBytes];
    own.save(bytes);
    EXPECT_EQ(reckoner_client_predict(pair.client, entity, step.tick, &state, bytes, sizeof bytes),
              RECKONER_OK);
    results[step.tick] = own.position_m;
  }

  // The number of ticks that both ends have stepped, and the largest distance between them, m.
  [[nodiscard]] std::pair<std::size_t, double> compare(std::uint32_t from) const {
    std::size_t count = 0;
    double worst = 0.0;
    for (const auto& [tick, position] : results) {
      const auto found = path.find(tick);
      if (tick < from || found == path.end()) continue;
      ++count;
      worst = std::max(worst, std::abs(position - found->second));
    }
    return {count, worst};
  }
  [[nodiscard]] reckoner_prediction_stats stats() const {
    reckoner_prediction_stats s{};
    s.struct_size = sizeof s;
    EXPECT_EQ(reckoner_server_get_prediction_stats(pair.server, pair.peer, &s), RECKONER_OK);
    return s;
  }
  [[nodiscard]] reckoner_client_stats client_stats() const {
    reckoner_client_stats s{};
    s.struct_size = sizeof s;
    EXPECT_EQ(reckoner_client_get_stats(pair.client, &s), RECKONER_OK);
    return s;
  }
};

TEST(CPrediction, BothEndsComputeTheSame) {
  Drive drive;
  ASSERT_TRUE(drive.start());
  EXPECT_GE(drive.corrections[RECKONER_CORRECTION_BEGINS], 1);
  drive.run(2.0);
  const std::uint32_t from = drive.last_tick;
  const reckoner_prediction_stats before = drive.stats();
  drive.run(3.0);
  const reckoner_prediction_stats after = drive.stats();
  const auto [count, worst_m] = drive.compare(from);
  EXPECT_GT(count, 100u);
  EXPECT_EQ(worst_m, 0.0);
  EXPECT_EQ(after.ticks_repeated, before.ticks_repeated);
  EXPECT_EQ(after.mispredicted, before.mispredicted);
  EXPECT_GT(after.ticks - before.ticks, 100u);
  EXPECT_GT(after.results - before.results, 100u);
  EXPECT_GT(drive.truth.position_m, 1.0);
  EXPECT_LT(drive.truth.fuel, 1.0);
  EXPECT_GT(drive.last_input.seen_s, 0.0);
  EXPECT_NEAR(drive.last_input.seen_s, drive.pair.now_s(), 1.0);

  const reckoner_client_stats stats = drive.client_stats();
  EXPECT_NE(stats.input_lead_s, 0.0);
  EXPECT_LT(std::abs(stats.input_lead_s), 0.05) << "this network has no delay";
  EXPECT_GE(stats.mispredictions, 1u);
  EXPECT_EQ(stats.corrections, 0u) << "those of owned entities";
  // It is shown where the game has it: ahead of the server's time by the lead.
  const reckoner_shown shown = drive.pair.shown(drive.entity);
  ASSERT_EQ(shown.struct_size, sizeof shown);
  EXPECT_NEAR(shown.state.position[0], drive.own.position_m, 1.0);
  std::uint64_t bits = 0;
  ASSERT_EQ(reckoner_server_traffic(drive.pair.server, RECKONER_SENT_PREDICTION, nullptr, &bits),
            RECKONER_OK);
  EXPECT_GT(bits, 0u);
}

TEST(CPrediction, APushIsCorrectedAndReplayed) {
  Drive drive;
  ASSERT_TRUE(drive.start());
  drive.run(1.0);
  const int before = drive.corrections[RECKONER_CORRECTION_DIFFERS];
  const std::size_t replayed_before = drive.replayed;
  drive.push_m = 3.0;
  ASSERT_TRUE(drive.until([&] { return drive.corrections[RECKONER_CORRECTION_DIFFERS] > before; }));
  EXPECT_GT(drive.replayed, replayed_before);
  (void)drive.pair.shown(drive.entity);
  reckoner_shown_debug debug{};
  debug.struct_size = sizeof debug;
  ASSERT_EQ(reckoner_client_debug(drive.pair.client, drive.entity, &debug), RECKONER_OK);
  EXPECT_EQ(debug.predicted, 1);
  EXPECT_EQ(debug.corrected, 1);
  EXPECT_GT(debug.prediction_ticks, 30u);
  EXPECT_GE(debug.prediction_newest, drive.last_tick);
  EXPECT_EQ(debug.prediction_lead_s, drive.client_stats().input_lead_s);
  EXPECT_EQ(debug.prediction_corrections, drive.client_stats().mispredictions);
  EXPECT_EQ(debug.correction_reason, RECKONER_CORRECTION_DIFFERS);
  EXPECT_GT(debug.correction_tick, 0u);
  // On a busy machine, the server may be ahead of the client's steps.
  if (debug.correction_had_result == 1) {
    EXPECT_NEAR(debug.correction_error_m, 3.0, 0.5);
  }
  EXPECT_LT(debug.correction_age_s, 1.0);
  const std::uint32_t from = drive.last_tick;
  ASSERT_TRUE(
      drive.until([&] { return drive.path.contains(from + 20) && drive.results.contains(from + 20); }));
  EXPECT_EQ(drive.path[from + 20], drive.results[from + 20]);
}

TEST(CPrediction, EndsAndBeginsAndTeleports) {
  Drive drive;
  ASSERT_TRUE(drive.start());
  ASSERT_EQ(reckoner_server_stop_prediction(drive.pair.server, drive.entity, drive.pair.peer), RECKONER_OK);
  ASSERT_TRUE(drive.until([&] { return !drive.is_mine; }));
  const reckoner_state state = drive.own.state();
  EXPECT_EQ(reckoner_client_predict(drive.pair.client, drive.entity, drive.last_tick, &state, nullptr, 0),
            RECKONER_ERROR_REFUSED);
  EXPECT_EQ(reckoner_client_call_error(drive.pair.client), RECKONER_CALL_NOT_PREDICTED);
  reckoner_prediction_rules rules;
  reckoner_prediction_rules_init(&rules, sizeof rules);
  EXPECT_EQ(rules.position_m, 0.01);
  EXPECT_EQ(rules.angle_rad, 0.01);
  rules.position_m = 0.5;
  ASSERT_EQ(reckoner_server_let_predict(drive.pair.server, drive.entity, drive.pair.peer, &rules),
            RECKONER_OK);
  ASSERT_TRUE(drive.until([&] { return drive.is_mine; }));

  drive.run(0.3);
  drive.truth.position_m += 100.0;
  const reckoner_state there = drive.truth.state();
  ASSERT_EQ(reckoner_server_teleport(drive.pair.server, drive.entity, &there), RECKONER_OK);
  ASSERT_TRUE(drive.until([&] { return drive.corrections[RECKONER_CORRECTION_TELEPORTED] > 0; }));
  drive.run(0.1);
  EXPECT_GT(drive.pair.shown(drive.entity).state.position[0], 99.0);
}

// The server has the last input for repeat_input_s, and then none.
TEST(CPrediction, APlayerWithoutInputsIsRepeatedAndThenRests) {
  Drive drive;
  drive.pair.server_config.repeat_input_s = 0.1;
  ASSERT_TRUE(drive.start());
  ASSERT_TRUE(drive.until([&] { return drive.last_input.size == 1 && drive.last_input.repeated == 0; }));
  ASSERT_TRUE(drive.pair.until([&] { return drive.last_input.repeated > 1; }));
  ASSERT_TRUE(drive.pair.until([&] { return drive.last_input.repeated > 8; }));
  EXPECT_EQ(drive.last_input.size, 0u);
  EXPECT_EQ(drive.last_input.bytes, nullptr);
  EXPECT_GT(drive.stats().ticks_repeated, 0u);
}

TEST(CPrediction, SettingsAreThoseOfTheLibrary) {
  reckoner_server_config server;
  reckoner_server_config_init(&server, sizeof server);
  EXPECT_EQ(server.repeat_input_s, 0.2);
  reckoner_client_config client;
  reckoner_client_config_init(&client, sizeof client);
  EXPECT_EQ(client.input_delay_ticks, 0u);
  EXPECT_EQ(client.inputs_per_datagram, 1u);
  Pair pair;
  char why[200] = "";
  pair.server_config.repeat_input_s = -1.0;
  EXPECT_EQ(reckoner_server_create(&pair.server_config, &pair.server, why, sizeof why),
            RECKONER_ERROR_ARGUMENT);
  EXPECT_EQ(std::string(why).find("repeat_input_s is -1"), 0u) << why;
  pair.client_config.port = 1;
  pair.client_config.input_delay_ticks = 4;
  EXPECT_EQ(reckoner_client_create(&pair.client_config, &pair.client, why, sizeof why),
            RECKONER_ERROR_ARGUMENT);
  EXPECT_EQ(std::string(why).find("input_delay_ticks is 4"), 0u) << why;
}

TEST(CPrediction, ADelayedInputTakesEffectLater) {
  Drive drive;
  drive.pair.client_config.input_delay_ticks = 3;
  ASSERT_TRUE(drive.start());
  const std::uint8_t key = 7;
  reckoner_prediction_step step{};
  std::uint32_t pressed = 0, felt = 0;
  ASSERT_TRUE(drive.pair.until([&] {
    while (felt == 0 && reckoner_client_next_step(drive.pair.client, &key, 1, &step) == RECKONER_OK) {
      if (pressed == 0) pressed = step.tick;
      if (step.input_size == 1 && step.input[0] == 7) felt = step.tick;
    }
    return felt != 0;
  }));
  EXPECT_EQ(felt - pressed, 3u);
}

TEST(CPrediction, WhatIsWrongIsRefused) {
  Drive drive;
  ASSERT_TRUE(drive.start());
  reckoner_server* const server = drive.pair.server;
  reckoner_client* const client = drive.pair.client;
  const reckoner_client_id player = drive.pair.peer;
  const auto refused = [&](reckoner_result result, std::uint32_t why) {
    EXPECT_EQ(result, RECKONER_ERROR_REFUSED);
    EXPECT_EQ(reckoner_server_call_error(server), why);
    EXPECT_STRNE(reckoner_call_error_text(why), "");
  };
  EXPECT_EQ(reckoner_server_let_predict(server, 99, player, nullptr), RECKONER_ERROR_UNKNOWN);
  EXPECT_EQ(reckoner_server_let_predict(server, drive.entity, 99, nullptr), RECKONER_ERROR_UNKNOWN);
  reckoner_prediction_rules rules;
  reckoner_prediction_rules_init(&rules, sizeof rules);
  for (const double wrong : {0.0, -1.0, 1e9, std::nan(""), std::numeric_limits<double>::infinity()}) {
    rules.position_m = wrong;
    refused(reckoner_server_let_predict(server, drive.entity, player, &rules), RECKONER_CALL_OUT_OF_RANGE);
  }
  refused(reckoner_server_give(server, drive.entity, player, nullptr), RECKONER_CALL_PREDICTED);
  const reckoner_state rest = at(1.0, 2.0, 3.0);
  for (int i = 1; i < 10; ++i) {
    reckoner_entity more = 0;
    ASSERT_EQ(reckoner_server_spawn(server, 0, "more", &rest, 0, &more), RECKONER_OK);
    refused(reckoner_server_stop_prediction(server, more, player), RECKONER_CALL_NOT_PREDICTED);
    const reckoner_result result = reckoner_server_let_predict(server, more, player, nullptr);
    if (i < 8) {
      EXPECT_EQ(result, RECKONER_OK);
    } else {
      refused(result, RECKONER_CALL_TOO_MANY_PREDICTED);
    }
  }
  const unsigned char bytes[RECKONER_MAX_GAME_STATE_BYTES + 1]{};
  refused(reckoner_server_set_game_state(server, drive.entity, bytes, sizeof bytes),
          RECKONER_CALL_DATA_TOO_LONG);
  EXPECT_EQ(reckoner_server_set_game_state(server, drive.entity, nullptr, 1), RECKONER_ERROR_ARGUMENT);
  EXPECT_EQ(reckoner_server_set_game_state(server, 99, bytes, 1), RECKONER_ERROR_UNKNOWN);
  EXPECT_EQ(reckoner_server_set_game_state(server, drive.entity, nullptr, 0), RECKONER_OK);
  reckoner_player_input input;
  std::memset(&input, 0xff, sizeof input);
  input.struct_size = sizeof input;
  EXPECT_EQ(reckoner_server_input(server, 99, &input), RECKONER_NOTHING);
  EXPECT_EQ(input.size, 0u);
  EXPECT_EQ(input.bytes, nullptr);
  reckoner_prediction_stats stats{};
  stats.struct_size = sizeof stats;
  EXPECT_EQ(reckoner_server_get_prediction_stats(server, 99, &stats), RECKONER_NOTHING);

  const auto fails = [&](std::uint32_t tick, const reckoner_state& state, std::size_t size) {
    EXPECT_EQ(reckoner_client_predict(client, drive.entity, tick, &state, bytes, size),
              RECKONER_ERROR_REFUSED);
    return reckoner_client_call_error(client);
  };
  EXPECT_EQ(fails(drive.last_tick + 1000, rest, 0), RECKONER_CALL_NO_STEP);
  EXPECT_EQ(fails(drive.last_tick - 1000, rest, 0), RECKONER_CALL_NO_STEP);
  EXPECT_EQ(fails(drive.last_tick, rest, sizeof bytes), RECKONER_CALL_DATA_TOO_LONG);
  reckoner_state insane = rest;
  insane.position[1] = std::nan("");
  EXPECT_EQ(fails(drive.last_tick, insane, 0), RECKONER_CALL_NOT_FINITE);
  EXPECT_EQ(reckoner_client_predict(client, drive.entity, drive.last_tick, nullptr, nullptr, 0),
            RECKONER_ERROR_ARGUMENT);
  EXPECT_EQ(reckoner_client_predict(client, drive.entity, drive.last_tick, &rest, nullptr, 1),
            RECKONER_ERROR_ARGUMENT);
  reckoner_prediction_step step{};
  EXPECT_EQ(reckoner_client_next_step(client, bytes, RECKONER_MAX_INPUT_BYTES + 1, &step),
            RECKONER_ERROR_ARGUMENT);
  EXPECT_EQ(reckoner_client_next_step(client, nullptr, 1, &step), RECKONER_ERROR_ARGUMENT);
  EXPECT_EQ(reckoner_client_next_step(client, nullptr, 0, nullptr), RECKONER_ERROR_ARGUMENT);
  EXPECT_EQ(reckoner_client_poll_correction(client, nullptr), RECKONER_ERROR_ARGUMENT);

  EXPECT_EQ(reckoner_server_let_predict(nullptr, 1, 1, nullptr), RECKONER_ERROR_ARGUMENT);
  EXPECT_EQ(reckoner_server_stop_prediction(nullptr, 1, 1), RECKONER_ERROR_ARGUMENT);
  EXPECT_EQ(reckoner_server_set_game_state(nullptr, 1, bytes, 1), RECKONER_ERROR_ARGUMENT);
  EXPECT_EQ(reckoner_server_input(nullptr, 1, &input), RECKONER_ERROR_ARGUMENT);
  EXPECT_EQ(reckoner_server_get_prediction_stats(nullptr, 1, &stats), RECKONER_ERROR_ARGUMENT);
  EXPECT_EQ(reckoner_client_next_step(nullptr, nullptr, 0, &step), RECKONER_ERROR_ARGUMENT);
  EXPECT_EQ(reckoner_client_predict(nullptr, 1, 1, &rest, nullptr, 0), RECKONER_ERROR_ARGUMENT);
  reckoner_correction correction{};
  correction.struct_size = sizeof correction;
  EXPECT_EQ(reckoner_client_poll_correction(nullptr, &correction), RECKONER_ERROR_ARGUMENT);
}

// A correction that is polled with an invalid struct waits for the next poll.
TEST(CPrediction, AnInvalidStructTakesNoCorrection) {
  Drive drive;
  ASSERT_TRUE(drive.pair.start());
  const reckoner_state state = drive.truth.state();
  ASSERT_EQ(reckoner_server_spawn(drive.pair.server, 0, "car", &state, 0, &drive.entity), RECKONER_OK);
  ASSERT_EQ(reckoner_server_let_predict(drive.pair.server, drive.entity, drive.pair.peer, nullptr),
            RECKONER_OK);
  reckoner_correction bad{}, good{};
  bad.struct_size = 0xcccccccc;
  good.struct_size = sizeof good;
  ASSERT_TRUE(drive.pair.until([&] {
    EXPECT_EQ(reckoner_client_poll_correction(drive.pair.client, &bad), RECKONER_ERROR_STRUCT);
    return reckoner_client_poll_correction(drive.pair.client, &good) == RECKONER_OK;
  }));
  EXPECT_EQ(good.reason, RECKONER_CORRECTION_BEGINS);
  ASSERT_EQ(good.entity_count, 1u);
  EXPECT_EQ(good.entities[0].entity, drive.entity);
  EXPECT_EQ(good.entities[0].game_state, nullptr) << "the game has set none";
}

}  // namespace
}  // namespace reckoner::test
