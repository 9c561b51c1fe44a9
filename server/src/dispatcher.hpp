// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/messages/datagram.hpp"
#include "net/src/messages/input_batch.hpp"
#include "net/src/messages/reliable_part.hpp"
#include "server/src/interest/playout_changes.hpp"
#include "server/src/lobby.hpp"
#include "server/src/mail/game_mail.hpp"
#include "server/src/server_world.hpp"
#include "server/src/session/session_table.hpp"
#include "server/src/util/server_time.hpp"

#include <cstddef>
#include <span>
#include <vector>

#include <reckoner/net/transport.hpp>
#include <reckoner/server/server.hpp>

namespace reckoner {

/// Passes on what clients send: connections and requests to join to the lobby, game messages to the mail,
/// motions of owners to the world, and acknowledgements to the session. It trusts nothing: a payload that
/// does not decode completely, or that comes from a connection without a session, is counted as refused and
/// has no effect.
class Dispatcher {
 public:
  /// All arguments must outlive this object.
  Dispatcher(const ServerTime& time, SessionTable& sessions, Lobby& lobby, GameMail& mail, ServerWorld& world,
             PlayoutChanges& playout, ServerStats& stats)
      : time_(time),
        sessions_(sessions),
        lobby_(lobby),
        mail_(mail),
        world_(world),
        playout_(playout),
        stats_(stats) {}

  /// `now_s` is the present server time, s.
  void dispatch(const TransportEvent& event, double now_s);

 private:
  void dispatch_datagram(const TransportEvent& event, double now_s);
  [[nodiscard]] bool dispatch_reliable(Session& session);
  [[nodiscard]] bool read_inputs(Session& session, BitReader& reader);
  void accept_inputs(Session& session, double arrived_s);

  const ServerTime& time_;
  SessionTable& sessions_;
  Lobby& lobby_;
  GameMail& mail_;
  ServerWorld& world_;
  PlayoutChanges& playout_;
  ServerStats& stats_;

  // Scratch: the inputs and the messages of one datagram, and its parts of the stream of reliable ones.
  InputBatch inputs_;
  MessageBatch messages_;
  std::vector<ReliablePart> parts_;
};

}  // namespace reckoner
