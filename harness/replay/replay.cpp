// SPDX-License-Identifier: MIT
#include "harness/replay/replay.hpp"

#include "harness/metrics/coverage.hpp"
#include "harness/metrics/frame_metrics.hpp"
#include "harness/metrics/measured_pictures.hpp"
#include "harness/metrics/route_metrics.hpp"
#include "harness/replay/ablation.hpp"
#include "harness/replay/method.hpp"
#include "harness/replay/replay_network.hpp"
#include "harness/replay/replay_run.hpp"
#include "harness/replay/rogue_owner.hpp"
#include "net/src/config/archetype_settings.hpp"
#include "programs/common/options/blend_options.hpp"
#include "scenario/feed.hpp"
#include "server/src/server_settings.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace reckoner::harness {
namespace {

constexpr double kEndlessRunS = 30.0;

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
  const SendBudget& budget = options.budget;
  const std::optional<Error> wrong_numbers[] = {
      find_invalid(find_setting(kServerSettings, "tick_rate_hz"), options.tick_rate_hz, "the tick rate"),
      find_invalid(find_setting(program::kBlendSettings, "frame_rate_hz"), options.frame_rate_hz,
                   "the frame rate"),
      find_invalid(find_setting(kServerSettings, "updates_per_second"), budget.updates_per_second,
                   "the budget of updates per second"),
      find_invalid(find_setting(kServerSettings, "fixed_rate_hz"), budget.fixed_rate_hz, "the fixed rate"),
      find_invalid(find_setting(kServerSettings, "send_rate_hz"), budget.send_rate_hz, "the send rate"),
      find_invalid(find_setting(kArchetypeSettings, "threshold_m"), budget.threshold_m, "the threshold in m"),
      find_invalid(find_setting(kArchetypeSettings, "threshold_rad"), budget.threshold_rad,
                   "the threshold in rad")};
  for (const std::optional<Error>& wrong : wrong_numbers) {
    if (wrong) return wrong;
  }
  if (budget.updates_per_second > 0.0 && budget.fixed_rate_hz > 0.0) {
    return Error{"a budget of updates per second cannot be combined with a fixed rate"};
  }
  if (auto wrong = check(options.links.up)) return wrong;
  return check(options.links.down);
}

// The network of a run. In real time, `real` points to the same network; otherwise it is null.
struct RunNetwork {
  std::unique_ptr<ReplayNetwork> network;
  RealTimeNetwork* real = nullptr;
};

Result<RunNetwork> open_network(const ReplayOptions& options, double start_s) {
  RunNetwork run_network;
  if (options.transport == ReplayTransport::sim) {
    run_network.network = make_sim_network(options, start_s);
    return run_network;
  }
  auto opened = open_real_time_network(options, start_s);
  if (!opened) return Error{opened.error()};
  run_network.real = opened->get();
  run_network.network = std::move(*opened);
  return run_network;
}

ReplayResult replay_with(const scenario::Source& source, const ReplayOptions& options, const Span& span,
                         Method& method, RunNetwork& run_network, const PictureSink& sink) {
  MetricsConfig config;
  config.run_start_s = span.start_s;
  config.frame_rate_hz = options.frame_rate_hz;
  config.skip_run_s = kSkipRunS;
  config.one_way_s = 0.001 * (options.links.down.latency_ms + options.links.down.jitter_ms);
  auto samples = std::make_shared<RunSamples>(RunSamples{.metrics = Metrics(source, config),
                                                         .frames = {},
                                                         .down = {},
                                                         .up = {},
                                                         .run_s = span.end_s - span.start_s,
                                                         .tick_rate_hz = options.tick_rate_hz});
  std::optional<FrameMetrics>& frames = samples->frames;
  std::optional<RouteMetrics> routes;
  if (!source.routes().empty()) routes.emplace(source, span.start_s, options.frame_rate_hz);
  if (source.has_frames()) frames.emplace(source, span.start_s);
  PictureSink all = sink;
  if (routes || frames) {
    all = [&](double time_s, std::span<const ShownPose> shown) {
      if (routes) routes->frame(time_s, shown);
      if (frames) frames->frame(time_s, shown);
      if (sink) sink(time_s, shown);
    };
  }
  ReplayRun run(source, options, span.start_s, span.end_s, method, samples->metrics, all);
  ReplayResult result;
  if (run_network.real != nullptr) {
    result.real_time = run.in_real_time(*run_network.real);
  } else {
    run.in_virtual_time();
  }
  if (routes) {
    result.routes = routes->figures();
    result.routes->traffic = method.route_traffic().value_or(RouteTraffic{});
  }
  samples->down = method.down();
  samples->up = method.up();
  result.run = samples->figures();
  result.coding = method.coding();
  result.contents = method.contents();
  result.hidden_reason = method.hidden_reason();
  result.run.seen = method.seen();
  result.run.owned = method.owned();
  for (std::size_t i = 0; i < source.size(); ++i) {
    result.entities.push_back(samples->metrics.entity_figures(i));
    result.entities.back().updates = method.updates_of(i);
  }
  if (options.keep_samples) result.samples = std::move(samples);
  if (run_network.network) {
    const auto packets = run_network.network->packets();
    result.packets.assign(packets.begin(), packets.end());
  }
  return result;
}

}  // namespace

std::optional<Error> find_unshown(const ReplayResult& result) {
  return find_unshown(result.run, result.hidden_reason);
}

Result<ReplayResult> replay(const scenario::Source& source, const ReplayOptions& options,
                            const PictureSink& sink) {
  if (const auto wrong = check(options)) return *wrong;
  if (source.size() == 0) return Error{"there is no entity to replay"};
  const Span span = span_of(source, options);
  if (!(span.end_s > span.start_s)) return Error{"the run is empty: it starts after the last sample"};
  if (is_ablation(options.method)) {
    const auto ablated = ablate(options);
    if (!ablated) return Error{ablated.error()};
    return replay(source, *ablated, sink);
  }
  if (options.owner_links) {
    if (options.method != "reckoner" || options.transport != ReplayTransport::sim)
      return Error{"clients can own entities only with the method reckoner and the transport sim"};
    if (!options.cheat.empty() && !find_cheat(options.cheat))
      return Error{"expected a cheat (none, speed, teleport, future, flood), found '" + options.cheat + "'"};
    RunNetwork none;
    const auto method = make_owned_method(source, options, span.start_s);
    return replay_with(source, options, span, *method, none, sink);
  }
  if (options.method == "reckoner") {
    auto run_network = open_network(options, span.start_s);
    if (!run_network) return Error{run_network.error()};
    const auto method = make_reckoner_method(source, options, span.start_s, *run_network->network);
    return replay_with(source, options, span, *method, *run_network, sink);
  }
  const std::vector<std::string> names = method_names();
  if (std::find(names.begin(), names.end(), options.method) == names.end()) {
    std::string known;
    for (const std::string& name : names)
      known += (known.empty() ? "" : ", ") + name;
    return Error{"unknown method " + options.method + "; known methods: " + known};
  }
  double rate_hz = std::max(options.budget.updates_per_second, options.budget.fixed_rate_hz);
  if (rate_hz == 0.0) {
    ReplayOptions reckoner = options;
    reckoner.method = "reckoner";
    reckoner.transport = ReplayTransport::sim;
    reckoner.log_packets = false;
    const auto first = replay(source, reckoner);
    if (!first) return Error{first.error()};
    if (const auto unshown = find_unshown(*first)) return Error{"reckoner: " + unshown->message};
    rate_hz = updates_per_s(first->run);
    if (rate_hz <= 0.0) return Error{"reckoner sent no update, so the baseline has no rate"};
  }
  auto run_network = open_network(options, span.start_s);
  if (!run_network) return Error{run_network.error()};
  const auto method = make_baseline_method(options.method, source, options, rate_hz, *run_network->network);
  return replay_with(source, options, span, *method, *run_network, sink);
}

void ReplayRun::draw(double time_s) {
  shown_.clear();
  method_.frame(time_s, shown_);
  metrics_.frame(time_s, shown_, method_.delay_s());
  if (time_s - start_s_ >= kSkipRunS - kRoundingS) {
    if (const auto error = method_.clock_error_s(time_s)) metrics_.clock_error(*error);
  }
  if (sink_) sink_(time_s, shown_);
}

// Computes the time of a picture from its index, so that rounding errors do not accumulate.
void ReplayRun::in_virtual_time() {
  scenario::Feed feed(source_, start_s_, options_.tick_rate_hz);
  for (std::uint64_t frame = 0;;) {
    const double arrival_s = method_.next_event_s();
    const double tick_s = feed.next_time_s();
    const double frame_s = frame_time_s(frame);
    if (std::min(tick_s, frame_s) > end_s_ + kRoundingS) return;
    if (arrival_s <= tick_s && arrival_s <= frame_s) {
      method_.advance(arrival_s);
    } else if (tick_s <= frame_s + kRoundingS) {
      method_.tick(tick_s, feed.next());
    } else {
      ++frame;
      draw(frame_s);
    }
  }
}

RealTimeFigures ReplayRun::in_real_time(RealTimeNetwork& network) {
  RealTimeFigures figures;
  scenario::Feed feed(source_, start_s_, options_.tick_rate_hz);
  for (std::uint64_t frame = 0;;) {
    const double tick_s = feed.next_time_s();
    const double frame_s = frame_time_s(frame);
    const double due_s = std::min(tick_s, frame_s);
    if (due_s > end_s_ + kRoundingS) return figures;
    const double now_s = network.clock_s();
    method_.advance(now_s);
    if (now_s < due_s) {
      network.wait_until(due_s);
    } else if (tick_s <= frame_s + kRoundingS) {
      figures.latest_tick_ms = std::max(figures.latest_tick_ms, 1000.0 * (now_s - tick_s));
      method_.tick(tick_s, feed.next());
    } else if (now_s >= frame_time_s(++frame)) {
      ++figures.dropped_pictures;
    } else {
      draw(now_s);
    }
  }
}

std::vector<Archetype> replay_archetypes(const ReplayOptions& options) {
  Archetype body;
  body.name = "body";
  body.threshold_m = options.budget.threshold_m;
  body.threshold_rad = options.budget.threshold_rad;
  body.max_speed_mps = options.max_speed_mps;
  body.codes = options.budget.codes;
  Archetype point = body;
  point.name = "point";
  point.has_orientation = false;
  return {body, point};
}

ServerConfig replay_server_config(const ReplayOptions& options, double start_s,
                                  std::vector<Archetype> archetypes) {
  ServerConfig config;
  config.tick_rate_hz = options.tick_rate_hz;
  config.epoch_s = start_s;
  config.archetypes = std::move(archetypes);
  config.updates_per_second = options.budget.updates_per_second;
  config.fixed_rate_hz = options.budget.fixed_rate_hz;
  config.send_rate_hz = options.budget.send_rate_hz;
  if (options.budget.bytes_per_second > 0.0)
    config.bytes_per_second = static_cast<std::size_t>(options.budget.bytes_per_second);
  return config;
}

ClientConfig replay_client_config(const ReplayOptions& options, std::vector<Archetype> archetypes) {
  ClientConfig config;
  config.archetypes = std::move(archetypes);
  config.playout = options.playout;
  if (options.blend_frames)
    config.playout.blend_s = frames_to_seconds(*options.blend_frames, options.frame_rate_hz);
  config.owned_updates_per_second = options.budget.updates_per_second;
  return config;
}

}  // namespace reckoner::harness
