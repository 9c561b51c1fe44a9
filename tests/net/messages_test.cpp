// SPDX-License-Identifier: MIT
#include <array>
#include <vector>

#include <gtest/gtest.h>

#include <reckoner/net/messages.hpp>
#include <reckoner/net/transport.hpp>

namespace reckoner {
namespace {

std::vector<std::byte> encoded(const ControlMessage& message) {
  std::vector<std::byte> buffer(kMaxControlBytes);
  const auto bytes = encode(message, buffer);
  EXPECT_FALSE(bytes.empty());
  return {bytes.begin(), bytes.end()};
}

std::vector<ControlMessage> one_of_each() {
  WelcomeMessage welcome;
  welcome.client = {77};
  welcome.tick_rate_hz = 59.94;
  welcome.epoch_s = -12.25;
  welcome.tick = 123456;
  welcome.archetypes = {{0.05, 0.1, 300.0, 1e5}, {1.0, 0.5, 20.0, 1e3}};
  SpawnMessage spawn;
  spawn.entity = {1048576, 65535};
  spawn.archetype = 255;
  spawn.name = std::string(kMaxNameBytes, 'n');
  spawn.tick = 4'000'000'000u;
  spawn.motion_tick = 3'999'999'999u;
  spawn.orientation_bits = 9;
  spawn.state.position = {1, -200'000'000, 3};
  spawn.state.orientation = {255, -255, 0};
  spawn.state.largest = 3;
  spawn.state.teleports = 7;
  return {JoinMessage{kProtocolVersion, 0xdeadbeef}, welcome, spawn, DespawnMessage{{5, 2}, 99}};
}

TEST(Messages, RoundTrip) {
  const auto messages = one_of_each();
  const auto join = decode_control(encoded(messages[0]));
  ASSERT_TRUE(join);
  EXPECT_EQ(std::get<JoinMessage>(*join).archetype_hash, 0xdeadbeefu);

  const auto welcome = decode_control(encoded(messages[1]));
  ASSERT_TRUE(welcome);
  const auto& w = std::get<WelcomeMessage>(*welcome);
  EXPECT_EQ(w.client.value, 77u);
  EXPECT_EQ(w.tick_rate_hz, 59.94);
  EXPECT_EQ(w.epoch_s, -12.25);
  EXPECT_EQ(w.tick, 123456u);
  ASSERT_EQ(w.archetypes.size(), 2u);
  EXPECT_EQ(w.archetypes[1].max_speed_mps, 20.0);

  const auto spawn = decode_control(encoded(messages[2]));
  ASSERT_TRUE(spawn);
  const auto& s = std::get<SpawnMessage>(*spawn);
  EXPECT_EQ(s.entity, (EntityId{1048576, 65535}));
  EXPECT_EQ(s.name.size(), kMaxNameBytes);
  EXPECT_EQ(s.motion_tick, 3'999'999'999u);
  EXPECT_EQ(s.state, std::get<SpawnMessage>(messages[2]).state);

  const auto despawn = decode_control(encoded(messages[3]));
  ASSERT_TRUE(despawn);
  EXPECT_EQ(std::get<DespawnMessage>(*despawn).tick, 99u);
}

TEST(Messages, AnotherVersionCanStillBeToldApart) {
  // A later version may put more, or something else, behind its number.
  std::vector<std::byte> bytes = encoded(JoinMessage{static_cast<std::uint16_t>(kProtocolVersion + 1), 1});
  bytes.resize(bytes.size() + 20, std::byte{0xab});
  const auto join = decode_control(bytes);
  ASSERT_TRUE(join);
  EXPECT_EQ(std::get<JoinMessage>(*join).version, kProtocolVersion + 1);
}

TEST(Messages, TruncationAndTrailingBytesAreRefused) {
  for (const ControlMessage& message : one_of_each()) {
    const auto bytes = encoded(message);
    for (std::size_t size = 0; size < bytes.size(); ++size) {
      EXPECT_FALSE(decode_control(std::span{bytes}.first(size))) << "kind " << message.index() << " cut at " << size;
    }
    auto longer = bytes;
    longer.push_back(std::byte{0});
    EXPECT_FALSE(decode_control(longer));
  }
}

TEST(Messages, DamageNeverEscapes) {
  for (const ControlMessage& message : one_of_each()) {
    const auto bytes = encoded(message);
    for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
      auto damaged = bytes;
      damaged[bit / 8] ^= static_cast<std::byte>(1u << (bit % 8));
      const auto decoded = decode_control(damaged);
      if (!decoded) continue;
      if (const auto* w = std::get_if<WelcomeMessage>(&*decoded)) {
        EXPECT_TRUE(w->tick_rate_hz >= 1.0 && w->tick_rate_hz <= 1000.0);
        EXPECT_LE(w->archetypes.size(), kMaxArchetypes);
      }
      const auto* s = std::get_if<SpawnMessage>(&*decoded);
      EXPECT_TRUE(s == nullptr || s->entity);
    }
  }
}

TEST(Messages, ATooSmallBufferIsToldApart) {
  std::array<std::byte, 4> small;
  EXPECT_TRUE(encode(one_of_each()[1], small).empty());
}

TEST(EndCode, SurvivesPacking) {
  const EndCode code = unpack_end_code(pack({EndReason::version, 12}));
  EXPECT_EQ(code.reason, EndReason::version);
  EXPECT_EQ(code.detail, 12u);
  EXPECT_EQ(unpack_end_code(0xff).reason, EndReason::none);
  EXPECT_NE(describe(code).find("version 12"), std::string::npos);
}

}  // namespace
}  // namespace reckoner
