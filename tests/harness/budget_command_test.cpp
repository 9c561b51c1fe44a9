// SPDX-License-Identifier: MIT
// The command that compares the orders of updates under byte budgets.
#include "harness/commands/commands.hpp"
#include "harness/replay/replay.hpp"
#include "harness/sim/link.hpp"
#include "scenario/builtin/builtin.hpp"
#include "scenario/trace/csv.hpp"

#include <cstdio>
#include <string>

#include <CLI/CLI.hpp>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace reckoner::harness {
namespace {

int run(const std::string& arguments) {
  CLI::App app{"reckoner-harness"};
  int exit_code = 0;
  add_budget_command(app, exit_code);
  try {
    app.parse(arguments);
  } catch (const CLI::ParseError& error) {
    return error.get_exit_code();
  }
  return exit_code;
}

ReplayOptions under_budget(const char* network, double seconds, double bytes_per_second) {
  ReplayOptions options;
  options.links = {*find_network(network), *find_network(network)};
  options.seconds = seconds;
  options.budget.bytes_per_second = bytes_per_second;
  return options;
}

// 32 kbit/s are far too few for 100 walkers. The order by visible error must pay for itself, with the same
// bytes.
TEST(BudgetCommand, OrderByErrorShowsSmallerErrorsForTheSameBytes) {
  const std::string path = ::testing::TempDir() + "budget.json";
  ASSERT_EQ(
      run("budget --scenario crowd --entities 100 --kbps 32 --seconds 30 --seeds 1,2 --network intercity "
          "--json " +
          path),
      0);
  const auto text = scenario::read_text_file(path);
  ASSERT_TRUE(text) << text.error();
  const auto json = nlohmann::json::parse(*text);
  ASSERT_EQ(json["cases"].size(), 1u);
  const auto& one = json["cases"][0];
  EXPECT_EQ(one["source"], "crowd");
  EXPECT_EQ(one["entities"], 100);
  EXPECT_LT(one["ratio"].get<double>(), 0.85);
  EXPECT_DOUBLE_EQ(one["ratio"].get<double>(),
                   one["error_m_p95"].get<double>() / one["error_m_p95_by_waiting"].get<double>());
  EXPECT_EQ(json["ratio"], json["largest_ratio"]);
  for (const char* bytes : {"wire_bytes_per_s", "wire_bytes_per_s_by_waiting"}) {
    EXPECT_GT(one[bytes].get<double>(), 0.9 * 4000.0) << bytes;
    EXPECT_LT(one[bytes].get<double>(), 1.05 * 4000.0) << bytes;
  }
  std::remove(path.c_str());
}

// With enough bytes for everything, no order is needed, and both runs are equal to the last bit.
TEST(BudgetCommand, OrderDoesNotMatterIfAllUpdatesFit) {
  const auto source = scenario::make_builtin("crowd", 20, 1);
  ASSERT_TRUE(source);
  ReplayOptions options = under_budget("wifi", 10.0, 1e6);
  const auto ours = replay(**source, options);
  options.method = "without-error-order";
  const auto other = replay(**source, options);
  ASSERT_TRUE(ours && other);
  EXPECT_EQ(ours->run.now_error_m.p95, other->run.now_error_m.p95);
  EXPECT_EQ(ours->run.down->wire_bytes, other->run.down->wire_bytes);
}

// Nothing waits for ever. A car without updates would soon be tens of metres off, and stay so.
TEST(BudgetCommand, NoEntityStarves) {
  const auto source = scenario::make_builtin("traffic", 200, 1);
  ASSERT_TRUE(source);
  const auto result = replay(**source, under_budget("lan", 40.0, 4000.0));
  ASSERT_TRUE(result) << result.error();
  for (std::size_t i = 0; i < result->entities.size(); ++i)
    EXPECT_LT(result->entities[i].now_error_m.p50, 1.0) << i;
}

TEST(BudgetCommand, BadOptionsAreRefused) {
  for (const char* bad : {"budget --kbps 0", "budget --entities 0", "budget --scenario nonsense --seconds 5",
                          "budget --trace missing.csv", "budget --mode later", "budget --network moon"})
    EXPECT_NE(run(bad), 0) << bad;
}

}  // namespace
}  // namespace reckoner::harness
