// SPDX-License-Identifier: MIT
#include "harness/report/error_split_output.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace reckoner::harness {
namespace {

struct SplitColumn {
  const char* key;      // in the JSON, in m
  const char* heading;  // in the table, and in "share_of_snap"
  double ErrorSplit::*value;
};
constexpr SplitColumn kSplitColumns[] = {{"now_error_m_p95", "now_error", &ErrorSplit::error_m},
                                         {"prediction_m", "prediction", &ErrorSplit::prediction_m},
                                         {"age_m", "age", &ErrorSplit::age_m},
                                         {"blend_m", "blend", &ErrorSplit::blend_m},
                                         {"loss_m", "loss", &ErrorSplit::loss_m}};

std::string network_table(const std::vector<ErrorSplit>& all, const std::string& network, std::size_t wide) {
  std::string text = fmt::format(
      "{}: parts of the 95th percentile of Reckoner's same-time error, m (percent of snap's error)\n  {:{}}",
      network, "", wide);
  for (const SplitColumn& column : kSplitColumns)
    text += fmt::format(" {:>19}", column.heading);
  text += fmt::format(" {:>10}\n", "snap");
  for (const ErrorSplit& one : all) {
    if (one.network != network) continue;
    text += fmt::format("  {:{}}", one.trace, wide);
    for (const SplitColumn& column : kSplitColumns) {
      const double value_m = one.*column.value;
      const std::string share =
          one.snap_m > 0.0 ? fmt::format("{:.1f}", 100.0 * value_m / one.snap_m) : std::string("-");
      text += fmt::format(" {:10.4f} ({:>6})", value_m, share);
    }
    text += fmt::format(" {:10.4f}\n", one.snap_m);
  }
  return text;
}

}  // namespace

std::string error_split_table(const std::vector<ErrorSplit>& all) {
  std::size_t wide = 26;
  std::vector<std::string> networks;
  for (const ErrorSplit& one : all) {
    wide = std::max(wide, one.trace.size());
    if (std::find(networks.begin(), networks.end(), one.network) == networks.end())
      networks.push_back(one.network);
  }
  std::string text;
  for (const std::string& network : networks)
    text += network_table(all, network, wide) + "\n";
  text +=
      "now_error = prediction + age + blend + loss. Removed one after another: the blend, then loss, then "
      "delay (age).\n"
      "What remains is prediction. A part below 0: the error is larger without its cause.\n";
  return text;
}

nlohmann::ordered_json error_split_json(const std::vector<ErrorSplit>& all) {
  auto json = nlohmann::ordered_json::array();
  for (const ErrorSplit& one : all) {
    nlohmann::ordered_json split{{"trace", one.trace}, {"network", one.network}, {"seeds", one.seeds}};
    nlohmann::ordered_json shares;
    for (const SplitColumn& column : kSplitColumns) {
      const double value_m = one.*column.value;
      split[column.key] = value_m;
      if (one.snap_m > 0.0) shares[column.heading] = value_m / one.snap_m;
    }
    split["snap_now_error_m_p95"] = one.snap_m;
    split["share_of_snap"] = std::move(shares);
    json.push_back(std::move(split));
  }
  return json;
}

}  // namespace reckoner::harness
