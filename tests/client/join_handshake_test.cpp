// SPDX-License-Identifier: MIT
#include "client/src/connection/join_handshake.hpp"

#include "net/src/messages/datagram.hpp"
#include "net/src/wire/bit_stream.hpp"

#include <array>
#include <vector>

#include <gtest/gtest.h>

namespace reckoner {
namespace {

std::vector<std::byte> datagram_with(const std::optional<JoinAnswer>& answer) {
  std::array<std::byte, 128> buffer{};
  BitWriter writer{buffer};
  ServerHeader header;
  header.control.answer = answer;
  write(writer, header);
  const auto bytes = writer.finish();
  return {bytes.begin(), bytes.end()};
}

WelcomeMessage welcome() {
  WelcomeMessage message;
  message.client = ClientId{7};
  message.key = {3, 4};
  return message;
}

TEST(JoinHandshake, EndsWithTheWelcomeMessage) {
  JoinHandshake handshake;
  EXPECT_FALSE(handshake.awaits_answer());
  handshake.begin({}, 0);
  EXPECT_TRUE(handshake.awaits_answer());
  const auto read = JoinHandshake::read_answer(datagram_with(JoinAnswer{}));
  ASSERT_TRUE(std::holds_alternative<JoinAnswer>(read));
  EXPECT_FALSE(std::get<JoinAnswer>(read).resumed);
  handshake.note_new_session();
  EXPECT_FALSE(handshake.awaits_answer());
  EXPECT_FALSE(handshake.is_admitted());
  handshake.note_welcome(welcome());
  EXPECT_TRUE(handshake.is_admitted());
  EXPECT_EQ(handshake.id(), ClientId{7});
}

TEST(JoinHandshake, ReadsNoAnswerInOtherDatagrams) {
  EXPECT_TRUE(std::holds_alternative<std::monostate>(JoinHandshake::read_answer(datagram_with({}))));
  const auto read = JoinHandshake::read_answer({});
  ASSERT_TRUE(std::holds_alternative<Refusal>(read));
  EXPECT_EQ(std::get<Refusal>(read), Refusal::malformed);
}

TEST(JoinHandshake, ResumesASessionOverAnotherConnection) {
  JoinHandshake handshake;
  handshake.begin({}, 0);
  EXPECT_EQ(handshake.find_impossible({}), Refusal::unexpected);  // there is no session to resume
  handshake.note_new_session();
  handshake.note_welcome(welcome());
  handshake.forget();
  EXPECT_FALSE(handshake.is_admitted());
  handshake.begin({}, 12);
  EXPECT_EQ(handshake.find_impossible({.received = 3, .processed = 4, .tick = 9}), Refusal::never_sent);
  EXPECT_EQ(handshake.find_impossible({.received = 4, .processed = 4, .tick = UINT32_MAX}),
            Refusal::from_future);
  EXPECT_EQ(handshake.find_impossible({.received = 4, .processed = 4, .tick = 9}), std::nullopt);
  handshake.note_resumed();
  EXPECT_TRUE(handshake.is_admitted());
  EXPECT_FALSE(handshake.awaits_answer());
}

TEST(JoinHandshake, AsksForANewSessionOnceTheOldOneIsDropped) {
  JoinHandshake handshake;
  handshake.begin({}, 0);
  handshake.note_new_session();
  handshake.note_welcome(welcome());
  handshake.drop_session();
  handshake.forget();
  handshake.begin({}, 12);
  EXPECT_EQ(handshake.find_impossible({}), Refusal::unexpected);
}

TEST(JoinHandshake, KeepsDatagramsThatOvertakeTheWelcome) {
  JoinHandshake handshake;
  handshake.begin({}, 0);
  handshake.note_new_session();
  handshake.keep(datagram_with({}));
  EXPECT_EQ(handshake.take_kept().size(), 1u);
  EXPECT_TRUE(handshake.take_kept().empty());
  handshake.keep(datagram_with({}));
  handshake.note_new_session();  // they belonged to the session before
  EXPECT_TRUE(handshake.take_kept().empty());
}

}  // namespace
}  // namespace reckoner
