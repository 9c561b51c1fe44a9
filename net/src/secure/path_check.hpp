// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/secure/seal.hpp"
#include "net/src/transport/limits/allowance.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include <reckoner/net/connect_token.hpp>

namespace reckoner::secure {

/// Makes numbers that only their receiver can know. Each is for one session and one address and is valid for
/// some seconds. Like a cookie, it is a keyed hash (SipHash-2-4), so no sent number is stored.
class PathNumbers {
 public:
  static constexpr std::size_t kBytes = 8;
  using Number = std::array<std::byte, kBytes>;
  /// A number is valid for one to two times this long, s. Longer than any round trip.
  static constexpr double kGoodS = 5.0;

  PathNumbers();

  [[nodiscard]] Number make(std::uint32_t session, const SocketAddress& to, double now_s) const;
  /// True if make() returned this number for the same session and address recently.
  [[nodiscard]] bool good(std::span<const std::byte> number, std::uint32_t session, const SocketAddress& to,
                          double now_s) const;

 private:
  [[nodiscard]] Number of(std::uint32_t session, const SocketAddress& to, std::int64_t epoch) const;

  std::array<std::byte, 16> key_{};
};

/// Decides to which address the datagrams for a client are sent when its datagrams arrive from another
/// address than before. There are three causes: a router gave the client another address, and the old one no
/// longer works; an attacker forwards copies from elsewhere; or the client forged its sender address. A
/// datagram alone does not show which. So both addresses get a probe (a sealed number), and the session stays
/// at the old address until the number comes back from the new one, and at least a quarter of a second
/// longer: the client's own datagrams may be slower than their copies. It stays even then if datagrams still
/// arrive from the old address and that address has returned its own number. So a copy that is faster than
/// its original does not move the session. (After RFC 9000, 8.2 and 9.3.)
///
/// Needs constant memory: the address in use and the newest other one. An unproven address never gets more
/// bytes than came from it. Times are on a monotonic clock.
class PathCheck {
 public:
  /// Size of a probe and of its echo, bytes.
  static constexpr std::size_t kProbeBytes = kSealBytes + PathNumbers::kBytes;

  /// A datagram that claims to belong to the session.
  struct Datagram {
    SocketAddress from;
    std::size_t bytes = 0;
    bool genuine = false;  ///< it was opened; otherwise it may be a copy or a forgery
    bool newest = false;   ///< no opened datagram has a higher sequence number
  };

  /// True while a change of address is being checked. Otherwise datagrams from the address in use do not
  /// matter.
  [[nodiscard]] bool open() const { return open_; }

  /// Handles a datagram. `in_use`: the address to which the session sends.
  void received(const SocketAddress& in_use, const Datagram& datagram, double now_s);

  /// True if probes are due.
  [[nodiscard]] bool due(const SocketAddress& in_use, double now_s) const;
  /// Sends the probes that are due: calls `send(address)`, once or twice.
  template <class Send>
  void probe(const SocketAddress& in_use, double now_s, Send send) {
    Side& unproven = in_use == new_.address ? old_ : new_;
    if (in_use == old_.address) send(old_.address);
    send(unproven.address);
    probed(unproven, now_s);
  }

  /// Handles a number that came back from `from`. `good(address)` returns whether it was made for the
  /// address.
  template <class Good>
  void answered(const SocketAddress& in_use, const SocketAddress& from, Good good, double now_s) {
    if (!open_) return;
    // The old address's number proves that the client receives there, whatever address the echo came from. A
    // new address must return its own number, even if another address is the newest by now.
    if (good(old_.address)) {
      old_.hears = true;
    } else if (from != in_use && good(from)) {
      new_hears(in_use, from, now_s);
    }
  }

  /// Returns the address to which the session sends from now on.
  [[nodiscard]] SocketAddress decide(const SocketAddress& in_use, double now_s);

 private:
  struct Side {
    SocketAddress address;
    std::size_t credit = 0;  ///< bytes that arrived from it, less those sent to it
    bool spoken = false;     ///< a datagram arrived that was not sent before the change
    bool hears = false;      ///< its number was returned
  };

  void begin(const SocketAddress& in_use, const SocketAddress& from, double now_s);
  void probed(Side& unproven, double now_s);
  void new_hears(const SocketAddress& in_use, const SocketAddress& from, double now_s);
  void next_round(double now_s);

  bool open_ = false;
  bool asked_ = false;  ///< probes were sent in this round
  Side old_, new_;
  Allowance changes_;        ///< limits changes of the new address
  double heard_s_ = 0.0;     ///< last datagram from another address than the one in use
  double asked_s_ = 0.0;     ///< first probes of this round
  double next_s_ = 0.0;      ///< time of the next probes
  double wait_s_ = 0.0;      ///< between the last two probes
  double decided_s_ = 0.0;   ///< when the new address won
  double patience_s_ = 0.0;  ///< until then, the old address may still answer
};

}  // namespace reckoner::secure
