// SPDX-License-Identifier: MIT
#include "scenario/trace/headings.hpp"

#include "scenario/trace/decimal.hpp"
#include "scenario/trace/fields.hpp"

#include <algorithm>
#include <initializer_list>
#include <span>

namespace reckoner::scenario {
namespace {

using Words = std::initializer_list<std::string_view>;

bool one_of(std::string_view word, Words words) {
  return std::ranges::find(words, word) != words.end();
}

// Words that say that a column is a position, and do not name a body.
bool is_position_word(std::string_view w) {
  return one_of(w,
                {"pos",        "position",    "positions", "loc",       "location", "coord",       "coords",
                 "coordinate", "coordinates", "p",         "pose",      "trans",    "translation", "point",
                 "local",      "world",       "field",     "transform", "geometry", "center",      "centre",
                 "origin",     "cartesian",   "enu",       "utm",       "map",      "odom",        "abs",
                 "absolute",   "gps",         "filtered",  "smoothed",  "state",    "actual"});
}

bool is_rotation_word(std::string_view w) {
  return one_of(w,
                {"rot", "rotation", "orientation", "quat", "quaternion", "q", "ori", "orient", "attitude"});
}

// Words of vectors that are neither a position nor an orientation.
bool is_other_vector(std::string_view w) {
  return one_of(w,
                {"vel",       "velocity",   "velo",       "speed",     "acc",        "accel", "acceleration",
                 "gyro",      "mag",        "angular",    "linear",    "twist",      "rate",  "force",
                 "torque",    "cov",        "covariance", "std",       "sigma",      "var",   "variance",
                 "err",       "error",      "target",     "setpoint",  "sp",         "goal",  "desired",
                 "scale",     "size",       "dim",        "dimension", "dimensions", "gaze",  "dir",
                 "direction", "forward",    "normal",     "jerk",      "momentum",   "wind",  "accuracy",
                 "input",     "axis",       "mouse",      "screen",    "uv",         "bb",    "bbox",
                 "omega",     "likelihood", "headway",    "preceding", "following",  "lat",   "lon"});
}

bool is_time_unit(std::string_view w) {
  return one_of(w, {"s",       "sec",         "secs",         "second",       "seconds", "ms",    "msec",
                    "msecs",   "millis",      "millisecond",  "milliseconds", "us",      "usec",  "usecs",
                    "micros",  "microsecond", "microseconds", "ns",           "nsec",    "nsecs", "nanos",
                    "nanosec", "nanosecond",  "nanoseconds",  "min",          "minutes", "h",     "hours",
                    "days",    "\xc2\xb5s",   "\xce\xbcs"});
}

bool is_length_unit(std::string_view w) {
  return one_of(w, {"m",           "meter",       "meters",      "metre", "metres",     "mm",
                    "millimeter",  "millimeters", "millimetres", "cm",    "centimeter", "centimeters",
                    "centimetres", "km",          "ft",          "feet",  "foot",       "in",
                    "inch",        "inches",      "px",          "pixel", "pixels",     "uu"});
}

bool is_angle_unit(std::string_view w) {
  return one_of(w, {"deg", "degs", "degree", "degrees", "rad", "rads", "radian", "radians", "\xc2\xb0"});
}

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

bool is_upper(char c) {
  return c >= 'A' && c <= 'Z';
}

bool is_letter(char c) {
  return (lower(c) >= 'a' && lower(c) <= 'z') || static_cast<unsigned char>(c) >= 0x80;
}

// The words of a heading, in lower case. A word ends at a sign, between letters and digits, and before a
// capital that begins a word.
std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  bool open = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (!is_letter(c) && !is_digit(c)) {
      open = false;
      continue;
    }
    const bool after = i > 0 && open;
    const bool changes = after && is_letter(text[i - 1]) != is_letter(c);
    const bool next_is_lower = i + 1 < text.size() && is_letter(text[i + 1]) && !is_upper(text[i + 1]);
    const bool capital =
        after && is_upper(c) && is_letter(text[i - 1]) && (!is_upper(text[i - 1]) || next_is_lower);
    if (!open || changes || capital) words.emplace_back();
    open = true;
    words.back() += lower(c);
  }
  return words;
}

// Splits words such as "posx", "xpos", "qw", "tx" and "vx" into the kind and the axis.
void split_glued(std::vector<std::string>& words) {
  std::vector<std::string> out;
  for (const std::string& word : words) {
    const std::string_view view = word;
    const char first = view.front();
    const char last = view.back();
    const std::string_view front = view.substr(0, view.size() - 1);
    const std::string_view back = view.substr(1);
    const auto is_axis = [](char c) { return c == 'x' || c == 'y' || c == 'z' || c == 'w'; };
    const auto is_kind = [](std::string_view w) {
      return is_position_word(w) || is_rotation_word(w) || is_other_vector(w) ||
             one_of(w, {"t", "v", "a", "r", "g", "vel"});
    };
    if (view.size() > 1 && word != "roll" && is_axis(last) && is_kind(front)) {
      out.emplace_back(front);
      out.emplace_back(1, last);
    } else if (view.size() > 2 && is_axis(first) && first != 'w' && is_kind(back)) {
      out.emplace_back(back);
      out.emplace_back(1, first);
    } else {
      out.push_back(word);
    }
  }
  words = std::move(out);
}

bool all_of(const std::vector<std::string>& words, bool (*accepted)(std::string_view)) {
  return std::ranges::all_of(words, [accepted](const std::string& word) { return accepted(word); });
}

bool any_of(const std::vector<std::string>& words, bool (*accepted)(std::string_view)) {
  return std::ranges::any_of(words, [accepted](const std::string& word) { return accepted(word); });
}

bool is_time_noun(std::string_view w) {
  return one_of(w, {"t", "time", "times", "timestamp", "timestamps", "ts", "stamp", "timestep", "datetime",
                    "clock", "zeit", "temps", "tiempo", "tempo", "elapsed", "utc", "epoch", "unixtime"});
}

bool is_time_word(std::string_view w) {
  return is_time_noun(w) || is_time_unit(w) || is_position_word(w) ||
         one_of(w, {"global",     "header", "unix",   "epoch",    "utc",     "system",  "sim",
                    "simulation", "game",   "server", "client",   "since",   "start",   "recording",
                    "capture",    "sample", "log",    "video",    "real",    "session", "date",
                    "gmt",        "step",   "device", "unscaled", "vehicle", "boot",    "timestamp",
                    "iso",        "posix",  "of",     "week",     "fixed",   "relative"});
}

bool is_frame_word(std::string_view w) {
  return one_of(w, {"frame", "frames", "tick", "ticks", "image", "img", "video", "id", "idx", "index",
                    "number", "no", "num", "nr", "n", "count"});
}

constexpr std::string_view kIdNouns[] = {
    "entity", "agent",   "object",  "obj",  "track",  "trackid", "ped",     "pedestrian", "person", "player",
    "actor",  "vehicle", "veh",     "car",  "bot",    "unit",    "subject", "individual", "animal", "bird",
    "body",   "bone",    "uid",     "guid", "uuid",   "mmsi",    "icao",    "callsign",   "device", "robot",
    "drone",  "uav",     "steamid", "tag",  "marker", "mark",    "joint",   "sensor",     "name"};

bool is_id_word(std::string_view w) {
  return std::ranges::find(kIdNouns, w) != std::end(kIdNouns) ||
         one_of(w, {"id", "ids", "identifier", "name", "number", "no", "num", "nr", "idx", "index", "local",
                    "key", "24"});
}

// The rank of an id's heading: 0 for plain "id", then the order of the nouns. -1: no id.
int id_rank(const std::vector<std::string>& words) {
  if (!all_of(words, is_id_word)) return -1;
  if (words.size() == 1 && (words[0] == "id" || words[0] == "ids")) return 0;
  for (std::size_t i = 0; i < std::size(kIdNouns); ++i) {
    if (std::ranges::find(words, kIdNouns[i]) != words.end()) return static_cast<int>(i) + 1;
  }
  return -1;
}

// Removes the unit from the words and returns it. A unit in brackets has precedence.
std::string take_unit(std::string_view text, std::vector<std::string>& words) {
  const std::size_t open = text.find_last_of("([");
  if (open != std::string_view::npos) {
    const std::size_t close = text.find_first_of(")]", open);
    std::string inside =
        bare_unit(text.substr(open, close == std::string_view::npos ? close : close - open + 1));
    if (is_unit(inside)) {
      words = words_of(text.substr(0, open));
      return inside;
    }
  }
  if (words.size() > 1 && is_unit(words.back()) && !(words.size() == 2 && is_rotation_word(words[0]))) {
    std::string unit = words.back();
    words.pop_back();
    return unit;
  }
  return {};
}

ColumnRole axis_role(char axis, bool turn) {
  switch (axis) {
    case 'w':
      return turn ? ColumnRole::qw : ColumnRole::none;
    case 'x':
      return turn ? ColumnRole::qx : ColumnRole::x;
    case 'y':
      return turn ? ColumnRole::qy : ColumnRole::y;
    default:
      return turn ? ColumnRole::qz : ColumnRole::z;
  }
}

std::string joined(std::span<const std::string> words) {
  std::string text;
  for (const std::string& word : words)
    (text += text.empty() ? "" : " ") += word;
  return text;
}

void read_time(Heading& heading, const std::vector<std::string>& words) {
  if (words.size() == 1 && words[0] == "date") {
    heading.role = ColumnRole::date;
    return;
  }
  const bool noun = any_of(words, is_time_noun);
  const bool bare_unit_words = !words.empty() && is_time_unit(words.back()) && words.back() != "s" &&
                               words.back() != "min" && words.back() != "h";
  const bool date_only = std::ranges::find(words, "date") != words.end();
  if (!all_of(words, is_time_word) || (!noun && !bare_unit_words && !date_only)) return;
  heading.role = ColumnRole::time;
  heading.rank = noun ? static_cast<int>(words.size()) : 20 + static_cast<int>(words.size());
  if (date_only && !noun) heading.rank = 30;
  // ROS writes a time as two columns: header.stamp.secs and header.stamp.nsecs.
  if (one_of(heading.unit, {"nsec", "nsecs", "nanosec"})) heading.role = ColumnRole::nanoseconds;
  if (!bare_unit_words || !heading.unit.empty()) return;
  const std::string& unit = words.back();
  heading.unit = unit;
  if (one_of(unit, {"sec", "secs", "seconds"})) heading.role = ColumnRole::seconds;
  if (one_of(unit, {"nsec", "nsecs", "nanosec"})) heading.role = ColumnRole::nanoseconds;
}

bool read_angle(Heading& heading, std::vector<std::string> words) {
  const auto found = std::ranges::find_if(words, [](const std::string& w) {
    return one_of(w, {"yaw", "heading", "hdg", "psi", "course", "bearing", "cog", "azimuth", "angle", "theta",
                      "pitch", "roll"});
  });
  if (found == words.end() || any_of(words, is_other_vector)) return false;
  const std::string word = *found;
  heading.role = word == "pitch" ? ColumnRole::pitch : word == "roll" ? ColumnRole::roll : ColumnRole::yaw;
  words.erase(found);
  heading.compass = word == "angle" && words.size() == 1 && (words[0] == "vehicle" || words[0] == "person");
  heading.rank = word == "yaw" ? 0 : word == "heading" ? 1 : 2;
  std::erase_if(words, [](const std::string& w) { return is_rotation_word(w) || is_position_word(w); });
  heading.body = joined(words);
  return true;
}

}  // namespace

std::string bare_unit(std::string_view text) {
  text = trimmed(text);
  while (!text.empty() && (text.front() == '[' || text.front() == '(' || text.front() == '<'))
    text.remove_prefix(1);
  while (!text.empty() && (text.back() == ']' || text.back() == ')' || text.back() == '>'))
    text.remove_suffix(1);
  std::string unit;
  for (const char c : trimmed(text))
    unit += lower(c);
  return unit;
}

bool is_unit(std::string_view text) {
  const std::string unit = bare_unit(text);
  return is_time_unit(unit) || is_length_unit(unit) || is_angle_unit(unit);
}

Heading read_heading(std::string_view text, const std::vector<std::string>& parents) {
  Heading heading;
  std::string parent_body;
  bool turn = false;
  bool other = false;
  for (const std::string& parent : parents) {
    const std::vector<std::string> words = words_of(parent);
    if (words.empty()) continue;
    if (words.size() == 1 && is_rotation_word(words[0])) {
      turn = true;
    } else if (words.size() == 1 && is_other_vector(words[0])) {
      other = true;
    } else if (!(words.size() == 1 && is_position_word(words[0]))) {
      (parent_body += parent_body.empty() ? "" : " ") += trimmed(parent);
    }
  }
  text = trimmed(text);
  std::vector<std::string> words = words_of(text);
  heading.unit = take_unit(text, words);
  if (words.empty()) return heading;
  if (const int rank = id_rank(words); rank >= 0) {
    heading.role = ColumnRole::id;
    heading.rank = rank;
    return heading;
  }
  if (read_time(heading, words); heading.role != ColumnRole::none) return heading;
  const bool frame = all_of(words, is_frame_word) && std::ranges::any_of(words, [](const std::string& w) {
                       return one_of(w, {"frame", "frames", "tick", "ticks", "image", "img"});
                     });
  if (frame) {
    heading.role = ColumnRole::frame;
    return heading;
  }
  const auto latitude_at = std::ranges::find_if(words, [](const std::string& w) {
    return one_of(w, {"lat", "latitude"});
  });
  const auto longitude_at = std::ranges::find_if(words, [](const std::string& w) {
    return one_of(w, {"lon", "lng", "long", "longitude"});
  });
  if (latitude_at != words.end() || longitude_at != words.end()) {
    heading.role = latitude_at != words.end() ? ColumnRole::latitude : ColumnRole::longitude;
    words.erase(latitude_at != words.end() ? latitude_at : longitude_at);
    if (any_of(words, is_other_vector)) heading.role = ColumnRole::none;
    heading.rank = static_cast<int>(words.size());
    return heading;
  }
  if (read_angle(heading, words)) {
    if (!parent_body.empty()) heading.body = parent_body;
    return heading;
  }
  split_glued(words);
  // The last axis is the component: "x axis position x" is rare, "hand x position" is not.
  std::optional<std::size_t> axis;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i].size() == 1 && (words[i][0] >= 'w' && words[i][0] <= 'z')) axis = i;
  }
  char component = axis ? words[*axis][0] : '\0';
  if (axis) words.erase(words.begin() + static_cast<std::ptrdiff_t>(*axis));
  if (!axis) {
    // q0 to q3, east and north, altitude.
    const bool indexed = words.size() >= 2 && is_rotation_word(words[words.size() - 2]) &&
                         words.back().size() == 1 && words.back()[0] >= '0' && words.back()[0] <= '3';
    const auto named = [&words](Words names) {
      return std::ranges::any_of(words, [names](const std::string& w) { return one_of(w, names); });
    };
    if (indexed) {
      component = "wxyz"[words.back()[0] - '0'];
      words.pop_back();
    } else if (named({"east", "easting"})) {
      component = 'x';
      std::erase_if(words, [](const std::string& w) { return one_of(w, {"east", "easting"}); });
    } else if (named({"north", "northing"})) {
      component = 'y';
      std::erase_if(words, [](const std::string& w) { return one_of(w, {"north", "northing"}); });
    } else if (named({"alt", "altitude", "elevation", "ele", "up"})) {
      component = 'z';
      heading.rank = 5;
      std::erase_if(words, [](const std::string& w) {
        return one_of(w, {"alt", "altitude", "elevation", "ele", "up", "height", "amsl", "msl"});
      });
    } else {
      return heading;
    }
  }
  turn = turn || any_of(words, is_rotation_word);
  other = other || any_of(words, is_other_vector);
  const std::string_view name = trimmed(text.substr(0, text.find_first_of("([")));
  const bool single = name.find(' ') == std::string_view::npos;  // "A X" is a marker with the name A
  if (single && std::ranges::any_of(words, [](const std::string& w) {
        return one_of(w, {"v", "a", "g", "b"});
      }))
    other = true;
  if (single && words.size() == 1 && words[0] == "r") turn = true;
  if (other) return heading;
  if (single) std::erase_if(words, [](const std::string& w) { return one_of(w, {"t", "r"}); });
  heading.role = axis_role(component, turn);
  if (component == 'w' && !turn) return heading;
  std::erase_if(words, [](const std::string& w) { return is_position_word(w) || is_rotation_word(w); });
  heading.body = parent_body.empty() ? joined(words) : parent_body;
  return heading;
}

bool BodyColumns::is_complete() const {
  const int axes = (position[0] ? 1 : 0) + (position[1] ? 1 : 0) + (position[2] ? 1 : 0);
  return axes >= 2 || (latitude && longitude);
}

bool BodyColumns::has_quaternion() const {
  return std::ranges::all_of(orientation, [](const auto& index) { return index.has_value(); });
}

namespace {

// The body with this name whose place for the role is free. Columns that repeat belong to further bodies.
struct Assembly {
  std::vector<BodyColumns> bodies;

  static BodyColumns::Index* place(BodyColumns& body, ColumnRole role) {
    switch (role) {
      case ColumnRole::x:
      case ColumnRole::y:
      case ColumnRole::z:
        return &body.position[static_cast<std::size_t>(role) - static_cast<std::size_t>(ColumnRole::x)];
      case ColumnRole::qw:
      case ColumnRole::qx:
      case ColumnRole::qy:
      case ColumnRole::qz:
        return &body.orientation[static_cast<std::size_t>(role) - static_cast<std::size_t>(ColumnRole::qw)];
      case ColumnRole::yaw:
      case ColumnRole::pitch:
      case ColumnRole::roll:
        return &body.angles[static_cast<std::size_t>(role) - static_cast<std::size_t>(ColumnRole::yaw)];
      case ColumnRole::latitude:
        return &body.latitude;
      case ColumnRole::longitude:
        return &body.longitude;
      default:
        return nullptr;
    }
  }

  void add(const Heading& heading, std::size_t column) {
    for (std::size_t copy = 1;; ++copy) {
      const std::string name =
          copy == 1 ? heading.body : heading.body + (heading.body.empty() ? "" : " ") + std::to_string(copy);
      auto found = std::ranges::find(bodies, name, &BodyColumns::name);
      if (found == bodies.end()) {
        bodies.push_back({.name = name});
        found = bodies.end() - 1;
      }
      BodyColumns::Index* const index = place(*found, heading.role);
      if (index == nullptr) return;
      // A second altitude or heading is the same quantity again, not a further body.
      const bool position = heading.role == ColumnRole::x || heading.role == ColumnRole::y ||
                            heading.role == ColumnRole::z || heading.role == ColumnRole::qw ||
                            heading.role == ColumnRole::qx;
      if (*index && position && heading.rank == 0) continue;
      if (!*index) {
        *index = column;
        found->compass = found->compass || heading.compass;
      }
      return;
    }
  }
};

}  // namespace

Layout layout_of(const std::vector<Heading>& headings) {
  Layout layout;
  int time_rank = 1000;
  int id_best = 1000;
  Layout::Index frame;
  Layout::Index seconds;
  Assembly assembly;
  for (std::size_t i = 0; i < headings.size(); ++i) {
    const Heading& heading = headings[i];
    switch (heading.role) {
      case ColumnRole::none:
        break;
      case ColumnRole::time:
        if (heading.rank < time_rank) {
          layout.time = i, time_rank = heading.rank, layout.time_unit = heading.unit;
        }
        break;
      case ColumnRole::seconds:
        if (!seconds) seconds = i;
        break;
      case ColumnRole::nanoseconds:
        if (!layout.nanoseconds) layout.nanoseconds = i;
        break;
      case ColumnRole::date:
        if (!layout.date) layout.date = i;
        break;
      case ColumnRole::frame:
        if (!frame) frame = i;
        break;
      case ColumnRole::id:
        if (heading.rank < id_best) layout.id = i, id_best = heading.rank;
        break;
      case ColumnRole::x:
      case ColumnRole::y:
      case ColumnRole::z:
        if (layout.position_unit.empty()) layout.position_unit = heading.unit;
        assembly.add(heading, i);
        break;
      case ColumnRole::yaw:
      case ColumnRole::pitch:
      case ColumnRole::roll:
        if (layout.angle_unit.empty()) layout.angle_unit = heading.unit;
        assembly.add(heading, i);
        break;
      default:
        assembly.add(heading, i);
    }
  }
  if (!layout.time && seconds) layout.time = seconds, layout.time_unit = "s";
  const bool split_time = layout.time && layout.nanoseconds &&
                          one_of(layout.time_unit, {"s", "sec", "secs", "second", "seconds"});
  if (!split_time) {
    if (!layout.time && layout.nanoseconds) layout.time = layout.nanoseconds, layout.time_unit = "ns";
    layout.nanoseconds.reset();
  }
  if (!layout.time && layout.date) layout.time = layout.date;
  if (layout.time == layout.date) layout.date.reset();
  if (!layout.time && frame) {
    layout.time = frame;
    layout.time_is_frame = true;
  }
  std::vector<BodyColumns>& bodies = assembly.bodies;
  // Angles that name no body belong to the only one.
  const auto unnamed = std::ranges::find(bodies, std::string{}, &BodyColumns::name);
  if (unnamed != bodies.end() && !unnamed->is_complete() &&
      std::ranges::count_if(bodies, [](const BodyColumns& b) { return b.is_complete(); }) == 1) {
    const auto only = std::ranges::find_if(bodies, [](const BodyColumns& b) { return b.is_complete(); });
    if (!only->has_quaternion()) only->orientation = unnamed->orientation;
    for (std::size_t i = 0; i < 3; ++i)
      if (!only->angles[i]) only->angles[i] = unnamed->angles[i];
    if (!only->position[2]) only->position[2] = unnamed->position[2];
  }
  for (BodyColumns& body : bodies) {
    if (!body.has_quaternion()) {
      body.has_axis_turns = body.orientation[1].has_value();
      body.orientation = {};
    }
  }
  std::erase_if(bodies, [](const BodyColumns& b) { return !b.is_complete(); });
  // The columns without a body's name are the body; the others describe something else about it.
  if (std::ranges::any_of(bodies, [](const BodyColumns& b) { return b.name.empty(); }))
    std::erase_if(bodies, [](const BodyColumns& b) {
      return !b.name.empty() && b.name.find_first_not_of("0123456789") != std::string::npos;
    });
  std::erase_if(bodies, [&](const BodyColumns& b) { return b.name == "global" && bodies.size() > 1; });
  if (bodies.size() == 1) bodies.front().name.clear();
  if (std::ranges::any_of(bodies, [](const BodyColumns& b) { return b.has_quaternion(); })) {
    for (BodyColumns& body : bodies)
      body.angles = {};
  }
  layout.bodies = std::move(bodies);
  return layout;
}

}  // namespace reckoner::scenario
