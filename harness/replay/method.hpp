// SPDX-License-Identifier: MIT
#pragma once

#include "harness/metrics/figures.hpp"
#include "harness/metrics/metrics.hpp"
#include "harness/metrics/route_metrics.hpp"
#include "harness/replay/replay.hpp"
#include "harness/replay/replay_network.hpp"
#include "harness/sim/tick_contents.hpp"
#include "net/src/codec/residual/coding_statistics.hpp"
#include "scenario/feed.hpp"
#include "scenario/source.hpp"

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <reckoner/reckoning/result.hpp>

namespace reckoner::harness {

/// A technique that transfers motion from a server to a client and shows it there. A method runs over a
/// ReplayNetwork and advances the time of that network. The replay must call the functions in the order of
/// time. Belongs to one thread at a time.
class Method {
 public:
  virtual ~Method() = default;

  /// Runs a server tick. `items` are the states and changes of the entities, as the game reports them.
  virtual void tick(double time_s, std::span<const scenario::FeedItem> items) = 0;

  /// Time of the next arrival at the server or the client. Infinity if nothing is in flight.
  [[nodiscard]] virtual double next_event_s() const = 0;

  /// Advances to `time_s` and handles everything that has arrived by then.
  virtual void advance(double time_s) = 0;

  /// Draws the client's picture at `time_s`: appends the pose of every visible entity to `shown`, sorted by
  /// entity.
  virtual void frame(double time_s, std::vector<ShownPose>& shown) = 0;

  /// The present playout delay, s. Entities are shown in the state that they had this long ago.
  [[nodiscard]] virtual double delay_s() const { return 0.0; }

  /// The error of the client's estimate of server time, s. Returns nullopt if the method uses a perfect clock
  /// or if the client has no estimate yet.
  [[nodiscard]] virtual std::optional<double> clock_error_s(double) const { return std::nullopt; }

  [[nodiscard]] virtual Traffic down() const = 0;
  [[nodiscard]] virtual Traffic up() const = 0;

  /// How many of the sent bits belong to entities on routes. Returns nullopt if the method has no routes.
  [[nodiscard]] virtual std::optional<RouteTraffic> route_traffic() const { return std::nullopt; }

  /// How the bits of the updates are divided among their fields. Returns nullopt if the method does not
  /// measure this.
  [[nodiscard]] virtual std::optional<CodingFigures> coding() const { return std::nullopt; }

  /// How well the server reconstructs what the client saw when it fired. Returns nullopt in a run without
  /// shots.
  [[nodiscard]] virtual std::optional<RewindFigures> seen() const { return std::nullopt; }

  /// How the server handled the motions sent by owners. Returns nullopt if no client owns an entity.
  [[nodiscard]] virtual std::optional<OwnedFigures> owned() const { return std::nullopt; }

  /// What the server sent in each tick, oldest first. Empty without ReplayOptions::log_packets, and for
  /// methods that do not note it.
  [[nodiscard]] virtual std::vector<TickContents> contents() const { return {}; }

  /// A known reason why entities were not shown. Empty if there is none.
  [[nodiscard]] virtual std::string hidden_reason() const { return {}; }

  /// Number of updates sent about one entity.
  [[nodiscard]] virtual std::uint64_t updates_of(std::size_t entity) const = 0;
};

/// The names of all methods: "reckoner" first, then the baselines.
[[nodiscard]] std::vector<std::string> method_names();

/// Creates the method "reckoner", which is a real Server and a real Client. `source` and `network` must
/// outlive the method.
[[nodiscard]] std::unique_ptr<Method> make_reckoner_method(const scenario::Source& source,
                                                           const ReplayOptions& options, double start_s,
                                                           ReplayNetwork& network);

/// Like make_reckoner_method(), but a client owns the entities (ReplayOptions::owner_links). The method
/// creates its own simulated network. `source` must outlive the method.
[[nodiscard]] std::unique_ptr<Method> make_owned_method(const scenario::Source& source,
                                                        const ReplayOptions& options, double start_s);

/// Creates a baseline that sends `rate_hz` updates per second for each entity. Returns null if no baseline is
/// called `name`. `source` and `network` must outlive the method.
[[nodiscard]] std::unique_ptr<Method> make_baseline_method(std::string_view name,
                                                           const scenario::Source& source,
                                                           const ReplayOptions& options, double rate_hz,
                                                           ReplayNetwork& network);

}  // namespace reckoner::harness
