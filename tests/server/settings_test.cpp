// SPDX-License-Identifier: MIT
// The settings of a server: Server::create() checks all of them, and its errors name the setting, the value
// and the range.
#include "harness/sim/sim_transport.hpp"
#include "net/src/config/archetype_settings.hpp"
#include "server/src/server_settings.hpp"
#include "server/src/test_switches.hpp"

#include <cmath>
#include <limits>
#include <string>

#include <gtest/gtest.h>

#include <reckoner/server/server.hpp>

namespace reckoner::test {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();

// The error of Server::create(); empty if the server was made.
std::string create_error(const ServerConfig& config) {
  harness::SimNetwork network{{}};
  const auto server = Server::create(config, network.server());
  return server ? std::string() : server.error();
}

template <class Change>
std::string error_after(Change change) {
  ServerConfig config;
  change(config);
  return create_error(config);
}

TEST(ServerSettings, DefaultsAreValid) {
  EXPECT_EQ(create_error({}), "");
}

TEST(ServerSettings, ErrorsNameTheSettingItsValueAndItsRange) {
  EXPECT_EQ(error_after([](auto& c) { c.tick_rate_hz = 0.0; }),
            "tick_rate_hz is 0; it must be from 1 to 1000 Hz");
  EXPECT_EQ(error_after([](auto& c) { c.tick_rate_hz = std::nan(""); }),
            "tick_rate_hz is nan; it must be from 1 to 1000 Hz");
  EXPECT_EQ(error_after([](auto& c) { c.interest.radius_m = kInfinite; }),
            "interest.radius_m is inf; it must be from 0.001 to 1e12 m, or 0 (any distance)");
  EXPECT_EQ(error_after([](auto& c) { c.max_clients = 65'536; }),
            "max_clients is 65536; it must be from 1 to 65535 clients");
  EXPECT_EQ(error_after([](auto& c) { c.updates_per_second = c.fixed_rate_hz = 5.0; }),
            "updates_per_second is 5 and fixed_rate_hz is 5; at most one of them may be above 0");
}

// Tries the bounds of every setting and the values beside them.
TEST(ServerSettings, EveryRangeIsEnforced) {
  for (const auto& row : kServerSettings) {
    const auto error_at = [&](double value) {
      return error_after([&](ServerConfig& c) { row.set(c, value); });
    };
    if (row.name != "threads" && row.name != "max_entities") {  // their largest values cost much
      EXPECT_EQ(error_at(row.least), "") << row.name;
      EXPECT_EQ(error_at(row.most), "") << row.name;
    }
    const double above = row.is_whole ? row.most + 1.0 : std::nextafter(row.most, kInfinite);
    EXPECT_TRUE(error_at(above).starts_with(std::string(row.name) + " is ")) << row.name << error_at(above);
    if (!row.zero.empty()) {
      EXPECT_EQ(error_at(0.0), "") << row.name;
    }
    if (row.is_whole) continue;
    for (const double wrong : {std::nextafter(row.least, -kInfinite), std::nan(""), kInfinite, -kInfinite})
      EXPECT_TRUE(error_at(wrong).starts_with(std::string(row.name) + " is ")) << row.name << wrong;
  }
}

TEST(ServerSettings, InvalidArchetypesAreNamed) {
  EXPECT_EQ(error_after([](auto& c) { c.archetypes.clear(); }),
            "there are 0 archetypes; there must be from 1 to 256");
  EXPECT_EQ(error_after([](auto& c) { c.archetypes.resize(257); }),
            "there are 257 archetypes; there must be from 1 to 256");
  EXPECT_EQ(error_after([](auto& c) { c.archetypes.resize(2); }),
            "archetypes[1].name is 'entity', which an earlier archetype has");
  EXPECT_EQ(error_after([](auto& c) { c.archetypes[0].name = std::string(33, 'x'); }),
            "archetypes[0].name has 33 bytes; it must have at most 32");
  EXPECT_EQ(error_after([](auto& c) { c.archetypes[0].threshold_m = 0.0; }),
            "archetypes[0].threshold_m is 0; it must be from 1e-6 to 1e6 m");
  EXPECT_EQ(error_after([](auto& c) { c.archetypes[0].max_speed_mps = kInfinite; }),
            "archetypes[0].max_speed_mps is inf; it must be from 1e-6 to 1e12 m/s");
  EXPECT_EQ(error_after([](auto& c) { c.archetypes[0].codes = "codes-1 1 2"; }),
            "archetypes[0].codes is not a text of reckoner-harness replay --learn-codes");
  EXPECT_EQ(error_after([](auto& c) {
              c.archetypes[0].fields = {{"health", IntegerField{0, 100, 101}}};
            }),
            "archetypes[0].fields[0] ('health') has the initial value 101; it must be from 0 to 100");
  EXPECT_EQ(error_after([](auto& c) {
              c.archetypes[0].fields = {{"on", BooleanField{}}, {"on", BooleanField{}}};
            }),
            "archetypes[0].fields[1].name is 'on', which an earlier field has");
  EXPECT_EQ(error_after([](auto& c) {
              c.archetypes[0].fields.resize(33, {"x", BooleanField{}});
            }),
            "archetypes[0].fields has 33 entries; it must have at most 32");
}

TEST(ServerSettings, TestServerEndsTheProgramIfTheConfigurationIsInvalid) {
  harness::SimNetwork network{{}};
  EXPECT_DEATH((void)make_test_server({.tick_rate_hz = 0.0}, network.server()),
               "tick_rate_hz is 0; it must be from 1 to 1000 Hz");
}

}  // namespace
}  // namespace reckoner::test
