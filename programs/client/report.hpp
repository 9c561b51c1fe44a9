// SPDX-License-Identifier: MIT
#pragma once

#include "programs/common/drawing.hpp"

#include <optional>
#include <string>

#include <reckoner/client/client.hpp>
#include <reckoner/net/transport.hpp>
#include <reckoner/reckoning/result.hpp>

namespace reckoner::program {

/// Three lines on standard output.
void print_summary(const ClientStats& stats, const TransportStats& wire, const Drawn& drawn);

/// Whole or not at all; then the error says why.
[[nodiscard]] std::optional<Error> write_figures(const std::string& path, const ClientStats& stats,
                                                 const TransportStats& wire, const Drawn& drawn);

}  // namespace reckoner::program
