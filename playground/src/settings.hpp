// SPDX-License-Identifier: MIT
#pragma once

#include "harness/replay/replay_arguments.hpp"
#include "programs/common/options/source_options.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <reckoner/reckoning/result.hpp>

namespace reckoner::playground {

/// Everything that determines the figures of a run in the page: the options of `reckoner-harness compare`.
struct Settings {
  program::SourceOptions source;  ///< `trace` is the name of a recording that the page has
  harness::LinkArguments link;
  harness::RunArguments run;
  std::vector<std::string> methods;
};

/// Reads the settings from the JSON object of the page (docs/playground.md lists its members). A member that
/// is missing keeps its default. Returns an error that names a member of the wrong type or an unknown method.
[[nodiscard]] Result<Settings> read_settings(std::string_view json);

/// Opens the source that the settings name. `recording` is the text of the recording; it is ignored for a
/// scenario. Errors are those of the programs.
[[nodiscard]] Result<std::unique_ptr<scenario::Source>> open_source(const Settings& settings,
                                                                    const std::string& recording);

}  // namespace reckoner::playground
