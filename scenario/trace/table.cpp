// SPDX-License-Identifier: MIT
#include "scenario/trace/table.hpp"

#include "scenario/trace/csv.hpp"
#include "scenario/trace/encoding.hpp"
#include "scenario/trace/fields.hpp"
#include "scenario/trace/headings.hpp"
#include "scenario/trace/projection.hpp"
#include "scenario/trace/time_text.hpp"
#include "scenario/trace/units.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>

#include <glm/geometric.hpp>

namespace reckoner::scenario {
namespace {

constexpr std::size_t kPreambleRows = 64;  // the headings are in these
constexpr std::size_t kMaxColumns = 4096;
constexpr std::size_t kUnitRows = 3;  // rows of units and types between the headings and the samples
constexpr std::size_t kShownHeadings = 12;
constexpr std::size_t kMeasuredSteps = 200'000;  // from which units are guessed
constexpr double kFastMps = 200.0;               // nine of ten steps of real motion are slower
constexpr double kLargest = 1e12;
constexpr double kEpochS = 1e7;  // times above this count from another event than the recording's start
constexpr double kRightAngle = 1.5707963267948966;

std::string six_digits(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", value);
  return text;
}

std::string counted(std::size_t count, const char* what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

// Keeps the first of samples with the same time, and returns the number of the others.
std::size_t drop_repeated(std::vector<TrackSample>& samples) {
  const auto same = [](const TrackSample& a, const TrackSample& b) { return a.time_s == b.time_s; };
  const auto rest = std::unique(samples.begin(), samples.end(), same);
  const auto count = static_cast<std::size_t>(samples.end() - rest);
  samples.erase(rest, samples.end());
  return count;
}

struct PreambleRow {
  std::size_t line = 0;
  bool comment = false;
  std::vector<std::string> cells;
};

// Which column a user has named for a role.
struct GivenColumn {
  ColumnRole role = ColumnRole::none;
  std::string value;
};

constexpr std::pair<std::string_view, ColumnRole> kKeys[] = {
    {"t", ColumnRole::time},       {"id", ColumnRole::id},        {"x", ColumnRole::x},
    {"y", ColumnRole::y},          {"z", ColumnRole::z},          {"qw", ColumnRole::qw},
    {"qx", ColumnRole::qx},        {"qy", ColumnRole::qy},        {"qz", ColumnRole::qz},
    {"yaw", ColumnRole::yaw},      {"pitch", ColumnRole::pitch},  {"roll", ColumnRole::roll},
    {"lat", ColumnRole::latitude}, {"lon", ColumnRole::longitude}};

Result<std::vector<GivenColumn>> parse_columns(std::string_view text) {
  std::vector<GivenColumn> given;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(','), text.size());
    const std::string_view item = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const std::size_t equals = item.find('=');
    const std::string key = lower_case(trimmed(item.substr(0, equals)));
    const auto* const found =
        std::ranges::find(kKeys, std::string_view(key), &std::pair<std::string_view, ColumnRole>::first);
    if (equals == std::string_view::npos || found == std::end(kKeys) ||
        trimmed(item.substr(equals + 1)).empty()) {
      return Error{
          "columns: expected t, id, x, y, z, qw, qx, qy, qz, yaw, pitch, roll, lat or lon with the number or "
          "the heading of its column, such as t=2,x=3; found " +
          shown(item)};
    }
    given.push_back({found->second, std::string(trimmed(item.substr(equals + 1)))});
  }
  return given;
}

class TableReader {
 public:
  TableReader(std::string_view text, std::string_view name, const TableOptions& options)
      : text_(text), name_(name), options_(options) {}

  Result<Recording> read();

 private:
  struct Entity {
    std::vector<TrackSample> samples;
    bool unsorted = false;
    std::size_t rows = 0;
  };

  Error error(const std::string& sentence) const { return {std::string(name_) + ": " + sentence}; }
  std::optional<Error> find_headings();
  std::optional<Error> apply_given_columns(const std::vector<GivenColumn>& given, std::size_t row);
  std::vector<Heading> headings_at(std::size_t row, bool with_row_above) const;
  std::vector<std::vector<std::string>> parents_of(std::size_t row) const;
  std::string unit_above(std::size_t row) const;
  Error no_layout() const;
  std::string shown_headings(const std::vector<std::string>& cells) const;
  std::string heading(std::optional<std::size_t> column) const;
  std::optional<Error> check_layout() const;

  std::optional<Error> read_rows();
  bool take_unit_row(const std::vector<std::string_view>& fields);
  std::optional<Error> read_row(const std::vector<std::string_view>& fields, std::size_t line, bool last);
  std::optional<Error> read_body(const BodyColumns& body, const std::vector<std::string_view>& fields,
                                 std::size_t line, std::string_view id, std::optional<double> time);
  bool has_row_names(std::size_t heading_row) const;
  bool is_cut(const std::vector<std::string_view>& last) const;
  std::optional<double> time_of(const std::vector<std::string_view>& fields);
  Entity& entity_of(std::string name);

  std::optional<Error> finish();
  std::optional<Error> scale_times();
  std::optional<Error> scale_lengths();
  void scale_angles();
  void order_samples();
  double usual_step() const;
  double usual_speed_mps() const;
  std::string reading() const;

  std::string_view text_;
  std::string_view name_;
  const TableOptions& options_;
  FieldStyle style_;
  std::vector<PreambleRow> preamble_;
  Layout layout_;
  std::vector<std::string> cells_;  // of the headings
  std::size_t first_line_ = 0;      // the samples are below this line
  std::size_t shift_ = 0;           // 1: the rows have a field in front that has no heading
  NamedUnits units_;
  Unit time_unit_, length_unit_, angle_unit_;
  bool guessed_time_ = false, guessed_length_ = false, guessed_angle_ = false;
  bool time_is_text_ = false;
  bool has_angles_ = false;
  bool has_quaternions_ = false;
  std::optional<TangentPlane> plane_;
  double degree_factor_ = 1.0;
  std::vector<Entity> entities_;
  std::vector<std::string> names_;
  std::unordered_map<std::string, std::size_t> index_;
  std::size_t missing_ = 0, repeated_ = 0, disordered_ = 0;
  bool cut_ = false;
  bool from_zero_ = false;
  std::size_t last_ = 0;     // index of the entity of the sample before
  bool alternates_ = false;  // the rows of several entities alternate
  Recording recording_;
};

Result<Recording> TableReader::read() {
  if (const auto format = find_other_format(text_)) return error(*format);
  auto units = parse_units(options_.units);
  if (!units) return Error{units.error()};
  units_ = *std::move(units);
  style_ = guess_style(text_);
  if (auto wrong = find_headings()) return *std::move(wrong);
  if (auto wrong = check_layout()) return *std::move(wrong);
  if (auto wrong = read_rows()) return *std::move(wrong);
  if (auto wrong = finish()) return *std::move(wrong);
  return std::move(recording_);
}

// The cells above a column, from the top: only rows that name bodies or kinds of columns. An empty cell
// belongs to the last one before it.
std::vector<std::vector<std::string>> TableReader::parents_of(std::size_t row) const {
  const std::size_t columns = preamble_[row].cells.size();
  std::vector<std::vector<std::string>> parents(columns);
  std::vector<std::size_t> rows;
  std::optional<std::size_t> names;  // the row that is labelled as names
  for (std::size_t above = row; above-- > 0;) {
    const std::vector<std::string>& cells = preamble_[above].cells;
    if (cells.size() < 3 || cells.size() * 2 < columns || cells.size() > columns + 2) break;
    const std::string labels = lower_case(cells[0]) + "," + lower_case(cells[1]);
    std::size_t numbers = 0;
    for (const std::string& cell : cells)
      numbers += read_number(cell, style_.decimal_comma) ? 1 : 0;
    if (labels.starts_with("format version") || numbers * 2 > cells.size()) break;
    rows.insert(rows.begin(), above);
    for (const std::string_view label : {"name,", ",name", "bodyparts,"}) {
      if (labels == label || labels.starts_with(label)) names = above;
    }
  }
  for (const std::size_t above : rows) {
    std::string last;
    const std::vector<std::string>& cells = preamble_[above].cells;
    std::size_t kinds = 0;
    for (const std::string& cell : cells)
      kinds += lower_case(cell) == "rotation" || lower_case(cell) == "position" ? 1 : 0;
    if (names && above != *names && kinds == 0) continue;
    for (std::size_t column = 0; column < columns; ++column) {
      if (column < cells.size() && !cells[column].empty()) last = cells[column];
      parents[column].push_back(last);
    }
  }
  return parents;
}

std::vector<Heading> TableReader::headings_at(std::size_t row, bool with_row_above) const {
  std::vector<Heading> headings;
  const std::vector<std::string>& cells = preamble_[row].cells;
  if (!with_row_above) {
    for (const std::string& cell : cells)
      headings.push_back(read_heading(cell));
    return headings;
  }
  const auto parents = parents_of(row);
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const bool own = !cells[i].empty();
    const std::string above = parents[i].empty() ? std::string{} : parents[i].back();
    headings.push_back(own ? read_heading(cells[i], parents[i]) : read_heading(above));
  }
  return headings;
}

// The unit of length that the lines above the headings name, as motion capture writes them.
std::string TableReader::unit_above(std::size_t row) const {
  for (std::size_t above = 0; above < row; ++above) {
    for (const std::string& cell : preamble_[above].cells) {
      std::string unit = bare_unit(cell);
      if (unit.size() > 1 && unit != "in" && unit != "uu" && length_unit(unit)) return unit;
    }
  }
  return {};
}

std::optional<Error> TableReader::find_headings() {
  const auto given = parse_columns(options_.columns);
  if (!given) return Error{given.error()};
  FieldCursor cursor(text_, style_);
  std::vector<std::string_view> fields;
  std::vector<std::size_t> sizes;  // fields of the rows that are no comments
  while (preamble_.size() < kPreambleRows && cursor.next(fields)) {
    if (fields.size() > kMaxColumns)
      return error("line " + std::to_string(cursor.line()) + " has more than " + std::to_string(kMaxColumns) +
                   " columns");
    PreambleRow row{cursor.line(), cursor.is_comment(), {fields.begin(), fields.end()}};
    if (row.comment && row.cells.size() == 1 && style_.separator != ' ') {
      // A comment may have its headings apart by blanks, whatever separates the fields.
      FieldCursor words(fields[0], {' ', false});
      std::vector<std::string_view> parts;
      if (words.next(parts)) row.cells.assign(parts.begin(), parts.end());
    }
    if (!row.comment && !row.cells.empty()) sizes.push_back(row.cells.size());
    preamble_.push_back(std::move(row));
  }
  if (sizes.empty()) return error("there are no rows of samples in this file");
  const std::size_t usual = sizes[sizes.size() * 3 / 4];
  std::optional<Error> unknown_column;  // of the first row that could be headings
  for (std::size_t row = 0; row < preamble_.size(); ++row) {
    const PreambleRow& candidate = preamble_[row];
    // A comment is a line of headings only if it has one for each column.
    if (candidate.cells.size() < 2 || (candidate.comment && candidate.cells.size() != usual)) continue;
    std::size_t numbers = 0;
    for (const std::string& cell : candidate.cells)
      numbers += read_number(cell, style_.decimal_comma) ? 1 : 0;
    if (numbers * 2 > candidate.cells.size()) {
      if (candidate.comment || candidate.cells.size() < usual) continue;
      break;  // the samples begin
    }
    for (const bool with_row_above : {false, true}) {
      Layout layout = layout_of(headings_at(row, with_row_above));
      // Repeated columns need the names above them.
      if (!with_row_above && layout.bodies.size() != 1 && row > 0) {
        const Layout named = layout_of(headings_at(row, true));
        if (named.is_complete()) layout = named;
      }
      layout_ = layout;
      cells_ = candidate.cells;
      first_line_ = candidate.line;
      if (!given->empty()) {
        if (auto wrong = apply_given_columns(*given, row)) {
          if (!unknown_column) unknown_column = std::move(wrong);
          continue;
        }
      }
      if (layout_.is_complete()) {
        const auto parents = parents_of(row);
        for (std::size_t i = 0; with_row_above && i < cells_.size(); ++i) {
          if (cells_[i].empty() && !parents[i].empty()) cells_[i] = parents[i].back();
        }
        if (layout_.position_unit.empty()) layout_.position_unit = unit_above(row);
        shift_ = has_row_names(row) ? 1 : 0;
        return std::nullopt;
      }
    }
  }
  layout_ = {};
  cells_.clear();
  first_line_ = 0;
  if (!given->empty()) {
    if (auto wrong = apply_given_columns(*given, preamble_.size()))
      return unknown_column ? unknown_column : wrong;
    if (layout_.is_complete()) return std::nullopt;
  }
  return no_layout();
}

std::optional<Error> TableReader::apply_given_columns(const std::vector<GivenColumn>& given,
                                                      std::size_t row) {
  BodyColumns body;
  bool has_body = false;
  const std::size_t columns =
      row < preamble_.size()
          ? preamble_[row].cells.size()
          : std::ranges::max(preamble_, {}, [](const PreambleRow& r) { return r.cells.size(); }).cells.size();
  for (const GivenColumn& one : given) {
    if (one.role == ColumnRole::time && lower_case(one.value) == "row") {
      layout_.time_is_row = true;
      layout_.time.reset();
      continue;
    }
    std::optional<std::size_t> column;
    const auto parsed = parse_number(one.value);
    if (parsed && *parsed >= 1.0 && *parsed <= static_cast<double>(kMaxColumns) &&
        *parsed == std::floor(*parsed)) {
      column = static_cast<std::size_t>(*parsed) - 1;
    } else if (row < preamble_.size()) {
      const auto& cells = preamble_[row].cells;
      const auto found = std::ranges::find_if(
          cells, [&](const std::string& cell) { return lower_case(cell) == lower_case(one.value); });
      if (found != cells.end()) column = static_cast<std::size_t>(found - cells.begin());
    }
    if (!column || *column >= columns)
      return error("columns: there is no column " + shown(one.value) + "; this file has " +
                   std::to_string(columns) + (cells_.empty() ? "" : ": " + shown_headings(cells_)));
    const auto position = static_cast<std::size_t>(one.role);
    switch (one.role) {
      case ColumnRole::time:
        layout_.time = column;
        layout_.time_is_frame = layout_.time_is_row = false;
        layout_.nanoseconds.reset();
        layout_.date.reset();
        layout_.time_unit =
            row < preamble_.size() ? read_heading(preamble_[row].cells[*column]).unit : std::string{};
        if (row < preamble_.size() && read_heading(preamble_[row].cells[*column]).role == ColumnRole::frame)
          layout_.time_is_frame = true;
        continue;
      case ColumnRole::id:
        layout_.id = column;
        continue;
      case ColumnRole::x:
      case ColumnRole::y:
      case ColumnRole::z:
        body.position[position - static_cast<std::size_t>(ColumnRole::x)] = column;
        break;
      case ColumnRole::qw:
      case ColumnRole::qx:
      case ColumnRole::qy:
      case ColumnRole::qz:
        body.orientation[position - static_cast<std::size_t>(ColumnRole::qw)] = column;
        break;
      case ColumnRole::yaw:
      case ColumnRole::pitch:
      case ColumnRole::roll:
        body.angles[position - static_cast<std::size_t>(ColumnRole::yaw)] = column;
        break;
      case ColumnRole::latitude:
        body.latitude = column;
        break;
      default:
        body.longitude = column;
    }
    has_body = true;
  }
  if (!has_body) return std::nullopt;
  if (body.is_complete()) {
    layout_.bodies = {body};
  } else if (layout_.bodies.size() == 1) {
    // Columns that are given in part, such as a heading, belong to the body that the headings describe.
    BodyColumns& known = layout_.bodies.front();
    for (std::size_t i = 0; i < 3; ++i) {
      if (body.position[i]) known.position[i] = body.position[i];
      if (body.angles[i]) known.angles[i] = body.angles[i];
    }
    if (body.has_quaternion()) known.orientation = body.orientation;
    if (body.latitude) known.latitude = body.latitude;
    if (body.longitude) known.longitude = body.longitude;
  }
  return std::nullopt;
}

std::string TableReader::shown_headings(const std::vector<std::string>& cells) const {
  std::string text;
  std::size_t count = 0;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (cells[i].empty()) continue;
    if (count++ == kShownHeadings) return text + ", ...";
    (text += text.empty() ? "" : ", ") += std::to_string(i + 1) + " " + shown(cells[i]);
  }
  return text;
}

Error TableReader::no_layout() const {
  // What is nearest to a table of samples?
  for (const bool with_row_above : {false, true}) {
    for (std::size_t row = 0; row < preamble_.size(); ++row) {
      if (preamble_[row].comment) continue;
      const Layout layout = layout_of(headings_at(row, with_row_above));
      const std::string where = std::string(name_) + ":" + std::to_string(preamble_[row].line) + ": ";
      if (!layout.bodies.empty() && !layout.has_time())
        return {
            where +
            "no heading names a time: say which column it is, for example --columns t=1, or --columns t=row "
            "--units t=30fps if the rows are evenly spaced in time; the headings are " +
            shown_headings(preamble_[row].cells)};
      if (layout.bodies.empty() && layout.has_time() && preamble_[row].cells.size() > 1)
        return {where +
                "no headings name a position: say which columns it is in, for example --columns x=2,y=3; the "
                "headings are " +
                shown_headings(preamble_[row].cells)};
    }
  }
  for (const PreambleRow& row : preamble_) {
    if (row.comment || row.cells.size() < 2) continue;
    const std::string where = std::string(name_) + ":" + std::to_string(row.line) + ": ";
    const bool first_is_number = read_number(row.cells[0], style_.decimal_comma).has_value();
    if (first_is_number)
      return {where + "there are no headings: say what the " + std::to_string(row.cells.size()) +
              " columns are, for example --columns t=1,x=2,y=3, and --units t=25fps if t numbers frames; the "
              "first row is " +
              shown_headings(row.cells)};
  }
  for (const PreambleRow& row : preamble_) {
    if (!row.comment && row.cells.size() > 1)
      return {std::string(name_) + ":" + std::to_string(row.line) +
              ": the headings name neither a time nor a position: say which columns they are, for example "
              "--columns t=1,x=2,y=3; the headings are " +
              shown_headings(row.cells)};
  }
  return error(
      "this is no table of samples: expected a row for each sample, with a time and a position in columns "
      "apart by commas, semicolons, tabs, bars or blanks");
}

std::string TableReader::heading(std::optional<std::size_t> column) const {
  if (!column) return {};
  if (*column < cells_.size() && !cells_[*column].empty()) return shown(cells_[*column]);
  return "column " + std::to_string(*column + 1);
}

std::optional<Error> TableReader::check_layout() const {
  const BodyColumns& body = layout_.bodies.front();
  const bool has_position = body.position[0] && (body.position[1] || body.position[2]);
  if (!has_position && body.latitude && !options_.project)
    return error("the columns " + heading(body.latitude) + " and " + heading(body.longitude) +
                 " are angles, not metres: add --project to play them as metres east and north of the first "
                 "sample");
  if (!has_position && !body.latitude)
    return error("there is no column x: say which it is, for example --columns x=2");
  if ((layout_.time_is_frame || layout_.time_is_row) && !units_.time)
    return error((layout_.time_is_row ? std::string("the rows count the time")
                                      : "the times in " + heading(layout_.time) + " are numbers of frames") +
                 ": say how many there are in a second, for example --units t=25fps");
  if (!units_.length && (layout_.position_unit == "px" || layout_.position_unit.starts_with("pixel")))
    return error("the positions are in pixels: say how many metres a pixel is, for example --units x=0.01");
  return std::nullopt;
}

// Takes a row of units or types that stands below the headings. Returns false if it is a row of samples.
bool TableReader::take_unit_row(const std::vector<std::string_view>& fields) {
  const auto unit_at = [&](std::optional<std::size_t> column, bool (*is_one)(const std::string&)) {
    const std::string unit = column && *column < fields.size() ? bare_unit(fields[*column]) : std::string{};
    return is_one(unit) ? unit : std::string{};
  };
  const BodyColumns& body = layout_.bodies.front();
  const auto is_number = [&](std::optional<std::size_t> column) {
    return !column || (*column < fields.size() && read_number(fields[*column], style_.decimal_comma));
  };
  if (cells_.empty()) {
    // Without headings, the samples begin where all columns that the user has named are numbers.
    const bool position = std::ranges::all_of(body.position, is_number) && is_number(body.latitude) &&
                          is_number(body.longitude);
    return !position || !(layout_.time_is_row || time_of(fields));
  }
  for (const auto& column : body.position) {
    if (column && *column < fields.size() &&
        (read_number(fields[*column], style_.decimal_comma) || is_missing(fields[*column])))
      return false;
  }
  if (!body.position[0] && body.latitude && *body.latitude < fields.size() &&
      (read_number(fields[*body.latitude], style_.decimal_comma) || is_missing(fields[*body.latitude])))
    return false;
  if (layout_.position_unit.empty())
    layout_.position_unit =
        unit_at(body.position[0] ? body.position[0] : body.position[2],
                [](const std::string& unit) { return length_unit(unit).has_value() || unit == "px"; });
  if (layout_.time_unit.empty())
    layout_.time_unit =
        unit_at(layout_.time, [](const std::string& unit) { return time_unit(unit).has_value(); });
  if (layout_.angle_unit.empty())
    layout_.angle_unit =
        unit_at(body.angles[0], [](const std::string& unit) { return angle_unit(unit).has_value(); });
  return true;
}

std::optional<Error> TableReader::read_rows() {
  FieldCursor cursor(text_, style_);
  std::vector<std::string_view> fields;
  std::vector<std::string_view>
      held;  // a row is read when the next one is known, because the last may be cut
  std::size_t held_line = 0;
  std::size_t skipped = 0;
  bool begun = false;
  while (cursor.next(fields)) {
    if (cursor.line() <= first_line_ || cursor.is_comment()) continue;
    if (std::ranges::all_of(fields, [](std::string_view field) { return field.empty(); })) continue;
    if (!begun) {
      std::vector<std::string_view> shifted(fields.begin() + static_cast<std::ptrdiff_t>(shift_),
                                            fields.end());
      if (take_unit_row(shifted) && skipped < (cells_.empty() ? kPreambleRows : kUnitRows)) {
        ++skipped;
        continue;
      }
      if (auto wrong = check_layout()) return wrong;  // a row of units may have named pixels
      begun = true;
    }
    if (held_line > 0) {
      if (auto wrong = read_row(held, held_line, false)) return wrong;
    }
    held = fields;
    held_line = cursor.line();
  }
  if (held_line > 0) return read_row(held, held_line, true);
  return std::nullopt;
}

// R writes a name or a number for each row, which has no heading.
bool TableReader::has_row_names(std::size_t heading_row) const {
  std::vector<const std::vector<std::string>*> rows;
  for (std::size_t row = heading_row + 1; row < preamble_.size() && rows.size() < 2; ++row) {
    if (!preamble_[row].comment && preamble_[row].cells.size() == cells_.size() + 1)
      rows.push_back(&preamble_[row].cells);
  }
  if (rows.size() < 2) return false;
  const auto first = read_number(rows[0]->front(), style_.decimal_comma);
  const auto second = read_number(rows[1]->front(), style_.decimal_comma);
  if (!first && !second)
    return layout_.time && read_number((*rows[0])[*layout_.time + 1], style_.decimal_comma);
  return first && second && (*first == 0.0 || *first == 1.0) && *second == *first + 1.0;
}

// True if the program that wrote the file ended within its last row.
bool TableReader::is_cut(const std::vector<std::string_view>& last) const {
  const bool ends = text_.ends_with('\n') || text_.ends_with('\r');
  return !entities_.empty() && (!ends || last.size() < cells_.size());
}

std::optional<double> TableReader::time_of(const std::vector<std::string_view>& fields) {
  const auto part = [&](std::optional<std::size_t> column) -> std::optional<double> {
    if (!column || *column >= fields.size()) return std::nullopt;
    const std::string_view field = fields[*column];
    if (const auto value = read_number(field, style_.decimal_comma)) return value;
    const auto value = read_time_text(field);
    time_is_text_ = time_is_text_ || value.has_value();
    return value;
  };
  auto time = part(layout_.time);
  if (time && layout_.nanoseconds) {
    const auto rest = part(layout_.nanoseconds);
    return rest ? std::optional(*time + *rest * 1e-9) : std::nullopt;
  }
  if (time && layout_.date) {
    const auto day = part(layout_.date);
    return day ? std::optional(*time + *day) : std::nullopt;
  }
  return time;
}

std::optional<Error> TableReader::read_row(const std::vector<std::string_view>& all, std::size_t line,
                                           bool last) {
  const std::vector<std::string_view> fields(
      all.begin() + static_cast<std::ptrdiff_t>(std::min(shift_, all.size())), all.end());
  // Programs that append to a file write the headings again.
  if (fields.size() == cells_.size() && std::ranges::equal(fields, cells_)) return std::nullopt;
  const std::string_view id = layout_.id && *layout_.id < fields.size() ? fields[*layout_.id] : "";
  std::optional<double> time;
  if (!layout_.time_is_row) {
    time = time_of(fields);
    if (!time) {
      const std::string_view field = *layout_.time < fields.size() ? fields[*layout_.time] : "";
      if (last && is_cut(fields)) return cut_ = true, std::nullopt;
      if (is_missing(field)) return ++missing_, std::nullopt;
      return expected(name_, line, "a time in " + heading(layout_.time), shown(field));
    }
  }
  for (const BodyColumns& body : layout_.bodies) {
    auto wrong = read_body(body, fields, line, id, time);
    if (!wrong) continue;
    if (last && is_cut(fields)) return cut_ = true, std::nullopt;
    return wrong;
  }
  return std::nullopt;
}

std::optional<Error> TableReader::read_body(const BodyColumns& body,
                                            const std::vector<std::string_view>& fields, std::size_t line,
                                            std::string_view id, std::optional<double> time) {
  bool missing = false;
  std::optional<Error> wrong;
  const auto value_of = [&](std::optional<std::size_t> column) {
    if (!column) return 0.0;
    const bool exists = *column < fields.size();
    const std::string_view field = exists ? fields[*column] : "";
    if (const auto value = read_number(field, style_.decimal_comma)) return *value;
    if (exists && is_missing(field)) {
      missing = true;
    } else if (!wrong) {
      wrong = exists ? expected(name_, line, "a number in " + heading(column), shown(field))
                     : expected(name_, line, std::to_string(std::max(*column + 1, cells_.size())) + " fields",
                                std::to_string(fields.size()));
    }
    return 0.0;
  };
  TrackSample sample;
  const bool projected = !(body.position[0] && (body.position[1] || body.position[2])) && body.latitude;
  for (std::size_t i = projected ? 2 : 0; i < 3; ++i)
    sample.position[static_cast<glm::length_t>(i)] = value_of(body.position[i]);
  if (projected) {
    const double latitude = value_of(body.latitude);
    const double longitude = value_of(body.longitude);
    if (wrong) return wrong;
    if (missing) return ++missing_, std::nullopt;
    if (!plane_) {
      // Autopilots write whole numbers of 1e-7 degrees.
      degree_factor_ = std::abs(latitude) > 1e3 || std::abs(longitude) > 1e3 ? 1e-7 : 1.0;
      plane_.emplace(latitude * degree_factor_, longitude * degree_factor_);
    }
    if (!(std::abs(latitude * degree_factor_) <= 90.0) || !(std::abs(longitude * degree_factor_) <= 360.0))
      return expected(name_, line, "a latitude of -90 to 90 and a longitude of -180 to 180 degrees",
                      six_digits(latitude) + " and " + six_digits(longitude));
    sample.position.x = plane_->east_m(longitude * degree_factor_);
    sample.position.y = plane_->north_m(latitude * degree_factor_);
  }
  if (body.has_quaternion()) {
    sample.orientation = glm::dquat(value_of(body.orientation[0]), value_of(body.orientation[1]),
                                    value_of(body.orientation[2]), value_of(body.orientation[3]));
  } else if (body.angles[0]) {
    // Angles are converted when their unit is known.
    sample.orientation =
        glm::dquat(0.0, value_of(body.angles[2]), value_of(body.angles[1]), value_of(body.angles[0]));
  }
  if (wrong) return wrong;
  if (missing) return ++missing_, std::nullopt;
  if (body.has_quaternion()) {
    const double norm = std::sqrt(glm::dot(sample.orientation, sample.orientation));
    if (norm == 0.0) return ++missing_, std::nullopt;  // trackers write zeros when they see nothing
    if (std::abs(norm - 1.0) > kUnitTolerance)
      return expected(name_, line, "a unit quaternion", "a quaternion of length " + std::to_string(norm));
    has_quaternions_ = true;
  } else if (body.angles[0]) {
    has_angles_ = true;
  }
  std::string name(id);
  if (layout_.bodies.size() > 1 || (name.empty() && !body.name.empty()))
    (name += name.empty() ? "" : " ") += body.name;
  Entity& entity = entity_of(name.empty() ? "0" : std::move(name));
  const auto index = static_cast<std::size_t>(&entity - entities_.data());
  alternates_ = alternates_ || (index != last_ && !entity.samples.empty());
  last_ = index;
  sample.time_s = time ? *time : static_cast<double>(entity.rows);
  ++entity.rows;
  if (!entity.samples.empty() && sample.time_s < entity.samples.back().time_s) {
    if (!layout_.id)
      return expected(name_, line,
                      "a time that is not before the one above, " + six_digits(entity.samples.back().time_s) +
                          " (sort the rows by time, or give each take an id in a column of its own)",
                      six_digits(sample.time_s));
    entity.unsorted = true;
    ++disordered_;
  }
  entity.samples.push_back(sample);
  return std::nullopt;
}

TableReader::Entity& TableReader::entity_of(std::string name) {
  const auto [found, added] = index_.try_emplace(name, entities_.size());
  if (added) {
    entities_.emplace_back();
    names_.push_back(std::move(name));
  }
  return entities_[found->second];
}

void TableReader::order_samples() {
  for (Entity& entity : entities_) {
    std::vector<TrackSample>& samples = entity.samples;
    if (entity.unsorted) std::ranges::stable_sort(samples, {}, &TrackSample::time_s);
    repeated_ += drop_repeated(samples);
  }
}

double TableReader::usual_step() const {
  std::vector<double> steps;
  for (const Entity& entity : entities_) {
    for (std::size_t i = 1; i < entity.samples.size() && steps.size() < kMeasuredSteps; ++i)
      steps.push_back(entity.samples[i].time_s - entity.samples[i - 1].time_s);
  }
  if (steps.empty()) return 0.0;
  const auto middle = steps.begin() + static_cast<std::ptrdiff_t>(steps.size() / 2);
  std::nth_element(steps.begin(), middle, steps.end());
  return *middle;
}

// The speed that nine of ten steps stay below, in units of length per second. 0 if there are too few steps.
double TableReader::usual_speed_mps() const {
  std::vector<double> speeds;
  for (const Entity& entity : entities_) {
    for (std::size_t i = 1; i < entity.samples.size() && speeds.size() < kMeasuredSteps; ++i) {
      const TrackSample& before = entity.samples[i - 1];
      const TrackSample& after = entity.samples[i];
      speeds.push_back(glm::length(after.position - before.position) / (after.time_s - before.time_s));
    }
  }
  if (speeds.size() < 10) return 0.0;
  const auto most = speeds.begin() + static_cast<std::ptrdiff_t>(speeds.size() * 9 / 10);
  std::nth_element(speeds.begin(), most, speeds.end());
  return *most;
}

std::optional<Error> TableReader::scale_times() {
  double first = entities_.front().samples.front().time_s;
  for (const Entity& entity : entities_)
    first = std::min(first, entity.samples.front().time_s);
  if (units_.time) {
    time_unit_ = *units_.time;
  } else if (time_is_text_ || layout_.nanoseconds) {
    time_unit_ = *scenario::time_unit("s");
  } else if (const auto named = scenario::time_unit(layout_.time_unit)) {
    time_unit_ = *named;
  } else {
    time_unit_ = guess_time_unit(first, usual_step());
    guessed_time_ = true;
  }
  from_zero_ = std::abs(first) * time_unit_.factor > kEpochS;
  const double origin = from_zero_ ? first : 0.0;
  for (Entity& entity : entities_) {
    for (TrackSample& sample : entity.samples) {
      if (from_zero_) sample.time_s -= origin;
      if (time_unit_.factor != 1.0) sample.time_s *= time_unit_.factor;
      if (!(std::abs(sample.time_s) <= kLargest))
        return error("the time " + six_digits(sample.time_s) +
                     " s is beyond what a recording may have: say the "
                     "unit, for example --units t=ms");
    }
    // Two times may become equal when they are scaled.
    repeated_ += drop_repeated(entity.samples);
  }
  return std::nullopt;
}

std::optional<Error> TableReader::scale_lengths() {
  const bool ngsim =
      std::ranges::any_of(cells_, [](const std::string& c) { return lower_case(c) == "local_x"; }) &&
      std::ranges::any_of(cells_, [](const std::string& c) { return lower_case(c).starts_with("space_h"); });
  if (units_.length) {
    length_unit_ = *units_.length;
  } else if (const auto named = length_unit(layout_.position_unit)) {
    length_unit_ = *named;
  } else {
    length_unit_ = *length_unit("m");
    const double speed_mps = plane_ ? 0.0 : usual_speed_mps();
    if (ngsim)
      length_unit_ = *length_unit("ft"), guessed_length_ = true;
    else if (speed_mps > kFastMps)
      length_unit_ = *length_unit("cm"), guessed_length_ = true;
  }
  for (Entity& entity : entities_) {
    for (TrackSample& sample : entity.samples) {
      if (length_unit_.factor != 1.0) {
        // A projection gives metres; only the height has the unit.
        if (plane_)
          sample.position.z *= length_unit_.factor;
        else
          sample.position *= length_unit_.factor;
      }
      for (glm::length_t i = 0; i < 3; ++i) {
        if (!(std::abs(sample.position[i]) <= kLargest))
          return error("the coordinate " + six_digits(sample.position[i]) +
                       " m is beyond what a recording may have: say the unit, for example --units x=mm");
      }
    }
  }
  return std::nullopt;
}

void TableReader::scale_angles() {
  recording_.has_orientation = has_quaternions_ || has_angles_;
  if (!has_angles_) return;
  const BodyColumns& body = layout_.bodies.front();
  double largest = 0.0;
  for (const Entity& entity : entities_) {
    for (const TrackSample& sample : entity.samples)
      largest = std::max({largest, std::abs(sample.orientation.x), std::abs(sample.orientation.y),
                          std::abs(sample.orientation.z)});
  }
  if (units_.angle) {
    angle_unit_ = *units_.angle;
  } else if (const auto named = angle_unit(layout_.angle_unit)) {
    angle_unit_ = *named;
  } else {
    angle_unit_ = *angle_unit(largest > 6.5 || body.compass || plane_ ? "deg" : "rad");
    guessed_angle_ = !body.compass && !plane_;
  }
  for (Entity& entity : entities_) {
    for (TrackSample& sample : entity.samples) {
      double yaw = sample.orientation.z * angle_unit_.factor;
      if (body.compass || plane_) yaw = kRightAngle - yaw;
      const double pitch = sample.orientation.y * angle_unit_.factor;
      const double roll = sample.orientation.x * angle_unit_.factor;
      const auto about = [](double angle, const glm::dvec3& axis) {
        const glm::dvec3 part = axis * std::sin(0.5 * angle);
        return glm::dquat(std::cos(0.5 * angle), part.x, part.y, part.z);
      };
      sample.orientation =
          about(yaw, {0.0, 0.0, 1.0}) * about(pitch, {0.0, 1.0, 0.0}) * about(roll, {1.0, 0.0, 0.0});
    }
  }
}

// Says in one sentence what was read and what was assumed.
std::string TableReader::reading() const {
  const BodyColumns& body = layout_.bodies.front();
  std::string text = "read t from ";
  text += layout_.time_is_row ? "the number of the row" : heading(layout_.time);
  text += " (" + (time_is_text_ ? std::string("a date or clock") : time_unit_.name) +
          (guessed_time_ && time_unit_.factor != 1.0 ? ", guessed; --units t=... sets another unit" : "") +
          ")";
  if (from_zero_) text += ", from 0 on";
  if (layout_.bodies.size() > 1) {
    text += ", positions of " + std::to_string(layout_.bodies.size()) + " bodies";
  } else if (plane_) {
    text += ", x and y as metres east and north of the first sample from " + heading(body.longitude) +
            " and " + heading(body.latitude);
    text += body.position[2] ? ", z from " + heading(body.position[2]) + " (" + length_unit_.name + ")"
                             : ", z = 0";
  } else {
    const char* const axes[] = {"x", "y", "z"};
    std::string zero;
    for (std::size_t i = 0; i < 3; ++i) {
      if (body.position[i])
        text += std::string(", ") + axes[i] + " from " + heading(body.position[i]);
      else
        zero = std::string(", ") + axes[i] + " = 0";
    }
    text += zero;
  }
  if (!plane_) {
    text += " (" + length_unit_.name;
    if (guessed_length_) text += ", guessed; --units x=... sets another unit";
    text += ")";
  }
  if (layout_.id) text += ", ids from " + heading(layout_.id);
  if (has_quaternions_) text += ", the orientation from quaternions";
  if (has_angles_) {
    text += ", the orientation from " + heading(body.angles[0]) + " (" + angle_unit_.name +
            (guessed_angle_ ? ", guessed" : "") +
            (body.compass || plane_ ? ", clockwise from north" : ", counterclockwise from x") + ")";
  }
  if (body.has_axis_turns) text += "; rotations about axes are not read, because their order is unknown";
  return text;
}

std::optional<Error> TableReader::finish() {
  if (entities_.empty())
    return error(missing_ > 0
                     ? "no row has both a time and a position; empty fields, NaN and quaternions of length "
                       "0 count as missing"
                     : "expected at least one row of samples below the headings, found none");
  order_samples();
  if (auto wrong = scale_times()) return wrong;
  if (auto wrong = scale_lengths()) return wrong;
  scale_angles();
  for (std::size_t i = 0; i < entities_.size(); ++i)
    recording_.entities.push_back({std::move(names_[i]), std::move(entities_[i].samples)});
  recording_.has_one_clock = alternates_ || from_zero_ || layout_.bodies.size() > 1;
  recording_.remarks.push_back(reading());
  std::string left_out;
  const auto note = [&left_out](const std::string& what) {
    (left_out += left_out.empty() ? "" : ", ") += what;
  };
  if (missing_ > 0) note(counted(missing_, "sample") + " without a position, a time or an orientation");
  if (repeated_ > 0) note(counted(repeated_, "sample") + " with the time of another");
  if (cut_) note("the last row, which is incomplete");
  if (!left_out.empty()) recording_.remarks.push_back("left out: " + left_out);
  if (disordered_ > 0)
    recording_.remarks.push_back(counted(disordered_, "sample") + " came late; samples were sorted by time");
  return std::nullopt;
}

}  // namespace

Result<Recording> read_table(std::string_view text, std::string_view name, const TableOptions& options) {
  return TableReader(text, name, options).read();
}

}  // namespace reckoner::scenario
