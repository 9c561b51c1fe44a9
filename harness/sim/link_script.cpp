// SPDX-License-Identifier: MIT
#include "harness/sim/link_script.hpp"

#include "scenario/trace/csv.hpp"
#include "scenario/trace/decimal.hpp"

#include <cmath>
#include <limits>
#include <optional>

namespace reckoner::harness {
namespace {

constexpr std::size_t kMaxScriptBytes = 16u << 20;

// Removes the next word from `line` and returns it. Returns an empty word at the end of the line.
std::string_view next_word(std::string_view& line) {
  constexpr std::string_view kSpace = " \t\r";
  const std::size_t begin = line.find_first_not_of(kSpace);
  if (begin == std::string_view::npos) {
    line = {};
    return {};
  }
  const std::size_t end = std::min(line.find_first_of(kSpace, begin), line.size());
  const std::string_view word = line.substr(begin, end - begin);
  line.remove_prefix(end);
  return word;
}

std::optional<double> to_number(std::string_view word) {
  const std::optional<double> value = scenario::read_decimal(word);
  return value && std::isfinite(*value) ? value : std::nullopt;
}

Error bad_word(std::string_view what, std::string_view word) {
  return Error{std::string(what) + " '" + std::string(word) + "'"};
}

}  // namespace

std::optional<Error> LinkScript::parse_line(std::string_view line, std::vector<Change>& changes) {
  line = line.substr(0, line.find('#'));
  std::string_view word = next_word(line);
  if (word.empty()) return std::nullopt;

  Change change;
  const std::optional<double> time = to_number(word);
  if (!time || *time < 0.0) return bad_word("not a time in seconds:", word);
  change.time_s = *time;
  if (!changes.empty() && change.time_s < changes.back().time_s) {
    return bad_word("earlier than the line before:", word);
  }

  word = next_word(line);
  if (word == "up" || word == "down") {
    change.up = word == "up";
    change.down = !change.up;
    word = next_word(line);
  }
  if (word.empty()) return Error{"no change given: option=value or network=NAME expected"};
  for (; !word.empty(); word = next_word(line)) {
    const std::size_t equals = word.find('=');
    if (equals == std::string_view::npos) return bad_word("option=value expected, not", word);
    const std::string_view name = word.substr(0, equals);
    const std::string_view value = word.substr(equals + 1);
    change.network = name == "network";
    if (change.network) {
      if (!find_network(value)) return bad_word("unknown network", value);
      change.name = value;
    } else {
      const std::optional<double> number = to_number(value);
      if (!number) return bad_word("not a number:", word);
      LinkOptions scratch;
      if (auto wrong = set_option(scratch, name, *number)) return wrong;
      change.name = name;
      change.value = *number;
    }
    changes.push_back(change);
  }
  return std::nullopt;
}

Result<LinkScript> LinkScript::parse(std::string_view text) {
  LinkScript script;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    if (auto wrong = parse_line(text.substr(0, end), script.changes_)) {
      return Error{"link script, line " + std::to_string(number) + ": " + wrong->message};
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return script;
}

Result<LinkScript> LinkScript::load(const std::string& path) {
  const auto text = scenario::read_text_file(path, kMaxScriptBytes);
  if (!text) return Error{text.error()};
  auto script = parse(*text);
  if (!script) return Error{path + ": " + script.error()};
  return script;
}

bool LinkScript::advance(double time_s, LinkPair& links) {
  const std::size_t before = next_;
  for (; next_ < changes_.size() && changes_[next_].time_s <= time_s; ++next_) {
    const Change& change = changes_[next_];
    const auto apply = [&change](LinkOptions& options) {
      // Neither find_network() nor set_option() can fail here, because the parser has checked their
      // arguments.
      if (change.network) {
        options = find_network(change.name).value_or(options);
      } else {
        (void)set_option(options, change.name, change.value);
      }
    };
    if (change.up) apply(links.up);
    if (change.down) apply(links.down);
  }
  return next_ != before;
}

double LinkScript::next_s() const {
  return next_ < changes_.size() ? changes_[next_].time_s : std::numeric_limits<double>::infinity();
}

}  // namespace reckoner::harness
