// SPDX-License-Identifier: MIT
#pragma once

#include "harness/metrics/figures.hpp"
#include "harness/metrics/metrics.hpp"
#include "harness/metrics/route_metrics.hpp"
#include "harness/sim/link_script.hpp"
#include "harness/sim/packet_log.hpp"
#include "net/src/codec/coding_statistics.hpp"
#include "scenario/source.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <reckoner/client/playout.hpp>
#include <reckoner/reckoning/result.hpp>
#include <reckoner/server/ownership.hpp>
#include <reckoner/server/server.hpp>

namespace reckoner::harness {

/// What the sender spends. At most one of the first two is above zero; neither: the thresholds decide.
struct SendBudget {
  double updates_per_second = 0.0;  ///< per entity, on average
  double fixed_rate_hz = 0.0;       ///< evenly, whatever the entity does
  double threshold_m = 0.05;
  double threshold_rad = 0.05;
};

/// What a replay runs over.
enum class ReplayTransport : std::uint8_t {
  sim,   ///< virtual time, a simulated link
  enet,  ///< real time: ENet, UDP on this machine's loopback, a conditioner in between
};

/// How a source is replayed: one server, one client, a link between them.
/// The client goes over to another playout while it runs.
struct PlayoutSwitch {
  double at_s = 0.0;  ///< s from the start of the run
  PlayoutConfig to;   ///< frame_rate_hz is the replay's
};

struct ReplayOptions {
  std::string method = "reckoner";  ///< or a baseline's name
  ReplayTransport transport = ReplayTransport::sim;
  LinkPair links;
  LinkScript link_script;  ///< its times count from the start of the run
  double tick_rate_hz = 60.0;
  double frame_rate_hz = 60.0;
  std::uint64_t seed = 1;
  SendBudget budget;
  SenderParts parts;                    ///< of reckoner
  bool uses_stamps = true;              ///< of reckoner
  bool uses_frames = true;              ///< of reckoner: off, everything is told in the world
  PlayoutConfig playout;                ///< of reckoner; frame_rate_hz is taken from above
  std::vector<PlayoutSwitch> switches;  ///< of reckoner; in order of time
  double seconds = 0.0;           ///< length of the run; 0: to the end of the source, 30 s if it has none
  double start_s = 0.0;           ///< s after the source's start. For sources that were not cut already
  double max_speed_mps = 1000.0;  ///< of the archetypes: refuses what moves faster between teleports
  double shots_per_second = 0.0;  ///< of reckoner: fired by the client, each looked into by the server
  /// Of reckoner, in virtual time: the entities belong to a second client, behind these links; what is
  /// measured is still what the first one shows.
  std::optional<LinkPair> owner_links;
  OwnerPolicy owner_policy = OwnerPolicy::correct;
  std::string
      cheat;  ///< with owner_links: a third client owns one entity more, and cheats so (Cheat); or empty
  bool log_packets = false;
};

/// Called with every frame, in order: its time and what is visible in it, in order of entity.
using FrameSink = std::function<void(double frame_time_s, std::span<const ShownPose> shown)>;

/// How well a run in real time kept up.
struct RealTimeFigures {
  double latest_tick_ms = 0.0;  ///< how late the latest tick was
  std::uint64_t dropped_frames = 0;
};

struct ReplayResult {
  Figures run;
  std::vector<Figures> entities;        ///< in the source's order
  std::optional<RouteFigures> routes;   ///< of a source with routes
  std::optional<CodingFigures> coding;  ///< of reckoner
  std::vector<PacketRecord> packets;    ///< with log_packets
  std::optional<RealTimeFigures> real_time;
};

/// The link that is as long as the way up one and down the other.
[[nodiscard]] LinkPair summed(const LinkPair& first, const LinkPair& second);

/// Runs a replay. Ticks and frames are at start + k / rate; of things at the same instant arrivals come
/// first, then the tick, then the frame. The client's clock is a thousand seconds off, so that the estimate
/// of server time works for its living. In virtual time deterministic: the same arguments give the same
/// frames to the last bit. In real time frames are drawn, and measured, when their time has come and the
/// machine gets round to it.
///
/// A baseline under thresholds sends evenly at the rate that Reckoner comes to on the same input, which is
/// run first, in virtual time, for that. Fails on an unknown method, options that contradict each other, or
/// sockets that cannot be opened.
[[nodiscard]] Result<ReplayResult> replay(const scenario::Source& source, const ReplayOptions& options,
                                          const FrameSink& sink = {});

}  // namespace reckoner::harness
