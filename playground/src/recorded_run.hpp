// SPDX-License-Identifier: MIT
#pragma once

#include "harness/replay/compare.hpp"
#include "harness/sim/packet_log.hpp"
#include "harness/sim/tick_contents.hpp"
#include "playground/src/settings.hpp"

#include <cstddef>
#include <string>
#include <vector>

#include <glm/vec3.hpp>

#include <reckoner/reckoning/result.hpp>

namespace reckoner::playground {

/// Number of floats per pose in the tracks: position x, y, z (m, relative to RecordedRun::origin) and
/// quaternion w, x, y, z. All are NaN while the entity is not shown.
inline constexpr std::size_t kPoseFloats = 7;

/// The pictures of one method: for each picture and then for each entity, kPoseFloats floats.
struct MethodTrack {
  std::string method;
  std::vector<float> poses;
  std::vector<harness::PacketRecord> packets;
  std::vector<harness::TickContents> contents;
};

/// What the page draws and lists for one run.
struct RecordedRun {
  std::string source;   ///< name of the source in the figures
  std::string network;  ///< name of the network in the figures
  double start_s = 0.0;
  double frame_rate_hz = 60.0;
  std::size_t entities = 0;
  std::size_t frames = 0;
  glm::dvec3 origin{0.0};  ///< world position of (0, 0, 0) in the tracks
  std::vector<std::string> names;
  std::vector<float> truth;         ///< the true poses at the pictures, laid out like MethodTrack::poses
  std::vector<MethodTrack> tracks;  ///< in the order of Settings::methods; empty if only figures were wanted
  std::vector<harness::CompareRun> runs;  ///< in the order of Settings::methods
  bool buffered = false;
  std::string mode;
};

/// Which results of a run are wanted.
enum class Wanted { figures, figures_and_frames };

/// Runs the settings with every method, as `reckoner-harness compare` does. `recording` is the text of the
/// recording that the settings name. Fails like the command.
[[nodiscard]] Result<RecordedRun> run_settings(const Settings& settings, const std::string& recording,
                                               Wanted wanted);

/// The figures as the JSON text that `reckoner-harness compare --json` writes for these settings.
[[nodiscard]] std::string figures_text(const RecordedRun& run);

}  // namespace reckoner::playground
