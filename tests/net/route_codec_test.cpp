// SPDX-License-Identifier: MIT
#include "net/src/codec/route_codec.hpp"

#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include <glm/geometric.hpp>
#include <gtest/gtest.h>

namespace reckoner {
namespace {

RouteDefinition loop(RouteWrap wrap) {
  RouteDefinition d;
  d.wrap = wrap;
  d.curve = CatmullRomRoute{{{0, 0, 0}, {10, 0, 0}, {10, 10, 0}, {0, 10, 0}}};
  return d;
}

constexpr RouteWrap kWraps[] = {RouteWrap::open, RouteWrap::closed, RouteWrap::ping_pong};

struct Fixture {
  RouteTable routes;
  RouteId id;
  const Route* route;
  Quantisation q = quantisation_for(Archetype{});

  explicit Fixture(RouteWrap wrap) : id(*routes.add(loop(wrap))), route(routes.find(id)) {}
};

// 140 bytes of a message can create 49 152 pieces. The table has room for some of these routes, and for
// thousands of ordinary ones.
TEST(RouteTable, LimitsTheTotalNumberOfParts) {
  RouteDefinition tiny;
  tiny.wrap = RouteWrap::closed;
  auto& curve = tiny.curve.emplace<ChaikinRoute>(
      ChaikinRoute{{{0.0, 0.0, 0.0}, {10.0, 0.0, 0.0}, {0.0, 10.0, 1.0}}, 14});
  RouteTable table;
  std::size_t parts = 0;
  Result<RouteId> added = table.add(tiny);
  for (; added; added = table.add(tiny)) {
    const Route* route = table.find(*added);
    parts += route->path().piece_count() + route->arc().part_count();
    ASSERT_LE(parts, kMaxRouteParts);
  }
  EXPECT_NE(added.error().find("together"), std::string::npos) << added.error();
  EXPECT_GT(table.size(), 3u);
  curve.passes = 2;
  EXPECT_TRUE(table.add(tiny)) << "a small one fits yet";

  RouteTable usual;
  CatmullRomRoute patrol;
  for (int i = 0; i < 20; ++i)
    patrol.points.push_back({5.0 * i, 10.0 * (i % 3), 0.0});
  for (std::uint32_t i = 0; i < kMaxRoutes; ++i)
    ASSERT_TRUE(usual.add({.curve = patrol})) << i;
}

TEST(RouteTable, GivesIdsInOrderAndKeepsRoutesInPlace) {
  RouteTable table;
  EXPECT_EQ(table.find({}), nullptr);
  EXPECT_EQ(table.find({1}), nullptr);
  const RouteId first = *table.add(loop(RouteWrap::closed));
  const Route* at = table.find(first);
  ASSERT_NE(at, nullptr);
  EXPECT_FALSE(table.add(RouteDefinition{}));
  for (std::uint32_t i = 2; i <= 100; ++i)
    EXPECT_EQ(table.add(loop(RouteWrap::open))->value, i);
  EXPECT_EQ(table.find(first), at);
  EXPECT_EQ(table.size(), 100u);
}

TEST(RouteCodec, RoundTrips) {
  for (const RouteWrap wrap : kWraps) {
    const Fixture f{wrap};
    for (int i = 0; i < 200; ++i) {
      const RouteState along{-50.0 + i * 0.7, std::sin(i) * 30.0, i % 3 == 0 ? 0.0 : std::cos(i) * 5.0};
      const auto precision = static_cast<std::uint8_t>(i % 11);
      const QuantisedState sent =
          quantise(f.id, *f.route, along, static_cast<std::uint8_t>(i), precision, f.q);
      std::array<std::byte, 128> buffer;
      BitWriter writer{buffer};
      write_full(writer, sent, f.q);
      ASSERT_FALSE(writer.overflowed());
      BitReader reader{writer.finish()};
      const QuantisedState read = read_full(reader, f.q);
      EXPECT_EQ(read, sent);
      EXPECT_TRUE(reader.finished());

      const auto motion = motion_of(read, 12.5, f.q, f.routes);
      ASSERT_TRUE(motion);
      EXPECT_EQ(motion->route, f.route);
      EXPECT_EQ(motion->time_s, 12.5);
      EXPECT_EQ(motion->teleports, i % 8);
      const double coarser = std::ldexp(1.0, kUnitPrecision - precision);
      const double expected =
          wrap == RouteWrap::open ? f.route->wrapped(along.distance).distance : along.distance;
      EXPECT_NEAR(f.route->unwrapped(motion->along.distance, expected), expected,
                  0.501 * coarser * f.q.route_distance_step_m);
      EXPECT_NEAR(motion->along.speed, along.speed, 0.501 * coarser * f.q.route_speed_step_mps);
      EXPECT_NEAR(motion->along.acceleration, along.acceleration,
                  0.501 * coarser * f.q.route_acceleration_step_mps2);
      // The position is on the curve despite rounding.
      EXPECT_LT(f.route->nearest(motion->state.position).distance_to_point, 1e-9);
    }
  }
}

// The purpose of routes: a steady walk is exact for a quarter of a minute and costs a few bytes.
TEST(RouteCodec, SteadyWalkStaysWithinHalfTheThresholdFor15Seconds) {
  const Fixture f{RouteWrap::closed};
  for (int i = 0; i < 100; ++i) {
    const RouteState along{i * 0.377, 0.7 + i * 0.0137, 0.0};
    const QuantisedState sent = quantise(f.id, *f.route, along, 0, kUnitPrecision, f.q);
    const Motion motion = *motion_of(sent, 0.0, f.q, f.routes);
    const double end = Route::advanced(along, 15.0).distance;
    EXPECT_NEAR(f.route->unwrapped(f.route->advanced_on_route(motion.along, 15.0).distance, end), end,
                0.0275);
    std::array<std::byte, 128> buffer;
    BitWriter writer{buffer};
    write_full(writer, sent, f.q);
    EXPECT_LE(writer.bits_written(), 48u);
  }
}

TEST(RouteCodec, RefusesInvalidStates) {
  const Fixture f{RouteWrap::closed};
  const double inf = std::numeric_limits<double>::infinity();
  EXPECT_TRUE(is_encodable(RouteState{1e6, -3.0, 1.0}, *f.route, f.q));
  EXPECT_FALSE(is_encodable(RouteState{inf, 1.0, 0.0}, *f.route, f.q));
  EXPECT_FALSE(is_encodable(RouteState{0.0, 1001.0, 0.0}, *f.route, f.q));
  EXPECT_FALSE(is_encodable(RouteState{0.0, 1.0, inf}, *f.route, f.q));
  EXPECT_FALSE(is_encodable(RouteState{0.0, std::nan(""), 0.0}, *f.route, f.q));

  const QuantisedState good = quantise(f.id, *f.route, {1.0, 1.0, 0.0}, 0, kUnitPrecision, f.q);
  QuantisedState bad = good;
  bad.along.route = {2};
  EXPECT_FALSE(motion_of(bad, 0.0, f.q, f.routes));
  bad = good;
  bad.along.distance = static_cast<std::int32_t>((f.route->period() + 1.0) / f.q.route_distance_step_m);
  EXPECT_FALSE(motion_of(bad, 0.0, f.q, f.routes));
  bad = good;
  bad.along.speed = static_cast<std::int32_t>(-1001.0 / f.q.route_speed_step_mps);
  EXPECT_FALSE(motion_of(bad, 0.0, f.q, f.routes));
  bad = good;
  bad.along.acceleration = 2'000'000'000;
  EXPECT_FALSE(motion_of(bad, 0.0, f.q, f.routes));
}

TEST(RouteCodec, DamagedBitsReadAsAValidStateOrFail) {
  const Fixture f{RouteWrap::ping_pong};
  const QuantisedState sent = quantise(f.id, *f.route, {12.0, 1.5, 0.5}, 3, kUnitPrecision, f.q);
  std::array<std::byte, 128> buffer{};
  BitWriter writer{buffer};
  write_full(writer, sent, f.q);
  const std::size_t bits = writer.bits_written();
  for (std::size_t bit = 1; bit < bits; ++bit) {  // bit 0 says that it is on a route
    auto damaged = buffer;
    damaged[bit / 8] ^= static_cast<std::byte>(1u << (bit % 8));
    BitReader reader{damaged};
    const QuantisedState read = read_full(reader, f.q);
    if (reader.failed()) continue;
    const auto motion = motion_of(read, 0.0, f.q, f.routes);
    if (!motion) continue;
    EXPECT_TRUE(is_sane(state_at(*motion, 1.0)));
  }
}

TEST(RouteCodec, WithoutOrientationTheRouteDoesNotTurnIt) {
  Archetype archetype;
  archetype.has_orientation = false;
  RouteTable routes;
  const RouteId id = *routes.add(loop(RouteWrap::closed));
  const Quantisation q = quantisation_for(archetype);
  const auto motion =
      motion_of(quantise(id, *routes.find(id), {12.0, 1.0, 0.0}, 0, kUnitPrecision, q), 0.0, q, routes);
  ASSERT_TRUE(motion);
  EXPECT_EQ(motion->state.orientation, State{}.orientation);
  EXPECT_EQ(state_at(*motion, 3.0).orientation, State{}.orientation);
  EXPECT_EQ(state_at(*motion, 3.0).angular_velocity, glm::vec3{0.0f});
  EXPECT_GT(glm::length(state_at(*motion, 3.0).position - motion->state.position), 1.0);
}

}  // namespace
}  // namespace reckoner
