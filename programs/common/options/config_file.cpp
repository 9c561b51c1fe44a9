// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cmath>
#include <set>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>

#define TOML_EXCEPTIONS 0
#define TOML_HEADER_ONLY 1
#include "programs/common/options/command_line_error.hpp"
#include "programs/common/options/config_file.hpp"
#include "scenario/trace/csv.hpp"

#include <fmt/format.h>
#include <toml++/toml.h>

namespace reckoner::program {
namespace {

constexpr std::size_t kMaxConfigBytes = 1u << 20;

// Options that are valid only on the command line.
constexpr std::string_view kCommandLineOnly[] = {"help", "config"};

Error at(const std::string& path, const toml::node& node, const std::string& what) {
  return Error{fmt::format("{}:{}: {}", path, node.source().begin.line, what)};
}

std::string_view kind_of(const toml::node& node) {
  if (node.is_table()) return "a section";
  if (node.is_array()) return "a list";
  if (node.is_string()) return "a string";
  if (node.is_integer()) return "a whole number";
  if (const auto* number = node.as_floating_point())
    return std::isfinite(number->get()) ? "a number with a fraction" : "NaN or infinity";
  if (node.is_boolean()) return "true or false";
  return "a date or time";
}

// The kinds of values in the file. The type of the option in CLI11 decides which kind is valid.
enum class SettingKind : std::uint8_t { flag, text, texts, whole, number };

SettingKind kind_of(const CLI::Option& option) {
  if (option.get_items_expected_max() == 0) return SettingKind::flag;
  const std::string type = option.get_type_name();
  if (type.starts_with("FLOAT")) return SettingKind::number;
  if (type.starts_with("UINT") || type.starts_with("INT")) return SettingKind::whole;
  return option.get_items_expected_max() > 1 ? SettingKind::texts : SettingKind::text;
}

constexpr std::string_view kWanted[] = {"true or false", "a string", "a string, or several in a list",
                                        "a whole number", "a number"};

// The values of `node` in the form that the command line uses. Empty if the node is not of the kind `kind`.
std::vector<std::string> as_texts(const toml::node& node, SettingKind kind) {
  switch (kind) {
    case SettingKind::flag:
      if (const auto* flag = node.as_boolean()) return {flag->get() ? "true" : "false"};
      break;
    case SettingKind::texts:
      if (const auto* list = node.as_array(); list != nullptr && list->is_homogeneous<std::string>()) {
        std::vector<std::string> texts;
        for (const toml::node& item : *list)
          texts.push_back(item.as_string()->get());
        return texts;
      }
      [[fallthrough]];
    case SettingKind::text:
      if (const auto* text = node.as_string()) return {text->get()};
      break;
    case SettingKind::number:
      // The ranges of CLI11 accept NaN.
      if (const auto* number = node.as_floating_point()) {
        if (!std::isfinite(number->get())) return {};
        return {fmt::format("{}", number->get())};
      }
      [[fallthrough]];
    case SettingKind::whole:
      if (const auto* whole = node.as_integer()) return {fmt::format("{}", whole->get())};
      break;
  }
  return {};
}

CLI::Option* option_of(CLI::App& app, std::string_view key) {
  for (const std::string_view only : kCommandLineOnly) {
    if (key == only) return nullptr;
  }
  return app.get_option_no_throw("--" + std::string(key));
}

// True if there are options whose names begin with `key` and a dot: they form a section of the file.
bool is_section(const CLI::App& app, const std::string& key) {
  return std::ranges::any_of(app.get_options(), [start = "--" + key + "."](const CLI::Option* option) {
    return option->get_name().starts_with(start);
  });
}

// The options that are set on the command line, and the options that were found in the file so far.
struct Given {
  std::set<const CLI::Option*> on_command_line;
  std::set<const CLI::Option*> in_file;
};

// Sets an option to the values from the file. Returns an error text if they are invalid.
std::optional<std::string> set(CLI::Option& option, const std::vector<std::string>& values) {
  try {
    for (const std::string& value : values)
      option.add_result(value);
    option.run_callback();
  } catch (const CLI::Error& error) {
    return without_repeated_name(error.what());
  }
  return std::nullopt;
}

std::optional<Error> apply(const std::string& path, const std::string& key, const toml::node& node,
                           CLI::App& app, Given& given) {
  CLI::Option* option = option_of(app, key);
  if (option == nullptr) return at(path, node, "there is no option '" + key + "' (--help lists them)");
  const SettingKind kind = kind_of(*option);
  const auto values = as_texts(node, kind);
  if (values.empty()) {
    return at(
        path, node,
        fmt::format("'{}' must be {}, not {}", key, kWanted[static_cast<std::size_t>(kind)], kind_of(node)));
  }
  if (kind == SettingKind::flag && values.front() == "false") return std::nullopt;
  bool overruled = given.on_command_line.contains(option);
  for (const CLI::Option* other : option->get_excludes()) {
    overruled = overruled || given.on_command_line.contains(other);
    if (given.in_file.contains(other)) return at(path, node, "'" + key + "' excludes " + other->get_name());
  }
  if (overruled) return std::nullopt;
  given.in_file.insert(option);
  if (const auto wrong = set(*option, values)) return at(path, node, "'" + key + "': " + *wrong);
  return std::nullopt;
}

// Applies a table of the file. `section` is the beginning of the names of its options, including the dot. It
// is empty for the whole file.
std::optional<Error> apply_table(const std::string& path, const std::string& section,
                                 const toml::table& table, CLI::App& app, Given& given) {
  for (const auto& [key_node, node] : table) {
    const std::string key = section + std::string{key_node.str()};
    std::optional<Error> wrong;
    if (!is_section(app, key)) {
      wrong = apply(path, key, node, app, given);
    } else if (const toml::table* const inner = node.as_table()) {
      wrong = apply_table(path, key + ".", *inner, app, given);
    } else {
      wrong = at(path, node, fmt::format("'{}' must be a section, not {}", key, kind_of(node)));
    }
    if (wrong) return wrong;
  }
  return std::nullopt;
}

}  // namespace

void add_config_option(CLI::App& app, std::string& path) {
  app.add_option("--config", path,
                 "TOML file with options; keys are the options' names; the command line wins");
}

std::optional<Error> apply_config_file(const std::string& path, CLI::App& app) {
  const auto text = scenario::read_text_file(path, kMaxConfigBytes);
  if (!text) return Error{text.error()};
  const toml::parse_result parsed = toml::parse(*text, path);
  if (!parsed) {
    const auto line = parsed.error().source().begin.line;
    return Error{fmt::format("{}:{}: {}", path, line, parsed.error().description())};
  }
  Given given;
  for (const CLI::Option* option : app.get_options()) {
    if (option->count() > 0) given.on_command_line.insert(option);
  }
  return apply_table(path, "", parsed.table(), app, given);
}

}  // namespace reckoner::program
