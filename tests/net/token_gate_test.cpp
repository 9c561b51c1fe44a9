// SPDX-License-Identifier: MIT
// Which tokens a TokenGate accepts, in virtual time. joined_entrances_test.cpp has a server with sockets.
#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <reckoner/net/token_gate.hpp>

namespace reckoner {
namespace {

constexpr SocketAddress kGateServer{0x7F000001, 4000};
constexpr IpAddress kBearer{0x01020304};

/// The backend, and the wall clock.
struct TokenBackend {
  SecretKey key = SecretKey::make();
  std::uint64_t unix_s = 1'800'000'000;

  [[nodiscard]] ServerSecurity security() const { return {.key = key, .addresses = {kGateServer}}; }
  [[nodiscard]] TokenTime time(double steady_s) const { return {steady_s, unix_s * 1000}; }
  [[nodiscard]] ConnectToken issue(std::uint64_t client_id, const SocketAddress& server = kGateServer,
                                   std::uint64_t game = 0) const {
    ConnectGrant grant{.client_id = client_id, .expires_s = unix_s + 3600, .servers = {server}};
    grant.user_data[1] = std::byte{9};
    grant.issued_ms = unix_s * 1000;
    return *issue_token(grant, key, game);
  }
  [[nodiscard]] std::vector<std::byte> token(std::uint64_t client_id,
                                             const SocketAddress& server = kGateServer,
                                             std::uint64_t game = 0) const {
    const auto bytes = *write_token(issue(client_id, server, game));
    return {bytes.begin(), bytes.end()};
  }
};

TokenGate gate_of(const ServerSecurity& security, std::uint8_t entrance = 1) {
  return *TokenGate::create(security, {.entrance = entrance});
}

TEST(TokenGate, AdmitsATokenOnceAndKnowsItsClient) {
  for (const std::uint8_t entrance : {std::uint8_t{0}, std::uint8_t{1}}) {
    const TokenBackend backend;
    TokenGate gate = gate_of(backend.security(), entrance);
    const auto token = backend.token(7);
    const Admission admission = gate.admit(token, kBearer, backend.time(0.0));
    EXPECT_FALSE(admission.refusal);
    EXPECT_EQ(admission.login.client_id, 7u);
    EXPECT_EQ(admission.login.entrance, entrance);
    EXPECT_EQ(admission.login.sessions_per_client, 1u);
    ASSERT_TRUE(admission.identity);
    EXPECT_EQ(admission.identity->client_id, 7u);
    EXPECT_EQ(admission.identity->user_data[1], std::byte{9});
    EXPECT_NE(admission.session, 0u);
    EXPECT_EQ(gate.admit(token, kBearer, backend.time(1.0)).refusal, Refusal::token_reused);
    TokenGate same = gate;
    EXPECT_EQ(same.admit(token, kBearer, backend.time(2.0)).refusal, Refusal::token_reused);
  }
}

TEST(TokenGate, SaysWhyATokenIsRefused) {
  const TokenBackend backend;
  TokenGate gate = gate_of(backend.security());
  const auto refusal = [&](std::span<const std::byte> token, std::uint64_t later_s = 0) {
    TokenTime time = backend.time(0.0);
    time.unix_ms += later_s * 1000;
    return gate.admit(token, kBearer, time).refusal;
  };
  EXPECT_EQ(refusal({}), Refusal::wrong_token);
  EXPECT_EQ(refusal(std::vector<std::byte>(ConnectToken::kBytes)), Refusal::wrong_token);
  EXPECT_EQ(refusal(TokenBackend{}.token(1)), Refusal::wrong_token) << "another key";
  EXPECT_EQ(refusal(backend.token(1, {0x7F000001, 4001})), Refusal::wrong_token) << "another server";
  EXPECT_EQ(refusal(backend.token(1, kGateServer, 5)), Refusal::wrong_token) << "another game";
  EXPECT_EQ(refusal(backend.token(1), 3600), Refusal::wrong_token) << "expired";
  // Somebody who has seen the sealed part in flight lacks the keys.
  ConnectToken seen = backend.issue(1);
  seen.to_server = SecretKey::make();
  EXPECT_EQ(refusal(*write_token(seen)), Refusal::wrong_token);
  EXPECT_FALSE(refusal(backend.token(1)));
}

TEST(TokenGate, AnyServerAndInsecureAdmitMore) {
  const TokenBackend backend;
  TokenGate any = gate_of({.key = backend.key, .any_server = true});
  EXPECT_FALSE(any.admit(backend.token(1, {0x08080808, 1}), kBearer, backend.time(0.0)).refusal);
  TokenGate open = *TokenGate::create(Insecure{});
  const Admission admission = open.admit({}, kBearer, {});
  EXPECT_FALSE(admission.refusal);
  EXPECT_FALSE(admission.login.client_id);
  open.revoke({.client_id = 7}, {});
  EXPECT_FALSE(open.is_revoked({.client_id = 7}));
  EXPECT_FALSE(open.next_replaced());
}

TEST(TokenGate, RefusesSettingsThatCouldNotCheckTokens) {
  const TokenBackend backend;
  const auto error = [](const ServerSecurity& security) {
    const auto gate = TokenGate::create(security);
    return gate ? std::string() : gate.error();
  };
  EXPECT_EQ(error(backend.security()), "");
  EXPECT_NE(error({.key = {}, .any_server = true}).find("key"), std::string::npos);
  EXPECT_NE(error({.key = backend.key}).find("any_server"), std::string::npos);
  EXPECT_NE(error({.key = backend.key, .addresses = {{0x7F000001, 0}}}).find("port 0"), std::string::npos);
}

// Before, a token was remembered by the wall clock only.
TEST(TokenGate, UsedTokenStaysUsedWhenTheWallClockIsSetForthAndBack) {
  for (const std::uint64_t by_s : {60u, 3601u, 86'400u, 1'000'000'000u}) {
    const TokenBackend backend;
    TokenGate gate = gate_of(backend.security());
    const auto used = backend.token(1);
    EXPECT_FALSE(gate.admit(used, kBearer, backend.time(0.0)).refusal);
    const TokenBackend ahead{.key = backend.key, .unix_s = backend.unix_s + by_s};
    for (int i = 0; i < 100; ++i)  // others use their tokens meanwhile
      EXPECT_FALSE(gate.admit(ahead.token(100), kBearer, ahead.time(1.0 + i)).refusal) << by_s;
    const TokenTime later{200.0, (backend.unix_s + 200) * 1000};
    EXPECT_EQ(gate.admit(used, kBearer, later).refusal, Refusal::token_reused) << by_s;
  }
}

TEST(TokenGate, TokenIsForgottenWhenItHasExpired) {
  TokenBackend backend;
  ServerSecurity security = backend.security();
  security.used_tokens = 64;
  TokenGate gate = gate_of(security);
  for (std::uint64_t client = 1; client <= 64; ++client)
    EXPECT_FALSE(gate.admit(backend.token(client), kBearer, backend.time(0.0)).refusal);
  EXPECT_EQ(gate.admit(backend.token(65), kBearer, backend.time(0.0)).refusal, Refusal::handshake_limit);
  backend.unix_s += 8000;
  EXPECT_FALSE(gate.admit(backend.token(65), kBearer, backend.time(8000.0)).refusal);
}

// A newer token takes the place of the oldest session of its client id, and an older one is refused.
TEST(TokenGate, LimitsTheSessionsOfAClientId) {
  for (const std::uint32_t most : {1u, 2u, 0u}) {
    TokenBackend backend;
    ServerSecurity security = backend.security();
    security.sessions_per_client = most;
    TokenGate gate = gate_of(security);
    const auto kept_back = backend.token(7);
    std::vector<std::uint32_t> sessions, ended;
    const auto collect = [&] {
      while (const auto session = gate.next_replaced())
        ended.push_back(*session);
    };
    for (int i = 0; i < 6; ++i) {
      ++backend.unix_s;
      const Admission admission = gate.admit(backend.token(7), kBearer, backend.time(i));
      ASSERT_FALSE(admission.refusal);
      sessions.push_back(admission.session);
      collect();
    }
    EXPECT_FALSE(gate.admit(backend.token(8), kBearer, backend.time(7.0)).refusal) << "others do not notice";
    collect();
    const std::size_t gone = most == 0 ? 0 : sessions.size() - most;
    EXPECT_EQ(ended, std::vector<std::uint32_t>(sessions.begin(),
                                                sessions.begin() + static_cast<std::ptrdiff_t>(gone)));
    EXPECT_EQ(gate.admit(kept_back, kBearer, backend.time(8.0)).refusal.has_value(), most > 0);
  }
}

TEST(TokenGate, LimitsTheTokensOfAnAddress) {
  const TokenBackend backend;
  ServerSecurity security = backend.security();
  security.handshakes_per_second = 0.5;  // five at once
  TokenGate gate = gate_of(security);
  const IpAddress other{0x01020305};
  std::uint64_t client = 0;
  const auto refusal = [&](const IpAddress& host, double now_s) {
    return gate.admit(backend.token(++client), host, backend.time(now_s)).refusal;
  };
  for (int i = 0; i < 5; ++i)
    EXPECT_FALSE(refusal(kBearer, 0.0));
  EXPECT_EQ(refusal(kBearer, 0.0), Refusal::handshake_limit);
  EXPECT_FALSE(refusal(other, 0.0));
  // Strangers use up nobody's share.
  for (int i = 0; i < 100; ++i)
    EXPECT_EQ(gate.admit({}, other, backend.time(0.0)).refusal, Refusal::wrong_token);
  EXPECT_FALSE(refusal(other, 0.0));
  EXPECT_FALSE(refusal(kBearer, 2.0)) << "after two seconds, one more";
  EXPECT_EQ(refusal(kBearer, 2.0), Refusal::handshake_limit);
}

TEST(TokenGate, LimitsTheTokensOfAllAddresses) {
  const TokenBackend backend;
  ServerSecurity security = backend.security();
  security.tokens_per_second = 3.0;
  TokenGate gate = gate_of(security);
  for (std::uint32_t i = 0; i < 5; ++i) {
    const IpAddress host{0x01020300u + i};
    EXPECT_EQ(gate.admit(backend.token(i + 1), host, backend.time(0.0)).refusal.has_value(), i >= 3);
  }
}

// Also a token that was issued before the kick and is presented later, by another client of the player.
TEST(TokenGate, KickedPlayerNeedsATokenThatIsIssuedLater) {
  for (const std::uint8_t entrance : {std::uint8_t{0}, std::uint8_t{1}}) {
    TokenBackend backend;
    TokenGate gate = gate_of(backend.security(), entrance);
    const auto kept_back = backend.token(7);
    const auto of_others = backend.token(8);
    ++backend.unix_s;
    const Admission admission = gate.admit(backend.token(7), kBearer, backend.time(1.0));
    ASSERT_FALSE(admission.refusal);
    EXPECT_FALSE(gate.is_revoked(admission.login));
    backend.unix_s += 10;
    gate.revoke(admission.login, backend.time(11.0));
    EXPECT_TRUE(gate.is_revoked(admission.login));
    EXPECT_EQ(gate.admit(kept_back, kBearer, backend.time(12.0)).refusal, Refusal::token_reused);
    EXPECT_FALSE(gate.admit(of_others, kBearer, backend.time(12.0)).refusal);
    ++backend.unix_s;
    EXPECT_FALSE(gate.admit(backend.token(7), kBearer, backend.time(12.0)).refusal);
  }
}

TEST(TokenGate, GivesItsFunctionsToAPipeServer) {
  TokenBackend backend;
  std::vector<StreamId> closed;
  const auto time = [&] { return backend.time(static_cast<double>(backend.unix_s - 1'800'000'000)); };
  PipeServer pipes =
      std::move(*PipeServer::create({},
                                    {.send = [](StreamId, std::span<const std::byte>, bool) { return true; },
                                     .close = [&](StreamId stream) { closed.push_back(stream); }},
                                    gate_of(backend.security(), 0).pipe_gate(time)));
  const auto presents = [&](StreamId stream, std::span<const std::byte> token) {
    EXPECT_TRUE(pipes.opened(stream, kBearer, 0.0));
    std::vector<std::byte> hello{std::byte{2}, std::byte{}, std::byte{}, std::byte{}, std::byte{}};
    hello.insert(hello.end(), token.begin(), token.end());
    pipes.received(stream, hello, 0.0);
    PeerId connected;
    while (const auto event = pipes.poll())
      if (event->kind == TransportEvent::Kind::connected) connected = event->peer;
    return connected;
  };
  const auto first = backend.token(7);
  ++backend.unix_s;
  const PeerId peer = presents(1, first);
  ASSERT_TRUE(peer);
  EXPECT_EQ(pipes.identity(peer)->client_id, 7u);
  EXPECT_FALSE(presents(2, first)) << "it is used up";
  ++backend.unix_s;
  const PeerId newer = presents(3, backend.token(7));
  ASSERT_TRUE(newer);
  EXPECT_EQ(closed, (std::vector<StreamId>{2, 1})) << "the newer login has replaced the older one";
  pipes.revoke_login(pipes.login(newer));
  EXPECT_TRUE(pipes.login(newer).is_revoked);
  EXPECT_FALSE(presents(4, backend.token(7)));
  backend.unix_s += 2;
  EXPECT_TRUE(presents(5, backend.token(7)));
}

}  // namespace
}  // namespace reckoner
