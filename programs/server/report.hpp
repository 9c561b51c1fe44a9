// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>

#include <reckoner/net/transport.hpp>
#include <reckoner/reckoning/result.hpp>
#include <reckoner/server/server.hpp>

namespace reckoner::program {

/// Times of a run.
struct RunTimes {
  double seconds = 0.0;
  double worst_late_s = 0.0;  ///< largest delay between the due time and the start of a tick
};

/// Prints two lines with the totals of the run to standard output.
void print_summary(const ServerStats& stats, const TransportStats& wire, const RunTimes& times);

/// Writes the totals of the run to a JSON file. The write is atomic: the file is either complete or
/// unchanged.
[[nodiscard]] std::optional<Error> write_counts(const std::string& path, const ServerStats& stats,
                                                const TransportStats& wire, const RunTimes& times);

}  // namespace reckoner::program
