// SPDX-License-Identifier: MIT
// SCTP packets in front of the SCTP library: a size of two bytes, then the packet, again and again.
#include "target.hpp"
#include "web/src/sctp/chunk_filter.hpp"

#include <algorithm>
#include <array>
#include <tuple>

namespace reckoner::fuzz {
namespace {

// Reads a packet that has passed without the filter's code. Returns the types of its chunks.
std::vector<unsigned> types_of(std::span<const std::byte> packet) {
  std::vector<unsigned> types;
  for (std::size_t at = 12; at < packet.size();) {
    check(packet.size() - at >= 4, "a chunk has a header");
    const std::size_t size =
        std::to_integer<std::size_t>(packet[at + 2]) * 256 + std::to_integer<std::size_t>(packet[at + 3]);
    check(size >= 4 && size <= packet.size() - at, "a chunk is inside the packet");
    types.push_back(std::to_integer<unsigned>(packet[at]));
    at += size + (4 - size % 4) % 4;
  }
  return types;
}

Bytes sample(unsigned type, std::size_t value_bytes, std::byte tag) {
  Bytes out(2 + 12 + 4 + value_bytes);
  out[0] = static_cast<std::byte>((out.size() - 2) & 0xff);
  out[2 + 7] = tag;
  out[2 + 12] = static_cast<std::byte>(type);
  out[2 + 13] = std::byte{7};
  out[2 + 15] = static_cast<std::byte>(4 + value_bytes);
  return out;
}

}  // namespace

void run(std::span<const std::byte> input) {
  web::ChunkFilter filter;
  Bytes cookie;
  while (input.size() >= 2) {
    const std::size_t told =
        std::to_integer<std::size_t>(input[0]) + std::to_integer<std::size_t>(input[1]) * 256;
    const auto packet = input.subspan(2, std::min(told, input.size() - 2));
    input = input.subspan(2 + packet.size());
    const bool was_open = filter.is_open();
    if (filter.refuse(packet)) {
      check(filter.is_open() == was_open, "a refused packet changes nothing");
      continue;
    }
    check(packet.size() <= web::kMaxSctpPacketBytes, "a large packet is refused");
    const auto types = types_of(packet);
    check(!types.empty(), "a packet has a chunk");
    constexpr std::array<unsigned, 12> kEver{0, 1, 3, 4, 5, 6, 7, 8, 9, 10, 14, 192};
    for (std::size_t i = 0; i < types.size(); ++i) {
      check(std::ranges::find(kEver, types[i]) != kEver.end(), "other chunks never pass");
      check(types[i] != 1 || (!was_open && types.size() == 1), "INIT is alone and early");
      check(types[i] != 10 || i == 0, "COOKIE-ECHO comes first");
    }
    if (types.front() != 10) continue;
    check(filter.is_open(), "a cookie opens the association");
    const std::size_t size =
        std::to_integer<std::size_t>(packet[14]) * 256 + std::to_integer<std::size_t>(packet[15]);
    const Bytes shown(packet.begin() + 12, packet.begin() + 12 + static_cast<std::ptrdiff_t>(size));
    check(!was_open || shown == cookie, "no second cookie passes");
    cookie = shown;
  }
}

std::vector<Bytes> seeds() {
  Bytes talk;
  for (const auto& [type, bytes, tag] : {std::tuple{1u, 16u, 0u},
                                         {10u, 40u, 1u},
                                         {10u, 40u, 1u},
                                         {0u, 16u, 1u},
                                         {3u, 12u, 1u},
                                         {192u, 8u, 1u},
                                         {10u, 40u, 1u},
                                         {6u, 0u, 1u}}) {
    const Bytes one = sample(type, bytes, static_cast<std::byte>(tag));
    talk.insert(talk.end(), one.begin(), one.end());
  }
  std::vector<Bytes> out{talk};
  add_choices(out, 3, 200, std::byte{40});
  return out;
}

}  // namespace reckoner::fuzz
