// SPDX-License-Identifier: MIT
// A game's server with browsers: streams that a PipeServer admits, and data channels beside them over sockets
// of this machine. The clients are those of the library; what a browser does is in channel_client.hpp.
#include "web/src/channel/channel_server.hpp"

#include "net/src/transport/socket/datagram_intake.hpp"
#include "net/src/transport/socket/udp_socket.hpp"
#include "tests/support/loopback.hpp"
#include "tests/web/channel_client.hpp"
#include "web/src/channel/server_channel.hpp"

#include <cmath>
#include <deque>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <reckoner/client/client.hpp>
#include <reckoner/net/joined_transport.hpp>
#include <reckoner/net/network_transport.hpp>
#include <reckoner/net/pipe_transport.hpp>
#include <reckoner/server/server.hpp>

namespace reckoner::test {
namespace {

constexpr double kStepS = 1.0 / 60.0;
constexpr std::byte kState{1};  // the first byte of a pipe's message with a datagram

/// A page: the library over a stream, and a data channel as soon as it is open.
class Page {
 public:
  explicit Page(std::deque<Bytes>& to_server)
      : to_server_(to_server),
        transport([this](std::span<const std::byte> message) { return send(message); }),
        client(std::move(*Client::create({}, transport))) {
    EXPECT_TRUE(socket_.bind({loopback_ip(), 0}));
    transport.opened();
  }

  std::string offer() {
    channel = std::make_unique<ChannelClient>([this](std::span<const std::byte> datagram) {
      if (!is_cut) socket_.send(channel->server(), datagram);
    });
    return channel->offer();
  }

  void receive(double now_s) {
    for (const Bytes& message : std::exchange(from_server, {})) {
      ++stream_messages;
      transport.received(message, now_s);
    }
    if (channel) {
      for (const auto& each : intake_.read(socket_))
        if (!is_cut) channel->receive(each.payload);
      channel->service(now_s);
      for (const auto& message : channel->take_messages()) {
        ++channel_messages;
        transport.received(message.payload, now_s);
      }
      if (channel->is_open() && !std::exchange(has_moved_, true))
        transport.set_path({.is_ordered = false, .max_datagram_bytes = web::kChannelDatagramBytes});
    }
    client.update(now_s);
  }

  /// Goes back to the stream, as a page does that hears nothing from the channel.
  void leave_channel() {
    channel.reset();
    transport.set_path({});
  }

  std::deque<Bytes> from_server;
  bool is_cut = false;
  std::size_t stream_messages = 0;
  std::size_t channel_messages = 0;
  std::size_t largest_on_channel = 0;

 private:
  bool send(std::span<const std::byte> message) {
    if (message[0] == kState && channel && channel->is_open() &&
        message.size() <= web::kMaxChannelMessageBytes) {
      largest_on_channel = std::max(largest_on_channel, message.size());
      return channel->send(message);
    }
    to_server_.emplace_back(message.begin(), message.end());
    return true;
  }

  std::deque<Bytes>& to_server_;
  UdpSocket socket_ = UdpSocket::open(loopback_ip().is_ipv4() ? IpFamilies::ipv4 : IpFamilies::ipv6);
  DatagramIntake intake_{DatagramIntake::kMost};
  bool has_moved_ = false;

 public:
  std::unique_ptr<ChannelClient> channel;
  PipeTransport transport;
  Client client;
};

/// The server of a game. Its streams are queues.
struct Game {
  Game() : car(*server.spawn(0, "car", state())) {}

  /// On a circle, so that there is always something new.
  [[nodiscard]] State state() const {
    const double turn = now_s;
    return {.position = {20.0 * std::cos(turn), 20.0 * std::sin(turn), 0.0},
            .velocity = {-20.0 * std::sin(turn), 20.0 * std::cos(turn), 0.0}};
  }

  Page& add(StreamId stream) {
    EXPECT_TRUE(pipes.opened(stream, loopback_ip(), now_s));
    return *(pages[stream] = std::make_unique<Page>(to_server[stream]));
  }
  /// The page makes its offer over the stream.
  void offer(StreamId stream) {
    Page& page = *pages.at(stream);
    const auto answer = channels->open_offer(stream, loopback_ip(), page.offer(), now_s);
    ASSERT_TRUE(answer) << answer.error();
    page.channel->take_answer(*answer);
  }

  bool send(StreamId stream, std::span<const std::byte> message, bool may_drop) {
    if (may_drop && channels->send(stream, message)) {
      largest_on_channel = std::max(largest_on_channel, message.size());
      return true;
    }
    pages.at(stream)->from_server.emplace_back(message.begin(), message.end());
    return true;
  }

  void step() {
    now_s += kStepS;
    for (auto& [stream, messages] : to_server) {
      for (const Bytes& message : std::exchange(messages, {}))
        pipes.received(stream, message, now_s);
    }
    channels->pass_on(pipes, now_s);
    server.receive(now_s);
    while (server.tick_time_s(server.next_tick()) <= now_s)
      (void)server.move(car, state()), server.tick(now_s);
    channels->flush();
    for (auto& [stream, page] : pages)
      page->receive(now_s);
  }
  template <class Done>
  bool run_until(Done done, double seconds = 5.0) {
    const double end_s = now_s + seconds;
    while (!done()) {
      if (now_s >= end_s) return false;
      step();
    }
    return true;
  }

  double now_s = 0.0;
  std::map<StreamId, std::deque<Bytes>> to_server;
  std::map<StreamId, std::unique_ptr<Page>> pages;
  std::size_t largest_on_channel = 0;
  std::unique_ptr<NetworkTransport> udp =
      std::move(*NetworkTransport::listen({.host = loopback(), .security = Insecure{}, .transport = "udp"}));
  std::unique_ptr<web::ChannelServer> channels = std::move(*web::ChannelServer::create({.host = loopback()}));
  PipeServer pipes = std::move(*PipeServer::create(
      {},
      {.send = [this](StreamId stream, std::span<const std::byte> message,
                      bool may_drop) { return send(stream, message, may_drop); },
       .close = [this](StreamId stream) { channels->close(stream); }},
      {.admit = [](std::span<const std::byte>, const IpAddress&) { return Admission{}; }}));
  JoinedTransport both{*udp, pipes};
  Server server = std::move(*Server::create({}, both));
  EntityId car;
};

TEST(ChannelServer, ClientMovesFromItsStreamToTheChannelAndBack) {
  Game game;
  Page& page = game.add(7);
  ASSERT_TRUE(game.run_until([&] { return !page.client.shown().empty(); }));
  game.offer(7);
  ASSERT_TRUE(game.run_until([&] { return page.channel->is_open() && page.channel_messages > 20; }));
  EXPECT_TRUE(game.channels->is_open(7));

  // While the channel is open, nothing that may be lost goes over the stream.
  const std::size_t on_stream = page.stream_messages, on_channel = page.channel_messages;
  ASSERT_FALSE(game.run_until([] { return false; }, 2.0));
  EXPECT_EQ(page.stream_messages, on_stream);
  EXPECT_GT(page.channel_messages, on_channel + 20);
  const ShownEntity& shown = page.client.shown().front();
  EXPECT_LT(glm::distance(shown.shown.position, game.state().position), 5.0) << "shown with some delay";
  EXPECT_EQ(page.client.status(), ClientStatus::joined);

  // The path of the channel breaks: the server goes back to the stream by itself.
  page.is_cut = true;
  ASSERT_TRUE(game.run_until([&] { return !game.channels->is_open(7); }, 10.0));
  page.leave_channel();
  const std::size_t before = page.stream_messages;
  ASSERT_TRUE(game.run_until([&] { return page.stream_messages > before + 20; }));
  EXPECT_EQ(page.client.status(), ClientStatus::joined);
  EXPECT_EQ(game.server.client_count(), 1u);
  EXPECT_EQ(game.channels->stats().refused, 0u);
  EXPECT_EQ(game.pipes.stats().refused, 0u);
}

TEST(ChannelServer, CarriesGameMessagesOfEverySize) {
  Game game;
  Page& page = game.add(7);
  ASSERT_TRUE(game.run_until([&] { return page.client.status() == ClientStatus::joined; }));
  game.offer(7);
  ASSERT_TRUE(game.run_until([&] { return game.channels->is_open(7) && page.channel->is_open(); }));
  // At first, a session has not the budget for the largest messages.
  ASSERT_FALSE(game.run_until([] { return false; }, 2.0));
  const ClientId id = game.server.clients().front();
  std::size_t sent = 0, at_client = 0, at_server = 0;
  for (const Delivery delivery : {Delivery::unreliable, Delivery::reliable, Delivery::reliable_unordered}) {
    for (const std::size_t bytes : {std::size_t{1}, std::size_t{300}, std::size_t{590}, std::size_t{1000}}) {
      const Bytes payload(bytes, std::byte{42});
      ASSERT_TRUE(game.server.send(id, payload, delivery));
      ASSERT_TRUE(page.client.send(payload, delivery));
      ++sent;
      ASSERT_TRUE(game.run_until([&] {
        while (const auto message = page.client.poll_message()) {
          EXPECT_EQ(message->payload.size(), bytes);
          ++at_client;
        }
        while (const auto message = game.server.poll_message()) {
          EXPECT_EQ(message->payload.size(), bytes);
          ++at_server;
        }
        return at_client == sent && at_server == sent;
      })) << bytes
          << " to the client " << at_client << ", to the server " << at_server << " of " << sent;
    }
  }
  EXPECT_LE(game.largest_on_channel, web::kMaxChannelMessageBytes);
  EXPECT_LE(page.largest_on_channel, web::kMaxChannelMessageBytes);
  EXPECT_GT(page.largest_on_channel, 400u);
  EXPECT_EQ(game.pipes.stats().refused, 0u);
}

// One game serves both.
TEST(ChannelServer, ServesNativeClientsBesideBrowsers) {
  Game game;
  Page& page = game.add(7);
  auto native = NetworkTransport::connect(
      {.host = loopback(), .port = game.udp->port(), .security = Insecure{}, .transport = "udp"});
  ASSERT_TRUE(native) << native.error();
  Client client = std::move(*Client::create({}, **native));
  ASSERT_TRUE(game.run_until([&] { return page.client.status() == ClientStatus::joined; }));
  game.offer(7);
  ASSERT_TRUE(game.run_until(
      [&] {
        client.update(game.now_s);
        return page.channel_messages > 20 && !client.shown().empty() && !page.client.shown().empty();
      },
      60.0));
  EXPECT_EQ(game.server.client_count(), 2u);
}

TEST(ChannelServer, RefusesAPortInUseAndInvalidSettings) {
  const auto first = web::ChannelServer::create({.host = loopback()});
  ASSERT_TRUE(first) << first.error();
  EXPECT_FALSE(web::ChannelServer::create({.host = loopback(), .port = (*first)->port()}));
  EXPECT_FALSE(web::ChannelServer::create({.host = "game.example"}));
  EXPECT_FALSE(web::ChannelServer::create({})) << "browsers need to know an address";
  EXPECT_FALSE(web::ChannelServer::create({.host = loopback(), .channels = {.max_peers = 0}}));
}

}  // namespace
}  // namespace reckoner::test
