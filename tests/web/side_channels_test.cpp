// SPDX-License-Identifier: MIT
// A listener with channels beside its WebSockets. The channels are in memory here: what they carry, and when,
// is the listener's part. channel_*_test.cpp have the real ones.
#include "web/src/listener/side_channels.hpp"

#include "net/src/transport/pipe/pipe_message.hpp"
#include "web/src/signalling/signal_message.hpp"
#include "web_world.hpp"

#include <deque>
#include <set>

namespace reckoner::test {
namespace {

using Bytes = std::vector<std::byte>;

struct Memory {
  std::set<StreamId> open;
  std::vector<std::string> offers;
  std::vector<StreamId> closed;
  std::deque<Bytes> to_browser, to_server;
  bool accepts = true;
};

class MemoryChannels final : public web::SideChannels {
 public:
  explicit MemoryChannels(Memory& memory) : memory_(memory) {}
  Result<std::string> open_offer(StreamId stream, const IpAddress& host, const IpAddress& reached,
                                 std::string_view offer, double) override {
    if (host != loopback_ip() || reached != loopback_ip()) return Error{"wrong host"};
    memory_.offers.emplace_back(offer);
    if (!memory_.accepts) return Error{"the offer has no fingerprint"};
    memory_.open.insert(stream);
    return std::string("the answer");
  }
  void close(StreamId stream) override {
    if (memory_.open.erase(stream) != 0) memory_.closed.push_back(stream);
  }
  bool send(StreamId stream, std::span<const std::byte> message) override {
    if (!memory_.open.contains(stream)) return false;
    memory_.to_browser.emplace_back(message.begin(), message.end());
    return true;
  }
  void pass_on(PipeServer& pipes, double now_s) override {
    for (; !memory_.to_server.empty(); memory_.to_server.pop_front())
      pipes.received(*memory_.open.begin(), memory_.to_server.front(), now_s);
  }
  [[nodiscard]] std::uint16_t port() const override { return 4000; }
  void count(WebStats& stats) const override { stats.channels = memory_.open.size(); }
  [[nodiscard]] const TransportStats& stats() const override { return stats_; }

 private:
  Memory& memory_;
  TransportStats stats_;
};

/// A page with the client library, which may offer a channel.
class Page {
 public:
  Page(std::uint16_t port, Memory& memory)
      : socket(port),
        transport([this](std::span<const std::byte> sent) {
          const bool by_channel = uses_channel && sent[0] == static_cast<std::byte>(pipe::Kind::state);
          if (by_channel) memory_.to_server.emplace_back(sent.begin(), sent.end());
          return by_channel || socket.send(sent);
        }),
        client(std::move(*Client::create({}, transport))),
        memory_(memory) {
    if (socket.open("http://" + url_host())) transport.opened();
  }

  void update(double now_s) {
    while (const auto next = socket.next()) {
      const std::string text(reinterpret_cast<const char*>(next->data()), next->size());
      if (const auto signal = web::read_signal(text)) {
        answers.emplace_back(signal->kind, signal->body);
        continue;
      }
      if (next->front() == static_cast<std::byte>(pipe::Kind::state)) ++states_on_socket;
      transport.received(*next, now_s);
    }
    for (; !memory_.to_browser.empty(); memory_.to_browser.pop_front()) {
      ++states_in_channel;
      transport.received(memory_.to_browser.front(), now_s);
    }
    if (socket.has_ended()) transport.closed();
    client.update(now_s);
  }

  void say(const std::string& text) { (void)socket.send_raw(frame_header(text.size(), 1) + text); }

  WebSocket socket;
  PipeTransport transport;
  Client client;
  bool uses_channel = false;
  std::vector<std::pair<web::Signal, std::string>> answers;
  std::size_t states_on_socket = 0, states_in_channel = 0;

 private:
  Memory& memory_;
};

class SideChannelsTest : public WebWorld {
 protected:
  void start_with_channels() {
    start(Insecure{});
    // Replaces the listener of the world by one with channels in memory.
    server_.reset();
    both_.reset();
    auto web = web::open_listener({.host = loopback(), .security = Insecure{}, .beside = udp_.get()},
                                  std::make_unique<MemoryChannels>(memory_));
    ASSERT_TRUE(web) << web.error();
    web_ = std::move(*web);
    both_.emplace(*udp_, *web_);
    server_.emplace(std::move(*Server::create({.tick_rate_hz = 30.0, .epoch_s = machine_s()}, *both_)));
    page_ = std::make_unique<Page>(web_->port(), memory_);
  }
  bool show_until(const std::function<bool()>& reached) {
    return run_until([&] {
      page_->update(machine_s());
      return reached();
    });
  }
  bool join() {
    return show_until([&] { return page_->client.status() == ClientStatus::joined; });
  }

  Memory memory_;
  std::unique_ptr<Page> page_;
};

TEST_F(SideChannelsTest, AClientMovesToItsChannelAndBackAndKeepsItsSession) {
  start_with_channels();
  ASSERT_TRUE(join());
  page_->say("offer\nv=0");
  ASSERT_TRUE(show_until([&] { return !page_->answers.empty(); }));
  EXPECT_EQ(page_->answers[0], std::pair(web::Signal::answer, std::string("the answer")));
  EXPECT_EQ(memory_.offers, std::vector<std::string>{"v=0"});

  // Both ends send by the channel from here on.
  page_->uses_channel = true;
  (void)show_until([&] { return page_->states_in_channel > 0; });
  const std::size_t on_socket = page_->states_on_socket;
  const std::size_t in_channel = page_->states_in_channel;
  EXPECT_TRUE(show_until([&] { return page_->states_in_channel >= in_channel + 5; }));
  EXPECT_EQ(page_->states_on_socket, on_socket) << "nothing that may be lost uses the WebSocket";

  // The channel ends, the WebSocket does not.
  memory_.open.clear();
  page_->uses_channel = false;
  EXPECT_TRUE(show_until([&] { return page_->states_on_socket >= on_socket + 5; }));
  EXPECT_EQ(page_->client.status(), ClientStatus::joined);
  EXPECT_EQ(entities_.size(), 1u) << "it has joined once";
  EXPECT_EQ(web_->stats().refusals.total(), 0u);
}

TEST_F(SideChannelsTest, TheChannelEndsWithTheWebSocket) {
  start_with_channels();
  ASSERT_TRUE(join());
  page_->say("offer\nv=0");
  ASSERT_TRUE(show_until([&] { return !memory_.open.empty(); }));
  page_.reset();
  EXPECT_TRUE(run_until([&] { return memory_.open.empty(); }));
  EXPECT_EQ(memory_.closed.size(), 1u);
}

TEST_F(SideChannelsTest, ARefusedOfferLeavesTheClientOnTheWebSocket) {
  memory_.accepts = false;
  start_with_channels();
  ASSERT_TRUE(join());
  page_->say("offer\nnonsense");
  ASSERT_TRUE(show_until([&] { return !page_->answers.empty(); }));
  EXPECT_EQ(page_->answers[0], std::pair(web::Signal::refused, std::string("the offer has no fingerprint")));
  const std::size_t before = page_->states_on_socket;
  EXPECT_TRUE(show_until([&] { return page_->states_on_socket > before; }));
}

TEST_F(SideChannelsTest, OffersBeforeTheTokenAndOtherTextsAreRefusedAndCounted) {
  start_with_channels();
  WebSocket stranger(web_->port());
  ASSERT_TRUE(stranger.open("http://" + url_host()));
  const auto say = [&](const std::string& text) {
    return stranger.send_raw(frame_header(text.size(), 1) + text);
  };
  ASSERT_TRUE(say("offer\nv=0"));
  EXPECT_EQ(refused(Refusal::unexpected, 1), 1u) << "it has not joined";
  ASSERT_TRUE(say("hello"));
  ASSERT_TRUE(say(""));
  EXPECT_EQ(refused(Refusal::malformed, 2), 2u);
  EXPECT_TRUE(memory_.offers.empty());
  ASSERT_TRUE(stranger.send_raw(frame_header(web::kMaxSignalBytes + 1, 1)));
  EXPECT_TRUE(stranger.is_closed_within(3.0));
  EXPECT_EQ(refused(Refusal::too_large, 1), 1u);

  // A client that has joined is refused these texts, too.
  ASSERT_TRUE(join());
  page_->say("answer\nv=0");
  EXPECT_EQ(refused(Refusal::unexpected, 2), 2u);
  EXPECT_TRUE(memory_.offers.empty());
}

}  // namespace
}  // namespace reckoner::test
