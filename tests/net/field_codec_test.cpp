// SPDX-License-Identifier: MIT
#include "net/src/codec/field_codec.hpp"

#include "net/src/messages/messages.hpp"
#include "random_fields.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <vector>

#include <gtest/gtest.h>

namespace reckoner {
namespace {

std::vector<FieldValue> random_values(test::Engine& engine, const std::vector<FieldSpec>& fields) {
  std::vector<FieldValue> values;
  for (const FieldSpec& field : fields)
    values.push_back(*quantise(test::random_value(engine, field), field));
  return values;
}

std::uint32_t all_of(std::size_t count) {
  return count == kMaxFields ? ~0u : (1u << count) - 1u;
}

TEST(FieldCodec, ChangesRoundTripWithTheirTicks) {
  test::Engine engine(1);
  constexpr Tick kNow = 5000;
  for (int round = 0; round < 5000; ++round) {
    const auto fields = test::random_fields(engine, 1 + test::up_to(engine, kMaxFields - 1));
    const auto values = random_values(engine, fields);
    std::vector<Tick> changed;
    for (std::size_t i = 0; i < fields.size(); ++i)
      changed.push_back(kNow - static_cast<Tick>(test::up_to(engine, 3)));
    std::uint32_t mask = static_cast<std::uint32_t>(engine()) & all_of(fields.size());
    if (mask == 0) mask = 1;

    std::array<std::byte, 4096> buffer;
    BitWriter writer{buffer};
    writer.write(0x5, 3);  // the section may start at any bit
    write_changes(writer, fields, values, changed, mask, kNow);
    ASSERT_FALSE(writer.overflowed());
    const std::size_t bits = writer.bits_written();
    BitReader reader{writer.finish()};
    ASSERT_EQ(reader.read(3), 0x5u);
    std::vector<FieldChange> changes;
    const std::size_t before = reader.bits_left();
    read_changes(reader, fields, changes);
    ASSERT_FALSE(reader.failed()) << round;
    EXPECT_EQ(before - reader.bits_left(), bits - 3);
    std::uint32_t read = 0;
    for (const FieldChange& change : changes) {
      read |= 1u << change.field;
      EXPECT_EQ(change.age, kNow - changed[change.field]);
      EXPECT_EQ(change.value, values[change.field]) << round;  // exact to the last bit
    }
    EXPECT_EQ(read, mask);
    EXPECT_EQ(changes.size(), static_cast<std::size_t>(std::popcount(mask)));
  }
}

TEST(FieldCodec, ValuesRoundTripAndInitialOnesTakeOneBit) {
  test::Engine engine(2);
  for (int round = 0; round < 2000; ++round) {
    const auto fields = test::random_fields(engine, 1 + test::up_to(engine, kMaxFields - 1));
    auto values = random_values(engine, fields);
    const bool initial = round % 4 == 0;
    if (initial) std::transform(fields.begin(), fields.end(), values.begin(), initial_value);
    std::array<std::byte, kMaxValuesBytes> buffer;
    BitWriter writer{buffer};
    write_values(writer, fields, values);
    ASSERT_FALSE(writer.overflowed());
    if (initial) {
      EXPECT_EQ(writer.bits_written(), fields.size());
    }
    BitReader reader{writer.finish()};
    std::vector<FieldValue> read;
    read_values(reader, fields, read);
    ASSERT_TRUE(reader.finished());
    EXPECT_EQ(read, values);
  }
}

TEST(FieldCodec, AllValuesAtTheirLongestFit) {
  std::vector<FieldSpec> fields;
  const std::array<std::byte, kMaxBlobBytes> bytes{std::byte{1}};
  for (std::size_t i = 0; i < kMaxFields; ++i)
    fields.push_back({std::to_string(i), BlobField{}});
  const std::vector<FieldValue> values(kMaxFields, *Blob::of(bytes));
  std::array<std::byte, kMaxValuesBytes> buffer;
  BitWriter writer{buffer};
  write_values(writer, fields, values);
  EXPECT_FALSE(writer.overflowed());
}

// Common cases are cheap. A flag that is the only field of an archetype costs its age and one bit.
TEST(FieldCodec, SizesMatchTheDocument) {
  const auto bits = [](const std::vector<FieldSpec>& fields, std::uint32_t mask) {
    std::vector<FieldValue> values;
    std::transform(fields.begin(), fields.end(), std::back_inserter(values), initial_value);
    const std::vector<Tick> changed(fields.size(), 7);
    std::array<std::byte, 64> buffer;
    BitWriter writer{buffer};
    write_changes(writer, fields, values, changed, mask, 7);
    return writer.bits_written();
  };
  const FieldSpec health{"health", IntegerField{0, 100, 100}};
  EXPECT_EQ(bits({{"flag", BooleanField{}}}, 1), 2u);
  EXPECT_EQ(bits({health, {"flag", BooleanField{}}}, 1), 1u + 2u + 7u + 1u);
  EXPECT_EQ(bits({health, {"flag", BooleanField{}}}, 3), 1u + 3u + 8u + 1u);
}

TEST(FieldCodec, SlotsRoundTripAndOutOfRangeSlotsAreRefused) {
  std::array<std::byte, 64> buffer;
  BitWriter writer{buffer};
  std::int64_t previous = -1;
  for (const std::uint32_t slot : {0u, 1u, 700u, kMaxEntities - 1}) {
    write_field_slot(writer, slot, previous);
    previous = slot;
  }
  writer.write(0, 1);
  BitReader reader{writer.finish()};
  previous = -1;
  for (const std::uint32_t slot : {0u, 1u, 700u, kMaxEntities - 1}) {
    EXPECT_EQ(read_field_slot(reader, previous), slot);
    previous = slot;
  }
  EXPECT_FALSE(read_field_slot(reader, previous));
  EXPECT_TRUE(reader.finished());

  BitWriter beyond{buffer};
  write_field_slot(beyond, kMaxEntities, -1);
  BitReader refusing{beyond.finish()};
  EXPECT_FALSE(read_field_slot(refusing, -1));
  EXPECT_TRUE(refusing.failed());
}

TEST(FieldCodec, InvalidChangesAreRefused) {
  const std::vector<FieldSpec> two{{"health", IntegerField{0, 100, 100}}, {"flag", BooleanField{}}};
  const auto refused = [&](auto&& write) {
    std::array<std::byte, 64> buffer{};
    BitWriter writer{buffer};
    write(writer);
    BitReader reader{writer.finish()};
    std::vector<FieldChange> changes;
    read_changes(reader, two, changes);
    return reader.failed();
  };
  const auto group = [](BitWriter& w, bool single, unsigned set, unsigned set_bits) {
    w.write(0, 1);  // age 0
    w.write(single ? 1 : 0, 1);
    w.write(set, set_bits);
  };
  EXPECT_FALSE(refused([&](BitWriter& w) { group(w, true, 0, 1), w.write(100, 7), w.write(0, 1); }));
  EXPECT_TRUE(refused([&](BitWriter& w) { group(w, true, 0, 1), w.write(101, 7), w.write(0, 1); }));
  EXPECT_TRUE(refused([&](BitWriter& w) { group(w, false, 0, 2), w.write(0, 9); }));  // no fields
  // One field coded as several.
  EXPECT_TRUE(refused([&](BitWriter& w) { group(w, false, 1, 2), w.write(0, 9); }));
  EXPECT_TRUE(refused([&](BitWriter& w) {  // a field twice
    group(w, true, 1, 1), w.write(0, 1), w.write(1, 1);
    group(w, true, 1, 1), w.write(0, 1), w.write(0, 1);
  }));
  // Changes of an entity that has no fields.
  std::array<std::byte, 8> zeros{};
  BitReader reader{zeros};
  std::vector<FieldChange> changes;
  read_changes(reader, {}, changes);
  EXPECT_TRUE(reader.failed());
}

// Under the sanitizers, this shows that no input is trusted.
TEST(FieldCodec, AnyBitsAreReadSafely) {
  test::Engine engine(3);
  int failed = 0;
  for (int round = 0; round < 30'000; ++round) {
    const auto fields = test::random_fields(engine, test::up_to(engine, kMaxFields));
    std::vector<std::byte> bytes(test::up_to(engine, 200));
    for (std::byte& b : bytes)
      b = static_cast<std::byte>(engine() & engine() & 0xff);
    BitReader reader{bytes};
    std::vector<FieldChange> changes;
    read_changes(reader, fields, changes);
    EXPECT_LE(changes.size(), fields.size());
    if (reader.failed()) {
      ++failed;
      continue;
    }
    for (const FieldChange& change : changes) {
      ASSERT_LT(change.field, fields.size());
      EXPECT_EQ(quantise(change.value, fields[change.field]), change.value);  // in range, on a step
    }
  }
  EXPECT_GT(failed, 1000);
  EXPECT_LT(failed, 29'000);
}

}  // namespace
}  // namespace reckoner
