// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <reckoner/reckoning/result.hpp>

namespace reckoner::harness {

// A soak test. Clients join and leave at random for a long time over a link with many kinds of faults. It
// fails if memory use grows, a client stays out, an entity is shown wrong for too long, or a reliable message
// is lost.

struct SoakOptions {
  std::size_t clients = 200;
  std::size_t entities = 20;  ///< at once; entities also spawn and despawn
  double seconds = 3600.0;
  std::uint64_t seed = 1;
};

/// Samples of a quantity over time.
struct SoakSeries {
  std::string name;
  std::vector<double> values;

  /// The mean over a part of the time. `from` and `to` are shares of it, 0 to 1.
  [[nodiscard]] double mean(double from, double to) const;
};

/// Compares the last fifth of the time with the third fifth. Returns a message if the quantity grew,
/// otherwise an empty string. The first two fifths count as warm-up. Growth up to `slack` (a share of the
/// earlier value) or `least` (absolute) is accepted, whichever is larger.
[[nodiscard]] std::string growth(const SoakSeries& series, double slack, double least);

struct SoakReport {
  nlohmann::ordered_json figures;
  std::vector<std::string> wrong;  ///< the failures; empty: the test passed
};

using SoakProgress = std::function<void(double done)>;

/// Runs the test in one process and in virtual time over SimNetwork. The server is killed and restarted once.
[[nodiscard]] SoakReport soak_in_virtual_time(const SoakOptions& options, const SoakProgress& progress);

/// Runs the test in several processes on this machine, in real time over sealed UDP. Stops
/// processes now and then. `program` is the path of reckoner-harness.
[[nodiscard]] Result<SoakReport> soak_in_real_time(const SoakOptions& options,
                                                   const std::filesystem::path& program,
                                                   const SoakProgress& progress);

/// Options of the process that runs clients for soak_in_real_time(). It reads commands like the roles of a
/// load run; see load_roles.hpp.
struct SoakClientsOptions {
  std::string server;
  std::string key;
  std::size_t count = 50;
  std::uint64_t seed = 1;
  std::uint64_t first_id = 1;
};
int run_soak_clients(const SoakClientsOptions& options);

}  // namespace reckoner::harness
