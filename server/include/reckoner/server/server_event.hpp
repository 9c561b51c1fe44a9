// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>

#include <reckoner/net/ids.hpp>

namespace reckoner {

/// An event on the server. Server::poll_event() returns the oldest first.
struct ServerEvent {
  /// The kind of event.
  enum class Kind : std::uint8_t {
    client_joined,
    client_left,      ///< the client left, or lost its connection and did not resume in time
    client_refused,   ///< the client was not admitted; `text` is the reason
    owner_corrected,  ///< motions from the owner of `entity` were beyond the limits and were replaced
    owner_refused,    ///< motions from the owner of `entity` were beyond the limits and were ignored
    client_lost,      ///< the connection was lost; the client may resume (resume_s), but owns no entities now
    client_back,      ///< the client has resumed its session
  };
  Kind kind = Kind::client_joined;  ///< the kind of event
  ClientId client;                  ///< the client concerned; null if it was never admitted
  std::string text;                 ///< the reason as text for a person; empty if there is none
  EntityId entity{};                ///< the entity concerned; null if there is none
};

}  // namespace reckoner
