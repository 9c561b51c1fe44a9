// SPDX-License-Identifier: MIT
#pragma once

#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <reckoner/reckoning/result.hpp>
#include <reckoner/reckoning/state.hpp>

namespace reckoner::scenario {

/// One row of a pose CSV: what was shown, or what was true, of one entity at one instant.
struct PoseRow {
  double frame_time_s = 0.0;
  std::string id{};
  Pose pose{};
  std::optional<double> shown_time_s{};  ///< --rendered files
  std::optional<double> monotonic_s{};   ///< files of real processes
  std::string frame{};                   ///< id of the entity in whose frame it lives; empty: in the world's
};

/// Which columns follow frame_time_s,id,x,y,z,qw,qx,qy,qz, in this order.
struct PoseColumns {
  bool shown_time = false;
  bool monotonic = false;
  bool frame = false;
};

/// Writes pose CSVs (EVALUATION.md, --rendered and --truth): numbers with six decimals, the same bytes for
/// the same rows everywhere. Buffered; close() says whether all of it reached the file. One thread at a time.
class PoseCsvWriter {
 public:
  /// Makes or empties the file and writes the header.
  [[nodiscard]] static Result<PoseCsvWriter> open(const std::string& path, PoseColumns columns);
  PoseCsvWriter(PoseCsvWriter&& other) noexcept;
  PoseCsvWriter& operator=(PoseCsvWriter&& other) noexcept;
  ~PoseCsvWriter();  ///< closes

  /// Every number must be finite. A chosen column that the row does not have stays empty.
  void write(const PoseRow& row);

  /// False if anything written so far did not reach the file, which is removed then, lest half of it be taken
  /// for all; nothing may be written afterwards. Closing
  /// twice gives the same answer.
  [[nodiscard]] bool close();

 private:
  PoseCsvWriter(std::FILE* file, std::string path, PoseColumns columns)
      : file_(file), path_(std::move(path)), columns_(columns) {}
  void number(double value);
  void flush();

  std::FILE* file_ = nullptr;
  std::string path_;
  PoseColumns columns_;
  std::string buffer_;
  bool failed_ = false;
};

/// Reads a pose CSV whole; the columns are taken from its header. A file with a header and no rows is valid.
/// The error of a malformed file names file, line and what was expected.
[[nodiscard]] Result<std::vector<PoseRow>> read_pose_csv(const std::string& path);

/// The same from text in memory; `name` stands for the path in errors.
[[nodiscard]] Result<std::vector<PoseRow>> parse_pose_csv(std::string_view text, std::string_view name);

}  // namespace reckoner::scenario
