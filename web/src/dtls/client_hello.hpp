// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <reckoner/net/socket_address.hpp>

namespace reckoner::web {

/// Returns true if the first byte of a datagram is that of a DTLS record (RFC 7983).
[[nodiscard]] bool is_dtls(std::span<const std::byte> datagram);

/// Size of the longest ClientHello that is read, bytes. With keys against quantum computers, Chromium's has
/// about 1600 bytes.
inline constexpr std::size_t kMaxHelloBytes = 4096;

/// A part of a ClientHello (DTLS 1.2, RFC 6347 section 4.2). It refers to the bytes that it was read from.
struct HelloFragment {
  std::array<std::byte, 2> version{};   ///< of the record
  std::array<std::byte, 6> sequence{};  ///< number of the record
  std::uint16_t message = 0;            ///< number of the message: 0, and 1 for the hello with a cookie
  std::size_t hello_bytes = 0;          ///< size of the whole hello
  std::size_t offset = 0;               ///< where the part begins in the hello
  std::span<const std::byte> part;      ///< at least 1 byte
};

/// Reads the record at the front of `rest` if it is a part of a ClientHello, and removes it from there.
/// Returns nullopt for everything else.
[[nodiscard]] std::optional<HelloFragment> next_hello_fragment(std::span<const std::byte>& rest);

/// Gives addresses cookies, and knows its cookies without storing them. An address that returns a cookie can
/// receive what is sent to it. The first part of a hello contains the cookie, so nothing has to be stored
/// until the address is proven, even if a browser's hello takes two datagrams.
///
/// A check by ICE does not prove an address: who owns a session knows its password, and can send a genuine
/// check with a forged address. Without cookies, one hello of 100 bytes would then send a server's answer of
/// 800 bytes, and its repetitions, to a stranger.
class HelloCookies {
 public:
  using Secret = std::array<std::byte, 32>;
  using Cookie = std::array<std::byte, 20>;

  /// How long a cookie is valid, s: at least this, and at most twice as long.
  static constexpr double kValidS = 30.0;
  /// Size of the request for a cookie, bytes. Shorter than the shortest first part of a hello.
  static constexpr std::size_t kRequestBytes = 13 + 12 + 3 + std::tuple_size_v<Cookie>;

  explicit HelloCookies(const Secret& secret) : secret_(secret) {}

  /// Returns true if the first part of a hello contains a valid cookie for `from`.
  [[nodiscard]] bool has_cookie(const HelloFragment& first, const SocketAddress& from, double now_s) const;

  /// Writes the answer to the first part of a hello without a valid cookie: a HelloVerifyRequest. Returns
  /// nullopt if the part is too short to contain what a hello begins with.
  [[nodiscard]] std::optional<std::array<std::byte, kRequestBytes>> request(const HelloFragment& first,
                                                                            const SocketAddress& from,
                                                                            double now_s) const;

 private:
  [[nodiscard]] std::optional<Cookie> cookie(std::span<const std::byte> random, const SocketAddress& to,
                                             std::uint64_t period) const;

  Secret secret_;
};

/// Puts the parts of one ClientHello together. Its owner has checked the cookie of the first part.
class HelloAssembly {
 public:
  /// Adds a part; one that was added before changes nothing. Returns false if it does not belong to the hello
  /// of the parts before, or contradicts them.
  [[nodiscard]] bool add(const HelloFragment& fragment);
  /// True if no part is missing.
  [[nodiscard]] bool is_complete() const { return hello_bytes_ > 0 && missing_ == 0; }
  /// The hello as one record, as if it had never been in parts. Requires is_complete().
  [[nodiscard]] std::vector<std::byte> record() const;

 private:
  std::array<std::byte, 2> version_{};
  std::array<std::byte, 6> sequence_{};
  std::uint16_t message_ = 0;
  std::size_t hello_bytes_ = 0;
  std::size_t missing_ = 0;
  std::vector<std::byte> hello_;
  std::vector<bool> present_;
};

}  // namespace reckoner::web
