// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>

#include <nlohmann/json.hpp>

#include <reckoner/net/refusal.hpp>

namespace reckoner::program {

/// The refusal counts as a JSON object, with the count of each reason under the name of the reason. Omits
/// reasons with count 0.
[[nodiscard]] inline nlohmann::json refusals_json(const RefusalCounts& counts) {
  nlohmann::json json = nlohmann::json::object();
  for (std::size_t i = 0; i < RefusalCounts::kReasons; ++i) {
    const auto why = static_cast<Refusal>(i);
    if (counts[why] > 0) json[std::string(name_of(why))] = counts[why];
  }
  return json;
}

/// The refusal counts as a line for people, for example "refused: 3 malformed, 1 token_reused". "nothing
/// refused" if all are 0.
[[nodiscard]] inline std::string refusals_text(const RefusalCounts& counts) {
  std::string text;
  for (std::size_t i = 0; i < RefusalCounts::kReasons; ++i) {
    const auto why = static_cast<Refusal>(i);
    if (counts[why] == 0) continue;
    text += text.empty() ? "refused: " : ", ";
    text += std::to_string(counts[why]) + ' ' + std::string(name_of(why));
  }
  return text.empty() ? "nothing refused" : text;
}

}  // namespace reckoner::program
