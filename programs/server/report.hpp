// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>

#include <reckoner/net/transport.hpp>
#include <reckoner/reckoning/result.hpp>
#include <reckoner/server/server.hpp>

namespace reckoner::program {

/// What a run comes to, besides what the server counted.
struct RunTimes {
  double seconds = 0.0;
  double worst_late_s = 0.0;  ///< of a tick
};

/// Two lines on standard output.
void print_summary(const ServerStats& stats, const TransportStats& wire, const RunTimes& times);

/// Whole or not at all; then the error says why.
[[nodiscard]] std::optional<Error> write_counts(const std::string& path, const ServerStats& stats,
                                                const TransportStats& wire, const RunTimes& times);

}  // namespace reckoner::program
