// SPDX-License-Identifier: MIT
#include "net/src/messages/messages.hpp"

#include "net/src/config/archetype_settings.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include <reckoner/net/transport.hpp>

namespace reckoner {
namespace {

std::vector<std::byte> encoded(const ReliableMessage& message) {
  std::vector<std::byte> buffer(kMaxReliableMessageBytes);
  const auto bytes = encode(message, buffer);
  EXPECT_FALSE(bytes.empty());
  return {bytes.begin(), bytes.end()};
}

const std::vector<glm::dvec3> kSquare{{0, 0, 0}, {10, 0.1, 0}, {10, 10, 1.0 / 3.0}, {0, 10, 0}};
const CatmullRomRoute kCatmullRom{kSquare, CatmullRomKnots::chordal, true};
const TcbRoute kTcb{{{0.0, {1, 2, 3}, {0.1, 0.2, 0.3}, 0.4, 0.5}, {1.5, {4, 0.1, 6}, {}, 0.0, 0.25}}, 2.5};
const ChaikinRoute kChaikin{kSquare, 3, 0.5};
const PolylineRoute kPolyline{kSquare};

RouteDefinition route_along(RouteCurve curve) {
  RouteDefinition d{.curve = std::move(curve), .wrap = RouteWrap::ping_pong, .facing = RouteFacing::minimal};
  d.up = {0.0, 0.1, 1.0};
  d.orientation = {0.5, 0.5, -0.5, 0.5};
  d.tolerance = 2e-4;
  return d;
}

std::vector<ReliableMessage> one_of_each() {
  WelcomeMessage welcome;
  welcome.client = {77};
  welcome.key = {~0ull, 1};
  welcome.tick_rate_hz = 59.94;
  welcome.epoch_s = -12.25;
  welcome.tick = 123456;
  welcome.longest_gap_s = 0.375;
  welcome.archetypes = {{0.05, 0.1, 300.0, 1e5, {}}, {1.0, 0.5, 20.0, 1e3, {}}};
  welcome.archetypes[1].codes.orders[3] = {OrderRule::kMinOffset, OrderRule::kMaxSlope};
  welcome.archetypes[1].codes.priors[3].yaw = {-128, 127};
  QuantisedState state;
  state.position = {1, -200'000'000, 3};
  state.orientation = {255, -255, 0};
  state.largest = 3;
  state.teleports = 7;
  welcome.rewinds = true;
  return {welcome,
          AfterSpawnsMessage{4'000'000'000u},
          RouteMessage{{7}, route_along(kTcb)},
          RouteMessage{{8}, route_along(kChaikin)},
          GameDataMessage{{std::byte{1}, std::byte{0xfe}, std::byte{3}}, -1.5e9},
          GameDataMessage{{std::byte{9}}, std::nullopt},
          OwnershipMessage{{7, 1}, OwnershipMessage::Change::corrected, 15, 0.25, 4000, 9, state},
          OwnershipMessage{{7, 1}, OwnershipMessage::Change::revoked, 3, 0.0, 0, 0, {}},
          PlayoutMessage{true, true, {BlendCurve::damped, 0.25}},
          KickMessage{std::string(kMaxKickReasonBytes, 'k')},
          UnorderedMessage{{{std::byte{4}, std::byte{5}}, 2.5}, 4'000'000'000u},
          UnorderedMessage{{{std::byte{6}}, std::nullopt}, std::nullopt}};
}

TEST(Messages, RoundTrip) {
  const auto messages = one_of_each();
  const auto welcome = decode_reliable(encoded(messages[0]));
  ASSERT_TRUE(welcome);
  const auto& w = std::get<WelcomeMessage>(*welcome);
  EXPECT_EQ(w.client.value, 77u);
  EXPECT_EQ(w.key, (SessionKey{~0ull, 1}));
  EXPECT_EQ(w.tick_rate_hz, 59.94);
  EXPECT_EQ(w.epoch_s, -12.25);
  EXPECT_EQ(w.tick, 123456u);
  EXPECT_EQ(w.longest_gap_s, 0.375);
  EXPECT_TRUE(w.rewinds);
  ASSERT_EQ(w.archetypes.size(), 2u);
  EXPECT_EQ(w.archetypes[1].max_speed_mps, 20.0);
  EXPECT_EQ(w.archetypes[0].codes, CodeParameters{});
  EXPECT_EQ(w.archetypes[1].codes, std::get<WelcomeMessage>(messages[0]).archetypes[1].codes);
  EXPECT_NE(w.archetypes[1].codes, CodeParameters{});

  const auto after_spawns = decode_reliable(encoded(messages[1]));
  ASSERT_TRUE(after_spawns);
  EXPECT_EQ(std::get<AfterSpawnsMessage>(*after_spawns).number, 4'000'000'000u);

  const auto playout = decode_reliable(encoded(messages[8]));
  ASSERT_TRUE(playout);
  EXPECT_EQ(std::get<PlayoutMessage>(*playout), (PlayoutMessage{true, true, {BlendCurve::damped, 0.25}}));

  const auto kick = decode_reliable(encoded(messages[9]));
  ASSERT_TRUE(kick);
  EXPECT_EQ(std::get<KickMessage>(*kick).reason, std::string(kMaxKickReasonBytes, 'k'));

  for (std::size_t i = 0; i < messages.size(); ++i)
    EXPECT_EQ(is_unordered(encoded(messages[i])), i >= 10) << i;
  for (const std::size_t i : {10, 11}) {
    const auto unordered = decode_reliable(encoded(messages[i]));
    ASSERT_TRUE(unordered);
    const auto& had = std::get<UnorderedMessage>(messages[i]);
    const auto& has = std::get<UnorderedMessage>(*unordered);
    EXPECT_EQ(has.data.payload, had.data.payload);
    EXPECT_EQ(has.data.time_s, had.data.time_s);
    EXPECT_EQ(has.after_spawns, had.after_spawns);
  }
}

// Spawns and despawns were messages up to version 10; the request to join, the session and the request to
// resume it up to version 11. Their numbers have no other meaning.
TEST(Messages, KindsOfEarlierVersionsAreRefused) {
  std::vector<std::byte> bytes = encoded(AfterSpawnsMessage{1});
  for (const unsigned kind : {12u, 0u, 1u, 3u, 4u, 8u, 9u, 14u, 15u}) {
    bytes[0] = (bytes[0] & std::byte{0xf0}) | static_cast<std::byte>(kind);
    // Those messages had many sizes.
    for (std::size_t size = bytes.size(); size < 64; ++size) {
      std::vector<std::byte> longer = bytes;
      longer.resize(size, std::byte{0});
      EXPECT_EQ(decode_reliable(longer).has_value(), kind == 12u && size == bytes.size())
          << kind << " " << size;
    }
  }
}

bool same_number(double a, double b) {
  return std::memcmp(&a, &b, sizeof a) == 0;
}

bool same(const glm::dvec3& a, const glm::dvec3& b) {
  return same_number(a.x, b.x) && same_number(a.y, b.y) && same_number(a.z, b.z);
}
bool same(const TcbKey<glm::dvec3>& a, const TcbKey<glm::dvec3>& b) {
  return same_number(a.time, b.time) && same(a.value, b.value) &&
         same_number(a.shape.tension, b.shape.tension) &&
         same_number(a.shape.continuity, b.shape.continuity) && same_number(a.shape.bias, b.shape.bias) &&
         same_number(a.ease_to, b.ease_to) && same_number(a.ease_from, b.ease_from);
}
template <class Element>
bool same(const std::vector<Element>& a, const std::vector<Element>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const Element& x, const Element& y) { return same(x, y); });
}
bool same(const CatmullRomRoute& a, const CatmullRomRoute& b) {
  return same(a.points, b.points) && a.knots == b.knots && a.reflect_ends == b.reflect_ends;
}
bool same(const TcbRoute& a, const TcbRoute& b) {
  return same(a.keys, b.keys) && same_number(a.closing_time, b.closing_time);
}
bool same(const ChaikinRoute& a, const ChaikinRoute& b) {
  return same(a.points, b.points) && a.passes == b.passes && a.angle_limit == b.angle_limit &&
         a.outlier_limit == b.outlier_limit;
}
bool same(const PolylineRoute& a, const PolylineRoute& b) {
  return same(a.points, b.points);
}

// Both ends must construct the same curve, so every number of a route arrives exact to the last bit.
template <class Curve>
void expect_exact_arrival(const Curve& curve) {
  const RouteDefinition sent = route_along(curve);
  const auto decoded = decode_reliable(encoded(RouteMessage{{kMaxRoutes}, sent}));
  ASSERT_TRUE(decoded);
  const auto& message = std::get<RouteMessage>(*decoded);
  const RouteDefinition& d = message.definition;
  EXPECT_EQ(message.route.value, kMaxRoutes);
  ASSERT_TRUE(std::holds_alternative<Curve>(d.curve));
  EXPECT_TRUE(same(std::get<Curve>(d.curve), curve));
  EXPECT_EQ(d.wrap, sent.wrap);
  EXPECT_EQ(d.facing, sent.facing);
  EXPECT_EQ(d.up, sent.up);
  EXPECT_EQ(d.orientation, sent.orientation);
  EXPECT_TRUE(same_number(d.tolerance, sent.tolerance));
  EXPECT_TRUE(Route::make(d));
}

TEST(Messages, RoutesArriveBitExactly) {
  expect_exact_arrival(kCatmullRom);
  expect_exact_arrival(kTcb);
  expect_exact_arrival(kChaikin);
  expect_exact_arrival(kPolyline);
}

TEST(Messages, TooLongRouteIsRefused) {
  RouteDefinition d = route_along(kPolyline);
  auto& points = std::get<PolylineRoute>(d.curve).points;
  points.resize(1350, glm::dvec3{1.0, 2.0, 3.0});
  std::vector<std::byte> buffer(kMaxReliableMessageBytes);
  EXPECT_FALSE(encode(RouteMessage{{1}, d}, buffer).empty());
  points.resize(1400, glm::dvec3{1.0, 2.0, 3.0});
  EXPECT_TRUE(encode(RouteMessage{{1}, d}, buffer).empty());
}

TEST(Messages, InvalidRouteIsRefused) {
  RouteDefinition d = route_along(kPolyline);
  std::vector<std::byte> bytes = encoded(RouteMessage{{1}, d});
  // The first number follows the kind (4 bits), id - 1 (12), three enumerators (6) and the count (13).
  constexpr std::size_t kFirstNumber = 4 + 12 + 6 + 13;
  const auto put = [&bytes](double number) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, &number, sizeof bits);
    for (std::size_t i = 0; i < 64; ++i) {
      const std::size_t at = kFirstNumber + i;
      const auto mask = static_cast<std::byte>(1u << (at % 8));
      bytes[at / 8] = ((bits >> i) & 1u) != 0 ? bytes[at / 8] | mask : bytes[at / 8] & ~mask;
    }
  };
  put(0.25);
  const auto good = decode_reliable(bytes);
  ASSERT_TRUE(good);
  EXPECT_EQ(std::get<PolylineRoute>(std::get<RouteMessage>(*good).definition.curve).points[0].x, 0.25);
  for (const double bad :
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(), 1e13}) {
    put(bad);
    EXPECT_FALSE(decode_reliable(bytes)) << bad;
  }
}

TEST(Messages, TruncationAndTrailingBytesAreRefused) {
  for (const ReliableMessage& message : one_of_each()) {
    const auto bytes = encoded(message);
    for (std::size_t size = 0; size < bytes.size(); ++size) {
      EXPECT_FALSE(decode_reliable(std::span{bytes}.first(size)))
          << "kind " << message.index() << " cut at " << size;
    }
    auto longer = bytes;
    longer.push_back(std::byte{0});
    EXPECT_FALSE(decode_reliable(longer));
  }
}

TEST(Messages, DamagedMessagesAreReadSafely) {
  for (const ReliableMessage& message : one_of_each()) {
    const auto bytes = encoded(message);
    for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
      auto damaged = bytes;
      damaged[bit / 8] ^= static_cast<std::byte>(1u << (bit % 8));
      const auto decoded = decode_reliable(damaged);
      if (!decoded) continue;
      if (const auto* w = std::get_if<WelcomeMessage>(&*decoded)) {
        EXPECT_TRUE(w->tick_rate_hz >= 1.0 && w->tick_rate_hz <= 1000.0);
        EXPECT_LE(w->archetypes.size(), kMaxArchetypes);
      }
      if (const auto* r = std::get_if<RouteMessage>(&*decoded)) {
        EXPECT_TRUE(r->route && r->route.value <= kMaxRoutes);
        (void)Route::make(r->definition);  // may fail, must not crash
      }
      const auto* o = std::get_if<OwnershipMessage>(&*decoded);
      EXPECT_TRUE(o == nullptr || o->entity);
    }
  }
}

TEST(Messages, GameDataRoundTrips) {
  for (const std::size_t size : {std::size_t{1}, std::size_t{1000}, kMaxReliableBytes}) {
    for (const std::optional<double> time_s : {std::optional<double>{}, std::optional{12.125}}) {
      GameDataMessage message{std::vector<std::byte>(size), time_s};
      for (std::size_t i = 0; i < size; ++i)
        message.payload[i] = static_cast<std::byte>(i * 7);
      const auto back = decode_reliable(encoded(message));
      ASSERT_TRUE(back);
      EXPECT_EQ(std::get<GameDataMessage>(*back).payload, message.payload);
      EXPECT_EQ(std::get<GameDataMessage>(*back).time_s, time_s);
    }
  }
}

TEST(Messages, EmptyGameDataOrAnInvalidTimeIsRefused) {
  GameDataMessage message{{}, std::nullopt};
  EXPECT_FALSE(decode_reliable(encoded(message)));
  for (const double insane : {std::numeric_limits<double>::quiet_NaN(), 1e300}) {
    // The stamp follows the kind and the bit that announces it.
    message = {{std::byte{1}}, 0.0};
    const auto good = encoded(message);
    std::vector<std::byte> bytes(good.size() + 8);
    BitReader reader{good};
    BitWriter writer{bytes};
    writer.write(reader.read(5), 5);
    (void)reader.read(64);
    writer.write(std::bit_cast<std::uint64_t>(insane), 64);
    while (reader.bits_left() > 0)
      writer.write(reader.read(1), 1);
    EXPECT_FALSE(decode_reliable(writer.finish())) << insane;
  }
}

TEST(Messages, TooSmallBufferGivesAnEmptyResult) {
  std::array<std::byte, 4> small;
  EXPECT_TRUE(encode(one_of_each()[0], small).empty());
}

TEST(EndCode, RoundTripsThroughPacking) {
  const EndCode code = unpack_end_code(pack({EndReason::version, 12}));
  EXPECT_EQ(code.reason, EndReason::version);
  EXPECT_EQ(code.detail, 12u);
  EXPECT_EQ(unpack_end_code(0xff).reason, EndReason::none);
  EXPECT_NE(describe(code).find("version 12"), std::string::npos);
}

// The server compares the number in the connection request, which the game passes, before it reads the
// request to join of this build. A text with two equal versions would be a riddle.
TEST(EndCode, NamesTheRequestIfBothVersionsAreEqual) {
  const std::string both = describe({EndReason::version, kProtocolVersion});
  EXPECT_EQ(both.find("this client version"), std::string::npos) << both;
  EXPECT_NE(both.find("kProtocolVersion"), std::string::npos) << both;
  for (const std::uint32_t other : {0u, kProtocolVersion - 1u, kProtocolVersion + 1u}) {
    const std::string text = describe({EndReason::version, other});
    EXPECT_NE(text.find("the server speaks version " + std::to_string(other) + ","), std::string::npos)
        << text;
    EXPECT_NE(text.find("this client version " + std::to_string(kProtocolVersion)), std::string::npos)
        << text;
  }
}

TEST(Messages, OwnershipRoundTrips) {
  const auto messages = one_of_each();
  const auto corrected = decode_reliable(encoded(messages[6]));
  ASSERT_TRUE(corrected);
  const auto& c = std::get<OwnershipMessage>(*corrected);
  EXPECT_EQ(c.entity, (EntityId{7, 1}));
  EXPECT_EQ(c.change, OwnershipMessage::Change::corrected);
  EXPECT_EQ(c.term, 15);
  EXPECT_EQ(c.viewers_s, 0.25);
  EXPECT_EQ(c.motion_tick, 4000u);
  EXPECT_EQ(c.state, std::get<OwnershipMessage>(messages[6]).state);
  const auto taken = decode_reliable(encoded(messages[7]));
  ASSERT_TRUE(taken);
  EXPECT_EQ(std::get<OwnershipMessage>(*taken).change, OwnershipMessage::Change::revoked);
  EXPECT_EQ(std::get<OwnershipMessage>(*taken).term, 3);

  // Overwrites a valid delay with a delay that the encoder would not write.
  OwnershipMessage slow = std::get<OwnershipMessage>(messages[7]);
  slow.viewers_s = 0.25;
  const auto bytes = encoded(slow);
  ASSERT_TRUE(decode_reliable(bytes));
  int places = 0;
  for (unsigned at = 0; at + 64 <= bytes.size() * 8; ++at) {
    BitReader reader{bytes};
    std::vector<std::byte> changed(bytes.size());
    BitWriter writer{changed};
    for (unsigned i = 0; i < at; ++i)
      writer.write(reader.read(1), 1);
    if (std::bit_cast<double>(reader.read(64)) != 0.25) continue;
    writer.write(std::bit_cast<std::uint64_t>(11.0), 64);
    while (reader.bits_left() > 0)
      writer.write(reader.read(1), 1);
    (void)writer.finish();
    EXPECT_FALSE(decode_reliable(changed));
    ++places;
  }
  EXPECT_EQ(places, 1);
}

}  // namespace
}  // namespace reckoner
