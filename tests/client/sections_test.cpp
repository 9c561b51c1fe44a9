// SPDX-License-Identifier: MIT
// The list of sections that the client writes.
#include "client/src/connection/client_sections.hpp"

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

}  // namespace
}  // namespace reckoner
