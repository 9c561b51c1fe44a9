// SPDX-License-Identifier: MIT
#pragma once

#include "client/src/connection/client_messages.hpp"
#include "net/src/messages/join.hpp"
#include "net/src/messages/messages.hpp"

#include <cstdint>
#include <optional>

namespace reckoner {

/// The playout settings as the server knows them. The request to join contains them, and a reliable message
/// reports each change. Times are local time, s.
class SentPlayout {
 public:
  /// The client asks for a session, and shows entities like this.
  void note_request(const JoinRequest& request) {
    requested_ = {request.shows_past, request.shows_past, request.blend};
  }
  /// A new session has begun with the settings of the request.
  void begin() {
    sent_ = requested_;
    sent_s_.reset();
    blend_message_ = 0;
  }

  /// Sends the settings `shows` if they have changed, at most as often as the server applies them.
  void send_changes(const PlayoutMessage& shows, ClientMessages& messages, double local_s) {
    constexpr double kMinS = 0.5;
    if ((sent_s_ && local_s - *sent_s_ < kMinS) || shows == sent_) return;
    messages.send(shows);
    // The server needs the blend for lag compensation. It applies the message when it arrives.
    if (sent_ && sent_->blend != shows.blend) blend_message_ = messages.reliable().added();
    sent_ = shows;
    sent_s_ = local_s;
  }

  /// True while the server does not know yet that this client blends as `shows` says.
  [[nodiscard]] bool blend_is_unknown(const PlayoutMessage& shows, const ClientMessages& messages) const {
    return !messages.reliable().has_received(blend_message_) || (sent_ && sent_->blend != shows.blend);
  }

 private:
  PlayoutMessage requested_;            // what the newest request to join contained
  std::optional<PlayoutMessage> sent_;  // what was sent last; empty: there was no session yet
  std::optional<double> sent_s_;        // time of the last message; empty: only the request was sent
  std::uint32_t blend_message_ = 0;     // number of the message with the newest blend; 0: none
};

}  // namespace reckoner
