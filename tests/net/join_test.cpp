// SPDX-License-Identifier: MIT
#include "net/src/messages/join.hpp"

#include "net/src/messages/datagram.hpp"
#include "net/src/wire/bit_stream.hpp"

#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include <gtest/gtest.h>

#include <reckoner/net/transport.hpp>

// The request to join in the head of a client's datagram, and the server's answer in the head of its own.

namespace reckoner {
namespace {

using Bytes = std::vector<std::byte>;

template <class Head>
Bytes written(const Head& head) {
  Bytes buffer(256);
  BitWriter writer{buffer};
  write(writer, head);
  buffer.resize(writer.finish().size());
  return buffer;
}

std::optional<ClientDatagram> read(std::span<const std::byte> bytes) {
  BitReader reader{bytes};
  return read_client_datagram(reader);
}

// nullopt if the head, or the end of the datagram behind it, is malformed.
std::optional<ServerHeader> read_header(std::span<const std::byte> bytes) {
  BitReader reader{bytes};
  const ServerHeader header = read_server_header(reader);
  return reader.finished() ? std::optional{header} : std::nullopt;
}

ClientDatagram asking(bool shows_past, const BlendSettings& blend, bool resumes) {
  ClientDatagram datagram;
  datagram.join = JoinRequest{kProtocolVersion, 0xdeadbeef, shows_past, blend, {}};
  if (resumes) datagram.join->resume = {{9}, {~0ull - 5, 1ull << 63}, 0x80000001u};
  return datagram;
}

TEST(JoinRequest, RoundTrips) {
  for (const bool shows_past : {false, true}) {
    for (const bool resumes : {false, true}) {
      for (const BlendSettings& blend : {BlendSettings{}, BlendSettings{BlendCurve::damped, 0.125},
                                         BlendSettings{BlendCurve::cubic, kMaxBlendS}}) {
        const auto back = read(written(asking(shows_past, blend, resumes)));
        ASSERT_TRUE(back && back->join);
        EXPECT_FALSE(back->has_owned || back->has_inputs || back->has_messages || back->has_reliable);
        EXPECT_EQ(back->join->version, kProtocolVersion);
        EXPECT_EQ(back->join->archetype_hash, 0xdeadbeefu);
        EXPECT_EQ(back->join->shows_past, shows_past);
        EXPECT_EQ(back->join->blend, blend);
        ASSERT_EQ(back->join->resume.has_value(), resumes);
        if (!resumes) continue;
        EXPECT_EQ(back->join->resume->client.value, 9u);
        EXPECT_EQ(back->join->resume->key, (SessionKey{~0ull - 5, 1ull << 63}));
        EXPECT_EQ(back->join->resume->received, 0x80000001u);
      }
    }
  }
}

TEST(JoinRequest, EveryTruncationAndTrailingBytesAreRefused) {
  for (const bool resumes : {false, true}) {
    const Bytes bytes = written(asking(true, {BlendCurve::damped, 0.25}, resumes));
    ASSERT_TRUE(read(bytes));
    for (std::size_t size = 0; size < bytes.size(); ++size)
      EXPECT_FALSE(read(std::span{bytes}.first(size))) << resumes << " cut at " << size;
    Bytes longer = bytes;
    longer.push_back(std::byte{0});
    EXPECT_FALSE(read(longer)) << resumes;
  }
}

// A later version may send more data, or other data, after the version number.
TEST(JoinRequest, OfAnotherVersionIsReadableUpToTheVersion) {
  for (const int version : {kProtocolVersion - 1, kProtocolVersion + 1, 65535}) {
    ClientDatagram datagram = asking(true, {BlendCurve::damped, 0.25}, true);
    datagram.join->version = static_cast<std::uint16_t>(version);
    const Bytes whole = written(datagram);
    // sequence, processed, stamp, five flags, two flags of sections, magic, version
    constexpr std::size_t kUpToTheVersion = (16 + 16 + 24 + 5 + 2 + 32 + 16 + 7) / 8;
    Bytes bytes(whole.begin(), whole.begin() + kUpToTheVersion);
    for (std::size_t more = 0; more < 100; ++more) {
      const auto back = read(bytes);
      ASSERT_TRUE(back && back->join) << version << " with " << more;
      EXPECT_EQ(back->join->version, version);
      EXPECT_FALSE(back->join->resume) << "nothing behind the version means anything";
      bytes.push_back(std::byte{0xab});
    }
    for (std::size_t size = 0; size < kUpToTheVersion; ++size)
      EXPECT_FALSE(read(std::span{whole}.first(size))) << size;
  }
}

// A request of version 14, as its document had it. Version 12 and 13 wrote the same, with their numbers.
TEST(JoinRequest, OfAnEarlierVersionIsReadableUpToTheVersion) {
  const std::array<unsigned char, 27> request{0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x48, 0x29,
                                              0xa7, 0x25, 0x29, 0x07, 0x80, 0x77, 0xdf, 0x56, 0xef,
                                              0x9a, 0x99, 0x99, 0x99, 0x99, 0x99, 0xb9, 0x3f, 0x00};
  const auto back = read(std::as_bytes(std::span{request}));
  ASSERT_TRUE(back && back->join);
  EXPECT_EQ(back->join->version, 14);
}

// Everything before the request, written by hand: with other sections, or with another number for the
// program.
Bytes by_hand(bool owned, bool messages, bool reliable, std::uint32_t magic, std::uint64_t blend,
              std::uint16_t version = kProtocolVersion) {
  Bytes buffer(256);
  BitWriter writer{buffer};
  writer.write(0, 16 + 16 + 24);  // sequence, processed, stamp
  writer.write(0, 2);             // ack, has_showing
  writer.write(owned ? 1 : 0, 1);
  writer.write(1, 1);
  writer.write(messages ? 1 : 0, 1);
  writer.write(reliable ? 1 : 0, 1);
  writer.write(1, 1);  // the request
  writer.write(magic, 32);
  writer.write(version, 16);
  writer.write(7, 32);  // archetype_hash
  writer.write(0, 1);   // shows_past
  writer.write(blend, 64);
  writer.write(1, 1);  // blend_curve
  writer.write(0, 1);  // resume
  buffer.resize(writer.finish().size());
  return buffer;
}

constexpr std::uint32_t kMagic = 0x524b4e52;

TEST(JoinRequest, HasTheLayoutOfTheDocument) {
  ClientDatagram datagram;
  datagram.join = JoinRequest{kProtocolVersion, 7, false, {BlendCurve::damped, 0.5}, {}};
  EXPECT_EQ(written(datagram), by_hand(false, false, false, kMagic, std::bit_cast<std::uint64_t>(0.5)));
}

TEST(JoinRequest, BytesOfAnotherProgramAreRefused) {
  const auto blend = std::bit_cast<std::uint64_t>(0.5);
  ASSERT_TRUE(read(by_hand(false, false, false, kMagic, blend)));
  for (unsigned bit = 0; bit < 32; ++bit) {
    EXPECT_FALSE(read(by_hand(false, false, false, kMagic ^ (1u << bit), blend))) << bit;
    EXPECT_FALSE(read(by_hand(false, false, false, kMagic ^ (1u << bit), blend, kProtocolVersion + 1)))
        << bit;
  }
}

TEST(JoinRequest, ABlendOutOfRangeIsRefused) {
  const auto reads = [](double blend_s) {
    return read(by_hand(false, false, false, kMagic, std::bit_cast<std::uint64_t>(blend_s))).has_value();
  };
  EXPECT_TRUE(reads(0.0));
  EXPECT_TRUE(reads(kMaxBlendS));
  for (const double bad : {-1e-300, -1.0, std::nextafter(kMaxBlendS, 1e9), 1e300,
                           std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()})
    EXPECT_FALSE(reads(bad)) << bad;
}

TEST(JoinRequest, IsRefusedTogetherWithASection) {
  const auto blend = std::bit_cast<std::uint64_t>(0.5);
  for (const std::uint16_t version : {kProtocolVersion, std::uint16_t{kProtocolVersion + 1}}) {
    for (unsigned sections = 0; sections < 8; ++sections) {
      const Bytes bytes =
          by_hand((sections & 1u) != 0, (sections & 2u) != 0, (sections & 4u) != 0, kMagic, blend, version);
      EXPECT_EQ(read(bytes).has_value(), sections == 0) << sections;
      Bytes longer = bytes;  // the sections could be there
      longer.resize(longer.size() + 40, std::byte{0});
      EXPECT_EQ(read(longer).has_value(), sections == 0 && version != kProtocolVersion) << sections;
    }
  }
}

// Every combination of what the server can say about the session.
std::vector<ServerControl> controls() {
  std::vector<ServerControl> all;
  const JoinAnswer fresh;
  const JoinAnswer resumed{ResumeAnswer{0xffffffffu, 0x80000001u, 77}};
  for (const std::optional<JoinAnswer>& answer : {std::optional<JoinAnswer>{}, {fresh}, {resumed}}) {
    for (const std::optional<std::uint16_t> processed : {std::optional<std::uint16_t>{}, {0}, {65535}}) {
      if (answer || processed) all.push_back({answer, processed});
    }
  }
  return all;
}

TEST(ServerControl, RoundTripsBesideEverySection) {
  ASSERT_EQ(controls().size(), 8u);
  for (const ServerControl& control : controls()) {
    for (unsigned sections = 0; sections < 32; ++sections) {
      ServerHeader header;
      header.sequence = 65535;
      header.control = control;
      header.has_spawns = (sections & 1u) != 0;
      header.has_fields = (sections & 2u) != 0;
      header.has_messages = (sections & 4u) != 0;
      header.has_reliable = (sections & 8u) != 0;
      header.has_predictions = (sections & 16u) != 0;
      const auto back = read_header(written(header));
      ASSERT_TRUE(back);
      EXPECT_EQ(back->has_spawns, header.has_spawns);
      EXPECT_EQ(back->has_predictions, header.has_predictions);
      EXPECT_EQ(back->has_fields, header.has_fields);
      EXPECT_EQ(back->has_messages, header.has_messages);
      EXPECT_EQ(back->has_reliable, header.has_reliable);
      EXPECT_EQ(back->control.processed, control.processed);
      ASSERT_EQ(back->control.answer.has_value(), control.answer.has_value());
      if (!control.answer) continue;
      const auto& resumed = back->control.answer->resumed;
      ASSERT_EQ(resumed.has_value(), control.answer->resumed.has_value());
      if (!resumed) continue;
      EXPECT_EQ(resumed->received, 0xffffffffu);
      EXPECT_EQ(resumed->processed, 0x80000001u);
      EXPECT_EQ(resumed->tick, 77u);
    }
  }
}

TEST(ServerControl, IsAbsentFromAHeadWithoutIt) {
  const ServerHeader nothing;
  const auto back = read_header(written(nothing));
  ASSERT_TRUE(back);
  EXPECT_FALSE(back->control.any());
  ServerHeader with_messages;
  with_messages.has_messages = true;
  const auto other = read_header(written(with_messages));
  ASSERT_TRUE(other);
  EXPECT_FALSE(other->control.any());
}

TEST(ServerControl, EveryTruncationIsRefused) {
  for (const ServerControl& control : controls()) {
    ServerHeader header;
    header.control = control;
    const Bytes bytes = written(header);
    for (std::size_t size = 0; size < bytes.size(); ++size)
      EXPECT_FALSE(read_header(std::span{bytes}.first(size))) << size;
  }
}

// The group is announced, so one of its two parts must be there.
TEST(ServerControl, WithNothingIsRefused) {
  for (unsigned parts = 0; parts < 4; ++parts) {
    Bytes buffer(64);
    BitWriter writer{buffer};
    writer.write(0, 32);  // sequence, tick
    writer.write(0, 1);   // complete_age
    writer.write(0, 2);   // ack, echo
    writer.write(0, 2);   // update_count
    writer.write(1, 1);
    writer.write(0b100000, 6);  // no section, but this
    writer.write(parts & 1u, 1);
    if ((parts & 1u) != 0) writer.write(0, 1);  // a new session
    writer.write(parts >> 1, 1);
    if ((parts & 2u) != 0) writer.write(555, 16);
    const auto back = read_header(writer.finish());
    ASSERT_EQ(back.has_value(), parts != 0) << parts;
    if (!back) continue;
    EXPECT_EQ(back->control.answer.has_value(), (parts & 1u) != 0);
    EXPECT_EQ(back->control.processed.has_value(), (parts & 2u) != 0);
  }
}

// The bits that a sender keeps free for it (server/src/session) are enough.
TEST(ServerControl, HasAtMost128Bits) {
  ServerHeader without, with;
  without.has_reliable = with.has_reliable = true;
  std::array<std::byte, 64> buffer;
  BitWriter shorter{buffer};
  write(shorter, without);
  const std::size_t bits = shorter.bits_written();
  with.control = controls().back();
  BitWriter longer{buffer};
  write(longer, with);
  EXPECT_EQ(longer.bits_written() - bits, 2u + 3 * 32 + 1 + 16);
  EXPECT_LE(longer.bits_written() - bits, 128u);
}

}  // namespace
}  // namespace reckoner
