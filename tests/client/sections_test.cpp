// SPDX-License-Identifier: MIT
// The lists of sections: those that the client writes, and the readers of those of the server.
#include "client/src/connection/client_sections.hpp"
#include "client/src/connection/section_readers.hpp"

#include <array>
#include <vector>

#include <gtest/gtest.h>

namespace reckoner {
namespace {

// A section that writes a counter in 16 bits while it is due.
struct Counter {
  unsigned value = 0;
  bool due = false;
  std::size_t room_bits = 0;  // the room that it was offered last
  std::vector<Sequence> arrived;

  [[nodiscard]] bool any_due() const { return due; }
  bool write(BitWriter& writer, std::size_t most_bits, Sequence) {
    room_bits = most_bits;
    if (!due || most_bits < 16) return false;
    writer.write(value, 16);
    due = false;
    return true;
  }
};
struct FirstCounter : Counter {
  static constexpr bool ClientDatagram::*kFlag = &ClientDatagram::has_owned;
  void settle(const PeerLink::Outcome& outcome) {
    if (outcome.acked) arrived.push_back(outcome.sequence);
  }
};
struct SecondCounter : Counter {
  static constexpr bool ClientDatagram::*kFlag = &ClientDatagram::has_messages;
};

TEST(ClientSections, OfferTheRoomInOrder) {
  FirstCounter first{{.value = 7, .due = true}};
  SecondCounter second{{.value = 9, .due = true}};
  ClientSections sections{first, second};
  std::array<std::byte, 64> buffer;
  BitWriter writer{buffer};
  writer.write(1, 3);
  ClientDatagram datagram;
  sections.write(writer, 40, datagram);
  EXPECT_TRUE(datagram.has_owned);
  EXPECT_TRUE(datagram.has_messages);
  EXPECT_EQ(first.room_bits, 40u);
  EXPECT_EQ(second.room_bits, 24u);
  BitReader reader{writer.finish()};
  EXPECT_EQ(reader.read(3), 1u);
  EXPECT_EQ(reader.read(16), 7u);
  EXPECT_EQ(reader.read(16), 9u);
}

TEST(ClientSections, AnnounceOnlyWhatIsWritten) {
  FirstCounter first{{.due = true}};
  SecondCounter second;
  ClientSections sections{first, second};
  EXPECT_TRUE(sections.any_due());
  std::array<std::byte, 64> buffer;
  BitWriter writer{buffer};
  ClientDatagram datagram;
  datagram.has_messages = true;
  sections.write(writer, 15, datagram);
  EXPECT_FALSE(datagram.has_owned);     // no room
  EXPECT_FALSE(datagram.has_messages);  // not due
  EXPECT_EQ(second.room_bits, 15u);
  EXPECT_EQ(writer.bits_written(), 0u);
  EXPECT_TRUE(sections.any_due());
  first.due = false;
  EXPECT_FALSE(sections.any_due());
}

TEST(ClientSections, SettleTheSectionsThatAskForIt) {
  FirstCounter first;
  SecondCounter second;
  ClientSections sections{first, second};
  PeerLink::Outcome outcome{};
  outcome.sequence = 5;
  outcome.acked = true;
  sections.settle(outcome);
  outcome.sequence = 6;
  outcome.acked = false;
  sections.settle(outcome);
  EXPECT_EQ(first.arrived, (std::vector<Sequence>{5}));
}

// A reader that takes 16 bits as the number of an ended entity, and refuses the number 0.
template <bool ServerHeader::*Flag>
struct NumberReader {
  static constexpr bool ServerHeader::*kFlag = Flag;
  static void clear(DecodedDatagram& datagram) { datagram.entity_changes.clear(); }
  [[nodiscard]] static std::optional<Refusal> read(BitReader& reader, DecodedDatagram& datagram) {
    const auto number = static_cast<std::uint32_t>(reader.read(16));
    if (number == 0) return Refusal::beyond_limits;
    datagram.entity_changes.emplace_back(EndedEntity{.number = number});
    return std::nullopt;
  }
};
// A reader that takes 16 bits as the slot of a field.
struct SlotReader {
  static constexpr bool ServerHeader::*kFlag = &ServerHeader::has_fields;
  static void clear(DecodedDatagram& datagram) { datagram.fields.clear(); }
  [[nodiscard]] static std::optional<Refusal> read(BitReader& reader, DecodedDatagram& datagram) {
    datagram.fields.push_back({.slot = static_cast<std::uint32_t>(reader.read(16))});
    return std::nullopt;
  }
};

class SectionReadersTest : public testing::Test {
 protected:
  std::optional<Refusal> read(unsigned first, unsigned second) {
    std::array<std::byte, 64> buffer;
    BitWriter writer{buffer};
    writer.write(first, 16);
    writer.write(second, 16);
    BitReader reader{writer.finish()};
    return readers_.read(reader, datagram_);
  }
  using Numbers = NumberReader<&ServerHeader::has_spawns>;
  DecodedDatagram datagram_;
  SectionReaders<Numbers, SlotReader> readers_{{}, {}};
};

TEST_F(SectionReadersTest, ReadWhatTheHeaderAnnouncesInOrder) {
  datagram_.header.has_spawns = datagram_.header.has_fields = true;
  EXPECT_FALSE(read(3, 4));
  ASSERT_EQ(datagram_.entity_changes.size(), 1u);
  EXPECT_EQ(std::get<EndedEntity>(datagram_.entity_changes[0]).number, 3u);
  ASSERT_EQ(datagram_.fields.size(), 1u);
  EXPECT_EQ(datagram_.fields[0].slot, 4u);
}

TEST_F(SectionReadersTest, ForgetTheContentsOfTheDatagramBefore) {
  datagram_.header.has_spawns = datagram_.header.has_fields = true;
  EXPECT_FALSE(read(3, 4));
  datagram_.header.has_spawns = false;
  EXPECT_FALSE(read(5, 6));
  EXPECT_TRUE(datagram_.entity_changes.empty());
  ASSERT_EQ(datagram_.fields.size(), 1u);
  EXPECT_EQ(datagram_.fields[0].slot, 5u);
}

TEST_F(SectionReadersTest, StopAtTheFirstRefusal) {
  datagram_.header.has_spawns = datagram_.header.has_fields = true;
  EXPECT_FALSE(read(3, 4));
  EXPECT_EQ(read(0, 4), Refusal::beyond_limits);
  EXPECT_TRUE(datagram_.fields.empty());
}

}  // namespace
}  // namespace reckoner
