// SPDX-License-Identifier: MIT
// A C library that was built without reckoner::web.
#include <string>

#include <gtest/gtest.h>
#include <reckoner_web.h>

namespace reckoner::test {
namespace {

TEST(CWithoutWeb, SaysThatItCannotListenForBrowsers) {
  reckoner_web_config web;
  reckoner_web_config_init(&web, sizeof web);
  EXPECT_EQ(web.struct_size, sizeof web);
  reckoner_server_config config;
  reckoner_server_config_init(&config, sizeof config);
  reckoner_archetype car;
  reckoner_archetype_init(&car, sizeof car);
  config.archetypes = &car;
  config.archetype_count = 1;
  config.host = "127.0.0.1";
  config.insecure = 1;
  config.web = &web;
  reckoner_server* server = nullptr;
  char why[200] = {};
  EXPECT_EQ(reckoner_server_create(&config, &server, why, sizeof why), RECKONER_ERROR_ARGUMENT);
  EXPECT_EQ(server, nullptr);
  EXPECT_NE(std::string(why).find("built without reckoner::web"), std::string::npos) << why;
  config.web = nullptr;
  ASSERT_EQ(reckoner_server_create(&config, &server, why, sizeof why), RECKONER_OK) << why;
  EXPECT_EQ(reckoner_web_port(server), 0);
  EXPECT_EQ(reckoner_web_counts(server, nullptr, nullptr), RECKONER_ERROR_REFUSED);
  EXPECT_EQ(reckoner_web_channels(server, nullptr, nullptr), RECKONER_ERROR_REFUSED);
  reckoner_server_destroy(server);
}

}  // namespace
}  // namespace reckoner::test
