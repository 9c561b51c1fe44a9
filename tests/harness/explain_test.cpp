// SPDX-License-Identifier: MIT
// reckoner-harness explain names the right cause of a step, and invents none.
#include "harness/explain/explain.hpp"

#include "harness/explain/collect_facts.hpp"
#include "harness/explain/explain_json.hpp"
#include "harness/explain/trials/trials.hpp"
#include "net/src/messages/messages.hpp"
#include "programs/common/archetypes.hpp"
#include "programs/common/sessions/session_log.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace reckoner::harness {
namespace {

// 30 datagrams a second arrive 50 ms after they were sent.
SessionFacts steady_link(double seconds = 10.0) {
  SessionFacts facts;
  facts.shown_since_s = 0.0;
  facts.seconds = seconds;
  for (int i = 0; i < static_cast<int>(30 * seconds); ++i) {
    const double sent_s = i / 30.0;
    facts.datagrams.push_back({i, sent_s, sent_s, sent_s + 0.05, sent_s + 0.05});
  }
  return facts;
}

// An entity whose drawn velocity changes by 3 m/s at local time `at_s`.
EntityFacts stepping(double at_s) {
  EntityFacts entity;
  entity.id = {1, 0};
  entity.threshold_m = 0.05;
  entity.steps.push_back({.local_s = 0.1, .appeared = true});
  entity.steps.push_back(
      {.local_s = at_s, .frame_s = 1.0 / 60.0, .velocity_step_mps = 3.0, .speed_mps = 5.0});
  return entity;
}

// An update that datagram `datagram` brought for a motion of `age_s` before.
MotionFact update(const SessionFacts& facts, std::size_t datagram, double age_s, double error_m) {
  const DatagramFact& d = facts.datagrams[datagram];
  return {.local_s = d.local_s,
          .now_s = d.now_s,
          .shown_s = d.now_s,
          .sent_s = d.sent_s,
          .time_s = d.sent_s - age_s,
          .gap_s = 0.3,
          .datagram = datagram,
          .applied = true,
          .error_m = error_m,
          .turn_mps = 2.0,
          .step_m = 0.4,
          .step_mps = 2.0,
          .speed_mps = 5.0};
}

Cause only_cause(const SessionFacts& facts) {
  const auto steps = explain(facts, {});
  EXPECT_EQ(steps.size(), 1u);
  return steps.empty() ? Cause::motion : steps.front().cause;
}

TEST(Explain, FindsNothingInAnEmptySession) {
  EXPECT_TRUE(explain(SessionFacts{}, {}).empty());
  EXPECT_TRUE(explain(steady_link(), {}).empty());
}

TEST(Explain, BlamesALostDatagramOnlyIfTheUpdateWasDueBefore) {
  SessionFacts facts = steady_link();
  facts.datagrams.erase(facts.datagrams.begin() + 150);
  facts.entities.push_back(stepping(5.27));
  auto& motions = facts.entities[0].motions;
  for (const std::size_t datagram : {100, 110, 120, 130, 140})  // usually, updates are sent at once
    motions.push_back(update(facts, datagram, 0.0, 0.02));
  motions.push_back(update(facts, 155, 0.18, 0.04));  // the repair, 180 ms old
  EXPECT_EQ(only_cause(facts), Cause::loss);
  motions.back() = update(facts, 155, 0.0, 0.01);  // the entity turned just now; the loss did not matter
  EXPECT_EQ(only_cause(facts), Cause::motion);
}

TEST(Explain, BlamesTheBudgetIfNothingIsMissing) {
  SessionFacts facts = steady_link();
  facts.entities.push_back(stepping(5.25));
  auto& motions = facts.entities[0].motions;
  for (const std::size_t datagram : {100, 110, 120, 130, 140})  // usually, updates are sent at once
    motions.push_back(update(facts, datagram, 0.0, 0.02));
  motions.push_back(update(facts, 155, 0.18, 0.04));
  EXPECT_EQ(only_cause(facts), Cause::budget);
}

TEST(Explain, BlamesJitterForALateDatagram) {
  SessionFacts facts = steady_link();
  facts.datagrams[155].local_s += 0.15;
  facts.datagrams[155].now_s += 0.15;
  std::stable_sort(facts.datagrams.begin(), facts.datagrams.end(),
                   [](const DatagramFact& a, const DatagramFact& b) { return a.local_s < b.local_s; });
  std::size_t late = 0;
  while (facts.datagrams[late].sequence != 155)
    ++late;
  facts.entities.push_back(stepping(facts.datagrams[late].local_s + 0.02));
  auto& motions = facts.entities[0].motions;
  motions.push_back(update(facts, 140, 0.0, 0.02));
  motions.push_back(update(facts, late, 0.0, 0.02));
  EXPECT_EQ(only_cause(facts), Cause::jitter);
}

TEST(Explain, ListsTheLargestStepsFirst) {
  SessionFacts facts = steady_link();
  facts.entities.push_back(stepping(4.0));
  for (const double at_s : {5.0, 6.0, 7.0})
    facts.entities[0].steps.push_back(
        {.local_s = at_s, .frame_s = 0.016, .velocity_step_mps = at_s, .speed_mps = 5.0});
  const auto steps = explain(facts, {.worst = 2});
  ASSERT_EQ(steps.size(), 2u);
  EXPECT_EQ(steps[0].velocity_step_mps, 7.0);
  EXPECT_EQ(steps[1].velocity_step_mps, 6.0);
  EXPECT_TRUE(explain(facts, {.entity = 2}).empty());
}

// Every prefix of a session, and sessions with changed bytes, are explained or refused, and never crash.
TEST(Explain, ToleratesDamagedSessions) {
  const PlayedTrial played = play_trial(draw_plan(Cause::loss, 3), true);
  ASSERT_FALSE(played.failed);
  const auto facts_of = [](std::vector<std::byte> bytes) -> std::optional<SessionFacts> {
    auto reader = program::SessionReader::read(std::move(bytes), "test");
    if (!reader) return std::nullopt;
    auto facts = collect_facts(*reader, {program::archetypes(), {}});
    return facts ? std::optional(std::move(*facts)) : std::nullopt;
  };
  const auto whole = facts_of(played.session);
  ASSERT_TRUE(whole);
  EXPECT_EQ(whole->differences, 0u);
  EXPECT_FALSE(whole->truncated);
  EXPECT_FALSE(whole->damage);
  std::uint64_t random = 1;
  for (int i = 0; i < 12; ++i) {
    random = scenario::hash(random);
    std::vector<std::byte> cut = played.session;
    cut.resize(random % cut.size());
    if (const auto facts = facts_of(cut)) (void)explain(*facts, {});
    std::vector<std::byte> damaged = played.session;
    for (int k = 0; k < 20; ++k)
      damaged[scenario::hash(random, k) % damaged.size()] =
          static_cast<std::byte>(scenario::hash(random, k, 1));
    if (const auto facts = facts_of(damaged)) (void)explain(*facts, {});
  }
}

TEST(Explain, WritesEveryStepAsJson) {
  SessionFacts facts = steady_link();
  facts.entities.push_back(stepping(5.25));
  const auto steps = explain(facts, {});
  const auto json = explain_json(facts, steps);
  ASSERT_EQ(json["steps"].size(), steps.size());
  EXPECT_EQ(json["steps"][0]["cause"], std::string(name_of(steps[0].cause)));
  EXPECT_EQ(json["steps"][0]["sentence"], steps[0].sentence);
}

// A small part of `reckoner-harness explain-trials`.
TEST(Explain, NamesInjectedCausesAndInventsNone) {
  std::vector<TrialResult> results;
  constexpr std::size_t kSessions = 60;
  constexpr std::size_t kUndisturbed = 12;
  for (std::size_t i = 0; i < kSessions; ++i)
    results.push_back(run_trial(static_cast<Cause>(i % kInjectedCauses), scenario::hash(11, i)));
  for (std::size_t i = 0; i < kUndisturbed; ++i)
    results.push_back(run_undisturbed_trial(scenario::hash(12, i)));
  const TrialTable table = make_table(results);
  EXPECT_GE(table.disturbed().right, kSessions * 90 / 100) << table_text(table);
  EXPECT_EQ(table.rows[kCauses].right, kUndisturbed) << table_text(table);
}

// With the decisions of the server, explain() knows which causes lie at the server.
TEST(Explain, KnowsTheCausesAtTheServerFromItsDecisions) {
  std::size_t right = 0;
  std::size_t known = 0;
  constexpr std::size_t kEach = 6;
  for (const Cause cause : {Cause::budget, Cause::threshold, Cause::motion}) {
    for (std::size_t i = 0; i < kEach; ++i) {
      const TrialResult result = run_trial(cause, scenario::hash(13, i), true);
      right += result.right ? 1 : 0;
      known += result.right && result.found->known ? 1 : 0;
    }
  }
  EXPECT_GE(right, 3 * kEach - 2);
  EXPECT_GE(known, right - 2);
  EXPECT_TRUE(run_undisturbed_trial(scenario::hash(14, 0), true).right);
}

constexpr const char* kDecisions =
    "kind,time_s,client,entity,generation,level,motion_s,since_s,error_m,threshold_m,why\n";

TEST(ServerDecisions, AreRead) {
  const auto read = parse_decisions(std::string(kDecisions) +
                                        "published,2.500000,,7,1,0,2.500000,,0.040000,0.050000,threshold\n"
                                        "delayed,2.750000,3,7,1,0,2.500000,2.500000,,,budget\n"
                                        "delayed,3.000000,4,7,1,0,2.500000,2.500000,,,repair\n",
                                    "log.csv");
  ASSERT_TRUE(read) << read.error();
  const EntityId entity{7, 1};
  const PublishFact* const published = read->publication(entity, 0, 2.5);
  ASSERT_NE(published, nullptr);
  EXPECT_EQ(published->why, "threshold");
  EXPECT_EQ(read->publication(entity, 1, 2.5), nullptr);
  EXPECT_EQ(read->publication(EntityId{7, 2}, 0, 2.5), nullptr);
  const DelayFact* const delay = read->delay(ClientId{3}, entity, 2.5);
  ASSERT_NE(delay, nullptr);
  EXPECT_DOUBLE_EQ(delay->at_s - delay->since_s, 0.25);
  EXPECT_EQ(read->delay(ClientId{5}, entity, 2.5), nullptr);
}

TEST(ServerDecisions, NameTheWrongLine) {
  const auto error = [](const std::string& text) { return parse_decisions(text, "log.csv").error(); };
  const std::string head = kDecisions;
  EXPECT_NE(error("").find("log.csv:1: expected the header"), std::string::npos);
  EXPECT_NE(error("t,x\n").find("log.csv:1: expected the header"), std::string::npos);
  EXPECT_NE(error(head + "published,1\n").find("log.csv:2: expected 11 fields"), std::string::npos);
  EXPECT_NE(error(head + "sent,1,,1,1,0,1,,0,0,x\n").find("log.csv:2: expected 'published'"),
            std::string::npos);
  EXPECT_NE(error(head + "published,nan,,1,1,0,1,,0,0,x\n").find("expected a time"), std::string::npos);
  EXPECT_NE(error(head + "published,1,,-1,1,0,1,,0,0,x\n").find("expected an entity"), std::string::npos);
  EXPECT_NE(error(head + "delayed,1,1,1,1,300,1,1,,,budget\n").find("expected a level"), std::string::npos);
  EXPECT_NE(error(head + "delayed,1,1,1,1,0,1,1,,,why\n").find("expected budget"), std::string::npos);
}

}  // namespace
}  // namespace reckoner::harness
