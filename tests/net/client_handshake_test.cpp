// SPDX-License-Identifier: MIT
#include "handshakes.hpp"
#include "net/src/secure/handshake.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace reckoner::secure {
namespace {

using test::Bytes;
using test::kClient;
using test::kGame;
using test::kNow;
using test::kServer;

/// A client and a server, 50 ms apart, with hooks for datagrams in flight.
struct HandshakePath {
  GateConfig config{.key = SecretKey::make(), .game = kGame, .addresses = {kServer}};
  std::unique_ptr<Gate> gate = std::make_unique<Gate>(config);
  double now_s = 100.0;
  bool silent = false;  ///< the server has stopped
  std::size_t requests = 0;
  std::size_t responses = 0;
  /// Called before the client receives an answer, and right after.
  std::function<void(ClientHandshake&, const Bytes&)> before = [](auto&, const auto&) {};
  std::function<void(ClientHandshake&, const Bytes&)> after = [](auto&, const auto&) {};

  [[nodiscard]] ConnectToken token(const SecretKey& key) const {
    ConnectGrant grant{.client_id = 1, .expires_s = kNow + 30, .servers = {kServer}};
    grant.issued_ms = kNow * 1000;
    return *issue_token(grant, key, kGame);
  }
  /// Time (s) until the client is admitted; nullopt if it takes longer than `seconds`.
  std::optional<double> joins_within(double seconds, ClientHandshake client) {
    return runs(seconds, client).joined_s;
  }
  struct Outcome {
    std::optional<double> joined_s;  ///< time until the client was admitted
    std::optional<double>
        ignored_s;  ///< time until the client inferred that the server cannot read its token
  };
  /// Runs until the client is admitted. `loss`: the share of datagrams that are lost in each direction.
  Outcome runs(double seconds, ClientHandshake& client, double loss = 0.0, std::uint32_t seed = 1) {
    struct Answer {
      double at_s;
      Bytes bytes;
    };
    std::mt19937 random(seed);
    std::bernoulli_distribution lost(loss);
    std::vector<Answer> answers;
    Outcome outcome;
    const double begin_s = now_s;
    for (; now_s < begin_s + seconds; now_s += 0.01) {
      if (!outcome.ignored_s && client.is_ignored(now_s)) outcome.ignored_s = now_s - begin_s;
      for (; !answers.empty() && answers.front().at_s <= now_s; answers.erase(answers.begin())) {
        before(client, answers.front().bytes);
        (void)client.receive(answers.front().bytes);
        after(client, answers.front().bytes);
      }
      if (client.session()) {
        outcome.joined_s = now_s - begin_s;
        return outcome;
      }
      const auto message = client.to_send(now_s);
      if (!message) continue;
      ++(read_request(*message) ? requests : responses);
      if (silent || lost(random)) continue;
      const auto answer = test::ask(*gate, kClient, *message, now_s, kNow);
      if (answer && !lost(random)) answers.push_back({now_s + 0.1, *answer});
    }
    return outcome;
  }
};

// An attacker sees the request and answers it any number of times. Forged answers that arrive before the
// server's have no effect. A forged answer that arrives before the client's next message costs a short delay.
TEST(ClientHandshake, ForgedChallengeCostsAShortDelay) {
  for (const int forged : {1, 2, 3, 10}) {
    for (const bool first : {true, false}) {
      HandshakePath path;
      int left = forged;
      const auto forge = [&](ClientHandshake& client, const Bytes& answer) {
        const auto genuine = read_challenge(answer);
        if (!genuine || left-- <= 0) return;
        EXPECT_TRUE(client.receive(write(Challenge{genuine->client, {}})));
      };
      (first ? path.before : path.after) = forge;
      ClientHandshake client(path.token(path.config.key), kGame);
      const auto [took_s, ignored_s] = path.runs(60.0, client);
      ASSERT_TRUE(took_s) << forged << ' ' << first;
      EXPECT_LT(*took_s, first ? 0.3 : 1.0 + 2.6 * (forged - 1)) << forged << ' ' << first;
      EXPECT_FALSE(ignored_s) << "it does not give up the server because of a stranger: " << forged << first;
    }
  }
}

TEST(ClientHandshake, AsksAgainAfterAServerRestart) {
  HandshakePath path;
  bool restarted = false;
  path.after = [&](ClientHandshake&, const Bytes& answer) {
    if (!restarted && read_challenge(answer)) path.gate = std::make_unique<Gate>(path.config);
    restarted = true;
  };
  const auto took_s = path.joins_within(60.0, {path.token(path.config.key), kGame});
  ASSERT_TRUE(took_s);
  EXPECT_LT(*took_s, 1.0);
  EXPECT_EQ(path.gate->counts().wrong_cookie, 2u);
}

// An attacker who sees a request sends a forged challenge every millisecond. A response is 17 times as long
// as a challenge, so the client answers only some of them.
TEST(ClientHandshake, ForgedChallengesGetFewAnswers) {
  HandshakePath path;
  ClientHandshake client(path.token(path.config.key), kGame);
  const PublicKey seen = read_request(*client.to_send(path.now_s))->client;
  int in_100_ms = 0, in_all = 0;
  for (int i = 0; i < 5000; ++i, path.now_s += 0.001) {
    Cookie cookie{};
    cookie[0] = static_cast<std::byte>(i);
    cookie[1] = static_cast<std::byte>(i >> 8);
    EXPECT_TRUE(client.receive(write(Challenge{seen, cookie})));
    const auto message = client.to_send(path.now_s);
    if (!message) continue;
    ++in_all;
    in_100_ms += i < 100 ? 1 : 0;
  }
  EXPECT_LE(in_100_ms, 5);
  EXPECT_LE(in_all, 45) << "34 answers at most, and the usual repetitions";
}

// Repeated requests get several copies of one challenge. One response is enough.
TEST(ClientHandshake, CopiesOfAChallengeGetOneResponse) {
  HandshakePath path;
  ClientHandshake client(path.token(path.config.key), kGame);
  const auto challenge = test::ask(*path.gate, kClient, *client.to_send(path.now_s), path.now_s, kNow);
  int responses = 0;
  for (int i = 0; i < 10; ++i) {
    EXPECT_TRUE(client.receive(*challenge));
    responses += client.to_send(path.now_s + 0.001 * i) ? 1 : 0;
  }
  EXPECT_EQ(responses, 1);
}

// The server's key is not the one with which the token was issued. The server does not answer the responses,
// but it answers the requests, so the client knows soon.
TEST(ClientHandshake, AnotherKeyIsInferredSoon) {
  HandshakePath path;
  ClientHandshake client(path.token(SecretKey::make()), kGame);
  const auto outcome = path.runs(5.0, client);
  EXPECT_FALSE(outcome.joined_s);
  ASSERT_TRUE(outcome.ignored_s);
  EXPECT_LT(*outcome.ignored_s, 2.0) << "before, 5 s without a reason";
  int inferred = 0;
  for (std::uint32_t seed = 0; seed < 100; ++seed) {
    HandshakePath lossy;
    ClientHandshake again(lossy.token(SecretKey::make()), kGame);
    inferred += lossy.runs(5.0, again, 0.1, seed).ignored_s ? 1 : 0;
  }
  EXPECT_GT(inferred, 70) << "of 100 at 10 % loss in each direction, within the 5 s of an attempt";
}

// Loss does not look like another key.
TEST(ClientHandshake, LossIsNotMistakenForAnotherKey) {
  const struct {
    double loss;
    double most;  // share of the clients that are wrong
  } links[] = {{0.03, 0.001}, {0.1, 0.004}, {0.3, 0.05}, {0.5, 0.06}, {0.8, 0.05}};
  for (const auto& link : links) {
    constexpr std::uint32_t kClients = 1500;
    double wrong = 0.0;
    for (std::uint32_t seed = 0; seed < kClients; ++seed) {
      HandshakePath path;
      ClientHandshake client(path.token(path.config.key), kGame);
      wrong += path.runs(5.0, client, link.loss, seed).ignored_s ? 1.0 : 0.0;
    }
    EXPECT_LE(wrong / kClients, link.most) << link.loss;
  }
}

TEST(ClientHandshake, SilentOrRestartedServerIsNotMistakenForOneWithAnotherKey) {
  for (const bool restarts : {false, true}) {
    HandshakePath path;
    int challenges = 0;
    path.after = [&](ClientHandshake&, const Bytes& answer) {
      if (!read_challenge(answer) || ++challenges > 1) return;
      if (restarts) path.gate = std::make_unique<Gate>(path.config);
      path.silent = !restarts;
    };
    ClientHandshake client(path.token(path.config.key), kGame);
    const auto outcome = path.runs(10.0, client);
    EXPECT_FALSE(outcome.ignored_s) << restarts;
    EXPECT_EQ(outcome.joined_s.has_value(), restarts);
  }
}

// A client that is not admitted asks less and less often, whatever the server answers.
TEST(ClientHandshake, RefusedClientAsksLessOften) {
  HandshakePath path;
  EXPECT_FALSE(path.joins_within(5.0, {path.token(SecretKey::make()), kGame}));
  EXPECT_LE(path.requests + path.responses, 12u);
  const std::size_t before = path.requests + path.responses;
  EXPECT_GE(path.requests, 3u);
  EXPECT_FALSE(path.joins_within(60.0, {path.token(SecretKey::make()), kGame}));
  EXPECT_LE(path.requests + path.responses - before, 100u);
}

}  // namespace
}  // namespace reckoner::secure
