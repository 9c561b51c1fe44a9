// SPDX-License-Identifier: MIT
#pragma once

#include "scenario/source.hpp"
#include "scenario/trace/trace.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <reckoner/client/playout.hpp>
#include <reckoner/reckoning/result.hpp>

namespace reckoner::program {

/// Options that select the source of motion.
struct SourceOptions {
  std::string trace;
  std::string scenario;
  /// Number of entities. A trace is copied until it has this number (scenario::copies_of()). 0: the entities
  /// of the trace, or the scenario's default.
  std::size_t entities = 0;
  std::string entity = "all";
  double start_s = 0.0;
  double seconds = 0.0;  ///< length of the run, s; 0: to the end of the trace, or endless for a scenario
  double teleport_mps = 100.0;
  std::uint64_t seed = 1;
  scenario::Timeline timeline = scenario::Timeline::automatic;
  scenario::TableOptions table{};  ///< how to read a trace that another tool wrote
  scenario::Recentre recentre = scenario::Recentre::automatic;
  double gap_s = 0.25;  ///< between samples that are further apart, nothing is measured, s

  /// How to read the trace.
  [[nodiscard]] scenario::TraceOptions trace_options() const {
    return {teleport_mps, entity, start_s, seconds, timeline, table, recentre, gap_s};
  }
};

/// Opens the source that the options name. Says on standard error what the reader of a trace assumed and
/// could not use (scenario::Source::remarks()), and if it plays the entities one after another because all of
/// them start at t = 0. Fails unless exactly one of trace and scenario is given.
[[nodiscard]] Result<std::unique_ptr<scenario::Source>> open_source(const SourceOptions& options);

/// Sets the mode in `playout` from the text `present`, `adaptive`, `delayed:MS` or `ahead`. Returns an error
/// for any other text and for an invalid delay.
[[nodiscard]] std::optional<Error> parse_mode(std::string_view text, PlayoutConfig& playout);

}  // namespace reckoner::program
