// SPDX-License-Identifier: MIT
#include "server/src/publish/encodings.hpp"

#include "server/src/publish/publisher.hpp"

#include <algorithm>
#include <atomic>
#include <vector>

#include <gtest/gtest.h>

namespace reckoner {
namespace {

constexpr std::uint32_t kSlots = 300;  // more bit strings than fit in one memory block
constexpr std::uint32_t kPublishes = 12;

/// Entities with several publishes each.
struct World {
  World() {
    for (std::uint32_t slot = 0; slot < kSlots; ++slot) {
      const EntityId id = table.add(publisher.make_entity(0, "", State{}, 0), 0);
      for (std::uint32_t number = 1; number <= kPublishes; ++number) {
        State state;
        state.position = {0.3 * slot, 0.1 * number * number, 0.0};
        state.velocity.y = 0.2f * static_cast<float>(number);
        const QuantisedState encoded = quantise(state, 0, kUnitPrecision, quantisation[0]);
        table.find(id)->levels[0].stream.publish(
            encoded, Motion{*dequantise(encoded, quantisation[0]), number / 60.0}, number, 1.0);
      }
    }
  }
  void begin(Encodings& encodings) const { encodings.begin(table, quantisation, 60.0); }

  ServerConfig config;
  std::vector<Quantisation> quantisation{quantisation_for(Archetype{})};
  EntityTable table{kSlots, 0};
  Publisher publisher{config, quantisation, 1};
};

std::vector<std::byte> copy(const BitString& string) {
  return {string.bytes, string.bytes + (string.bits + 7) / 8};
}

TEST(Encodings, AreMadeOnceAndDoNotMove) {
  const World world;
  Encodings encodings(1);
  world.begin(encodings);
  std::vector<BitString> first;
  for (std::uint32_t slot = 0; slot < kSlots; ++slot) {
    for (std::uint32_t reference = 0; reference < kPublishes; ++reference)
      first.push_back(encodings.get(0, slot, 0, reference));
  }
  std::size_t i = 0;
  for (std::uint32_t slot = 0; slot < kSlots; ++slot) {
    for (std::uint32_t reference = 0; reference < kPublishes; ++reference, ++i) {
      const BitString again = encodings.get(0, slot, 0, reference);
      ASSERT_EQ(again.bytes, first[i].bytes);
      ASSERT_EQ(again.bits, first[i].bits);
      ASSERT_GT(again.bits, 0u);
    }
  }
  EXPECT_NE(copy(first[0]), copy(first[1]));  // the second is a residual against the first
}

TEST(Encodings, ChangeOnlyWhenATickBegins) {
  World world;
  Encodings encodings(1);
  world.begin(encodings);
  const auto before = copy(encodings.get(0, 5, 0, 0));
  State elsewhere;
  elsewhere.position.x = 77.0;
  const QuantisedState encoded = quantise(elsewhere, 0, kUnitPrecision, world.quantisation[0]);
  world.table.slots()[5].levels[0].stream.publish(encoded, Motion{elsewhere, 1.0}, 60, 1.0);
  EXPECT_EQ(copy(encodings.get(0, 5, 0, 0)), before);
  world.begin(encodings);
  EXPECT_NE(copy(encodings.get(0, 5, 0, 0)), before);
}

// Under the thread sanitizer this test finds data races. Elsewhere it is a smoke test.
TEST(Encodings, AreTheSameForAllWorkers) {
  const World world;
  Encodings alone(1), shared(4);
  WorkerPool pool(4);
  for (int round = 0; round < 20; ++round) {
    world.begin(alone);
    world.begin(shared);
    std::atomic<int> different = 0;
    // All workers request all encodings at about the same time.
    pool.run(4, 1, [&](unsigned worker, std::size_t first, std::size_t last) {
      for (std::size_t share = first; share < last; ++share) {
        for (std::uint32_t slot = 0; slot < kSlots; ++slot)
          (void)shared.get(worker, slot, 0, (slot + static_cast<std::uint32_t>(share)) % kPublishes);
      }
    });
    for (std::uint32_t slot = 0; slot < kSlots; ++slot) {
      for (std::uint32_t reference = 0; reference < kPublishes; ++reference) {
        if (copy(shared.get(0, slot, 0, reference)) != copy(alone.get(0, slot, 0, reference))) ++different;
      }
    }
    ASSERT_EQ(different, 0);
  }
}

}  // namespace
}  // namespace reckoner
