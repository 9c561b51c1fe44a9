// SPDX-License-Identifier: MIT
#include "net/src/messages/datagram.hpp"

#include "net/src/messages/messages.hpp"
#include "net/src/wire/bit_archive.hpp"

#include <array>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace reckoner {
namespace {

TEST(Datagram, ServerHeaderAndUpdatesRoundTrip) {
  ServerHeader header;
  header.sequence = 65535;
  header.ack = Ack{12, {0xf0f0f0f0, 0xffffffff}, 2};
  header.tick = 4321;
  header.complete_age = 17;
  header.echo = Echo{(1u << kStampBits) - 1, -Echo::kMaxWaited};
  const std::vector<UpdateHeader> updates{
      {0, 0, 0, {}}, {1, 5, 1, 9}, {900, 0, 2, {}}, {901, 0, 0, 70'000}, {kMaxEntities - 1, 3, 2, 8}};
  header.update_count = static_cast<std::uint32_t>(updates.size());
  header.coding = {UpdateCoding::kMaxGapOrder, 3, 8};
  header.has_messages = true;

  std::array<std::byte, 256> buffer;
  BitWriter writer{buffer};
  write(writer, header);
  std::int64_t previous = -1;
  for (const UpdateHeader& update : updates) {
    write(writer, update, header.coding, previous);
    writer.write(0x2a, 7);  // stands for the state
    previous = update.slot;
  }

  BitReader reader{writer.finish()};
  const ServerHeader back = read_server_header(reader);
  EXPECT_EQ(back.sequence, header.sequence);
  EXPECT_FALSE(back.has_fields);
  EXPECT_TRUE(back.has_messages);
  ASSERT_TRUE(back.ack);
  EXPECT_EQ(back.ack->window, header.ack->window);
  EXPECT_EQ(back.ack->words, 2u);
  EXPECT_EQ(back.tick, 4321);
  EXPECT_EQ(back.complete_age, 17u);
  ASSERT_TRUE(back.echo);
  EXPECT_EQ(back.echo->stamp, (1u << kStampBits) - 1);
  EXPECT_EQ(back.echo->waited, -Echo::kMaxWaited);
  ASSERT_EQ(back.update_count, updates.size());
  EXPECT_EQ(back.coding.reference_age, 8u);
  previous = -1;
  for (const UpdateHeader& update : updates) {
    const UpdateHeader read = read_update(reader, back.coding, previous);
    ASSERT_FALSE(reader.failed());
    EXPECT_EQ(read.slot, update.slot);
    EXPECT_EQ(read.age, update.age);
    EXPECT_EQ(read.level, update.level);
    EXPECT_EQ(read.reference_age, update.reference_age);
    EXPECT_EQ(reader.read(7), 0x2au);
    previous = read.slot;
  }
  EXPECT_TRUE(reader.finished());
}

TEST(Datagram, SlotOutOfRangeIsRefused) {
  std::array<std::byte, 64> buffer;
  BitWriter writer{buffer};
  write(writer, UpdateHeader{kMaxEntities, 0, 0, {}}, {}, -1);
  BitReader reader{writer.finish()};
  (void)read_update(reader, {}, -1);
  EXPECT_TRUE(reader.failed());
}

TEST(Datagram, ReferenceAgeOutOfRangeIsRefused) {
  std::array<std::byte, 64> buffer;
  BitWriter writer{buffer};
  const UpdateCoding honest{0, 0, 0};
  write(writer, UpdateHeader{0, 0, 0, 10}, honest, -1);
  BitReader reader{writer.finish()};
  (void)read_update(reader, {0, 0, 0xfffffffau}, -1);  // adding 10 would overflow 32 bits
  EXPECT_TRUE(reader.failed());
}

TEST(Datagram, OmitsTheUpdateCodingWithoutUpdates) {
  const auto bits = [](std::uint32_t count) {
    ServerHeader header;
    header.update_count = count;
    std::array<std::byte, 64> buffer;
    BitWriter writer{buffer};
    write(writer, header);
    return writer.bits_written();
  };
  EXPECT_LT(bits(0) + 10, bits(1));
}

TEST(Datagram, ClientDatagramRoundTrips) {
  for (const bool with_ack : {false, true}) {
    ClientDatagram datagram;
    datagram.sequence = 40000;
    if (with_ack) {
      datagram.ack = Ack{65530, {1}};
      datagram.ack_delay = 499;
    }
    datagram.processed = 65535;
    datagram.stamp = 123456;
    std::array<std::byte, 64> buffer;
    BitWriter writer{buffer};
    write(writer, datagram);
    const auto bytes = writer.finish();
    BitReader reader{bytes};
    const auto back = read_client_datagram(reader);
    ASSERT_TRUE(back);
    EXPECT_EQ(back->sequence, 40000);
    EXPECT_EQ(back->ack.has_value(), with_ack);
    EXPECT_EQ(back->ack_delay, with_ack ? 499u : 0u);
    EXPECT_EQ(back->processed, 65535);
    EXPECT_EQ(back->stamp, 123456u);
    for (std::size_t size = 0; size < bytes.size(); ++size) {
      BitReader cut{bytes.first(size)};
      EXPECT_FALSE(read_client_datagram(cut));
    }
  }
}

TEST(Datagram, AckOfAnyLengthRoundTrips) {
  std::mt19937 random(1);
  for (std::size_t words = 1; words <= Ack::kMaxWords; ++words) {
    for (int i = 0; i < 50; ++i) {
      ClientDatagram datagram;
      datagram.ack = Ack{.newest = static_cast<Sequence>(random()), .words = words};
      for (std::size_t w = 0; w < words; ++w)
        datagram.ack->window[w] = random() % 2 == 0   ? 0xffffffffu
                                  : random() % 3 == 0 ? 0u
                                                      : static_cast<std::uint32_t>(random());
      std::array<std::byte, 256> buffer;
      BitWriter writer{buffer};
      write(writer, datagram);
      ClientDatagram without = datagram;
      without.ack.reset();
      std::array<std::byte, 256> other;
      BitWriter shorter{other};
      write(shorter, without);
      constexpr std::size_t kDelayBits = 9;  // of ack_delay, which only exists with an ack
      EXPECT_EQ(writer.bits_written() - shorter.bits_written(), datagram.ack->bits() + kDelayBits);
      EXPECT_LE(datagram.ack->bits(), Ack::kMaxBits);
      BitReader reader{writer.finish()};
      const auto back = read_client_datagram(reader);
      ASSERT_TRUE(back && back->ack);
      EXPECT_EQ(back->ack->newest, datagram.ack->newest);
      EXPECT_EQ(back->ack->words, words);
      EXPECT_EQ(back->ack->window, datagram.ack->window);
    }
  }
}

// A client's datagram whose ack has this number of words, each with these bits. `spelled_out`: the words are
// written without the short form for "all applied".
bool reads_ack(std::uint32_t words, std::uint32_t word, bool spelled_out) {
  std::vector<std::byte> buffer(1024);
  BitWriter writer{buffer};
  writer.write(0, 16);  // sequence
  writer.write(0, 16);  // processed
  writer.write(0, 24);  // stamp
  writer.write(1, 1);
  writer.write(7, 16);  // newest
  const wire::Code more = wire::golomb_code(words - 1, 0);
  writer.write(more.value, more.bits);
  for (std::uint32_t w = 0; w < words; ++w) {
    writer.write(spelled_out ? 0 : 1, 1);
    if (spelled_out) writer.write(word, 32);
  }
  writer.write(0, 9);  // ack_delay
  writer.write(0, 3);  // has_showing, has_owned, sections
  BitReader reader{writer.finish()};
  return read_client_datagram(reader).has_value();
}

TEST(Datagram, MalformedAckIsRefused) {
  EXPECT_TRUE(reads_ack(1, 0, false));
  EXPECT_TRUE(reads_ack(32, 0, false));
  EXPECT_FALSE(reads_ack(33, 0, false));
  EXPECT_FALSE(reads_ack(1000, 0, false));
  EXPECT_TRUE(reads_ack(32, 1, true));
  EXPECT_FALSE(reads_ack(33, 1, true));
  EXPECT_FALSE(reads_ack(1, 0xffffffffu, true)) << "each window has one form";
  EXPECT_FALSE(reads_ack(5, 0xffffffffu, true));
}

// The flag of the sections says that one of them follows.
TEST(Datagram, FlagOfSectionsWithoutASectionIsRefused) {
  for (unsigned flags = 0; flags < 64; ++flags) {
    std::array<std::byte, 64> buffer;
    BitWriter writer{buffer};
    ServerHeader header;
    write(writer, header);
    const std::size_t bits = writer.bits_written() - 1;
    BitWriter again{buffer};
    again.write(0, 32);  // sequence, tick
    again.write(0, static_cast<unsigned>(bits - 32));
    again.write(1, 1);
    again.write(flags, 6);
    const bool has_control = (flags & 32u) != 0;
    if (has_control) {
      again.write(0b10, 2);  // no answer, but a count of messages
      again.write(777, 16);
    }
    BitReader reader{again.finish()};
    const ServerHeader back = read_server_header(reader);
    EXPECT_EQ(reader.failed(), flags == 0) << flags;
    if (flags == 0) continue;
    EXPECT_TRUE(reader.finished());
    EXPECT_EQ(back.has_spawns, (flags & 1u) != 0);
    EXPECT_EQ(back.has_predictions, (flags & 2u) != 0);
    EXPECT_EQ(back.has_fields, (flags & 4u) != 0);
    EXPECT_EQ(back.has_messages, (flags & 8u) != 0);
    EXPECT_EQ(back.has_reliable, (flags & 16u) != 0);
    EXPECT_EQ(back.control.any(), has_control);
    EXPECT_EQ(back.control.processed.value_or(0), has_control ? 777 : 0);
  }
  for (unsigned flags = 0; flags < 8; ++flags) {
    std::array<std::byte, 64> buffer;
    BitWriter writer{buffer};
    writer.write(0, 16 + 16 + 24);  // sequence, processed, stamp
    writer.write(0, 3);             // ack, has_showing, has_owned
    writer.write(1, 1);
    writer.write(flags & 3u, 3);  // without a request to join
    writer.write(flags >> 2u, 1);
    BitReader reader{writer.finish()};
    const auto back = read_client_datagram(reader);
    EXPECT_EQ(back.has_value(), flags != 0) << flags;
    if (!back) continue;
    EXPECT_EQ(back->has_messages, (flags & 1u) != 0);
    EXPECT_EQ(back->has_reliable, (flags & 2u) != 0);
    EXPECT_EQ(back->has_inputs, (flags & 4u) != 0);
    EXPECT_FALSE(back->join);
  }
}

ClientDatagram reporting() {
  ClientDatagram datagram;
  datagram.ack = Ack{3, {0xffffffffu}};
  ShowingReport& report = datagram.showing.emplace();
  report.clock = 65535;
  report.delay = ShowingReport::kMaxDelay;
  report.era = ShowingReport::kEras - 1;
  report.count = ShowingReport::kMaxArrivals;
  for (std::size_t i = 0; i < report.count; ++i) {
    // Some arrivals are out of order or simultaneous, and sequence numbers wrap.
    const auto back = static_cast<Sequence>(i % 5 == 2 ? i + 1 : i % 5 == 3 ? i - 1 : i + (i > 10 ? 7 : 0));
    report.arrivals[i] = {static_cast<Sequence>(3 - back), static_cast<std::uint32_t>(i / 2 * 33)};
  }
  return datagram;
}

TEST(Datagram, ShowingReportRoundTrips) {
  const ClientDatagram sent = reporting();
  std::array<std::byte, 256> buffer;
  BitWriter writer{buffer};
  write(writer, sent);
  const auto bytes = writer.finish();
  BitReader reader{bytes};
  const auto back = read_client_datagram(reader);
  ASSERT_TRUE(back && back->showing);
  EXPECT_EQ(back->showing->clock, 65535);
  EXPECT_EQ(back->showing->delay, ShowingReport::kMaxDelay);
  EXPECT_EQ(back->showing->era, ShowingReport::kEras - 1);
  ASSERT_EQ(back->showing->count, ShowingReport::kMaxArrivals);
  EXPECT_EQ(back->showing->arrivals, sent.showing->arrivals);
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    BitReader cut{bytes.first(size)};
    EXPECT_FALSE(read_client_datagram(cut));
  }
}

TEST(Datagram, InvalidShowingReportIsRefused) {
  const auto reads = [](const ClientDatagram& datagram) {
    std::array<std::byte, 512> buffer;
    BitWriter writer{buffer};
    write(writer, datagram);
    BitReader reader{writer.finish()};
    return read_client_datagram(reader).has_value();
  };
  ClientDatagram datagram = reporting();
  EXPECT_TRUE(reads(datagram));
  datagram.showing->delay = ShowingReport::kMaxDelay + 1;
  EXPECT_FALSE(reads(datagram));
  datagram.showing->delay = 0;
  EXPECT_TRUE(reads(datagram));

  // A count above the limit is refused, whatever follows it.
  std::array<std::byte, 64> buffer;
  BitWriter writer{buffer};
  datagram.showing->count = 0;
  write(writer, datagram);
  const std::size_t bits = writer.bits_written();
  std::vector<std::byte> bytes(buffer.begin(), buffer.end());
  bool refused = false;
  // The count is an exponential Golomb code of order 2. A count of 0 is written as 000, before the last bit.
  for (std::size_t i = bits - 4; i < bits - 1; ++i)
    bytes[i / 8] |= static_cast<std::byte>(1u << (i % 8));
  bytes.resize(64, std::byte{0xff});
  BitReader reader{bytes};
  refused = !read_client_datagram(reader);
  EXPECT_TRUE(refused);
}

TEST(Datagram, LeavesTheMessageSectionToTheCaller) {
  ClientDatagram datagram;
  datagram.has_messages = true;
  std::array<std::byte, 64> buffer;
  BitWriter writer{buffer};
  write(writer, datagram);
  writer.write(0x5a5, 11);  // stands for the message section
  const auto bytes = writer.finish();
  BitReader reader{bytes};
  const auto back = read_client_datagram(reader);
  ASSERT_TRUE(back);
  EXPECT_TRUE(back->has_messages);
  EXPECT_EQ(reader.read(11), 0x5a5u);
  EXPECT_TRUE(reader.finished());
}

}  // namespace
}  // namespace reckoner
