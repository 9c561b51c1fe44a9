// SPDX-License-Identifier: MIT
#pragma once

#include "programs/common/sessions/status_page.hpp"
#include "programs/server/play.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

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

/// The metrics and the health of a running server. Only the server's thread may call the functions that
/// record. Any thread may call metrics() and health().
class ServerMetrics {
 public:
  /// The caller must pass all times as times of program::monotonic_s().
  /// Publishes figures of at most `most_clients` clients.
  ServerMetrics(double tick_rate_hz, double started_s, std::size_t most_clients);

  /// Records a tick that started `late_s` after it was due and took `took_s`. Also samples a few entities.
  /// Updates the published values every quarter of a second.
  void note_tick(const Server& server, const TransportStats& wire, const Play& play, double now_s,
                 double late_s, double took_s);
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
  };
  void sample_entities(const Server& server, const Play& play);

  double tick_rate_hz_;
  double started_s_;
  std::size_t most_clients_;
  Shown now_;
  double shown_at_s_ = -1.0;
  std::size_t next_entity_ = 0;
  std::atomic<double> last_tick_s_;
  std::atomic<bool> stopping_ = false;
  mutable std::mutex lock_;
  Shown shown_;
};

}  // namespace reckoner::program
