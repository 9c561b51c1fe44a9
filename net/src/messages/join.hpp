// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include <reckoner/net/ids.hpp>
#include <reckoner/net/transport.hpp>
#include <reckoner/reckoning/blend_profile.hpp>
#include <reckoner/reckoning/export.hpp>

namespace reckoner {

class SecretKey;

/// Identifies a session when a client resumes it over another connection. The key is a secret of 128 random
/// bits, because the server takes anyone who knows it for the client.
struct SessionKey {
  std::uint64_t high = 0;  ///< upper 64 bits
  std::uint64_t low = 0;   ///< lower 64 bits
  bool operator==(const SessionKey&) const = default;
  /// False if there is no key.
  [[nodiscard]] explicit operator bool() const { return (high | low) != 0; }
};

/// The session key of a client: a keyed BLAKE2b hash (RFC 7693) of the client's id. Only a program
/// with the server's secret can compute the key.
[[nodiscard]] RECKONER_NET_API SessionKey session_key(const SecretKey& secret, ClientId client);

/// Longest duration of a correction, s.
inline constexpr double kMaxBlendS = 600.0;

/// The session that a client had over an earlier connection.
struct ResumeRequest {
  ClientId client;             ///< id from the welcome message
  SessionKey key;              ///< key of the session
  std::uint32_t received = 0;  ///< number of the server's reliable messages that have arrived
};

/// Client to server, in each datagram until the server answers: asks for a session. Such a datagram contains
/// nothing else, is not numbered, and is not acknowledged. The version is the first field in every version of
/// the protocol.
struct JoinRequest {
  std::uint16_t version = kProtocolVersion;  ///< protocol version of the client
  std::uint32_t archetype_hash = 0;          ///< archetype_hash() of the client's archetypes
  bool shows_past = false;                   ///< the client interpolates past motions and does not predict
  BlendSettings blend;                       ///< how it blends corrections in; 0 to kMaxBlendS
  std::optional<ResumeRequest> resume;       ///< if the server knows this session, it goes on
};

/// The session of the request goes on.
struct ResumeAnswer {
  std::uint32_t received = 0;   ///< number of the client's reliable messages that have arrived
  std::uint32_t processed = 0;  ///< number of those that the server has processed
  Tick tick = 0;                ///< the last tick that ran
};

/// Server to client: answers the request. Every datagram has it until the client acknowledges one of them.
struct JoinAnswer {
  std::optional<ResumeAnswer>
      resumed;  ///< nullopt: a new session begins, and its first message is the welcome
};

}  // namespace reckoner
