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

/// One row of a pose CSV: the shown or the true pose of one entity at one time.
struct PoseRow {
  double frame_time_s = 0.0;
  std::string id{};
  Pose pose{};
  std::optional<double> shown_time_s{};  ///< --rendered files
  std::optional<double> monotonic_s{};   ///< files of real processes
  std::string frame{};                   ///< id of the entity whose frame it is in; empty: the world's frame
};

/// The optional columns that follow frame_time_s,id,x,y,z,qw,qx,qy,qz, in this order.
struct PoseColumns {
  bool shown_time = false;
  bool monotonic = false;
  bool frame = false;
};

/// Writes pose CSV files (--rendered and --truth). Numbers have six decimals. Equal rows give equal bytes on
/// every machine. Output is buffered; close() reports whether everything was written. Not thread-safe.
class PoseCsvWriter {
 public:
  /// Creates or truncates the file and writes the header.
  [[nodiscard]] static Result<PoseCsvWriter> open(const std::string& path, PoseColumns columns);
  PoseCsvWriter(PoseCsvWriter&& other) noexcept;
  PoseCsvWriter& operator=(PoseCsvWriter&& other) noexcept;
  ~PoseCsvWriter();  ///< calls close()

  /// Every number must be finite. A column without a value in the row stays empty.
  void write(const PoseRow& row);

  /// Closes the file; write() must not be called afterwards. Returns false if any output was not written. The
  /// file is then removed, because a partial file could be mistaken for a complete one. A second call returns
  /// the result of the first.
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

/// Reads a whole pose CSV file; the header determines the columns. A file with a header and no rows is valid.
/// For a malformed file, the error names the file, the line and what was expected.
[[nodiscard]] Result<std::vector<PoseRow>> read_pose_csv(const std::string& path);

/// Reads a pose CSV from text in memory. Errors show `name` as the path.
[[nodiscard]] Result<std::vector<PoseRow>> parse_pose_csv(std::string_view text, std::string_view name);

}  // namespace reckoner::scenario
