// SPDX-License-Identifier: MIT
// What the C API reveals of the internals: the log, the counters, and the true, published and shown poses.
#include "pair.hpp"

#include <cmath>
#include <cstring>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace reckoner::test {
namespace {

struct LogCapture {
  std::vector<std::string> lines;
  std::map<std::string, std::uint64_t> client_of;  ///< client by event
  std::set<std::string> texts;

  static void hear(void* user, const reckoner_log_record* record) {
    auto& self = *static_cast<LogCapture*>(user);
    ASSERT_EQ(record->struct_size, sizeof(reckoner_log_record));
    self.lines.emplace_back(record->line);
    EXPECT_EQ(self.lines.back().find(record->event), 0u);
    for (std::uint32_t i = 0; i < record->field_count; ++i) {
      const reckoner_log_field& field = record->fields[i];
      EXPECT_NE(self.lines.back().find(std::string(" ") + field.name + "="), std::string::npos);
      EXPECT_EQ(field.text != nullptr, field.type == RECKONER_LOG_TEXT);
      if (std::strcmp(field.name, "client") == 0) self.client_of[record->event] = field.unsigned_integer;
      if (field.text != nullptr) self.texts.insert(field.text);
    }
  }
  [[nodiscard]] bool any(const std::string& start) const {
    for (const std::string& line : lines) {
      if (line.starts_with(start)) return true;
    }
    return false;
  }
};

TEST(CLog, ReportsEventsAtBothEnds) {
  Pair pair;
  LogCapture server, client;
  pair.server_config.log = pair.client_config.log = LogCapture::hear;
  pair.server_config.log_user = &server;
  pair.client_config.log_user = &client;
  EXPECT_EQ(pair.server_config.log_least, RECKONER_LOG_INFO);
  pair.client_config.log_least = RECKONER_LOG_DEBUG;
  ASSERT_TRUE(pair.start());
  EXPECT_TRUE(server.any("insecure: anyone can join")) << "logged before any client joins";
  EXPECT_TRUE(server.any("client joined"));
  EXPECT_EQ(server.client_of["client joined"], pair.peer);
  EXPECT_FALSE(server.any("peer connected")) << "a debug entry, hidden at this level";
  EXPECT_TRUE(client.any("peer connected"));
  EXPECT_TRUE(client.any("joined client="));
}

TEST(CLog, RefusedClientIsLoggedWithTheReason) {
  Pair pair;
  LogCapture server;
  pair.server_config.log = LogCapture::hear;
  pair.server_config.log_user = &server;
  reckoner_archetype other = pair.kind;
  other.name = "something else";
  pair.client_config.archetypes = &other;
  ASSERT_EQ(reckoner_server_create(&pair.server_config, &pair.server, nullptr, 0), RECKONER_OK);
  pair.client_config.port = reckoner_server_port(pair.server);
  ASSERT_EQ(reckoner_client_create(&pair.client_config, &pair.client, nullptr, 0), RECKONER_OK);
  ASSERT_TRUE(pair.until([&] { return reckoner_client_status(pair.client) == RECKONER_STATUS_REFUSED; }));
  EXPECT_TRUE(server.any("client refused reason="));
  EXPECT_TRUE(server.texts.contains(reckoner_client_refusal(pair.client)));
}

TEST(CRefusals, HaveNamesAndCounts) {
  std::set<std::string> names;
  std::uint32_t reasons = 0;
  for (; reckoner_refusal_name(reasons) != nullptr; ++reasons)
    names.insert(reckoner_refusal_name(reasons));
  EXPECT_EQ(names.size(), reasons);
  EXPECT_GT(reasons, 15u);
  EXPECT_TRUE(names.contains("malformed"));

  Pair pair;
  ASSERT_TRUE(pair.start());
  for (std::uint32_t reason = 0; reason < reasons; ++reason) {
    std::uint64_t payloads = 1, datagrams = 1;
    ASSERT_EQ(reckoner_server_refused(pair.server, reason, &payloads, &datagrams), RECKONER_OK);
    EXPECT_EQ(payloads + datagrams, 0u) << reckoner_refusal_name(reason);
    ASSERT_EQ(reckoner_client_refused(pair.client, reason, &payloads, nullptr), RECKONER_OK);
  }
  EXPECT_EQ(reckoner_server_refused(pair.server, reasons, nullptr, nullptr), RECKONER_ERROR_UNKNOWN);
  EXPECT_EQ(reckoner_client_refused(pair.client, reasons, nullptr, nullptr), RECKONER_ERROR_UNKNOWN);
}

TEST(CDebug, ReportsTruthPublishedAndShownPoses) {
  Pair pair;
  ASSERT_TRUE(pair.start());
  const auto circling = [](double time_s) {
    reckoner_state state = at(10.0 * std::cos(time_s), 10.0 * std::sin(time_s), 1.0);
    state.velocity[0] = static_cast<float>(-10.0 * std::sin(time_s));
    state.velocity[1] = static_cast<float>(10.0 * std::cos(time_s));
    return state;
  };
  reckoner_entity kite = 0;
  const reckoner_state first = circling(pair.now_s());
  ASSERT_EQ(reckoner_server_spawn(pair.server, 0, "kite", &first, 0, &kite), RECKONER_OK);
  reckoner_entity_debug debug{};
  debug.struct_size = sizeof debug;
  reckoner_state published;
  double published_s = 0.0;
  EXPECT_EQ(reckoner_server_debug(pair.server, kite, &debug), RECKONER_NOTHING);
  EXPECT_EQ(reckoner_server_published(pair.server, kite, &published, nullptr), RECKONER_NOTHING);
  EXPECT_EQ(reckoner_server_debug(pair.server, kite + 1, &debug), RECKONER_ERROR_UNKNOWN);
  reckoner_state expected = first;
  pair.each_tick = [&](double time_s) {
    expected = circling(time_s);
    EXPECT_EQ(reckoner_server_move(pair.server, kite, &expected), RECKONER_OK);
  };
  ASSERT_TRUE(pair.until([&] { return pair.had(RECKONER_CLIENT_EVENT_SPAWNED, kite); }));
  pair.run(1.0);

  ASSERT_EQ(reckoner_server_debug(pair.server, kite, &debug), RECKONER_OK);
  EXPECT_EQ(debug.entity, kite);
  EXPECT_EQ(debug.truth.position[0], expected.position[0]);
  EXPECT_EQ(debug.clients, 1u);
  EXPECT_EQ(debug.threshold_m, 0.05);
  EXPECT_NEAR(debug.error_m,
              std::hypot(debug.published.position[0] - debug.truth.position[0],
                         debug.published.position[1] - debug.truth.position[1],
                         debug.published.position[2] - debug.truth.position[2]),
              1e-6);
  EXPECT_LT(debug.error_m, 0.2);
  ASSERT_EQ(reckoner_server_published(pair.server, kite, &published, &published_s), RECKONER_OK);
  EXPECT_NEAR(std::hypot(published.position[0], published.position[1]), 10.0, 0.2);
  EXPECT_LE(published_s, pair.now_s());

  const reckoner_shown shown = pair.shown(kite);
  EXPECT_EQ(shown.on_route, 0);
  reckoner_shown_debug at_client{};
  at_client.struct_size = sizeof at_client;
  ASSERT_EQ(reckoner_client_debug(pair.client, kite, &at_client), RECKONER_OK);
  EXPECT_EQ(at_client.shown.position[0], shown.state.position[0]);
  EXPECT_EQ(at_client.shown_time_s, shown.shown_time_s);
  EXPECT_EQ(at_client.threshold_m, 0.05);
  EXPECT_EQ(at_client.owned, 0);
  EXPECT_LT(at_client.blend_m, 1.0);
  EXPECT_EQ(reckoner_client_debug(pair.client, kite + 1, &at_client), RECKONER_NOTHING);

  reckoner_server_stats sent{};
  sent.struct_size = sizeof sent;
  ASSERT_EQ(reckoner_server_get_stats(pair.server, &sent), RECKONER_OK);
  EXPECT_EQ(sent.published_first + sent.published_owner + sent.published_teleport + sent.published_frame +
                sent.published_route + sent.published_due,
            sent.publishes);
  EXPECT_GT(sent.published_due, 0u);
  EXPECT_GT(sent.update_bits_sent, 0u);
  EXPECT_GT(sent.wire_datagrams_sent, 10u);
  EXPECT_GT(sent.wire_bytes_sent, sent.payload_bytes_sent);
  reckoner_client_id clients[2] = {0, 0};
  std::size_t count = 0;
  ASSERT_EQ(reckoner_server_clients(pair.server, clients, 2, &count), RECKONER_OK);
  ASSERT_EQ(count, 1u);
  EXPECT_EQ(clients[0], pair.peer);
  EXPECT_EQ(reckoner_server_clients(pair.server, nullptr, 0, &count), RECKONER_ERROR_CAPACITY);
  EXPECT_EQ(reckoner_server_clients(pair.server, nullptr, 2, &count), RECKONER_ERROR_ARGUMENT);
  reckoner_session_stats link{};
  EXPECT_EQ(reckoner_server_get_session_stats(pair.server, pair.peer, &link), RECKONER_ERROR_STRUCT);
  link.struct_size = sizeof link;
  ASSERT_EQ(reckoner_server_get_session_stats(pair.server, pair.peer, &link), RECKONER_OK);
  EXPECT_EQ(link.connected, 1u);
  EXPECT_GT(link.round_trip_s, 0.0);
  EXPECT_EQ(link.entities, 1u);
  EXPECT_GT(link.bytes_sent, 500u);
  EXPECT_GT(link.motions_sent, 5u);
  EXPECT_EQ(reckoner_server_get_session_stats(pair.server, pair.peer + 1, &link), RECKONER_NOTHING);
  reckoner_client_stats got{};
  got.struct_size = sizeof got;
  ASSERT_EQ(reckoner_client_get_stats(pair.client, &got), RECKONER_OK);
  EXPECT_GT(got.wire_datagrams_received, 10u);
  EXPECT_GT(got.payload_bytes_received, 0u);
}

}  // namespace
}  // namespace reckoner::test
