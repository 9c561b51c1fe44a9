// SPDX-License-Identifier: MIT
#pragma once

#include "harness/stress/load/roles/load_roles.hpp"

#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <reckoner/reckoning/result.hpp>

namespace reckoner::harness {

struct LoadRunOptions {
  LoadWorldOptions world;
  double seconds = 10.0;  ///< length of the measurement
  double warmup_s = 3.0;  ///< pause after the last client has joined
  double tick_rate_hz = 60.0;
  double send_rate_hz = 0.0;         ///< datagrams with motions a second to each client; 0: one in every tick
  double join_rate_hz = 200.0;       ///< of all clients together
  unsigned threads = 1;              ///< of the server
  std::size_t processes = 0;         ///< number of processes for the clients; 0: one for every 250
  bool insecure = false;             ///< without tokens and encryption
  std::string transport = "udp";     ///< ListenConfig::transport
  double client_loss_percent = 0.0;  ///< share of the datagrams with motions that each client drops
  double client_rate_hz = 0.0;       ///< how often a client receives and acknowledges; 0: once a tick
  std::size_t watched = 4;           ///< clients whose error is measured
  double flood_per_second = 0.0;     ///< datagrams of the flood during the measurement
  std::size_t late = 0;              ///< clients that join during the measurement
  std::size_t talkers = 0;           ///< additional clients, for a talk
  /// Size of the messages that every talker sends during the measurement, as many as it can. The server
  /// passes them on to all other clients. 0: the talkers are silent.
  std::size_t talk_bytes = 0;
  /// The address on which the server listens; empty: all addresses of this machine, IPv6 and IPv4. A plain
  /// ENet server always uses 127.0.0.1, because ENet has no IPv6.
  std::string listen = "127.0.0.1";
  std::string connect = "127.0.0.1";  ///< the address to which the clients connect
  std::filesystem::path program;      ///< path of reckoner-harness
};

/// The figures that the server, its clients and the flood printed.
struct LoadResult {
  nlohmann::json server;
  std::vector<nlohmann::json> clients;  ///< one for each process
  nlohmann::json flood;                 ///< null without a flood
  std::size_t late_joined = 0;
};

/// Called repeatedly with the name of the present step and its progress, 0 to 1.
using LoadProgress = std::function<void(const std::string& what, double done)>;

/// Runs a Reckoner server and its clients. Writes the DatagramRecord of the server to the file `record`.
[[nodiscard]] Result<LoadResult> run_load(const LoadRunOptions& options, const std::filesystem::path& record,
                                          const LoadProgress& progress);

/// Runs a plain ENet server that repeats the datagrams in `record`, with an equal number of plain clients.
[[nodiscard]] Result<LoadResult> run_plain(const LoadRunOptions& options, const std::filesystem::path& record,
                                           const LoadProgress& progress);

}  // namespace reckoner::harness
