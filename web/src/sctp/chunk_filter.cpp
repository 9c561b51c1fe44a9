// SPDX-License-Identifier: MIT
#include "web/src/sctp/chunk_filter.hpp"

#include "web/src/ice/big_endian.hpp"

#include <algorithm>
#include <utility>

namespace reckoner::web {
namespace {

constexpr std::size_t kCommonHeaderBytes = 12;
constexpr std::size_t kChunkHeaderBytes = 4;

// Types of chunks: RFC 9260 section 3.2, RFC 3758 section 3.2.
enum ChunkType : unsigned {
  kData = 0,
  kInit = 1,
  kSack = 3,
  kHeartbeat = 4,
  kHeartbeatAck = 5,
  kAbort = 6,
  kShutdown = 7,
  kShutdownAck = 8,
  kError = 9,
  kCookieEcho = 10,
  kShutdownComplete = 14,
  kForwardTsn = 192,
};

struct Chunk {
  unsigned type = 0;
  unsigned flags = 0;
  std::span<const std::byte> bytes;  // with its header, without padding
};

/// The chunk at the front of `rest`, which it removes from there. Nullopt if its length is not valid.
std::optional<Chunk> next_chunk(std::span<const std::byte>& rest) {
  if (rest.size() < kChunkHeaderBytes) return std::nullopt;
  const std::size_t bytes = from_big_endian(rest.subspan(2, 2));
  if (bytes < kChunkHeaderBytes || bytes > rest.size()) return std::nullopt;
  const Chunk chunk{std::to_integer<unsigned>(rest[0]), std::to_integer<unsigned>(rest[1]),
                    rest.first(bytes)};
  rest = rest.subspan(std::min((bytes + 3) / 4 * 4, rest.size()));  // the last chunk may lack its padding
  return chunk;
}

/// The size of the chunk's fixed part, bytes. 0: the chunk is never allowed once the association is open.
std::size_t least_bytes_when_open(unsigned type) {
  switch (type) {
    case kData:
      return 16 + 1;  // an empty message of a channel has one byte, too (RFC 8831 section 6.6)
    case kSack:
      return 16;
    case kForwardTsn:
    case kShutdown:
      return 8;
    case kHeartbeat:
    case kHeartbeatAck:
    case kAbort:
    case kError:
    case kShutdownAck:
    case kShutdownComplete:
      return kChunkHeaderBytes;
    default:
      return 0;
  }
}

/// Returns why a chunk is refused in an open association.
std::optional<Refusal> refuse_when_open(const Chunk& chunk) {
  const std::size_t least = least_bytes_when_open(chunk.type);
  if (least == 0) return Refusal::unexpected;
  if (chunk.bytes.size() < least) return Refusal::malformed;
  constexpr unsigned kWholeMessage = 3;  // flags: it begins and ends a message
  if (chunk.type == kData && (chunk.flags & kWholeMessage) != kWholeMessage) return Refusal::unexpected;
  // The number of blocks and of repetitions in a SACK tells how long it is.
  if (chunk.type == kSack &&
      chunk.bytes.size() != 16 + 4 * (std::size_t{from_big_endian(chunk.bytes.subspan(12, 2))} +
                                      from_big_endian(chunk.bytes.subspan(14, 2)))) {
    return Refusal::malformed;
  }
  if (chunk.type == kForwardTsn && chunk.bytes.size() % 4 != 0) return Refusal::malformed;
  return std::nullopt;
}

}  // namespace

std::optional<Refusal> ChunkFilter::refuse(std::span<const std::byte> packet) {
  if (packet.size() > kMaxSctpPacketBytes) return Refusal::too_large;
  if (packet.size() < kCommonHeaderBytes + kChunkHeaderBytes) return Refusal::malformed;
  const auto tag = packet.subspan(4, 4);
  auto rest = packet.subspan(kCommonHeaderBytes);
  const auto first = next_chunk(rest);
  if (!first) return Refusal::malformed;

  // Only INIT has the tag zero, and no other chunk comes with it (RFC 9260 section 8.5.1).
  const bool has_tag = from_big_endian(tag) != 0;
  if (first->type == kInit) {
    if (is_open()) return Refusal::unexpected;
    return has_tag || first->bytes.size() < 20 || !rest.empty() ? std::optional(Refusal::malformed)
                                                                : std::nullopt;
  }
  if (!has_tag) return Refusal::malformed;
  if (first->type == kAbort && !is_open()) {
    return rest.empty() ? std::nullopt : std::optional(Refusal::malformed);
  }

  std::vector<std::byte> cookie;
  if (first->type == kCookieEcho) {
    if (first->bytes.size() == kChunkHeaderBytes) return Refusal::malformed;
    cookie.assign(tag.begin(), tag.end());
    cookie.insert(cookie.end(), first->bytes.begin(), first->bytes.end());
    if (is_open() && (cookie_is_settled_ || cookie != cookie_)) return Refusal::unexpected;
  } else if (!is_open()) {
    return Refusal::unexpected;
  } else if (const auto why = refuse_when_open(*first)) {
    return why;
  }
  while (!rest.empty()) {
    const auto chunk = next_chunk(rest);
    if (!chunk) return Refusal::malformed;
    if (const auto why = refuse_when_open(*chunk)) return why;
  }
  // The state changes only for packets that pass as a whole.
  if (cookie.empty()) {
    cookie_is_settled_ = true;
  } else {
    cookie_ = std::move(cookie);
  }
  return std::nullopt;
}

}  // namespace reckoner::web
