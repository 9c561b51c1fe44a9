// SPDX-License-Identifier: MIT
#include "scenario/trace/pose_csv.hpp"

#include "scenario/trace/csv.hpp"
#include "scenario/trace/memory.hpp"

#include <cassert>
#include <charconv>
#include <cmath>
#include <system_error>
#include <utility>

namespace reckoner::scenario {
namespace {

constexpr std::string_view kColumns = "frame_time_s,id,x,y,z,qw,qx,qy,qz";
constexpr std::string_view kShownTime = ",shown_time_s";
constexpr std::string_view kMonotonic = ",monotonic_s";
constexpr std::string_view kFrame = ",frame";
constexpr std::size_t kFixedColumns = 9;
constexpr std::size_t kFlushBytes = 1 << 16;
constexpr int kDecimals = 6;  // a resolution of microseconds and micrometres

std::string header(PoseColumns columns) {
  std::string text(kColumns);
  if (columns.shown_time) text += kShownTime;
  if (columns.monotonic) text += kMonotonic;
  if (columns.frame) text += kFrame;
  return text;
}

std::optional<PoseColumns> columns_of(std::string_view text) {
  for (const bool shown_time : {false, true}) {
    for (const bool monotonic : {false, true}) {
      for (const bool frame : {false, true}) {
        const PoseColumns columns{.shown_time = shown_time, .monotonic = monotonic, .frame = frame};
        if (text == header(columns)) return columns;
      }
    }
  }
  return std::nullopt;
}

// All columns except the id and the frame are numbers.
std::optional<Error> read_row(const std::vector<std::string_view>& fields, PoseColumns columns,
                              std::string_view name, std::size_t line, PoseRow& row) {
  const std::size_t count = kFixedColumns + (columns.shown_time ? 1 : 0) + (columns.monotonic ? 1 : 0);
  const std::size_t all = count + (columns.frame ? 1 : 0);
  if (fields.size() != all) {
    return expected(name, line, std::to_string(all) + " fields", std::to_string(fields.size()));
  }
  if (columns.frame) row.frame = fields.back();
  double numbers[kFixedColumns + 2]{};
  for (std::size_t i = 0; i < count; ++i) {
    if (i == 1) continue;
    const std::optional<double> number = parse_number(fields[i]);
    if (number) {
      numbers[i] = *number;
    } else if (i < kFixedColumns || !fields[i].empty()) {
      return expected(name, line, "a finite number", shown(fields[i]));
    }
  }
  const glm::dquat q(numbers[5], numbers[6], numbers[7], numbers[8]);
  const double norm = glm::length(q);
  if (!(std::abs(norm - 1.0) <= kUnitTolerance)) {
    return expected(name, line, "a unit quaternion", "a quaternion of length " + std::to_string(norm));
  }
  row.frame_time_s = numbers[0];
  row.id = fields[1];
  row.pose.position = {numbers[2], numbers[3], numbers[4]};
  row.pose.orientation = glm::quat(glm::normalize(q));
  std::size_t next = kFixedColumns;
  if (columns.shown_time && !fields[next].empty()) row.shown_time_s = numbers[next];
  if (columns.shown_time) ++next;
  if (columns.monotonic && !fields[next].empty()) row.monotonic_s = numbers[next];
  return std::nullopt;
}

}  // namespace

Result<PoseCsvWriter> PoseCsvWriter::open(const std::string& path, PoseColumns columns) {
  auto file = OutputFile::create(path);
  if (!file) return Error{path + ": cannot be written: " + file.error()};
  PoseCsvWriter writer(std::move(*file), columns);
  writer.buffer_ = header(columns) + '\n';
  return writer;
}

PoseCsvWriter& PoseCsvWriter::operator=(PoseCsvWriter&& other) noexcept {
  if (this != &other) {
    if (has_rows_) static_cast<void>(close());
    file_ = std::move(other.file_);
    columns_ = other.columns_;
    buffer_ = std::exchange(other.buffer_, {});
    has_rows_ = std::exchange(other.has_rows_, false);
  }
  return *this;
}

PoseCsvWriter::~PoseCsvWriter() {
  if (has_rows_) static_cast<void>(close());
}

void PoseCsvWriter::write(const PoseRow& row) {
  has_rows_ = true;
  number(row.frame_time_s);
  buffer_ += ',';
  buffer_ += csv_field(row.id);
  const glm::dvec3& p = row.pose.position;
  const glm::quat& q = row.pose.orientation;
  for (const double value : {p.x, p.y, p.z, double{q.w}, double{q.x}, double{q.y}, double{q.z}}) {
    buffer_ += ',';
    number(value);
  }
  if (columns_.shown_time) {
    buffer_ += ',';
    if (row.shown_time_s) number(*row.shown_time_s);
  }
  if (columns_.monotonic) {
    buffer_ += ',';
    if (row.monotonic_s) number(*row.monotonic_s);
  }
  if (columns_.frame) {
    buffer_ += ',';
    if (!row.frame.empty()) buffer_ += csv_field(row.frame);
  }
  buffer_ += '\n';
  if (buffer_.size() >= kFlushBytes) flush();
}

void PoseCsvWriter::number(double value) {
  assert(std::isfinite(value));
  char text[400];  // the largest double has 309 digits before the point
  const auto [end, error] =
      std::to_chars(text, text + sizeof text, value, std::chars_format::fixed, kDecimals);
  assert(error == std::errc{});
  const std::string_view digits(text, static_cast<std::size_t>(end - text));
  // Write "0.000000" instead of "-0.000000".
  const bool zero = digits.find_first_not_of("-0.") == std::string_view::npos;
  buffer_ += zero && digits.front() == '-' ? digits.substr(1) : digits;
}

void PoseCsvWriter::flush() {
  file_.write(buffer_);
  buffer_.clear();
}

bool PoseCsvWriter::close() {
  flush();
  return file_.close();
}

Result<std::vector<PoseRow>> parse_pose_csv(std::string_view text, std::string_view name) {
  CsvCursor cursor(text);
  std::vector<std::string_view> fields;
  std::optional<PoseColumns> columns;
  std::vector<PoseRow> rows;
  for (;;) {
    const CsvCursor::Step step = cursor.next(fields);
    if (step == CsvCursor::Step::end) break;
    if (step == CsvCursor::Step::bad_quoting) {
      return expected(name, cursor.line(), "a field with matching quotes", "unmatched quotes");
    }
    if (columns) {
      PoseRow& row = rows.emplace_back();
      if (std::optional<Error> error = read_row(fields, *columns, name, cursor.line(), row))
        return *std::move(error);
      continue;
    }
    std::string joined;
    for (const std::string_view field : fields)
      (joined += joined.empty() ? "" : ",") += field;
    columns = columns_of(joined);
    if (!columns) {
      return expected(name, cursor.line(),
                      "a header " + header({true, true, true}) + " (the last three are optional)",
                      shown(joined));
    }
  }
  if (!columns) return expected(name, cursor.line(), "a header", "the end of the file");
  return rows;
}

Result<std::vector<PoseRow>> read_pose_csv(const std::string& path) {
  const Result<std::string> text = read_text_file(path);
  if (!text) return Error{text.error()};
  return naming_the_file(path, [&] { return parse_pose_csv(*text, path); });
}

}  // namespace reckoner::scenario
