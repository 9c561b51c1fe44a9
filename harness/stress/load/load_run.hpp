// SPDX-License-Identifier: MIT
#pragma once

#include "harness/stress/load/load_roles.hpp"

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
  double seconds = 10.0;  ///< that are measured
  double warmup_s = 3.0;  ///< after the last client has joined
  double tick_rate_hz = 60.0;
  double join_rate_hz = 200.0;    ///< of all clients together
  unsigned threads = 1;           ///< of the server
  std::size_t processes = 0;      ///< that the clients are spread over; 0: one for 250 of them
  bool insecure = false;          ///< nothing is sealed, anybody may join
  std::size_t watched = 4;        ///< clients whose error is measured
  double flood_per_second = 0.0;  ///< datagrams of strangers, while it is measured
  std::size_t late = 0;           ///< clients that join while it is measured
  std::filesystem::path program;  ///< this one
};

/// What was measured of a server and its clients, as each said it.
struct LoadResult {
  nlohmann::json server;
  std::vector<nlohmann::json> clients;  ///< by process
  nlohmann::json flood;                 ///< null without one
  std::size_t late_joined = 0;
};

/// Called as it goes on: what is being done, and how much of it is done, 0 to 1.
using LoadProgress = std::function<void(const std::string& what, double done)>;

/// Runs Reckoner's server and its clients. `record` gets what the server sent.
[[nodiscard]] Result<LoadResult> run_load(const LoadRunOptions& options, const std::filesystem::path& record,
                                          const LoadProgress& progress);

/// Runs the plain server on that record, and as many plain clients.
[[nodiscard]] Result<LoadResult> run_plain(const LoadRunOptions& options, const std::filesystem::path& record,
                                           const LoadProgress& progress);

}  // namespace reckoner::harness
