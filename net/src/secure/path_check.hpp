// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/secure/seal.hpp"
#include "net/src/transport/allowance.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include <reckoner/net/connect_token.hpp>

namespace reckoner::secure {

/// A number that only whoever is sent it can know, for one session and address, and for some seconds. As a
/// cookie is, it is a keyed hash (SipHash-2-4) of what it is for: nothing is remembered of those sent out.
class PathNumbers {
 public:
  static constexpr std::size_t kBytes = 8;
  using Number = std::array<std::byte, kBytes>;
  /// So long it is good, and at most twice as long: longer than any round trip.
  static constexpr double kGoodS = 5.0;

  PathNumbers();

  [[nodiscard]] Number make(std::uint32_t session, const ServerAddress& to, double now_s) const;
  /// True if it is one that was made for them lately.
  [[nodiscard]] bool good(std::span<const std::byte> number, std::uint32_t session, const ServerAddress& to,
                          double now_s) const;

 private:
  [[nodiscard]] Number of(std::uint32_t session, const ServerAddress& to, std::int64_t epoch) const;

  std::array<std::byte, 16> key_{};
};

/// To which address what is for a session's client is sent, once something of it comes from another one than
/// before: a router gave it another (then nothing passes at the old one any more), or somebody sends copies
/// on from elsewhere, or the client itself has put a wrong sender on what it sent. None of them can be told
/// from a datagram alone. So both addresses are sent a probe (a number, sealed), and the session stays where
/// it is until the number comes back from the new one. It stays even then if the old address is still spoken
/// from and has sent its own number back: a copy that is faster than what it was copied from moves nothing.
/// (After RFC 9000, 8.2 and 9.3.)
///
/// Constant memory: the address in use and one other, the newest. Never more bytes go to an address that has
/// proven nothing than came from it. Times on any clock that never goes back.
class PathCheck {
 public:
  /// What a probe takes, and what sends it back: bytes.
  static constexpr std::size_t kProbeBytes = kSealBytes + PathNumbers::kBytes;

  /// A datagram that says it is of the session.
  struct Datagram {
    ServerAddress from;
    std::size_t bytes = 0;
    bool genuine = false;  ///< it was opened; else somebody's copy, or anything
    bool newest = false;   ///< of those that were opened
  };

  /// False: then datagrams from the address in use are nothing to it.
  [[nodiscard]] bool open() const { return open_; }

  /// Something came. `in_use`: where the session is sent to.
  void heard(const ServerAddress& in_use, const Datagram& datagram, double now_s);

  /// Whether probes are to be sent now.
  [[nodiscard]] bool due(const ServerAddress& in_use, double now_s) const;
  /// They are: calls `send(address)`, once or twice.
  template <class Send>
  void probe(const ServerAddress& in_use, double now_s, Send send) {
    Side& unproven = in_use == new_.address ? old_ : new_;
    if (in_use == old_.address) send(old_.address);
    send(unproven.address);
    probed(unproven, now_s);
  }

  /// A number came back from `from`; `good(address)` says whether it is one for that address.
  template <class Good>
  void answered(const ServerAddress& in_use, const ServerAddress& from, Good good, double now_s) {
    if (!open_) return;
    // Whoever holds the old address's number hears what is sent there, wherever the answer got in first. A
    // new address has to answer for itself, even if another is the newest by now.
    if (good(old_.address)) {
      old_.hears = true;
    } else if (from != in_use && good(from)) {
      new_hears(in_use, from, now_s);
    }
  }

  /// Where the session is to be sent to from now on.
  [[nodiscard]] ServerAddress decide(const ServerAddress& in_use, double now_s);

 private:
  struct Side {
    ServerAddress address;
    std::size_t credit = 0;  ///< bytes that came from it and were not answered
    bool spoken = false;     ///< something came from it that was not left over from before
    bool hears = false;      ///< its number came back
  };

  void begin(const ServerAddress& in_use, const ServerAddress& from, double now_s);
  void probed(Side& unproven, double now_s);
  void new_hears(const ServerAddress& in_use, const ServerAddress& from, double now_s);
  void next_round(double now_s);

  bool open_ = false;
  bool wary_ = false;   ///< an old address has won before
  bool asked_ = false;  ///< in this round
  Side old_, new_;
  Allowance changes_;        ///< of the new address
  double heard_s_ = 0.0;     ///< from another address than the one in use
  double asked_s_ = 0.0;     ///< first, in this round
  double next_s_ = 0.0;      ///< no probe before
  double wait_s_ = 0.0;      ///< between the last two
  double decided_s_ = 0.0;   ///< for the new one
  double patience_s_ = 0.0;  ///< until then the old one may answer
};

}  // namespace reckoner::secure
