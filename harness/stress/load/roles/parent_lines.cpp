// SPDX-License-Identifier: MIT
#include "harness/stress/load/roles/parent_lines.hpp"

#include <fcntl.h>
#include <unistd.h>

namespace reckoner::harness {

ParentLines::ParentLines() {
  (void)fcntl(STDIN_FILENO, F_SETFL, fcntl(STDIN_FILENO, F_GETFL) | O_NONBLOCK);
}

std::optional<std::string> ParentLines::next() {
  char buffer[256];
  const ssize_t size = closed_ ? -1 : read(STDIN_FILENO, buffer, sizeof buffer);
  if (size == 0) closed_ = true;
  if (size > 0) text_.append(buffer, static_cast<std::size_t>(size));
  const std::size_t end = text_.find('\n');
  if (end == std::string::npos) return std::nullopt;
  std::string line = text_.substr(0, end);
  text_.erase(0, end + 1);
  return line;
}

}  // namespace reckoner::harness
