// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include <reckoner/net/transport.hpp>
#include <reckoner/reckoning/export.hpp>
#include <reckoner/reckoning/result.hpp>

namespace reckoner {

/// Creates a client's connections to its server, one after the other. Client uses it to reconnect by itself.
/// Not thread-safe.
class RECKONER_NET_API Dialer {
 public:
  virtual ~Dialer() = default;

  /// Closes the previous connection, destroys its transport and starts a new connection attempt. The new
  /// transport reports success or failure as an event. It is valid until the next dial(). Fails if no attempt
  /// can start, for example without a network or a server address.
  [[nodiscard]] virtual Result<Transport*> dial() = 0;

  /// Reports that the last attempt failed, so that the next dial() tries another server, if there is one.
  /// Returns false when every server was tried since the last established connection. A client that has not
  /// joined yet then gives up.
  virtual bool try_next_server() { return false; }

  /// Returns a possible cause why the last attempt gets no answer, as a clause for an error message. Example:
  /// the token has expired by this machine's clock. Empty if no cause is known.
  [[nodiscard]] virtual std::string failure_hint() const { return {}; }

  /// Returns a random number in [0, 1). It must differ for every call and machine, so that clients that lost
  /// their connections together do not all reconnect at once.
  [[nodiscard]] virtual double random_fraction() = 0;

 protected:
  Dialer() = default;
  Dialer(const Dialer&) = default;             ///< for derived classes
  Dialer& operator=(const Dialer&) = default;  ///< for derived classes
};

}  // namespace reckoner
