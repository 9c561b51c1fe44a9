// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>

#include <enet/enet.h>

namespace reckoner {

/// Deleters for ENet's objects.
struct Destroy {
  void operator()(ENetHost* host) const { enet_host_destroy(host); }
  void operator()(ENetPacket* packet) const { enet_packet_destroy(packet); }
};
using HostPtr = std::unique_ptr<ENetHost, Destroy>;
using PacketPtr = std::unique_ptr<ENetPacket, Destroy>;

/// The lists of a peer's commands that wait to be sent or resent. ENet 1.3.18 has a second list, for reliable
/// packets.
template <class Peer>
[[nodiscard]] auto queues_of(Peer& peer) {
  if constexpr (requires { peer.outgoingSendReliableCommands; }) {
    return std::array{&peer.outgoingCommands, &peer.outgoingSendReliableCommands};
  } else {
    return std::array{&peer.outgoingCommands};
  }
}

/// The command to which a list node belongs. The node is the first member of the command; static_asserts
/// below check this.
template <class Command>
[[nodiscard]] Command& command_at(ENetListNode* link) {
  return *static_cast<Command*>(static_cast<void*>(link));
}
/// Read-only version of command_at().
template <class Command>
[[nodiscard]] const Command& command_at(const ENetListNode* link) {
  return *static_cast<const Command*>(static_cast<const void*>(link));
}
static_assert(offsetof(ENetOutgoingCommand, outgoingCommandList) == 0);
static_assert(offsetof(ENetIncomingCommand, incomingCommandList) == 0);

/// Initialises a C library once per process. The first object calls `Start`, which returns 0 on success. The
/// last object calls `Stop`. Any thread.
template <int (*Start)(), void (*Stop)()>
class SharedLibraryStart {
 public:
  SharedLibraryStart() {
    const std::lock_guard lock(mutex_);
    usable_ = users_ > 0 || Start() == 0;
    if (usable_) ++users_;
  }
  ~SharedLibraryStart() {
    const std::lock_guard lock(mutex_);
    if (usable_ && --users_ == 0) Stop();
  }
  SharedLibraryStart(const SharedLibraryStart&) = delete;
  SharedLibraryStart& operator=(const SharedLibraryStart&) = delete;

  /// Calls `change`, which configures the next start, unless the library is started already. Returns false if
  /// it is started already.
  template <class Change>
  [[nodiscard]] static bool before_start(Change change) {
    const std::lock_guard lock(mutex_);
    if (users_ == 0) change();
    return users_ == 0;
  }

  [[nodiscard]] bool usable() const { return usable_; }

 private:
  static inline std::mutex mutex_;
  static inline int users_ = 0;
  bool usable_ = false;
};

}  // namespace reckoner

namespace reckoner::enet_limits {

// Every path that carries IPv6 passes packets of 1280 bytes (RFC 8200, 5). 40 of them are the IPv6 header and
// 8 the UDP header. A full state payload still fits.
inline constexpr std::uint32_t kMtu = 1232;

inline constexpr int kSocketBufferBytes = 4 * 1024 * 1024;  // requested; the system may grant less

// ENet's own timeouts are only a backup for Liveness. They judge by acknowledgements of reliable packets
// alone. With ENet's defaults they would close a lossy link on which state still flows. The factor is high
// because ENet counts resends against it, and limit_resend_wait() causes many resends.
inline constexpr std::uint32_t kTimeoutFactor = 1024;
// A peer's timeout is the larger of these two.
inline constexpr double kTimeoutMs = 20000.0;    // ms
inline constexpr double kTimeoutSilences = 2.0;  // multiples of TransportLimits::silence_s

// ENet pings a peer if no reliable packet was acknowledged for this interval. The peer acknowledges the ping.
// At ENet's default of 500 ms, pings are a tenth of the traffic of a Reckoner connection at 10 updates a
// second. Such a connection sends often enough without them. A peer that sends nothing else still answers
// three pings before Liveness gives it up. The interval is the smaller of kPingMs and the silence limit
// divided by kPingsPerSilence.
inline constexpr double kPingMs = 3000.0;  // ms
inline constexpr double kPingsPerSilence = 3.3;

// A request to connect occupies a peer slot until the client confirms it. A spoofed request is never
// confirmed, so it must time out soon.
inline constexpr std::uint32_t kHalfOpenFactor = 32;
inline constexpr std::uint32_t kHalfOpenLeastMs = 2000;
inline constexpr std::uint32_t kHalfOpenMostMs = 3000;

// Bounds for one call of service(). The call ends even if datagrams arrive faster than it reads them, or if
// every datagram causes an error.
inline constexpr int kRounds = 1024;
inline constexpr std::uint32_t kDatagramsPerService = 16384;

// ENet visits all peers in a pass. So it gets its datagrams after this many were read, not after each read.
inline constexpr std::uint32_t kDatagramsPerPass = 256;

inline constexpr std::size_t kClientReads = 8;  // datagrams that a client reads at once

inline constexpr int kMaxEnetErrors = 16;  // after this many errors in a row, a call of service() ends

inline constexpr double kSilenceCheckSeconds =
    0.05;  // s between two checks for silent peers; each check visits all peers

}  // namespace reckoner::enet_limits
