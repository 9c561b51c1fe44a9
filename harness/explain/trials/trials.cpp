// SPDX-License-Identifier: MIT
#include "harness/explain/trials/trials.hpp"

#include <fmt/format.h>

namespace reckoner::harness {
namespace {

void add(TrialTable::Row& row, const TrialResult& result) {
  ++row.sessions;
  row.right += result.right ? 1 : 0;
  row.worst_right += result.worst_is_right ? 1 : 0;
  row.redraws += static_cast<std::size_t>(result.redraws);
  row.not_found += result.found ? 0 : 1;
  if (result.found) ++row.named[static_cast<std::size_t>(result.found->cause)];
}

}  // namespace

TrialTable::Row TrialTable::disturbed() const {
  Row sum;
  for (std::size_t i = 0; i < kCauses; ++i) {
    sum.sessions += rows[i].sessions;
    sum.right += rows[i].right;
    sum.worst_right += rows[i].worst_right;
    sum.not_found += rows[i].not_found;
    sum.redraws += rows[i].redraws;
  }
  return sum;
}

TrialTable make_table(std::span<const TrialResult> results) {
  TrialTable table;
  for (const TrialResult& result : results) {
    const std::size_t row = result.plan.cause ? static_cast<std::size_t>(*result.plan.cause) : kCauses;
    add(table.rows[row], result);
  }
  return table;
}

std::string table_text(const TrialTable& table) {
  std::string text = fmt::format("{:<18}{:>9}{:>7}{:>9}{:>9}  {}\n", "injected", "sessions", "right",
                                 "largest", "redrawn", "wrong answers");
  for (std::size_t i = 0; i <= kCauses; ++i) {
    const TrialTable::Row& row = table.rows[i];
    if (row.sessions == 0) continue;
    const bool calm = i == kCauses;
    std::string wrong = !calm && row.not_found > 0 ? fmt::format("{} not found ", row.not_found) : "";
    for (std::size_t other = 0; other < kCauses; ++other) {
      if (other != i && row.named[other] > 0)
        wrong += fmt::format("{} {} ", row.named[other], name_of(static_cast<Cause>(other)));
    }
    text +=
        fmt::format("{:<18}{:>9}{:>7}{:>9}{:>9}  {}\n", calm ? "nothing" : name_of(static_cast<Cause>(i)),
                    row.sessions, row.right, calm ? "" : std::to_string(row.worst_right), row.redraws, wrong);
  }
  const TrialTable::Row all = table.disturbed();
  if (all.sessions > 0) {
    text += fmt::format("{:<18}{:>9}{:>7}{:>9}{:>9}  {:.1f} % right\n", "all disturbed", all.sessions,
                        all.right, all.worst_right, all.redraws,
                        100.0 * static_cast<double>(all.right) / static_cast<double>(all.sessions));
  }
  return text;
}

}  // namespace reckoner::harness
