// SPDX-License-Identifier: MIT
#include "include_checker.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <set>
#include <span>

namespace reckoner::test {
namespace {

using Names = std::span<const std::string_view>;

/// The includes and identifiers that the files of one folder may use. These rules are the boundaries between
/// the libraries.
struct Rules {
  std::string_view folder;  ///< path prefix; the longest match applies
  Names own;                ///< prefixes of the project's headers, public or internal, that may be included
  Names third_party;        ///< allowed in public headers and in code
  Names third_party_code;   ///< allowed in code only
  bool virtual_time;        ///< no clock, no random device, no platform header
};

constexpr std::string_view kReckoning[] = {"reckoner/reckoning/", "reckoning/src/"};
constexpr std::string_view kNet[] = {"reckoner/net/",
                                     "net/src/",
                                     "reckoner/reckoning/blend_profile.hpp",
                                     "reckoner/reckoning/export.hpp",
                                     "reckoner/reckoning/floor.hpp",
                                     "reckoner/reckoning/motion.hpp",
                                     "reckoner/reckoning/result.hpp",
                                     "reckoner/reckoning/route.hpp",
                                     "reckoner/reckoning/state.hpp",
                                     "reckoner/reckoning/velocity_source.hpp",
                                     "reckoner/reckoning/walls.hpp",
                                     "reckoning/src/motion/"};
constexpr std::string_view kServer[] = {"reckoner/server/", "reckoner/reckoning/", "reckoner/net/",
                                        "server/src/",      "reckoning/src/",      "net/src/"};
constexpr std::string_view kClient[] = {"reckoner/client/", "reckoner/reckoning/", "reckoner/net/",
                                        "client/src/",      "reckoning/src/",      "net/src/"};
constexpr std::string_view kCluster[] = {"reckoner/cluster/",   "reckoner/server/",
                                         "reckoner/reckoning/", "reckoner/net/",
                                         "cluster/src/",        "server/src/world_access.hpp",
                                         "reckoning/src/",      "net/src/"};
constexpr std::string_view kWeb[] = {"reckoner/web/", "reckoner/net/", "reckoner/reckoning/", "web/src/",
                                     "net/src/"};
constexpr std::string_view kScenario[] = {"reckoner/reckoning/", "reckoning/src/", "scenario/"};
// The C API uses what a game uses, not the harness. Its header includes only C's own headers.
constexpr std::string_view kCapi[] = {"reckoner/server/",    "reckoner/client/", "reckoner/net/",
                                      "reckoner/reckoning/", "reckoner/web/",    "capi/src/",
                                      "server/src/",         "client/src/",      "net/src/",
                                      "version.hpp"};
constexpr std::string_view kCapiHeader[] = {"stddef.h", "stdint.h", "reckoner.h", "reckoner_web.h"};
constexpr std::string_view kPrograms[] = {"reckoner/",   "reckoning/src/", "net/src/",        "server/src/",
                                          "client/src/", "scenario/",      "programs/common/"};
constexpr std::string_view kServerProgram[] = {"reckoner/",       "reckoning/src/", "net/src/",
                                               "server/src/",     "scenario/",      "programs/common/",
                                               "programs/server/"};
constexpr std::string_view kClientProgram[] = {"reckoner/",       "reckoning/src/", "net/src/",
                                               "client/src/",     "scenario/",      "programs/common/",
                                               "programs/client/"};
constexpr std::string_view kHarness[] = {"reckoner/",        "reckoning/src/", "net/src/",
                                         "server/src/",      "client/src/",    "scenario/",
                                         "programs/common/", "harness/",       "cluster/src/"};
// The game is code to learn from: it uses what is installed, and its own headers.
constexpr std::string_view kArena[] = {"reckoner/",  "authority.hpp",   "body.hpp",      "bot.hpp",
                                       "canvas.hpp", "controls.hpp",    "input.hpp",     "messages.hpp",
                                       "pilot.hpp",  "player.hpp",      "predictor.hpp", "rules.hpp",
                                       "scene.hpp",  "server_game.hpp", "step.hpp"};
constexpr std::string_view kArenaFigures[] = {"reckoner/", "examples/arena/", "harness/sim/",
                                              "reckoning/src/statistics/"};
constexpr std::string_view kSdl[] = {"glm/", "SDL2/", "CLI/", "fmt/"};
constexpr std::string_view kPlayground[] = {"reckoner/",
                                            "scenario/",
                                            "programs/common/options/",
                                            "programs/common/sessions/",
                                            "programs/common/archetypes.hpp",
                                            "harness/",
                                            "playground/"};
constexpr std::string_view kGlm[] = {"glm/"};
constexpr std::string_view kCodec[] = {"cereal/", "sodium.h"};
constexpr std::string_view kEnet[] = {"enet/enet.h"};
constexpr std::string_view kNats[] = {"nats/nats.h"};
constexpr std::string_view kOpenSsl[] = {"openssl/"};
constexpr std::string_view kWebsockets[] = {"libwebsockets.h"};
constexpr std::string_view kUsrsctp[] = {"usrsctp.h"};
constexpr std::string_view kBullet[] = {"btBulletDynamicsCommon.h"};
constexpr std::string_view kTools[] = {"CLI/",    "spdlog/",     "fmt/",      "nlohmann/",
                                       "toml++/", "prometheus/", "civetweb.h"};

constexpr Rules kRules[] = {
    {"reckoning/", kReckoning, kGlm, {}, true},
    {"net/", kNet, kGlm, kCodec, true},
    {"net/src/transport/enet/", kNet, kGlm, kEnet, false},
    {"net/src/transport/platform", kNet, {}, {}, false},
    {"net/src/transport/socket/", kNet, {}, {}, false},
    {"net/src/secure/keys_without_sockets.cpp", kNet, {}, {}, false},
    {"server/", kServer, kGlm, {}, true},
    {"client/", kClient, kGlm, {}, true},
    {"cluster/", kCluster, kGlm, kCodec, true},
    {"cluster/src/nats/", kCluster, kGlm, kNats, false},
    {"web/", kWeb, {}, kOpenSsl, true},
    {"web/src/listener/", kWeb, {}, kWebsockets, false},
    {"web/src/sctp/sctp_association.cpp", kWeb, {}, kUsrsctp, true},
    {"capi/", kCapi, kCapiHeader, kGlm, true},
    {"scenario/", kScenario, kGlm, {}, true},
    {"scenario/builtin/physics/physics_world.cpp", kScenario, kGlm, kBullet, true},
    {"programs/", kPrograms, kTools, kGlm, false},
    {"programs/server/", kServerProgram, kTools, kGlm, false},
    {"programs/client/", kClientProgram, kTools, kGlm, false},
    {"examples/arena/", kArena, kSdl, {}, false},
    {"examples/arena/figures/", kArenaFigures, kGlm, kTools, false},
    {"harness/", kHarness, kGlm, kTools, false},
    {"playground/", kPlayground, kGlm, kTools, true},
    {"harness/sim/", kHarness, kGlm, {}, true},
    {"harness/stress/load/roles/plain_enet.cpp", kHarness, kGlm, kEnet, false},
};

/// The rooms (folders) of the project. A file may include headers of its own room and of earlier rooms in
/// this list. The files directly in a library's src folder connect its rooms, so that folder comes last.
constexpr std::string_view kRooms[] = {
    "reckoning/src/util/", "reckoning/src/statistics/", "reckoning/src/motion/", "reckoning/src/routes/",
    "reckoning/src/blend/", "reckoning/src/curves/", "reckoning/src/prediction/", "reckoning/src/",
    // settings, bits, codecs, message formats, links, connections
    "net/src/config/", "net/src/wire/", "net/src/codec/", "net/src/codec/residual/", "net/src/messages/",
    "net/src/link/", "net/src/transport/limits/", "net/src/transport/", "net/src/transport/socket/",
    "net/src/secure/", "net/src/transport/enet/", "net/src/transport/udp/", "net/src/",
    //
    "server/src/util/", "server/src/world/", "server/src/publish/", "server/src/rewind/",
    "server/src/prediction/", "server/src/session/", "server/src/mail/", "server/src/interest/",
    "server/src/ownership/", "server/src/",
    //
    "client/src/testing/", "client/src/playout/", "client/src/prediction/", "client/src/ownership/",
    "client/src/world/", "client/src/shown/", "client/src/connection/", "client/src/",
    //
    "capi/src/values/", "capi/src/", "capi/src/client/", "capi/src/server/",
    //
    "cluster/src/wire/", "cluster/src/bus/", "cluster/src/nats/", "cluster/src/witness/", "cluster/src/mail/",
    "cluster/src/authority/", "cluster/src/mirror/", "cluster/src/simulator/", "cluster/src/",
    // not installed
    "web/src/http/", "web/src/ice/", "web/src/sctp/", "web/src/signalling/", "web/src/dtls/",
    "web/src/channel/", "web/src/listener/",
    //
    "scenario/", "scenario/trace/", "scenario/builtin/", "scenario/builtin/scenes/",
    "scenario/builtin/physics/", "programs/common/system/", "programs/common/options/",
    "programs/common/loop/", "programs/common/", "programs/common/sessions/", "programs/", "harness/sim/",
    "harness/metrics/", "harness/conditioner/", "harness/explain/", "harness/explain/trials/",
    "harness/replay/", "harness/methods/", "harness/methods/baselines/", "harness/process/",
    "harness/report/", "harness/stress/load/recording/", "harness/stress/load/roles/", "harness/stress/load/",
    "harness/stress/flood/", "harness/stress/soak/", "harness/arena/", "harness/prediction/",
    "harness/cluster/", "harness/commands/", "harness/commands/football/", "harness/commands/motion/",
    "harness/commands/replay/", "harness/commands/stress/", "harness/", "playground/src/"};

constexpr std::string_view kMachine[] = {"steady_clock", "system_clock",  "high_resolution_clock",
                                         "utc_clock",    "clock_gettime", "gettimeofday",
                                         "timespec_get", "random_device", "rand",
                                         "srand",        "sleep_for",     "sleep_until"};

bool starts_with_any(std::string_view text, Names prefixes) {
  return std::any_of(prefixes.begin(), prefixes.end(),
                     [&](std::string_view prefix) { return text.starts_with(prefix); });
}

const Rules* rules_for(std::string_view path) {
  const Rules* best = nullptr;
  for (const Rules& rules : kRules) {
    if (path.starts_with(rules.folder) && (!best || rules.folder.size() > best->folder.size())) best = &rules;
  }
  return best;
}

/// The end of the string or character literal that opens at `i`: the index after its closing quote, or the
/// end of the line. A quote between digits, as in 1'000, opens no literal.
std::size_t literal_end(std::string_view text, std::size_t i) {
  const char quote = text[i];
  if (quote == '\'' && i > 0 && std::isalnum(static_cast<unsigned char>(text[i - 1]))) return i + 1;
  for (++i; i < text.size() && text[i] != quote && text[i] != '\n'; ++i) {
    if (text[i] == '\\') ++i;
  }
  return std::min(i + 1, text.size());
}

/// The text with comments replaced by spaces. Lines and literals are kept.
std::string without_comments(std::string_view text) {
  std::string out(text);
  for (std::size_t i = 0; i < text.size();) {
    std::size_t end = i;
    if (text[i] == '"' || text[i] == '\'') {
      i = literal_end(text, i);
      continue;
    }
    if (text.substr(i, 2) == "//") end = std::min(text.find('\n', i), text.size());
    if (text.substr(i, 2) == "/*") end = std::min(text.find("*/", i + 2), text.size() - 2) + 2;
    for (std::size_t k = i; k < end; ++k) {
      if (out[k] != '\n') out[k] = ' ';
    }
    i = std::max(end, i + 1);
  }
  return out;
}

/// The name and the opening bracket of an #include line: `<vector` or `"bits.hpp`.
std::optional<std::string> included(std::string_view line) {
  const auto skip_blanks = [&] { line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size())); };
  const auto skip_word = [&](std::string_view word) {
    skip_blanks();
    const bool here = line.starts_with(word);
    if (here) line.remove_prefix(word.size());
    return here;
  };
  if (!skip_word("#") || !skip_word("include")) return std::nullopt;
  skip_blanks();
  return std::string(line.substr(0, line.find_first_of(">\"", 1)));
}

/// Standard C++ headers have neither a dot nor a slash; <time.h> and <unistd.h> do.
bool is_standard(std::string_view name) {
  return name.find_first_of("./") == std::string_view::npos;
}

/// The index in kRooms of the room that contains a path; nullopt for a path outside of all rooms.
std::optional<std::size_t> room_of(std::string_view path) {
  std::optional<std::size_t> best;
  for (std::size_t i = 0; i < std::size(kRooms); ++i) {
    if (path.starts_with(kRooms[i]) && (!best || kRooms[i].size() > kRooms[*best].size())) best = i;
  }
  return best;
}

/// Returns what is wrong with an include of a header of this project; empty if nothing is wrong.
std::string judge_own(const std::string& path, const Rules& rules, std::string_view name) {
  if (!starts_with_any(name, rules.own)) return "is not this folder's to include";
  const auto from = room_of(path), to = room_of(name);
  if (from && to && *to > *from) return "is in a room above this one";
  return "";
}

std::string judge_include(const std::string& path, const Rules& rules, const std::string& include) {
  const std::string_view name = std::string_view(include).substr(1);
  const bool quoted = include.front() == '"';
  const bool public_header = path.find("/include/") != std::string::npos;
  if (quoted && public_header) return "a public header may not include an internal one";
  if (quoted || name.starts_with("reckoner/")) return judge_own(path, rules, name);
  if (starts_with_any(name, rules.third_party)) return "";
  if (starts_with_any(name, rules.third_party_code)) {
    return public_header ? "third-party types stay private" : "";
  }
  if (is_standard(name)) {
    if (rules.virtual_time && name == "ctime") return "reads the machine's clock";
    return "";
  }
  const bool platform = !starts_with_any(name, kGlm) && !starts_with_any(name, kCodec) &&
                        !starts_with_any(name, kEnet) && !starts_with_any(name, kNats) &&
                        !starts_with_any(name, kBullet) && !starts_with_any(name, kOpenSsl) &&
                        !starts_with_any(name, kWebsockets) && !starts_with_any(name, kTools) &&
                        name != "reckoner.h" && name != "reckoner_web.h";
  if (platform && !rules.virtual_time) return public_header ? "platform types stay private" : "";
  return "is not allowed in this folder";
}

/// Identifiers of a line, in order.
std::vector<std::string> identifiers(std::string_view line) {
  std::vector<std::string> words(1);
  for (const char c : line) {
    if (std::isalnum(static_cast<unsigned char>(c)) || c == '_') {
      words.back() += c;
    } else if (!words.back().empty()) {
      words.emplace_back();
    }
  }
  return words;
}

std::string judge_code(const Rules& rules, std::string_view line) {
  if (!rules.virtual_time) return "";
  if (line.find("std::time(") != std::string_view::npos) return "std::time: reads the machine's clock";
  for (const std::string& word : identifiers(line)) {
    if (std::find(std::begin(kMachine), std::end(kMachine), word) != std::end(kMachine)) {
      return word + ": time is a parameter, randomness is seeded and owned";
    }
    if (word.ends_with("_distribution")) return word + ": differs between standard libraries";
  }
  return "";
}

bool is_source(const std::filesystem::path& path) {
  return path.extension() == ".hpp" || path.extension() == ".cpp" || path.extension() == ".h";
}

}  // namespace

std::vector<Violation> check_source(const std::string& path, std::string_view text) {
  std::vector<Violation> found;
  const Rules* rules = rules_for(path);
  if (!rules) return found;

  const std::string code = without_comments(text);
  std::size_t begin = 0;
  for (int number = 1; begin < code.size(); ++number) {
    const std::size_t end = std::min(code.find('\n', begin), code.size());
    const std::string_view line = std::string_view(code).substr(begin, end - begin);
    begin = end + 1;
    if (const auto include = included(line)) {
      const std::string what = include->empty() ? "unreadable" : judge_include(path, *rules, *include);
      if (!what.empty())
        found.push_back(
            {path, number, include->substr(std::min<std::size_t>(1, include->size())) + " " + what});
    } else if (const std::string what = judge_code(*rules, line); !what.empty()) {
      found.push_back({path, number, what});
    }
  }
  return found;
}

TreeReport check_tree(const std::string& project_dir) {
  namespace fs = std::filesystem;
  TreeReport report;
  std::set<std::string> paths;  // sorted, so that the report does not depend on the file system
  for (const Rules& rules : kRules) {
    const fs::path folder = fs::path(project_dir) / rules.folder;
    if (!fs::is_directory(folder)) continue;
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
      if (entry.is_regular_file() && is_source(entry.path())) {
        paths.insert(fs::relative(entry.path(), project_dir).generic_string());
      }
    }
  }
  for (const std::string& path : paths) {
    std::ifstream file(fs::path(project_dir) / path);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    const auto found = check_source(path, text);
    report.violations.insert(report.violations.end(), found.begin(), found.end());
    report.checked.push_back(path);
    if (without_comments(text).find("#include <enet/enet.h>") != std::string::npos) {
      report.includes_enet_h.push_back(path);
    }
  }
  return report;
}

}  // namespace reckoner::test
