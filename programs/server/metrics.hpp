// SPDX-License-Identifier: MIT
#pragma once

#include "programs/common/sessions/status_page.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <reckoner/net/ids.hpp>
#include <reckoner/net/transport.hpp>
#include <reckoner/server/server.hpp>

namespace reckoner::program {

/// A Prometheus histogram of durations, s.
class DurationHistogram {
 public:
  static constexpr std::array<double, 12> kBounds_s{1e-4, 2e-4, 5e-4, 1e-3, 2e-3, 5e-3,
                                                    0.01, 0.02, 0.05, 0.1,  0.2,  0.5};
  void add(double seconds);
  /// Element i is the number of durations up to kBounds_s[i]. The last element is the number of all
  /// durations.
  [[nodiscard]] std::array<std::uint64_t, kBounds_s.size() + 1> cumulative() const;
  [[nodiscard]] double sum_s() const { return sum_s_; }

 private:
  std::array<std::uint64_t, kBounds_s.size() + 1> counts_{};
  double sum_s_ = 0.0;
};

/// The newest values of a quantity. Older values are forgotten.
class RecentValues {
 public:
  void add(double value);
  [[nodiscard]] bool empty() const { return values_.empty(); }
  /// The quantile `q` (0 to 1) of the values. 0 if there are no values.
  [[nodiscard]] double quantile(double q) const;

 private:
  static constexpr std::size_t kCapacity = 2048;
  std::vector<double> values_;
  std::size_t next_ = 0;
};

/// Counts of client events.
struct ClientCounts {
  std::uint64_t joined = 0;
  std::uint64_t left = 0;
  std::uint64_t refused = 0;
  std::uint64_t lost = 0;
  std::uint64_t resumed = 0;
  std::uint64_t owner_corrected = 0;
  std::uint64_t owner_refused = 0;
};

/// The entities that the program moves, and how many of its poses the server has refused.
struct Played {
  std::span<const EntityId> ids;
  std::uint64_t refused = 0;
};

/// The part of a process in a world on several servers. Counters cover the whole life of the process.
struct ClusterFigures {
  bool connected = false;         ///< there is a connection to the bus, and the others know the process
  std::size_t held_cells = 0;     ///< of a simulator
  std::size_t held_entities = 0;  ///< of a simulator
  std::size_t shown_cells = 0;    ///< cells to which a gateway subscribes
  /// Index and epoch of each held cell.
  std::vector<std::pair<std::uint32_t, std::uint32_t>> epochs;
  std::uint64_t handovers_in = 0;
  std::uint64_t handovers_out = 0;
  std::uint64_t adopted = 0;         ///< entities taken over from simulators that have died
  std::uint64_t writes_refused = 0;  ///< writes of this process that another one had overtaken
  std::uint64_t stale_refused = 0;   ///< writes of others with an old epoch that this process has refused
  /// Claims of others to write or to hand over that the table of epochs did not confirm.
  std::uint64_t unconfirmed_refused = 0;
  std::uint64_t unknown_refused = 0;   ///< messages of processes that are not members of the world
  std::uint64_t messages_refused = 0;  ///< game messages beyond the limits of their sender
  std::uint64_t table_reads = 0;       ///< reads of tables to confirm what other processes say
  std::uint64_t bus_bytes_sent = 0;
  std::uint64_t bus_bytes_received = 0;
  std::uint64_t bus_dropped = 0;  ///< messages that this process received too slowly
  std::uint64_t gaps = 0;         ///< missing messages
  std::uint64_t repairs = 0;      ///< snapshots that were asked for
  std::uint64_t malformed = 0;    ///< messages that no correct process sends
  double lag_s = 0.0;             ///< mean age of motions when they arrive on the bus
};

/// The metrics and the health of a running server. Only the server's thread may call the functions that
/// record. Any thread may call metrics() and health().
class ServerMetrics {
 public:
  /// The caller must pass all times as times of program::monotonic_s().
  /// Publishes figures of at most `most_clients` clients.
  ServerMetrics(double tick_rate_hz, double started_s, std::size_t most_clients);

  /// Records a tick that started `late_s` after it was due and took `took_s`. Also samples a few entities.
  /// Updates the published values every quarter of a second.
  void note_tick(const Server& server, const TransportStats& wire, const Played& played, double now_s,
                 double late_s, double took_s);
  /// Records the figures of a process of a cluster. note_tick() publishes them.
  void note_cluster(const ClusterFigures& figures) { now_.cluster = figures; }
  void note(const ServerEvent& event);
  /// Records that the server is shutting down. health() reports bad health after this call.
  void note_stopping() { stopping_ = true; }

  /// The page in the Prometheus text format.
  [[nodiscard]] std::string metrics() const;
  [[nodiscard]] StatusPage::Health health(double now_s) const;

 private:
  // The values that metrics() publishes. lock_ protects `shown_`.
  struct Shown {
    double up_s = 0.0;
    std::size_t clients = 0;
    std::size_t entities = 0;
    ServerStats stats;
    SentTraffic traffic;
    TransportStats wire;
    ClientCounts events;
    std::uint64_t poses_refused = 0;
    DurationHistogram late;
    DurationHistogram took;
    RecentValues error_m;
    RecentValues error_rad;
    RecentValues threshold_m;
    RecentValues age_s;
    std::vector<SessionStats> worst_clients;
    std::shared_ptr<const std::vector<Archetype>> archetypes;  // of the server, for their names
    std::optional<ClusterFigures> cluster;
  };
  void sample_entities(const Server& server, std::span<const EntityId> ids);

  double tick_rate_hz_;
  double started_s_;
  std::size_t most_clients_;
  Shown now_;
  double shown_at_s_ = -1e300;
  std::size_t next_entity_ = 0;
  std::atomic<double> last_tick_s_;
  std::atomic<bool> stopping_ = false;
  mutable std::mutex lock_;
  Shown shown_;
};

}  // namespace reckoner::program
