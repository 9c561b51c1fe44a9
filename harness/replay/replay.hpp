// SPDX-License-Identifier: MIT
#pragma once

#include "client/src/test_switches.hpp"
#include "harness/metrics/figures.hpp"
#include "harness/metrics/metrics.hpp"
#include "harness/metrics/route_metrics.hpp"
#include "harness/sim/link_script.hpp"
#include "harness/sim/packet_log.hpp"
#include "net/src/codec/residual/coding_statistics.hpp"
#include "scenario/source.hpp"
#include "server/src/test_switches.hpp"

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
#include <reckoner/server/server.hpp>

namespace reckoner::harness {

/// When the sender publishes. At most one of the first two members may be positive. If both are zero, the
/// thresholds decide.
struct SendBudget {
  double updates_per_second = 0.0;  ///< per entity, on average
  double fixed_rate_hz = 0.0;       ///< per entity, at even intervals
  double threshold_m = 0.05;
  double threshold_rad = 0.05;
};

/// The transport of a replay.
enum class ReplayTransport : std::uint8_t {
  sim,   ///< virtual time and a simulated link
  enet,  ///< real time: ENet over the loopback interface, with a conditioner between the ends
};

/// A change of the client's playout during a run.
struct PlayoutSwitch {
  double at_s = 0.0;  ///< s after the start of the run
  PlayoutConfig to;   ///< the replay sets its frame_rate_hz
};

/// Options of a replay: one server, one client, and a link between them.
struct ReplayOptions {
  std::string method = "reckoner";  ///< a name from method_names(), or an ablation
  ReplayTransport transport = ReplayTransport::sim;
  LinkPair links;
  LinkScript link_script;  ///< its times count from the start of the run
  double tick_rate_hz = 60.0;
  double frame_rate_hz = 60.0;
  std::uint64_t seed = 1;
  SendBudget budget;
  SenderParts parts;           ///< only for reckoner
  ClientTestSwitches viewing;  ///< only for reckoner: switches of the client that shows the entities
  /// Only for reckoner; false: entities are always published in the world frame.
  bool uses_frames = true;
  PlayoutConfig playout;                ///< only for reckoner; the replay sets its frame_rate_hz
  std::vector<PlayoutSwitch> switches;  ///< only for reckoner; in the order of time
  /// Length of the run; 0: to the end of the source, or 30 s if it is endless.
  double seconds = 0.0;
  double start_s = 0.0;           ///< s after the start of the source; 0 if the source was cut already
  double max_speed_mps = 1000.0;  ///< of the archetypes; faster motion between teleports is refused
  double shots_per_second = 0.0;  ///< only for reckoner: shots of the client; the server reconstructs each
  /// Only for reckoner in virtual time: links of a second client that owns the entities. The figures are
  /// still those of the first client, which does not own any.
  std::optional<LinkPair> owner_links;
  OwnerPolicy owner_policy = OwnerPolicy::correct;
  /// Only with owner_links: the name of a Cheat. A third client then owns an additional entity and cheats in
  /// this way. Empty: no such client.
  std::string cheat;
  bool log_packets = false;
};

/// Called for every frame in order, with its time and the visible entities, sorted by entity.
using FrameSink = std::function<void(double frame_time_s, std::span<const ShownPose> shown)>;

/// How well a run in real time kept its times.
struct RealTimeFigures {
  double latest_tick_ms = 0.0;  ///< largest delay of a tick
  std::uint64_t dropped_frames = 0;
};

struct ReplayResult {
  Figures run;
  std::vector<Figures> entities;        ///< in the order of the source
  std::optional<RouteFigures> routes;   ///< only of a source with routes
  std::optional<CodingFigures> coding;  ///< only of reckoner
  std::vector<PacketRecord> packets;    ///< only with log_packets
  std::optional<RealTimeFigures> real_time;
};

/// The link from an owner to a viewer: up over `first` and then down over `second`. Both directions of the
/// result are equal.
[[nodiscard]] LinkPair combined_links(const LinkPair& first, const LinkPair& second);

/// Runs a replay. Ticks and frames are at start + k / rate. At equal times, arrivals come before the tick and
/// the tick before the frame. The client's clock has an offset of 1000 s, so that errors in the estimate of
/// server time show. Runs in virtual time are deterministic: equal arguments give equal frames to the last
/// bit. In real time, a frame is drawn and measured as soon as the machine can do so after its due time.
///
/// If thresholds decide when to publish, a baseline sends at even intervals at the rate that Reckoner needs
/// for the same input. replay() finds this rate with a run of Reckoner in virtual time. Fails if the method
/// is unknown, the options contradict each other, or a socket cannot be opened.
[[nodiscard]] Result<ReplayResult> replay(const scenario::Source& source, const ReplayOptions& options,
                                          const FrameSink& sink = {});

}  // namespace reckoner::harness
