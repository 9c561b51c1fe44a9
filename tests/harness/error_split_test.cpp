// SPDX-License-Identifier: MIT
#include "harness/replay/error_split.hpp"

#include "harness/commands/commands.hpp"
#include "harness/report/error_split_output.hpp"
#include "scenario/builtin/builtin.hpp"
#include "scenario/trace/csv.hpp"

#include <string>

#include <CLI/CLI.hpp>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace reckoner::harness {
namespace {

Comparison two_motions(const char* network) {
  Comparison comparison;
  for (const char* name : {"hop", "crowd"}) {
    auto source = scenario::make_builtin(name, 2);
    EXPECT_TRUE(source) << source.error();
    comparison.sources.push_back({name, std::move(*source)});
  }
  comparison.networks.push_back({network, {*find_network(network), *find_network(network)}});
  comparison.seeds = {1, 2};
  comparison.options.seconds = 8.0;
  comparison.options.budget.updates_per_second = 10.0;
  return comparison;
}

// The p95 same-time error of one method, all pictures of all seeds together.
double pooled_error_m(Comparison comparison, const char* method) {
  comparison.sources.resize(1);
  comparison.methods = {method};
  const auto compared = compare(comparison);
  EXPECT_TRUE(compared) << compared.error();
  return compared->pooled.at(0).figures.now_error_m.p95;
}

TEST(ErrorSplit, PartsAddUpToTheError) {
  const Comparison comparison = two_motions("mobile");
  std::size_t last = 0;
  const auto splits = split_errors(comparison, [&](std::size_t done, std::size_t all) {
    EXPECT_EQ(done, ++last);
    EXPECT_EQ(all, 20u);
  });
  ASSERT_TRUE(splits) << splits.error();
  EXPECT_EQ(last, 20u);
  ASSERT_EQ(splits->size(), 2u);
  EXPECT_EQ((*splits)[1].trace, "crowd");
  EXPECT_EQ((*splits)[1].network, "mobile");
  EXPECT_EQ((*splits)[1].seeds, comparison.seeds);
  for (const ErrorSplit& one : *splits) {
    EXPECT_DOUBLE_EQ(one.error_m, one.prediction_m + one.age_m + one.blend_m + one.loss_m) << one.trace;
    EXPECT_GT(one.prediction_m, 0.0);
    EXPECT_GT(one.age_m, 0.0) << one.trace << ": updates travel for at least 80 ms";
  }
  const ErrorSplit& hop = splits->front();
  EXPECT_EQ(hop.error_m, pooled_error_m(comparison, "reckoner"));
  EXPECT_EQ(hop.snap_m, pooled_error_m(comparison, "snap"));
  EXPECT_DOUBLE_EQ(hop.error_m - hop.blend_m, pooled_error_m(comparison, "without-blend"));
}

TEST(ErrorSplit, CausesThatAreAbsentHaveNoPart) {
  Comparison comparison = two_motions("lan");
  comparison.networks.front().links = {};
  const auto perfect = split_errors(comparison);
  ASSERT_TRUE(perfect) << perfect.error();
  EXPECT_EQ(perfect->front().age_m, 0.0);
  EXPECT_EQ(perfect->front().loss_m, 0.0);

  comparison = two_motions("intercity");
  comparison.options.blend_frames = 0.0;
  const auto unblended = split_errors(comparison);
  ASSERT_TRUE(unblended) << unblended.error();
  EXPECT_EQ(unblended->front().blend_m, 0.0);
  EXPECT_EQ(unblended->front().error_m, pooled_error_m(comparison, "without-blend"));
}

TEST(ErrorSplit, RefusesRunsThatItCannotSplit) {
  const auto message_of = [](const auto& change) {
    Comparison comparison = two_motions("lan");
    change(comparison.options);
    const auto splits = split_errors(comparison);
    return splits ? std::string{} : splits.error();
  };
  EXPECT_NE(message_of([](ReplayOptions& o) { o.playout.mode = PlayoutMode::adaptive; }).find("present mode"),
            std::string::npos);
  EXPECT_NE(message_of([](ReplayOptions& o) { o.switches.resize(1); }).find("present mode"),
            std::string::npos);
  EXPECT_NE(message_of([](ReplayOptions& o) { o.transport = ReplayTransport::udp; }).find("transport sim"),
            std::string::npos);
  EXPECT_NE(
      message_of([](ReplayOptions& o) { o.link_script = *LinkScript::parse("1 loss=5\n"); }).find("script"),
      std::string::npos);
  EXPECT_NE(message_of([](ReplayOptions& o) { o.owner_links.emplace(); }).find("two links"),
            std::string::npos);
}

TEST(ErrorSplit, TextAndJsonHaveMetresAndShares) {
  const std::vector<ErrorSplit> splits{{"a", "lan", {1, 2}, 0.5, 0.2, 0.25, -0.05, 0.1, 2.0},
                                       {"rest", "lan", {1, 2}, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0}};
  const std::string text = error_split_table(splits);
  EXPECT_NE(text.find("0.2500 (  12.5)"), std::string::npos) << text;
  EXPECT_NE(text.find("-0.0500 (  -2.5)"), std::string::npos) << text;
  const auto json = error_split_json(splits);
  ASSERT_EQ(json.size(), 2u);
  EXPECT_EQ(json[0]["seeds"], (std::vector<int>{1, 2}));
  EXPECT_EQ(json[0]["loss_m"], 0.1);
  EXPECT_EQ(json[0]["share_of_snap"]["prediction"], 0.1);
  EXPECT_EQ(json[0]["share_of_snap"]["now_error"], 0.25);
  EXPECT_TRUE(json[1]["share_of_snap"].is_null()) << "snap has no error";
}

int run_split(const std::string& arguments) {
  CLI::App app{"reckoner-harness"};
  int exit_code = 0;
  add_compare_command(app, exit_code);
  try {
    app.parse("compare --scenario hop --seconds 4 --seeds 1 --network wifi " + arguments);
  } catch (const CLI::ParseError& error) {
    return error.get_exit_code();
  }
  return exit_code;
}

TEST(ErrorSplit, CommandOnlyAddsToTheJson) {
  const auto json_of = [](const std::string& arguments) {
    const std::string path = ::testing::TempDir() + "error_split.json";
    EXPECT_EQ(run_split(arguments + " --json " + path), 0) << arguments;
    const auto text = scenario::read_text_file(path);
    return text ? nlohmann::ordered_json::parse(*text) : nlohmann::ordered_json{};
  };
  auto split = json_of("--split");
  ASSERT_EQ(split["error_split"].size(), 1u);
  EXPECT_EQ(split["error_split"][0]["now_error_m_p95"], split["pooled"][0]["now_error_m"]["p95"]);
  EXPECT_EQ(split["error_split"][0]["snap_now_error_m_p95"], split["pooled"][1]["now_error_m"]["p95"]);
  split.erase("error_split");
  EXPECT_EQ(split, json_of("--methods reckoner,snap"));
  EXPECT_NE(run_split("--split --ablate"), 0);
  EXPECT_NE(run_split("--split --equal-error"), 0);
  EXPECT_NE(run_split("--split --mode adaptive"), 0);
}

}  // namespace
}  // namespace reckoner::harness
