// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace reckoner::test {

/// One line of code that breaks the table of allowed includes.
struct Violation {
  std::string path;  ///< relative to the project, with '/'
  int line = 0;      ///< from 1
  std::string what;  ///< description of the fault

  friend bool operator==(const Violation&, const Violation&) = default;
};

/// Checks one file's text against the rules of its folder (the first part of `path`). Files outside the
/// folders with rules have no violations.
[[nodiscard]] std::vector<Violation> check_source(const std::string& path, std::string_view text);

/// The result for a whole tree.
struct TreeReport {
  std::vector<Violation> violations;
  std::vector<std::string> checked;          ///< paths of the files that were checked against rules
  std::vector<std::string> includes_enet_h;  ///< paths of the files that include enet/enet.h
};

/// Checks every .hpp, .h and .cpp of the folders with rules under `project_dir`.
[[nodiscard]] TreeReport check_tree(const std::string& project_dir);

}  // namespace reckoner::test
