// SPDX-License-Identifier: MIT
#include "cluster/src/authority/epoch_table.hpp"

#include "cluster/src/bus/sim_bus.hpp"

#include <vector>

#include <gtest/gtest.h>

namespace reckoner::cluster {
namespace {

using Verdict = EpochTable::Verdict;

constexpr ProcessId kOne{1}, kTwo{2};
constexpr EntityId kBody{7, 1};

class EpochTableTest : public ::testing::Test {
 protected:
  void SetUp() override {
    run(0.01);
    put_blocks(1);
    put(kBody, {5, kOne, 1});
    run(0.1);
  }
  void run(double seconds) {
    for (const double until_s = now_s + seconds; now_s < until_s; now_s += 0.002) {
      hub.advance(now_s);
      writer.service(now_s);
      bus.service(now_s);
      table.begin(now_s);
      requests.poll();
      table.run(bus.connected());
    }
  }
  void put(EntityId id, const EpochValue& value) {
    writer.put(BusTable::epochs, slot_key(id), encode_value(value));
  }
  void put_blocks(std::uint32_t blocks) {
    writer.put(BusTable::world, kIdsKey, encode_value(IdsValue{blocks}));
  }
  // The verdict on a claim that arrives now, after `seconds`.
  Verdict verdict(EntityId id, std::uint32_t epoch, ProcessId by, double seconds = 0.3) {
    const double since_s = now_s;
    table.begin(now_s);
    Verdict last = table.check_slot(id, epoch, by, since_s);
    while (now_s < since_s + seconds && last == Verdict::open) {
      run(0.01);
      last = table.check_slot(id, epoch, by, since_s);
    }
    return last;
  }

  SimHub hub{{}, 9};
  SimBus writer{hub};
  SimBus bus{hub};
  Requests requests{bus};
  ClusterStats stats;
  EpochTable table{8, requests, stats};
  double now_s = 1000.0;
};

TEST_F(EpochTableTest, OnlyTheTableConfirms) {
  EXPECT_EQ(table.slot_epoch(kBody), 0u);
  EXPECT_EQ(table.check_slot(kBody, 5, kOne), Verdict::open);
  EXPECT_EQ(verdict(kBody, 5, kOne), Verdict::confirmed);
  EXPECT_EQ(table.slot_epoch(kBody), 5u);
  EXPECT_EQ(verdict(kBody, 5, kTwo), Verdict::refuted);
  EXPECT_EQ(verdict(kBody, 4, kOne), Verdict::refuted);
  EXPECT_EQ(verdict(kBody, 0, kOne), Verdict::refuted);
  EXPECT_EQ(verdict({7, 2}, 5, kOne), Verdict::refuted);  // another generation
  EXPECT_EQ(verdict(kBody, 6, kTwo, 1.0), Verdict::refuted);
  EXPECT_EQ(verdict(kBody, UINT32_MAX, kTwo, 1.0), Verdict::refuted);
  EXPECT_EQ(verdict(kBody, 5, kOne), Verdict::confirmed);
  EXPECT_EQ(table.slot_epoch(kBody), 5u);
}

TEST_F(EpochTableTest, ANewHolderIsConfirmedAfterOneRead) {
  ASSERT_EQ(verdict(kBody, 5, kOne), Verdict::confirmed);
  const std::uint64_t reads = stats.table_reads;
  put(kBody, {6, kTwo, 1});
  run(0.01);
  EXPECT_EQ(verdict(kBody, 6, kTwo, 0.02), Verdict::confirmed);
  EXPECT_EQ(stats.table_reads, reads + 1);
  EXPECT_EQ(verdict(kBody, 5, kOne), Verdict::refuted);
}

// The claim may arrive before what it claims.
TEST_F(EpochTableTest, AClaimWaitsForALateTable) {
  ASSERT_EQ(verdict(kBody, 5, kOne), Verdict::confirmed);
  const double since_s = now_s;
  EXPECT_EQ(table.check_slot(kBody, 6, kTwo, since_s), Verdict::open);
  run(0.1);
  EXPECT_EQ(table.check_slot(kBody, 6, kTwo, since_s), Verdict::open);
  put(kBody, {6, kTwo, 1});
  run(0.15);
  EXPECT_EQ(table.check_slot(kBody, 6, kTwo, since_s), Verdict::confirmed);
}

TEST_F(EpochTableTest, ReadsOfAKeyArePaced) {
  const std::uint64_t reads = stats.table_reads;
  for (int i = 0; i < 300; ++i) {
    (void)table.check_slot(kBody, 100 + static_cast<std::uint32_t>(i), kTwo);
    (void)table.check_slot(kBody, 1, kTwo);
    run(0.01);
  }
  EXPECT_LE(stats.table_reads - reads, 3u * 4u + 6u);
  EXPECT_EQ(verdict(kBody, 5, kOne), Verdict::confirmed);
}

TEST_F(EpochTableTest, PersistentRefusalsReadAgain) {
  ASSERT_EQ(verdict(kBody, 5, kOne), Verdict::confirmed);
  put(kBody, {UINT32_MAX, kTwo, 1});
  run(0.01);
  ASSERT_EQ(verdict(kBody, UINT32_MAX, kTwo), Verdict::confirmed);
  put(kBody, {5, kOne, 1});
  double confirmed_s = -1.0;
  const double began_s = now_s;
  while (confirmed_s < 0.0 && now_s < began_s + 10.0) {
    run(0.05);
    if (table.check_slot(kBody, 5, kOne) == Verdict::confirmed) confirmed_s = now_s - began_s;
  }
  EXPECT_GT(confirmed_s, 0.5);
  EXPECT_LT(confirmed_s, 1.5);
}

TEST_F(EpochTableTest, SlotsBeyondTheTakenBlocksAreNotRead) {
  const std::uint64_t reads = stats.table_reads;
  put({kMaxEntities, 1}, {1, kTwo, 1});  // the table of epochs alone does not suffice
  EXPECT_EQ(verdict({kMaxEntities, 1}, 1, kTwo), Verdict::refuted);
  EXPECT_EQ(verdict({257, 1}, 1, kTwo), Verdict::refuted);
  EXPECT_LE(stats.table_reads, reads + 2);
  put_blocks(2);
  put({257, 1}, {1, kTwo, 1});
  run(0.01);
  EXPECT_EQ(verdict({257, 1}, 1, kTwo, 0.3), Verdict::confirmed);
}

TEST_F(EpochTableTest, TheHolderIsThatOfTheTable) {
  EXPECT_FALSE(table.is_holder(kBody, kOne));
  run(0.02);
  EXPECT_TRUE(table.is_holder(kBody, kOne));
  EXPECT_FALSE(table.is_holder(kBody, kTwo));
  EXPECT_FALSE(table.is_holder({7, 2}, kOne));
  EXPECT_FALSE(table.is_holder({kMaxEntities, 1}, kOne));
}

TEST_F(EpochTableTest, ADamagedValueConfirmsNothing) {
  ASSERT_EQ(verdict(kBody, 5, kOne), Verdict::confirmed);
  writer.put(BusTable::epochs, slot_key(kBody), std::vector<std::byte>{std::byte{'{'}, std::byte{'}'}});
  run(0.01);
  EXPECT_EQ(verdict(kBody, 6, kTwo, 1.0), Verdict::refuted);
  EXPECT_EQ(verdict(kBody, 5, kOne), Verdict::confirmed);
  EXPECT_GT(stats.malformed, 0u);
}

}  // namespace
}  // namespace reckoner::cluster
