// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/secure/gate.hpp"
#include "net/src/transport/enet/handles.hpp"
#include "net/src/transport/enet/held_packets.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include <reckoner/net/refusal.hpp>

namespace reckoner {

/// Bounds what one peer can make ENet keep and search. ENet 1.3.17 has two lists of a peer's that it walks
/// along link by link: what arrived and waits for something missing, for every reliable command that is new
/// or waits already, and what is not acknowledged, for every acknowledgement. Neither is bounded in a way
/// that matters here: 28 000 empty packets may wait, and an acknowledgement may name anything. So a datagram
/// is looked at before ENet sees it, and one that goes too far is dropped whole, as the network might have
/// dropped it: an honest peer sends again what was in it.
class ListWork {
 public:
  /// Links that are walked along for one peer in a second, and so many at once; some nanoseconds each. Eight
  /// thousand messages over a link that shuffles them, loses a fifth and repeats half, as fast as a window
  /// allows, take 2 to 5 million.
  static constexpr double kStepsPerSecond = 4e6;
  static constexpr double kStepsAtOnce = 8e6;

  /// Why an acceptable datagram of that peer's (enet_filter) must not reach ENet; nothing: it may.
  /// never_sent: it acknowledges what never was; peer_limit: it is too far ahead, or costs more than its
  /// sender has left. `now_s` on any clock that never goes back.
  [[nodiscard]] std::optional<Refusal> refuse(const ENetPeer& peer, std::span<const std::byte> datagram,
                                              double now_s);

  /// The links that were allowed for so far.
  [[nodiscard]] std::uint64_t steps() const { return steps_; }

 private:
  [[nodiscard]] bool spend(std::size_t steps, double now_s);
  [[nodiscard]] std::optional<Refusal> refuse_acknowledgement(const ENetPeer& peer, std::uint8_t channel,
                                                              std::uint16_t sequence, double now_s);

  secure::Allowance allowance_;
  std::uint64_t steps_ = 0;
};

}  // namespace reckoner
