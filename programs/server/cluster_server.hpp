// SPDX-License-Identifier: MIT
#pragma once

#include "programs/server/options.hpp"

namespace reckoner::program {

/// Runs a simulator, a gateway or both of a world on several servers until a stop is requested. Returns the
/// exit code. Built only with RECKONER_CLUSTER.
[[nodiscard]] int run_cluster_server(const ServerOptions& options);

}  // namespace reckoner::program
