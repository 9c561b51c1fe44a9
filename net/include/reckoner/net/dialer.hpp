// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include <reckoner/net/transport.hpp>
#include <reckoner/reckoning/export.hpp>
#include <reckoner/reckoning/result.hpp>

namespace reckoner {

/// Creates the connections from a client to its server, one after the other. Class Client uses a dialer to
/// reconnect without help from the game. Not thread-safe.
class RECKONER_NET_API Dialer {
 public:
  virtual ~Dialer() = default;

  /// Closes the previous connection, destroys its transport and starts a new connection attempt. The new
  /// transport reports success or failure as an event. The pointer is valid until the next dial(). Fails if
  /// no attempt can start, for example because there is no network or no server address.
  [[nodiscard]] virtual Result<Transport*> dial() = 0;

  /// Reports that the last attempt failed. The next dial() then tries another server, if there is one.
  /// Returns false if every server was tried since the last established connection. In this case, a client
  /// that has not joined yet gives up.
  virtual bool try_next_server() { return false; }

  /// Returns a possible reason why the last attempt gets no answer, for example that the token has expired.
  /// The text is a part of a sentence, for use in an error message. Empty if no reason is known.
  [[nodiscard]] virtual std::string failure_hint() const { return {}; }

  /// Returns a random number in [0, 1). Each call on each machine must return another number. Otherwise,
  /// clients that lost their connections at one moment would all reconnect at one moment.
  [[nodiscard]] virtual double random_fraction() = 0;

 protected:
  Dialer() = default;
  Dialer(const Dialer&) = default;             ///< only derived classes can call it
  Dialer& operator=(const Dialer&) = default;  ///< only derived classes can call it
};

}  // namespace reckoner
