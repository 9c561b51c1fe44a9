// SPDX-License-Identifier: MIT
// The list of sections that a session writes, with sections that echo a counter.
#include "server/src/session/sections.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

namespace reckoner {
namespace {

/// What a tick without entities gives to the sections.
struct EmptyTick {
  [[nodiscard]] TickInputs inputs() {
    return {table, fields, published, {}, {}, routes, encodings, tick, 0.0, 0.0, 60.0};
  }
  EntityTable table{4, 0};
  ServerConfig config;
  FieldTable fields{config.archetypes};
  Published published;
  RouteTable routes;
  Encodings encodings{1};
  Tick tick = 7;
};

// A section that writes a counter in 16 bits while it is due.
struct Counter {
  unsigned value = 0;
  Urgency urgent = Urgency::none;
  std::size_t room_bits = 0;  // the room that it was offered last
  std::vector<Sequence> arrived;

  [[nodiscard]] Urgency urgency(Tick) const { return urgent; }
  bool write(BitWriter& writer, std::size_t most_bits, const SectionPlace&) {
    room_bits = most_bits;
    if (most_bits < 16) return false;
    writer.write(value, 16);
    return true;
  }
};
struct FirstCounter : Counter {
  static constexpr bool ServerHeader::*kFlag = &ServerHeader::has_spawns;
  bool crowded_out = false;
  std::size_t begun = 0;
  void begin(const TickInputs&, ServerStats&) { ++begun; }
  [[nodiscard]] bool is_crowded_out() const { return crowded_out; }
  void settle(const Settled& datagram) {
    if (datagram.acked) arrived.push_back(datagram.sequence);
  }
};
struct SecondCounter : Counter {
  static constexpr bool ServerHeader::*kFlag = &ServerHeader::has_fields;
};

class SessionSections : public testing::Test {
 protected:
  // Writes a datagram with this room for the sections.
  void write(std::size_t room_bits) {
    const TickInputs inputs = empty.inputs();
    const SectionPlace place{0, inputs, link, nullptr, stats, traffic.share(0)};
    writer = BitWriter{buffer};
    header = {};
    sections.write(writer, room_bits, place, header);
  }
  void refill(double bytes) { (void)sections.budget().refill(bytes, 0); }

  EmptyTick empty;
  PeerLink link{0.1};
  ServerStats stats;
  TrafficCounter traffic{{}, 1};
  FirstCounter first{{.value = 7}};
  SecondCounter second{{.value = 9}};
  Sections<FirstCounter, SecondCounter> sections{first, second};
  ByteBudget budget{0.0, 1.0 / 60.0, false};  // without limit
  std::array<std::byte, 64> buffer{};
  BitWriter writer{buffer};
  ServerHeader header;
};

TEST_F(SessionSections, OffersTheRoomInOrder) {
  refill(100.0);
  first.urgent = second.urgent = Urgency::waits;
  write(40);
  EXPECT_TRUE(header.has_spawns);
  EXPECT_TRUE(header.has_fields);
  EXPECT_EQ(first.room_bits, 40u);
  EXPECT_EQ(second.room_bits, 24u);
  BitReader reader{writer.finish()};
  EXPECT_EQ(reader.read(16), 7u);
  EXPECT_EQ(reader.read(16), 9u);
}

TEST_F(SessionSections, AnnouncesOnlyWhatIsWritten) {
  refill(100.0);
  first.urgent = Urgency::now;
  write(15);
  EXPECT_FALSE(header.has_spawns) << "no room";
  EXPECT_FALSE(header.has_fields) << "not due";
  EXPECT_EQ(second.room_bits, 0u);
  EXPECT_EQ(writer.bits_written(), 0u);
}

TEST_F(SessionSections, UsesItsBudgetExceptForBulk) {
  first.urgent = Urgency::bulk;
  second.urgent = Urgency::now;
  EXPECT_TRUE(sections.due(empty.tick)) << "bulk";
  write(100);
  EXPECT_TRUE(header.has_spawns);
  EXPECT_FALSE(header.has_fields) << "the budget is empty";
  refill(3.0);
  write(100);
  EXPECT_TRUE(header.has_fields);
  EXPECT_TRUE(sections.budget().any()) << "two of three bytes are used, and bulk costs nothing";
  write(100);
  EXPECT_FALSE(sections.budget().any());
  first.urgent = Urgency::none;
  EXPECT_FALSE(sections.due(empty.tick));
}

TEST_F(SessionSections, LeavesWaitingMotionsHalfOfADatagram) {
  constexpr std::size_t kRoom = 8000, kLeast = 1800;
  EXPECT_EQ(sections.room(kRoom, false, kLeast, empty.tick, budget), kRoom);
  EXPECT_EQ(sections.room(kRoom, true, kLeast, empty.tick, budget), kRoom / 2);
  EXPECT_EQ(sections.room(2000, true, kLeast, empty.tick, budget), 200u);
  EXPECT_EQ(sections.room(1000, true, kLeast, empty.tick, budget), 0u);
  first.crowded_out = true;
  EXPECT_EQ(sections.room(1000, true, kLeast, empty.tick, budget), 1000u) << "the next datagram is its own";
}

TEST_F(SessionSections, OnlyWhatIsUrgentOverdrawsTheByteBudget) {
  ByteBudget slow{1000.0, 1.0 / 60.0};
  slow.advance(0.0);
  slow.spend(1500, 0.0);
  ASSERT_FALSE(slow.affordable());
  refill(100.0);
  second.urgent = Urgency::waits;
  EXPECT_FALSE(sections.need_datagram(empty.tick, slow));
  EXPECT_FALSE(sections.urgent(empty.tick));
  EXPECT_TRUE(sections.need_datagram(empty.tick, budget));
  second.urgent = Urgency::now;
  EXPECT_TRUE(sections.need_datagram(empty.tick, slow));
  EXPECT_TRUE(sections.urgent(empty.tick));
  slow.spend(5000, 0.0);
  EXPECT_FALSE(sections.need_datagram(empty.tick, slow)) << "by one datagram at most";
}

TEST_F(SessionSections, CallsWhatASectionHas) {
  const TickInputs inputs = empty.inputs();
  sections.begin(inputs, stats);
  EXPECT_EQ(first.begun, 1u);
  sections.settle({.sequence = 5, .acked = true});
  sections.settle({.sequence = 6, .acked = false});
  EXPECT_EQ(first.arrived, (std::vector<Sequence>{5}));
}

TEST(SectionBudget, GivesEachWhatTheOtherDoesNotUse) {
  SectionBudget budget;
  EXPECT_DOUBLE_EQ(budget.refill(100.0, 0), 100.0);
  budget.spend(8 * 80);
  EXPECT_DOUBLE_EQ(budget.refill(100.0, 30), 50.0) << "the sections used more than half";
  budget.spend(8 * 20);
  EXPECT_DOUBLE_EQ(budget.refill(100.0, 500), 80.0);
  EXPECT_TRUE(budget.any());
  budget.spend_headers(400);
  EXPECT_FALSE(budget.any());
}

}  // namespace
}  // namespace reckoner
