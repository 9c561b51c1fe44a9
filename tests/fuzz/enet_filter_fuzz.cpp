// SPDX-License-Identifier: MIT
// The filter that decides what ENet may read of a datagram. It is compared with ENet's own structs.
#include "net/src/transport/enet/enet_filter.hpp"
#include "net/src/transport/enet/enet_library.hpp"
#include "target.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

namespace reckoner::fuzz {
namespace {

using enet_filter::passable_bytes;
using enet_filter::Role;

constexpr enet_uint8 kItself = 0xFF;
constexpr std::uint64_t kNoPeer = ENET_PROTOCOL_MAXIMUM_PEER_ID;

// Checks one command as ENet reads it. Returns the length of the data behind it.
std::size_t read_command(const ENetProtocol& command, Role role, bool from_stranger) {
  const enet_uint8 code = command.header.command & ENET_PROTOCOL_COMMAND_MASK;
  const bool wants_answer = (command.header.command & ENET_PROTOCOL_COMMAND_FLAG_ACKNOWLEDGE) != 0;
  check(from_stranger == (code == ENET_PROTOCOL_COMMAND_CONNECT),
        "a stranger connects, and nobody else does");
  if (code == ENET_PROTOCOL_COMMAND_SEND_UNSEQUENCED) {
    const std::size_t length = ENET_NET_TO_HOST_16(command.sendUnsequenced.dataLength);
    check(length > 0 && length <= kMaxDatagramBytes && command.header.channelID == 1 && !wants_answer,
          "a packet of ours");
    return length;
  }
  check(command.header.channelID == kItself, "a command about the connection");
  switch (code) {
    case ENET_PROTOCOL_COMMAND_ACKNOWLEDGE:
      check(!wants_answer, "nobody acknowledges an acknowledgement");
      break;
    case ENET_PROTOCOL_COMMAND_CONNECT:
      check(role == Role::server && ENET_NET_TO_HOST_32(command.connect.channelCount) == 2 &&
                command.connect.incomingBandwidth == 0,
            "a connect");
      break;
    case ENET_PROTOCOL_COMMAND_VERIFY_CONNECT:
      check(role == Role::client && ENET_NET_TO_HOST_32(command.verifyConnect.channelCount) == 2 &&
                command.verifyConnect.incomingBandwidth == 0,
            "the answer to a connect");
      break;
    case ENET_PROTOCOL_COMMAND_BANDWIDTH_LIMIT:
      check(command.bandwidthLimit.incomingBandwidth == 0, "no bandwidth");
      break;
    case ENET_PROTOCOL_COMMAND_THROTTLE_CONFIGURE:
      check(command.throttleConfigure.packetThrottleDeceleration == 0, "no deceleration");
      break;
    default:
      check(code == ENET_PROTOCOL_COMMAND_DISCONNECT || code == ENET_PROTOCOL_COMMAND_PING,
            "a known command");
  }
  return 0;
}

void look(std::span<const std::byte> datagram) {
  for (const Role role : {Role::server, Role::client}) {
    const std::size_t bytes = passable_bytes(datagram, role);
    check(bytes <= datagram.size(), "no more than there is");
    if (bytes == 0) continue;
    const std::span<const std::byte> passed = datagram.first(bytes);
    check(passable_bytes(passed, role) == bytes, "what passes once passes again");
    const std::size_t peer = enet_filter::peer_of(passed);
    check(peer <= kNoPeer, "the number of a peer, or of none");
    const auto first = std::to_integer<unsigned>(passed[0]);
    check((first & (ENET_PROTOCOL_HEADER_FLAG_COMPRESSED >> 8)) == 0, "not compressed");
    std::size_t at = (first & (ENET_PROTOCOL_HEADER_FLAG_SENT_TIME >> 8)) != 0 ? 4 : 2;
    std::size_t commands = 0;
    for (; at < bytes; ++commands) {
      ENetProtocol command{};
      const auto code = std::to_integer<enet_uint8>(passed[at]);
      const std::size_t size = enet_protocol_command_size(code);
      check(size > 0 && at + size <= bytes, "a whole command");
      std::memcpy(&command, &passed[at], size);
      at += size + read_command(command, role, peer == kNoPeer);
    }
    check(at == bytes, "whole commands only");
    check(commands > 0 && commands <= ENET_PROTOCOL_MAXIMUM_PACKET_COMMANDS, "as many as ENet writes");
  }
}

class Writer {
 public:
  void put(std::uint64_t value, std::size_t bytes) {
    for (std::size_t i = bytes; i-- > 0;)
      out.push_back(static_cast<std::byte>(value >> (8 * i)));
  }
  void head(Choices& choices, std::uint64_t peer) {
    const bool timed = choices.flag();
    put((timed ? 0x8000u : 0u) | choices.up_to(3) << 12 | peer, 2);
    if (timed) put(choices.up_to(UINT16_MAX), 2);
  }
  Bytes out;
};

Bytes any_datagram(Choices& choices) {
  Writer writer;
  writer.head(choices, choices.flag() ? choices.up_to(4) : kNoPeer);
  for (std::uint64_t n = choices.up_to(3) + 1; n > 0; --n) {
    const auto code = static_cast<std::uint8_t>(choices.up_to(12));
    const std::size_t begin = writer.out.size();
    const bool wants_answer = choices.flag();
    writer.put(code | (code == 9 ? 0x40u : 0u) | (wants_answer ? 0x80u : 0u), 1);
    writer.put(choices.flag() ? std::uint64_t{kItself} : choices.up_to(2), 1);
    while (writer.out.size() - begin < enet_protocol_command_size(code))
      writer.put(choices.rarely(3) ? choices.up_to(255) : 0, 1);
    const auto set16 = [&](std::size_t offset, std::uint64_t value) {
      if (begin + offset + 1 >= writer.out.size()) return;
      writer.out[begin + offset] = static_cast<std::byte>(value >> 8);
      writer.out[begin + offset + 1] = static_cast<std::byte>(value);
    };
    const std::uint64_t length = choices.up_to(choices.flag() ? 30 : 1300);
    if ((code == 2 || code == 3) && choices.flag()) {
      set16(16, 0);
      set16(18, 2);  // channels
    }
    if (code == 6 || code == 7) set16(code == 6 ? 4 : 6, length);
    if (code == 8 || code == 9 || code == 12) set16(6, length);
    if (code >= 6 && code != 10 && code != 11) writer.out.resize(writer.out.size() + length, std::byte{1});
  }
  return writer.out;
}

// A datagram as a transport sends it to an end in that role.
Bytes valid_datagram(Choices& choices, Role role) {
  Writer writer;
  const bool connects = role == Role::server && choices.rarely(3);
  writer.head(choices, connects ? kNoPeer : choices.up_to(4094));
  const auto command = [&](unsigned first, unsigned channel) {
    writer.put(first, 1);
    writer.put(channel, 1);
    writer.put(choices.up_to(UINT16_MAX), 2);
  };
  const auto numbers = [&](std::size_t count) {
    for (std::size_t i = 0; i < count; ++i)
      writer.put(choices.up_to(UINT32_MAX), 4);
  };
  // The values of a connect and of its answer, which has one field less.
  const auto connection = [&](unsigned first, std::size_t after) {
    command(first, kItself);
    numbers(3);
    writer.put(2, 4);  // channels
    writer.put(0, 4);  // bandwidth
    numbers(after);
  };
  if (connects) {
    connection(0x82, 6);
    return writer.out;
  }
  for (std::uint64_t n = choices.up_to(31) + 1; n > 0; --n) {
    switch (choices.up_to(6)) {
      case 0:
        command(0x01, kItself);
        numbers(1);
        break;
      case 1:
        command(choices.flag() ? 0x84 : 0x44, kItself);
        numbers(1);
        break;
      case 2:
        command(0x85, kItself);
        break;
      case 3:
        command(0x8A, kItself);
        writer.put(0, 4);
        numbers(1);
        break;
      case 4:
        command(0x8B, kItself);
        numbers(2);
        writer.put(0, 4);
        break;
      case 5:
        if (role == Role::client) {
          connection(0x83, 5);
          break;
        }
        [[fallthrough]];
      default: {
        const std::uint64_t length = choices.up_to((choices.flag() ? 30 : kMaxDatagramBytes) - 1) + 1;
        command(0x49, 1);
        writer.put(choices.up_to(UINT16_MAX), 2);
        writer.put(length, 2);
        writer.out.resize(writer.out.size() + length, std::byte{1});
      }
    }
  }
  return writer.out;
}

}  // namespace

void run(std::span<const std::byte> input) {
  if (input.empty()) return;
  if (input.front() == kRaw) return look(input.subspan(1));
  Choices choices{input.subspan(1)};
  Bytes datagram = any_datagram(choices);
  look(datagram);
  if (damage(choices, datagram)) look(datagram);
  for (const Role role : {Role::server, Role::client}) {
    Bytes valid = valid_datagram(choices, role);
    check(passable_bytes(valid, role) == valid.size(), "what a transport sends passes");
    if (damage(choices, valid)) look(valid);
  }
}

std::vector<Bytes> seeds() {
  std::vector<Bytes> out;
  std::mt19937_64 random{17};
  for (int i = 0; i < 16; ++i) {
    Bytes decisions(60);
    for (std::byte& each : decisions)
      each = static_cast<std::byte>(random() & 0xff);
    Choices choices{decisions};
    const Bytes datagram = i % 2 == 0 ? any_datagram(choices)
                                      : valid_datagram(choices, i % 4 == 1 ? Role::server : Role::client);
    if (datagram.size() < 600) out.push_back(marked(kRaw, datagram));
  }
  add_choices(out, 12, 80, kChoices);
  add_choices(out, 12, 1200, kChoices);
  return out;
}

}  // namespace reckoner::fuzz
