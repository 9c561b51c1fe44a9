// SPDX-License-Identifier: MIT
#include "programs/common/options/source_options.hpp"

#include "scenario/builtin/builtin.hpp"
#include "scenario/trace/copies.hpp"
#include "scenario/trace/decimal.hpp"
#include "scenario/trace/trace.hpp"

#include <cstdio>
#include <optional>
#include <utility>

#include <reckoner/client/client.hpp>

namespace reckoner::program {
namespace {

bool is_successive(const scenario::Source& source) {
  for (std::size_t i = 0; i < source.size(); ++i) {
    if (source.entity(i).offset_s > 0.0) return true;
  }
  return false;
}

}  // namespace

Result<std::unique_ptr<scenario::Source>> open_source(const SourceOptions& options) {
  if (!options.trace.empty()) {
    auto source = scenario::load_trace(options.trace, options.trace_options());
    if (source) {
      for (const std::string& remark : (*source)->remarks())
        std::fprintf(stderr, "%s: %s\n", options.trace.c_str(), remark.c_str());
    }
    if (source && options.timeline == scenario::Timeline::automatic && is_successive(**source)) {
      std::fprintf(stderr,
                   "%s: all entities start at t = 0, so they are played one after another "
                   "(--timeline together: at the same time)\n",
                   options.trace.c_str());
    }
    if (!source || options.entities == 0) return source;
    return scenario::copies_of(std::move(*source), options.entities);
  }
  if (options.scenario.empty())
    return Error{"no source is given: use --trace FILE or --scenario NAME (see --help)"};
  return scenario::make_builtin(options.scenario, options.entities, options.seed);
}

std::optional<Error> parse_mode(std::string_view text, PlayoutConfig& playout) {
  constexpr std::string_view kDelayed = "delayed:";
  std::optional<double> given;
  if (text == "present") {
    playout.mode = PlayoutMode::present;
  } else if (text == "adaptive") {
    playout.mode = PlayoutMode::adaptive;
  } else if (text == "ahead") {
    playout.mode = PlayoutMode::ahead;
  } else if (text.starts_with(kDelayed) && (given = scenario::read_decimal(text.substr(kDelayed.size())))) {
    PlayoutConfig delayed = playout;
    delayed.mode = PlayoutMode::delayed;
    delayed.delay_s = *given / 1000.0;
    if (const auto error = find_invalid_setting(delayed))
      return Error{"unknown mode '" + std::string(text) + "': " + error->message};
    playout = delayed;
  } else {
    return Error{"unknown mode '" + std::string(text) +
                 "': it must be present, adaptive, delayed:MS or ahead"};
  }
  return std::nullopt;
}

}  // namespace reckoner::program
