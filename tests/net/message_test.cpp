// SPDX-License-Identifier: MIT
// The parts of game messages: their section in a datagram, and the queues at both ends.
#include "net/src/link/message_queues.hpp"
#include "net/src/messages/messages.hpp"
#include "random_fields.hpp"

#include <array>
#include <bit>
#include <limits>
#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include <reckoner/net/transport.hpp>

namespace reckoner {
namespace {

std::vector<std::byte> bytes_of(test::Engine& engine, std::size_t size) {
  std::vector<std::byte> bytes(size);
  for (std::byte& b : bytes)
    b = static_cast<std::byte>(engine() & 0xff);
  return bytes;
}

MessageOutbox::Payload payload_of(std::size_t size, int first) {
  auto bytes = std::make_shared<std::vector<std::byte>>(size);
  bytes->front() = static_cast<std::byte>(first);
  return bytes;
}

TEST(MessageCodec, SectionsRoundTrip) {
  test::Engine engine(1);
  for (int round = 0; round < 2000; ++round) {
    std::array<std::byte, kMaxDatagramBytes> buffer;
    BitWriter writer{buffer};
    std::vector<std::vector<std::byte>> sent;
    std::vector<std::optional<double>> stamps;
    for (;;) {
      const std::size_t size =
          1 + test::up_to(engine, kMaxUnreliableBytes - 1) / (1 + test::up_to(engine, 99));
      const bool stamped = test::up_to(engine, 1) == 1;
      if (writer.bits_left() < message_bits(size, stamped) + 1) break;
      sent.push_back(bytes_of(engine, size));
      stamps.push_back(stamped ? std::optional{test::random_real(engine)} : std::nullopt);
      const std::size_t before = writer.bits_written();
      write_message(writer, sent.back(), stamps.back());
      EXPECT_EQ(writer.bits_written() - before, message_bits(size, stamped));
    }
    writer.write(0, 1);
    ASSERT_FALSE(writer.overflowed());
    BitReader reader{writer.finish()};
    MessageBatch batch;
    read_messages(reader, batch);
    ASSERT_TRUE(reader.finished());
    ASSERT_EQ(batch.items.size(), sent.size());
    for (std::size_t i = 0; i < sent.size(); ++i) {
      const auto payload = batch.payload(batch.items[i]);
      EXPECT_EQ(std::vector(payload.begin(), payload.end()), sent[i]);
      EXPECT_EQ(batch.items[i].time_s, stamps[i]);
    }
  }
}

TEST(MessageCodec, InvalidStampOrLengthIsRefused) {
  for (const double stamp : {std::numeric_limits<double>::quiet_NaN(), 1e13, -1e13}) {
    std::array<std::byte, 64> buffer{};
    BitWriter writer{buffer};
    writer.write(3, 2);
    writer.write(std::bit_cast<std::uint64_t>(stamp), 64);
    writer.write(0, 10 + 8 + 1);
    BitReader reader{writer.finish()};
    MessageBatch batch;
    read_messages(reader, batch);
    EXPECT_TRUE(reader.failed()) << stamp;
  }
  for (const std::uint64_t length_less_1 : {50u, 1000u, 1023u}) {  // more than present, more than allowed
    std::vector<std::byte> buffer(length_less_1 == 50 ? 40 : 1200);
    BitWriter writer{buffer};
    writer.write(1, 2);
    writer.write(length_less_1, 10);
    BitReader reader{buffer};
    MessageBatch batch;
    read_messages(reader, batch);
    EXPECT_TRUE(reader.failed()) << length_less_1;
    EXPECT_TRUE(batch.items.empty());
  }
}

TEST(MessageCodec, AnyBitsAreReadSafely) {
  test::Engine engine(2);
  MessageBatch batch;
  for (int round = 0; round < 30'000; ++round) {
    const auto bytes = bytes_of(engine, test::up_to(engine, 300));
    BitReader reader{bytes};
    read_messages(reader, batch);
    EXPECT_LE(batch.bytes.size(), bytes.size());
    for (const auto& item : batch.items) {
      EXPECT_FALSE(batch.payload(item).empty());
      EXPECT_TRUE(!item.time_s || is_valid_stamp(*item.time_s));
    }
  }
}

TEST(MessageOutbox, WritesTheMessagesThatFitAndKeepsTheRest) {
  MessageOutbox outbox;
  for (const int i : {1, 2, 3})
    ASSERT_TRUE(outbox.add(payload_of(i == 2 ? 900 : 100, i), std::nullopt, 0.0));
  std::array<std::byte, kMaxDatagramBytes> buffer;
  const auto written = [&](std::size_t most_bits) {
    BitWriter writer{buffer};
    const std::size_t count = outbox.write(writer, most_bits);
    EXPECT_LE(writer.bits_written(), most_bits);
    std::vector<int> firsts;
    if (count == 0) {
      EXPECT_EQ(writer.bits_written(), 0u);
      return firsts;
    }
    BitReader reader{writer.finish()};
    MessageBatch batch;
    read_messages(reader, batch);
    EXPECT_TRUE(reader.finished());
    for (const auto& item : batch.items)
      firsts.push_back(std::to_integer<int>(batch.payload(item).front()));
    EXPECT_EQ(firsts.size(), count);
    return firsts;
  };
  EXPECT_EQ(written(50), std::vector<int>{});
  EXPECT_EQ(written(300 * 8), (std::vector{1, 3}));  // the large message does not delay smaller ones
  EXPECT_EQ(written(2 + 10 + 900 * 8), std::vector<int>{});
  EXPECT_EQ(written(2 + 10 + 900 * 8 + 1), std::vector{2});
  EXPECT_TRUE(outbox.empty());
}

// On a path of small datagrams.
TEST(MessageOutbox, LargeMessageGetsALargeDatagram) {
  MessageOutbox outbox;
  EXPECT_EQ(outbox.datagram_bytes(600), 600u);
  for (int i = 0; i < 9; ++i)
    ASSERT_TRUE(outbox.add(payload_of(400, i), std::nullopt, 0.0));
  EXPECT_EQ(outbox.datagram_bytes(600), 600u) << "each fits";
  ASSERT_TRUE(outbox.add(payload_of(401, 9), std::nullopt, 1.0));
  EXPECT_EQ(outbox.datagram_bytes(600), kMaxDatagramBytes);
  EXPECT_EQ(outbox.datagram_bytes(601), 601u);
  EXPECT_EQ(outbox.datagram_bytes(kMaxDatagramBytes), kMaxDatagramBytes);
  EXPECT_EQ(outbox.datagram_bytes(0), 0u) << "there is no path";
}

TEST(MessageOutbox, IsBoundedAndDropsOldMessages) {
  MessageOutbox outbox;
  std::size_t taken = 0;
  while (outbox.add(payload_of(kMaxUnreliableBytes, 0), std::nullopt, 1.0))
    ++taken;
  EXPECT_EQ(taken, MessageOutbox::kMaxBytes / kMaxUnreliableBytes);
  EXPECT_EQ(outbox.expire(1.0), 0u);
  EXPECT_EQ(outbox.expire(1.01), taken);
  EXPECT_TRUE(outbox.empty());
  for (taken = 0; outbox.add(payload_of(1, 0), std::nullopt, 2.0);)
    ++taken;
  EXPECT_EQ(taken, MessageOutbox::kMaxMessages);
}

TEST(MessageInbox, OneSenderCannotCrowdOutAnother) {
  MessageInbox inbox{{.messages = 3, .bytes = 100}};
  const std::vector<std::byte> ten(10);
  const std::vector<std::byte> ninety(90);
  for (int i = 0; i < 3; ++i)
    EXPECT_TRUE(inbox.add({1}, ten, std::nullopt, false));
  EXPECT_FALSE(inbox.add({1}, ten, std::nullopt, false));
  EXPECT_FALSE(inbox.has_room({1}, 1, 10));
  EXPECT_TRUE(inbox.has_room({2}, 3, 100));
  EXPECT_FALSE(inbox.has_room({2}, 3, 101));
  EXPECT_TRUE(inbox.add({2}, ninety, std::nullopt, false));
  EXPECT_FALSE(inbox.add({2}, ninety, std::nullopt, false));
  EXPECT_TRUE(inbox.has_room({2}, 2, 10));
  EXPECT_FALSE(inbox.has_room({2}, 1, 11));
  for (int i = 0; i < 3; ++i) {
    const auto message = inbox.poll();
    ASSERT_TRUE(message);
    EXPECT_EQ(message->sender, ClientId{1});
    EXPECT_EQ(message->payload.size(), 10u);
  }
  EXPECT_TRUE(inbox.add({1}, ten, std::nullopt, false));  // a polled message makes room
  EXPECT_EQ(inbox.poll()->sender, ClientId{2});
  EXPECT_EQ(inbox.poll()->sender, ClientId{1});
  EXPECT_FALSE(inbox.poll());
}

TEST(MessageInbox, StampedMessagesAreDeliveredInTheOrderOfTheirStamps) {
  MessageInbox inbox{{}};
  const auto add = [&](int first, std::optional<double> time_s) {
    const std::byte byte{static_cast<unsigned char>(first)};
    EXPECT_TRUE(inbox.add({}, std::span{&byte, 1}, time_s, true));
  };
  const auto polled = [&] {
    std::vector<int> firsts;
    while (const auto message = inbox.poll())
      firsts.push_back(std::to_integer<int>(message->payload.front()));
    return firsts;
  };
  add(1, 3.0);
  add(2, std::nullopt);
  add(3, 2.0);
  add(4, 2.0);
  EXPECT_EQ(polled(), std::vector{2});
  inbox.release(1.9);
  EXPECT_EQ(polled(), std::vector<int>{});
  inbox.release(2.0);
  EXPECT_EQ(polled(), (std::vector{3, 4}));
  inbox.release(9.0);
  EXPECT_EQ(polled(), std::vector{1});
}

}  // namespace
}  // namespace reckoner
