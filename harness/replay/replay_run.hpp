// SPDX-License-Identifier: MIT
#pragma once

#include "harness/metrics/measured_pictures.hpp"
#include "harness/metrics/metrics.hpp"
#include "harness/replay/method.hpp"
#include "harness/replay/replay.hpp"
#include "harness/replay/replay_network.hpp"
#include "scenario/source.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

#include <reckoner/client/client.hpp>
#include <reckoner/net/archetype.hpp>
#include <reckoner/server/server.hpp>

namespace reckoner::harness {

/// One run of a method over a source. All constructor arguments must outlive the run.
class ReplayRun {
 public:
  ReplayRun(const scenario::Source& source, const ReplayOptions& options, double start_s, double end_s,
            Method& method, Metrics& metrics, const PictureSink& sink)
      : source_(source),
        options_(options),
        start_s_(start_s),
        end_s_(end_s),
        method_(method),
        metrics_(metrics),
        sink_(sink) {}

  /// Runs from start to end in virtual time, as fast as possible.
  void in_virtual_time();

  /// Runs from start to end in real time. If ticks are late, runs all of them as soon as possible. Drops a
  /// picture if the next picture is already due, as a real client does.
  [[nodiscard]] RealTimeFigures in_real_time(RealTimeNetwork& network);

 private:
  void draw(double time_s);
  [[nodiscard]] double frame_time_s(std::uint64_t frame) const {
    return start_s_ + static_cast<double>(frame) / options_.frame_rate_hz;
  }

  const scenario::Source& source_;
  const ReplayOptions& options_;
  double start_s_;
  double end_s_;
  Method& method_;
  Metrics& metrics_;
  const PictureSink& sink_;
  std::vector<ShownPose> shown_;
};

/// Indices of the two archetypes of a replay. The only difference is that kBody has an orientation and kPoint
/// has none.
inline constexpr std::size_t kBody = 0;
inline constexpr std::size_t kPoint = 1;
[[nodiscard]] std::vector<Archetype> replay_archetypes(const ReplayOptions& options);

/// The configuration of the server and of the client for these options and archetypes.
[[nodiscard]] ServerConfig replay_server_config(const ReplayOptions& options, double start_s,
                                                std::vector<Archetype> archetypes);
[[nodiscard]] ClientConfig replay_client_config(const ReplayOptions& options,
                                                std::vector<Archetype> archetypes);

}  // namespace reckoner::harness
