// SPDX-License-Identifier: MIT
#include "playground/src/command_text.hpp"

#include <string_view>

#include <fmt/format.h>

namespace reckoner::playground {
namespace {

// {} of fmt prints the shortest text that reads back as the same number.
std::string shell_word(std::string_view word) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:,@%+=";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string_view::npos) return std::string(word);
  std::string text = "'";
  for (const char c : word)
    text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

std::string budget_options(const harness::SendBudget& budget) {
  if (budget.updates_per_second > 0.0)
    return fmt::format(" --updates-per-second {}", budget.updates_per_second);
  return fmt::format(" --threshold-m {} --threshold-rad {}", budget.threshold_m, budget.threshold_rad);
}

std::string link_options(const harness::LinkArguments& link) {
  std::string text;
  if (!link.network.empty()) text += " --network " + shell_word(link.network);
  for (const auto& change : link.changes) {
    const char* const side = change.up && change.down ? "" : change.up ? "up-" : "down-";
    text += fmt::format(" --{}{} {}", side, change.option, change.value);
  }
  return text;
}

std::string source_options(const program::SourceOptions& source) {
  std::string text;
  if (source.trace.empty()) {
    text = " --scenario " + shell_word(source.scenario);
    if (source.entities > 0) text += fmt::format(" --entities {}", source.entities);
  } else {
    text = fmt::format(" --trace {} --entity {} --teleport-mps {}", shell_word(source.trace),
                       shell_word(source.entity), source.teleport_mps);
  }
  if (source.start_s > 0.0) text += fmt::format(" --start {}", source.start_s);
  if (source.seconds > 0.0) text += fmt::format(" --seconds {}", source.seconds);
  return text;
}

const char* curve_name(const Settings& settings) {
  return program::kBlendCurveNames[static_cast<std::size_t>(settings.run.blend.settings().curve)];
}

double blend_frames(const harness::ReplayOptions& options) {
  return options.blend_frames.value_or(program::BlendOptions{}.blend_frames);
}

}  // namespace

std::string command_line(const Settings& settings) {
  const harness::ReplayOptions& options = settings.run.options;
  std::string methods;
  for (const std::string& method : settings.methods)
    methods += (methods.empty() ? "" : ",") + method;
  std::string text = "reckoner-harness compare" + source_options(settings.source) +
                     link_options(settings.link) + budget_options(options.budget);
  text += fmt::format(
      " --mode {} --blend-curve {} --blend-frames {} --tick-rate {} --frame-rate {} --seeds {} --methods {}",
      shell_word(settings.run.mode), curve_name(settings), blend_frames(options), options.tick_rate_hz,
      options.frame_rate_hz, options.seed, methods);
  return text + " --json figures.json";
}

std::string cpp_configuration(const Settings& settings) {
  const harness::ReplayOptions& options = settings.run.options;
  PlayoutConfig playout;
  (void)program::parse_mode(settings.run.mode, playout);
  const char* const mode = playout.mode == PlayoutMode::present    ? "present"
                           : playout.mode == PlayoutMode::adaptive ? "adaptive"
                           : playout.mode == PlayoutMode::ahead    ? "ahead"
                                                                   : "delayed";
  std::string text = fmt::format(
      "reckoner::Archetype body;\n"
      "body.name = \"body\";\n"
      "body.threshold_m = {};\n"
      "body.threshold_rad = {};\n"
      "\n"
      "reckoner::ServerConfig server;\n"
      "server.tick_rate_hz = {};\n",
      options.budget.threshold_m, options.budget.threshold_rad, options.tick_rate_hz);
  if (options.budget.updates_per_second > 0.0)
    text += fmt::format("server.updates_per_second = {};\n", options.budget.updates_per_second);
  text += fmt::format(
      "server.archetypes = {{body}};\n"
      "\n"
      "reckoner::ClientConfig client;\n"
      "client.archetypes = {{body}};\n"
      "client.playout.mode = reckoner::PlayoutMode::{};\n",
      mode);
  if (playout.mode == PlayoutMode::delayed)
    text += fmt::format("client.playout.delay_s = {};\n", playout.delay_s);
  text += fmt::format(
      "client.playout.blend_curve = reckoner::BlendCurve::{};\n"
      "client.playout.blend_s = reckoner::frames_to_seconds({}, {});\n",
      curve_name(settings), blend_frames(options), options.frame_rate_hz);
  return text;
}

}  // namespace reckoner::playground
