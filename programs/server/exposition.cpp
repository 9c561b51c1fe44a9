// SPDX-License-Identifier: MIT
#include "programs/server/exposition.hpp"

#include "programs/server/metrics.hpp"

#include <array>
#include <limits>

#include <prometheus/client_metric.h>
#include <prometheus/text_serializer.h>

namespace reckoner::program {

prometheus::MetricFamily& Exposition::family(std::string name, std::string help,
                                             prometheus::MetricType type) {
  return families_.emplace_back(prometheus::MetricFamily{std::move(name), std::move(help), type, {}});
}

void Exposition::gauge(std::string name, std::string help, double value, const Labels& labels) {
  prometheus::ClientMetric metric;
  metric.gauge.value = value;
  for (const auto& [label, text] : labels)
    metric.label.push_back({label, text});
  family(std::move(name), std::move(help), prometheus::MetricType::Gauge).metric.push_back(std::move(metric));
}

void Exposition::gauges(std::string name, std::string help, const std::string& label,
                        const std::vector<std::pair<std::string, double>>& parts) {
  if (parts.empty()) return;
  auto& all = family(std::move(name), std::move(help), prometheus::MetricType::Gauge);
  for (const auto& [text, value] : parts) {
    prometheus::ClientMetric& metric = all.metric.emplace_back();
    metric.label.push_back({label, text});
    metric.gauge.value = value;
  }
}

void Exposition::counter(std::string name, std::string help, std::uint64_t value) {
  prometheus::ClientMetric metric;
  metric.counter.value = static_cast<double>(value);
  family(std::move(name), std::move(help), prometheus::MetricType::Counter)
      .metric.push_back(std::move(metric));
}

void Exposition::counters(std::string name, std::string help, std::string_view label, const Parts& parts) {
  auto& all = family(std::move(name), std::move(help), prometheus::MetricType::Counter);
  for (const auto& [text, value] : parts) {
    prometheus::ClientMetric& metric = all.metric.emplace_back();
    metric.label.push_back({std::string(label), std::string(text)});
    metric.counter.value = static_cast<double>(value);
  }
}

void Exposition::counters(std::string name, std::string help,
                          const std::vector<std::pair<Labels, double>>& parts) {
  if (parts.empty()) return;
  auto& all = family(std::move(name), std::move(help), prometheus::MetricType::Counter);
  for (const auto& [labels, value] : parts) {
    prometheus::ClientMetric& metric = all.metric.emplace_back();
    for (const auto& [label, text] : labels)
      metric.label.push_back({label, text});
    metric.counter.value = value;
  }
}

void Exposition::histogram(std::string name, std::string help, const DurationHistogram& durations) {
  auto& all = family(std::move(name), std::move(help), prometheus::MetricType::Histogram);
  prometheus::ClientMetric& metric = all.metric.emplace_back();
  const auto cumulative = durations.cumulative();
  for (std::size_t i = 0; i < DurationHistogram::kBounds_s.size(); ++i)
    metric.histogram.bucket.push_back({cumulative[i], DurationHistogram::kBounds_s[i]});
  metric.histogram.bucket.push_back({cumulative.back(), std::numeric_limits<double>::infinity()});
  metric.histogram.sample_count = cumulative.back();
  metric.histogram.sample_sum = durations.sum_s();
}

void Exposition::quantiles(std::string name, std::string help, const RecentValues& values) {
  if (values.empty()) return;
  auto& all = family(std::move(name), std::move(help), prometheus::MetricType::Gauge);
  for (const auto& [text, q] : std::array<std::pair<const char*, double>, 4>{
           {{"0.5", 0.5}, {"0.9", 0.9}, {"0.99", 0.99}, {"1", 1.0}}}) {
    prometheus::ClientMetric& metric = all.metric.emplace_back();
    metric.label.push_back({"quantile", text});
    metric.gauge.value = values.quantile(q);
  }
}

std::string Exposition::text() const {
  return prometheus::TextSerializer{}.Serialize(families_);
}

}  // namespace reckoner::program
