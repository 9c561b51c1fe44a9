// SPDX-License-Identifier: MIT
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <reckoner/cluster/export.hpp>
#include <reckoner/net/archetype.hpp>
#include <reckoner/reckoning/result.hpp>
#include <reckoner/reckoning/route.hpp>

namespace reckoner {

/// What all processes of a world must agree on. The first process stores it on the bus; a process with other
/// settings cannot join the world.
struct ClusterConfig {
  /// Name of the world, 1 to 32 letters, digits, `-` and `_`. Worlds with different names can share a bus.
  std::string world = "world";
  double tick_rate_hz = 60.0;             ///< ticks per second of every process
  std::vector<Archetype> archetypes{1};   ///< as in ServerConfig
  std::vector<RouteDefinition> routes{};  ///< the routes of the world; their ids are 1, 2, ...
  /// Side of a cell, m. A cell is the unit of authority and of subscription. Choose about half the interest
  /// radius: smaller cells cost more handovers, larger ones more bytes that no client needs.
  double cell_m = 100.0;
  /// The world has columns x rows cells; the middle of the grid is the origin. A position outside belongs to
  /// the nearest cell. At most kMaxCells in total.
  std::uint32_t columns = 4;
  std::uint32_t rows = 4;  ///< number of cells along y
  /// An entity changes its cell when it is this far beyond the border, m. So an entity that moves along a
  /// border is not handed over all the time.
  double hysteresis_m = 5.0;
  /// How long a simulator may hold a cell after its last renewal, s. The bus counts the time.
  double lease_s = 2.0;
  double checkpoint_s = 1.0;  ///< a changed entity is stored this often, s

  static constexpr std::uint32_t kMaxCells = 4096;  ///< largest number of cells
};

/// Returns the first invalid setting as one line with the name, the value and the valid range. Returns
/// nullopt if all settings are valid.
[[nodiscard]] RECKONER_CLUSTER_API std::optional<Error> find_invalid_setting(const ClusterConfig& config);

/// Identifies a process of a world while it runs. A process that starts again has another number. Zero is
/// null.
struct ProcessId {
  std::uint32_t value = 0;  ///< a random number; 0: null
  /// False if the id is null.
  [[nodiscard]] explicit operator bool() const { return value != 0; }
  /// Orders ids by number, for use in sorted containers.
  auto operator<=>(const ProcessId&) const = default;
};

/// A client of any gateway.
struct ClusterClient {
  ProcessId gateway;         ///< the gateway that the client has joined
  std::uint32_t client = 0;  ///< ClientId::value at this gateway; 0: null
  /// False if the id is null.
  [[nodiscard]] explicit operator bool() const { return client != 0; }
  /// Orders ids, for use in sorted containers.
  auto operator<=>(const ClusterClient&) const = default;
};

/// Counters of a process since it started. docs/cluster.md tells how to watch them.
struct ClusterStats {
  std::uint64_t batches_sent = 0;      ///< messages with motions
  std::uint64_t batches_received = 0;  ///< messages with motions that were accepted
  std::uint64_t motions_sent = 0;      ///< motions in those messages
  std::uint64_t motions_received = 0;  ///< motions that were accepted
  std::uint64_t gaps = 0;              ///< missing sequence numbers
  std::uint64_t repairs = 0;           ///< snapshots that were asked for, the first of every stream included
  std::uint64_t malformed = 0;         ///< messages from the bus that no correct process sends
  std::uint64_t stale_refused = 0;     ///< writes with an older epoch that this process has refused
  /// Claims to write or to hand over that the table of epochs did not confirm, and checkpoints without an
  /// entity in that table.
  std::uint64_t unconfirmed_refused = 0;
  std::uint64_t unknown_refused = 0;  ///< messages of processes that are not members of the world
  std::uint64_t table_reads = 0;      ///< reads of tables to confirm what other processes say
  /// The table of leases names this process under its name and role, so the others believe it. False at the
  /// start, and when another process has taken the name.
  bool is_member = false;
  std::uint64_t handovers_out = 0;   ///< entities that another simulator has taken over
  std::uint64_t handovers_in = 0;    ///< entities that this simulator has taken over from a live one
  std::uint64_t adopted = 0;         ///< entities that this simulator has taken over from a dead one
  std::uint64_t entities_lost = 0;   ///< entities that this simulator held until another one took them
  std::uint64_t cells_claimed = 0;   ///< cells that this simulator has claimed
  std::uint64_t cells_lost = 0;      ///< cells whose lease ended
  std::uint64_t cells_given = 0;     ///< cells that this simulator has handed over
  std::uint64_t writes_refused = 0;  ///< compare-and-sets of this process that another writer had overtaken
  std::uint64_t checkpoints = 0;     ///< stored checkpoints
  std::uint64_t messages_sent = 0;   ///< game messages, counted once each
  std::uint64_t messages_received = 0;  ///< game messages that reached the game, in order
  std::uint64_t messages_repeated = 0;  ///< game messages that were sent again
  std::uint64_t messages_refused = 0;   ///< game messages beyond the limits of their sender
  /// Silence of entities at a handover, in ticks from the last motion of the old holder to the first one of
  /// the new holder, as a gateway or a ghost's simulator sees it: index i counts silences of i ticks, the
  /// last index all longer ones.
  std::vector<std::uint64_t> silence_ticks = std::vector<std::uint64_t>(64, 0);
  /// Silences of entities whose holder had died, until another simulator held them, s; one value per entity.
  std::vector<double> orphan_s{};
  double lag_s = 0.0;  ///< mean age of motions on arrival, s: tick to arrival on the bus
};

}  // namespace reckoner
