// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <reckoner/net/socket_address.hpp>
#include <reckoner/reckoning/result.hpp>

namespace reckoner::web {

/// SHA-256 of a certificate.
using Fingerprint = std::array<std::byte, 32>;

/// Limits of an offer. An offer of Chromium or Firefox has about 500 bytes, and 100 more for each candidate.
inline constexpr std::size_t kMaxOfferBytes = 8192;
inline constexpr std::size_t kMaxOfferLineBytes = 512;

/// What the server needs to know from the offer of a browser (RFC 8866, RFC 8839, RFC 8841).
struct Offer {
  std::string ufrag;                         ///< 4 to 32 characters
  std::string password;                      ///< 22 to 128 characters
  Fingerprint fingerprint{};                 ///< of the browser's certificate
  std::string mid;                           ///< name of the data section, 1 to 16 characters
  std::uint16_t sctp_port = 5000;            ///< not 0
  std::uint32_t max_message_bytes = 65'536;  ///< largest message that the browser accepts; 0: any size
};

/// What the server tells the browser.
struct Answer {
  std::string ufrag;                       ///< 4 to 32 characters
  std::string password;                    ///< 22 to 128 characters
  Fingerprint fingerprint{};               ///< of the server's certificate
  std::string mid;                         ///< that of the offer
  SocketAddress address;                   ///< where the browser reaches the server's UDP port
  std::uint16_t sctp_port = 5000;          ///< not 0
  std::uint32_t max_message_bytes = 1200;  ///< largest message that the server accepts
};

/// Reads an offer of one data channel section and nothing else. Candidates are ignored: the server waits for
/// the browser's checks. The error is one sentence, and contains nothing from the offer.
[[nodiscard]] Result<Offer> read_offer(std::string_view sdp);

/// Writes the answer: an ICE-lite server with one candidate, which waits for the browser's DTLS hello.
[[nodiscard]] std::string write_answer(const Answer& answer);

}  // namespace reckoner::web
