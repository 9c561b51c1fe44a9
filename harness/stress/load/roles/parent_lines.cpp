// SPDX-License-Identifier: MIT
#include "harness/stress/load/roles/parent_lines.hpp"

#include "programs/common/system/standard_streams.hpp"

namespace reckoner::harness {

std::optional<std::string> ParentLines::next() {
  char buffer[256];
  const int size = closed_ ? -1 : program::read_waiting_input(buffer);
  if (size == 0) closed_ = true;
  if (size > 0) text_.append(buffer, static_cast<std::size_t>(size));
  const std::size_t end = text_.find('\n');
  if (end == std::string::npos) return std::nullopt;
  std::string line = text_.substr(0, end);
  text_.erase(0, end + 1);
  return line;
}

}  // namespace reckoner::harness
