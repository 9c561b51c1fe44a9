// SPDX-License-Identifier: MIT
#pragma once

#include "scenario/trace/output_file.hpp"

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
  std::optional<double> shown_time_s{};  ///< only in --rendered files: the instant that the pose shows
  std::optional<double> monotonic_s{};   ///< only in files of real processes: the machine's monotonic clock
  /// Id of the entity in whose frame this entity is; empty: the world's frame.
  std::string frame{};
};

/// Which optional columns a file has. They follow the columns frame_time_s,id,x,y,z,qw,qx,qy,qz in the order
/// of the members.
struct PoseColumns {
  bool shown_time = false;
  bool monotonic = false;
  bool frame = false;
};

/// Writes pose CSV files (--rendered and --truth). Numbers have six decimals. Equal rows give equal bytes on
/// every machine. Output is buffered; close() reports whether everything was written. Not thread-safe.
class PoseCsvWriter {
 public:
  /// Creates the file and writes the header.
  [[nodiscard]] static Result<PoseCsvWriter> open(const std::string& path, PoseColumns columns);
  PoseCsvWriter(PoseCsvWriter&& other) noexcept = default;
  PoseCsvWriter& operator=(PoseCsvWriter&& other) noexcept;
  ~PoseCsvWriter();  ///< calls close() if there was a row; otherwise discards the file

  /// Writes a row. Every number in `row` must be finite. A column stays empty if the row has no value for it.
  void write(const PoseRow& row);

  /// Completes the file; write() must not be called afterwards. Returns false if any output was not written.
  /// Then no partial file remains, because it could be mistaken for a complete one, and an earlier file with
  /// this name is unchanged. A second call returns the result of the first.
  [[nodiscard]] bool close();

 private:
  PoseCsvWriter(OutputFile file, PoseColumns columns) : file_(std::move(file)), columns_(columns) {}
  void number(double value);
  void flush();

  OutputFile file_;
  PoseColumns columns_;
  std::string buffer_;
  bool has_rows_ = false;
};

/// Reads a whole pose CSV file; the header determines the columns. A file with a header and no rows is valid.
/// For a malformed file, the error names the file, the line and what was expected.
[[nodiscard]] Result<std::vector<PoseRow>> read_pose_csv(const std::string& path);

/// Reads a pose CSV from text in memory. Errors show `name` as the path.
[[nodiscard]] Result<std::vector<PoseRow>> parse_pose_csv(std::string_view text, std::string_view name);

}  // namespace reckoner::scenario
