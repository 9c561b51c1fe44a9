// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>

namespace reckoner::harness {

/// The lines that a parent process writes to this one's standard input, read without waiting.
class ToldLines {
 public:
  ToldLines();

  /// The next whole line, if one is there.
  [[nodiscard]] std::optional<std::string> next();

  /// Nobody will write any more: the parent has ended.
  [[nodiscard]] bool closed() const { return closed_; }

 private:
  std::string text_;
  bool closed_ = false;
};

}  // namespace reckoner::harness
