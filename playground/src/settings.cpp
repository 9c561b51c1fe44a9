// SPDX-License-Identifier: MIT
#include "playground/src/settings.hpp"

#include "harness/replay/method.hpp"
#include "scenario/builtin/builtin.hpp"
#include "scenario/trace/trace.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include <nlohmann/json.hpp>

namespace reckoner::playground {
namespace {

using Json = nlohmann::json;

// Reads members of an object without exceptions, and keeps the first error.
class Members {
 public:
  explicit Members(const Json& object) : object_(object) {
    if (!object.is_object()) fail("the settings", "an object");
  }

  void text(const char* name, std::string& value) {
    const Json* member = find(name);
    if (!member) return;
    if (!member->is_string()) return fail(name, "a text");
    value = member->get_ref<const std::string&>();
  }

  /// A text that is one of `names`.
  template <class Names>
  void one_of(const char* name, std::string& value, const Names& names) {
    std::string found = value;
    text(name, found);
    if (found != value && std::ranges::find(names, found) == names.end()) return fail(name, "a known name");
    value = found;
  }

  void number(const char* name, double& value, double least, double most) {
    const Json* member = find(name);
    if (!member) return;
    if (!member->is_number()) return fail(name, "a number");
    const double number = member->get<double>();
    if (!(number >= least && number <= most))
      return fail(name, "a number between " + std::to_string(least) + " and " + std::to_string(most));
    value = number;
  }

  template <class Whole>
  void whole(const char* name, Whole& value, double most) {
    double number = static_cast<double>(value);
    this->number(name, number, 0.0, most);
    if (number != std::floor(number)) return fail(name, "a whole number");
    value = static_cast<Whole>(number);
  }

  [[nodiscard]] const Json* list(const char* name) {
    const Json* member = find(name);
    if (member && !member->is_array()) {
      fail(name, "a list");
      return nullptr;
    }
    return member;
  }

  void fail(const std::string& name, const std::string& what) {
    if (!error_) error_ = Error{"settings: " + name + " must be " + what};
  }
  [[nodiscard]] const std::optional<Error>& error() const { return error_; }

 private:
  [[nodiscard]] const Json* find(const char* name) const {
    if (!object_.is_object()) return nullptr;
    const auto found = object_.find(name);
    return found == object_.end() || found->is_null() ? nullptr : &*found;
  }

  const Json& object_;
  std::optional<Error> error_;
};

constexpr double kLargestNumber = 1e12;  // the options have their own limits; this only keeps numbers finite

std::optional<Error> read_changes(const Json& list, harness::LinkArguments& link) {
  for (const Json& item : list) {
    harness::LinkArguments::Change change;
    std::string side = "both";
    Members members(item);
    members.text("option", change.option);
    members.number("value", change.value, -kLargestNumber, kLargestNumber);
    members.text("side", side);
    if (side != "both" && side != "up" && side != "down") members.fail("side", "both, up or down");
    if (members.error()) return members.error();
    change.up = side != "down";
    change.down = side != "up";
    link.changes.push_back(change);
  }
  return std::nullopt;
}

std::optional<Error> read_methods(const Json& list, std::vector<std::string>& methods) {
  const std::vector<std::string> known = harness::method_names();
  for (const Json& item : list) {
    const std::string name = item.is_string() ? item.get_ref<const std::string&>() : std::string();
    if (std::find(known.begin(), known.end(), name) == known.end())
      return Error{"settings: unknown method '" + name + "'"};
    if (std::find(methods.begin(), methods.end(), name) == methods.end()) methods.push_back(name);
  }
  return std::nullopt;
}

}  // namespace

Result<Settings> read_settings(std::string_view text) {
  const Json json = Json::parse(text, nullptr, false);
  if (json.is_discarded()) return Error{"settings: not valid JSON"};
  Settings settings;
  harness::ReplayOptions& options = settings.run.options;
  Members members(json);
  members.text("trace", settings.source.trace);
  members.text("scenario", settings.source.scenario);
  members.whole("entities", settings.source.entities, 65'536);
  members.text("entity", settings.source.entity);
  members.number("start", settings.source.start_s, 0.0, kLargestNumber);
  members.number("seconds", settings.source.seconds, 0.0, kLargestNumber);
  members.number("teleport_mps", settings.source.teleport_mps, 1e-6, kLargestNumber);
  members.text("network", settings.link.network);
  members.text("mode", settings.run.mode);
  members.whole("seed", options.seed, 9e15);
  members.number("tick_rate", options.tick_rate_hz, 0.0, kLargestNumber);
  members.number("frame_rate", options.frame_rate_hz, 0.0, kLargestNumber);
  members.number("updates_per_second", options.budget.updates_per_second, 0.0, kLargestNumber);
  members.number("threshold_m", options.budget.threshold_m, 0.0, kLargestNumber);
  members.number("threshold_rad", options.budget.threshold_rad, 0.0, kLargestNumber);
  double blend_frames = program::BlendOptions{}.blend_frames;
  members.number("blend_frames", blend_frames, 0.0, kLargestNumber);
  options.blend_frames = blend_frames;
  members.one_of("blend_curve", settings.run.blend.curve, program::kBlendCurveNames);
  const Json* const changes = members.list("changes");
  const Json* const methods = members.list("methods");
  if (members.error()) return *members.error();
  if (changes) {
    if (const auto wrong = read_changes(*changes, settings.link)) return *wrong;
  }
  if (methods) {
    if (const auto wrong = read_methods(*methods, settings.methods)) return *wrong;
  }
  if (settings.methods.empty()) settings.methods = harness::method_names();
  return settings;
}

Result<std::unique_ptr<scenario::Source>> open_source(const Settings& settings,
                                                      const std::string& recording) {
  const program::SourceOptions& source = settings.source;
  if (source.trace.empty()) return program::open_source(source);
  return scenario::parse_trace(recording, source.trace, source.trace_options());
}

}  // namespace reckoner::playground
