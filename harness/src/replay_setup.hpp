// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <vector>

#include <reckoner/client/client.hpp>
#include <reckoner/harness/replay.hpp>
#include <reckoner/net/archetype.hpp>
#include <reckoner/server/server.hpp>

namespace reckoner::harness {

/// Archetypes of what a replay has: with orientation, and without; the rest of them is the same.
inline constexpr std::size_t kBody = 0;
inline constexpr std::size_t kPoint = 1;
[[nodiscard]] std::vector<Archetype> replay_archetypes(const ReplayOptions& options);

/// A server and a client as the options ask for them, with these archetypes.
[[nodiscard]] ServerConfig replay_server_config(const ReplayOptions& options, double start_s,
                                                std::vector<Archetype> archetypes);
[[nodiscard]] ClientConfig replay_client_config(const ReplayOptions& options,
                                                std::vector<Archetype> archetypes);

}  // namespace reckoner::harness
