// SPDX-License-Identifier: MIT
#pragma once

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include <reckoner/net/connect_token.hpp>

namespace reckoner::secure {

/// Records which of the newest sequence numbers have arrived, so that a repeated datagram is refused (RFC
/// 4303, 3.4.3). Sequence numbers have 64 bits and never wrap. Call note() only for genuine datagrams.
class ReplayWindow {
 public:
  /// Window size in sequence numbers. An older number counts as seen.
  static constexpr std::uint64_t kSize = 1024;

  [[nodiscard]] bool is_new(std::uint64_t sequence) const {
    if (sequence >= next_) return true;
    return next_ - sequence <= kSize && !seen_[sequence % kSize];
  }

  void note(std::uint64_t sequence) {
    if (sequence >= next_) {
      const std::uint64_t skipped = sequence - next_;
      if (skipped >= kSize) {
        seen_.reset();
      } else {
        for (std::uint64_t s = next_; s < sequence; ++s)
          seen_.reset(s % kSize);
      }
      next_ = sequence + 1;
    }
    seen_.set(sequence % kSize);
  }

  /// The newest sequence number seen, plus one. 0 if none was seen yet.
  [[nodiscard]] std::uint64_t next() const { return next_; }

 private:
  std::uint64_t next_ = 0;
  std::bitset<kSize> seen_;  // index: sequence modulo kSize
};

/// The first byte of every datagram. 0xA5 was a sealed datagram of ENet until wire version 12; it is never
/// used again. 0xAE and 0xAF are in other_transport.hpp.
enum class Kind : std::uint8_t {
  request = 0xA1,    ///< the client wants to join
  challenge = 0xA2,  ///< the server asks the client to prove that it receives at its address
  response = 0xA3,   ///< the client returns the server's cookie and shows its token
  accepted = 0xA4,   ///< the server has begun a session
  datagram = 0xA6,   ///< in a session: a datagram of the layer above
  ticket = 0xA7,     ///< in a session: a new ticket for the client; it replaces the previous one
  probe = 0xA8,      ///< in a session: a number for the client to send back, which proves its address
  echo = 0xA9,       ///< in a session: the number from a probe, sent back
  refused = 0xAA,    ///< the server does not accept the token, and says why; authenticated, not encrypted
  alive = 0xAB,      ///< in a session: nothing, but the sender is there
  close = 0xAC,      ///< in a session: the sender ends the session, with a reason; repeated until answered
  closed = 0xAD,     ///< in a session: the answer to close
  open_response = 0xB1,  ///< without security: the client returns the server's cookie
  open_accepted = 0xB2,  ///< without security: the server has begun a session
};

/// True for the kinds that belong to a session. With security, they are sealed.
[[nodiscard]] constexpr bool is_in_session(Kind kind) {
  return kind >= Kind::datagram && kind <= Kind::closed && kind != Kind::refused;
}

/// Without security, a datagram of a session is the kind (1 byte), the session (4) and the content.
inline constexpr std::size_t kOpenHead = 5;

/// Layout of a sealed datagram: kind (1 byte), session (4), low 32 bits of the sequence number (4),
/// ciphertext, authentication tag (16).
inline constexpr std::size_t kSealHead = 9;
inline constexpr std::size_t kSealTag = 16;
inline constexpr std::size_t kSealBytes = kSealHead + kSealTag;

/// The session number in the header of a sealed datagram, not yet authenticated. Returns nullopt if the
/// datagram is too short or does not belong to a session.
[[nodiscard]] std::optional<std::uint32_t> sealed_session(std::span<const std::byte> datagram);
/// The session number in the header of a datagram of a session without security. Returns nullopt if the
/// datagram is too short or does not belong to a session.
[[nodiscard]] std::optional<std::uint32_t> open_session(std::span<const std::byte> datagram);

/// Seals the datagrams that one end sends with ChaCha20-Poly1305 (RFC 8439). The header is authenticated too.
/// The nonce is the 64-bit sequence number. Each key serves one session and one direction only, so no nonce
/// repeats.
class Sealer {
 public:
  /// `first` is the first sequence number. Two sealers with the same key must never use the same number.
  Sealer(const SecretKey& key, std::uint32_t session, std::uint64_t first = 0)
      : key_(key), session_(session), next_(first) {}

  /// Writes a sealed datagram of plain.size() + kSealBytes bytes to `out` and returns it. `out` must be at
  /// least that large and must not overlap `plain`.
  std::span<std::byte> seal(Kind kind, std::span<const std::byte> plain, std::span<std::byte> out);

 private:
  SecretKey key_;
  std::uint32_t session_;
  std::uint64_t next_;
};

/// Opens the datagrams that the other end sealed. Opens each datagram only once.
class Opener {
 public:
  /// How many forged datagrams may be tried with one key (RFC 9147, 4.5.3). An attacker who sends a million a
  /// second reaches this number after 19 hours.
  static constexpr std::uint64_t kMostForged = std::uint64_t{1} << 36;

  /// After `most_forged` datagrams that were not genuine, the opener opens nothing any more. The session then
  /// ends by silence, and the client returns with new keys.
  explicit Opener(const SecretKey& key, std::uint64_t most_forged = kMostForged)
      : key_(key), forged_left_(most_forged) {}

  struct Opened {
    Kind kind;
    std::uint64_t sequence;
    std::span<const std::byte> plain;
    bool newest;  ///< no datagram with a higher sequence number was opened before
  };
  /// Decrypts a datagram into `out`, which must be at least as large as the datagram. Returns nullopt and
  /// changes nothing if the datagram is not genuine or was opened before.
  [[nodiscard]] std::optional<Opened> open(std::span<const std::byte> datagram, std::span<std::byte> out);

 private:
  SecretKey key_;
  ReplayWindow window_;
  std::uint64_t forged_left_;
};

}  // namespace reckoner::secure
