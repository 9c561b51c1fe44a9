// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cmath>
#include <utility>

#include <reckoner/harness/ablation.hpp>
#include <reckoner/harness/method.hpp>
#include <reckoner/harness/replay.hpp>
#include <reckoner/harness/route_metrics.hpp>
#include <reckoner/scenario/feed.hpp>

namespace reckoner::harness {
namespace {

constexpr double kEndlessRunS = 30.0;
constexpr double kSkipRunS = 2.0;
// Tick and frame times are start + k / rate with different rates: what is meant to be the same instant may
// differ by rounding.
constexpr double kRoundingS = 1e-9;

struct Span {
  double start_s = 0.0;
  double end_s = 0.0;
};

Span span_of(const scenario::Source& source, const ReplayOptions& options) {
  Span span;
  span.start_s = source.start_s() + options.start_s;
  span.end_s = source.end_s();
  if (options.seconds > 0.0) span.end_s = std::min(span.end_s, span.start_s + options.seconds);
  if (!std::isfinite(span.end_s)) span.end_s = span.start_s + kEndlessRunS;
  return span;
}

std::optional<Error> check(const ReplayOptions& options) {
  const auto rate_ok = [](double hz) { return hz >= 1.0 && hz <= 1000.0; };
  if (!rate_ok(options.tick_rate_hz)) return Error{"the tick rate must be 1 to 1000 per second"};
  if (!rate_ok(options.frame_rate_hz)) return Error{"the frame rate must be 1 to 1000 per second"};
  const SendBudget& budget = options.budget;
  if (budget.updates_per_second > 0.0 && budget.fixed_rate_hz > 0.0) {
    return Error{"a budget of updates per second and a fixed rate exclude each other"};
  }
  if (budget.updates_per_second < 0.0 || budget.fixed_rate_hz < 0.0) {
    return Error{"a rate of updates must be above zero"};
  }
  if (!(budget.threshold_m > 0.0) || !(budget.threshold_rad > 0.0)) {
    return Error{"the thresholds must be above zero"};
  }
  if (auto wrong = check(options.links.up)) return wrong;
  return check(options.links.down);
}

// The run itself. Counts frames from the start, so that nothing accumulates.
void run(const scenario::Source& source, const ReplayOptions& options, const Span& span, Method& method,
         Metrics& metrics, const FrameSink& sink) {
  scenario::Feed feed(source, span.start_s, options.tick_rate_hz);
  std::vector<ShownPose> shown;
  for (std::uint64_t frame = 0;;) {
    const double arrival_s = method.next_event_s();
    const double tick_s = feed.next_time_s();
    const double frame_s = span.start_s + static_cast<double>(frame) / options.frame_rate_hz;
    if (std::min(tick_s, frame_s) > span.end_s + kRoundingS) return;
    if (arrival_s <= tick_s && arrival_s <= frame_s) {
      method.advance(arrival_s);
    } else if (tick_s <= frame_s + kRoundingS) {
      method.tick(tick_s, feed.next());
    } else {
      ++frame;
      shown.clear();
      method.frame(frame_s, shown);
      metrics.frame(frame_s, shown, method.delay_s());
      if (frame_s - span.start_s >= kSkipRunS - kRoundingS) {
        if (const auto error = method.clock_error_s(frame_s)) metrics.clock_error(*error);
      }
      if (sink) sink(frame_s, shown);
    }
  }
}

ReplayResult replay_with(const scenario::Source& source, const ReplayOptions& options, const Span& span,
                         Method& method, const FrameSink& sink) {
  MetricsConfig config;
  config.run_start_s = span.start_s;
  config.frame_rate_hz = options.frame_rate_hz;
  config.skip_run_s = kSkipRunS;
  config.one_way_s = 0.001 * (options.links.down.latency_ms + options.links.down.jitter_ms);
  Metrics metrics(source, config);
  std::optional<RouteMetrics> routes;
  FrameSink both = sink;
  if (!source.routes().empty()) {
    routes.emplace(source, span.start_s, options.frame_rate_hz);
    both = [&](double time_s, std::span<const ShownPose> shown) {
      routes->frame(time_s, shown);
      if (sink) sink(time_s, shown);
    };
  }
  run(source, options, span, method, metrics, both);
  ReplayResult result;
  if (routes) {
    result.routes = routes->figures();
    result.routes->traffic = method.route_traffic().value_or(RouteTraffic{});
  }
  result.run = metrics.figures();
  result.coding = method.coding();
  result.run.down = method.down();
  result.run.up = method.up();
  for (std::size_t i = 0; i < source.size(); ++i) {
    result.entities.push_back(metrics.entity_figures(i));
    result.entities.back().updates = method.updates_of(i);
  }
  result.packets.assign(method.packets().begin(), method.packets().end());
  return result;
}

double updates_per_s(const Figures& figures) {
  if (!figures.down || figures.entity_seconds <= 0.0) return 0.0;
  return static_cast<double>(figures.down->updates) / figures.entity_seconds;
}

}  // namespace

Result<ReplayResult> replay(const scenario::Source& source, const ReplayOptions& options,
                            const FrameSink& sink) {
  if (const auto wrong = check(options)) return *wrong;
  if (source.size() == 0) return Error{"there is no entity to replay"};
  const Span span = span_of(source, options);
  if (!(span.end_s > span.start_s)) return Error{"the run is empty: it starts after the last sample"};
  if (is_ablation(options.method)) {
    const auto ablated = ablate(options);
    if (!ablated) return Error{ablated.error()};
    return replay(source, *ablated, sink);
  }
  if (options.method == "reckoner") {
    const auto method = make_reckoner_method(source, options, span.start_s);
    return replay_with(source, options, span, *method, sink);
  }
  const std::vector<std::string> names = method_names();
  if (std::find(names.begin(), names.end(), options.method) == names.end()) {
    std::string known;
    for (const std::string& name : names)
      known += (known.empty() ? "" : ", ") + name;
    return Error{"there is no method " + options.method + "; there are " + known};
  }
  double rate_hz = std::max(options.budget.updates_per_second, options.budget.fixed_rate_hz);
  if (rate_hz == 0.0) {
    ReplayOptions reckoner = options;
    reckoner.method = "reckoner";
    reckoner.log_packets = false;
    const auto first = replay(source, reckoner);
    if (!first) return Error{first.error()};
    rate_hz = updates_per_s(first->run);
    if (rate_hz <= 0.0) return Error{"reckoner sent nothing, so there is no rate to send at"};
  }
  const auto method = make_baseline_method(options.method, source, options, span.start_s, rate_hz);
  return replay_with(source, options, span, *method, sink);
}

}  // namespace reckoner::harness
