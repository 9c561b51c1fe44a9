// SPDX-License-Identifier: MIT
#include "scenario/trace/output_file.hpp"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>

#include <gtest/gtest.h>

namespace reckoner::scenario {
namespace {

class OutputFiles : public testing::Test {
 protected:
  OutputFiles() {
    std::filesystem::remove_all(folder);
    std::filesystem::create_directories(folder);
  }
  ~OutputFiles() override { std::filesystem::remove_all(folder); }

  static std::string contents(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  [[nodiscard]] std::size_t files() const {
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(folder), {}));
  }

  const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / "reckoner_output_file";
  const std::string path = (folder / "out.csv").string();
};

TEST_F(OutputFiles, ReplacesAFileOnlyWhenComplete) {
  std::ofstream(path) << "old";
  auto file = OutputFile::create(path);
  ASSERT_TRUE(file);
  file->write("new");
  EXPECT_EQ(contents(path), "old");
  EXPECT_TRUE(file->close());
  EXPECT_TRUE(file->close());
  EXPECT_EQ(contents(path), "new");
  EXPECT_EQ(files(), 1u);
}

TEST_F(OutputFiles, DiscardsAFileThatIsNotClosed) {
  { ASSERT_TRUE(OutputFile::create(path)); }
  EXPECT_EQ(files(), 0u);
  std::ofstream(path) << "old";
  {
    auto file = OutputFile::create(path);
    ASSERT_TRUE(file);
    file->write("new");
    OutputFile moved = std::move(*file);
    moved.write("er");
  }
  EXPECT_EQ(contents(path), "old");
  EXPECT_EQ(files(), 1u);
}

TEST_F(OutputFiles, ANewFileHasItsNameAtOnceUnlessToldOtherwise) {
  auto at_once = OutputFile::create(path);
  ASSERT_TRUE(at_once);
  EXPECT_TRUE(std::filesystem::exists(path));
  EXPECT_TRUE(at_once->close());
  const std::string later = (folder / "later.csv").string();
  auto when_complete = OutputFile::create(later, OutputFile::Named::when_complete);
  ASSERT_TRUE(when_complete);
  EXPECT_FALSE(std::filesystem::exists(later));
  EXPECT_TRUE(when_complete->close());
  EXPECT_TRUE(std::filesystem::exists(later));
}

TEST_F(OutputFiles, AFullDiskIsAnErrorWithAReason) {
  auto file = OutputFile::create("/dev/full");
  if (!file) GTEST_SKIP() << "this system has no full disk to try";
  file->write("a");
  EXPECT_FALSE(file->close());
  EXPECT_FALSE(file->close());
  EXPECT_EQ(file->why(), "No space left on device");
  EXPECT_TRUE(std::filesystem::exists("/dev/full"));
  const auto wrong = write_file("/dev/full", "a");
  ASSERT_TRUE(wrong);
  EXPECT_EQ(wrong->message, "could not write all of /dev/full: No space left on device");
}

TEST_F(OutputFiles, AFolderThatDoesNotExistIsAnError) {
  EXPECT_EQ(OutputFile::create((folder / "no" / "out").string()).error(), "No such file or directory");
  EXPECT_TRUE(write_file((folder / "no" / "out").string(), "a"));
}

#ifndef _WIN32
TEST_F(OutputFiles, ALinkStaysALink) {
  const std::filesystem::path link = folder / "link.csv";
  std::ofstream(path) << "old";
  std::filesystem::create_symlink(path, link);
  EXPECT_FALSE(write_file(link.string(), "new"));
  EXPECT_TRUE(std::filesystem::is_symlink(link));
  EXPECT_EQ(contents(path), "new");
}
#endif

}  // namespace
}  // namespace reckoner::scenario
