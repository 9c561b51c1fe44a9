// SPDX-License-Identifier: MIT
#include "random_fields.hpp"

#include <array>
#include <cmath>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <reckoner/net/archetype.hpp>

namespace reckoner {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

bool valid(const FieldSpec& field) {
  return is_valid(std::span{&field, 1});
}

TEST(UserFields, RandomFieldsAreValidAndRoundingIsStable) {
  test::Engine engine(1);
  for (int i = 0; i < 20'000; ++i) {
    const FieldSpec field = test::random_field(engine, "f");
    ASSERT_TRUE(valid(field)) << i;
    const FieldValue value = test::random_value(engine, field);
    const auto once = quantise(value, field);
    ASSERT_TRUE(once) << i;
    EXPECT_EQ(quantise(*once, field), once) << i;  // rounding twice changes nothing
    if (const auto* f = std::get_if<RealField>(&field.type)) {
      const double error = std::abs(std::get<double>(*once) - std::get<double>(value));
      EXPECT_LE(error, 0.52 * f->step) << i;
      EXPECT_GE(std::get<double>(*once), f->least);
      EXPECT_LE(std::get<double>(*once), f->most);
    } else {
      EXPECT_EQ(*once, value);
    }
  }
}

TEST(UserFields, ValueOfAnotherTypeOrOutOfRangeIsRefused) {
  const FieldSpec flag{"flag", BooleanField{}};
  const FieldSpec health{"health", IntegerField{-5, 100, 100}};
  const FieldSpec heat{"heat", RealField{-1.0, 2.0, 0.25, 0.0}};
  const FieldSpec label{"label", BlobField{3, {}}};
  EXPECT_EQ(quantise(true, flag), FieldValue{true});
  EXPECT_FALSE(quantise(std::int64_t{1}, flag));
  EXPECT_EQ(quantise(std::int64_t{-5}, health), FieldValue{std::int64_t{-5}});
  EXPECT_FALSE(quantise(std::int64_t{-6}, health));
  EXPECT_FALSE(quantise(std::int64_t{101}, health));
  EXPECT_FALSE(quantise(50.0, health));
  EXPECT_EQ(quantise(0.6, heat), FieldValue{0.5});
  for (const double wrong : {-1.01, 2.01, kNan, kInfinity, -kInfinity})
    EXPECT_FALSE(quantise(wrong, heat)) << wrong;
  const std::array<std::byte, 65> bytes{};
  EXPECT_TRUE(quantise(*Blob::of(std::span{bytes}.first(3)), label));
  EXPECT_FALSE(quantise(*Blob::of(std::span{bytes}.first(4)), label));
  EXPECT_FALSE(Blob::of(bytes));
}

TEST(UserFields, TextIsStoredInBlobs) {
  const FieldSpec name{"name", BlobField{16, *Blob::of("nobody")}};
  EXPECT_EQ(std::get<Blob>(initial_value(name)).text(), "nobody");
  const auto kept = quantise(*Blob::of("Zoë"), name);
  ASSERT_TRUE(kept);
  EXPECT_EQ(std::get<Blob>(*kept).text(), "Zoë");
  EXPECT_EQ(Blob::of("")->text(), "");
  EXPECT_TRUE(Blob::of(std::string(kMaxBlobBytes, 'x')));
  EXPECT_FALSE(Blob::of(std::string(kMaxBlobBytes + 1, 'x')));
}

TEST(UserFields, InvalidDeclarationsAreDetected) {
  EXPECT_TRUE(valid({"f", IntegerField{std::numeric_limits<std::int64_t>::min(),
                                       std::numeric_limits<std::int64_t>::max(), 7}}));
  EXPECT_FALSE(valid({"f", IntegerField{1, 0, 0}}));
  EXPECT_FALSE(valid({"f", IntegerField{1, 2, 0}}));
  EXPECT_FALSE(valid({"f", RealField{0.0, 1.0, 0.0, 0.0}}));
  EXPECT_FALSE(valid({"f", RealField{0.0, 1.0, -0.1, 0.0}}));
  EXPECT_FALSE(valid({"f", RealField{0.0, 1.0, kNan, 0.0}}));
  EXPECT_FALSE(valid({"f", RealField{0.0, 1.0, 1e-18, 0.0}}));
  EXPECT_FALSE(valid({"f", RealField{0.0, kInfinity, 0.1, 0.0}}));
  EXPECT_FALSE(valid({"f", RealField{kNan, 1.0, 0.1, 0.5}}));
  EXPECT_FALSE(valid({"f", RealField{0.0, 1.0, 0.1, kNan}}));
  EXPECT_FALSE(valid({"f", BlobField{65, {}}}));
  EXPECT_FALSE(valid({"", BooleanField{}}));
  EXPECT_FALSE(valid({std::string(33, 'n'), BooleanField{}}));
  const FieldSpec f{"f", BooleanField{}};
  EXPECT_FALSE(is_valid(std::vector<FieldSpec>{f, f}));
  test::Engine engine(2);
  EXPECT_TRUE(is_valid(test::random_fields(engine, 32)));
  EXPECT_FALSE(is_valid(test::random_fields(engine, 33)));
}

TEST(Archetypes, HashCoversTheMotionSettings) {
  const auto hash = [](bool has_orientation, bool never_reverses) {
    Archetype archetype;
    archetype.has_orientation = has_orientation;
    archetype.never_reverses = never_reverses;
    return archetype_hash(std::span{&archetype, 1});
  };
  const std::set<std::uint32_t> hashes{hash(false, false), hash(false, true), hash(true, false),
                                       hash(true, true)};
  EXPECT_EQ(hashes.size(), 4u);
}

// Both sides must notice every difference between their declarations.
TEST(UserFields, HashCoversEveryPartOfAField) {
  const auto hash = [](std::vector<FieldSpec> fields) {
    Archetype archetype;
    archetype.fields = std::move(fields);
    return archetype_hash(std::span{&archetype, 1});
  };
  const std::byte byte{1};
  const std::vector<std::vector<FieldSpec>> all{
      {},
      {{"f", BooleanField{false}}},
      {{"f", BooleanField{true}}},
      {{"g", BooleanField{false}}},
      {{"f", BooleanField{false}}, {"g", BooleanField{false}}},
      {{"g", BooleanField{false}}, {"f", BooleanField{false}}},
      {{"f", IntegerField{0, 255, 0}}},
      {{"f", IntegerField{-1, 255, 0}}},
      {{"f", IntegerField{0, 256, 0}}},
      {{"f", IntegerField{0, 255, 1}}},
      {{"f", RealField{0.0, 1.0, 0.1, 0.0}}},
      {{"f", RealField{-1.0, 1.0, 0.1, 0.0}}},
      {{"f", RealField{0.0, 2.0, 0.1, 0.0}}},
      {{"f", RealField{0.0, 1.0, 0.2, 0.0}}},
      {{"f", RealField{0.0, 1.0, 0.1, 0.1}}},
      {{"f", BlobField{64, {}}}},
      {{"f", BlobField{63, {}}}},
      {{"f", BlobField{64, *Blob::of(std::span{&byte, 1})}}},
  };
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (std::size_t j = 0; j < all.size(); ++j)
      EXPECT_EQ(hash(all[i]) == hash(all[j]), i == j) << i << ", " << j;
  }
}

}  // namespace
}  // namespace reckoner
