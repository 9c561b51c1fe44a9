// SPDX-License-Identifier: MIT
#include "scenario/trace/units.hpp"

#include "scenario/trace/csv.hpp"
#include "scenario/trace/headings.hpp"

#include <algorithm>
#include <initializer_list>
#include <span>

namespace reckoner::scenario {
namespace {

struct Names {
  double factor;
  const char* name;
  std::initializer_list<std::string_view> spellings;
};

const Names kTimes[] = {
    {1.0, "seconds", {"s", "sec", "secs", "second", "seconds"}},
    {1e-3, "milliseconds", {"ms", "msec", "msecs", "millis", "millisecond", "milliseconds"}},
    {1e-6,
     "microseconds",
     {"us", "usec", "usecs", "micros", "microsecond", "microseconds", "\xc2\xb5s", "\xce\xbcs"}},
    {1e-9, "nanoseconds", {"ns", "nsec", "nsecs", "nanos", "nanosec", "nanosecond", "nanoseconds"}},
    {60.0, "minutes", {"min", "minutes"}},
    {3600.0, "hours", {"h", "hours"}},
    {86'400.0, "days", {"d", "day", "days"}},
};

const Names kLengths[] = {
    {1.0, "metres", {"m", "meter", "meters", "metre", "metres"}},
    {1e-3, "millimetres", {"mm", "millimeter", "millimeters", "millimetres"}},
    {1e-2, "centimetres", {"cm", "centimeter", "centimeters", "centimetres", "uu"}},
    {1e3, "kilometres", {"km"}},
    {0.3048, "feet", {"ft", "feet", "foot"}},
    {0.0254, "inches", {"in", "inch", "inches"}},
};

constexpr double kDegreeRad = 0.017453292519943295;
const Names kAngles[] = {
    {1.0, "radians", {"rad", "rads", "radian", "radians"}},
    {kDegreeRad, "degrees", {"deg", "degs", "degree", "degrees", "\xc2\xb0"}},
};

std::optional<Unit> find_unit(std::span<const Names> all, std::string_view name) {
  for (const Names& names : all) {
    if (std::ranges::find(names.spellings, name) != names.spellings.end())
      return Unit{names.factor, names.name};
  }
  return std::nullopt;
}

std::optional<Unit> number_of(std::string_view text, const char* what) {
  const auto factor = parse_number(text);
  if (!factor || !(*factor > 0.0)) return std::nullopt;
  return Unit{*factor, std::string(text) + " " + what};
}

std::optional<Unit> named_time(std::string_view text) {
  if (text.ends_with("fps")) {
    const auto rate = parse_number(text.substr(0, text.size() - 3));
    if (!rate || !(*rate > 0.0)) return std::nullopt;
    return Unit{1.0 / *rate, "frames at " + std::string(text.substr(0, text.size() - 3)) + " a second"};
  }
  if (auto unit = time_unit(text)) return unit;
  return number_of(text, "s");
}

}  // namespace

std::optional<Unit> time_unit(std::string_view name) {
  return find_unit(kTimes, name);
}

std::optional<Unit> length_unit(std::string_view name) {
  return find_unit(kLengths, name);
}

std::optional<Unit> angle_unit(std::string_view name) {
  return find_unit(kAngles, name);
}

Result<NamedUnits> parse_units(std::string_view text) {
  NamedUnits units;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(','), text.size());
    const std::string_view item = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const std::size_t equals = item.find('=');
    const std::string key = bare_unit(item.substr(0, equals));
    const std::string value = equals == std::string_view::npos ? "" : bare_unit(item.substr(equals + 1));
    std::optional<Unit> unit;
    if (key == "t") units.time = unit = named_time(value);
    if (key == "x") {
      unit = length_unit(value);
      units.length = unit = unit ? unit : number_of(value, "m");
    }
    if (key == "yaw") units.angle = unit = angle_unit(value);
    if (!unit) {
      return Error{
          "units: expected t=s, ms, us, ns, min, h, day, a number of seconds or 25fps; x=m, mm, cm, "
          "km, ft, in or a number of metres; yaw=deg or rad; found " +
          shown(item)};
    }
  }
  return units;
}

Unit guess_time_unit(double first, double step) {
  // Times since 1970 have a size that no other time has; otherwise the usual step decides. Motion is recorded
  // at 0.25 to 1000 samples a second.
  const double size = first < 0.0 ? -first : first;
  if (size >= 1e17) return *time_unit("ns");
  if (size >= 1e14) return *time_unit("us");
  if (size >= 1e11) return *time_unit("ms");
  if (size >= 1e8 && step < 100.0) return *time_unit("s");
  if (step < 4.0) return *time_unit("s");
  if (step < 2e3) return *time_unit("ms");
  if (step < 2e6) return *time_unit("us");
  return *time_unit("ns");
}

}  // namespace reckoner::scenario
