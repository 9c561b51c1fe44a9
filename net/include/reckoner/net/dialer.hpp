// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include <reckoner/net/transport.hpp>
#include <reckoner/reckoning/export.hpp>
#include <reckoner/reckoning/result.hpp>

namespace reckoner {

/// Makes a client's connections to its server, one after the other, so that the client can come back by
/// itself (Client). One thread at a time.
class RECKONER_NET_API Dialer {
 public:
  virtual ~Dialer() = default;

  /// Gives up the connection before, whose transport is gone, and starts to connect anew: the new transport
  /// tells when it is connected, or why not. Valid until the next call. Fails if that cannot even begin: no
  /// network, or nowhere to go.
  [[nodiscard]] virtual Result<Transport*> dial() = 0;

  /// The attempt of the last dial() has failed: the next one goes to another server, if there is more than
  /// one to go to. False once all have been tried since one last stood: a client that has not joined yet
  /// gives up then.
  virtual bool try_elsewhere() { return false; }

  /// What may be why the attempt of the last dial() brings no answer, as far as this end can tell, as a
  /// clause in a report: that by this machine's clock a token has expired, say. Empty if nothing is known.
  [[nodiscard]] virtual std::string doubt() const { return {}; }

  /// Any number from 0 to 1, 1 excluded, another one every time and on every machine: clients that were lost
  /// together shall not all come back at once.
  [[nodiscard]] virtual double chance() = 0;

 protected:
  Dialer() = default;
  Dialer(const Dialer&) = default;             ///< for those that derive from it
  Dialer& operator=(const Dialer&) = default;  ///< the same
};

}  // namespace reckoner
