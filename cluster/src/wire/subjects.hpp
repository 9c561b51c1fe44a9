// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <reckoner/cluster/cluster_config.hpp>
#include <reckoner/net/ids.hpp>

namespace reckoner::cluster {

/// What a process does in a world.
enum class Role : std::uint8_t { simulator, gateway };

inline const char* role_text(Role role) {
  return role == Role::simulator ? "simulator" : "gateway";
}

/// True for a valid name of a world or a process: 1 to 32 letters, digits, `-` and `_`. Names are parts of
/// subjects and keys, so a reader must check them, too.
inline bool is_name(std::string_view text) {
  constexpr std::size_t kMaxNameOnBus = 32;
  if (text.empty() || text.size() > kMaxNameOnBus) return false;
  for (const char c : text) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    if (!letter && !(c >= '0' && c <= '9') && c != '-' && c != '_') return false;
  }
  return true;
}

// The subjects and keys of a world. Those that both roles write contain the role of the writer, so that the
// permissions of a NATS server can keep each role from the other one's (deploy/nats.conf).

/// Batches of simulators.
inline std::string cell_subject(const std::string& world, std::uint32_t cell) {
  return world + ".c." + std::to_string(cell);
}
/// What one process alone receives from processes of a role.
inline std::string inbox_subject(const std::string& world, ProcessId process, Role sender) {
  return world + ".p." + std::to_string(process.value) + "." + role_text(sender);
}
/// What all processes receive from processes of a role: heartbeats.
inline std::string members_subject(const std::string& world, Role sender) {
  return world + ".m." + role_text(sender);
}

inline std::string cell_key(std::uint32_t cell) {
  return "c." + std::to_string(cell);
}
inline std::string slot_key(std::uint32_t slot) {
  return "e." + std::to_string(slot);
}
inline std::string slot_key(EntityId id) {
  return slot_key(static_cast<std::uint32_t>(id.slot()));
}
/// A lease that keeps the name of a process unique among both roles.
inline std::string name_key(const std::string& name) {
  return "n." + name;
}
/// A lease that says which process has this role and this name. Others believe heartbeats of that process
/// only.
inline std::string member_key(Role role, const std::string& name) {
  return std::string("m.") + role_text(role) + "." + name;
}
inline constexpr const char* kWorldKey = "world";
inline constexpr const char* kIdsKey = "ids";

}  // namespace reckoner::cluster
