// SPDX-License-Identifier: MIT
#pragma once

#include "programs/common/log.hpp"
#include "programs/common/options.hpp"
#include "programs/common/security.hpp"

#include <cstdint>
#include <optional>
#include <string>

#include <reckoner/net/transport.hpp>
#include <reckoner/server/server.hpp>

namespace CLI {
class App;
}

namespace reckoner::program {

/// What reckoner-server is told, on the command line or in a file.
struct ServerOptions {
  SourceOptions source;
  std::string host;
  std::uint16_t port = 26'000;
  double tick_rate_hz = 60.0;
  double threshold_m = 0.05;
  double threshold_rad = 0.05;
  double updates_per_second = 0.0;
  double fixed_rate_hz = 0.0;
  std::uint32_t max_clients = 64;
  unsigned threads = 0;
  std::string truth_path;
  std::string json_path;
  std::string config_path;
  std::optional<std::uint16_t> metrics_port;
  std::string metrics_host = "127.0.0.1";
  ServerSecurityOptions security;
  TransportLimits limits;
  LogOptions log;
};

/// Adds all of them. `options` must outlive the parsing.
void add_server_options(CLI::App& app, ServerOptions& options);

/// The server that they describe; its tick 0 is at `epoch_s`.
[[nodiscard]] ServerConfig server_config(const ServerOptions& options, double epoch_s);

}  // namespace reckoner::program
