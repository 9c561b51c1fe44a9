// SPDX-License-Identifier: MIT
#pragma once

#include "programs/common/drawing.hpp"

#include <optional>
#include <string>

#include <reckoner/client/client.hpp>
#include <reckoner/net/transport.hpp>
#include <reckoner/reckoning/result.hpp>

namespace reckoner::program {

/// Prints two lines with the totals of the session to standard output.
void print_summary(const ClientStats& stats, const TransportStats& wire, const Drawn& drawn);

/// Writes the totals of the session to a JSON file. The write is atomic: the file is either complete or
/// unchanged.
[[nodiscard]] std::optional<Error> write_figures(const std::string& path, const ClientStats& stats,
                                                 const TransportStats& wire, const Drawn& drawn);

}  // namespace reckoner::program
