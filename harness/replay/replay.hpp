// SPDX-License-Identifier: MIT
#pragma once

#include "client/src/testing/test_switches.hpp"
#include "harness/metrics/figures.hpp"
#include "harness/metrics/metrics.hpp"
#include "harness/metrics/route_metrics.hpp"
#include "harness/metrics/run_samples.hpp"
#include "harness/replay/client_clock.hpp"
#include "harness/sim/link_script.hpp"
#include "harness/sim/packet_log.hpp"
#include "harness/sim/tick_contents.hpp"
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

/// Says when the sender publishes. The caller may make at most one of the first two members positive. If both
/// are zero, the thresholds decide.
struct SendBudget {
  double updates_per_second = 0.0;  ///< mean rate of updates per entity, 1/s
  double fixed_rate_hz = 0.0;       ///< rate of updates per entity, which are sent at even intervals
  double threshold_m = 0.05;
  double threshold_rad = 0.05;
  double send_rate_hz = 0.0;      ///< datagrams with motions per second to the client; 0: in every tick
  std::string codes;              ///< Archetype::codes of all entities
  double bytes_per_second = 0.0;  ///< to the client at most, with headers; 0: the server's default
};

/// The transport of a replay.
enum class ReplayTransport : std::uint8_t {
  sim,   ///< virtual time and a simulated link
  udp,   ///< real time: sockets on this machine, with a conditioner between the ends; without security
  enet,  ///< the same with ENet
};

/// A change of the client's playout during a run.
struct PlayoutSwitch {
  double at_s = 0.0;  ///< time of the change, s after the start of the run
  PlayoutConfig to;   ///< the replay sets its blend
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
  /// Only for reckoner. False: entities are always published in the world frame.
  bool uses_frames = true;
  ClientClock client_clock;  ///< only for reckoner: the clock that the game passes to the client
  PlayoutConfig playout;     ///< only for reckoner
  /// Only for reckoner: duration of a blend, frames of frame_rate_hz. Nullopt: the playout's.
  std::optional<double> blend_frames;
  std::vector<PlayoutSwitch> switches;  ///< only for reckoner; the caller must sort them by time
  /// Length of the run, s. 0 means to the end of the source, or 30 s if the source is endless.
  double seconds = 0.0;
  /// Where the run begins, s after the start of the source; 0 if the caller has cut the source already.
  double start_s = 0.0;
  /// Speed limit of the archetypes; the server refuses faster motion between teleports.
  double max_speed_mps = 1000.0;
  /// Only for reckoner: rate at which the client fires; the server reconstructs each shot.
  double shots_per_second = 0.0;
  /// Only for reckoner in virtual time: links of a second client that owns the entities. The figures are
  /// still those of the first client, which owns no entities.
  std::optional<LinkPair> owner_links;
  OwnerPolicy owner_policy = OwnerPolicy::correct;
  /// Only with owner_links: the name of a Cheat. A third client then owns an additional entity and cheats as
  /// named. Empty: there is no third client.
  std::string cheat;
  bool log_packets = false;
  bool keep_samples = false;  ///< fills ReplayResult::samples, from which several runs can be pooled
};

/// The replay calls this for every picture in order. It passes the time of the picture and the visible
/// entities, sorted by entity.
using PictureSink = std::function<void(double frame_time_s, std::span<const ShownPose> shown)>;

/// How well a run in real time kept its times.
struct RealTimeFigures {
  double latest_tick_ms = 0.0;  ///< largest delay of a tick
  std::uint64_t dropped_pictures = 0;
};

struct ReplayResult {
  Figures run;
  std::vector<Figures> entities;        ///< figures of each entity, in the order of the source
  std::optional<RouteFigures> routes;   ///< nullopt if the source has no routes
  std::optional<CodingFigures> coding;  ///< nullopt for methods other than reckoner
  std::vector<PacketRecord> packets;    ///< empty without log_packets
  std::vector<TickContents> contents;   ///< Method::contents()
  std::optional<RealTimeFigures> real_time;
  std::shared_ptr<const RunSamples> samples;  ///< null without keep_samples
  std::string hidden_reason;  ///< a known reason why entities were not shown; empty if there is none
};

/// Returns why the figures of a replay do not count (coverage.hpp). nullopt if they count.
[[nodiscard]] std::optional<Error> find_unshown(const ReplayResult& result);

/// Returns the link from an owner to a viewer, which leads up over `first` and then down over `second`. Both
/// directions of the result are equal.
[[nodiscard]] LinkPair combined_links(const LinkPair& first, const LinkPair& second);

/// Runs a replay. Tick k and picture k are at start + k / rate. If an arrival, a tick and a picture are due
/// at the same time, they are handled in this order. The client's clock has an offset of 1000 s, so that
/// errors in the estimate of server time become visible; it may also be slow, fast or set (ClientClock). Runs
/// in virtual time are deterministic: equal arguments give equal pictures to the last bit. In real time, a
/// picture is drawn and measured as soon as the machine can do so after its due time.
///
/// If thresholds decide when to publish, a baseline sends at even intervals at the rate that Reckoner needs
/// for the same input. replay() finds this rate with a run of Reckoner in virtual time. Fails if the method
/// is unknown, the options contradict each other, or a socket cannot be opened.
[[nodiscard]] Result<ReplayResult> replay(const scenario::Source& source, const ReplayOptions& options,
                                          const PictureSink& sink = {});

}  // namespace reckoner::harness
