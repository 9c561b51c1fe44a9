// SPDX-License-Identifier: MIT
// What a browser can send inside DTLS: SCTP packets with any chunks, messages with any protocol on any
// stream, at any time. A genuine association carries them, so that the SCTP library takes them. The input is
// a list of steps: a kind, two numbers, a size, and that many bytes.
#include "target.hpp"
#include "web/src/channel/server_channel.hpp"
#include "web/src/sctp/channel_open.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <string>

namespace reckoner::fuzz {
namespace {

enum Step : unsigned { kExchange, kMessage, kPacket, kTime, kSend, kKinds };

constexpr std::uint16_t kPort = 5000;
constexpr const char* kLabel = "reckoner";

/// CRC-32C (RFC 9260 appendix A), bit by bit.
std::uint32_t crc32c(std::span<const std::byte> bytes) {
  std::uint32_t crc = ~0u;
  for (const std::byte byte : bytes) {
    crc ^= std::to_integer<std::uint32_t>(byte);
    for (int bit = 0; bit < 8; ++bit)
      crc = crc >> 1 ^ ((crc & 1u) != 0 ? 0x82f6'3b78u : 0u);
  }
  return ~crc;
}

/// Both ends of one association.
class Ends {
 public:
  explicit Ends(web::SctpStack& stack)
      : server_(web::ServerChannel::create(stack, kPort, kLabel)),
        browser_(web::SctpAssociation::create(stack, web::SctpAssociation::Role::begins, kPort)) {
    check(server_ && browser_, "associations can be made");
  }

  void exchange() {
    for (int i = 0; i < 8; ++i) {
      browser_->flush([&](std::span<const std::byte> packet) {
        if (packet.size() >= 8) std::copy_n(packet.begin() + 4, tag_.size(), tag_.begin());
        server_->receive(packet);
        poll();
      });
      server_->flush([&](std::span<const std::byte> packet) { browser_->receive(packet); });
      while (browser_->poll()) {
      }
    }
  }

  void message(unsigned stream, unsigned protocol, std::span<const std::byte> payload) {
    // 50 to 57 are those that mean something.
    (void)browser_->send(static_cast<std::uint16_t>(stream % 20), 50 + protocol % 10, payload,
                         stream < 128 ? web::SctpDelivery::reliable : web::SctpDelivery::newest);
    exchange();
  }

  /// A packet with these chunks. `tag`: 0: of an INIT; else the genuine one.
  void packet(unsigned tag, std::span<const std::byte> chunks) {
    Bytes packet{std::byte{0x13}, std::byte{0x88}, std::byte{0x13}, std::byte{0x88}};
    packet.resize(12);
    if (tag != 0) std::copy(tag_.begin(), tag_.end(), packet.begin() + 4);
    packet.insert(packet.end(), chunks.begin(), chunks.end());
    const std::uint32_t crc = crc32c(packet);
    for (std::size_t i = 0; i < 4; ++i)
      packet[8 + i] = static_cast<std::byte>(crc >> (8 * i) & 0xff);
    server_->receive(packet);
    poll();
  }

  void send(std::size_t bytes) {
    const bool was_open = server_->is_open();
    const bool is_sent = server_->send(Bytes(bytes, std::byte{1}));
    check(is_sent == (was_open && bytes >= 1 && bytes <= web::kMaxChannelMessageBytes),
          "an open channel takes messages of every allowed size, and no others");
  }

 private:
  void poll() {
    while (const auto message = server_->poll()) {
      check(server_->is_open() || server_->has_ended(), "messages come over an open channel");
      check(!message->empty() && message->size() <= web::kMaxChannelMessageBytes, "sizes are checked");
    }
  }

  std::unique_ptr<web::ServerChannel> server_;
  std::unique_ptr<web::SctpAssociation> browser_;
  std::array<std::byte, 4> tag_{};
};

void append(Bytes& out, Step step, unsigned first, unsigned second, std::span<const std::byte> bytes) {
  out.insert(out.end(), {std::byte(step), std::byte(first), std::byte(second), std::byte(bytes.size() & 0xff),
                         std::byte(bytes.size() >> 8)});
  out.insert(out.end(), bytes.begin(), bytes.end());
}

}  // namespace

void run(std::span<const std::byte> input) {
  // The library has one clock for the process.
  static web::SctpStack stack;
  static double now_s = 0.0;
  stack.advance(now_s);
  Ends ends(stack);
  for (int steps = 0; input.size() >= 5 && steps < 200; ++steps) {
    const auto number = [&](std::size_t at) { return std::to_integer<unsigned>(input[at]); };
    const unsigned kind = number(0) % kKinds, first = number(1), second = number(2);
    const std::size_t size = std::min<std::size_t>(number(3) + 256 * number(4), input.size() - 5);
    const auto bytes = input.subspan(5, size);
    input = input.subspan(5 + size);
    switch (kind) {
      case kExchange:
        ends.exchange();
        break;
      case kMessage:
        ends.message(first, second, bytes);
        break;
      case kPacket:
        ends.packet(first, bytes);
        break;
      case kTime:
        stack.advance(now_s += 0.01 * first);
        break;
      default:
        ends.send(first + 256 * (second % 4));
    }
  }
  ends.exchange();
}

std::vector<Bytes> seeds() {
  const Bytes open = web::write_channel_open({.label = kLabel, .protocol = {}});
  const Bytes data(100, std::byte{7});
  const auto chunk = [](unsigned type, unsigned flags, std::initializer_list<unsigned> value) {
    Bytes out{std::byte(type), std::byte(flags), std::byte{0}, std::byte(4 + value.size())};
    for (const unsigned each : value)
      out.push_back(std::byte(each));
    return out;
  };
  Bytes talk;
  append(talk, kExchange, 0, 0, {});
  append(talk, kMessage, 0, 0, open);
  append(talk, kMessage, 200, 3, data);
  append(talk, kSend, 88, 2, {});
  append(talk, kExchange, 0, 0, {});
  append(talk, kTime, 50, 0, {});
  append(talk, kMessage, 200, 7, data);
  append(talk, kMessage, 0, 0, open);

  Bytes chunks;
  append(chunks, kExchange, 0, 0, {});
  append(chunks, kMessage, 0, 0, open);
  append(chunks, kPacket, 1, 0, chunk(4, 0, {0, 1, 0, 8, 1, 2, 3, 4}));                  // HEARTBEAT
  append(chunks, kPacket, 1, 0, chunk(3, 0, {0, 0, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0}));      // SACK
  append(chunks, kPacket, 1, 0, chunk(192, 0, {0, 0, 0, 9}));                            // FORWARD-TSN
  append(chunks, kPacket, 1, 0, chunk(0, 7, {0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 53, 1}));  // DATA
  append(chunks, kPacket, 1, 0, chunk(9, 0, {0, 1, 0, 8, 0, 1, 0, 0}));                  // ERROR
  append(chunks, kPacket, 0, 0, chunk(1, 0, {0, 0, 0, 1, 0, 0, 16, 0, 0, 1, 0, 1, 0, 0, 0, 1}));  // INIT
  append(chunks, kPacket, 1, 0, chunk(7, 0, {0, 0, 0, 1}));                                       // SHUTDOWN
  append(chunks, kPacket, 1, 0, chunk(6, 0, {}));                                                 // ABORT

  Bytes early;
  append(early, kPacket, 0, 0, chunk(1, 0, {0, 0, 0, 1, 0, 0, 16, 0, 0, 1, 0, 1, 0, 0, 0, 1}));
  append(early, kPacket, 1, 0, chunk(10, 0, {1, 2, 3, 4, 5, 6, 7, 8}));
  append(early, kMessage, 0, 0, open);
  append(early, kTime, 255, 0, {});
  append(early, kExchange, 0, 0, {});

  Bytes other;
  append(other, kExchange, 0, 0, {});
  append(other, kMessage, 0, 0, web::write_channel_open({.type = 0, .label = "chat", .protocol = "x"}));
  append(other, kMessage, 2, 0, open);
  append(other, kMessage, 4, 0, open);
  append(other, kMessage, 4, 3, data);
  return {talk, chunks, early, other};
}

}  // namespace reckoner::fuzz
