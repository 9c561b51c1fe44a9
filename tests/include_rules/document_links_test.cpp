// SPDX-License-Identifier: MIT
// Links between the documents must have targets: existing files and headings.
#include "tests/support/locations.hpp"

#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace reckoner::test {
namespace {

namespace fs = std::filesystem;

const fs::path kRoot = source_dir();

std::string text_of(const fs::path& path) {
  std::ifstream file{path};
  return {std::istreambuf_iterator<char>{file}, {}};
}

/// All Markdown files of the project, except generated ones.
std::vector<fs::path> documents() {
  std::vector<fs::path> found;
  for (auto it = fs::recursive_directory_iterator{kRoot}; it != fs::recursive_directory_iterator{}; ++it) {
    const std::string name = it->path().filename().string();
    if (it->is_directory() &&
        (name == "build" || name == "node_modules" || (name.starts_with('.') && name != ".ci"))) {
      it.disable_recursion_pending();
    } else if (name.ends_with(".md")) {
      found.push_back(it->path());
    }
  }
  return found;
}

/// A page without its code, where brackets have another meaning.
std::string prose_of(const std::string& text) {
  std::string prose;
  bool code = false;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const bool fence = line.find_first_not_of(' ') != std::string::npos &&
                       line.compare(line.find_first_not_of(' '), 3, "```") == 0;
    if (fence) code = !code;
    if (!fence && !code) prose += line + "\n";
  }
  return std::regex_replace(prose, std::regex("`[^`\n]*`"), "`code`");
}

/// The anchor of a heading, as GitHub makes it.
std::string anchor_of(const std::string& heading) {
  std::string anchor;
  for (const char c : heading) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) != 0 || c == '-' || c == '_' || byte >= 0x80) {
      anchor.push_back(static_cast<char>(std::tolower(byte)));
    } else if (c == ' ') {
      anchor.push_back('-');
    }
  }
  return anchor;
}

std::set<std::string> anchors_of(const fs::path& path) {
  std::set<std::string> anchors;
  std::istringstream lines(text_of(path));
  bool code = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("```")) code = !code;
    const std::size_t text = line.find_first_not_of('#');
    if (code || text == 0 || text == std::string::npos || line[text] != ' ') continue;
    const std::string anchor = anchor_of(line.substr(text + 1));
    std::string numbered = anchor;
    for (int i = 1; anchors.contains(numbered); ++i)
      numbered = anchor + "-" + std::to_string(i);
    anchors.insert(numbered);
  }
  return anchors;
}

std::vector<std::string> links_in(const std::string& prose) {
  static const std::regex link(R"(\]\(\s*<?([^)\s>]+)>?(?:\s+"[^"]*")?\s*\))");
  static const std::regex definition(R"((?:^|\n)\[[^\]\n]+\]:\s*(\S+))");
  std::vector<std::string> found;
  for (const std::regex& form : {link, definition}) {
    for (std::sregex_iterator it(prose.begin(), prose.end(), form), end; it != end; ++it)
      found.push_back((*it)[1]);
  }
  return found;
}

/// Why a link has no valid target; empty if the target exists or is outside the project.
std::string wrong_with(const fs::path& page, const std::string& link) {
  if (std::regex_search(link, std::regex("^[a-z+]+:"))) return "";
  const std::size_t hash = link.find('#');
  const std::string file = link.substr(0, hash);
  if (file.starts_with('/')) return "is no relative path";
  const fs::path target = file.empty() ? page : page.parent_path() / file;
  if (!fs::exists(target)) return "is not there";
  if (fs::relative(fs::canonical(target), fs::canonical(kRoot)).string().starts_with(".."))
    return "is outside of the project";
  if (hash == std::string::npos) return "";
  if (target.extension() != ".md") return "has no headings";
  return anchors_of(target).contains(link.substr(hash + 1)) ? "" : "has no such heading";
}

TEST(DocumentLinks, HaveTargets) {
  const auto pages = documents();
  EXPECT_GT(pages.size(), 10u);
  std::size_t links = 0;
  for (const fs::path& page : pages) {
    for (const std::string& link : links_in(prose_of(text_of(page)))) {
      EXPECT_EQ(wrong_with(page, link), "") << link << " in " << page;
      ++links;
    }
  }
  EXPECT_GT(links, 40u);
}

/// Texts in backticks that match the pattern's first group.
std::set<std::string> named_in_documents(const char* pattern) {
  std::set<std::string> names;
  const std::regex form(pattern);
  for (const fs::path& page : documents()) {
    if (page.filename() == "CHANGELOG.md") continue;  // names things that no longer exist
    const std::string text = text_of(page);
    for (std::sregex_iterator it(text.begin(), text.end(), form), end; it != end; ++it)
      names.insert((*it)[1]);
  }
  return names;
}

TEST(DocumentNames, FilesExist) {
  const auto names = named_in_documents(R"(`([a-z_]+/[\w./-]+\.(?:hpp|cpp|h|py|toml|cmake|txt|service))`)");
  EXPECT_GT(names.size(), 10u);
  for (const std::string& name : names) {
    bool exists = fs::exists(kRoot / name) || fs::exists(kRoot / "docs" / name);
    for (const char* library : {"reckoning", "net", "server", "client"})
      exists = exists || fs::exists(kRoot / library / "include" / name);
    EXPECT_TRUE(exists) << name;
  }
}

TEST(DocumentNames, TestsExist) {
  std::string sources;
  for (const auto& file : fs::recursive_directory_iterator{kRoot / "tests"}) {
    if (file.path().extension() == ".cpp") sources += text_of(file.path());
  }
  const auto names = named_in_documents(R"(`([A-Z][A-Za-z0-9]+\.[A-Z][A-Za-z0-9]+)`)");
  EXPECT_GT(names.size(), 50u);
  for (const std::string& name : names) {
    const std::size_t dot = name.find('.');
    const std::string declared = "(" + name.substr(0, dot) + ", " + name.substr(dot + 1) + ")";
    EXPECT_NE(sources.find(declared), std::string::npos) << name;
  }
}

// Every document must be reachable from the README.
TEST(DocumentLinks, EveryPageIsReachable) {
  std::set<fs::path> reached;
  std::vector<fs::path> open{fs::canonical(kRoot / "README.md")};
  while (!open.empty()) {
    const fs::path page = open.back();
    open.pop_back();
    if (!reached.insert(page).second) continue;
    for (const std::string& link : links_in(prose_of(text_of(page)))) {
      const fs::path target = page.parent_path() / link.substr(0, link.find('#'));
      if (target.extension() == ".md" && fs::exists(target)) open.push_back(fs::canonical(target));
    }
  }
  for (const fs::path& page : documents()) {
    const std::string name = page.filename().string();
    if (name == "CHANGELOG.md" || page.parent_path().filename() != "docs") continue;
    EXPECT_TRUE(reached.contains(fs::canonical(page))) << "not reachable from the README: " << page;
  }
}

TEST(DocumentLinks, WrongLinksAreDetected) {
  const fs::path page = kRoot / "README.md";
  EXPECT_EQ(wrong_with(page, "docs/WIRE.md"), "");
  EXPECT_EQ(wrong_with(page, "https://example.org/#x"), "");
  EXPECT_NE(wrong_with(page, "docs/NO_SUCH_PAGE.md"), "");
  EXPECT_NE(wrong_with(page, "docs/WIRE.md#no-such-heading"), "");
  EXPECT_NE(wrong_with(page, "#no-such-heading"), "");
  EXPECT_EQ(wrong_with(page, "#what-it-does"), "");
  EXPECT_NE(wrong_with(page, "../outside"), "");
  EXPECT_NE(wrong_with(page, "/etc/passwd"), "");
  EXPECT_EQ(links_in(prose_of("a [b](c.md) ![d](e.svg \"t\")\n```\n[x](y)\n```\n`[z](w)`\n[q]: r.md\n")),
            (std::vector<std::string>{"c.md", "e.svg", "r.md"}));
  EXPECT_EQ(anchor_of("What it does, and `how` (1)"), "what-it-does-and-how-1");
}

}  // namespace
}  // namespace reckoner::test
