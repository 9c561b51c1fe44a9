// SPDX-License-Identifier: MIT
// A test file that no CMakeLists.txt lists would never be compiled, without any failure.
#include "tests/support/locations.hpp"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include <gtest/gtest.h>

namespace reckoner::test {
namespace {

namespace fs = std::filesystem;

std::string read_text(const fs::path& path) {
  std::ifstream file{path};
  return {std::istreambuf_iterator<char>{file}, {}};
}

TEST(ListedTests, EveryTestIsCompiled) {
  const fs::path root = source_dir() / "tests";
  std::string listed;
  for (const auto& entry : fs::recursive_directory_iterator{root}) {
    const fs::path& path = entry.path();
    if (path.filename() == "CMakeLists.txt" || path.extension() == ".cmake") listed += read_text(path);
  }
  std::size_t tests = 0;
  for (const auto& entry : fs::recursive_directory_iterator{root}) {
    const std::string name = entry.path().filename().string();
    if (!name.ends_with("_test.cpp")) continue;
    ++tests;
    EXPECT_NE(listed.find(name), std::string::npos) << entry.path();
  }
  EXPECT_GT(tests, 50u);
}

}  // namespace
}  // namespace reckoner::test
