// SPDX-License-Identifier: MIT
#include "net/src/wire/edit_distance.hpp"

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <reckoner/net/archetype.hpp>

namespace reckoner {
namespace {

// At most this number of names is listed in an error.
constexpr std::size_t kMostListed = 12;

// The names, the most similar one first.
std::string list_of(std::span<const std::string_view> names, std::string_view wanted) {
  struct Candidate {
    std::size_t distance = 0;
    std::size_t index = 0;
  };
  std::vector<Candidate> order;
  for (std::size_t i = 0; i < names.size(); ++i)
    order.push_back({edit_distance(wanted, names[i]), i});
  std::sort(order.begin(), order.end(), [](const Candidate& a, const Candidate& b) {
    return a.distance != b.distance ? a.distance < b.distance : a.index < b.index;
  });
  std::string text;
  for (std::size_t i = 0; i < std::min(order.size(), kMostListed); ++i)
    text.append(i == 0 ? "'" : ", '").append(names[order[i].index]).append("'");
  if (order.size() > kMostListed) text += " and " + std::to_string(order.size() - kMostListed) + " more";
  return text;
}

// The beginning of a text, at most `most` bytes. Cuts no character of UTF-8.
std::string_view beginning_of(std::string_view text, std::size_t most) {
  if (text.size() <= most) return text;
  const auto continues = [&](std::size_t at) {
    return (static_cast<unsigned char>(text[at]) & 0xc0u) == 0x80u;
  };
  std::size_t end = most;
  while (end > 0 && most - end < 3 && continues(end))  // a character has at most 4 bytes
    --end;
  return text.substr(0, end);
}

// The index of the name in `names`. `whole` begins the error: "there is no archetype"; `others` introduces
// the known names.
Result<std::size_t> find(std::span<const std::string_view> names, std::string_view wanted,
                         const std::string& whole, const std::string& others, const std::string& none) {
  const auto found = std::find(names.begin(), names.end(), wanted);
  if (found != names.end()) return static_cast<std::size_t>(found - names.begin());
  // A wrong name may be any text.
  const std::string shown{beginning_of(wanted, 2 * kMaxFieldNameBytes)};
  return Error{whole + " '" + shown + "'; " + (names.empty() ? none : others + list_of(names, shown))};
}

template <class Named>
std::vector<std::string_view> names_of(std::span<const Named> all) {
  std::vector<std::string_view> names;
  for (const Named& named : all)
    names.push_back(named.name);
  return names;
}

}  // namespace

Result<std::size_t> find_archetype(std::span<const Archetype> archetypes, std::string_view name) {
  return find(names_of(archetypes), name, "there is no archetype", "the archetypes are ",
              "there are no archetypes");
}

Result<std::size_t> find_field(const Archetype& archetype, std::string_view name) {
  return find(names_of(std::span{archetype.fields}), name, "archetype '" + archetype.name + "' has no field",
              "its fields are ", "it has no fields");
}

}  // namespace reckoner
