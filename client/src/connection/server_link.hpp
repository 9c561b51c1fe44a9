// SPDX-License-Identifier: MIT
#pragma once

#include "client/src/connection/client_messages.hpp"
#include "client/src/connection/completeness.hpp"
#include "client/src/connection/datagram_sender.hpp"
#include "client/src/connection/lost_datagrams.hpp"
#include "client/src/ownership/owned_section.hpp"
#include "client/src/playout/session_clock.hpp"
#include "client/src/playout/showing_reporter.hpp"
#include "client/src/world/decoded_datagram.hpp"
#include "net/src/link/peer_link.hpp"
#include "net/src/link/reliable_receiver.hpp"
#include "net/src/messages/messages.hpp"
#include "net/src/messages/reliable_part.hpp"
#include "net/src/wire/bit_stream.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <reckoner/client/client.hpp>
#include <reckoner/net/refusal.hpp>

namespace reckoner {

/// The client's end of a session's datagrams. It receives those of the server, and knows what has arrived.
/// Its parts do the rest: they keep the server's time, and send datagrams.
class ServerLink {
 public:
  /// Both must outlive the link.
  ServerLink(ClientMessages& messages, ClientStats& stats);
  ServerLink(const ServerLink&) = delete;  // its parts know each other
  ServerLink& operator=(const ServerLink&) = delete;

  /// The session begins with this message, whose tick must be valid.
  void begin(const WelcomeMessage& message, double local_s);
  /// True after begin().
  [[nodiscard]] bool has_begun() const { return has_begun_; }
  /// The session resumes over another connection; the server's last tick is `tick`.
  void resume(Tick tick, double local_s);

  /// Whether the connection keeps the order of datagrams (Transport::is_ordered()).
  void set_ordered(bool ordered) { link_.set_ordered(ordered); }

  /// What became of a datagram before the welcome message.
  enum class First : std::uint8_t {
    accepted,
    refused,
    has_more,  ///< it has more than reliable messages, and can be received after the welcome message
  };
  /// Receives a datagram before the welcome message.
  First receive_first(std::span<const std::byte> payload, double local_s);
  /// Accepts a decoded datagram of `bytes` bytes at local time `local_s`, and counts it in the statistics:
  /// from then on, the client acknowledges it, so the caller must apply it. The datagram arrived in the
  /// machine at `arrived_s`; this time serves to estimate the clock. Returns the reason if the datagram must
  /// not be applied, because it is a duplicate or its acknowledgements are impossible; else nullopt.
  [[nodiscard]] std::optional<Refusal> accept(const DecodedDatagram& datagram, std::size_t bytes,
                                              double local_s, double arrived_s);
  /// Counts a datagram that is not applied in the statistics.
  void count_refusal(Refusal why);

  /// The server's ticks and time.
  [[nodiscard]] SessionClock& clock() { return clock_; }
  [[nodiscard]] const SessionClock& clock() const { return clock_; }
  /// The reliable messages of the server.
  [[nodiscard]] ReliableReceiver& reliable() { return reliable_; }
  /// Reports of what the client shows.
  [[nodiscard]] ShowingReporter& showing() { return showing_; }
  [[nodiscard]] const ShowingReporter& showing() const { return showing_; }
  /// The client's datagrams.
  [[nodiscard]] DatagramSender& sender() { return sender_; }
  /// The inputs of this client's player.
  [[nodiscard]] PlayerInputs& inputs() { return sender_.inputs(); }
  /// The entities that this client owns.
  [[nodiscard]] OwnedSection& owned() { return sender_.owned(); }
  [[nodiscard]] const OwnedSection& owned() const { return sender_.owned(); }

  /// The server time up to which the client's data is complete; nullopt before that is known.
  [[nodiscard]] std::optional<double> complete_s() const {
    return completeness_.tick() ? std::optional(clock_.time_of(*completeness_.tick())) : std::nullopt;
  }
  /// Typical delay from client to server, s; 0: unknown.
  [[nodiscard]] double one_way_s() const {
    return link_.round_trip().known() ? link_.round_trip().one_way_s() : 0.0;
  }

 private:
  [[nodiscard]] std::optional<Refusal> accept(const ServerHeader& header, double local_s);
  [[nodiscard]] std::optional<Refusal> read_first(const ServerHeader& header, BitReader& reader,
                                                  double local_s);
  void note_accepted(const DecodedDatagram& datagram, double local_s, double arrived_s);

  // The server acknowledges in every datagram, and sends one to an owner at least this often, s, with a tick
  // to spare.
  static constexpr double kServerAnswerDelayS = 0.07;

  ClientMessages& messages_;
  ClientStats& stats_;
  PeerLink link_{kServerAnswerDelayS};
  SessionClock clock_;
  ReliableReceiver reliable_{{}};
  ShowingReporter showing_;
  DatagramSender sender_;
  Completeness completeness_;
  LostDatagrams lost_;
  bool has_begun_ = false;
  std::vector<ReliablePart> first_parts_;  // scratch of receive_first()
};

}  // namespace reckoner
