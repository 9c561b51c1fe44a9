// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace reckoner::web {

/// What the payload protocol identifier of a message says (RFC 8831 section 8).
enum ChannelProtocol : std::uint32_t {
  kOpenProtocol = 50,  ///< a message that opens a channel, or its acknowledgement
  kTextProtocol = 51,
  kBinaryProtocol = 53,
  kEmptyTextProtocol = 56,    ///< an empty text, as one byte
  kEmptyBinaryProtocol = 57,  ///< empty data, as one byte
};

/// A request to open a channel (RFC 8832 section 5.1). Its texts refer to the bytes that it was read from.
struct ChannelOpen {
  /// Without order, and with a limit of repetitions.
  static constexpr std::uint8_t kUnorderedRepeats = 0x81;

  std::uint8_t type = kUnorderedRepeats;
  std::uint16_t priority = 0;
  std::uint32_t reliability = 0;  ///< for kUnorderedRepeats: how often a lost message is repeated
  std::string_view label;
  std::string_view protocol;
};

/// The acknowledgement of a channel.
inline constexpr std::array<std::byte, 1> kChannelAck{std::byte{2}};

/// Reads an untrusted request. Nullopt if it is not valid.
[[nodiscard]] std::optional<ChannelOpen> read_channel_open(std::span<const std::byte> message);

/// Writes a request. The texts have at most 65 535 bytes each.
[[nodiscard]] std::vector<std::byte> write_channel_open(const ChannelOpen& open);

}  // namespace reckoner::web
