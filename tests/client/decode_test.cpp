// SPDX-License-Identifier: MIT
#include "client/src/connection/decode.hpp"

#include "net/src/messages/messages.hpp"
#include "net/src/messages/spawns.hpp"
#include "net/src/wire/bit_stream.hpp"

#include <array>
#include <span>
#include <vector>

#include <gtest/gtest.h>

namespace reckoner {
namespace {

constexpr Tick kNewestTick = 70'000;  // ticks need more than their 16 bits on the wire

class Decode : public testing::Test {
 protected:
  Decode() {
    WelcomeMessage welcome;
    welcome.tick_rate_hz = 50.0;
    welcome.tick = kNewestTick;
    const Archetype& archetype = archetypes_.front();
    welcome.archetypes.push_back({archetype.threshold_m, archetype.threshold_rad, archetype.max_speed_mps,
                                  archetype.world_size_m, CodeParameters{}});
    EXPECT_TRUE(formats_.begin(welcome, archetypes_));
    clock_.begin(welcome, 0.0);
    header_.tick = static_cast<std::uint16_t>(kNewestTick);
  }

  [[nodiscard]] const Quantisation& quantisation() const { return *formats_.quantisation(0); }
  [[nodiscard]] QuantisedState encoded(double x_m) const {
    State state;
    state.position.x = x_m;
    return quantise(state, 0, CodingMode{}, quantisation());
  }
  [[nodiscard]] Spawn spawn(EntityId id, std::uint32_t number) const {
    Spawn spawn;
    spawn.number = number;
    spawn.entity = id;
    spawn.orientation_bits = static_cast<std::uint8_t>(quantisation().orientation_bits);
    spawn.state = encoded(3.0);
    spawn.name = "crate";
    return spawn;
  }
  void know(EntityId id, Tick baseline_tick) {
    entities_.put({.id = id, .info = {}, .remote = RemoteEntity{Motion{}}});
    entities_.references(static_cast<std::uint32_t>(id.slot()))->note(0, baseline_tick, encoded(5.0));
  }

  // Writes the header. The test then writes what the header announces.
  BitWriter& begin() {
    write(writer_, header_);
    return writer_;
  }
  void add_update(const UpdateHeader& head, double x_m) {
    write(writer_, head, header_.coding, previous_);
    previous_ = head.slot;
    if (head.reference_age) {
      write_residual(writer_, encoded(x_m), encoded(5.0), (*head.reference_age - head.age) / 50.0,
                     quantisation());
    } else {
      write_full(writer_, encoded(x_m), quantisation());
    }
  }
  std::optional<Refusal> decode_written() { return decode_bytes(writer_.finish()); }
  std::optional<Refusal> decode_bytes(std::span<const std::byte> bytes) {
    return decode(bytes, {formats_, clock_, spawns_, reliable_, entities_}, out_);
  }

  std::vector<Archetype> archetypes_{1};
  SessionFormats formats_;
  SessionClock clock_;
  SettledNumbers spawns_;
  ReliableReceiver reliable_{{}};
  EntityStore entities_;
  ServerHeader header_;
  std::int64_t previous_ = -1;
  DecodedDatagram out_;
  std::array<std::byte, kMaxDatagramBytes> buffer_{};
  BitWriter writer_{buffer_};
};

TEST_F(Decode, ReadsMotionsInFullAndAgainstABaseline) {
  know({1, 1}, kNewestTick - 10);
  know({3, 1}, kNewestTick - 10);
  header_.update_count = 2;
  header_.complete_age = 4;
  begin();
  add_update({.slot = 0, .age = 2, .level = 0, .reference_age = 10}, 5.5);
  add_update({.slot = 2, .age = 0, .level = 1, .reference_age = {}}, 7.0);
  ASSERT_EQ(decode_written(), std::nullopt);
  EXPECT_EQ(out_.tick, kNewestTick);
  EXPECT_EQ(out_.complete, kNewestTick - 4);
  ASSERT_EQ(out_.motions.size(), 2u);
  EXPECT_EQ(out_.motions[0].tick, kNewestTick - 2);
  EXPECT_NEAR(out_.motions[0].motion.state.position.x, 5.5, 0.01);
  EXPECT_DOUBLE_EQ(out_.motions[0].motion.time_s, clock_.time_of(kNewestTick - 2));
  EXPECT_EQ(out_.motions[1].slot, 2u);
  EXPECT_EQ(out_.motions[1].level, 1u);
  EXPECT_NEAR(out_.motions[1].motion.state.position.x, 7.0, 0.01);
}

TEST_F(Decode, ReadsSpawnsAndParts) {
  header_.has_spawns = header_.has_reliable = true;
  BitWriter& writer = begin();
  SpawnsWriter spawns;
  ASSERT_TRUE(spawns.add(writer, spawn({4, 2}, 1), 8000));
  ASSERT_TRUE(
      spawns.add(writer, Despawn{.number = 2, .entity = {5, 1}, .age = 3, .after_messages = {}}, 8000));
  spawns.finish(writer);
  ReliablePartsWriter parts;
  parts.add(writer, 0, std::vector<std::byte>(5));
  parts.finish(writer);
  ASSERT_EQ(decode_written(), std::nullopt);
  ASSERT_EQ(out_.entity_changes.size(), 2u);
  const auto& entity = std::get<NewEntity>(out_.entity_changes[0]);
  EXPECT_EQ(entity.entity, (EntityId{4, 2}));
  EXPECT_EQ(entity.info.name, "crate");
  EXPECT_NEAR(entity.motion.state.position.x, 3.0, 0.01);
  EXPECT_EQ(std::get<EndedEntity>(out_.entity_changes[1]).tick, kNewestTick - 3);
  ASSERT_EQ(out_.reliable.size(), 1u);
  EXPECT_EQ(out_.reliable[0].bytes.size(), 5u);
}

TEST_F(Decode, ForgetsTheDatagramBefore) {
  header_.has_spawns = true;
  BitWriter& writer = begin();
  SpawnsWriter spawns;
  ASSERT_TRUE(spawns.add(writer, spawn({4, 2}, 1), 8000));
  spawns.finish(writer);
  ASSERT_EQ(decode_written(), std::nullopt);
  ASSERT_EQ(out_.entity_changes.size(), 1u);
  std::array<std::byte, 64> buffer{};
  BitWriter empty{buffer};
  header_.has_spawns = false;
  write(empty, header_);
  ASSERT_EQ(decode_bytes(empty.finish()), std::nullopt);
  EXPECT_TRUE(out_.entity_changes.empty());
}

TEST_F(Decode, RefusesMotionsThatItCannotRead) {
  header_.update_count = 1;
  begin();
  add_update({.slot = 0, .age = 0, .level = 0, .reference_age = {}}, 1.0);
  EXPECT_EQ(decode_written(), Refusal::unknown_entity);
  know({1, 1}, kNewestTick - 10);
  EXPECT_EQ(decode_written(), std::nullopt);
}

TEST_F(Decode, RefusesUnknownBaselines) {
  know({1, 1}, kNewestTick - 10);
  header_.update_count = 1;
  begin();
  add_update({.slot = 0, .age = 0, .level = 0, .reference_age = 9}, 1.0);
  EXPECT_EQ(decode_written(), Refusal::unknown_baseline);
}

TEST_F(Decode, RefusesSpawnsFarAhead) {
  header_.has_spawns = true;
  BitWriter& writer = begin();
  SpawnsWriter spawns;
  ASSERT_TRUE(spawns.add(writer, spawn({4, 2}, 1 + SettledNumbers::kWindow), 8000));
  spawns.finish(writer);
  EXPECT_EQ(decode_written(), Refusal::beyond_limits);
}

TEST_F(Decode, RefusesTicksOfOtherTimes) {
  header_.tick = static_cast<std::uint16_t>(kNewestTick - 101);  // 2 s
  begin();
  EXPECT_EQ(decode_written(), Refusal::too_old);
  std::array<std::byte, 64> buffer{};
  BitWriter later{buffer};
  header_.tick = static_cast<std::uint16_t>(kNewestTick + 3001);  // 60 s
  write(later, header_);
  EXPECT_EQ(decode_bytes(later.finish()), Refusal::from_future);
}

TEST_F(Decode, RefusesEveryShorterDatagram) {
  know({1, 1}, kNewestTick - 10);
  header_.update_count = 1;
  header_.has_spawns = header_.has_reliable = true;
  BitWriter& writer = begin();
  add_update({.slot = 0, .age = 2, .level = 0, .reference_age = 10}, 5.5);
  SpawnsWriter spawns;
  ASSERT_TRUE(spawns.add(writer, spawn({4, 2}, 1), 8000));
  spawns.finish(writer);
  ReliablePartsWriter parts;
  parts.add(writer, 0, std::vector<std::byte>(5));
  parts.finish(writer);
  const std::span<const std::byte> bytes = writer.finish();
  ASSERT_EQ(decode_bytes(bytes), std::nullopt);
  for (std::size_t size = 0; size < bytes.size(); ++size)
    EXPECT_TRUE(decode_bytes(bytes.first(size)).has_value()) << size;
}

}  // namespace
}  // namespace reckoner
