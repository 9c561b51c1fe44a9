// SPDX-License-Identifier: MIT
#pragma once

#include "harness/explain/trials/trial.hpp"

#include <array>
#include <cstddef>
#include <span>
#include <string>

namespace reckoner::harness {

/// How often explain() named each cause, by the injected cause. The last row is of undisturbed sessions.
struct TrialTable {
  struct Row {
    std::size_t sessions = 0;
    std::size_t right = 0;
    std::size_t worst_right = 0;  ///< the largest step of the whole session names the cause
    std::size_t not_found = 0;    ///< explain() did not list the step
    std::size_t redraws = 0;
    std::array<std::size_t, kCauses> named{};  ///< by the cause that explain() named
  };
  std::array<Row, kCauses + 1> rows;

  [[nodiscard]] Row disturbed() const;  ///< the sum of all rows of disturbed sessions
};

[[nodiscard]] TrialTable make_table(std::span<const TrialResult> results);

/// The table as text with a row per cause.
[[nodiscard]] std::string table_text(const TrialTable& table);

}  // namespace reckoner::harness
