// SPDX-License-Identifier: MIT
#include "server/src/session/datagrams.hpp"

#include <map>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace reckoner {
namespace {

TEST(InFlight, ReturnsTheContentsOfEachDatagramForAnyOrderOfFates) {
  std::mt19937 random(3);
  InFlight in_flight;
  std::map<std::uint16_t, std::vector<std::uint32_t>> open;  // entity numbers by sequence number
  std::uint32_t number = 0;
  for (std::uint32_t i = 0; i < 150'000; ++i) {  // sequence numbers wrap twice
    const auto sequence = static_cast<Sequence>(60'000u + i);
    in_flight.begin(sequence, i);
    auto& carried = open[sequence];
    // Sometimes a datagram that makes the storage grow.
    const std::size_t count = random() % 40 == 0 ? 300 : random() % 6;
    for (std::size_t k = 0; k < count; ++k) {
      carried.push_back(++number);
      in_flight.add({.subscription = 7, .spawn_number = i, .number = number, .motion_tick = i, .level = 1});
    }
    // The fates of datagrams become known out of order. The fate of the oldest datagram must be known before
    // its slot is reused.
    while (open.size() > random() % 200 + 20 || open.contains(static_cast<Sequence>(sequence - 250))) {
      const auto behind = static_cast<Sequence>(sequence - 250);
      auto known =
          open.contains(behind) ? open.find(behind) : open.lower_bound(static_cast<Sequence>(random()));
      if (known == open.end()) known = open.begin();
      std::vector<std::uint32_t> seen;
      in_flight.for_each(known->first, [&](const SentMotion& c) {
        seen.push_back(c.number);
        EXPECT_EQ(c.motion_tick, in_flight.at(known->first).tick);
      });
      ASSERT_EQ(seen, known->second);
      in_flight.end(known->first);
      open.erase(known);
    }
  }
}

}  // namespace
}  // namespace reckoner
