// SPDX-License-Identifier: MIT
// The settings of a client: Client::create() checks all of them, and its errors name the setting, the value
// and the range.
#include "client/src/client_settings.hpp"
#include "harness/sim/sim_transport.hpp"
#include "net/src/messages/messages.hpp"

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <reckoner/client/client.hpp>

namespace reckoner::test {
namespace {

template <class Change>
std::string client_error_after(Change change) {
  ClientConfig config;
  change(config);
  harness::SimNetwork network{{}};
  const auto client = Client::create(config, network.add_client(kProtocolVersion));
  return client ? std::string() : client.error();
}

TEST(ClientSettings, ErrorsNameTheSettingItsValueAndItsRange) {
  EXPECT_EQ(client_error_after([](auto&) {}), "");
  EXPECT_EQ(client_error_after([](auto& c) { c.ack_interval_s = 0.2; }),
            "ack_interval_s is 0.2; it must be from 0 to 0.1 s");
  EXPECT_EQ(client_error_after([](auto& c) { c.playout.delay_s = 3.0; }),
            "playout.delay_s is 3; it must be from 0 to 2 s");
  EXPECT_EQ(client_error_after([](auto& c) { c.playout.mode = static_cast<PlayoutMode>(4); }),
            "playout.mode is 4; it must be present, adaptive, delayed or ahead");
  EXPECT_EQ(client_error_after([](auto& c) { c.playout.blend_curve = static_cast<BlendCurve>(2); }),
            "playout.blend_curve is 2; it must be cubic or damped");
  EXPECT_EQ(client_error_after([](auto& c) { c.reconnect.growth = 0.5; }),
            "reconnect.growth is 0.5; it must be from 1 to 1000");
  EXPECT_EQ(client_error_after([](auto& c) { c.max_entities = 0; }),
            "max_entities is 0; it must be from 1 to 1048576 entities");
  EXPECT_EQ(client_error_after([](auto& c) { c.archetypes.clear(); }),
            "there are 0 archetypes; there must be from 1 to 256");
}

template <class Table, class Set>
void expect_enforced(const Table& table, const std::string& prefix, Set set) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  for (const auto& row : table) {
    const auto error_at = [&](double value) {
      return client_error_after([&](ClientConfig& c) { set(row, c, value); });
    };
    EXPECT_EQ(error_at(row.least), "") << row.name;
    EXPECT_EQ(error_at(row.most), "") << row.name;
    if (!row.zero.empty()) {
      EXPECT_EQ(error_at(0.0), "") << row.name;
    }
    std::vector<double> wrong_values;
    if (row.is_whole) {
      wrong_values.push_back(row.most + 1.0);
      // Whole settings are unsigned: no value below 0 can be stored in one.
      if (row.least >= 1.0) wrong_values.push_back(row.least - 1.0);
    } else {
      wrong_values = {std::nextafter(row.most, kInfinity), std::nextafter(row.least, -kInfinity),
                      std::nan(""), kInfinity, -kInfinity};
    }
    for (const double wrong : wrong_values)
      EXPECT_TRUE(error_at(wrong).starts_with(prefix + std::string(row.name) + " is ")) << row.name << wrong;
  }
}

TEST(ClientSettings, EveryRangeIsEnforced) {
  expect_enforced(kClientSettings, "", [](const auto& row, ClientConfig& c, double v) { row.set(c, v); });
  expect_enforced(kPlayoutSettings, "playout.",
                  [](const auto& row, ClientConfig& c, double v) { row.set(c.playout, v); });
}

}  // namespace
}  // namespace reckoner::test
