// SPDX-License-Identifier: MIT
#include "harness/commands/cli_options.hpp"

#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <gtest/gtest.h>

namespace reckoner::harness {
namespace {

Result<LinkPair> parsed(std::vector<std::string> arguments) {
  CLI::App app;
  LinkArguments link;
  add_link_options(app, link);
  std::reverse(arguments.begin(), arguments.end());  // the order that CLI11 expects
  try {
    app.parse(arguments);
  } catch (const CLI::ParseError& error) {
    return Error{error.what()};
  }
  return links_of(link);
}

TEST(CliOptions, NamedNetworkAppliesToBothDirections) {
  const auto links = parsed({"--network", "intercity"});
  ASSERT_TRUE(links) << links.error();
  EXPECT_EQ(links->up, links->down);
  EXPECT_EQ(links->up.latency_ms, 80.0);
}

TEST(CliOptions, OptionForOneDirectionOverridesBothInAnyOrder) {
  for (const auto& arguments :
       {std::vector<std::string>{"--loss", "5", "--down-loss", "9", "--up-latency-ms", "30"},
        std::vector<std::string>{"--up-latency-ms", "30", "--down-loss", "9", "--loss", "5"}}) {
    const auto links = parsed(arguments);
    ASSERT_TRUE(links) << links.error();
    EXPECT_EQ(links->up.loss_percent, 5.0);
    EXPECT_EQ(links->down.loss_percent, 9.0);
    EXPECT_EQ(links->up.latency_ms, 30.0);
    EXPECT_EQ(links->down.latency_ms, 0.0);
  }
}

TEST(CliOptions, RefusesUnknownNetworksAndValuesOutOfRange) {
  const auto unknown = parsed({"--network", "moon"});
  ASSERT_FALSE(unknown);
  EXPECT_NE(unknown.error().find("intercity"), std::string::npos) << "the error lists the valid names";
  EXPECT_FALSE(parsed({"--loss", "101"}));
  EXPECT_FALSE(parsed({"--latency-ms", "-1"}));
  EXPECT_FALSE(parsed({"--burst", "many"}));
}

TEST(CliOptions, TransportsAreSimUdpAndEnet) {
  RunArguments run;
  EXPECT_EQ(replay_options(run, {}, {})->transport, ReplayTransport::sim);
  run.transport = "udp";
  EXPECT_EQ(replay_options(run, {}, {})->transport, ReplayTransport::udp);
  run.transport = "enet";
  EXPECT_EQ(replay_options(run, {}, {})->transport, ReplayTransport::enet);
  run.transport = "pigeon";
  const auto options = replay_options(run, {}, {});
  ASSERT_FALSE(options);
  EXPECT_NE(options.error().find("pigeon"), std::string::npos);
}

}  // namespace
}  // namespace reckoner::harness
