// SPDX-License-Identifier: MIT
#include <cmath>
#include <set>
#include <string_view>

#define TOML_EXCEPTIONS 0
#define TOML_HEADER_ONLY 1
#include <fmt/format.h>
#include <toml++/toml.h>

#include <reckoner/program/config_file.hpp>

namespace reckoner::program {
namespace {

// Those that make no sense in a file.
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
    return std::isfinite(number->get()) ? "a number with a fraction" : "one that is none";
  if (node.is_boolean()) return "true or false";
  return "a date or time";
}

// What may stand in the file for an option, as CLI11 knows its type.
enum class Kind : std::uint8_t { flag, text, whole, number };

Kind kind_of(const CLI::Option& option) {
  if (option.get_items_expected_max() == 0) return Kind::flag;
  const std::string type = option.get_type_name();
  if (type.starts_with("FLOAT")) return Kind::number;
  return type.starts_with("UINT") || type.starts_with("INT") ? Kind::whole : Kind::text;
}

constexpr std::string_view kWanted[] = {"true or false", "a string", "a whole number", "a number"};

// As it would be written on the command line; nothing if it is of another kind.
std::optional<std::string> as_text(const toml::node& node, Kind kind) {
  switch (kind) {
    case Kind::flag:
      if (const auto* flag = node.as_boolean()) return flag->get() ? "true" : "false";
      break;
    case Kind::text:
      if (const auto* text = node.as_string()) return text->get();
      break;
    case Kind::number:
      // Ranges do not keep out what is no number at all.
      if (const auto* number = node.as_floating_point()) {
        if (!std::isfinite(number->get())) return std::nullopt;
        return fmt::format("{}", number->get());
      }
      [[fallthrough]];
    case Kind::whole:
      if (const auto* whole = node.as_integer()) return fmt::format("{}", whole->get());
      break;
  }
  return std::nullopt;
}

CLI::Option* option_of(CLI::App& app, std::string_view key) {
  for (const std::string_view only : kCommandLineOnly) {
    if (key == only) return nullptr;
  }
  return app.get_option_no_throw("--" + std::string(key));
}

// Gives an option the value that is in the file.
std::optional<std::string> set(CLI::Option& option, const std::string& value) {
  try {
    option.add_result(value);
    option.run_callback();
  } catch (const CLI::Error& error) {
    return error.what();
  }
  return std::nullopt;
}

}  // namespace

void add_config_option(CLI::App& app, std::string& path) {
  app.add_option("--config", path,
                 "TOML file with any of these options, their names as keys; the command line wins");
}

std::optional<Error> apply_config_file(const std::string& path, CLI::App& app) {
  const toml::parse_result parsed = toml::parse_file(path);
  if (!parsed) {
    const auto line = parsed.error().source().begin.line;
    if (line == 0) return Error{"could not read " + path};
    return Error{fmt::format("{}:{}: {}", path, line, parsed.error().description())};
  }
  std::set<const CLI::Option*> on_command_line;
  for (const CLI::Option* option : app.get_options()) {
    if (option->count() > 0) on_command_line.insert(option);
  }
  std::set<const CLI::Option*> in_file;
  for (const auto& [key_node, node] : parsed.table()) {
    const std::string key{key_node.str()};
    CLI::Option* option = option_of(app, key);
    if (option == nullptr) return at(path, node, "there is no option '" + key + "' (--help lists them)");
    const Kind kind = kind_of(*option);
    const auto value = as_text(node, kind);
    if (!value) {
      return at(path, node,
                fmt::format("'{}' must be {}, not {}", key, kWanted[static_cast<std::size_t>(kind)],
                            kind_of(node)));
    }
    if (kind == Kind::flag && *value == "false") continue;
    bool overruled = on_command_line.contains(option);
    for (const CLI::Option* other : option->get_excludes()) {
      overruled = overruled || on_command_line.contains(other);
      if (in_file.contains(other)) return at(path, node, "'" + key + "' excludes " + other->get_name());
    }
    if (overruled) continue;
    in_file.insert(option);
    if (const auto wrong = set(*option, *value)) return at(path, node, "'" + key + "': " + *wrong);
  }
  return std::nullopt;
}

}  // namespace reckoner::program
