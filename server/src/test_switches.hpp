// SPDX-License-Identifier: MIT
#pragma once

#include "server/src/publish/encodings.hpp"

#include <reckoner/net/connect_token.hpp>
#include <reckoner/net/transport.hpp>
#include <reckoner/reckoning/export.hpp>
#include <reckoner/server/server.hpp>

namespace reckoner {

class CodingStatistics;
class ServerObserver;

/// Switches of a server for analyses (reckoner-server --decisions), measurements and tests. They are not part
/// of the product's configuration.
struct ServerTestSwitches {
  SenderParts parts;
  /// Counts every update that is written. The caller owns the object. Null: nothing is counted. If this is
  /// not null, the server uses only one thread.
  CodingStatistics* coding = nullptr;
  /// Receives the decisions of the server. The caller owns the object, which must outlive the server. Null:
  /// none. If this is not null, the server uses only one thread.
  ServerObserver* observer = nullptr;
  /// The secret from which session keys are derived. Null: the server makes a random secret, as in the
  /// product.
  SecretKey session_secret{};
};

/// Makes a server for a measurement or a test. The caller must pass a valid configuration. If the
/// configuration is invalid, this prints the error and ends the program.
[[nodiscard]] RECKONER_SERVER_API Server make_test_server(ServerConfig config, Transport& transport,
                                                          const ServerTestSwitches& switches = {});

}  // namespace reckoner
