// SPDX-License-Identifier: MIT
#include "harness/methods/publish_count.hpp"
#include "harness/methods/sent_parts.hpp"
#include "harness/methods/server_refusals.hpp"
#include "harness/methods/shot_range.hpp"
#include "harness/methods/viewer.hpp"
#include "harness/replay/method.hpp"
#include "harness/replay/replay_network.hpp"
#include "harness/replay/replay_run.hpp"
#include "net/src/messages/messages.hpp"

#include <algorithm>
#include <vector>

#include <reckoner/server/server.hpp>

namespace reckoner::harness {
namespace {

ServerConfig server_config(const ReplayOptions& options, double start_s) {
  ServerConfig config = replay_server_config(options, start_s, replay_archetypes(options));
  config.rewind_s = options.shots_per_second > 0.0 ? 1.0 : 0.0;
  return config;
}

class ReckonerMethod final : public Method {
 public:
  ReckonerMethod(const scenario::Source& source, const ReplayOptions& options, double start_s,
                 ReplayNetwork& network)
      : source_(source),
        frames_(options.uses_frames),
        network_(network),
        server_(make_test_server(server_config(options, start_s), network_.server(),
                                 {.parts = options.parts, .coding = &coding_})),
        viewer_(source, replay_client_config(options, replay_archetypes(options)), network_.client(),
                options.client_clock, start_s, options.viewing),
        ids_(source.size()),
        publishes_(source.size()),
        switches_(options.switches) {
    for (PlayoutSwitch& s : switches_) {
      s.at_s += start_s;
      s.to.blend_curve = options.playout.blend_curve;
      s.to.blend_s = replay_client_config(options, {}).playout.blend_s;
    }
    for (const RouteDefinition& route : source.routes()) {
      const Result<RouteId> id = server_.add_route(route);
      routes_.push_back(id ? *id : RouteId{});
    }
    if (options.shots_per_second > 0.0) range_.emplace(options.shots_per_second, start_s);
    if (options.log_packets) contents_.emplace();
  }

  void tick(double time_s, std::span<const scenario::FeedItem> items) override {
    advance(std::max(time_s, network_.now_s()));
    for (const scenario::FeedItem& item : items)
      apply(item);
    const std::uint64_t sent = server_.stats().updates_sent;
    if (contents_) contents_->before_tick(server_, ids_);
    network_.begin_tick();
    server_.tick(network_.now_s());
    if (contents_) contents_->after_tick(server_, ids_, network_.now_s());
    network_.end_tick(server_.stats().updates_sent - sent);
    for (const scenario::FeedItem& item : items)
      publishes_.observe(server_, item.entity, ids_[item.entity]);
  }

  [[nodiscard]] double next_event_s() const override { return network_.next_event_s(); }

  void advance(double time_s) override {
    network_.advance(time_s);
    if (network_.server_has_events()) server_.receive(time_s);
    while (const auto event = server_.poll_event()) {
      if (range_ && event->kind == ServerEvent::Kind::client_joined) range_->joined(event->client);
    }
    if (range_) range_->observe(server_, time_s);
    if (network_.client_has_events()) viewer_.update(time_s);
    while (viewer_.client().poll_event()) {
    }
  }

  void frame(double time_s, std::vector<ShownPose>& shown) override {
    advance(std::max(time_s, network_.now_s()));
    for (; switched_ < switches_.size() && switches_[switched_].at_s <= time_s; ++switched_)
      (void)viewer_.client().set_playout(switches_[switched_].to);
    const auto drawn = viewer_.frame(time_s, shown);
    if (range_) range_->drawn(viewer_.client(), viewer_.local_s(time_s), time_s, drawn);
  }

  [[nodiscard]] double delay_s() const override { return viewer_.delay_s(); }

  [[nodiscard]] std::optional<double> clock_error_s(double time_s) const override {
    return viewer_.clock_error_s(time_s);
  }

  [[nodiscard]] Traffic down() const override {
    const TransportStats& stats = network_.server().stats();
    return {server_.stats().updates_sent, stats.payload_bytes_sent, stats.wire_bytes_sent};
  }

  [[nodiscard]] std::optional<RouteTraffic> route_traffic() const override {
    const ServerStats& stats = server_.stats();
    return RouteTraffic{stats.route_bits_sent, stats.update_bits_sent - stats.route_bits_sent};
  }

  [[nodiscard]] std::optional<CodingFigures> coding() const override { return coding_.figures(); }

  [[nodiscard]] Traffic up() const override {
    const TransportStats& stats = network_.client().stats();
    return {stats.datagrams_sent, stats.payload_bytes_sent, stats.wire_bytes_sent};
  }

  [[nodiscard]] std::optional<RewindFigures> seen() const override {
    return range_ ? std::optional{range_->figures()} : std::nullopt;
  }

  [[nodiscard]] std::string hidden_reason() const override {
    return refusals_.text().empty() ? viewer_.hidden_reason() : refusals_.text();
  }

  [[nodiscard]] std::vector<TickContents> contents() const override {
    return contents_ ? contents_->ticks() : std::vector<TickContents>{};
  }

  [[nodiscard]] std::uint64_t updates_of(std::size_t entity) const override { return publishes_.of(entity); }

 private:
  void apply(const scenario::FeedItem& item) {
    EntityId& id = ids_[item.entity];
    switch (item.kind) {
      case scenario::FeedItem::Kind::spawn: {
        const scenario::SourceEntity& info = source_.entity(item.entity);
        const SpawnResult spawned = server_.spawn(info.has_orientation ? kBody : kPoint, info.name,
                                                  published_state(item), frame_of(item));
        id = spawned ? *spawned : EntityId{};
        if (!spawned) refusals_.note(info.name, spawned.error());
        if (const auto route = source_.route_of(item.entity)) (void)server_.follow(id, routes_[*route]);
        return;
      }
      case scenario::FeedItem::Kind::move:
        (void)server_.enter_frame(id, frame_of(item));
        refusals_.note(source_.entity(item.entity).name, server_.move(id, published_state(item)).error());
        return;
      case scenario::FeedItem::Kind::teleport:
        (void)server_.enter_frame(id, frame_of(item));
        refusals_.note(source_.entity(item.entity).name, server_.teleport(id, published_state(item)).error());
        return;
      case scenario::FeedItem::Kind::despawn:
        (void)server_.despawn(id);
        id = {};
        return;
    }
  }

  [[nodiscard]] EntityId frame_of(const scenario::FeedItem& item) const {
    return frames_ && item.frame ? ids_[*item.frame] : EntityId{};
  }
  [[nodiscard]] const State& published_state(const scenario::FeedItem& item) const {
    return frames_ ? item.local : item.truth;
  }

  const scenario::Source& source_;
  bool frames_;
  ReplayNetwork& network_;
  CodingStatistics coding_;
  Server server_;
  Viewer viewer_;
  std::optional<ShotRange> range_;
  std::optional<SentParts> contents_;
  std::vector<EntityId> ids_;    // id of each entity; null while it is not in the world
  std::vector<RouteId> routes_;  // ids of the routes, in the order of the source
  PublishCount publishes_;
  ServerRefusals refusals_;
  std::vector<PlayoutSwitch> switches_;  // here at_s is server time
  std::size_t switched_ = 0;
};

}  // namespace

std::unique_ptr<Method> make_reckoner_method(const scenario::Source& source, const ReplayOptions& options,
                                             double start_s, ReplayNetwork& network) {
  return std::make_unique<ReckonerMethod>(source, options, start_s, network);
}

}  // namespace reckoner::harness
