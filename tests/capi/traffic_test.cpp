// SPDX-License-Identifier: MIT
// What costs bandwidth, and archetypes and fields by their names, over the C API.
#include "pair.hpp"

#include <cstring>
#include <string>

#include <gtest/gtest.h>

namespace reckoner::test {
namespace {

reckoner_field_spec spec(const char* name) {
  reckoner_field_spec made;
  reckoner_field_spec_init(&made, sizeof made);
  made.type = RECKONER_VALUE_INTEGER;
  made.name = name;
  return made;
}

TEST(CNames, FindArchetypesAndFields) {
  const reckoner_field_spec specs[] = {spec("health"), spec("fuel")};
  reckoner_archetype kinds[2];
  for (reckoner_archetype& kind : kinds)
    reckoner_archetype_init(&kind, sizeof kind);
  kinds[0].name = "tram";
  kinds[1].name = "car";
  kinds[1].fields = specs;
  kinds[1].field_count = 2;
  std::uint32_t index = 99;
  char why[200] = "old";
  ASSERT_EQ(reckoner_find_archetype(kinds, 2, "car", &index, why, sizeof why), RECKONER_OK);
  EXPECT_EQ(index, 1u);
  EXPECT_STREQ(why, "");
  ASSERT_EQ(reckoner_find_field(&kinds[1], "fuel", &index, nullptr, 0), RECKONER_OK);
  EXPECT_EQ(index, 1u);

  index = 99;
  EXPECT_EQ(reckoner_find_archetype(kinds, 2, "cat", &index, why, sizeof why), RECKONER_ERROR_UNKNOWN);
  EXPECT_STREQ(why, "there is no archetype 'cat'; the archetypes are 'car', 'tram'");
  EXPECT_EQ(reckoner_find_field(&kinds[1], "full", &index, why, sizeof why), RECKONER_ERROR_UNKNOWN);
  EXPECT_STREQ(why, "archetype 'car' has no field 'full'; its fields are 'fuel', 'health'");
  EXPECT_EQ(reckoner_find_field(&kinds[0], "fuel", &index, nullptr, 0), RECKONER_ERROR_UNKNOWN);
  EXPECT_EQ(index, 99u) << "a failed call changes nothing";

  EXPECT_EQ(reckoner_find_archetype(nullptr, 2, "car", &index, nullptr, 0), RECKONER_ERROR_ARGUMENT);
  EXPECT_EQ(reckoner_find_archetype(kinds, 0, "car", &index, nullptr, 0), RECKONER_ERROR_ARGUMENT);
  EXPECT_EQ(reckoner_find_archetype(kinds, 2, nullptr, &index, nullptr, 0), RECKONER_ERROR_ARGUMENT);
  EXPECT_EQ(reckoner_find_field(nullptr, "fuel", &index, nullptr, 0), RECKONER_ERROR_ARGUMENT);
  EXPECT_EQ(reckoner_find_field(&kinds[1], "fuel", nullptr, nullptr, 0), RECKONER_ERROR_ARGUMENT);
  kinds[1].struct_size = 3;
  EXPECT_EQ(reckoner_find_field(&kinds[1], "fuel", &index, nullptr, 0), RECKONER_ERROR_STRUCT);
}

TEST(CTraffic, AddsUpToTheBytesOfAllDatagrams) {
  const reckoner_field_spec specs[] = {spec("health"), spec("fuel")};
  Pair pair;
  pair.kind.fields = specs;
  pair.kind.field_count = 2;
  ASSERT_TRUE(pair.start());
  reckoner_state state;
  reckoner_state_init(&state);
  reckoner_entity car = 0;
  ASSERT_EQ(reckoner_server_spawn(pair.server, 0, "car", &state, 0, &car), RECKONER_OK);
  ASSERT_TRUE(pair.until([&] { return pair.had(RECKONER_CLIENT_EVENT_SPAWNED, car); }));
  pair.each_tick = [&](double time_s) {
    state.position[0] = 5.0 * time_s * time_s;
    state.velocity[0] = static_cast<float>(10.0 * time_s);
    EXPECT_EQ(reckoner_server_move(pair.server, car, &state), RECKONER_OK);
  };
  reckoner_value value{};
  value.type = RECKONER_VALUE_INTEGER;
  value.integer = 35;
  ASSERT_EQ(reckoner_server_set_field(pair.server, car, 1, &value), RECKONER_OK);
  ASSERT_TRUE(pair.until([&] { return pair.had(RECKONER_CLIENT_EVENT_FIELDS_CHANGED, car); }));
  pair.run(0.5);

  reckoner_server_stats stats{};
  stats.struct_size = sizeof stats;
  ASSERT_EQ(reckoner_server_get_stats(pair.server, &stats), RECKONER_OK);
  std::uint64_t all = 0, of_archetype = 0, of_entities = 0;
  std::uint32_t content = 0;
  for (; reckoner_sent_content_name(content) != nullptr; ++content) {
    std::uint64_t count = 0, bits = 0;
    ASSERT_EQ(reckoner_server_traffic(pair.server, content, &count, &bits), RECKONER_OK);
    all += bits;
    if (content > RECKONER_SENT_FIELD) continue;
    of_entities += bits;
    ASSERT_EQ(reckoner_server_archetype_traffic(pair.server, 0, content, nullptr, &bits), RECKONER_OK);
    of_archetype += bits;
  }
  EXPECT_EQ(content, RECKONER_SENT_PREDICTION + 1u);
  EXPECT_STREQ(reckoner_sent_content_name(RECKONER_SENT_RELIABLE_MESSAGE), "reliable_message");
  EXPECT_EQ(all, 8 * stats.state_bytes_sent);
  EXPECT_EQ(of_archetype, of_entities);
  reckoner_entity_traffic traffic{};
  EXPECT_EQ(reckoner_server_traffic_of(pair.server, car, &traffic), RECKONER_ERROR_STRUCT);
  traffic.struct_size = sizeof traffic;
  ASSERT_EQ(reckoner_server_traffic_of(pair.server, car, &traffic), RECKONER_OK);
  EXPECT_EQ(traffic.archetype, 0u);
  EXPECT_GT(traffic.updates, 0u);
  EXPECT_EQ(traffic.motion_bits + traffic.spawn_bits + traffic.field_bits, of_archetype);
  std::uint64_t count = 0, bits = 0;
  ASSERT_EQ(reckoner_server_field_traffic(pair.server, 0, 1, &count, &bits), RECKONER_OK);
  EXPECT_GE(count, 1u);
  EXPECT_EQ(bits, 8 * count) << "256 values";
  ASSERT_EQ(reckoner_server_field_traffic(pair.server, 0, 0, &count, &bits), RECKONER_OK);
  EXPECT_EQ(bits, 0u) << "it did not change";

  EXPECT_EQ(reckoner_server_traffic(pair.server, content, &count, &bits), RECKONER_ERROR_UNKNOWN);
  EXPECT_EQ(reckoner_server_archetype_traffic(pair.server, 1, 0, &count, &bits), RECKONER_ERROR_UNKNOWN);
  EXPECT_EQ(reckoner_server_archetype_traffic(pair.server, 0, RECKONER_SENT_END, &count, &bits),
            RECKONER_ERROR_UNKNOWN);
  EXPECT_EQ(reckoner_server_field_traffic(pair.server, 0, 2, &count, &bits), RECKONER_ERROR_UNKNOWN);
  EXPECT_EQ(reckoner_server_traffic_of(pair.server, 0, &traffic), RECKONER_ERROR_UNKNOWN);
  EXPECT_EQ(reckoner_server_traffic(nullptr, 0, &count, &bits), RECKONER_ERROR_ARGUMENT);
  EXPECT_EQ(reckoner_server_traffic_of(nullptr, car, &traffic), RECKONER_ERROR_ARGUMENT);
}

}  // namespace
}  // namespace reckoner::test
