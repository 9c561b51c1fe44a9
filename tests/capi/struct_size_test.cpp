// SPDX-License-Identifier: MIT
// A struct_size that the caller has not set, or that no version of the header has, gives an error. The
// library then reads and writes nothing.
#include "pair.hpp"

#include <cstddef>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

namespace reckoner::test {
namespace {

constexpr std::size_t kGuardBytes = 16 * 1024;
constexpr unsigned char kGuard = 0xa5;

// A struct in the middle of memory that must not change.
template <class T>
struct Room {
  Room() { std::memset(static_cast<void*>(this), kGuard, sizeof *this); }
  [[nodiscard]] bool is_untouched(std::size_t from) const {
    const auto* bytes = reinterpret_cast<const unsigned char*>(&value);
    for (std::size_t i = from; i < sizeof value + sizeof after; ++i) {
      if (bytes[i] != kGuard) return false;
    }
    return true;
  }
  alignas(16) T value;
  unsigned char after[kGuardBytes];
};

// Sizes that no version of the header has: not set, too small, inside a member or beyond every struct.
template <class T>
std::vector<std::uint32_t> wrong_sizes() {
  std::vector<std::uint32_t> sizes{0,          1,          4,           7,           12,
                                   4096,       8192,       65'536,      1u << 20,    1u << 31,
                                   0x7fffffff, 0xcccccccc, 0xcdcdcdcdu, 0xbebebebeu, 0xffffffff};
  for (const std::uint32_t off : {1u, 2u, 3u, 4u, 5u, 7u}) {
    sizes.push_back(sizeof(T) - off);
    sizes.push_back(sizeof(T) + off);
  }
  return sizes;
}

// Calls a function that writes into a struct.
template <class T>
void expect_checked_output(const char* name, const std::function<reckoner_result(T*)>& call,
                           const std::vector<std::uint32_t>& more = {}) {
  std::vector<std::uint32_t> sizes = wrong_sizes<T>();
  sizes.insert(sizes.end(), more.begin(), more.end());
  for (const std::uint32_t size : sizes) {
    Room<T> room;
    room.value.struct_size = size;
    EXPECT_EQ(call(&room.value), RECKONER_ERROR_STRUCT) << name << ' ' << size;
    EXPECT_EQ(room.value.struct_size, size) << name;
    EXPECT_TRUE(room.is_untouched(sizeof size)) << name << ' ' << size;
  }
  EXPECT_EQ(call(nullptr), RECKONER_ERROR_ARGUMENT) << name;
}

// Calls a function that reads a struct, which `init` fills.
template <class T>
void expect_checked_input(const char* name, const T& good,
                          const std::function<reckoner_result(const T*)>& call,
                          const std::vector<std::uint32_t>& more = {}) {
  std::vector<std::uint32_t> sizes = wrong_sizes<T>();
  sizes.insert(sizes.end(), more.begin(), more.end());
  for (const std::uint32_t size : sizes) {
    Room<T> room;
    std::memset(room.after, 0, sizeof room.after);
    room.value = good;
    room.value.struct_size = size;
    EXPECT_EQ(call(&room.value), RECKONER_ERROR_STRUCT) << name << ' ' << size;
  }
}

// An invalid size leaves a struct that every function refuses.
template <class T>
void expect_checked_init(const char* name, void (*init)(T*, std::uint32_t)) {
  for (const std::uint32_t size : wrong_sizes<T>()) {
    Room<T> room;
    init(&room.value, size);
    EXPECT_TRUE(room.is_untouched(sizeof room.value.struct_size)) << name << ' ' << size;
    if (size >= sizeof room.value.struct_size) {
      EXPECT_EQ(room.value.struct_size, 0u) << name << ' ' << size;
    }
  }
  init(nullptr, sizeof(T));
  Room<T> room;
  init(&room.value, sizeof(T));
  EXPECT_EQ(room.value.struct_size, sizeof(T)) << name;
}

TEST(CStructSize, InitFunctionsCheckIt) {
  expect_checked_init("field_spec", reckoner_field_spec_init);
  expect_checked_init("archetype", reckoner_archetype_init);
  expect_checked_init("grant", reckoner_grant_init);
  expect_checked_init("server_config", reckoner_server_config_init);
  expect_checked_init("ownership_rules", reckoner_ownership_rules_init);
  expect_checked_init("prediction_rules", reckoner_prediction_rules_init);
  expect_checked_init("route_config", reckoner_route_config_init);
  expect_checked_init("playout", reckoner_playout_init);
  expect_checked_init("client_config", reckoner_client_config_init);
}

TEST(CStructSize, FunctionsThatReadStructsCheckIt) {
  Pair pair;
  ASSERT_TRUE(pair.start());
  reckoner_server* server = nullptr;
  expect_checked_input<reckoner_server_config>("server_create", pair.server_config, [&](const auto* config) {
    return reckoner_server_create(config, &server, nullptr, 0);
  });
  reckoner_client* client = nullptr;
  expect_checked_input<reckoner_client_config>("client_create", pair.client_config, [&](const auto* config) {
    return reckoner_client_create(config, &client, nullptr, 0);
  });
  EXPECT_EQ(server, nullptr);
  EXPECT_EQ(client, nullptr);
  expect_checked_input<reckoner_archetype>("archetype", pair.kind, [&](const auto* kind) {
    reckoner_server_config config = pair.server_config;
    config.archetypes = kind;
    return reckoner_server_create(&config, &server, nullptr, 0);
  });
  reckoner_field_spec field;
  reckoner_field_spec_init(&field, sizeof field);
  field.name = "health";
  expect_checked_input<reckoner_field_spec>("field_spec", field, [&](const auto* spec) {
    reckoner_server_config config = pair.server_config;
    reckoner_archetype kind = pair.kind;
    kind.fields = spec;
    kind.field_count = 1;
    config.archetypes = &kind;
    return reckoner_server_create(&config, &server, nullptr, 0);
  });
  reckoner_ownership_rules rules;
  reckoner_ownership_rules_init(&rules, sizeof rules);
  expect_checked_input<reckoner_ownership_rules>(
      "give", rules,
      [&](const auto* given) { return reckoner_server_give(pair.server, 1, pair.peer, given); },
      {8, 16, 24, 32});
  reckoner_prediction_rules prediction;
  reckoner_prediction_rules_init(&prediction, sizeof prediction);
  expect_checked_input<reckoner_prediction_rules>(
      "let_predict", prediction,
      [&](const auto* given) { return reckoner_server_let_predict(pair.server, 1, pair.peer, given); },
      {8, 16});
  reckoner_route_config route_config;
  reckoner_route_config_init(&route_config, sizeof route_config);
  expect_checked_input<reckoner_route_config>(
      "add_route", route_config,
      [&](const auto* given) {
        reckoner_route route = 0;
        return reckoner_server_add_route(pair.server, given, &route, nullptr, 0);
      },
      {offsetof(reckoner_route_config, up) + 8, offsetof(reckoner_route_config, orientation) + 16});
  reckoner_playout playout;
  reckoner_playout_init(&playout, sizeof playout);
  expect_checked_input<reckoner_playout>(
      "set_playout", playout,
      [&](const auto* given) { return reckoner_client_set_playout(pair.client, given); }, {8, 16, 24});
  reckoner_grant grant;
  reckoner_grant_init(&grant, sizeof grant);
  const std::uint8_t key[32]{};
  std::uint8_t token[1024];
  expect_checked_input<reckoner_grant>(
      "issue_token", grant, [&](const auto* given) { return reckoner_issue_token(given, key, token); },
      {8, 16, 24, 48});
}

TEST(CStructSize, FunctionsThatWriteStructsCheckIt) {
  Pair pair;
  ASSERT_TRUE(pair.start());
  const reckoner_state state = at(1.0, 2.0, 3.0);
  reckoner_entity entity = 0;
  ASSERT_EQ(reckoner_server_spawn(pair.server, 0, "", &state, 0, &entity), RECKONER_OK);
  ASSERT_TRUE(pair.until([&] { return pair.shown(entity).struct_size != 0; }));

  expect_checked_output<reckoner_server_stats>(
      "server_get_stats", [&](auto* out) { return reckoner_server_get_stats(pair.server, out); }, {8, 16});
  expect_checked_output<reckoner_session_stats>(
      "get_session_stats",
      [&](auto* out) { return reckoner_server_get_session_stats(pair.server, pair.peer, out); }, {8, 16, 64});
  expect_checked_output<reckoner_player_input>(
      "server_input", [&](auto* out) { return reckoner_server_input(pair.server, pair.peer, out); },
      {8, 16, 24});
  expect_checked_output<reckoner_prediction_stats>(
      "get_prediction_stats",
      [&](auto* out) { return reckoner_server_get_prediction_stats(pair.server, pair.peer, out); },
      {8, 16, 56});
  expect_checked_output<reckoner_correction>(
      "poll_correction", [&](auto* out) { return reckoner_client_poll_correction(pair.client, out); },
      {8, 16, 32});
  expect_checked_output<reckoner_entity_traffic>(
      "server_traffic_of", [&](auto* out) { return reckoner_server_traffic_of(pair.server, entity, out); },
      {8, 16, 32});
  expect_checked_output<reckoner_entity_debug>(
      "server_debug", [&](auto* out) { return reckoner_server_debug(pair.server, entity, out); },
      {8, 16, 24, 96, 104});
  expect_checked_output<reckoner_message>(
      "server_poll_message", [&](auto* out) { return reckoner_server_poll_message(pair.server, out); },
      {8, 24});
  expect_checked_output<reckoner_server_event>(
      "server_poll_event", [&](auto* out) { return reckoner_server_poll_event(pair.server, out); }, {8, 24});
  expect_checked_output<reckoner_client_event>(
      "client_poll_event", [&](auto* out) { return reckoner_client_poll_event(pair.client, out); }, {8});
  expect_checked_output<reckoner_message>(
      "client_poll_message", [&](auto* out) { return reckoner_client_poll_message(pair.client, out); },
      {8, 24});
  expect_checked_output<reckoner_shown>(
      "shown_one", [&](auto* out) { return reckoner_client_shown_one(pair.client, entity, out); },
      {8, 16, 24, 96, 104, 112});
  expect_checked_output<reckoner_poses>(
      "shown_poses", [&](auto* out) { return reckoner_client_shown_poses(pair.client, out); }, {8, 16, 24});
  expect_checked_output<reckoner_client_stats>(
      "client_get_stats", [&](auto* out) { return reckoner_client_get_stats(pair.client, out); },
      {8, 16, 152});
  expect_checked_output<reckoner_shown_debug>(
      "client_debug", [&](auto* out) { return reckoner_client_debug(pair.client, entity, out); },
      {8, 16, 24, 96, 176});
  for (const std::uint32_t size : wrong_sizes<reckoner_shown>()) {
    Room<reckoner_shown> room;
    std::size_t count = 0;
    EXPECT_EQ(reckoner_client_shown(pair.client, &room.value, size, 1, &count), RECKONER_ERROR_STRUCT)
        << size;
    EXPECT_TRUE(room.is_untouched(0)) << size;
  }
}

// What was polled with an invalid struct is not lost.
TEST(CStructSize, AnInvalidStructTakesNoMessage) {
  Pair pair;
  ASSERT_TRUE(pair.start());
  ASSERT_EQ(reckoner_server_send(pair.server, 0, "hello", 5, RECKONER_DELIVERY_RELIABLE, nullptr),
            RECKONER_OK);
  reckoner_message bad{};
  bad.struct_size = 0xcccccccc;
  reckoner_message good{};
  good.struct_size = sizeof good;
  ASSERT_TRUE(pair.until([&] {
    EXPECT_EQ(reckoner_client_poll_message(pair.client, &bad), RECKONER_ERROR_STRUCT);
    return reckoner_client_poll_message(pair.client, &good) == RECKONER_OK;
  }));
  EXPECT_EQ(good.size, 5u);
}

// Elements of one array have one size, because it is the distance from one to the next.
TEST(CStructSize, ElementsOfAnArrayHaveOneSize) {
  Pair pair;
  reckoner_archetype kinds[2] = {pair.kind, pair.kind};
  kinds[1].name = "second";
  pair.server_config.archetypes = kinds;
  pair.server_config.archetype_count = 2;
  kinds[1].struct_size = offsetof(reckoner_archetype, floor);
  EXPECT_EQ(reckoner_server_create(&pair.server_config, &pair.server, nullptr, 0), RECKONER_ERROR_STRUCT);
  kinds[1].struct_size = kinds[0].struct_size;
  EXPECT_EQ(reckoner_server_create(&pair.server_config, &pair.server, nullptr, 0), RECKONER_OK);
}

// Every size that an older header can have had, from the first version on.
TEST(CStructSize, OlderAndNewerSizesWork) {
  Pair pair;
  ASSERT_TRUE(pair.start());
  for (std::size_t size = offsetof(reckoner_client_stats, field_changes_applied);
       size <= sizeof(reckoner_client_stats) + 64; size += 8) {
    Room<reckoner_client_stats> room;
    room.value.struct_size = static_cast<std::uint32_t>(size);
    EXPECT_EQ(reckoner_client_get_stats(pair.client, &room.value), RECKONER_OK) << size;
    EXPECT_EQ(room.value.struct_size, size);
    EXPECT_TRUE(room.is_untouched(size)) << size;
  }
  for (const std::size_t size : {offsetof(reckoner_shown, on_route), sizeof(reckoner_shown)}) {
    Room<reckoner_shown> room;
    std::size_t count = 7;
    EXPECT_EQ(reckoner_client_shown(pair.client, &room.value, static_cast<std::uint32_t>(size), 1, &count),
              RECKONER_OK);
    EXPECT_EQ(count, 0u);
  }
}

}  // namespace
}  // namespace reckoner::test
