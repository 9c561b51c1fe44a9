// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>

#include <reckoner/cluster/cluster_config.hpp>
#include <reckoner/net/ids.hpp>

namespace reckoner::cluster {

// The subjects and keys of a world.

inline std::string cell_subject(const std::string& world, std::uint32_t cell) {
  return world + ".c." + std::to_string(cell);
}
/// What one process alone receives.
inline std::string inbox_subject(const std::string& world, ProcessId process) {
  return world + ".p." + std::to_string(process.value);
}
/// What all processes receive.
inline std::string members_subject(const std::string& world) {
  return world + ".m";
}

inline std::string cell_key(std::uint32_t cell) {
  return "c." + std::to_string(cell);
}
inline std::string slot_key(EntityId id) {
  return "e." + std::to_string(id.slot());
}
inline std::string name_key(const std::string& name) {
  return "n." + name;
}
inline constexpr const char* kWorldKey = "world";
inline constexpr const char* kIdsKey = "ids";

}  // namespace reckoner::cluster
