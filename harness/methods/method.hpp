// SPDX-License-Identifier: MIT
#pragma once

#include "harness/metrics/figures.hpp"
#include "harness/metrics/metrics.hpp"
#include "harness/metrics/route_metrics.hpp"
#include "harness/replay/replay.hpp"
#include "harness/sim/replay_network.hpp"
#include "net/src/codec/coding_statistics.hpp"
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

/// A way of getting motion from a server to a client's screen over a ReplayNetwork, which it moves on. The
/// replay calls it in order of time. Belongs to one thread at a time.
class Method {
 public:
  virtual ~Method() = default;

  /// The server's tick: what its game says of every entity.
  virtual void tick(double time_s, std::span<const scenario::FeedItem> items) = 0;

  /// When something next arrives at either end, or infinity.
  [[nodiscard]] virtual double next_event_s() const = 0;

  /// Moves time on and takes in what has arrived.
  virtual void advance(double time_s) = 0;

  /// What the client draws at `time_s`: appends every visible entity, in order of entity.
  virtual void frame(double time_s, std::vector<ShownPose>& shown) = 0;

  /// How long ago entities are shown at present, s.
  [[nodiscard]] virtual double delay_s() const { return 0.0; }

  /// How far the client's idea of server time is off, s; nothing for methods that are given a perfect clock.
  [[nodiscard]] virtual std::optional<double> clock_error_s(double) const { return std::nullopt; }

  [[nodiscard]] virtual Traffic down() const = 0;
  [[nodiscard]] virtual Traffic up() const = 0;

  /// What its updates cost, by routes; nothing for methods that know none.
  [[nodiscard]] virtual std::optional<RouteTraffic> route_traffic() const { return std::nullopt; }

  /// What its updates are made of; nothing for methods that say so in bytes only.
  [[nodiscard]] virtual std::optional<CodingFigures> coding() const { return std::nullopt; }

  /// What the server finds out of what the client saw; nothing without shots.
  [[nodiscard]] virtual std::optional<SeenFigures> seen() const { return std::nullopt; }

  /// What became of what owners said; nothing where nobody owns anything.
  [[nodiscard]] virtual std::optional<OwnedFigures> owned() const { return std::nullopt; }

  /// Updates sent about one entity.
  [[nodiscard]] virtual std::uint64_t updates_of(std::size_t entity) const = 0;
};

/// The names of all methods: reckoner first, then the baselines.
[[nodiscard]] std::vector<std::string> method_names();

/// What a method's client says when it connects: the network must be made with it.
[[nodiscard]] std::uint32_t connect_reason(std::string_view method);

/// A real Server and a real Client. Source and network must outlive it.
[[nodiscard]] std::unique_ptr<Method> make_reckoner_method(const scenario::Source& source,
                                                           const ReplayOptions& options, double start_s,
                                                           ReplayNetwork& network);

/// The same with entities that a client owns (ReplayOptions::owner_links), over a simulated network of its
/// own.
[[nodiscard]] std::unique_ptr<Method> make_owned_method(const scenario::Source& source,
                                                        const ReplayOptions& options, double start_s);

/// A baseline that sends `rate_hz` updates per second and entity. Null if there is none of that name. Source
/// and network must outlive it.
[[nodiscard]] std::unique_ptr<Method> make_baseline_method(std::string_view name,
                                                           const scenario::Source& source,
                                                           const ReplayOptions& options, double rate_hz,
                                                           ReplayNetwork& network);

}  // namespace reckoner::harness
