// SPDX-License-Identifier: MIT
#include "harness/replay/compare.hpp"

#include "harness/methods/equal_error.hpp"
#include "harness/process/scratch_folder.hpp"
#include "harness/report/compare_output.hpp"
#include "harness/report/report.hpp"
#include "harness/report/report_html.hpp"
#include "scenario/builtin/builtin.hpp"
#include "scenario/trace/trace.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace reckoner::harness {
namespace {

CompareRun made_up(const char* trace, const char* method, std::uint64_t seed, double error_m) {
  CompareRun run{trace, "lan", method, {seed}, {}};
  run.figures.now_error_m.p95 = error_m;
  run.figures.shown_error_m.p95 = 2.0;
  run.figures.entity_seconds = 10.0;
  run.figures.down = Traffic{100, 1000, method == std::string("reckoner") ? 600u : 1200u};
  return run;
}

Comparison small(std::size_t threads) {
  Comparison comparison;
  for (const char* name : {"orbit", "crowd"}) {
    auto source = scenario::make_builtin(name, 2);
    EXPECT_TRUE(source) << source.error();
    comparison.sources.push_back({name, std::move(*source)});
  }
  for (const char* name : {"lan", "mobile"})
    comparison.networks.push_back({name, {*find_network(name), *find_network(name)}});
  comparison.methods = {"snap", "reckoner"};
  comparison.seeds = {1, 2};
  comparison.options.seconds = 6.0;
  comparison.threads = threads;
  return comparison;
}

TEST(EqualError, FindsTheLeastBudgetForTheSameError) {
  Comparison comparison = small(2);
  comparison.sources.resize(1);
  comparison.networks.resize(1);
  comparison.options.playout.mode = PlayoutMode::adaptive;
  const auto found = bytes_at_equal_error(comparison);
  ASSERT_TRUE(found) << found.error();
  ASSERT_EQ(found->size(), 1u);
  const EqualError& one = found->front();
  ASSERT_TRUE(one.reached);
  // One datagram contains all entities: a stamp, then an id, 12 bytes and 4 bytes for each entity.
  const double entities = static_cast<double>(comparison.sources[0].source->size());
  EXPECT_NEAR(one.plain_bytes_per_s, kPlainUpdatesPerS * (19.0 + 42.0 / entities), 60.0);
  const auto error_at = [&](double updates_per_second) {
    double sum = 0.0;
    for (const std::uint64_t seed : comparison.seeds) {
      ReplayOptions options = comparison.options;
      options.links = comparison.networks[0].links;
      options.seed = seed;
      options.budget.updates_per_second = updates_per_second;
      sum += replay(*comparison.sources[0].source, options)->run.shown_error_m.p95;
    }
    return sum / static_cast<double>(comparison.seeds.size());
  };
  EXPECT_LE(error_at(one.updates_per_second), one.error_m);
  EXPECT_GT(error_at(0.9 * one.updates_per_second), one.error_m);
  EXPECT_LT(mean_ratio(*found, comparison.networks[0].name), 1.0);
}

TEST(Compare, RatiosAreClampedBelow) {
  EXPECT_DOUBLE_EQ(clamped_ratio(1.0, 2.0), 0.5);
  EXPECT_DOUBLE_EQ(clamped_ratio(1.0, 100.0), 0.25);
  EXPECT_DOUBLE_EQ(clamped_ratio(30.0, 2.0), 15.0);
  EXPECT_DOUBLE_EQ(clamped_ratio(0.0, 0.0), 1.0);
  EXPECT_DOUBLE_EQ(clamped_ratio(1.0, 0.0), 4.0);
}

TEST(Compare, SeedsAreAveragedBeforeRatiosAndRatiosGeometrically) {
  // a: mean 2 against mean 4 is 0.5 (the mean of the seeds' ratios would be 1.5 / 1.75); b: clamped to 0.25.
  const std::vector<CompareRun> runs{made_up("a", "reckoner", 1, 1.0), made_up("a", "snap", 1, 4.0),
                                     made_up("a", "reckoner", 2, 3.0), made_up("a", "snap", 2, 4.0),
                                     made_up("b", "snap", 1, 9.0),     made_up("b", "reckoner", 1, 0.01)};
  const auto ratios = ratios_of(runs, false);
  ASSERT_EQ(ratios.size(), 1u);
  EXPECT_EQ(ratios[0].method, "snap");
  ASSERT_EQ(ratios[0].means.size(), 3u) << "no trace has an orientation";
  EXPECT_EQ(ratios[0].means[0].figure, "now_error_m_p95");
  EXPECT_NEAR(ratios[0].means[0].ratio, std::sqrt(0.5 * 0.25), 1e-12);
  EXPECT_DOUBLE_EQ(ratios[0].means[0].worst, 0.5);
  EXPECT_EQ(ratios[0].means[0].worst_trace, "a");
  EXPECT_EQ(ratios[0].means[2].figure, "wire_bytes_per_s");
  EXPECT_NEAR(ratios[0].means[2].ratio, 0.5, 1e-12);
  EXPECT_DOUBLE_EQ(ratios_of(runs, true)[0].means[0].ratio, 1.0) << "buffered: the shown error counts";
}

TEST(Compare, ResultsDoNotDependOnTheThreads) {
  const auto one = compare(small(1));
  std::size_t heard = 0;
  const auto four = compare(small(4), [&](std::size_t done, std::size_t all) {
    EXPECT_EQ(done, ++heard);
    EXPECT_EQ(all, 16u);
  });
  ASSERT_TRUE(one) << one.error();
  ASSERT_TRUE(four) << four.error();
  EXPECT_EQ(heard, 16u);
  EXPECT_EQ(compare_json(*one, false, "present").dump(), compare_json(*four, false, "present").dump());
}

TEST(Compare, JsonHasEveryRunInOrderAndTheRatios) {
  const auto compared = compare(small(2));
  ASSERT_TRUE(compared) << compared.error();
  const auto json = compare_json(*compared, false, "present");
  ASSERT_EQ(json["runs"].size(), 16u);
  EXPECT_EQ(json["runs"][0]["trace"], "orbit");
  EXPECT_EQ(json["runs"][0]["network"], "lan");
  EXPECT_EQ(json["runs"][0]["method"], "snap");
  EXPECT_EQ(json["runs"][0]["seed"], 1);
  EXPECT_EQ(json["runs"][1]["method"], "reckoner");
  EXPECT_EQ(json["runs"][2]["seed"], 2);
  EXPECT_EQ(json["runs"][15]["network"], "mobile");
  EXPECT_TRUE(json["runs"][15]["now_error_m"]["p95"].is_number());
  ASSERT_EQ(json["ratios"].size(), 2u) << "per network";
  EXPECT_GE(json["ratios"][1]["now_error_m_p95"]["ratio"], kMinRatio);
  EXPECT_EQ(json["ratios"][1]["now_error_m_p95"]["traces"], 2);
}

TEST(Compare, BaselinesReachReckonersRateUnderThresholds) {
  const auto compared = compare(small(2));
  ASSERT_TRUE(compared) << compared.error();
  const std::vector<CompareRun>& runs = compared->runs;
  const auto rate = [](const Figures& f) { return static_cast<double>(f.down->updates) / f.entity_seconds; };
  for (std::size_t i = 0; i < runs.size(); i += 2)
    EXPECT_NEAR(rate(runs[i].figures), rate(runs[i + 1].figures), 1.0) << i;
}

TEST(Compare, PooledFiguresOfOneSeedAreThoseOfItsRun) {
  Comparison comparison = small(2);
  comparison.seeds = {2};
  const auto compared = compare(comparison);
  ASSERT_TRUE(compared) << compared.error();
  ASSERT_EQ(compared->pooled.size(), compared->runs.size());
  for (std::size_t i = 0; i < compared->runs.size(); ++i) {
    EXPECT_EQ(compared->pooled[i].method, compared->runs[i].method);
    EXPECT_EQ(to_json(compared->pooled[i].figures), to_json(compared->runs[i].figures)) << i;
  }
}

TEST(Compare, SamplesOfOneRunGiveItsFigures) {
  const Comparison comparison = small(1);
  ReplayOptions options = comparison.options;
  options.links = comparison.networks[1].links;
  options.keep_samples = true;
  const auto result = replay(*comparison.sources[1].source, options);
  ASSERT_TRUE(result) << result.error();
  ASSERT_TRUE(result->samples);
  EXPECT_EQ(to_json(result->samples->figures()), to_json(result->run));
}

TEST(Compare, PooledQuantilesLieBetweenThoseOfTheSeeds) {
  Comparison comparison = small(2);
  comparison.seeds = {1, 2, 3};
  const auto compared = compare(comparison);
  ASSERT_TRUE(compared) << compared.error();
  ASSERT_EQ(compared->runs.size(), 24u);
  ASSERT_EQ(compared->pooled.size(), 8u);
  for (const CompareRun& pooled : compared->pooled) {
    EXPECT_EQ(pooled.seeds, comparison.seeds);
    const Figures& all = pooled.figures;
    double least = 1e300;
    double largest = 0.0;
    double highest = 0.0;
    std::size_t count = 0;
    std::uint64_t bytes = 0;
    double entity_seconds = 0.0;
    for (const CompareRun& run : compared->runs) {
      if (run.trace != pooled.trace || run.network != pooled.network || run.method != pooled.method) continue;
      least = std::min(least, run.figures.now_error_m.p95);
      largest = std::max(largest, run.figures.now_error_m.p95);
      highest = std::max(highest, run.figures.now_error_m.max);
      count += run.figures.now_error_m.count;
      bytes += run.figures.down->wire_bytes;
      entity_seconds += run.figures.entity_seconds;
    }
    // Quantiles interpolate between pictures, which can move the pooled one by two pictures.
    EXPECT_LE(0.99 * least, all.now_error_m.p95) << pooled.trace << ' ' << pooled.network << pooled.method;
    EXPECT_GE(1.01 * largest, all.now_error_m.p95) << pooled.trace << ' ' << pooled.network << pooled.method;
    EXPECT_EQ(highest, all.now_error_m.max);
    EXPECT_EQ(count, all.now_error_m.count);
    EXPECT_EQ(bytes, all.down->wire_bytes);
    EXPECT_NEAR(entity_seconds, all.entity_seconds, 1e-9);
  }
}

TEST(Compare, JsonAndTableHaveThePooledFigures) {
  Comparison comparison = small(2);
  comparison.sources.resize(1);
  comparison.networks.erase(comparison.networks.begin());
  const auto compared = compare(comparison);
  ASSERT_TRUE(compared) << compared.error();
  const auto json = compare_json(*compared, false, "present");
  ASSERT_EQ(json["runs"].size(), 4u) << "one for each seed";
  EXPECT_FALSE(json["runs"][0].contains("seeds"));
  ASSERT_EQ(json["pooled"].size(), 2u);
  EXPECT_EQ(json["pooled"][0]["method"], "snap");
  EXPECT_EQ(json["pooled"][0]["seeds"], (std::vector<int>{1, 2}));
  EXPECT_FALSE(json["pooled"][0].contains("seed"));
  EXPECT_EQ(json["ratios"].size(), json["pooled_ratios"].size());
  const double error = json["pooled"][0]["now_error_m"]["p95"].get<double>();
  char cell[32];
  std::snprintf(cell, sizeof cell, "%14.4f", error);
  const std::string table = compare_table(*compared, false);
  EXPECT_NE(table.find(cell), std::string::npos) << table;
  EXPECT_NE(table.find("all pictures of 2 seeds together"), std::string::npos) << table;
}

TEST(Compare, ErrorNamesTheFailedRun) {
  Comparison comparison = small(2);
  comparison.methods = {"magic"};
  const auto runs = compare(comparison);
  ASSERT_FALSE(runs);
  EXPECT_NE(runs.error().find("orbit over lan, magic"), std::string::npos) << runs.error();
}

// The server refuses an entity beyond the world; snap, which has no world, shows it.
TEST(Compare, AMethodThatShowsNothingHasNoFigures) {
  std::string text = "t,x,y,z\n";
  for (int i = 0; i < 200; ++i)
    text += fmt::format("{:.2f},{:.3f},5000000,0\n", 0.05 * i, 0.1 * i);
  scenario::TraceOptions options;
  options.recentre = scenario::Recentre::never;
  auto source = scenario::parse_trace(text, "far", options);
  ASSERT_TRUE(source) << source.error();
  Comparison comparison = small(1);
  comparison.sources = {{"far", std::move(*source)}};
  comparison.networks.resize(1);
  comparison.methods = {"snap", "reckoner", "lerp-buffer"};
  comparison.options.budget.updates_per_second = 10.0;
  const auto compared = compare(comparison);
  ASSERT_TRUE(compared) << compared.error();
  ASSERT_EQ(compared->pooled.size(), 3u);
  EXPECT_EQ(compared->pooled[0].unshown, "");
  EXPECT_NE(compared->pooled[1].unshown.find("world_size_m"), std::string::npos)
      << compared->pooled[1].unshown;
  for (const bool buffered : {false, true}) {
    for (const MethodRatios& ratios : ratios_of(compared->pooled, buffered))
      EXPECT_TRUE(ratios.means.empty()) << ratios.method;
    EXPECT_FALSE(trace_mean(compared->pooled, "lan", "reckoner", compared_figures(buffered)[0]));
    EXPECT_TRUE(trace_mean(compared->pooled, "lan", "snap", compared_figures(buffered)[0]));
  }
  const auto json = compare_json(*compared, false, "present");
  EXPECT_TRUE(json["pooled"][0].contains("now_error_m"));
  EXPECT_FALSE(json["pooled"][1].contains("now_error_m"));
  EXPECT_FALSE(json["runs"][1].contains("excess_acceleration_mps2"));
  EXPECT_TRUE(json["pooled"][1].contains("unshown"));
  const std::string table = compare_table(*compared, false);
  EXPECT_NE(table.find("no figures of reckoner, far over lan: the figures do not count"), std::string::npos)
      << table;
  const std::string html = report_html(compared->pooled, false, {});
  EXPECT_NE(html.find("<p>No figures of reckoner, far: "), std::string::npos);
  EXPECT_NE(html.find("<tr><td>reckoner</td><td>-</td><td>-</td><td>-</td><td>-</td></tr>"),
            std::string::npos)
      << html;
}

TEST(Compare, IsAnErrorIfNoMethodShowsAnything) {
  auto source = scenario::parse_trace("t,x,y,z\n0,1,2,3\n9,1,2,3\n", "two samples");
  ASSERT_TRUE(source) << source.error();
  Comparison comparison = small(1);
  comparison.sources = {{"two samples", std::move(*source)}};
  comparison.options.budget.updates_per_second = 10.0;
  const auto compared = compare(comparison);
  ASSERT_FALSE(compared);
  EXPECT_NE(compared.error().find("two samples over lan, reckoner: nothing was measured"), std::string::npos)
      << compared.error();
}

TEST(Compare, ReportNamesFiguresInWordsWithTheirValues) {
  const std::vector<CompareRun> runs{made_up("a", "reckoner", 1, 1.0), made_up("a", "snap", 1, 2.0)};
  const std::string html = report_html(runs, false, {});
  EXPECT_NE(html.find("name=\"viewport\""), std::string::npos);
  EXPECT_NE(html.find("<th>distance from the truth</th>"), std::string::npos);
  EXPECT_EQ(html.find("now_error_m_p95"), std::string::npos);
  EXPECT_NE(html.find("<td>1 m</td>"), std::string::npos) << html;
  EXPECT_NE(html.find("<td>2 m, \u00d7 0.50</td>"), std::string::npos) << html;
}

TEST(Compare, ReportIsOnePageWithoutExternalResources) {
  if (std::system("gnuplot --version >/dev/null 2>&1") != 0) GTEST_SKIP() << "no gnuplot";
  Comparison comparison = small(2);
  comparison.sources.resize(1);
  const auto runs = compare(comparison);
  ASSERT_TRUE(runs) << runs.error();
  const ScratchFolder scratch;
  const auto page = write_report(comparison, runs->pooled, (scratch.path() / "page").string());
  ASSERT_TRUE(page) << page.error();
  std::ifstream file(*page);
  const std::string html(std::istreambuf_iterator<char>(file), {});
  std::size_t drawings = 0;
  for (std::size_t at = html.find("<svg"); at != std::string::npos; at = html.find("<svg", at + 1))
    ++drawings;
  EXPECT_EQ(drawings, 3u) << "smoothness, rates and one path";
  for (const char* outside : {"href=\"http", "href='http", "src=", "@import", "url(http", "<?xml"})
    EXPECT_EQ(html.find(outside), std::string::npos) << outside;
  EXPECT_NE(html.find("<td>snap</td>"), std::string::npos);
  EXPECT_NE(html.find("<dt><b>snap</b></dt><dd>extrapolates with the last velocity"), std::string::npos)
      << "the report describes the method";
}

}  // namespace
}  // namespace reckoner::harness
