// SPDX-License-Identifier: MIT
#include "shot_range.hpp"

#include <algorithm>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <reckoner/client/client.hpp>
#include <reckoner/harness/method.hpp>
#include <reckoner/harness/replay_network.hpp>
#include <reckoner/net/messages.hpp>
#include <reckoner/server/server.hpp>

namespace reckoner::harness {
namespace {

// How far the client's own clock is from the server's, s. Any number does; zero would hide a mistake.
constexpr double kClientClockOffsetS = 1000.0;

// Entities with and without orientation: the rest of their archetypes is the same.
std::vector<Archetype> archetypes_for(const ReplayOptions& options) {
  Archetype body;
  body.name = "body";
  body.threshold_m = options.budget.threshold_m;
  body.threshold_rad = options.budget.threshold_rad;
  body.max_speed_mps = options.max_speed_mps;
  Archetype point = body;
  point.name = "point";
  point.has_orientation = false;
  return {body, point};
}

ServerConfig server_config(const ReplayOptions& options, double start_s, CodingStatistics& coding) {
  ServerConfig config;
  config.tick_rate_hz = options.tick_rate_hz;
  config.epoch_s = start_s;
  config.archetypes = archetypes_for(options);
  config.updates_per_second = options.budget.updates_per_second;
  config.fixed_rate_hz = options.budget.fixed_rate_hz;
  config.parts = options.parts;
  config.coding = &coding;
  config.rewind_s = options.shots_per_second > 0.0 ? 1.0 : 0.0;
  return config;
}

ClientConfig client_config(const ReplayOptions& options) {
  ClientConfig config;
  config.archetypes = archetypes_for(options);
  config.playout = options.playout;
  config.playout.frame_rate_hz = options.frame_rate_hz;
  config.uses_stamps = options.uses_stamps;
  return config;
}

class ReckonerMethod final : public Method {
 public:
  ReckonerMethod(const scenario::Source& source, const ReplayOptions& options, double start_s,
                 ReplayNetwork& network)
      : source_(source),
        present_(options.playout.mode == PlayoutMode::present),
        frames_(options.uses_frames),
        network_(network),
        server_(server_config(options, start_s, coding_), network_.server()),
        client_(client_config(options), network_.client()),
        ids_(source.size()),
        published_s_(source.size(), -1.0),
        updates_(source.size(), 0) {
    for (std::size_t i = 0; i < source.size(); ++i)
      indices_.emplace(source.entity(i).name, i);
    for (const RouteDefinition& route : source.routes()) {
      const Result<RouteId> id = server_.add_route(route);
      routes_.push_back(id ? *id : RouteId{});
    }
    if (options.shots_per_second > 0.0) range_.emplace(options.shots_per_second, start_s);
  }

  void tick(double time_s, std::span<const scenario::FeedItem> items) override {
    advance(std::max(time_s, network_.now_s()));
    for (const scenario::FeedItem& item : items)
      apply(item);
    const std::uint64_t sent = server_.stats().updates_sent;
    network_.begin_tick();
    server_.tick(network_.now_s());
    network_.end_tick(server_.stats().updates_sent - sent);
    for (const scenario::FeedItem& item : items)
      count_publish(item.entity);
  }

  [[nodiscard]] double next_event_s() const override { return network_.next_event_s(); }

  void advance(double time_s) override {
    network_.advance(time_s);
    if (network_.server_has_events()) server_.receive(time_s);
    while (const auto event = server_.poll_event()) {
      if (range_ && event->kind == ServerEvent::Kind::client_joined) range_->joined(event->client);
    }
    if (range_) range_->look(server_, time_s);
    if (network_.client_has_events()) client_.receive(time_s + kClientClockOffsetS);
    while (client_.poll_event()) {
    }
  }

  void frame(double time_s, std::vector<ShownPose>& shown) override {
    advance(std::max(time_s, network_.now_s()));
    const double local_s = time_s + kClientClockOffsetS;
    client_.receive(local_s);
    const auto drawn = client_.frame(local_s);
    for (const ShownEntity& entity : drawn) {
      const EntityInfo* info = client_.info(entity.id);
      const auto found = info ? indices_.find(info->name) : indices_.end();
      if (found == indices_.end()) continue;
      // In present mode the pose means this very frame, wherever the client believes to be.
      shown.push_back({found->second, entity.shown.pose(), present_ ? time_s : entity.shown_time_s,
                       entity.frame != EntityId{}});
    }
    std::sort(shown.begin(), shown.end(),
              [](const ShownPose& a, const ShownPose& b) { return a.entity < b.entity; });
    if (range_) range_->drawn(client_, local_s, time_s, drawn);
  }

  [[nodiscard]] double delay_s() const override { return present_ ? 0.0 : client_.stats().delay_s; }

  [[nodiscard]] std::optional<double> clock_error_s(double time_s) const override {
    const auto estimate = client_.server_time_s(time_s + kClientClockOffsetS);
    return estimate ? std::optional(*estimate - time_s) : std::nullopt;
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

  [[nodiscard]] std::optional<SeenFigures> seen() const override {
    return range_ ? std::optional{range_->figures()} : std::nullopt;
  }

  [[nodiscard]] std::uint64_t updates_of(std::size_t entity) const override { return updates_[entity]; }

 private:
  void apply(const scenario::FeedItem& item) {
    EntityId& id = ids_[item.entity];
    switch (item.kind) {
      case scenario::FeedItem::Kind::spawn: {
        const scenario::SourceEntity& info = source_.entity(item.entity);
        id = server_.spawn(info.has_orientation ? 0 : 1, info.name, told(item), frame_of(item));
        if (const auto route = source_.route_of(item.entity)) server_.follow(id, routes_[*route]);
        return;
      }
      case scenario::FeedItem::Kind::move:
        (void)server_.enter_frame(id, frame_of(item));
        server_.move(id, told(item));
        return;
      case scenario::FeedItem::Kind::teleport:
        (void)server_.enter_frame(id, frame_of(item));
        server_.teleport(id, told(item));
        return;
      case scenario::FeedItem::Kind::despawn:
        server_.despawn(id);
        id = {};
        return;
    }
  }

  [[nodiscard]] EntityId frame_of(const scenario::FeedItem& item) const {
    return frames_ && item.frame ? ids_[*item.frame] : EntityId{};
  }
  [[nodiscard]] const State& told(const scenario::FeedItem& item) const {
    return frames_ ? item.local : item.truth;
  }

  void count_publish(std::size_t entity) {
    const auto motion = server_.published(ids_[entity]);
    if (!motion || motion->time_s == published_s_[entity]) return;
    published_s_[entity] = motion->time_s;
    ++updates_[entity];
  }

  const scenario::Source& source_;
  bool present_;
  bool frames_;
  ReplayNetwork& network_;
  CodingStatistics coding_;
  Server server_;
  Client client_;
  std::optional<ShotRange> range_;
  std::vector<EntityId> ids_;    // null while not in the world
  std::vector<RouteId> routes_;  // by the source's
  std::unordered_map<std::string, std::size_t> indices_;
  std::vector<double> published_s_;
  std::vector<std::uint64_t> updates_;
};

}  // namespace

std::uint32_t connect_reason(std::string_view method) {
  return method == "reckoner" ? kProtocolVersion : 0;
}

std::unique_ptr<Method> make_reckoner_method(const scenario::Source& source, const ReplayOptions& options,
                                             double start_s, ReplayNetwork& network) {
  return std::make_unique<ReckonerMethod>(source, options, start_s, network);
}

}  // namespace reckoner::harness
