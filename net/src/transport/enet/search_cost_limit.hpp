// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/secure/gate.hpp"
#include "net/src/transport/enet/enet_library.hpp"
#include "net/src/transport/enet/reliable_sending.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include <reckoner/net/refusal.hpp>

namespace reckoner {

/// Bounds the memory and the search time that one peer can cost in ENet. ENet 1.3.17 walks two lists of each
/// peer link by link. One list holds arrived commands that wait for a missing one. ENet walks it for every
/// reliable command that is new or already waits. The other list holds unacknowledged commands. ENet walks it
/// for every acknowledgement. ENet's own bounds are too loose: 28 000 empty packets may wait, and an
/// acknowledgement may name any number.
///
/// So this class examines each datagram before ENet sees it. A datagram that goes too far is dropped whole,
/// as the network might have dropped it. An honest peer sends its content again.
class SearchCostLimit {
 public:
  /// Links that ENet may walk for one peer, in a second and at once. A link takes some nanoseconds. An honest
  /// peer needs 2 to 5 million in a bad case: it sends 8000 messages as fast as the window allows, over a
  /// link that reorders them, loses a fifth and repeats half.
  static constexpr double kStepsPerSecond = 4e6;
  static constexpr double kStepsAtOnce = 8e6;

  /// Returns the reason why an acceptable datagram of the peer (enet_filter::acceptable()) must not reach
  /// ENet, or nullopt if it may. never_sent: it acknowledges a command that was never sent. peer_limit: a
  /// command is too far ahead, or the peer's allowance is used up. `now_s` is in seconds on a monotonic
  /// clock.
  [[nodiscard]] std::optional<Refusal> refuse(const ENetPeer& peer, std::span<const std::byte> datagram,
                                              double now_s);

  /// Total number of links allowed so far.
  [[nodiscard]] std::uint64_t steps() const { return steps_; }

 private:
  [[nodiscard]] bool spend(std::size_t steps, double now_s);
  [[nodiscard]] std::optional<Refusal> refuse_acknowledgement(const ENetPeer& peer, std::uint8_t channel,
                                                              std::uint16_t sequence, double now_s);

  secure::Allowance allowance_;
  std::uint64_t steps_ = 0;
};

}  // namespace reckoner
