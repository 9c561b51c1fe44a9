// SPDX-License-Identifier: MIT
#pragma once

#include "server/src/publish/encodings.hpp"

#include <reckoner/net/connect_token.hpp>
#include <reckoner/net/transport.hpp>
#include <reckoner/reckoning/export.hpp>
#include <reckoner/server/server.hpp>

namespace reckoner {

class CodingStatistics;

/// Switches of a server for measurements and tests. They are not part of the product's configuration.
struct ServerTestSwitches {
  SenderParts parts;
  /// Counts every update that is written. Not owned; null: nothing is counted. If set, the server uses one
  /// thread.
  CodingStatistics* coding = nullptr;
  /// The secret from which session keys are derived. Null: a random one, as in the product.
  SecretKey session_secret{};
};

/// Makes a server for a measurement or a test, whose configuration is known to be valid. If it is invalid,
/// this prints the error and ends the program.
[[nodiscard]] RECKONER_SERVER_API Server make_test_server(ServerConfig config, Transport& transport,
                                                          const ServerTestSwitches& switches = {});

}  // namespace reckoner
