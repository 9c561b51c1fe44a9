// SPDX-License-Identifier: MIT
#include "harness/report/progress_bar.hpp"

#include "programs/common/system/standard_streams.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdio>

#include <fmt/core.h>

namespace reckoner::harness {

void show_progress(const std::string& what, double done) {
  if (!program::is_terminal(stderr)) return;
  constexpr std::size_t kWidth = 40;
  const auto full = static_cast<std::size_t>(std::clamp(done, 0.0, 1.0) * kWidth);
  fmt::print(stderr, "\r[{}{}] {:<32}", std::string(full, '#'), std::string(kWidth - full, '.'), what);
  std::fflush(stderr);
}

void end_progress() {
  if (program::is_terminal(stderr)) fmt::print(stderr, "\r{}\r", std::string(76, ' '));
}

}  // namespace reckoner::harness
