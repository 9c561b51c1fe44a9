// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>

namespace reckoner::harness {

/// Reads the lines that the parent process writes to standard input, without blocking.
class ParentLines {
 public:
  /// The next complete line, or nullopt.
  [[nodiscard]] std::optional<std::string> next();

  /// True if standard input is closed, because the parent has ended or closed the pipe.
  [[nodiscard]] bool closed() const { return closed_; }

 private:
  std::string text_;
  bool closed_ = false;
};

}  // namespace reckoner::harness
