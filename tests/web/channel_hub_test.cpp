// SPDX-License-Identifier: MIT
#include "tests/web/channel_world.hpp"

#include <random>
#include <string>

#include <gtest/gtest.h>

namespace reckoner::test {
namespace {

using Kind = web::ChannelEvent::Kind;
using Browser = ChannelWorld::Browser;

/// The first hello of a browser.
Bytes first_hello() {
  Bytes out;
  const auto context = web::DtlsContext::make();
  const auto session = web::DtlsSession::connect(*context, {}, [&](std::span<const std::byte> datagram) {
    out.assign(datagram.begin(), datagram.end());
  });
  return out;
}

TEST(ChannelHub, BrowserJoinsAndMessagesTravelBothWays) {
  ChannelWorld world;
  Browser& browser = world.join(1);
  EXPECT_LT(world.now_s, 100.3) << "12 flights of 10 ms, and steps of 5 ms";
  EXPECT_EQ(world.count(Kind::opened), 1u);
  EXPECT_TRUE(world.hub->is_open(1));
  EXPECT_EQ(world.hub->half_open(), 0u);
  EXPECT_EQ(world.hub->stats().challenges, 1u);

  EXPECT_TRUE(browser.client->send(bytes_of("to the server")));
  EXPECT_TRUE(world.hub->send(1, bytes_of("to the browser")));
  world.run(0.1);
  const auto up = world.take_messages(1);
  ASSERT_EQ(up.size(), 1u);
  EXPECT_EQ(up[0], bytes_of("to the server"));
  const auto down = browser.client->take_messages();
  ASSERT_EQ(down.size(), 1u);
  EXPECT_EQ(down[0].protocol, web::kBinaryProtocol);
  EXPECT_EQ(down[0].payload, bytes_of("to the browser"));
  EXPECT_EQ(world.hub->stats().refused, 0u);
}

TEST(ChannelHub, ManyBrowsersAreToldApart) {
  ChannelWorld world({.max_half_open = 20});
  for (StreamId stream = 1; stream <= 20; ++stream)
    world.add(stream);
  ASSERT_TRUE(world.run_until([&] { return world.count(Kind::opened) == 20; }));
  for (auto& [stream, browser] : world.browsers) {
    EXPECT_TRUE(browser.client->send(bytes_of("from " + std::to_string(stream))));
    EXPECT_TRUE(world.hub->send(stream, bytes_of("for " + std::to_string(stream))));
  }
  world.run(0.1);
  for (auto& [stream, browser] : world.browsers) {
    const auto up = world.take_messages(stream);
    ASSERT_EQ(up.size(), 1u);
    EXPECT_EQ(up[0], bytes_of("from " + std::to_string(stream)));
    const auto down = browser.client->take_messages();
    ASSERT_EQ(down.size(), 1u);
    EXPECT_EQ(down[0].payload, bytes_of("for " + std::to_string(stream)));
  }
}

// Chromium's hello takes two datagrams.
TEST(ChannelHub, HelloInManyPartsIsAnsweredWithACookieAndPutTogether) {
  ChannelWorld world;
  world.keeps = true;
  const Browser& browser = world.join(1, {.hello_part_bytes = 60});
  std::size_t parts = 0;
  for (const auto& each : world.carried) {
    if (each.from == browser.address && each.bytes[0] == std::byte{22} && each.bytes[13] == std::byte{1})
      ++parts;
  }
  EXPECT_GE(parts, 5u) << "both hellos are in parts";
  EXPECT_TRUE(world.hub->is_open(1));
  EXPECT_EQ(world.hub->stats().refused, 0u);
}

TEST(ChannelHub, RefusesOtherChannels) {
  const ChannelClient::Options others[] = {{.label = "reckone"}, {.label = ""},     {.label = "chat"},
                                           {.type = 0x80},       {.type = 0x00},    {.type = 0x01},
                                           {.type = 0x82},       {.reliability = 3}};
  for (const auto& options : others) {
    ChannelWorld world({.open_s = 1.0});
    Browser& browser = world.add(1, options);
    ASSERT_TRUE(world.run_until([&] { return world.refused(Refusal::unexpected) == 1; }));
    EXPECT_FALSE(browser.client->is_open());
    EXPECT_EQ(world.hub->half_open(), 1u);
    ASSERT_TRUE(world.run_until([&] { return world.hub->peers() == 0; }));
    EXPECT_EQ(world.count(Kind::opened) + world.count(Kind::closed), 0u);
  }
}

TEST(ChannelHub, RefusesASecondChannelAndItsMessages) {
  ChannelWorld world;
  Browser& browser = world.join(1);
  browser.client->open(2, {.label = "reckoner", .protocol = {}});
  world.run(0.1);
  EXPECT_EQ(world.refused(Refusal::repeated), 1u);
  EXPECT_TRUE(browser.client->send(bytes_of("second"), web::kBinaryProtocol, 2));
  world.run(0.1);
  EXPECT_EQ(world.refused(Refusal::unexpected), 1u);
  EXPECT_TRUE(world.take_messages(1).empty());
  EXPECT_TRUE(world.hub->is_open(1));
}

TEST(ChannelHub, RefusesMessagesBeforeTheChannelIsOpen) {
  ChannelWorld world;
  Browser& browser = world.add(1, {.opens = false});
  ASSERT_TRUE(world.run_until([&] { return browser.client->is_associated(); }));
  EXPECT_TRUE(browser.client->send(bytes_of("early")));
  world.run(0.1);
  EXPECT_EQ(world.refused(Refusal::unexpected), 1u);
  EXPECT_TRUE(world.events.empty());
}

TEST(ChannelHub, RefusesEmptyTextAndOversizeMessages) {
  ChannelWorld world;
  Browser& browser = world.join(1);
  const Bytes one(1), largest(web::kMaxChannelMessageBytes), larger(web::kMaxChannelMessageBytes + 1);
  EXPECT_TRUE(browser.client->send(one, web::kEmptyBinaryProtocol));
  EXPECT_TRUE(browser.client->send(one, web::kEmptyTextProtocol));
  EXPECT_TRUE(browser.client->send(one, web::kTextProtocol));
  EXPECT_TRUE(browser.client->send(larger));
  EXPECT_TRUE(browser.client->send(largest));
  EXPECT_TRUE(browser.client->send(bytes_of("not a request"), web::kOpenProtocol));
  world.run(0.2);
  EXPECT_EQ(world.refused(Refusal::malformed), 3u);
  EXPECT_EQ(world.refused(Refusal::unexpected), 1u);
  EXPECT_EQ(world.refused(Refusal::too_large), 1u);
  const auto messages = world.take_messages(1);
  ASSERT_EQ(messages.size(), 1u);
  EXPECT_EQ(messages[0].size(), web::kMaxChannelMessageBytes);

  EXPECT_FALSE(world.hub->send(1, {}));
  EXPECT_FALSE(world.hub->send(1, larger));
  EXPECT_TRUE(world.hub->send(1, largest));
  EXPECT_FALSE(world.hub->send(2, one));
}

TEST(ChannelHub, EndsABrowserThatGoesOn) {
  ChannelWorld world;
  Browser& browser = world.join(1);
  for (int i = 0; i < 40; ++i) {
    (void)browser.client->send(bytes_of("text"), web::kTextProtocol);
    world.run(0.02);
  }
  EXPECT_FALSE(world.hub->is_open(1));
  EXPECT_EQ(world.hub->peers(), 0u);
  EXPECT_EQ(world.count(Kind::closed), 1u);
  EXPECT_TRUE(browser.client->has_ended()) << "it is told";
}

TEST(ChannelHub, RefusesAnotherCertificateThanThatOfTheOffer) {
  ChannelWorld world;
  const Browser& browser = world.add(1, {.has_wrong_fingerprint = true});
  ASSERT_TRUE(world.run_until([&] { return world.hub->peers() == 0; }));
  EXPECT_EQ(world.refused(Refusal::not_genuine), 1u);
  EXPECT_TRUE(world.events.empty());
  world.run(0.1);
  EXPECT_EQ(browser.client->dtls()->state(), web::DtlsSession::State::failed) << "it is told";
}

// RFC 9260 lets a new INIT restart an association, which usrsctp 0.9.5.0 does with freed memory.
TEST(ChannelHub, RefusesToRestartAnAssociation) {
  ChannelWorld world;
  Browser& browser = world.join(1);
  std::size_t refused = 0;
  // A copy: sending adds to the list.
  for (const Bytes& packet : std::vector<Bytes>(browser.client->sent_packets())) {
    const unsigned type = std::to_integer<unsigned>(packet[12]);
    if (type != 1 && type != 10) continue;
    browser.client->send_packet(packet);
    ++refused;
    world.run(0.05);
    EXPECT_EQ(world.refused(Refusal::unexpected), refused) << "chunk " << type;
  }
  EXPECT_EQ(refused, 2u) << "INIT and COOKIE-ECHO";
  EXPECT_TRUE(browser.client->send(bytes_of("still here")));
  world.run(0.1);
  EXPECT_EQ(world.take_messages(1).size(), 1u);
}

TEST(ChannelHub, ChecksWithForgedAddressesAreNotAmplified) {
  ChannelWorld world;
  Browser& browser = world.add(1);
  const Bytes genuine = browser.client->check();
  Bytes wrong_user = genuine, wrong_password = genuine;
  wrong_user[24] ^= std::byte{1};
  wrong_password[wrong_password.size() - 10] ^= std::byte{1};
  world.keeps = true;
  std::size_t asked = 0;
  for (std::uint32_t i = 0; i < 3000; ++i) {
    const SocketAddress victim{IpAddress(0x0b00'0000u + i), 53};
    const Bytes& check = i % 3 == 0 ? genuine : i % 3 == 1 ? wrong_user : wrong_password;
    asked += check.size();
    world.hub->receive(victim, check, world.now_s);
  }
  std::size_t answered = 0;
  for (const auto& each : world.carried)
    answered += each.bytes.size();
  EXPECT_EQ(world.carried.size(), 1000u) << "only those whose sender knows the password";
  EXPECT_LT(answered, asked / 3);
  for (const auto& each : world.carried)
    EXPECT_LT(each.bytes.size(), genuine.size());
  EXPECT_EQ(world.hub->peers(), 1u);
  // Its owner still joins.
  EXPECT_TRUE(world.run_until([&] { return browser.client->is_open(); }));
}

TEST(ChannelHub, HelloFromAnAddressWithoutACheckIsNotAnswered) {
  ChannelWorld world;
  world.add(1);
  world.keeps = true;
  const auto hello = first_hello();
  for (std::uint32_t i = 0; i < 1000; ++i)
    world.hub->receive({IpAddress(0x0b00'0000u + i), 4000}, hello, world.now_s);
  EXPECT_TRUE(world.carried.empty());
  EXPECT_EQ(world.refused(Refusal::no_session), 1000u);
}

// Who owns a session can forge the address of its check. The victim gets less than the forger sends.
TEST(ChannelHub, HelloWithAForgedAddressGetsOnlyACookie) {
  ChannelWorld world;
  const Browser& browser = world.add(1);
  const SocketAddress victim{IpAddress(0x0b00'0001u), 53};
  world.hub->receive(victim, browser.client->check(), world.now_s);
  world.keeps = true;
  std::size_t asked = 0;
  for (const auto& hello : {std::vector<Bytes>{first_hello()}, parts_of_hello(first_hello(), 70)}) {
    for (int i = 0; i < 100; ++i) {
      for (const Bytes& part : hello) {
        asked += part.size();
        world.hub->receive(victim, part, world.now_s);
      }
    }
  }
  world.run(3.0);
  std::size_t answered = 0;
  for (const auto& each : world.carried)
    if (each.to == victim) answered += each.bytes.size();
  EXPECT_EQ(answered, 200 * web::HelloCookies::kRequestBytes);
  EXPECT_LT(answered, asked);
}

TEST(ChannelHub, CookieOfAnotherAddressOrTimeIsRefused) {
  const web::HelloCookies cookies({std::byte{1}}), others({std::byte{2}});
  const auto bytes = first_hello();
  const SocketAddress from{IpAddress(0x0a00'0001u), 1000};
  std::span<const std::byte> rest = bytes;
  const auto bare = web::next_hello_fragment(rest);
  ASSERT_TRUE(bare);
  EXPECT_TRUE(rest.empty());
  EXPECT_FALSE(cookies.has_cookie(*bare, from, 5.0));
  const auto request = cookies.request(*bare, from, 5.0);
  ASSERT_TRUE(request);
  EXPECT_LT(request->size(), bytes.size());

  // The hello with the cookie behind the empty session: version, random, a byte, and the cookie's length.
  Bytes body(bare->part.begin(), bare->part.begin() + 35);
  body.push_back(std::byte{20});
  body.insert(body.end(), request->end() - 20, request->end());
  web::HelloFragment with_cookie = *bare;
  with_cookie.part = body;
  EXPECT_TRUE(cookies.has_cookie(with_cookie, from, 5.0));
  EXPECT_TRUE(cookies.has_cookie(with_cookie, from, 5.0 + web::HelloCookies::kValidS));
  EXPECT_FALSE(cookies.has_cookie(with_cookie, from, 5.0 + 2.0 * web::HelloCookies::kValidS));
  EXPECT_FALSE(cookies.has_cookie(with_cookie, {from.host, 1001}, 5.0));
  EXPECT_FALSE(cookies.has_cookie(with_cookie, {IpAddress(0x0a00'0002u), 1000}, 5.0));
  EXPECT_FALSE(others.has_cookie(with_cookie, from, 5.0));
  body[10] ^= std::byte{1};
  EXPECT_FALSE(cookies.has_cookie(with_cookie, from, 5.0)) << "another hello";
}

TEST(ChannelHub, LimitsHalfOpenBrowsers) {
  ChannelWorld world({.max_half_open = 3, .open_s = 2.0});
  for (StreamId stream = 1; stream <= 3; ++stream)
    world.add(stream).client = std::make_unique<ChannelClient>([](std::span<const std::byte>) {});
  EXPECT_EQ(world.hub->half_open(), 3u);
  EXPECT_TRUE(world.refusal.empty());
  world.add(4);
  EXPECT_FALSE(world.refusal.empty());
  EXPECT_EQ(world.refused(Refusal::peer_limit), 1u);
  // Those that do nothing make room.
  world.browsers.clear();
  world.run(2.1);
  EXPECT_EQ(world.hub->peers(), 0u);
  (void)world.join(5);
  EXPECT_TRUE(world.hub->is_open(5));
}

TEST(ChannelHub, LimitsBrowsersOfOneAddressAndInAll) {
  const IpAddress household(0x0c00'0001u);
  ChannelWorld world({.max_peers = 3, .max_peers_per_host = 2});
  world.add(1, {}, household);
  world.add(2, {}, household);
  EXPECT_TRUE(world.refusal.empty());
  world.add(3, {}, household);
  EXPECT_EQ(std::exchange(world.refusal, {}), "Too many data channels from this address.");
  world.add(4);
  EXPECT_TRUE(world.refusal.empty());
  world.add(5);
  EXPECT_EQ(world.refusal, "The server has no more room for data channels.");
  EXPECT_EQ(world.hub->peers(), 3u);
}

TEST(ChannelHub, LimitsTheRateOfOffers) {
  ChannelWorld world({.offers_per_second = 1.0});
  const IpAddress host(77);  // of all streams
  for (int i = 0; i < 10; ++i)
    world.add(i % 2 == 0 ? 1 : 2, {}, host);
  EXPECT_TRUE(world.refusal.empty());
  world.add(3, {}, host);
  EXPECT_EQ(std::exchange(world.refusal, {}), "Too many offers from this address: try again later.");
  EXPECT_EQ(world.hub->peers(), 2u);
  world.run(1.1);
  world.add(3, {}, host);
  EXPECT_TRUE(world.refusal.empty());
}

TEST(ChannelHub, AStreamCannotUseUpTheOffersOfOthersAtItsAddress) {
  ChannelWorld world({.offers_per_second = 1.0});
  const IpAddress host(77);  // of both streams
  for (int i = 0; i < 5; ++i)
    world.add(1, {}, host);
  EXPECT_TRUE(world.refusal.empty());
  for (int i = 0; i < 50; ++i) {
    world.add(1, {}, host);
    EXPECT_EQ(std::exchange(world.refusal, {}), "Too many offers from this page: try again later.");
  }
  EXPECT_EQ(world.hub->peers(), 0u) << "the earlier channel of the stream has ended";
  world.add(2, {}, host);
  EXPECT_TRUE(world.refusal.empty()) << world.refusal;
}

TEST(ChannelHub, RefusesWhatIsNoOffer) {
  ChannelWorld world;
  EXPECT_FALSE(world.hub->open_offer(1, IpAddress(1), "", 0.0));
  EXPECT_FALSE(world.hub->open_offer(1, IpAddress(1), std::string(web::kMaxOfferBytes + 1, 'a'), 0.0));
  EXPECT_EQ(world.refused(Refusal::malformed), 2u);
  std::string small = ChannelClient([](std::span<const std::byte>) {}).offer();
  small.replace(small.find("262144"), 6, "600");
  EXPECT_FALSE(world.hub->open_offer(1, IpAddress(1), small, 0.0));
  EXPECT_EQ(world.refused(Refusal::beyond_limits), 1u);
  EXPECT_EQ(world.hub->peers(), 0u);
}

TEST(HelloAssembly, TakesPartsInAnyOrderAndRefusesOthers) {
  const Bytes hello = first_hello();
  const auto part = [](const Bytes& datagram) {
    std::span<const std::byte> rest = datagram;
    return *web::next_hello_fragment(rest);
  };
  const auto parts = parts_of_hello(hello, 50);
  ASSERT_GE(parts.size(), 3u);
  web::HelloAssembly assembly;
  EXPECT_FALSE(assembly.add(part(parts[1]))) << "its cookie is in the first part";
  EXPECT_TRUE(assembly.add(part(parts[0])));
  EXPECT_TRUE(assembly.add(part(parts[0])));
  for (std::size_t i = parts.size(); i-- > 1;) {
    EXPECT_FALSE(assembly.is_complete());
    EXPECT_TRUE(assembly.add(part(parts[i])));
  }
  ASSERT_TRUE(assembly.is_complete());
  EXPECT_EQ(assembly.record(), hello);
  Bytes other = parts[0];
  other[30] ^= std::byte{1};
  EXPECT_FALSE(assembly.add(part(other)));
  Bytes next_message = parts[0];
  next_message[18] ^= std::byte{1};
  EXPECT_FALSE(assembly.add(part(next_message)));
}

TEST(HelloFragment, RefusesEverythingElse) {
  const Bytes hello = first_hello();
  const auto is_read = [](std::span<const std::byte> bytes) {
    return web::next_hello_fragment(bytes).has_value();
  };
  EXPECT_TRUE(is_read(hello));
  for (std::size_t bytes = 0; bytes < hello.size(); ++bytes)
    EXPECT_FALSE(is_read(std::span(hello).first(bytes))) << bytes;
  // The kind of the record, its version, its epoch, the kind of the message, and the sizes.
  for (const std::size_t at : {0u, 1u, 3u, 4u, 11u, 12u, 13u, 14u, 15u, 19u, 22u, 23u, 24u}) {
    Bytes bad = hello;
    bad[at] ^= std::byte{0x40};
    EXPECT_FALSE(is_read(bad)) << at;
  }
}

TEST(ChannelHub, BrowserThatVanishesOrClosesIsForgotten) {
  for (const bool closes : {false, true}) {
    ChannelWorld world({.silence_s = 3.0});
    Browser& browser = world.join(1);
    if (closes) browser.client->close();
    world.loses = [&](const ChannelWorld::Datagram&) { return !closes; };
    const double left_s = world.now_s;
    ASSERT_TRUE(world.run_until([&] { return world.count(Kind::closed) == 1; }));
    EXPECT_NEAR(world.now_s - left_s, closes ? 0.0 : 3.0, 0.1);
    EXPECT_EQ(world.hub->peers(), 0u);
    EXPECT_FALSE(world.hub->send(1, bytes_of("late")));
    // A stream whose channel has ended may open another one.
    world.loses = nullptr;
    (void)world.join(1);
    EXPECT_TRUE(world.hub->is_open(1));
  }
}

TEST(ChannelHub, CloseTellsTheBrowser) {
  ChannelWorld world;
  const Browser& browser = world.join(1);
  world.hub->close(1);
  world.hub->close(1);
  world.run(0.1);
  EXPECT_TRUE(browser.client->has_ended());
  EXPECT_EQ(world.count(Kind::closed), 0u);
  EXPECT_EQ(world.hub->peers(), 0u);
}

TEST(ChannelHub, AFloodIsDroppedAndOthersGoOn) {
  ChannelWorld world({.limits = {.datagrams_per_second = 100.0, .burst_s = 1.0}});
  Browser& flood = world.join(1);
  Browser& other = world.join(2);
  for (int i = 0; i < 1000; ++i) {
    (void)flood.client->send(bytes_of("flood"));
    if (i % 10 == 0) world.step();
  }
  EXPECT_TRUE(other.client->send(bytes_of("other")));
  world.run(0.2);
  EXPECT_GT(world.refused(Refusal::peer_limit), 100u);
  EXPECT_EQ(world.take_messages(2).size(), 1u);
}

TEST(ChannelHub, SurvivesAnyDatagrams) {
  ChannelWorld world;
  Browser& browser = world.join(1);
  world.add(2);
  world.step();
  std::mt19937 random(3);
  world.keeps = true;
  for (int i = 0; i < 20'000; ++i) {
    Bytes datagram(random() % 300);
    for (std::byte& each : datagram)
      each = static_cast<std::byte>(random());
    constexpr unsigned kFirst[] = {0, 1, 20, 21, 22, 23, 25, 63, 64, 128, 255};
    if (!datagram.empty()) datagram[0] = static_cast<std::byte>(kFirst[random() % std::size(kFirst)]);
    if (datagram.size() > 2 && random() % 2 == 0) datagram[1] = std::byte{0xfe};
    const StreamId from = random() % 3 + 1;
    world.hub->receive(ChannelWorld::address_of(from), datagram, world.now_s);
  }
  EXPECT_GT(world.hub->stats().refused, 19'000u);
  EXPECT_TRUE(browser.client->send(bytes_of("still here")));
  EXPECT_TRUE(world.run_until([&] { return world.browsers.at(2).client->is_open(); }));
  EXPECT_EQ(world.take_messages(1).size(), 1u);
}

TEST(ChannelHub, RefusesInvalidSettings) {
  const auto is_valid = [](web::ChannelConfig config) {
    return !web::find_invalid_setting(ChannelWorld::with_address(std::move(config)));
  };
  EXPECT_TRUE(is_valid({}));
  EXPECT_FALSE(is_valid({.max_peers = 0}));
  EXPECT_FALSE(is_valid({.max_peers_per_host = 0}));
  EXPECT_FALSE(is_valid({.max_half_open = 100'000}));
  EXPECT_FALSE(is_valid({.offers_per_second = 0.0}));
  EXPECT_FALSE(is_valid({.open_s = 0.0}));
  EXPECT_FALSE(is_valid({.silence_s = 61.0}));
  EXPECT_FALSE(is_valid({.label = ""}));
  EXPECT_FALSE(is_valid({.label = std::string(65, 'a')}));
  EXPECT_FALSE(is_valid({.limits = {.burst_s = -1.0}}));
  EXPECT_TRUE(web::find_invalid_setting(web::ChannelConfig{})) << "browsers need an address";
}

}  // namespace
}  // namespace reckoner::test
