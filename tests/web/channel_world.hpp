// SPDX-License-Identifier: MIT
#pragma once

#include "tests/web/channel_client.hpp"
#include "web/src/channel/channel_hub.hpp"
#include "web/src/channel/server_channel.hpp"
#include "web/src/dtls/client_hello.hpp"

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace reckoner::test {

/// A ChannelHub and browsers, by default in virtual time, with a network between them that takes 10 ms.
class ChannelWorld {
 public:
  static constexpr IpAddress kServerHost = 0x0a00'0001;
  static constexpr double kStepS = 0.005;
  static constexpr double kDelayS = 0.010;

  /// A browser and its stream.
  struct Browser {
    StreamId stream = 0;
    SocketAddress address;
    std::unique_ptr<ChannelClient> client;
  };

  explicit ChannelWorld(web::ChannelConfig config = {})
      : hub(std::move(
            *web::ChannelHub::create(with_address(std::move(config)),
                                     [this](const SocketAddress& to, std::span<const std::byte> datagram) {
                                       carry({}, to, datagram);
                                     }))) {}

  static web::ChannelConfig with_address(web::ChannelConfig config) {
    config.address = {kServerHost, 4000};
    return config;
  }
  static SocketAddress address_of(StreamId stream) {
    return {IpAddress(0x0a00'0100u + static_cast<std::uint32_t>(stream)), 50'000};
  }

  /// Adds a browser and makes its offer. `host`: of its stream; by default that of its channel.
  Browser& add(StreamId stream, ChannelClient::Options options = ChannelClient::Options(),
               std::optional<IpAddress> host = std::nullopt) {
    Browser& added = browsers[stream];
    added.stream = stream;
    added.address = address_of(stream);
    added.client = std::make_unique<ChannelClient>(
        [this, from = added.address](std::span<const std::byte> datagram) {
          carry(from, {kServerHost, 4000}, datagram);
        },
        std::move(options));
    const auto answer =
        hub->open_offer(stream, host.value_or(added.address.host), added.client->offer(), now_s);
    if (answer) {
      added.client->take_answer(*answer);
    } else {
      refusal = std::string(answer.error());
    }
    return added;
  }

  /// Adds a browser and waits for its channel.
  Browser& join(StreamId stream, ChannelClient::Options options = ChannelClient::Options()) {
    Browser& added = add(stream, std::move(options));
    if (!run_until([&] { return added.client->is_open(); })) ADD_FAILURE() << "the channel is not open";
    return added;
  }

  void run(double seconds) {
    for (const double end_s = now_s + seconds; now_s < end_s;)
      step();
  }
  /// Runs until `done()`, for at most `seconds`. Returns true if it was done.
  bool run_until(const std::function<bool()>& done, double seconds = 5.0) {
    const double end_s = now_s + seconds;
    while (!done()) {
      if (now_s >= end_s) return false;
      step();
    }
    return true;
  }

  void step() {
    if (is_real) std::this_thread::sleep_for(std::chrono::duration<double>(kStepS));
    const double clock_s =
        std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
    now_s = is_real ? clock_s : now_s + kStepS;
    while (!in_flight.empty() && in_flight.front().due_s <= now_s) {
      const Datagram next = std::move(in_flight.front());
      in_flight.pop_front();
      if (next.to.host == kServerHost) {
        hub->receive(next.from, next.bytes, now_s);
      } else {
        for (auto& [stream, browser] : browsers)
          if (browser.address == next.to) browser.client->receive(next.bytes);
      }
    }
    hub->service(now_s);
    for (auto& [stream, browser] : browsers)
      browser.client->service(now_s);
    while (auto event = hub->poll())
      events.push_back(std::move(*event));
  }

  /// Removes and returns the payloads of the messages of a stream that have arrived at the hub.
  std::vector<Bytes> take_messages(StreamId stream) {
    std::vector<Bytes> out;
    std::erase_if(events, [&](const web::ChannelEvent& event) {
      const bool is_one = event.kind == web::ChannelEvent::Kind::message && event.stream == stream;
      if (is_one) out.push_back(event.payload);
      return is_one;
    });
    return out;
  }
  [[nodiscard]] std::size_t count(web::ChannelEvent::Kind kind) const {
    std::size_t found = 0;
    for (const web::ChannelEvent& event : events)
      found += event.kind == kind ? 1 : 0;
    return found;
  }
  [[nodiscard]] std::uint64_t refused(Refusal why) const { return hub->stats().refusals[why]; }

  struct Datagram {
    SocketAddress from, to;
    Bytes bytes;
    double due_s = 0.0;
  };

  /// Datagrams for which this returns true are lost.
  std::function<bool(const Datagram&)> loses;
  std::vector<Datagram> carried;  // all, if `keeps`
  bool keeps = false;
  /// True: time is that of the machine. OpenSSL and usrsctp repeat what was lost by the machine's clock.
  bool is_real = false;
  double now_s = 100.0;
  std::deque<Datagram> in_flight;
  std::map<StreamId, Browser> browsers;
  std::vector<web::ChannelEvent> events;
  std::string refusal;
  std::unique_ptr<web::ChannelHub> hub;

 private:
  void carry(const SocketAddress& from, const SocketAddress& to, std::span<const std::byte> datagram) {
    Datagram next{from, to, {datagram.begin(), datagram.end()}, now_s + kDelayS};
    if (keeps) carried.push_back(next);
    if (loses && loses(next)) return;
    in_flight.push_back(std::move(next));
  }
};

}  // namespace reckoner::test
