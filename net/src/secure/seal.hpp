// SPDX-License-Identifier: MIT
#pragma once

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include <reckoner/net/connect_token.hpp>

namespace reckoner::secure {

/// Remembers which of the newest sequence numbers were seen, so that nothing is taken in twice (RFC 4303,
/// 3.4.3). Sequence numbers have 64 bits and never wrap. note() only what was found genuine.
class ReplayWindow {
 public:
  /// Late by more, and it counts as seen.
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

  /// One more than the newest.
  [[nodiscard]] std::uint64_t next() const { return next_; }

 private:
  std::uint64_t next_ = 0;
  std::bitset<kSize> seen_;  // by sequence modulo kSize
};

/// What the first byte of every datagram says.
enum class Kind : std::uint8_t {
  request = 0xA1,    ///< a client wants to join
  challenge = 0xA2,  ///< then it is to show that it hears what is sent to its address
  response = 0xA3,   ///< it does, and this is its token
  accepted = 0xA4,   ///< a session has begun
  enet = 0xA5,       ///< sealed: a datagram of ENet's
  state = 0xA6,      ///< sealed: a state payload
  ticket = 0xA7,     ///< sealed: a ticket for the client, in place of the one it has
  probe = 0xA8,      ///< sealed: a number that the client is to send back, to prove where it is
  echo = 0xA9,       ///< sealed: that number
};

/// A sealed datagram: kind, session, the low 32 bits of its sequence number, what is sealed, and a tag.
inline constexpr std::size_t kSealHead = 9;
inline constexpr std::size_t kSealTag = 16;
inline constexpr std::size_t kSealBytes = kSealHead + kSealTag;

/// The session that a datagram says it is of; nothing if it is none of the sealed kinds.
[[nodiscard]] std::optional<std::uint32_t> sealed_session(std::span<const std::byte> datagram);

/// Seals what one end sends: ChaCha20-Poly1305 (RFC 8439), the head authenticated too. The nonce is the
/// 64-bit sequence number, and no key serves two sessions or directions, so that none is ever used twice.
class Sealer {
 public:
  /// `first`: the number to begin with. No key may be given to two that come to the same numbers.
  Sealer(const SecretKey& key, std::uint32_t session, std::uint64_t first = 0)
      : key_(key), session_(session), next_(first) {}

  /// Writes a datagram of plain.size() + kSealBytes bytes to `out`, which must be as large and may not
  /// overlap.
  std::span<std::byte> seal(Kind kind, std::span<const std::byte> plain, std::span<std::byte> out);

 private:
  SecretKey key_;
  std::uint32_t session_;
  std::uint64_t next_;
};

/// Opens what the other end sealed, each datagram once.
class Opener {
 public:
  explicit Opener(const SecretKey& key) : key_(key) {}

  struct Opened {
    Kind kind;
    std::uint64_t sequence;
    std::span<const std::byte> plain;
    bool newest;  ///< no later one was opened before
  };
  /// Writes what was sealed to `out`, which must be as large as the datagram. Nothing, and nothing changes,
  /// if it is not genuine or was opened before.
  [[nodiscard]] std::optional<Opened> open(std::span<const std::byte> datagram, std::span<std::byte> out);

 private:
  SecretKey key_;
  ReplayWindow window_;
};

}  // namespace reckoner::secure
