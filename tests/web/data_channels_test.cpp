// SPDX-License-Identifier: MIT
// A listener with real data channels: a page joins over its WebSocket, offers a channel there, and moves to
// it.
#include "net/src/transport/pipe/pipe_message.hpp"
#include "net/src/transport/socket/datagram_intake.hpp"
#include "net/src/transport/socket/udp_socket.hpp"
#include "tests/web/channel_client.hpp"
#include "web/src/channel/server_channel.hpp"
#include "web/src/signalling/signal_message.hpp"
#include "web_world.hpp"

namespace reckoner::test {
namespace {

/// The client library over a WebSocket and, as soon as it is open, a data channel.
class ChannelPage {
 public:
  explicit ChannelPage(std::uint16_t port)
      : socket(port),
        transport([this](std::span<const std::byte> message) { return send(message); }),
        client(std::move(*Client::create({}, transport))) {
    EXPECT_TRUE(udp_.bind({loopback_ip(), 0}));
    if (socket.open("http://" + url_host())) transport.opened();
  }

  void offer() {
    channel = std::make_unique<ChannelClient>(
        [this](std::span<const std::byte> datagram) { udp_.send(channel->server(), datagram); });
    const std::string text = web::write_signal({web::Signal::offer, channel->offer()});
    EXPECT_TRUE(socket.send_raw(frame_header(text.size(), 1) + text));
  }

  void update(double now_s) {
    while (const auto next = socket.next()) {
      const auto signal = web::read_signal({reinterpret_cast<const char*>(next->data()), next->size()});
      if (signal && signal->kind == web::Signal::answer && channel) {
        channel->take_answer(signal->body);
        continue;
      }
      if (next->front() == static_cast<std::byte>(pipe::Kind::state)) ++states_on_socket;
      transport.received(*next, now_s);
    }
    if (channel && channel->server().port != 0) {
      for (const auto& each : intake_.read(udp_))
        channel->receive(each.payload);
      channel->service(now_s);
      for (const auto& message : channel->take_messages()) {
        ++states_in_channel;
        transport.received(message.payload, now_s);
      }
    }
    client.update(now_s);
  }

  WebSocket socket;
  std::unique_ptr<ChannelClient> channel;
  PipeTransport transport;
  Client client;
  std::size_t states_on_socket = 0, states_in_channel = 0;

 private:
  bool send(std::span<const std::byte> message) {
    const bool by_channel = channel && channel->is_open() &&
                            message[0] == static_cast<std::byte>(pipe::Kind::state) &&
                            message.size() <= web::kMaxChannelMessageBytes;
    return by_channel ? channel->send(message) : socket.send(message);
  }

  UdpSocket udp_ = UdpSocket::open(loopback_ip().is_ipv4() ? IpFamilies::ipv4 : IpFamilies::ipv6);
  DatagramIntake intake_{DatagramIntake::kMost};
};

class DataChannelsTest : public WebWorld {};

TEST_F(DataChannelsTest, AWebSocketCarriesTheOfferAndTheClientMovesAndBack) {
  start(Insecure{}, [](WebConfig& config) { config.data_channels = true; });
  EXPECT_NE(web_->channel_port(), 0);
  NativePlayer& native = join_natively(Insecure{});
  ChannelPage page(web_->port());
  const auto show_until = [&](const std::function<bool()>& reached) {
    return run_until([&] {
      page.update(machine_s());
      return reached();
    });
  };
  ASSERT_TRUE(show_until([&] { return page.client.status() == ClientStatus::joined; }));
  page.offer();
  ASSERT_TRUE(show_until([&] { return page.channel->is_open() && page.states_in_channel > 5; }));
  EXPECT_EQ(web_->web_stats().channels, 1u);
  const std::size_t on_socket = page.states_on_socket;
  const std::size_t in_channel = page.states_in_channel;
  ASSERT_TRUE(show_until([&] { return page.states_in_channel > in_channel + 5; }));
  EXPECT_EQ(page.states_on_socket, on_socket);
  EXPECT_TRUE(show_until([&] { return shows(page.client, 2) && shows(native.client, 2); }))
      << "the players see each other";

  page.channel->close();
  EXPECT_TRUE(show_until([&] { return page.states_on_socket > on_socket + 5; }));
  EXPECT_EQ(web_->web_stats().channels, 0u);
  EXPECT_EQ(page.client.status(), ClientStatus::joined);
  EXPECT_EQ(entities_.size(), 2u) << "the session went on";
}

}  // namespace
}  // namespace reckoner::test
