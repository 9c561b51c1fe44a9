// SPDX-License-Identifier: MIT
// Checks the README and other pages: their code is part of the compiled examples, their commands run, and
// their links have targets.
#include "process.hpp"
#include "tests/support/locations.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <regex>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace reckoner::test {
namespace {

namespace fs = std::filesystem;

const fs::path kProject = source_dir();

std::string readme() {
  return read_file(kProject / "README.md");
}

/// The contents of all code blocks of one language in a page.
std::vector<std::string> blocks(const std::string& language, const std::string& text = readme()) {
  const std::string opening = "\n```" + language + "\n";
  std::vector<std::string> found;
  for (std::size_t at = text.find(opening); at != std::string::npos; at = text.find(opening, at + 1)) {
    const std::size_t begin = at + opening.size();
    found.push_back(text.substr(begin, text.find("```", begin) - begin));
  }
  return found;
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
  return text;
}

/// The text without the spaces at the beginning of its lines.
std::string without_indents(const std::string& text) {
  return std::regex_replace(text, std::regex("\n +"), "\n");
}

/// The concatenated text of all examples, without indents and without the marks of their parts.
std::string examples() {
  static const std::regex mark("\n *// snip: [^\n]*");
  std::string text;
  const auto add = [&](const fs::directory_entry& entry) {
    if (!entry.is_regular_file()) return;
    text += without_indents(std::regex_replace("\n" + read_file(entry.path()), mark, "")) + "\n";
  };
  for (const auto& entry : fs::directory_iterator(kProject / "examples"))
    add(entry);  // a folder is a whole game
  for (const auto& entry : fs::recursive_directory_iterator(kProject / "examples/tutorial"))
    add(entry);
  return text;
}

/// The pages of the tutorial, from the project's folder.
std::vector<std::string> tutorial_pages() {
  std::vector<std::string> pages;
  for (const auto& entry : fs::directory_iterator(kProject / "docs/tutorial")) {
    if (entry.path().extension() == ".md")
      pages.push_back("docs/tutorial/" + entry.path().filename().string());
  }
  std::sort(pages.begin(), pages.end());
  return pages;
}

// Every C++, C and Python block in these pages must be a verbatim part of an example that the tests build and
// run.
TEST(Readme, CodeBlocksAreInTheExamples) {
  const std::string all = examples();
  const auto compare = [&](const char* page, std::size_t least) {
    std::size_t found = 0;
    for (const char* language : {"cpp", "c", "python"}) {
      for (const std::string& piece : blocks(language, read_file(kProject / page))) {
        EXPECT_NE(all.find(without_indents("\n" + piece)), std::string::npos) << page << ":\n" << piece;
        ++found;
      }
    }
    EXPECT_GE(found, least) << page;
  };
  compare("README.md", 2);
  compare("docs/FIELDS.md", 4);
  compare("docs/INTEGRATION.md", 9);
  compare("docs/prediction.md", 6);
  for (const std::string& page : tutorial_pages())
    compare(page.c_str(), 1);
  EXPECT_EQ(all.find("no such words as these"), std::string::npos);
}

// A page of the tutorial can be read at once, and has a picture of its own. CMake builds a game with the
// first page.
TEST(Readme, TutorialPagesAreShortAndHavePictures) {
  const auto pages = tutorial_pages();
  EXPECT_GE(pages.size(), 8u);
  for (const std::string& page : pages) {
    const std::string text = read_file(kProject / page);
    EXPECT_LE(std::count(text.begin(), text.end(), '\n'), 120) << page;
    std::smatch picture;
    ASSERT_TRUE(std::regex_search(text, picture, std::regex(R"(!\[[^\]]+\]\(([^)]+)\))"))) << page;
    EXPECT_TRUE(fs::exists(kProject / "docs/tutorial" / picture[1].str())) << page;
  }
}

// Runs the commands that use the built programs, on free ports and for a shorter time. .ci/run and
// tests/consumer run the commands of ./dev and of the installation.
TEST(Readme, CommandsRun) {
  const ScratchDir dir;
  fs::create_directories(dir.path() / "build");
  fs::create_directory_symlink(program_dir(), dir.path() / "build/bin");
  std::ofstream trace(dir.file("TRACE.csv"));
  trace << "t,x,y,z\n";
  for (int i = 0; i <= 300; ++i)
    trace << i / 60.0 << "," << std::sin(i / 60.0) << "," << i / 60.0 << ",0\n";
  trace.close();

  int ran = 0;
  auto all = blocks("sh");
  for (const char* page : {"docs/PROGRAMS.md", "docs/SECURITY.md"}) {
    for (const std::string& block : blocks("sh", read_file(kProject / page)))
      all.push_back(block);
  }
  for (std::string block : all) {
    if (!block.starts_with("build/bin/")) continue;
    for (const char* port : {"26000", "26001"})
      block = replaced(block, port, free_udp_port());
    block = replaced(block, "--seconds 60", "--seconds 4");  // only the figures need a whole minute
    const std::string script = "set -e\ncd '" + dir.path().string() + "'\n" + block;
    const Finished finished = run("/bin/bash", {"-c", script}, 60.0);
    EXPECT_EQ(finished.exit_code, 0) << script << finished.output << finished.errors;
    ++ran;
  }
  EXPECT_GE(ran, 3);
  EXPECT_GT(read_file(dir.path() / "shown.csv").size(), 1000u);
  EXPECT_GT(read_file(dir.path() / "figures.json").size(), 100u);
}

// A document without its blocks of code, in which a lambda looks like a link.
std::string without_code(const std::string& text) {
  constexpr std::string_view kFence = "```";
  std::string left;
  for (std::size_t at = 0; at != std::string::npos;) {
    const std::size_t begin = text.find(kFence, at);
    left += text.substr(at, begin - at);
    const std::size_t end = begin == std::string::npos ? begin : text.find(kFence, begin + kFence.size());
    at = end == std::string::npos ? end : end + kFence.size();
  }
  return left;
}

TEST(Readme, LinksHaveTargets) {
  const std::string text =
      without_code(readme() + replaced(read_file(kProject / "docs/INTEGRATION.md"), "](", "](docs/"));
  const std::regex link(R"(\]\(([^)#]+)\))");
  for (std::sregex_iterator it(text.begin(), text.end(), link), end; it != end; ++it) {
    const std::string target = (*it)[1];
    EXPECT_TRUE(target.starts_with("http") || fs::exists(kProject / target)) << target;
  }
}

}  // namespace
}  // namespace reckoner::test
