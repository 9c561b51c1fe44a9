// SPDX-License-Identifier: MIT
#include "programs/common/options/command_line_error.hpp"

#include "net/src/wire/edit_distance.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>

namespace reckoner::program {
namespace {

// The innermost command that the command line names.
const CLI::App& innermost(const CLI::App& app) {
  const CLI::App* found = &app;
  while (!found->get_subcommands().empty())
    found = found->get_subcommands().back();
  return *found;
}

// " Did you mean NAME?" with the most similar name; empty if none is similar.
std::string suggestion(const std::vector<std::string>& names, const std::string& wanted) {
  const auto distance = [&](const std::string& name) { return edit_distance(wanted, name); };
  const auto best = std::ranges::min_element(names, {}, distance);
  const std::size_t most = std::max<std::size_t>(2, wanted.size() / 3);
  if (best == names.end() || distance(*best) > most) return {};
  return " Did you mean " + *best + "?";
}

std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames())
      names.push_back("--" + name);
  }
  return names;
}

// Hidden commands are in no group.
std::vector<std::string> command_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands(nullptr)) {
    if (!command->get_group().empty()) names.push_back(command->get_name());
  }
  return names;
}

// The words that the parser did not understand. CLI11 forgets them when it throws an ExtrasError, whose text
// ends with them, the last one first.
std::vector<std::string> unknown_words(const CLI::App& app, const std::string& error) {
  constexpr std::string_view kBegin = " not expected: ";
  const std::size_t begin = error.find(kBegin);
  if (begin == std::string::npos) return app.remaining(true);
  std::istringstream text(error.substr(begin + kBegin.size()));
  std::vector<std::string> words(std::istream_iterator<std::string>{text}, {});
  std::ranges::reverse(words);
  return words;
}

// What is wrong with the words that the parser did not understand; nullopt if it understood all.
std::optional<std::string> unknown_word(const CLI::App& app, const std::string& error) {
  const std::vector<std::string> words = unknown_words(app, error);
  if (words.empty()) return std::nullopt;
  const CLI::App& command = innermost(app);
  const auto option =
      std::ranges::find_if(words, [](const std::string& word) { return word.starts_with("-"); });
  if (option != words.end()) {
    const std::string name = option->substr(0, option->find('='));
    return "there is no option " + name + "." + suggestion(option_names(command), name);
  }
  const std::vector<std::string> commands = command_names(command);
  if (!commands.empty())
    return "there is no command '" + words.front() + "'." + suggestion(commands, words.front());
  return "'" + words.front() + "' belongs to no option.";
}

// CLI11 writes the limits of a range with all their digits, up to the largest number that exists.
std::string without_largest_number(const std::string& error) {
  const std::size_t range = error.find(" not in range ");
  if (range == std::string::npos || error.find(" to 17976931348623157", range) == std::string::npos)
    return error;
  const std::size_t value = error.rfind(' ', range - 1) + 1;
  const bool is_zero = std::strtod(error.c_str() + value, nullptr) == 0.0;
  return error.substr(0, range) + (is_zero ? " is not above 0" : " is negative");
}

std::string without_conversion(const std::string& error) {
  constexpr std::string_view kBegin = "Could not convert: ";
  if (!error.starts_with(kBegin)) return error;
  const std::size_t equals = error.find(" = ");
  if (equals == std::string::npos) return error;
  return error.substr(kBegin.size(), equals - kBegin.size()) + ": Value " + error.substr(equals + 3) +
         " is out of range";
}

// An error if `text` is no number of the kind of the option.
std::string check_number(const std::string& text, bool is_whole, bool is_signed) {
  if (!is_whole) {
    double value = 0.0;
    if (!CLI::detail::lexical_cast(text, value)) return "Value " + text + " is not a number";
    return std::isfinite(value) ? std::string{} : text + " is not finite";
  }
  std::int64_t value = 0;
  std::uint64_t positive = 0;
  if (CLI::detail::lexical_cast(text, positive) && !text.starts_with("-")) return {};
  if (!CLI::detail::lexical_cast(text, value)) return "Value " + text + " is not a whole number";
  return is_signed ? std::string{} : "Value " + text + " is negative";
}

}  // namespace

std::string without_repeated_name(const std::string& error) {
  const auto colon = error.find(": ");
  if (colon == std::string::npos) return error;
  const std::string_view rest = std::string_view(error).substr(colon + 2);
  return std::string(rest.starts_with(std::string_view(error).substr(0, colon)) ? rest : error);
}

std::string command_line_error(const CLI::App& app, const CLI::ParseError& error) {
  const auto kind = static_cast<CLI::ExitCodes>(error.get_exit_code());
  if (kind == CLI::ExitCodes::ExtrasError || kind == CLI::ExitCodes::RequiredError) {
    if (const auto unknown = unknown_word(app, error.what())) return *unknown + " See --help.";
  }
  const std::string text = without_repeated_name(error.what());
  return without_conversion(without_largest_number(text)) + " (see --help)";
}

void want_finite_numbers(CLI::App& app) {
  for (CLI::Option* option : app.get_options()) {
    const std::string type = option->get_type_name();
    const bool is_whole = type.starts_with("UINT") || type.starts_with("INT");
    if (!is_whole && !type.starts_with("FLOAT")) continue;
    const bool is_signed = type.starts_with("INT");
    // Before the other checks of the option: the first error counts.
    option->transform(CLI::Validator(
        [is_whole, is_signed](std::string& text) { return check_number(text, is_whole, is_signed); }, ""));
  }
  for (CLI::App* command : app.get_subcommands(nullptr))
    want_finite_numbers(*command);
}

}  // namespace reckoner::program
