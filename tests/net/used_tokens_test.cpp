// SPDX-License-Identifier: MIT
#include "net/src/secure/used_tokens.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <map>
#include <random>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace reckoner::secure {
namespace {

using Shown = UsedTokens::Shown;
using Verdict = UsedTokens::Verdict;
using Slot = UsedTokens::Entry;

LoginId login_of(std::uint32_t number) {
  LoginId id{};
  std::memcpy(id.data(), &number, sizeof number);
  return id;
}
Shown shown_of(std::uint64_t client, std::uint32_t login, std::uint32_t generation, std::uint32_t tag,
               std::uint32_t key) {
  Shown shown{.client_id = client, .login = {login_of(login), generation}};
  std::memcpy(shown.tag.data(), &tag, sizeof tag);
  std::memcpy(shown.client.data(), &key, sizeof key);
  return shown;
}

TEST(UsedTokens, RevokedLoginAcceptsNothingMore) {
  UsedTokens used;
  const std::uint32_t gate = used.add_gate();
  const Shown first = shown_of(7, 1, 0, 0, 0);
  used.begin(first, {gate, 1}, {1000, 1000.0});
  ASSERT_TRUE(used.stand(first.login.id, {gate, 1}));
  ASSERT_EQ(used.judge(shown_of(7, 1, 1, 0, 0)), Verdict::good) << "a ticket of the session";
  used.revoke(first.login.id);
  used.revoke(login_of(99));  // never shown
  EXPECT_EQ(used.judge(first), Verdict::used);
  EXPECT_EQ(used.judge(shown_of(7, 1, 1, 0, 0)), Verdict::used);
  EXPECT_EQ(used.judge(shown_of(7, 2, 0, 0, 0)), Verdict::good) << "a new token of the same client";
  used.tidy(5000.0, 5000);
  EXPECT_EQ(used.size(), 0u);
}

TEST(UsedTokens, ATokenThatWasGivenBackBeginsOneMoreSession) {
  UsedTokens used;
  const std::uint32_t gate = used.add_gate();
  const Shown first = shown_of(7, 1, 0, 0, 0), again = shown_of(7, 1, 0, 0, 1);
  used.begin(first, {gate, 1}, {1000, 1000.0});
  ASSERT_TRUE(used.stand(first.login.id, {gate, 1}));
  used.give_back(first.login.id, {gate, 2});
  used.give_back(login_of(99), {gate, 1});
  EXPECT_EQ(used.judge(again), Verdict::used) << "another session was meant";
  used.give_back(first.login.id, {gate, 1});
  EXPECT_EQ(used.judge(shown_of(7, 1, 0, 5, 1)), Verdict::used) << "another token of this login";
  EXPECT_EQ(used.judge(shown_of(8, 1, 0, 0, 1)), Verdict::used) << "another client id";
  ASSERT_EQ(used.judge(again), Verdict::good);
  used.begin(again, {gate, 3}, {1000, 1000.0});
  ASSERT_TRUE(used.stand(again.login.id, {gate, 3}));
  EXPECT_EQ(used.judge(again), Verdict::repeated);
  EXPECT_EQ(used.judge(first), Verdict::used);
  used.give_back(first.login.id, {gate, 3});
  used.revoke(first.login.id);
  EXPECT_EQ(used.judge(again), Verdict::used) << "a kick counts in spite of it";
}

// For any sequence of tokens: a token that a connection was bound to is never accepted again, a client has at
// most the configured number of sessions, and every replaced session is ended exactly once.
TEST(UsedTokens, AcceptEachTokenOnceAndLimitTheSessionsOfAClient) {
  for (const std::size_t most : {1u, 3u}) {
    std::mt19937 random(static_cast<unsigned>(most));
    const auto below = [&](std::uint32_t n) { return static_cast<std::uint32_t>(random() % n); };
    UsedTokens used({.most = 10'000, .most_per_client = 1000, .sessions_per_client = most});
    const std::uint32_t gates[] = {used.add_gate(), used.add_gate()};
    using Key = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>;
    std::set<Key> connected;
    std::map<std::uint32_t, std::pair<Shown, Slot>> open;  // tokens and slots by session
    std::uint32_t sessions = 0;
    for (int i = 0; i < 20'000; ++i) {
      const std::uint32_t login = below(60), generation = below(8), tag = below(2);
      const Shown shown = shown_of(login % 4, login, generation, tag, below(2));
      const Verdict verdict = used.judge(shown);
      const bool lets_in = verdict == Verdict::good || verdict == Verdict::again;
      if (lets_in) {
        ASSERT_FALSE(connected.contains({login, generation, tag}));
        const Slot place{gates[below(2)], ++sessions};
        const auto replaced = used.replaced_by(shown);
        used.begin(shown, place, {1000, 1000.0});
        std::vector<Slot> ended;
        for (const std::uint32_t gate : gates)
          used.take_ended(gate, [&](std::uint32_t session, bool another) {
            ended.push_back({gate, session});
            ASSERT_TRUE(open.contains(session));
            EXPECT_EQ(open.at(session).second.gate, gate);
            EXPECT_EQ(another, open.at(session).first.login.id != shown.login.id);
            open.erase(session);
          });
        EXPECT_TRUE(std::ranges::is_permutation(ended, replaced));
        open[sessions] = {shown, place};
      }
      ASSERT_LE(std::ranges::count_if(
                    open, [&](const auto& one) { return one.second.first.client_id == login % 4; }),
                static_cast<int>(most));
      if (lets_in && below(2) == 0) {
        EXPECT_TRUE(used.stand(shown.login.id, open.at(sessions).second));
        EXPECT_FALSE(used.stand(shown.login.id, open.at(sessions).second));
        connected.insert({login, generation, tag});
        EXPECT_EQ(used.judge(shown), Verdict::repeated);
      }
    }
    EXPECT_GT(connected.size(), 10u);
  }
}

// The model: a client's most recently issued logins keep their slots, in any order of arrival. A login that
// lost its slot, or never got one, stays refused.
TEST(UsedTokens, AcceptTheMostRecentlyIssuedLoginsInAnyOrder) {
  std::mt19937 random(5);
  for (int round = 0; round < 300; ++round) {
    const std::size_t most = 1 + random() % 4;
    UsedTokens used({.most = 1000, .most_per_client = 100, .sessions_per_client = most});
    const std::uint32_t gate = used.add_gate();
    std::vector<std::uint64_t> issued(16);  // by login, some with equal times
    for (std::uint64_t& at_ms : issued)
      at_ms = 1000 + random() % 12;
    std::map<std::uint32_t, std::uint32_t> generation;
    std::vector<std::uint32_t> open;  // logins, most recently shown last
    std::set<std::uint32_t> lost;
    for (std::uint32_t session = 1; session < 200; ++session) {
      const auto login = static_cast<std::uint32_t>(random() % issued.size());
      Shown shown = shown_of(1, login, ++generation[login], session, session);
      shown.issued_ms = issued[login];
      const auto displaced =
          std::ranges::min_element(open, {}, [&](std::uint32_t other) { return issued[other]; });
      const bool inside = std::ranges::count(open, login) > 0;
      const bool room = inside || open.size() < most;
      const bool expected = !lost.contains(login) && (room || issued[*displaced] <= issued[login]);
      ASSERT_EQ(used.judge(shown) == Verdict::good, expected) << round << ' ' << session;
      if (!expected) {
        ASSERT_EQ(used.judge(shown), Verdict::used);
        continue;
      }
      if (!room) {
        lost.insert(*displaced);
        open.erase(displaced);
      }
      std::erase(open, login);
      open.push_back(login);
      used.begin(shown, {gate, session}, {1000, 1000.0});
      for (std::uint32_t other = 0; other < issued.size(); ++other)
        EXPECT_EQ(used.place_of(login_of(other)).has_value(), std::ranges::count(open, other) > 0);
    }
    EXPECT_EQ(open.size(), most);
  }
}

// Logins with an issue time in the future, because a clock was ahead, are evicted by any other login.
TEST(UsedTokens, LoginIssuedInTheFutureBlocksNoOther) {
  UsedTokens used({.sessions_per_client = 2});
  const std::uint32_t gate = used.add_gate();
  std::uint32_t session = 0;
  const auto shows = [&](std::uint32_t login, std::uint64_t issued_ms, std::uint64_t latest_ms) {
    Shown shown = shown_of(1, login, 0, 1, 1);
    shown.issued_ms = issued_ms;
    shown.latest_ms = latest_ms;
    if (used.judge(shown) != Verdict::good) return false;
    used.begin(shown, {gate, ++session}, {1000, 1000.0});
    return true;
  };
  EXPECT_TRUE(shows(1, 9000, 9000));
  EXPECT_TRUE(shows(2, 8000, 9000));
  EXPECT_FALSE(shows(3, 500, 9000));
  EXPECT_TRUE(shows(3, 500, 600)) << "the clock is right again";
  EXPECT_TRUE(shows(4, 550, 600));
  EXPECT_FALSE(used.place_of(login_of(1)) || used.place_of(login_of(2)));
  EXPECT_FALSE(shows(5, 400, 600));
}

TEST(UsedTokens, AreForgottenOnceBothClocksHavePassed) {
  UsedTokens used;
  const Shown shown = shown_of(1, 1, 0, 1, 1);
  used.begin(shown, {used.add_gate(), 1}, {1000, 50.0});
  used.tidy(49.0, 2000);
  EXPECT_EQ(used.size(), 1u) << "the wall clock may be wrong";
  used.tidy(51.0, 999);
  EXPECT_EQ(used.size(), 1u) << "it is good yet";
  used.tidy(52.5, 1000);
  EXPECT_EQ(used.size(), 0u);
}

// The entry of a running session is kept as long as it issues tickets.
TEST(UsedTokens, EntryOfARunningSessionIsKept) {
  UsedTokens used;
  const Slot place{used.add_gate(), 1};
  const Shown shown = shown_of(1, 1, 0, 1, 1);
  used.begin(shown, place, {1000, 50.0});
  used.keep(shown.login.id, {place.gate, 2}, {9000, 9000.0});  // the entry of another session
  used.keep(shown.login.id, place, {2000, 500.0});
  used.tidy(499.0, 3000);
  EXPECT_EQ(used.size(), 1u);
  used.tidy(501.0, 3000);
  EXPECT_EQ(used.size(), 0u);
}

// Even if many entries expire at once, only a few are removed at a time. The table still shrinks faster than
// it fills.
TEST(UsedTokens, AreForgottenAFewAtATime) {
  constexpr std::uint32_t kMany = 50'000;
  UsedTokens used({.most = kMany, .most_per_client = 1});
  const std::uint32_t gate = used.add_gate();
  for (std::uint32_t i = 0; i < kMany; ++i)
    used.begin(shown_of(i, i, 0, 1, 1), {gate, i + 1}, {1000, 50.0});
  EXPECT_EQ(used.judge(shown_of(kMany, kMany, 0, 1, 1)), Verdict::full);
  std::size_t before = used.size();
  int calls = 0;
  const std::clock_t begin = std::clock();  // processor time, because the machine may be busy
  for (; used.size() > 0; ++calls) {
    used.tidy(60.0, 2000);
    ASSERT_LE(before - used.size(), 16u);
    ASSERT_LT(used.size(), before);
    before = used.size();
  }
  const double took_s = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  EXPECT_LT(took_s / calls, 1e-4);
  EXPECT_EQ(used.judge(shown_of(kMany, kMany, 0, 1, 1)), Verdict::good);
}

TEST(UsedTokens, EntriesOfOneClientAreLimited) {
  UsedTokens used({.most = 100, .most_per_client = 3});
  const std::uint32_t gate = used.add_gate();
  for (std::uint32_t i = 0; i < 3; ++i) {
    EXPECT_EQ(used.judge(shown_of(1, i, 0, 1, 1)), Verdict::good);
    used.begin(shown_of(1, i, 0, 1, 1), {gate, i + 1}, {1000 + i, 50.0 + i});
  }
  EXPECT_EQ(used.judge(shown_of(1, 3, 0, 1, 1)), Verdict::full);
  EXPECT_EQ(used.judge(shown_of(1, 2, 1, 1, 1)), Verdict::good) << "it comes back";
  EXPECT_EQ(used.judge(shown_of(2, 4, 0, 1, 1)), Verdict::good) << "another";
  used.tidy(50.5, 5000);
  // A login that was closed because of a newer login is kept as long as the newer login.
  EXPECT_EQ(used.judge(shown_of(1, 3, 0, 1, 1)), Verdict::full);
  used.tidy(60.0, 5000);
  EXPECT_EQ(used.judge(shown_of(1, 3, 0, 1, 1)), Verdict::good);
}

}  // namespace
}  // namespace reckoner::secure
