// SPDX-License-Identifier: MIT
#pragma once

#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include <reckoner/reckoning/result.hpp>
#include <reckoner/reckoning/state.hpp>

namespace reckoner::scenario {

/// One row of a pose CSV: what was shown, or what was true, of one entity at one instant.
struct PoseRow {
  double frame_time_s = 0.0;
  std::string id;
  Pose pose;
  std::optional<double> shown_time_s;  ///< --rendered files
  std::optional<double> monotonic_s;   ///< files of real processes
};

/// Which columns follow frame_time_s,id,x,y,z,qw,qx,qy,qz.
struct PoseColumns {
  bool shown_time = false;
  bool monotonic = false;
};

/// Writes pose CSVs (EVALUATION.md, --rendered and --truth). Buffered; close() says whether all of it reached
/// the file.
class PoseCsvWriter {
 public:
  [[nodiscard]] static Result<PoseCsvWriter> open(const std::string& path, PoseColumns columns);
  PoseCsvWriter(PoseCsvWriter&& other) noexcept;
  PoseCsvWriter& operator=(PoseCsvWriter&& other) noexcept;
  ~PoseCsvWriter();

  void write(const PoseRow& row);
  [[nodiscard]] bool close();

 private:
  PoseCsvWriter(std::FILE* file, PoseColumns columns) : file_(file), columns_(columns) {}
  std::FILE* file_ = nullptr;
  PoseColumns columns_;
};

/// Reads a pose CSV whole; the columns are taken from its header.
[[nodiscard]] Result<std::vector<PoseRow>> read_pose_csv(const std::string& path);

}  // namespace reckoner::scenario
