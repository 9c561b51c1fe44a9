// SPDX-License-Identifier: MIT
#include "playground/src/recorded_run.hpp"

#include "harness/report/compare_output.hpp"
#include "scenario/source.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace reckoner::playground {
namespace {

constexpr float kHidden = std::numeric_limits<float>::quiet_NaN();
constexpr double kRoundingS = 1e-9;

// The memory of a browser's tab is limited, so the pictures of a long run with many entities are cut. The
// figures always cover the whole run.
constexpr std::size_t kMaxTrackBytes = 24u << 20;

void put(std::vector<float>& poses, std::size_t index, const Pose& pose, const glm::dvec3& origin) {
  float* const to = &poses[index * kPoseFloats];
  for (int i = 0; i < 3; ++i)
    to[i] = static_cast<float>(pose.position[i] - origin[i]);
  to[3] = pose.orientation.w;
  to[4] = pose.orientation.x;
  to[5] = pose.orientation.y;
  to[6] = pose.orientation.z;
}

class Recorder {
 public:
  Recorder(const scenario::Source& source, const Settings& settings, RecordedRun& run)
      : source_(source), settings_(settings), run_(run) {
    run_.entities = source.size();
    run_.frame_rate_hz = settings.run.options.frame_rate_hz;
    most_pictures_ = std::max<std::size_t>(1, kMaxTrackBytes / (kPoseFloats * sizeof(float) * source.size()));
    for (std::size_t i = 0; i < source.size(); ++i)
      run_.names.push_back(source.entity(i).name);
  }

  harness::PictureSink begin(const std::string& method) {
    MethodTrack& track = run_.tracks[track_of(method)];
    frame_ = 0;
    return [this, &track](double time_s, std::span<const harness::ShownPose> shown) {
      if (frame_ >= most_pictures_) return;
      if (frame_ == run_.frames) add_truth(time_s);
      const std::size_t row = frame_++ * run_.entities;
      track.poses.resize((row + run_.entities) * kPoseFloats, kHidden);
      for (const harness::ShownPose& pose : shown)
        put(track.poses, row + pose.entity, pose.pose, run_.origin);
    };
  }

  void end(const std::string& method, const harness::ReplayResult& result) {
    run_.tracks[track_of(method)].packets = result.packets;
    run_.tracks[track_of(method)].contents = result.contents;
  }

 private:
  [[nodiscard]] std::size_t track_of(const std::string& method) const {
    const auto& methods = settings_.methods;
    return static_cast<std::size_t>(std::find(methods.begin(), methods.end(), method) - methods.begin());
  }

  void add_truth(double time_s) {
    if (run_.frames == 0) {
      run_.start_s = time_s;
      run_.origin = source_.pose(0, time_s).position;
    }
    const std::size_t row = run_.frames++ * run_.entities;
    run_.truth.resize((row + run_.entities) * kPoseFloats, kHidden);
    for (std::size_t i = 0; i < run_.entities; ++i) {
      const scenario::SourceEntity& entity = source_.entity(i);
      if (time_s < entity.first_s - kRoundingS || time_s > entity.last_s + kRoundingS) continue;
      put(run_.truth, row + i, source_.pose(i, time_s), run_.origin);
    }
  }

  const scenario::Source& source_;
  const Settings& settings_;
  RecordedRun& run_;
  std::size_t most_pictures_ = 0;
  std::size_t frame_ = 0;
};

}  // namespace

Result<RecordedRun> run_settings(const Settings& settings, const std::string& recording, Wanted wanted) {
  auto options = harness::replay_options(settings.run, settings.source, settings.link);
  if (!options) return Error{options.error()};
  const auto source = open_source(settings, recording);
  if (!source) return Error{source.error()};
  RecordedRun run;
  run.source = harness::name_of(settings.source);
  run.network = settings.link.name();
  run.buffered = is_buffered(options->playout.mode);
  run.mode = settings.run.mode;
  Recorder recorder(**source, settings, run);
  const bool frames = wanted == Wanted::figures_and_frames;
  options->log_packets = frames;
  if (frames) {
    for (const std::string& method : settings.methods)
      run.tracks.push_back({.method = method, .poses = {}, .packets = {}, .contents = {}});
  }
  harness::MethodObserver observer;
  if (frames) observer.begin = [&](const std::string& method) { return recorder.begin(method); };
  observer.end = [&](const std::string& method, const harness::ReplayResult& result) {
    run.runs.push_back({run.source, run.network, method, {options->seed}, result.run});
    if (frames) recorder.end(method, result);
  };
  if (const auto wrong = harness::replay_methods(**source, *options, settings.methods, observer))
    return *wrong;
  const auto order_of = [&](const harness::CompareRun& one) {
    return std::find(settings.methods.begin(), settings.methods.end(), one.method);
  };
  std::stable_sort(run.runs.begin(), run.runs.end(),
                   [&](const auto& a, const auto& b) { return order_of(a) < order_of(b); });
  return run;
}

std::string figures_text(const RecordedRun& run) {
  const harness::Compared compared{run.runs, run.runs};  // one seed
  return harness::compare_json(compared, run.buffered, run.mode).dump(2) + "\n";
}

}  // namespace reckoner::playground
