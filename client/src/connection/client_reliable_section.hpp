// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/link/peer_link.hpp"
#include "net/src/link/reliable_sender.hpp"
#include "net/src/link/send_window.hpp"
#include "net/src/messages/datagram.hpp"
#include "net/src/wire/bit_stream.hpp"

#include <cstddef>

namespace reckoner {

/// The section of this client's reliable messages. The messages themselves outlive connections
/// (ClientMessages); the window is that of the present one.
class ClientReliableSection {
 public:
  static constexpr bool ClientDatagram::*kFlag = &ClientDatagram::has_reliable;

  /// Both must outlive the section.
  ClientReliableSection(ReliableSender& messages, const PeerLink& link) : messages_(messages), link_(link) {}

  /// The session continues over another link.
  void restart() {
    window_ = {};
    loss_ = 0.0;
  }

  // For ClientSections.
  void begin(double local_s) {
    now_s_ = local_s;
    messages_.review(link_.round_trip().deviation_s());
  }
  /// A second copy is not worth a datagram of its own: the client sends many.
  [[nodiscard]] bool any_due() const { return can_write() && messages_.waits(); }
  bool write(BitWriter& writer, std::size_t most_bits, Sequence sequence) {
    return can_write() && messages_.write(writer, most_bits, sequence, now_s_, loss_ > PeerLink::kLossy) > 0;
  }
  void settle(const PeerLink::Outcome& outcome) {
    if (window_.settle(messages_, outcome, now_s_) == 0) return;
    loss_ += ((outcome.acked ? 0.0 : 1.0) - loss_) / kLossAverage;
  }

 private:
  // The server acknowledges only datagrams with contents that wait for it, so the share of lost datagrams is
  // unknown. This is the average over this number of datagrams with messages.
  static constexpr double kLossAverage = 50.0;

  [[nodiscard]] bool can_write() const { return window_.allows(messages_, now_s_); }

  ReliableSender& messages_;
  const PeerLink& link_;
  SendWindow window_;
  double loss_ = 0.0;  // recent share of datagrams with messages that were lost
  double now_s_ = 0.0;
};

}  // namespace reckoner
