// SPDX-License-Identifier: MIT
// A listener with its data channels, and pages that have a WebSocket and a data channel over sockets of this
// machine. What a browser does is in channel_client.hpp.
#include "channel_client.hpp"
#include "net/src/transport/pipe/pipe_message.hpp"
#include "net/src/transport/socket/datagram_intake.hpp"
#include "net/src/transport/socket/udp_socket.hpp"
#include "web/src/channel/server_channel.hpp"
#include "web/src/signalling/signal_message.hpp"
#include "web_world.hpp"

#include <cmath>

namespace reckoner::test {
namespace {

/// A page with the client library.
class MovingPage {
 public:
  explicit MovingPage(std::uint16_t port)
      : socket(port),
        transport([this](std::span<const std::byte> message) { return send(message); }),
        client(std::move(*Client::create({}, transport))) {
    EXPECT_TRUE(udp_.bind({loopback_ip(), 0}));
    if (socket.open("http://" + url_host(), "reckoner")) transport.opened();
  }

  void offer() {
    channel = std::make_unique<ChannelClient>([this](std::span<const std::byte> datagram) {
      if (!is_blocked) udp_.send(channel->server(), datagram);
    });
    say(web::write_signal({web::Signal::offer, channel->offer()}));
  }
  /// Goes back to the WebSocket.
  void leave_channel() {
    channel.reset();
    transport.set_path({});
    has_moved = false;
    say(web::write_signal({web::Signal::leave, "nothing arrives"}));
  }

  void update(double now_s) {
    while (const auto next = socket.next()) {
      const std::string text(reinterpret_cast<const char*>(next->data()), next->size());
      if (const auto signal = web::read_signal(text)) {
        if (signal->kind == web::Signal::answer) channel->take_answer(signal->body);
        if (signal->kind == web::Signal::refused) refusal = signal->body;
        continue;
      }
      if (next->front() == static_cast<std::byte>(pipe::Kind::state)) ++on_socket;
      transport.received(*next, now_s);
    }
    if (channel) {
      for (const auto& each : intake_.read(udp_))
        if (!is_blocked) channel->receive(each.payload);
      channel->service(now_s);
      for (const auto& message : channel->take_messages()) {
        ++in_channel;
        transport.received(message.payload, now_s);
      }
      if (channel->is_open() && !std::exchange(has_moved, true))
        transport.set_path({.is_ordered = false, .max_datagram_bytes = web::kChannelDatagramBytes});
    }
    if (socket.has_ended()) transport.closed();
    client.update(now_s);
  }

  bool is_blocked = false;  // no datagram passes
  bool has_moved = false;
  std::size_t on_socket = 0, in_channel = 0, sent_in_channel = 0;  // messages with state
  std::string refusal;
  std::unique_ptr<ChannelClient> channel;
  WebSocket socket;
  PipeTransport transport;
  Client client;

 private:
  void say(const std::string& text) { (void)socket.send_raw(frame_header(text.size(), 1) + text); }

  bool send(std::span<const std::byte> message) {
    if (has_moved && message[0] == static_cast<std::byte>(pipe::Kind::state)) {
      ++sent_in_channel;
      return channel->send(message);
    }
    return socket.send(message);
  }

  UdpSocket udp_ = UdpSocket::open(loopback_ip().is_ipv4() ? IpFamilies::ipv4 : IpFamilies::ipv6);
  DatagramIntake intake_{DatagramIntake::kMost};
};

class WebChannelsTest : public WebWorld {
 protected:
  MovingPage& join(const std::function<void(WebConfig&)>& change = {}) {
    start(Insecure{}, change);
    page_ = std::make_unique<MovingPage>(web_->port());
    EXPECT_TRUE(show_until([&] { return !page_->client.shown().empty(); }));
    return *page_;
  }
  // Entities move on a circle, so that there is always something new, and no place comes twice in a test.
  bool show_until(const std::function<bool()>& reached, double seconds = 5.0) {
    return run_until(
        [&] {
          const double turn = machine_s();
          for (const auto& [client, entity] : entities_) {
            (void)server_->move(entity, {.position = {20.0 * std::cos(turn), 20.0 * std::sin(turn), 0.0},
                                         .velocity = {-20.0 * std::sin(turn), 20.0 * std::cos(turn), 0.0}});
          }
          page_->update(machine_s());
          return reached();
        },
        seconds);
  }

  std::unique_ptr<MovingPage> page_;
};

TEST_F(WebChannelsTest, StateTravelsOverTheChannelAndOverTheWebSocketAgainWhenItEnds) {
  MovingPage& page = join();
  ASSERT_NE(web_->channel_port(), 0);
  page.offer();
  ASSERT_TRUE(show_until([&] { return page.has_moved && page.in_channel > 5; })) << page.refusal;
  EXPECT_EQ(page.channel->server().port, web_->channel_port());
  EXPECT_EQ(page.channel->server().host, loopback_ip()) << "where the page has reached the listener";
  EXPECT_EQ(web_->web_stats().channels, 1u);

  const std::size_t on_socket = page.on_socket, in_channel = page.in_channel;
  const glm::dvec3 before = page.client.shown().front().shown.position;
  ASSERT_TRUE(show_until([&] { return page.in_channel >= in_channel + 20; }));
  EXPECT_EQ(page.on_socket, on_socket) << "nothing that may be lost uses the WebSocket";
  EXPECT_GT(page.sent_in_channel, 0u);
  EXPECT_GT(glm::distance(page.client.shown().front().shown.position, before), 0.1);
  EXPECT_GT(web_->channel_stats().payload_bytes_received, 0u);

  // The page leaves the channel, and the server follows, long before it would notice a silence.
  page.leave_channel();
  const std::size_t left_at = page.on_socket;
  ASSERT_TRUE(show_until([&] { return web_->web_stats().channels == 0; }, 2.0));
  ASSERT_TRUE(show_until([&] { return page.on_socket >= left_at + 10; }, 3.0));

  // It comes back with a newer offer.
  page.offer();
  EXPECT_TRUE(show_until([&] { return page.has_moved; }));
  EXPECT_EQ(page.client.status(), ClientStatus::joined);
  EXPECT_EQ(entities_.size(), 1u) << "it has joined once";
  // What was under way when the page left has no session any more.
  RefusalCounts refused = web_->channel_stats().refusals;
  EXPECT_EQ(web_->stats().refusals.total() - refused[Refusal::no_session], 0u);
}

TEST_F(WebChannelsTest, ClientGoesOnOverTheWebSocketWhereUdpIsBlocked) {
  MovingPage& page = join();
  page.is_blocked = true;
  page.offer();
  const std::size_t before = page.on_socket;
  ASSERT_TRUE(show_until([&] { return web_->web_stats().channels_half == 1; }));
  EXPECT_TRUE(show_until([&] { return page.on_socket >= before + 20; }));
  EXPECT_FALSE(page.has_moved);
  EXPECT_EQ(web_->web_stats().channels, 0u);

  // Blocked later: the server notices by itself.
  page.is_blocked = false;
  ASSERT_TRUE(show_until([&] { return page.has_moved; }));
  page.is_blocked = true;
  const std::size_t later = page.on_socket;
  EXPECT_TRUE(show_until([&] { return page.on_socket >= later + 20; }, 10.0));
  EXPECT_EQ(web_->web_stats().channels, 0u);
  EXPECT_EQ(page.client.status(), ClientStatus::joined);
}

TEST_F(WebChannelsTest, AnswersNameTheAddressOfTheSettings) {
  const auto set = [](WebConfig& config) {
    config.channel_address = "192.0.2.7";
    config.channel_public_port = 4001;
  };
  MovingPage& page = join(set);
  page.offer();
  ASSERT_TRUE(show_until([&] { return page.channel->server().port != 0; }));
  EXPECT_EQ(page.channel->server(), (SocketAddress{parse_host("192.0.2.7")->host, 4001}));
}

TEST_F(WebChannelsTest, ListenersWithoutChannelsOpenNoPort) {
  start(Insecure{}, [](WebConfig& config) { config.data_channels = false; });
  EXPECT_EQ(web_->channel_port(), 0);
  WebSocket socket(web_->port());
  EXPECT_TRUE(socket.open("http://" + url_host(), "reckoner, reckoner.channels"));
}

TEST_F(WebChannelsTest, PortInUseIsAnError) {
  start(Insecure{});
  const auto second =
      WebListener::open({.host = loopback(), .security = Insecure{}, .channel_port = web_->channel_port()});
  ASSERT_FALSE(second);
  EXPECT_NE(second.error().find("data channels"), std::string::npos) << second.error();
}

}  // namespace
}  // namespace reckoner::test
