// SPDX-License-Identifier: MIT
#pragma once

#include "body.hpp"

#include <cmath>
#include <fstream>
#include <initializer_list>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace arena {

/// The keys that a player holds down, by SDL's names of keys, and what they mean. A game pad moves `stick`.
struct Pilot {
  std::set<std::string> held;
  glm::dvec2 stick{0.0};
  std::optional<double> aim_rad;  // of the mouse or a pad; empty: the player faces where it walks
  double last_aim_rad = 0.0;

  [[nodiscard]] bool holds(std::initializer_list<const char*> keys) const {
    for (const char* key : keys) {
      if (held.contains(key)) return true;
    }
    return false;
  }
  [[nodiscard]] bool fires_bolt() const { return holds({"J", "Mouse 1", "Pad rightshoulder"}); }
  [[nodiscard]] bool fires_beam() const { return holds({"K", "Mouse 3", "Pad leftshoulder"}); }

  Controls controls() {
    Controls out{.walk = stick};
    out.walk.x += (holds({"D", "Right"}) ? 1.0 : 0.0) - (holds({"A", "Left"}) ? 1.0 : 0.0);
    out.walk.y += (holds({"W", "Up"}) ? 1.0 : 0.0) - (holds({"S", "Down"}) ? 1.0 : 0.0);
    out.jump = holds({"Space", "Pad a"});
    out.dash = holds({"Left Shift", "Pad x"});
    if (aim_rad) {
      last_aim_rad = *aim_rad;
    } else if (out.walk != glm::dvec2(0.0)) {
      last_aim_rad = std::atan2(out.walk.y, out.walk.x);
    }
    out.aim_rad = last_aim_rad;
    return out;
  }
};

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
