// SPDX-License-Identifier: MIT
// Errors of a caller must give an error code, not a crash. Programs compiled with another version of the
// header work with the members that both versions know.
#include "pair.hpp"

#include <cmath>
#include <cstring>
#include <limits>
#include <set>
#include <string>

namespace reckoner::test {
namespace {

TEST(CBoundary, EveryResultHasItsOwnText) {
  std::set<std::string> texts;
  for (int result = RECKONER_ERROR_INTERNAL; result <= RECKONER_NOTHING; ++result)
    texts.insert(reckoner_error_text(result));
  EXPECT_EQ(texts.size(), 10u);
  EXPECT_FALSE(texts.contains(reckoner_error_text(-100)));
  EXPECT_EQ(std::string(reckoner_version()).find("0."), 0u);
  EXPECT_GE(reckoner_protocol_version(), 3u);
}

TEST(CBoundary, VersionsThatDoNotFitTheLibraryAreNamed) {
  char why[200] = "";
  EXPECT_EQ(reckoner_check_version(reckoner_version(), why, sizeof why), RECKONER_OK);
  EXPECT_STREQ(why, "");
  EXPECT_EQ(reckoner_check_version("0.2.0", nullptr, 0), RECKONER_OK);
  for (const char* wrong : {"0.2.1000", "0.1000.0", "1000.0.0", "0.1.0", "0.1.99", "0.0.9"}) {
    EXPECT_EQ(reckoner_check_version(wrong, why, sizeof why), RECKONER_ERROR_STRUCT);
    EXPECT_NE(std::string(why).find(wrong), std::string::npos) << why;
    const bool is_old = wrong[0] == '0' && wrong[2] < '2' && wrong[3] == '.';
    EXPECT_EQ(std::string(why).find("docs/UPGRADING.md") != std::string::npos, is_old) << why;
    EXPECT_NE(std::string(why).find(reckoner_version()), std::string::npos) << why;
  }
  for (const char* no_version :
       {"", "0.1", "0.1.0.0", "0.1.x", "-1.0.0", "0..1", "99999999999.0.0", "0.1.0 "})
    EXPECT_EQ(reckoner_check_version(no_version, why, sizeof why), RECKONER_ERROR_ARGUMENT) << no_version;
  EXPECT_EQ(reckoner_check_version(nullptr, why, sizeof why), RECKONER_ERROR_ARGUMENT);
}

TEST(CBoundary, NullHandlesAreRefused) {
  reckoner_state state;
  reckoner_state_init(&state);
  reckoner_entity entity = 0;
  reckoner_value value{};
  double number = 0.0;
  std::size_t count = 0;
  EXPECT_EQ(reckoner_server_receive(nullptr, 0.0), RECKONER_ERROR_ARGUMENT);
  EXPECT_EQ(reckoner_server_tick(nullptr, 0.0), RECKONER_ERROR_ARGUMENT);
  EXPECT_EQ(reckoner_server_next_tick(nullptr, nullptr, &number), RECKONER_ERROR_ARGUMENT);
  EXPECT_EQ(reckoner_server_wait(nullptr, 0.0), RECKONER_ERROR_ARGUMENT);
  EXPECT_EQ(reckoner_server_shutdown(nullptr), RECKONER_ERROR_ARGUMENT);
  EXPECT_EQ(reckoner_server_spawn(nullptr, 0, "", &state, 0, &entity), RECKONER_ERROR_ARGUMENT);
  EXPECT_EQ(reckoner_server_move(nullptr, 1, &state), RECKONER_ERROR_ARGUMENT);
  EXPECT_EQ(reckoner_server_set_field(nullptr, 1, 0, &value), RECKONER_ERROR_ARGUMENT);
  EXPECT_EQ(reckoner_server_port(nullptr), 0);
  EXPECT_EQ(reckoner_client_update(nullptr, 0.0), RECKONER_ERROR_ARGUMENT);
  EXPECT_EQ(reckoner_client_status(nullptr), -1);
  EXPECT_STREQ(reckoner_client_refusal(nullptr), "");
  EXPECT_EQ(reckoner_client_name(nullptr, 1), nullptr);
  reckoner_server_stats counted{};
  reckoner_entity_debug debug{};
  reckoner_shown_debug shown_debug{};
  EXPECT_EQ(reckoner_server_get_stats(nullptr, &counted), RECKONER_ERROR_ARGUMENT);
  EXPECT_EQ(reckoner_server_refused(nullptr, 0, nullptr, nullptr), RECKONER_ERROR_ARGUMENT);
  EXPECT_EQ(reckoner_client_refused(nullptr, 0, nullptr, nullptr), RECKONER_ERROR_ARGUMENT);
  EXPECT_EQ(reckoner_server_debug(nullptr, 1, &debug), RECKONER_ERROR_ARGUMENT);
  EXPECT_EQ(reckoner_client_debug(nullptr, 1, &shown_debug), RECKONER_ERROR_ARGUMENT);
  EXPECT_EQ(reckoner_server_published(nullptr, 1, &state, &number), RECKONER_ERROR_ARGUMENT);
  EXPECT_EQ(reckoner_server_route_state(nullptr, 1, 0.0, 0.0, 0.0, &state), RECKONER_ERROR_ARGUMENT);
  EXPECT_EQ(reckoner_client_move_in(nullptr, 1, &state, 0), RECKONER_ERROR_ARGUMENT);
  EXPECT_EQ(reckoner_client_owned_frame(nullptr, 1, &entity), RECKONER_ERROR_ARGUMENT);
  EXPECT_EQ(reckoner_client_motion_at(nullptr, 1, 0.0, &state), RECKONER_ERROR_ARGUMENT);
  EXPECT_EQ(reckoner_clock_at(nullptr, 3.0), 0.0);
  EXPECT_EQ(reckoner_clock_set_scale(nullptr, 1.0, 0.0, 0.0), RECKONER_ERROR_ARGUMENT);
  EXPECT_EQ(reckoner_key_from_text(nullptr, nullptr), RECKONER_ERROR_ARGUMENT);
  reckoner_out_of_frame(nullptr, &state, &state);
  reckoner_into_frame(&state, nullptr, &state);
  EXPECT_EQ(reckoner_client_shown(nullptr, nullptr, sizeof(reckoner_shown), 0, &count),
            RECKONER_ERROR_ARGUMENT);
  reckoner_server_destroy(nullptr);
  reckoner_client_destroy(nullptr);
}

TEST(CBoundary, InvalidConfigurationsAreRefused) {
  const auto refused = [](auto spoil) {
    Pair pair;
    spoil(pair);
    char why[60];
    const auto result = reckoner_server_create(&pair.server_config, &pair.server, why, sizeof why);
    EXPECT_EQ(pair.server, nullptr);
    EXPECT_LT(std::strlen(why), sizeof why);
    return result;
  };
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(refused([](Pair& p) { p.server_config.archetypes = nullptr; }), RECKONER_ERROR_ARGUMENT);
  EXPECT_EQ(refused([](Pair& p) { p.server_config.archetype_count = 257; }), RECKONER_ERROR_ARGUMENT);
  EXPECT_EQ(refused([](Pair& p) { p.server_config.insecure = 0; }), RECKONER_ERROR_ARGUMENT);
  EXPECT_EQ(refused([](Pair& p) { p.server_config.tick_rate_hz = 0.0; }), RECKONER_ERROR_ARGUMENT);
  EXPECT_EQ(refused([&](Pair& p) { p.server_config.tick_rate_hz = nan; }), RECKONER_ERROR_ARGUMENT);
  EXPECT_EQ(refused([&](Pair& p) { p.server_config.interest_radius_m = nan; }), RECKONER_ERROR_ARGUMENT);
  EXPECT_EQ(refused([](Pair& p) { p.server_config.max_clients = 1u << 30; }), RECKONER_ERROR_ARGUMENT);
  EXPECT_EQ(refused([](Pair& p) { p.server_config.rewind_s = 2.0; }), RECKONER_ERROR_ARGUMENT);
  EXPECT_EQ(refused([&](Pair& p) { p.server_config.limit_burst_s = nan; }), RECKONER_ERROR_ARGUMENT);
  EXPECT_EQ(refused([](Pair& p) { p.server_config.limit_waiting_events = 0; }), RECKONER_ERROR_ARGUMENT);
  EXPECT_EQ(refused([](Pair& p) { p.server_config.limit_waiting_event_bytes = 0; }), RECKONER_ERROR_ARGUMENT);
  EXPECT_EQ(refused([](Pair& p) { p.server_config.limit_silence_s = 0.0; }), RECKONER_ERROR_ARGUMENT);
  EXPECT_EQ(refused([](Pair& p) { p.server_config.log_least = 4; }), RECKONER_ERROR_ARGUMENT);
  EXPECT_EQ(refused([](Pair& p) { p.kind.threshold_m = 0.0; }), RECKONER_ERROR_ARGUMENT);
  EXPECT_EQ(refused([](Pair& p) { p.kind.name = "longer than the thirty-two bytes that there are"; }),
            RECKONER_ERROR_ARGUMENT);
  EXPECT_EQ(refused([](Pair& p) { p.server_config.host = "no such host.invalid"; }), RECKONER_ERROR_NETWORK);
  EXPECT_EQ(refused([](Pair& p) { p.server_config.struct_size = 0; }), RECKONER_ERROR_STRUCT);

  Pair pair;
  pair.client_config.host = nullptr;
  EXPECT_EQ(reckoner_client_create(&pair.client_config, &pair.client, nullptr, 0), RECKONER_ERROR_ARGUMENT);
  pair.client_config.host = "127.0.0.1";
  pair.client_config.mode = 4;
  EXPECT_EQ(reckoner_client_create(&pair.client_config, &pair.client, nullptr, 0), RECKONER_ERROR_ARGUMENT);
}

// The error texts come from the validators. They use the names that the settings have in C.
TEST(CBoundary, ErrorsNameTheSettingItsValueAndItsRange) {
  const auto why_not = [](auto spoil) {
    Pair pair;
    spoil(pair);
    char why[200] = "";
    EXPECT_EQ(reckoner_server_create(&pair.server_config, &pair.server, why, sizeof why),
              RECKONER_ERROR_ARGUMENT);
    return std::string(why);
  };
  EXPECT_EQ(why_not([](Pair& p) { p.server_config.tick_rate_hz = 0.0; }),
            "tick_rate_hz is 0; it must be from 1 to 1000 Hz");
  EXPECT_EQ(why_not([](Pair& p) { p.server_config.interest_interval_s = -1.0; }),
            "interest_interval_s is -1; it must be from 0 to 3600 s");
  EXPECT_EQ(why_not([](Pair& p) { p.server_config.limit_burst_s = 0.0; }),
            "limit_burst_s is 0; it must be from 0.1 to 60 s");
  EXPECT_EQ(why_not([](Pair& p) { p.kind.threshold_m = 0.0; }),
            "archetypes[0].threshold_m is 0; it must be from 1e-6 to 1e6 m");
  EXPECT_EQ(why_not([](Pair& p) { p.server_config.archetype_count = 257; }),
            "there are 257 archetypes; there must be from 1 to 256");

  const auto client_why_not = [](auto spoil) {
    Pair pair;
    pair.client_config.port = 1;
    spoil(pair.client_config);
    char why[200] = "";
    EXPECT_EQ(reckoner_client_create(&pair.client_config, &pair.client, why, sizeof why),
              RECKONER_ERROR_ARGUMENT);
    return std::string(why);
  };
  EXPECT_EQ(client_why_not([](auto& c) { c.delay_s = 3.0; }), "delay_s is 3; it must be from 0 to 2 s");
  EXPECT_EQ(client_why_not([](auto& c) { c.reconnect_jitter = 2.0; }),
            "reconnect_jitter is 2; it must be from 0 to 1");
  EXPECT_EQ(client_why_not([](auto& c) { c.max_entities = 0; }),
            "max_entities is 0; it must be from 1 to 1048576 entities");
}

TEST(CBoundary, InvalidPlayoutIsRefused) {
  Pair pair;
  ASSERT_TRUE(pair.start());
  reckoner_playout playout;
  reckoner_playout_init(&playout, sizeof playout);
  EXPECT_EQ(reckoner_client_set_playout(nullptr, &playout), RECKONER_ERROR_ARGUMENT);
  EXPECT_EQ(reckoner_client_set_playout(pair.client, nullptr), RECKONER_ERROR_ARGUMENT);
  playout.mode = 4;
  EXPECT_EQ(reckoner_client_set_playout(pair.client, &playout), RECKONER_ERROR_ARGUMENT);
  playout.mode = RECKONER_MODE_DELAYED;
  for (const std::int32_t curve : {-1, 2}) {
    playout.blend_curve = curve;
    EXPECT_EQ(reckoner_client_set_playout(pair.client, &playout), RECKONER_ERROR_ARGUMENT) << curve;
  }
  EXPECT_EQ(reckoner_blend_settings(RECKONER_PROFILE_GENTLE + 1, &playout.blend_curve, &playout.blend_s),
            RECKONER_ERROR_ARGUMENT);
  EXPECT_EQ(reckoner_blend_settings(-1, &playout.blend_curve, &playout.blend_s), RECKONER_ERROR_ARGUMENT);
  EXPECT_EQ(reckoner_blend_settings(RECKONER_PROFILE_GENTLE, nullptr, &playout.blend_s),
            RECKONER_ERROR_ARGUMENT);
  EXPECT_EQ(reckoner_blend_settings(RECKONER_PROFILE_ARTICLE, &playout.blend_curve, &playout.blend_s),
            RECKONER_OK);
  EXPECT_EQ(playout.blend_curve, RECKONER_BLEND_CUBIC);
  EXPECT_EQ(playout.blend_s, 6.5 / 60.0);
  playout.delay_s = std::nan("");
  EXPECT_EQ(reckoner_client_set_playout(pair.client, &playout), RECKONER_ERROR_ARGUMENT);
  playout.struct_size = 0;
  EXPECT_EQ(reckoner_client_set_playout(pair.client, &playout), RECKONER_ERROR_STRUCT);
}

TEST(CBoundary, InvalidNumbersAreRefusedAndChangeNothing) {
  Pair pair;
  ASSERT_TRUE(pair.start());
  reckoner_entity entity = 0;
  reckoner_state state = at(1.0, 2.0, 3.0);
  ASSERT_EQ(reckoner_server_spawn(pair.server, 0, "", &state, 0, &entity), RECKONER_OK);
  EXPECT_EQ(reckoner_server_spawn(pair.server, 9, "", &state, 0, &entity), RECKONER_ERROR_REFUSED);
  EXPECT_EQ(entity, 0u);
  ASSERT_EQ(reckoner_server_spawn(pair.server, 0, "", &state, 0, &entity), RECKONER_OK);
  reckoner_state insane = state;
  insane.position[0] = std::numeric_limits<double>::infinity();
  EXPECT_EQ(reckoner_server_move(pair.server, entity, &insane), RECKONER_ERROR_REFUSED);
  insane = state;
  insane.orientation[3] = 0.0f;
  EXPECT_EQ(reckoner_server_move(pair.server, entity, &insane), RECKONER_ERROR_REFUSED);
  reckoner_entity predicted = 0;
  for (const double wrong :
       {std::nan(""), std::numeric_limits<double>::infinity(), 1e305, -1e305, 1e13, -1e13}) {
    EXPECT_EQ(reckoner_server_tick(pair.server, wrong), RECKONER_ERROR_ARGUMENT);
    EXPECT_EQ(reckoner_server_receive(pair.server, wrong), RECKONER_ERROR_ARGUMENT);
    EXPECT_EQ(reckoner_client_update(pair.client, wrong), RECKONER_ERROR_ARGUMENT);
    EXPECT_EQ(reckoner_client_predict_spawn(pair.client, 0, &state, 1, std::isfinite(wrong) ? 61.0 : wrong,
                                            &predicted),
              std::isfinite(wrong) ? RECKONER_ERROR_REFUSED : RECKONER_ERROR_ARGUMENT);
  }
  reckoner_state after;
  ASSERT_EQ(reckoner_server_state(pair.server, entity, &after), RECKONER_OK);
  EXPECT_EQ(after.position[0], 1.0);
}

// A program that was compiled with an older header, where a struct ended earlier.
TEST(CBoundary, OlderProgramsGetDefaultsForNewMembers) {
  Pair pair;
  constexpr std::uint32_t kOld = offsetof(reckoner_server_config, tick_rate_hz);
  std::memset(&pair.server_config, 0xff, sizeof pair.server_config);
  reckoner_server_config_init(&pair.server_config, kOld);
  EXPECT_EQ(pair.server_config.struct_size, kOld);
  EXPECT_TRUE(std::isnan(pair.server_config.tick_rate_hz)) << "memory beyond struct_size must not change";
  pair.server_config.archetypes = &pair.kind;
  pair.server_config.archetype_count = 1;
  pair.server_config.host = "127.0.0.1";
  pair.server_config.insecure = 1;
  char why[200];
  ASSERT_EQ(reckoner_server_create(&pair.server_config, &pair.server, why, sizeof why), RECKONER_OK) << why;

  struct {
    reckoner_server_stats stats;
    std::uint64_t guard;
  } room;
  std::memset(&room, 0xff, sizeof room);
  room.stats.struct_size = offsetof(reckoner_server_stats, publishes);
  ASSERT_EQ(reckoner_server_get_stats(pair.server, &room.stats), RECKONER_OK);
  EXPECT_EQ(room.stats.ticks, 0u);
  EXPECT_EQ(room.stats.publishes, ~std::uint64_t{0});
}

// A program whose header has members that this library does not know.
TEST(CBoundary, NewerProgramsMayNotSetUnknownMembers) {
  struct Newer {
    reckoner_archetype known;
    std::uint64_t unknown;
  };
  Pair pair;
  Newer newer[2];
  for (Newer& kind : newer) {
    reckoner_archetype_init(&kind.known, sizeof(Newer));
    EXPECT_EQ(kind.unknown, 0u);
  }
  newer[1].known.name = "second";
  pair.server_config.archetypes = &newer[0].known;
  pair.server_config.archetype_count = 2;
  ASSERT_EQ(reckoner_server_create(&pair.server_config, &pair.server, nullptr, 0), RECKONER_OK);
  reckoner_entity entity = 0;
  const reckoner_state state = at(0.0, 0.0, 0.0);
  EXPECT_EQ(reckoner_server_spawn(pair.server, 1, "", &state, 0, &entity), RECKONER_OK);
  reckoner_server_destroy(pair.server);
  newer[1].unknown = 1;
  EXPECT_EQ(reckoner_server_create(&pair.server_config, &pair.server, nullptr, 0), RECKONER_ERROR_STRUCT);
  EXPECT_EQ(pair.server, nullptr);
}

// Layouts of version 1 on 64-bit systems. Members may only be added at the end of sized structs.
TEST(CBoundary, LayoutsAreUnchanged) {
  if constexpr (sizeof(void*) == 8) {
    EXPECT_EQ(sizeof(reckoner_state), 80u);
    EXPECT_EQ(sizeof(reckoner_pose), 40u);
    EXPECT_EQ(sizeof(reckoner_value), 88u);
    EXPECT_EQ(sizeof(reckoner_seen), 48u);
    EXPECT_EQ(sizeof(reckoner_address), 8u);
    EXPECT_EQ(sizeof(reckoner_route_key), 72u);
    EXPECT_EQ(offsetof(reckoner_field_spec, initial), 64u);
    EXPECT_EQ(offsetof(reckoner_archetype, never_reverses), 60u);
    EXPECT_EQ(offsetof(reckoner_grant, user_data_size), 48u);
    EXPECT_EQ(offsetof(reckoner_grant, issued_ms), 64u);
    EXPECT_EQ(offsetof(reckoner_server_config, interest_interval_s), 184u);
    EXPECT_EQ(offsetof(reckoner_client_config, owned_updates_per_second), 112u);
    EXPECT_EQ(offsetof(reckoner_route_config, tolerance_m), 120u);
    EXPECT_EQ(offsetof(reckoner_ownership_rules, silence_s), 32u);
    EXPECT_EQ(offsetof(reckoner_message, time_s), 32u);
    EXPECT_EQ(offsetof(reckoner_server_event, text), 24u);
    EXPECT_EQ(offsetof(reckoner_client_event, fields), 16u);
    EXPECT_EQ(offsetof(reckoner_shown, local), 120u);
    EXPECT_EQ(offsetof(reckoner_poses, shown_time_s), 40u);
    EXPECT_EQ(offsetof(reckoner_server_stats, transport_errors), 168u);
    EXPECT_EQ(offsetof(reckoner_client_stats, delay_s), 152u);
    EXPECT_EQ(sizeof(reckoner_clock), 40u);
    EXPECT_EQ(sizeof(reckoner_log_field), 48u);
    EXPECT_EQ(offsetof(reckoner_log_record, field_count), 32u);
    EXPECT_EQ(offsetof(reckoner_server_config, log_least), 288u);
    EXPECT_EQ(offsetof(reckoner_server_config, resume_s), 296u);
    EXPECT_EQ(offsetof(reckoner_client_config, log_least), 136u);
    EXPECT_EQ(offsetof(reckoner_client_config, reconnect_give_up_s), 192u);
    EXPECT_EQ(offsetof(reckoner_route_config, outlier_limit_rad), 136u);
    EXPECT_EQ(offsetof(reckoner_ownership_rules, frame_reach_m), 40u);
    EXPECT_EQ(offsetof(reckoner_ownership_rules, teleport_interval_s), 56u);
    EXPECT_EQ(offsetof(reckoner_ownership_rules, max_turning_mps), 64u);
    EXPECT_EQ(offsetof(reckoner_shown, on_route), 200u);
    EXPECT_EQ(offsetof(reckoner_entity_debug, owned), 236u);
    EXPECT_EQ(offsetof(reckoner_entity_traffic, field_bits), 32u);
    EXPECT_EQ(offsetof(reckoner_shown_debug, owned), 252u);
    EXPECT_EQ(offsetof(reckoner_shown_debug, correction_game_state_differs), 348u);
    EXPECT_EQ(offsetof(reckoner_server_stats, payload_bytes_received), 336u);
    EXPECT_EQ(offsetof(reckoner_client_stats, payload_bytes_received), 216u);
    EXPECT_EQ(offsetof(reckoner_client_config, max_entities), 200u);
    EXPECT_EQ(offsetof(reckoner_client_stats, entities_refused), 224u);
    EXPECT_EQ(offsetof(reckoner_client_stats, times_refused), 232u);
    EXPECT_EQ(offsetof(reckoner_client_stats, clock_rate), 240u);
    EXPECT_EQ(offsetof(reckoner_client_stats, input_lead_s), 264u);
    EXPECT_EQ(offsetof(reckoner_server_config, repeat_input_s), 400u);
    EXPECT_EQ(offsetof(reckoner_client_config, inputs_per_datagram), 220u);
    EXPECT_EQ(sizeof(reckoner_prediction_step), 16u);
    EXPECT_EQ(sizeof(reckoner_corrected_entity), 104u);
    EXPECT_EQ(offsetof(reckoner_prediction_rules, angle_rad), 16u);
    EXPECT_EQ(offsetof(reckoner_player_input, seen_s), 24u);
    EXPECT_EQ(offsetof(reckoner_prediction_stats, corrections), 56u);
    EXPECT_EQ(offsetof(reckoner_correction, step_count), 32u);
  }
}

}  // namespace
}  // namespace reckoner::test
