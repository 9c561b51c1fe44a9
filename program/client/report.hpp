// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include <reckoner/client/client.hpp>
#include <reckoner/net/transport.hpp>
#include <reckoner/program/drawing.hpp>

namespace reckoner::program {

/// Three lines on standard output.
void print_summary(const ClientStats& stats, const TransportStats& wire, const Drawn& drawn);

/// False if the file could not be written.
[[nodiscard]] bool write_figures(const std::string& path, const ClientStats& stats,
                                 const TransportStats& wire, const Drawn& drawn);

}  // namespace reckoner::program
