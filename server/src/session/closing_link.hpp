// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/link/peer_link.hpp"
#include "net/src/link/reliable_sender.hpp"
#include "net/src/link/send_window.hpp"
#include "net/src/messages/datagram.hpp"

#include <cstdint>

#include <reckoner/net/ids.hpp>
#include <reckoner/net/transport.hpp>

namespace reckoner {

/// The connection of a client whose session has ended, but which lacks reliable messages. Sends them until
/// the client has all or kLongestS have passed, and then ends the connection. Times are server time, s.
class ClosingLink {
 public:
  static constexpr double kLongestS = 10.0;

  /// What a session leaves behind.
  struct Rest {
    PeerLink link;
    ReliableSender messages;
    ServerControl control;  ///< the answer to the request to join, if the client lacks it
    Tick tick = 0;          ///< the last tick
  };
  /// `end_code` is what the client hears at the end.
  ClosingLink(PeerId peer, std::uint32_t end_code, Rest rest, double now_s);

  /// It ends then at the latest, s.
  [[nodiscard]] double until_s() const { return until_s_; }
  /// Bytes that the client lacks.
  [[nodiscard]] std::size_t bytes() const { return rest_.messages.bytes(); }
  /// Ends the connection now.
  void end(Transport& transport) const { transport.disconnect(peer_, end_code_); }
  /// Processes what a datagram of the client acknowledges.
  void receive(const ClientDatagram& datagram, double now_s);
  /// Sends what is due, or ends the connection. Returns true if it has ended.
  bool service(double now_s, Transport& transport);

 private:
  void settle();
  void send(bool with_messages, std::size_t room, double now_s, Transport& transport);

  PeerId peer_;
  std::uint32_t end_code_;
  Rest rest_;
  double until_s_;
  double next_s_;
  double now_s_;
  SendWindow window_;
};

}  // namespace reckoner
