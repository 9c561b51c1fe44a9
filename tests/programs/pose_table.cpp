// SPDX-License-Identifier: MIT
#include "pose_table.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>
#include <sstream>

#include <gtest/gtest.h>

namespace reckoner::test {
namespace {

std::vector<std::string> cells(const std::string& line) {
  std::vector<std::string> out;
  std::istringstream stream(line);
  for (std::string cell; std::getline(stream, cell, ',');)
    out.push_back(cell);
  return out;
}

}  // namespace

PoseTable read_poses(const std::string& path) {
  PoseTable table;
  std::ifstream file(path);
  std::getline(file, table.header);
  const auto names = cells(table.header);
  int number = 1;
  for (std::string line; std::getline(file, line);) {
    ++number;
    const auto values = cells(line);
    if (values.size() != names.size()) {
      ADD_FAILURE() << path << ":" << number << ": " << values.size() << " columns: " << line;
      continue;
    }
    PoseRow row;
    std::string id;
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (names[i] == "id") {
        id = values[i];
        continue;
      }
      char* end = nullptr;
      const double value = std::strtod(values[i].c_str(), &end);
      if (*end != '\0' || values[i].empty() || !std::isfinite(value)) {
        ADD_FAILURE() << path << ":" << number << ": " << names[i] << " is " << values[i];
      }
      if (names[i] == "frame_time_s") row.frame_time_s = value;
      if (names[i] == "monotonic_s") row.monotonic_s = value;
      if (names[i].size() == 1) row.position_m[names[i][0] - 'x'] = value;
    }
    table.entities[id].push_back(row);
  }
  return table;
}

PoseTable within(const PoseTable& all, double from_s, double until_s) {
  PoseTable some{.header = all.header, .entities = {}};
  for (const auto& [id, rows] : all.entities) {
    std::vector<PoseRow>& kept = some.entities[id];
    std::copy_if(rows.begin(), rows.end(), std::back_inserter(kept),
                 [&](const PoseRow& row) { return row.monotonic_s >= from_s && row.monotonic_s < until_s; });
    if (kept.empty()) some.entities.erase(id);
  }
  return some;
}

std::vector<double> same_time_errors(const PoseTable& shown, const PoseTable& truth, double skip_s) {
  std::vector<double> errors;
  for (const auto& [id, rows] : shown.entities) {
    const auto found = truth.entities.find(id);
    if (found == truth.entities.end()) continue;
    const auto& ticks = found->second;
    for (const PoseRow& row : rows) {
      if (row.monotonic_s < rows.front().monotonic_s + skip_s) continue;
      const auto after = std::find_if(ticks.begin(), ticks.end(),
                                      [&](const PoseRow& t) { return t.monotonic_s >= row.monotonic_s; });
      if (after == ticks.begin() || after == ticks.end()) continue;
      const PoseRow& before = *(after - 1);
      const double part = (row.monotonic_s - before.monotonic_s) / (after->monotonic_s - before.monotonic_s);
      double sum = 0.0;
      for (int axis = 0; axis < 3; ++axis) {
        const double there =
            before.position_m[axis] + part * (after->position_m[axis] - before.position_m[axis]);
        sum += (row.position_m[axis] - there) * (row.position_m[axis] - there);
      }
      errors.push_back(std::sqrt(sum));
    }
  }
  std::sort(errors.begin(), errors.end());
  return errors;
}

}  // namespace reckoner::test
