// SPDX-License-Identifier: MIT
#include "harness/methods/publish_count.hpp"
#include "harness/methods/server_refusals.hpp"
#include "harness/methods/viewer.hpp"
#include "harness/replay/method.hpp"
#include "harness/replay/replay_run.hpp"
#include "harness/replay/rogue_owner.hpp"
#include "harness/replay/sim_replay_network.hpp"
#include "harness/sim/sim_transport.hpp"
#include "net/src/messages/messages.hpp"
#include "reckoning/src/motion/portable_math.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
#include <numbers>
#include <utility>

#include <glm/geometric.hpp>

#include <reckoner/client/client.hpp>
#include <reckoner/server/server.hpp>

namespace reckoner::harness {
namespace {

// Offset of the owner's clock; it differs from the offsets of the server and the viewer.
constexpr double kOwnerClockOffsetS = -500.0;
constexpr std::byte kOwnerGreeting{0x01};
constexpr std::size_t kRunner = kPoint + 1;  // archetype of the cheating owner's entity
constexpr double kSpeedWindowS = 0.5;
constexpr double kSkipOwnedRunS = 3.0;

std::vector<Archetype> archetypes_for(const ReplayOptions& options) {
  std::vector<Archetype> archetypes = replay_archetypes(options);
  Archetype& runner = archetypes.emplace_back(archetypes[kPoint]);
  runner.name = "runner";
  runner.max_speed_mps = RogueOwner::kTopSpeedMps;
  return archetypes;
}

// Measures the speed of an entity over a window of time. With a window of 0, measures it from one call to the
// next.
class SpeedMeter {
 public:
  explicit SpeedMeter(double window_s) : window_s_(window_s) {}

  void note(double time_s, const glm::dvec3& position) {
    past_.push_back({time_s, position});
    if (past_.size() < 2 || past_.front().first > time_s - window_s_) return;
    while (past_.size() > 2 && past_[1].first <= time_s - window_s_)
      past_.pop_front();
    const auto& [then_s, then] = past_.front();
    speeds_mps_.push_back(glm::distance(position, then) / (time_s - then_s));
  }
  void restart() { past_.clear(); }
  [[nodiscard]] Distribution speeds_mps() const { return describe(speeds_mps_); }

 private:
  double window_s_;
  std::deque<std::pair<double, glm::dvec3>> past_;
  std::vector<double> speeds_mps_;
};

class OwnedMethod final : public Method {
 public:
  OwnedMethod(const scenario::Source& source, const ReplayOptions& options, double start_s)
      : source_(source),
        options_(options),
        start_s_(start_s),
        network_(sim_network_config(options, start_s)),
        owner_transport_(network_.add_client(kProtocolVersion, *options.owner_links)),
        client_transport_(network_.add_client(kProtocolVersion)),
        server_(make_test_server(replay_server_config(options, start_s, archetypes_for(options)),
                                 network_.server(), {.parts = options.parts})),
        owner_(make_test_client(replay_client_config(options, archetypes_for(options)), owner_transport_,
                                options.viewing)),
        viewer_(source, replay_client_config(options, archetypes_for(options)), client_transport_,
                options.client_clock, start_s, options.viewing),
        ids_(source.size()),
        truths_(source.size()),
        frames_(source.size()),
        is_frame_(source.size(), false),
        publishes_(source.size()) {
    rules_.policy = options.owner_policy;
    if (const auto cheat = find_cheat(options.cheat)) {
      rogue_.emplace(*cheat, archetypes_for(options), kRunner,
                     network_.add_client(kProtocolVersion, *options.owner_links));
    }
  }

  void tick(double time_s, std::span<const scenario::FeedItem> items) override {
    advance(std::max(time_s, network_.now_s()));
    for (const scenario::FeedItem& item : items)
      apply(item);
    give();
    owner_.update(owner_local(time_s));
    while (owner_.poll_event()) {
    }
    for (std::size_t i = 0; i < ids_.size(); ++i) {
      if (ids_[i]) (void)owner_.move(ids_[i], truths_[i], frames_[i]);
    }
    if (rogue_) rogue_->tick(server_.next_tick(), time_s, options_.tick_rate_hz);
    server_.tick(network_.now_s());
    for (const scenario::FeedItem& item : items)
      publishes_.observe(server_, item.entity, ids_[item.entity]);
    const auto motion = server_.published(rogue_entity_);
    const bool is_newer = motion && (!published_s_ || motion->time_s > *published_s_);
    if (is_newer && motion->time_s - start_s_ > kSkipOwnedRunS) {
      published_s_ = motion->time_s;
      published_speed_.note(motion->time_s, motion->state.position);
    }
  }

  [[nodiscard]] double next_event_s() const override { return network_.next_event_s(); }

  void advance(double time_s) override {
    network_.advance(time_s);
    if (network_.server_has_events()) server_.receive(time_s);
    while (server_.poll_event()) {
    }
    while (const auto message = server_.poll_message()) {
      if (message->payload[0] == kOwnerGreeting) owner_id_ = message->sender;
      if (message->payload[0] == RogueOwner::kGreeting) rogue_id_ = message->sender;
    }
    if (network_.client_has_events(0)) {
      const bool joined = owner_.status() == ClientStatus::joined;
      owner_.update(owner_local(time_s));
      if (!joined && owner_.status() == ClientStatus::joined)
        (void)owner_.send(std::array{kOwnerGreeting}, Delivery::reliable);
    }
    if (network_.client_has_events(1)) viewer_.update(time_s);
    if (rogue_ && network_.client_has_events(2)) rogue_->receive(time_s);
  }

  void frame(double time_s, std::vector<ShownPose>& shown) override {
    advance(std::max(time_s, network_.now_s()));
    std::optional<glm::dvec3> rogue;
    for (const ShownEntity& entity : viewer_.frame(time_s, shown)) {
      if (entity.id == rogue_entity_ && time_s - start_s_ > kSkipOwnedRunS) rogue = entity.shown.position;
    }
    note_rogue(time_s, rogue);
  }

  [[nodiscard]] double delay_s() const override { return viewer_.delay_s(); }
  [[nodiscard]] std::optional<double> clock_error_s(double time_s) const override {
    return viewer_.clock_error_s(time_s);
  }
  [[nodiscard]] Traffic down() const override {
    const TransportStats& stats = network_.server().stats();
    return {server_.stats().updates_sent, stats.payload_bytes_sent, stats.wire_bytes_sent};
  }
  [[nodiscard]] Traffic up() const override {
    const TransportStats& stats = owner_transport_.stats();
    return {stats.datagrams_sent, stats.payload_bytes_sent, stats.wire_bytes_sent};
  }
  [[nodiscard]] std::optional<OwnedFigures> owned() const override {
    return OwnedFigures{server_.ownership_stats(),
                        owner_.stats().corrections,
                        rogue_ ? std::optional{shown_speed_.speeds_mps()} : std::nullopt,
                        rogue_ ? std::optional{frame_step_speed_.speeds_mps()} : std::nullopt,
                        rogue_ ? std::optional{published_speed_.speeds_mps()} : std::nullopt,
                        RogueOwner::kTopSpeedMps};
  }
  [[nodiscard]] std::string hidden_reason() const override {
    return refusals_.text().empty() ? viewer_.hidden_reason() : refusals_.text();
  }
  [[nodiscard]] std::uint64_t updates_of(std::size_t entity) const override { return publishes_.of(entity); }

 private:
  void note_rogue(double time_s, const std::optional<glm::dvec3>& shown) {
    while (const auto event = viewer_.client().poll_event()) {
      using Kind = ClientEvent::Kind;
      const bool jumps = event->kind == Kind::teleported || event->kind == Kind::snapped;
      if (!jumps || event->entity != rogue_entity_) continue;
      shown_speed_.restart();  // a jump of which the client tells the game does not count as speed
      frame_step_speed_.restart();
    }
    if (!shown) return;
    shown_speed_.note(time_s, *shown);
    frame_step_speed_.note(time_s, *shown);
  }

  static double owner_local(double time_s) { return time_s + kOwnerClockOffsetS; }

  void apply(const scenario::FeedItem& item) {
    EntityId& id = ids_[item.entity];
    const bool framed = options_.uses_frames && item.frame;
    frames_[item.entity] = framed ? ids_[*item.frame] : EntityId{};
    const State& truth = truths_[item.entity] = framed ? item.local : item.truth;
    if (framed) is_frame_[*item.frame] = true;
    if (framed) (void)server_.set_boardable(ids_[*item.frame], true);
    switch (item.kind) {
      case scenario::FeedItem::Kind::spawn: {
        const scenario::SourceEntity& info = source_.entity(item.entity);
        const SpawnResult spawned =
            server_.spawn(info.has_orientation ? kBody : kPoint, info.name, truth, frames_[item.entity]);
        id = spawned ? *spawned : EntityId{};
        if (!spawned) refusals_.note(info.name, spawned.error());
        return;
      }
      case scenario::FeedItem::Kind::move:
        if (server_.owner(id)) return;
        (void)server_.enter_frame(id, frames_[item.entity]);
        (void)server_.move(id, truth);
        return;
      case scenario::FeedItem::Kind::teleport:
        (void)server_.teleport(id, truth);
        return;
      case scenario::FeedItem::Kind::despawn:
        (void)server_.despawn(id);
        id = {};
        return;
    }
  }

  // Once the owner has joined, gives it the ownership of all entities that are not frames of other entities.
  // Also spawns the cheating owner's entity.
  void give() {
    for (std::size_t i = 0; i < ids_.size(); ++i) {
      const bool free = owner_id_ && ids_[i] && !is_frame_[i] && !server_.owner(ids_[i]);
      if (free) (void)server_.give(ids_[i], owner_id_, rules_);
    }
    if (!rogue_id_) return;
    for (const EntityId id : ids_) {
      if (id) (void)server_.set_relevance(rogue_id_, id, Relevance::never);
    }
    if (rogue_entity_) return;
    State start;
    start.position = rogue_->claimed_state(network_.now_s()).position;
    rogue_entity_ = *server_.spawn(kRunner, "rogue", start);
    OwnershipRules rules = rules_;
    rules.max_acceleration_mps2 = 100.0;
    (void)server_.give(rogue_entity_, rogue_id_, rules);
  }

  const scenario::Source& source_;
  ReplayOptions options_;
  double start_s_;
  SimNetwork network_;
  Transport& owner_transport_;
  Transport& client_transport_;
  Server server_;
  Client owner_;
  Viewer viewer_;
  std::optional<RogueOwner> rogue_;
  OwnershipRules rules_;
  ClientId owner_id_;
  ClientId rogue_id_;
  EntityId rogue_entity_;
  SpeedMeter shown_speed_{kSpeedWindowS};      // of the cheater's entity as the viewer shows it
  SpeedMeter frame_step_speed_{0.0};           // of the cheater's shown entity, per picture
  SpeedMeter published_speed_{kSpeedWindowS};  // of the cheater's entity as the server published it
  std::optional<double> published_s_;          // time stamp of the newest motion in it
  std::vector<EntityId> ids_;                  // id of each entity; null while it is not in the world
  std::vector<State> truths_;                  // state of each entity, in its frame from frames_
  std::vector<EntityId> frames_;               // frame of each entity; null: the world
  std::vector<bool> is_frame_;                 // for each entity, true if another entity uses it as its frame
  PublishCount publishes_;
  ServerRefusals refusals_;
};

}  // namespace

std::unique_ptr<Method> make_owned_method(const scenario::Source& source, const ReplayOptions& options,
                                          double start_s) {
  return std::make_unique<OwnedMethod>(source, options, start_s);
}

LinkPair combined_links(const LinkPair& first, const LinkPair& second) {
  // A datagram travels up the owner's link and then down the viewer's.
  const LinkOptions& a = first.up;
  const LinkOptions& b = second.down;
  LinkOptions sum;
  // The sum of two delays has the sum of their variances and the sum of their means. A mean is the latency
  // plus sqrt(2 / pi) times the jitter.
  sum.jitter_ms = portable::hypot(a.jitter_ms, b.jitter_ms);
  const double more_ms = a.jitter_ms + b.jitter_ms - sum.jitter_ms;
  sum.latency_ms = a.latency_ms + b.latency_ms + std::sqrt(2.0 / std::numbers::pi) * more_ms;
  sum.loss_percent = 100.0 * (1.0 - (1.0 - 0.01 * a.loss_percent) * (1.0 - 0.01 * b.loss_percent));
  sum.burst = std::max(a.burst, b.burst);
  return {sum, sum};
}

}  // namespace reckoner::harness
