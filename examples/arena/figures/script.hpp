// SPDX-License-Identifier: MIT
#pragma once

#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

namespace arena {

/// A line of a file that plays instead of a person: `time_s verb words`, for example `1.5 press Left Shift`.
struct ScriptLine {
  double time_s = 0.0;
  std::string verb, words;
};

/// Reads a script; '#' starts a comment. Nullopt if the file is missing or a line has no time and verb.
inline std::optional<std::vector<ScriptLine>> read_script(const std::string& path) {
  std::ifstream file(path);
  if (!file) return std::nullopt;
  std::vector<ScriptLine> script;
  for (std::string text; std::getline(file, text);) {
    std::istringstream words(text.substr(0, text.find('#')));
    ScriptLine line;
    if (words >> std::ws; words.eof()) continue;
    if (!(words >> line.time_s >> line.verb)) return std::nullopt;
    std::getline(words >> std::ws, line.words);
    line.words.erase(line.words.find_last_not_of(" \t\r") + 1);
    script.push_back(line);
  }
  return script;
}

}  // namespace arena
