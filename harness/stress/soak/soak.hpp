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

// A soak: clients who join and leave at random over a link that breaks in every way, for long. Nothing may
// grow from it, nobody may stay out or be shown wrong for ever, and no reliable message may be lost.

struct SoakOptions {
  std::size_t clients = 200;
  std::size_t entities = 20;  ///< at once; they come and go, too
  double seconds = 3600.0;
  std::uint64_t seed = 1;
};

/// How much there is of something, by time.
struct SoakSeries {
  std::string name;
  std::vector<double> values;

  /// The mean of a part of it: from one share of the time to another.
  [[nodiscard]] double mean(double from, double to) const;
};

/// What grew, in words, comparing the last fifth of the time with the second; empty if nothing did. What is
/// at the beginning is warming up. `slack` is a share of what there was; small things may differ by `least`.
[[nodiscard]] std::string growth(const SoakSeries& series, double slack, double least);

struct SoakReport {
  nlohmann::ordered_json figures;
  std::vector<std::string> wrong;  ///< what must not be; empty: it passed
};

using SoakProgress = std::function<void(double done)>;

/// In one process and virtual time: SimNetwork, with a server that is killed and started again.
[[nodiscard]] SoakReport soak_virtually(const SoakOptions& options, const SoakProgress& progress);

/// In processes over sealed ENet connections in real time, on this machine; processes are stopped at times.
[[nodiscard]] Result<SoakReport> soak_really(const SoakOptions& options, const std::filesystem::path& program,
                                             const SoakProgress& progress);

/// The clients of the latter, in a process of their own: told as those of a load run are (load_roles.hpp).
struct SoakClientsOptions {
  std::string server;
  std::string key;
  std::size_t count = 50;
  std::uint64_t seed = 1;
  std::uint64_t first_id = 1;
};
int run_soak_clients(const SoakClientsOptions& options);

}  // namespace reckoner::harness
