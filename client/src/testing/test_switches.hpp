// SPDX-License-Identifier: MIT
#pragma once

#include <reckoner/client/client.hpp>
#include <reckoner/net/transport.hpp>
#include <reckoner/reckoning/blend.hpp>
#include <reckoner/reckoning/export.hpp>

namespace reckoner {

class ClientObserver;

/// Switches of a client for measurements and tests. They are not part of the product's configuration.
struct ClientTestSwitches {
  /// False: a motion counts from its arrival, as if it had no time stamp.
  bool uses_stamps = true;
  /// How entities blend onto new motions. The shape must outlive the client.
  BlendPolicy blend;
  /// Receives what the client decodes and applies (client_observer.hpp). The caller owns it; it must outlive
  /// the client. Null: there is none.
  ClientObserver* observer = nullptr;
};

/// Makes a client for a measurement or a test, whose configuration is known to be valid. If it is invalid,
/// this prints the error and ends the program.
[[nodiscard]] RECKONER_CLIENT_API Client make_test_client(ClientConfig config, Transport& transport,
                                                          const ClientTestSwitches& switches = {});
/// Makes a client that dials, for a measurement or a test. If the configuration is invalid, this prints the
/// error and ends the program.
[[nodiscard]] RECKONER_CLIENT_API Client make_test_client(ClientConfig config, Dialer& dialer);

}  // namespace reckoner
