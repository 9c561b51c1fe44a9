// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include <reckoner/net/socket_address.hpp>

namespace reckoner::web {

/// Identifies a request; its answer repeats it.
using StunTransaction = std::array<std::byte, 12>;

/// A STUN binding request as a browser sends it to check a path (RFC 8489, RFC 8445 section 7.1). It refers
/// to the bytes that it was read from.
struct BindingRequest {
  StunTransaction transaction{};
  std::string_view username;  ///< ufrag of the receiver, ':', ufrag of the sender; empty: none
  bool has_priority = false;
  bool is_controlling = false;  ///< the sender chooses the path (ICE-CONTROLLING)
  bool is_controlled = false;   ///< the sender expects the receiver to choose (ICE-CONTROLLED)
  bool use_candidate = false;   ///< the sender has chosen this path (USE-CANDIDATE)
  /// Offset of MESSAGE-INTEGRITY in the message, bytes. Nullopt: the request has none.
  std::optional<std::size_t> integrity_at;
};

/// Size of the longest message that this file reads, bytes. The largest that browsers send is about 150
/// bytes.
inline constexpr std::size_t kMaxStunBytes = 548;

/// Size of the longest answer, bytes: header, XOR-MAPPED-ADDRESS for IPv6, MESSAGE-INTEGRITY and FINGERPRINT.
inline constexpr std::size_t kMaxBindingResponseBytes = 20 + 24 + 24 + 8;

/// Returns true if the first bytes of a datagram are those of a STUN message (RFC 7983, and the magic
/// cookie).
[[nodiscard]] bool is_stun(std::span<const std::byte> datagram);

/// Reads a binding request. Returns nullopt for everything else: other messages, wrong lengths, a missing or
/// wrong FINGERPRINT, an attribute that appears twice, and an unknown attribute that the receiver must
/// understand. Does not check MESSAGE-INTEGRITY: is_genuine() does.
[[nodiscard]] std::optional<BindingRequest> read_binding_request(std::span<const std::byte> message);

/// Returns true if the request has a MESSAGE-INTEGRITY that was made with `password`. `message` is what
/// `request` was read from. Takes equally long for every wrong value.
[[nodiscard]] bool is_genuine(const BindingRequest& request, std::span<const std::byte> message,
                              std::string_view password);

/// Writes the answer to a genuine request that came from `from`. Returns its size, bytes.
[[nodiscard]] std::size_t write_binding_response(const StunTransaction& transaction,
                                                 const SocketAddress& from, std::string_view password,
                                                 std::span<std::byte, kMaxBindingResponseBytes> out);

}  // namespace reckoner::web
