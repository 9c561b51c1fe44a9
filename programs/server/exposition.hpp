// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <prometheus/metric_family.h>

namespace reckoner::program {

class DurationHistogram;
class RecentValues;

/// Builds a page of metrics in the Prometheus text format.
class Exposition {
 public:
  using Labels = std::vector<std::pair<std::string, std::string>>;
  using Parts = std::vector<std::pair<std::string_view, std::uint64_t>>;

  void gauge(std::string name, std::string help, double value, const Labels& labels = {});
  /// Adds one gauge for each value of the label `label`. Adds nothing if there are no values.
  void gauges(std::string name, std::string help, const std::string& label,
              const std::vector<std::pair<std::string, double>>& parts);
  void counter(std::string name, std::string help, std::uint64_t value);
  /// Adds one counter for each value of the label `label`.
  void counters(std::string name, std::string help, std::string_view label, const Parts& parts);
  /// Adds one counter for each list of labels. Adds nothing if there are none.
  void counters(std::string name, std::string help, const std::vector<std::pair<Labels, double>>& parts);
  void histogram(std::string name, std::string help, const DurationHistogram& durations);
  /// Adds gauges of the quantiles 0.5, 0.9, 0.99 and 1. Adds nothing if there are no values.
  void quantiles(std::string name, std::string help, const RecentValues& values);

  /// The text of the whole page.
  [[nodiscard]] std::string text() const;

 private:
  prometheus::MetricFamily& family(std::string name, std::string help, prometheus::MetricType type);

  std::vector<prometheus::MetricFamily> families_;
};

}  // namespace reckoner::program
