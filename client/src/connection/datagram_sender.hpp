// SPDX-License-Identifier: MIT
#pragma once

#include "client/src/connection/client_message_section.hpp"
#include "client/src/connection/client_messages.hpp"
#include "client/src/connection/client_reliable_section.hpp"
#include "client/src/connection/client_sections.hpp"
#include "client/src/ownership/owned_section.hpp"
#include "client/src/playout/session_clock.hpp"
#include "client/src/playout/showing_reporter.hpp"
#include "client/src/prediction/player_inputs.hpp"
#include "net/src/link/peer_link.hpp"
#include "net/src/messages/datagram.hpp"

#include <limits>
#include <optional>

#include <reckoner/client/client.hpp>
#include <reckoner/net/transport.hpp>

namespace reckoner {

/// Sends the client's datagrams: acknowledgements with time stamps, what the client shows, and the sections.
/// It decides when a datagram is due.
class DatagramSender {
 public:
  using Showing = ShowingReporter::Showing;

  /// The client sends an acknowledgement after this number of datagrams at the latest. So the server soon
  /// knows how many bytes the connection carries, and what was lost, when many datagrams arrive at once.
  static constexpr int kDatagramsPerAck = 8;

  /// What a link shares with its sender. All must outlive the sender.
  struct Shared {
    PeerLink& link;
    const SessionClock& clock;
    ShowingReporter& showing;
    ClientMessages& messages;
    ClientStats& stats;
  };
  explicit DatagramSender(const Shared& shared);
  DatagramSender(const DatagramSender&) = delete;  // its parts know each other
  DatagramSender& operator=(const DatagramSender&) = delete;

  /// A datagram of the server was accepted.
  void note_received() { ++unacknowledged_; }
  /// The newest datagram of the server arrived at local time `arrived_s`.
  void note_newest(double arrived_s) { newest_arrival_s_ = arrived_s; }
  /// The session continues over another link.
  void restart() {
    reliable_.restart();
    inputs_.restart();
  }
  /// The next call of send_due() sends an acknowledgement, even if the last one was sent very recently.
  void request_ack() { ack_requested_ = true; }
  /// True if an acknowledgement should be sent at once, because many datagrams have arrived since the last
  /// one.
  [[nodiscard]] bool ack_overdue() const { return unacknowledged_ >= kDatagramsPerAck; }

  /// Sends datagrams if there is something to send: an acknowledgement (at least every `ack_interval_s` while
  /// datagrams arrive), or what the sections have. Each datagram reports `showing` if the server needs that;
  /// nullopt: nothing is shown yet.
  void send_due(double local_s, double ack_interval_s, const std::optional<Showing>& showing, PeerId server,
                Transport& transport);

  /// Tells the sections which of this client's datagrams arrived or were lost. Call it when the link may have
  /// learnt that.
  void settle();

  /// The inputs of this client's player.
  [[nodiscard]] PlayerInputs& inputs() { return inputs_; }
  /// The entities that this client owns.
  [[nodiscard]] OwnedSection& owned() { return owned_; }
  [[nodiscard]] const OwnedSection& owned() const { return owned_; }

 private:
  [[nodiscard]] bool is_due(double local_s, double ack_interval_s) const;
  [[nodiscard]] ClientDatagram make_head(double local_s);
  void send(ClientDatagram datagram, double local_s, const std::optional<Showing>& showing, PeerId server,
            Transport& transport);

  Shared shared_;
  OwnedSection owned_;
  PlayerInputs inputs_;
  ClientMessageSection messages_;
  ClientReliableSection reliable_;
  ClientSections<OwnedSection, PlayerInputs, ClientMessageSection, ClientReliableSection> sections_;
  int unacknowledged_ = 0;  // the server's datagrams since the last acknowledgement
  bool ack_requested_ = false;
  double newest_arrival_s_ = 0.0;
  double last_send_s_ = -1e300;
};

}  // namespace reckoner
