// SPDX-License-Identifier: MIT
#pragma once

#include "programs/common/log.hpp"
#include "programs/common/options/options.hpp"
#include "programs/common/security.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <reckoner/net/archetype.hpp>
#include <reckoner/net/transport.hpp>
#include <reckoner/reckoning/result.hpp>
#include <reckoner/server/server.hpp>

namespace CLI {
class App;
}

namespace reckoner::program {

/// Options of the live view in a browser (--watch-port).
struct WatchOptions {
  std::string host = "127.0.0.1";
  std::string page;                  ///< folder with the page; empty: only the WebSocket
  std::string certificate;           ///< PEM file with certificate and key; empty: no TLS
  std::vector<std::string> origins;  ///< further origins of pages that may connect
  std::size_t most = 16;             ///< watchers at once
  bool no_udp = false;               ///< everything travels over the WebSockets
  std::uint16_t udp_port = 0;        ///< of the data channels; 0: any free one
  std::string udp_address;           ///< where browsers reach this port; empty: as they reach the TCP port
};

/// How the server takes part in a world on several servers. The ranges are those of ClusterConfig.
struct ClusterOptions {
  std::string world;                         ///< name of the world; empty: a single server
  std::string nats;                          ///< URL of the NATS server; empty: the one on this machine
  std::string role;                          ///< simulator, gateway or both; empty: both
  std::string name;                          ///< of the process; empty: made from the role and its number
  std::string user, password;                ///< for NATS
  std::string ca_file, cert_file, key_file;  ///< for TLS to NATS
  int replicas = 1;                          ///< copies of each bucket
  double cell_m = 100.0;                     ///< side of a cell, m
  std::uint32_t columns = 4, rows = 4;       ///< cells along x and along y
};

/// Returns what is wrong with the options of a cluster; nullopt if nothing is wrong.
[[nodiscard]] std::optional<Error> find_wrong_cluster_option(const ClusterOptions& options);

/// The options of reckoner-server, from the command line or from a file.
struct ServerOptions {
  SourceOptions source;
  std::string host;
  std::uint16_t port = 26'000;
  ServerConfig server{.threads = 0};
  Archetype thresholds;  ///< thresholds of all archetypes
  std::string truth_path;
  std::string json_path;
  std::string decisions_path;
  std::string config_path;
  std::optional<std::uint16_t> metrics_port;
  std::string metrics_host = "127.0.0.1";
  std::size_t metrics_clients = 10;         ///< number of clients whose figures are published
  std::optional<std::uint16_t> watch_port;  ///< TCP port of the live view; nullopt: none
  WatchOptions watch;
  ServerSecurityOptions security;
  std::string transport;  ///< ListenConfig::transport
  TransportLimits limits;
  LogOptions log;
  ClusterOptions cluster;
};

/// Adds all options of the server. `options` must exist until the command line is parsed.
void add_server_options(CLI::App& app, ServerOptions& options);

/// The configuration of the server. Tick 0 is at server time `epoch_s`, s.
[[nodiscard]] ServerConfig server_config(const ServerOptions& options, double epoch_s);

}  // namespace reckoner::program
