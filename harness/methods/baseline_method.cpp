// SPDX-License-Identifier: MIT
#include "harness/methods/baseline.hpp"
#include "harness/metrics/measured_pictures.hpp"
#include "harness/replay/method.hpp"
#include "harness/replay/replay_network.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

namespace reckoner::harness {
namespace {

// Sizes of the data that a simple sender transmits, in bytes. A datagram contains a time stamp. For each
// entity it contains an id, a teleport counter and unquantised floats. Techniques that only use poses send a
// position and a packed orientation.
constexpr std::size_t kDatagramHeadBytes = 4;
constexpr std::size_t kEntityBytes = 2 + 1;
constexpr std::size_t kVectorBytes = 12;
constexpr std::size_t kQuaternionBytes = 16;
constexpr std::size_t kPackedQuaternionBytes = 4;
BaselineSetup baseline_setup(const ReplayOptions& options, double interval_s) {
  BaselineSetup setup;
  setup.interval_s = interval_s;
  setup.frame_rate_hz = options.frame_rate_hz;
  setup.latency_s = 0.001 * options.links.down.latency_ms;
  setup.jitter_s = 0.001 * options.links.down.jitter_ms;
  return setup;
}

// Sends every entity at even intervals after its spawn, and at once after a teleport. Spawns and despawns are
// messages that always arrive. Payloads have the right size but contain only indices into sent_. The client
// looks up the indices and so receives exact numbers.
class BaselineMethod final : public Method {
 public:
  BaselineMethod(const BaselineKind& kind, const scenario::Source& source, const ReplayOptions& options,
                 double rate_hz, ReplayNetwork& network)
      : kind_(kind),
        source_(source),
        interval_s_(1.0 / std::min(rate_hz, options.tick_rate_hz)),
        setup_(baseline_setup(options, interval_s_)),
        network_(network),
        client_(network.client()),
        entities_(source.size()),
        logs_(options.log_packets) {}

  void tick(double time_s, std::span<const scenario::FeedItem> items) override {
    advance(std::max(time_s, network_.now_s()));
    std::vector<std::size_t> due;
    for (const scenario::FeedItem& item : items) {
      apply(item, time_s);
      Entity& entity = entities_[item.entity];
      if (!entity.alive || time_s < entity.due_s - kRoundingS) continue;
      entity.due_s += interval_s_;
      if (connected()) due.push_back(item.entity);
    }
    send_state(due);
  }

  [[nodiscard]] double next_event_s() const override { return network_.next_event_s(); }

  void advance(double time_s) override {
    network_.advance(time_s);
    while (const auto event = network_.server().poll()) {
      if (event->kind == TransportEvent::Kind::connected) welcome(event->peer);
    }
    while (const auto event = client_.poll()) {
      if (event->kind == TransportEvent::Kind::received) receive_payload(event->payload, time_s);
    }
  }

  void frame(double time_s, std::vector<ShownPose>& shown) override {
    advance(std::max(time_s, network_.now_s()));
    for (std::size_t i = 0; i < entities_.size(); ++i) {
      Entity& entity = entities_[i];
      if (!entity.display) continue;
      const auto pose = entity.display->show(time_s);
      if (!pose) continue;
      if (pose->shown_time_s >= entity.ends_s) {
        entity.display.reset();
        continue;
      }
      shown.push_back({i, pose->pose, pose->shown_time_s});
    }
  }

  [[nodiscard]] double delay_s() const override { return delay_s_; }

  [[nodiscard]] Traffic down() const override {
    const TransportStats& stats = network_.server().stats();
    Traffic traffic{0, stats.payload_bytes_sent, stats.wire_bytes_sent};
    for (const Entity& entity : entities_)
      traffic.updates += entity.updates;
    return traffic;
  }
  [[nodiscard]] Traffic up() const override {
    const TransportStats& stats = client_.stats();
    return {stats.datagrams_sent, stats.payload_bytes_sent, stats.wire_bytes_sent};
  }
  [[nodiscard]] std::vector<TickContents> contents() const override { return contents_; }
  [[nodiscard]] std::uint64_t updates_of(std::size_t entity) const override {
    return entities_[entity].updates;
  }

 private:
  struct Entity {
    // State of the server:
    bool alive = false;
    BaselineUpdate latest;
    double due_s = 0.0;
    std::uint64_t updates = 0;
    // State of the client:
    std::unique_ptr<Baseline> display;
    double ends_s = std::numeric_limits<double>::infinity();
  };
  struct Sent {
    std::size_t entity = 0;
    BaselineUpdate update;
    bool despawn = false;
  };

  [[nodiscard]] bool connected() const { return static_cast<bool>(peer_); }

  [[nodiscard]] std::size_t update_bytes(std::size_t entity) const {
    const bool turns = source_.entity(entity).has_orientation;
    if (kind_.poses_only) return kEntityBytes + kVectorBytes + (turns ? kPackedQuaternionBytes : 0);
    const std::size_t vectors = kind_.sends_acceleration ? 3 : 2;
    return kEntityBytes + vectors * kVectorBytes + (turns ? kQuaternionBytes + kVectorBytes : 0);
  }

  void apply(const scenario::FeedItem& item, double time_s) {
    using Kind = scenario::FeedItem::Kind;
    Entity& entity = entities_[item.entity];
    entity.latest.state = item.truth;
    entity.latest.time_s = time_s;
    if (item.kind == Kind::spawn) {
      entity.alive = true;
      entity.due_s = time_s + interval_s_;
      if (connected()) send_message({item.entity, entity.latest, false});
    } else if (item.kind == Kind::teleport) {
      ++entity.latest.teleports;
      entity.due_s = time_s;
    } else if (item.kind == Kind::despawn) {
      entity.alive = false;
      if (connected()) send_message({item.entity, entity.latest, true});
    }
  }

  void welcome(PeerId peer) {
    peer_ = peer;
    for (std::size_t i = 0; i < entities_.size(); ++i) {
      if (entities_[i].alive) send_message({i, entities_[i].latest, false});
    }
  }

  // A payload of `bytes` bytes, which stands for the elements of sent_ from index `first` to the end.
  [[nodiscard]] std::vector<std::byte> payload_of(std::size_t first, std::size_t bytes) const {
    const std::uint64_t range[2] = {first, sent_.size()};
    std::vector<std::byte> payload(std::max(bytes, sizeof range));
    std::memcpy(payload.data(), range, sizeof range);
    return payload;
  }
  void send(std::size_t first, std::size_t bytes) { network_.server().send(peer_, payload_of(first, bytes)); }

  void send_message(Sent sent) {
    const std::size_t bytes = kDatagramHeadBytes + (sent.despawn ? kEntityBytes : update_bytes(sent.entity));
    if (!sent.despawn) ++entities_[sent.entity].updates;
    sent_.push_back(sent);
    network_.send_message(payload_of(sent_.size() - 1, bytes));
  }

  void send_state(std::span<const std::size_t> due) {
    network_.begin_tick();
    std::size_t bytes = kDatagramHeadBytes;
    std::size_t first = sent_.size();
    if (logs_ && !due.empty()) note_contents(due);
    for (const std::size_t entity : due) {
      if (bytes + update_bytes(entity) > kMaxDatagramBytes) {
        send(first, bytes);
        bytes = kDatagramHeadBytes;
        first = sent_.size();
      }
      bytes += update_bytes(entity);
      sent_.push_back({entity, entities_[entity].latest, false});
      ++entities_[entity].updates;
    }
    if (first < sent_.size()) send(first, bytes);
    network_.end_tick(due.size());
  }

  // One head per datagram, as send_state() divides the entities. A payload that is too small to hold its
  // indices is larger than its contents; the difference counts as head.
  void note_contents(std::span<const std::size_t> due) {
    TickContents tick{network_.now_s(), {}};
    std::size_t heads = 0, head_bytes = 0, bytes = 0;
    const auto end = [&] {
      if (bytes == 0) return;
      ++heads;
      head_bytes += std::max(kDatagramHeadBytes + bytes, sizeof(std::uint64_t[2])) - bytes;
      bytes = 0;
    };
    for (const std::size_t entity : due) {
      if (kDatagramHeadBytes + bytes + update_bytes(entity) > kMaxDatagramBytes) end();
      bytes += update_bytes(entity);
      tick.parts.push_back({entity, "motion", 1, 8 * update_bytes(entity)});
    }
    end();
    tick.parts.push_back({SentPart::kNoEntity, "header", heads, 8 * head_bytes});
    contents_.push_back(std::move(tick));
  }

  void receive_payload(std::span<const std::byte> payload, double now_s) {
    std::uint64_t range[2];
    std::memcpy(range, payload.data(), sizeof range);
    for (std::uint64_t i = range[0]; i < range[1]; ++i) {
      const Sent& sent = sent_[i];
      Entity& entity = entities_[sent.entity];
      if (sent.despawn) {
        entity.ends_s = sent.update.time_s;
        continue;
      }
      if (sent.update.time_s >= entity.ends_s) continue;
      // A late update of an entity that has despawned.
      if (!entity.display && entity.ends_s < now_s) continue;
      if (!entity.display) entity.display = kind_.make(setup_);
      delay_s_ = entity.display->delay_s();
      entity.display->receive(sent.update, now_s);
    }
  }

  const BaselineKind& kind_;
  const scenario::Source& source_;
  double interval_s_;
  BaselineSetup setup_;
  ReplayNetwork& network_;
  Transport& client_;
  PeerId peer_;
  std::vector<Entity> entities_;
  std::vector<Sent> sent_;
  bool logs_ = false;
  std::vector<TickContents> contents_;
  double delay_s_ = 0.0;
};

}  // namespace

std::vector<std::string> method_names() {
  std::vector<std::string> names{"reckoner"};
  for (const BaselineKind& kind : baseline_kinds())
    names.emplace_back(kind.name);
  return names;
}

std::unique_ptr<Method> make_baseline_method(std::string_view name, const scenario::Source& source,
                                             const ReplayOptions& options, double rate_hz,
                                             ReplayNetwork& network) {
  for (const BaselineKind& kind : baseline_kinds()) {
    if (kind.name == name) return std::make_unique<BaselineMethod>(kind, source, options, rate_hz, network);
  }
  return nullptr;
}

}  // namespace reckoner::harness
