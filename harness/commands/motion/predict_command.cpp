// SPDX-License-Identifier: MIT
#include "harness/commands/motion/predict_command.hpp"

#include "harness/commands/cli_options.hpp"
#include "reckoning/src/prediction/dis_models.hpp"
#include "scenario/trace/csv.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <memory>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <reckoner/reckoning/motion.hpp>

namespace reckoner::harness {
namespace {

constexpr std::size_t kMaxStateFileBytes = 1u << 20;

using nlohmann::json;
using nlohmann::ordered_json;

constexpr std::array<const char*, 5> kFields{"position", "velocity", "acceleration", "orientation",
                                             "angular_velocity"};
constexpr double kStateUnitTolerance = 0.01;

// Parses an array of `count` finite numbers.
template <std::size_t count>
Result<std::array<double, count>> numbers(const json& value, const char* field) {
  const auto wrong = [&] {
    return Error{fmt::format("\"{}\" is not an array of {} finite numbers", field, count)};
  };
  if (!value.is_array() || value.size() != count) return wrong();
  std::array<double, count> out{};
  for (std::size_t i = 0; i < count; ++i) {
    if (!value[i].is_number()) return wrong();
    out[i] = value[i].template get<double>();
    if (!std::isfinite(out[i])) return wrong();
  }
  return out;
}

Result<DisState> read_state(const std::string& text) {
  const json root = json::parse(text, nullptr, false);
  if (root.is_discarded() || !root.is_object()) return Error{"the state is not a JSON object"};
  for (const auto& [key, value] : root.items()) {
    if (std::find(kFields.begin(), kFields.end(), key) == kFields.end())
      return Error{"unknown field \"" + key + "\""};
  }
  if (!root.contains("position")) return Error{"\"position\" is missing"};

  DisState state;
  const std::array<std::pair<const char*, glm::dvec3*>, 4> vectors{
      {{"position", &state.position},
       {"velocity", &state.velocity},
       {"acceleration", &state.acceleration},
       {"angular_velocity", &state.angular_velocity}}};
  for (const auto& [field, target] : vectors) {
    if (!root.contains(field)) continue;
    const auto v = numbers<3>(root[field], field);
    if (!v) return Error{v.error()};
    *target = {(*v)[0], (*v)[1], (*v)[2]};
  }
  if (root.contains("orientation")) {
    const auto q = numbers<4>(root["orientation"], "orientation");
    if (!q) return Error{q.error()};
    state.orientation = {(*q)[0], (*q)[1], (*q)[2], (*q)[3]};
    const double norm = glm::length(state.orientation);
    if (!(std::abs(norm - 1.0) <= kStateUnitTolerance))
      return Error{"\"orientation\" is not a unit quaternion w,x,y,z"};
    state.orientation = state.orientation / norm;
  }
  return state;
}

// The double with the shortest decimal form of this float: 0.1f becomes 0.1, not 0.10000000149.
double shortest(float value) {
  const std::string text = fmt::format("{}", value);
  double out = value;
  std::from_chars(text.data(), text.data() + text.size(), out);
  return out;
}

ordered_json array_of(const glm::dvec3& v) {
  return {v.x, v.y, v.z};
}
ordered_json array_of(const glm::vec3& v) {
  return {shortest(v.x), shortest(v.y), shortest(v.z)};
}

template <class AnyState>
ordered_json state_json(const AnyState& state, const ordered_json& orientation) {
  return {{"position", array_of(state.position)},
          {"velocity", array_of(state.velocity)},
          {"acceleration", array_of(state.acceleration)},
          {"orientation", orientation},
          {"angular_velocity", array_of(state.angular_velocity)}};
}

ordered_json quadratic(const DisState& in, double dt_s) {
  State state;
  state.position = in.position;
  state.velocity = glm::vec3(in.velocity);
  state.acceleration = glm::vec3(in.acceleration);
  state.orientation = glm::quat(in.orientation);
  state.angular_velocity = glm::vec3(in.angular_velocity);
  const State out = extrapolate(state, dt_s);
  const glm::quat& q = out.orientation;
  return state_json(out, {shortest(q.w), shortest(q.x), shortest(q.y), shortest(q.z)});
}

int run_predict(const std::string& model, double dt_s, const std::string& state_file) {
  const auto text = scenario::read_text_file(state_file, kMaxStateFileBytes);
  if (!text) return report_error(text.error(), program::kBadInput);
  const auto out = predict_json(model, dt_s, *text);
  if (!out) return report_error(state_file + ": " + out.error(), program::kBadInput);
  if (std::fwrite(out->data(), 1, out->size(), stdout) != out->size() || std::fflush(stdout) != 0) {
    return report_error("cannot write the state", program::kFailed);
  }
  return 0;
}

}  // namespace

Result<std::string> predict_json(std::string_view model, double dt_s, const std::string& state_text) {
  if (!std::isfinite(dt_s)) return Error{"--dt is not a finite number of seconds"};
  const auto dis = dead_reckoning_model(model);
  if (!dis && model != "quadratic") return Error{"unknown model '" + std::string(model) + "'"};
  const auto state = read_state(state_text);
  if (!state) return Error{state.error()};
  ordered_json out;
  if (dis) {
    const DisState later = extrapolate(*dis, *state, dt_s);
    const glm::dquat& q = later.orientation;
    out = state_json(later, {q.w, q.x, q.y, q.z});
  } else {
    out = quadratic(*state, dt_s);
  }
  return out.dump(2) + "\n";
}

void add_predict_command(CLI::App& app, int& exit_code) {
  auto* const command =
      app.add_subcommand("predict", "Print the state that a motion model predicts, as JSON");
  struct Arguments {
    std::string model;
    double dt_s = 0.0;
    std::string state_file;
  };
  const auto a = std::make_shared<Arguments>();
  command
      ->add_option("--model", a->model, "quadratic, static, fpw, rpw, rvw, fvw, fpb, rpb, rvb or fvb (DIS)")
      ->required()
      ->check(CLI::IsMember({"quadratic", "static", "fpw", "rpw", "rvw", "fvw", "fpb", "rpb", "rvb", "fvb"}));
  command->add_option("--dt", a->dt_s, "Seconds to predict ahead (negative: back)")->required();
  command
      ->add_option("--state", a->state_file,
                   "JSON: position, velocity, acceleration, orientation [w,x,y,z], angular_velocity; SI")
      ->required();
  command->footer(
      "DIS models: the angular velocity is about body axes. ...b models: velocity and acceleration are in "
      "body axes, too.\nquadratic: world axes. Fields that a model does not use are copied unchanged.");
  command->callback([a, &exit_code] { exit_code = run_predict(a->model, a->dt_s, a->state_file); });
}

}  // namespace reckoner::harness
