// SPDX-License-Identifier: MIT
#pragma once

#include "scenario/trace/recording.hpp"
#include "scenario/trace/table_options.hpp"

#include <string_view>

#include <reckoner/reckoning/result.hpp>

namespace reckoner::scenario {

/// Reads a recording from a table as tools write it. Detects the separator, decimal commas and the columns.
/// Units that neither the options nor the table names are guessed. Recording::remarks says in one sentence
/// what was read, and in others what was left out. Fails with one sentence that says what to do.
[[nodiscard]] Result<Recording> read_table(std::string_view text, std::string_view name,
                                           const TableOptions& options = {});

}  // namespace reckoner::scenario
