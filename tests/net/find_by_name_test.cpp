// SPDX-License-Identifier: MIT
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <reckoner/net/archetype.hpp>

namespace reckoner {
namespace {

std::vector<Archetype> archetypes() {
  Archetype car{.name = "car"};
  car.fields = {{"health", IntegerField{}}, {"fuel", RealField{}}, {"driver", BlobField{}}};
  return {{.name = "tram"}, car, {.name = "bicycle"}};
}

TEST(FindByName, ReturnsTheIndex) {
  const std::vector<Archetype> all = archetypes();
  for (std::size_t i = 0; i < all.size(); ++i)
    EXPECT_EQ(*find_archetype(all, all[i].name), i);
  for (std::size_t i = 0; i < all[1].fields.size(); ++i)
    EXPECT_EQ(*find_field(all[1], all[1].fields[i].name), i);
}

TEST(FindByName, AnUnknownNameIsAnErrorThatListsTheKnownOnesNearestFirst) {
  const std::vector<Archetype> all = archetypes();
  const auto archetype = find_archetype(all, "cat");
  ASSERT_FALSE(archetype);
  EXPECT_EQ(archetype.error(), "there is no archetype 'cat'; the archetypes are 'car', 'tram', 'bicycle'");
  const auto field = find_field(all[1], "Fuel");
  ASSERT_FALSE(field);
  EXPECT_EQ(field.error(), "archetype 'car' has no field 'Fuel'; its fields are 'fuel', 'health', 'driver'");
}

TEST(FindByName, NothingDeclared) {
  EXPECT_EQ(find_archetype({}, "car").error(), "there is no archetype 'car'; there are no archetypes");
  EXPECT_EQ(find_field({.name = "tram"}, "doors").error(),
            "archetype 'tram' has no field 'doors'; it has no fields");
  EXPECT_FALSE(find_field({.name = "tram"}, ""));
}

// Any text may be looked up, and an error stays one short line.
TEST(FindByName, TheErrorIsShort) {
  std::vector<Archetype> all(256);
  for (std::size_t i = 0; i < all.size(); ++i)
    all[i].name = "archetype " + std::to_string(i);
  const auto found = find_archetype(all, std::string(100'000, 'x'));
  ASSERT_FALSE(found);
  EXPECT_LT(found.error().size(), 500u);
  EXPECT_NE(found.error().find("and 244 more"), std::string::npos);
}

// Bindings read the error as UTF-8.
TEST(FindByName, TheErrorCutsNoCharacter) {
  for (const std::string character : {"\xc3\xbc", "\xe2\x82\xac", "\xf0\x9f\x9a\x97"}) {
    for (std::size_t before = 0; before < 4; ++before) {
      std::string wanted(before, 'x');
      while (wanted.size() < 100)
        wanted += character;
      const std::size_t whole = (2 * kMaxFieldNameBytes - before) / character.size();
      const std::string shown = wanted.substr(0, before + whole * character.size());
      EXPECT_EQ(find_archetype({}, wanted).error(),
                "there is no archetype '" + shown + "'; there are no archetypes");
    }
  }
}

}  // namespace
}  // namespace reckoner
