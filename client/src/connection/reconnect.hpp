// SPDX-License-Identifier: MIT
#pragma once

#include "client/src/connection/back_off.hpp"
#include "net/src/messages/messages.hpp"

#include <cstdint>
#include <optional>
#include <string>

#include <reckoner/client/client.hpp>
#include <reckoner/net/dialer.hpp>
#include <reckoner/net/ids.hpp>
#include <reckoner/net/transport.hpp>

namespace reckoner {

/// The connection of a client to its server, and the attempts to connect. With a dialer it decides when to
/// dial: at first, at the next server if one does not accept the client, and again after a loss. It knows
/// nothing of sessions. Times are local time, s.
class Reconnect {
 public:
  /// One of `transport` and `dialer` is null. Without a dialer, there is only the connection of `transport`.
  /// All must outlive this object.
  Reconnect(const ReconnectConfig& config, Transport* transport, Dialer* dialer);

  [[nodiscard]] bool can_dial() const { return dialer_ != nullptr; }
  /// Null: there is no connection at present, and no attempt.
  [[nodiscard]] Transport* transport() const { return transport_; }
  /// Null: not connected.
  [[nodiscard]] PeerId server() const { return server_; }
  [[nodiscard]] bool is_connected() const { return server_ && transport_ != nullptr; }
  /// True if datagrams never overtake each other (Transport::is_ordered()). Requires is_connected().
  [[nodiscard]] bool is_ordered() const { return transport_->is_ordered(server_); }
  /// When the connection was lost; nullopt if the client is connected, or has not been yet.
  [[nodiscard]] std::optional<double> lost_s() const { return lost_s_; }
  /// True if the next attempt is planned, and there was no session yet.
  [[nodiscard]] bool plans_first_session() const { return can_dial() && dial_s_ && !lost_s_; }

  /// What the client must do now.
  enum class Due : std::uint8_t {
    nothing,
    dial,       ///< call dial()
    give_up,    ///< all attempts since the loss have failed for too long
    silence,    ///< the connection is silent, and counts as lost
    no_answer,  ///< the attempt to reconnect has taken too long, and has failed
  };
  /// Call it after the arrivals until `local_s` were applied. A client that was suspended then knows whether
  /// its server ended the session meanwhile. `has_session`: the server has admitted the client over this
  /// connection.
  [[nodiscard]] Due review(double local_s, bool has_session) const;

  /// Starts an attempt. Returns the error if it cannot start, else nullopt.
  [[nodiscard]] std::optional<std::string> dial(double local_s);
  /// The connection to `server` stands.
  void note_connected(PeerId server, double local_s);
  /// Something has arrived. `doubtful`: it may have waited while the program was suspended, and does not
  /// prove that the server is still there.
  void note_heard(double local_s, bool doubtful);
  /// The server has admitted the client. The next loss begins with the first wait again.
  void note_session();

  /// Forgets the connection, which has ended. The transport remains.
  void forget() { server_ = {}; }
  /// Tells the server why this client ends the connection. Requires is_connected().
  void disconnect(EndReason why) { transport_->disconnect(server_, pack({why, 0})); }
  /// The connection was lost, or an attempt has failed. Plans the next attempt. Returns true if the client
  /// was connected before. Requires can_dial().
  [[nodiscard]] bool lose(double local_s);
  /// Plans an attempt at the next server, for a client that no server has accepted yet. Returns false if
  /// every server was tried. Requires can_dial().
  [[nodiscard]] bool try_next_server(double local_s);
  /// Ends the connection, if there is one, and plans no attempt any more.
  void close();

  /// Why the server does not answer, as far as this machine knows, for Client::refusal().
  [[nodiscard]] std::string explain_no_answer() const;

 private:
  const ReconnectConfig& config_;
  Dialer* dialer_;
  Transport* transport_;
  PeerId server_;
  BackOff back_off_;
  std::optional<double> dial_s_;  // time of the next attempt; empty: none is planned
  std::optional<double> lost_s_;
  double heard_s_ = 0.0;  // time of the last arrival, or of the attempt
};

}  // namespace reckoner
