// SPDX-License-Identifier: MIT
#include "harness/metrics/measure.hpp"

#include "harness/metrics/frame_metrics.hpp"
#include "harness/metrics/measured_pictures.hpp"
#include "harness/metrics/metrics.hpp"
#include "harness/metrics/pose_table.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace reckoner::harness {
namespace {

// If two pictures are more than this many picture intervals apart, pictures that showed nothing lie between
// them.
constexpr double kSkippedFrames = 2.5;

// Server time minus monotonic time. It is the median over all rows, so that single outliers do not matter.
double clock_offset_s(std::span<const scenario::PoseRow> truth) {
  std::vector<double> offsets;
  offsets.reserve(truth.size());
  for (const scenario::PoseRow& row : truth)
    offsets.push_back(row.frame_time_s - *row.monotonic_s);
  return upper_median(std::move(offsets));
}

}  // namespace

Result<Figures> measure(std::span<const scenario::PoseRow> truth, std::span<const scenario::PoseRow> rendered,
                        const MeasureOptions& options) {
  const auto table = PoseTable::make(truth, options.teleport_mps);
  if (!table) return Error{table.error()};
  const double offset_s = clock_offset_s(truth);

  Metrics* metrics = nullptr;
  std::optional<Metrics> made;
  std::optional<FrameMetrics> frames;
  std::vector<ShownPose> shown;
  double run_start_s = 0.0;
  double last_picture_s = 0.0;
  std::size_t known = 0;
  for (std::size_t i = 0; i < rendered.size();) {
    if (!rendered[i].monotonic_s)
      return Error{"the rendered file has no column monotonic_s: a real client did not write it"};
    const double frame_s = *rendered[i].monotonic_s;
    const double server_s = rendered[i].frame_time_s;
    double delay_s = 0.0;
    shown.clear();
    for (; i < rendered.size() && rendered[i].monotonic_s == frame_s; ++i) {
      const scenario::PoseRow& row = rendered[i];
      const auto entity = table->find(row.id);
      if (!entity) continue;
      ++known;
      const double meant_s = row.shown_time_s.value_or(row.frame_time_s);
      const bool present = meant_s == row.frame_time_s;
      shown.push_back({*entity, row.pose, present ? frame_s : meant_s - offset_s});
      delay_s = std::max(delay_s, row.frame_time_s - meant_s);
    }
    if (frame_s < table->start_s()) continue;
    if (frame_s > table->end_s()) break;
    if (!metrics) {
      MetricsConfig config;
      config.run_start_s = run_start_s = frame_s;
      config.frame_rate_hz = options.frame_rate_hz;
      config.one_way_s = options.one_way_s;
      made.emplace(*table, config);
      metrics = &*made;
      if (table->has_frames()) frames.emplace(*table, frame_s);
    } else if (frame_s < last_picture_s) {
      return Error{"the rendered file goes back in time"};
    } else {
      while (frame_s - last_picture_s > kSkippedFrames / options.frame_rate_hz) {
        last_picture_s += 1.0 / options.frame_rate_hz;
        metrics->frame(last_picture_s, {}, delay_s);
      }
    }
    metrics->frame(frame_s, shown, delay_s);
    if (frames) frames->frame(frame_s, shown);
    if (frame_s - run_start_s >= kSkipRunS) metrics->clock_error(server_s - (frame_s + offset_s));
    last_picture_s = frame_s;
  }
  if (!metrics || known == 0) return Error{"no entity of the truth was shown during its time span"};
  Figures figures = metrics->figures();
  if (frames) figures.in_frames = frames->figures();
  return figures;
}

Result<Figures> measure_files(const std::string& truth, const std::string& rendered,
                              const MeasureOptions& options) {
  const auto truth_rows = scenario::read_pose_csv(truth);
  if (!truth_rows) return Error{truth_rows.error()};
  const auto rendered_rows = scenario::read_pose_csv(rendered);
  if (!rendered_rows) return Error{rendered_rows.error()};
  return measure(*truth_rows, *rendered_rows, options);
}

}  // namespace reckoner::harness
