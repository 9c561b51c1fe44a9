// SPDX-License-Identifier: MIT
#include "harness/explain/trials/trial_game.hpp"

#include "harness/sim/sim_transport.hpp"
#include "net/src/messages/datagram.hpp"
#include "net/src/wire/bit_stream.hpp"
#include "programs/common/archetypes.hpp"
#include "programs/common/sessions/session_log.hpp"
#include "programs/common/sessions/session_transports.hpp"
#include "scenario/builtin/random.hpp"
#include "server/src/test_switches.hpp"
#include "server/src/util/server_observer.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
#include <numbers>
#include <span>
#include <utility>

#include <glm/geometric.hpp>

#include <reckoner/client/client.hpp>
#include <reckoner/net/forwarding_transport.hpp>
#include <reckoner/server/server.hpp>

namespace reckoner::harness {
namespace {

constexpr double kRateHz = 60.0;
constexpr double kFrameS = 1.0 / kRateHz;

// Drops or delays what arrives at a client during the disturbance.
class DisturbedTransport final : public ForwardingTransport {
 public:
  DisturbedTransport(Transport& inner, const TrialPlan& plan, bool inject)
      : ForwardingTransport(inner), plan_(plan), inject_(inject), random_(plan.seed, 77) {}

  void set_time(double time_s) { time_s_ = time_s; }

  [[nodiscard]] std::optional<TransportEvent> poll() override {
    while (auto event = ForwardingTransport::poll()) {
      if (drops(*event)) continue;
      const double extra_s = delay_s(*event);
      if (extra_s <= 0.0) return event;
      delayed_.push_back({time_s_ + extra_s, *event, {event->payload.begin(), event->payload.end()}});
    }
    const auto due = std::find_if(delayed_.begin(), delayed_.end(),
                                  [&](const Delayed& datagram) { return datagram.until_s <= time_s_; });
    if (due == delayed_.end()) return std::nullopt;
    current_ = std::move(*due);
    delayed_.erase(due);
    current_.event.payload = current_.payload;
    return current_.event;
  }

 private:
  struct Delayed {
    double until_s = 0.0;
    TransportEvent event;
    std::vector<std::byte> payload;
  };
  [[nodiscard]] bool active() const {
    return inject_ && time_s_ >= plan_.at_s && time_s_ < plan_.at_s + plan_.lasts_s;
  }
  // True for a datagram that brings the spawn or the end of an entity.
  [[nodiscard]] static bool has_spawns(std::span<const std::byte> payload) {
    BitReader reader{payload};
    const ServerHeader header = read_server_header(reader);
    return !reader.failed() && header.has_spawns;
  }
  [[nodiscard]] bool drops(const TransportEvent& event) const {
    return plan_.cause == Cause::loss && active() && event.kind == TransportEvent::Kind::received;
  }
  [[nodiscard]] double delay_s(const TransportEvent& event) {
    if (!active() || event.kind != TransportEvent::Kind::received) return 0.0;
    if (plan_.cause == Cause::late_spawn) return has_spawns(event.payload) ? plan_.size : 0.0;
    if (plan_.cause != Cause::jitter) return 0.0;
    // A stall releases everything at once; otherwise each datagram has its own delay.
    return plan_.variant ? plan_.at_s + plan_.lasts_s + plan_.size - time_s_
                         : plan_.size * random_.uniform(0.8, 1.3);
  }

  const TrialPlan& plan_;
  bool inject_;
  scenario::Random random_;
  double time_s_ = 0.0;
  std::deque<Delayed> delayed_;
  Delayed current_;
};

// A smooth path: sums of sines in the plane.
class Path {
 public:
  Path(std::uint64_t seed, std::uint64_t number, double speed_mps) {
    scenario::Random random(seed, 1000 + number);
    center_ = {random.uniform(-80.0, 80.0), random.uniform(-80.0, 80.0), random.uniform(0.0, 4.0)};
    for (Wave& wave : waves_) {
      wave.frequency = random.uniform(0.4, 2.2);
      wave.phase = random.uniform(0.0, 2.0 * std::numbers::pi);
      const double angle = random.uniform(0.0, 2.0 * std::numbers::pi);
      const double amplitude = 0.7 * speed_mps * random.uniform(0.5, 1.5) / wave.frequency;
      wave.along = {amplitude * std::cos(angle), amplitude * std::sin(angle), 0.0};
    }
  }
  [[nodiscard]] State at(double t) const {
    State state;
    state.position = center_;
    glm::dvec3 velocity{0.0};
    for (const Wave& wave : waves_) {
      state.position += wave.along * std::sin(wave.frequency * t + wave.phase);
      velocity += wave.along * (wave.frequency * std::cos(wave.frequency * t + wave.phase));
    }
    state.velocity = glm::vec3{velocity};
    return state;
  }

 private:
  struct Wave {
    double frequency = 1.0;
    double phase = 0.0;
    glm::dvec3 along{0.0};
  };
  std::array<Wave, 2> waves_;
  glm::dvec3 center_{0.0};
};

// Keeps the decisions of the server.
class DecisionKeeper final : public ServerObserver {
 public:
  explicit DecisionKeeper(ServerDecisions& kept) : kept_(kept) {}
  void published(const Published& p) override {
    kept_.published.push_back(
        {p.entity, p.level, p.at_s, p.motion_s, p.error_m, p.threshold_m, std::string(p.cause)});
  }
  void delayed(const Delayed& d) override {
    kept_.delayed.push_back({d.client, d.entity, d.level, d.at_s, d.motion_s, d.since_s,
                             static_cast<DelayFact::Why>(static_cast<int>(d.why))});
  }

 private:
  ServerDecisions& kept_;
};

// The server's game, the client's game, and the network between them.
class Game {
 public:
  Game(const TrialPlan& plan, bool inject)
      : plan_(plan),
        inject_(inject),
        network_(network_config(plan)),
        server_(make_test_server(server_config(plan, inject), network_.server(), observed(decisions_))),
        disturbed_(network_.add_client(kProtocolVersion), plan, inject),
        writer_(
            program::SessionWriter::to_memory(played_.session, {kProtocolVersion, "trial", plan.playout})),
        recorded_(disturbed_, writer_),
        client_(std::move(*Client::create(client_config(plan), recorded_))) {
    for (std::size_t i = 0; i < plan.entities; ++i)
      paths_.emplace_back(plan.seed, i, plan.speed_mps);
  }

  PlayedTrial play() {
    double tick_s = server_.tick_time_s(server_.next_tick());
    double frame_s = 0.3 * kFrameS;
    spawn_world();
    while (frame_s < plan_.seconds) {
      if (tick_s + stalled_s_ <= frame_s) {
        const double now_s = tick_s + stalled_s_;
        if (stalls_at(now_s)) continue;
        network_.advance(now_s);
        server_.receive(tick_s);
        while (server_.poll_event()) {
        }
        move_world(server_.tick_time_s(server_.next_tick()));
        server_.tick(tick_s);
        tick_s = server_.tick_time_s(server_.next_tick());
      } else {
        network_.advance(frame_s);
        draw(frame_s);
        frame_s += kFrameS;
      }
    }
    played_.failed = client_.status() != ClientStatus::joined;
    (void)writer_.close();
    return std::move(played_);
  }

 private:
  static SimNetworkConfig network_config(const TrialPlan& plan) {
    SimNetworkConfig config;
    config.links = {plan.link, plan.link};
    config.seed = plan.seed;
    return config;
  }
  static ServerConfig server_config(const TrialPlan& plan, bool inject) {
    ServerConfig config;
    config.archetypes =
        program::archetypes(plan.cause == Cause::threshold && inject ? plan.size : plan.threshold_m);
    config.tick_rate_hz = kRateHz;
    config.bytes_per_second = plan.bytes_per_second;
    config.follow_link = false;
    return config;
  }
  static ClientConfig client_config(const TrialPlan& plan) {
    ClientConfig config;
    config.archetypes = program::archetypes();
    config.playout = plan.playout;
    return config;
  }

  [[nodiscard]] bool injected(Cause cause) const { return inject_ && plan_.cause == cause; }
  [[nodiscard]] bool over(double time_s) const { return time_s >= plan_.at_s; }

  // The clock of the server stands still for a while.
  bool stalls_at(double now_s) {
    const bool stalls = injected(Cause::clock) && plan_.variant && over(now_s) && stalled_s_ == 0.0;
    if (stalls) stalled_s_ = plan_.size;
    return stalls;
  }

  void spawn(const std::string& name, const State& state, program::Kind kind = program::Kind::point) {
    if (const auto id = server_.spawn(static_cast<std::size_t>(kind), name, state)) {
      ids_[name] = *id;
      played_.ids[name] = id->index1;
    }
  }

  void spawn_world() {
    const double time_s = server_.tick_time_s(server_.next_tick());
    for (std::size_t i = 0; i < paths_.size(); ++i) {
      if (i == 0 && plan_.cause == Cause::late_spawn) continue;  // it spawns at the disturbance
      spawn(name_of_body(i), body_at(i, time_s));
    }
    for (std::size_t i = 0; i < plan_.crowd; ++i)
      spawn("crowd " + std::to_string(i), crowd_at(i, time_s));
    if (plan_.cause == Cause::frame_change) spawn("ship", ship_at(time_s), program::Kind::body);
  }

  void move_world(double time_s) {
    if (plan_.cause == Cause::late_spawn && over(time_s) && !ids_.contains(name_of_body(0)))
      spawn(name_of_body(0), body_at(0, time_s));
    for (std::size_t i = 0; i < paths_.size(); ++i) {
      const auto found = ids_.find(name_of_body(i));
      if (found == ids_.end()) continue;
      const State state = body_at(i, time_s);
      if (i == 0 && owned_) {
        push_owned(found->second, time_s);
        continue;
      }
      if (i == 0 && in_frame_) {
        (void)server_.move(found->second, into_frame(ship_at(time_s), state));
      } else if (i == 0 && injected(Cause::teleport) && over(time_s) && !teleported_) {
        teleported_ = true;
        (void)server_.teleport(found->second, state);
      } else {
        (void)server_.move(found->second, state);
      }
    }
    for (std::size_t i = 0; i < plan_.crowd; ++i)
      (void)server_.move(ids_["crowd " + std::to_string(i)], crowd_at(i, time_s));
    if (plan_.cause == Cause::frame_change) {
      (void)server_.move(ids_["ship"], ship_at(time_s));
      if (inject_ && over(time_s) && !in_frame_)
        in_frame_ = server_.enter_frame(ids_[name_of_body(0)], ids_["ship"]).error() == CallError::none;
    }
    if (plan_.cause == Cause::owner_correction && !owned_ && time_s > 2.0) {
      owned_ = server_.give(ids_[name_of_body(0)], ClientId{1}).error() == CallError::none;
    }
  }

  // The server's game pushes the entity aside, against the will of its owner.
  void push_owned(EntityId id, double time_s) {
    if (!injected(Cause::owner_correction) || !over(time_s) || pushed_) return;
    pushed_ = true;
    State state = server_.state(id).value_or(State{});
    state.position +=
        glm::dvec3{plan_.size * std::cos(plan_.lasts_s), plan_.size * std::sin(plan_.lasts_s), 0.0};
    (void)server_.teleport(id, state);  // move() would leave it to the owner
  }

  static std::string name_of_body(std::size_t i) { return "body " + std::to_string(i); }

  // The true state of a body, with what the injector makes of it.
  [[nodiscard]] State body_at(std::size_t i, double time_s) const {
    State state = paths_[i].at(time_s);
    if (plan_.cause == Cause::frame_change && i == 0) {
      // It walks on the deck.
      State local;
      local.position =
          glm::dvec3{plan_.size, 1.0, 0.0} + 0.15 * (state.position - paths_[0].at(0.0).position);
      local.velocity = 0.15f * state.velocity;
      return out_of_frame(ship_at(time_s), local);
    }
    if (i != 0 || !inject_ || !over(time_s)) return state;
    if (plan_.cause == Cause::teleport) {
      state.position +=
          glm::dvec3{plan_.size * std::cos(plan_.lasts_s), plan_.size * std::sin(plan_.lasts_s), 0.0};
    } else if (plan_.cause == Cause::motion) {
      // It bounces off a wall.
      const State at_wall = paths_[i].at(plan_.at_s);
      const double heading =
          std::atan2(at_wall.velocity.y, at_wall.velocity.x) + plan_.size;  // normal of the wall
      const glm::dvec3 normal{std::cos(heading), std::sin(heading), 0.0};
      const glm::dvec3 away = state.position - at_wall.position;
      state.position = at_wall.position + away - 2.0 * glm::dot(away, normal) * normal;
      const glm::dvec3 velocity{state.velocity};
      state.velocity = glm::vec3{velocity - 2.0 * glm::dot(velocity, normal) * normal};
    }
    return state;
  }

  [[nodiscard]] State ship_at(double time_s) const {
    State state = Path(plan_.seed, 500, plan_.speed_mps).at(time_s);
    const double rate = 1.0 + 0.05 * plan_.speed_mps;
    const double yaw = 0.8 * std::sin(rate * time_s);
    state.orientation = glm::quat{static_cast<float>(std::cos(0.5 * yaw)), 0.0f, 0.0f,
                                  static_cast<float>(std::sin(0.5 * yaw))};
    state.angular_velocity = {0.0f, 0.0f, static_cast<float>(0.8 * rate * std::cos(rate * time_s))};
    return state;
  }

  // Bodies at rest, which dance during the disturbance.
  [[nodiscard]] State crowd_at(std::size_t i, double time_s) const {
    State state;
    scenario::Random random(plan_.seed, 5000 + i);
    state.position = {random.uniform(-100.0, 100.0), random.uniform(-100.0, 100.0), 0.0};
    if (!inject_ || !over(time_s)) return state;
    const double since_s = std::min(time_s - plan_.at_s, plan_.lasts_s);
    const double rate = random.uniform(20.0, 40.0);
    const double amplitude = plan_.size;
    state.position +=
        glm::dvec3{amplitude * std::sin(rate * since_s), amplitude * (1.0 - std::cos(rate * since_s)), 0.0};
    if (time_s - plan_.at_s < plan_.lasts_s) {
      state.velocity = glm::vec3{glm::dvec3{amplitude * rate * std::cos(rate * since_s),
                                            amplitude * rate * std::sin(rate * since_s), 0.0}};
    }
    return state;
  }

  [[nodiscard]] double local_s(double time_s) const {
    const bool jumped = injected(Cause::clock) && !plan_.variant && over(time_s);
    return 1000.0 + time_s + (jumped ? plan_.size : 0.0);
  }

  void draw(double time_s) {
    disturbed_.set_time(time_s);
    const double now_local_s = local_s(time_s);
    client_.update(now_local_s);
    poll_client();
    move_avatar(time_s, now_local_s);
    writer_.frame(now_local_s);
    for (const ShownEntity& entity : client_.shown()) {
      if (const std::string& name = entity.info->name; !name.starts_with("crowd"))
        played_.drawn[name].push_back({time_s, now_local_s, entity.shown.position});
    }
    poll_client();
  }

  void poll_client() {
    while (const auto event = client_.poll_event()) {
      if (event->kind == ClientEvent::Kind::given) avatar_ = event->entity;
      if (event->kind == ClientEvent::Kind::corrected) last_.reset();
      if (event->kind == ClientEvent::Kind::revoked) avatar_.reset();
    }
  }

  // The player's own game.
  void move_avatar(double time_s, double now_local_s) {
    if (!avatar_) return;
    const auto from = client_.owned(*avatar_);
    if (!from) return;
    if (!last_) last_ = from;
    State next = *last_;
    next.velocity = paths_[0].at(time_s).velocity;
    next.position += glm::dvec3{next.velocity} * kFrameS;
    program::MoveRecord record{now_local_s, *avatar_, {}, false, next};
    writer_.move(record);
    if (client_.move(*avatar_, next)) last_ = next;
  }

  static ServerTestSwitches observed(ServerObserver& observer) {
    ServerTestSwitches switches;
    switches.observer = &observer;
    return switches;
  }

  const TrialPlan& plan_;
  bool inject_;
  PlayedTrial played_;
  DecisionKeeper decisions_{played_.decisions};
  SimNetwork network_;
  Server server_;
  DisturbedTransport disturbed_;
  program::SessionWriter writer_;
  program::RecordedTransport recorded_;
  Client client_;
  std::vector<Path> paths_;
  std::map<std::string, EntityId> ids_;
  double stalled_s_ = 0.0;
  bool in_frame_ = false;
  bool teleported_ = false;
  bool owned_ = false;
  bool pushed_ = false;
  std::optional<EntityId> avatar_;
  std::optional<State> last_;
};

}  // namespace

TrialPlan draw_plan(std::optional<Cause> cause, std::uint64_t seed) {
  scenario::Random random(seed, cause ? static_cast<std::uint64_t>(*cause) : 99);
  TrialPlan plan{.cause = cause, .seed = random.next()};
  const auto networks = named_networks();
  const NamedNetwork& network = networks[random.below(networks.size())];
  plan.network = network.name;
  plan.link = network.options;
  plan.link.loss_percent = 0.0;
  plan.entities = 2 + random.below(8);
  plan.speed_mps = random.uniform(3.0, 18.0);
  plan.threshold_m = random.uniform(0.02, 0.08);
  plan.at_s = random.uniform(5.0, 6.5);
  plan.variant = random.chance(0.5);
  const double mode = random.uniform();
  if (mode > 0.7) plan.playout.mode = mode > 0.85 ? PlayoutMode::adaptive : PlayoutMode::delayed;
  plan.playout.delay_s = random.uniform(0.1, 0.3);
  plan.playout.blend_s = frames_to_seconds(random.uniform(4.0, 10.0), 60.0);
  const double jitter_s = plan.link.jitter_ms * 1e-3;
  const double strength = random.uniform();
  if (!cause) return plan;
  const bool past_is_safe =
      cause == Cause::clock || cause == Cause::budget || cause == Cause::threshold || cause == Cause::motion;
  if (past_is_safe) plan.playout.mode = PlayoutMode::present;  // a delay hides these
  switch (*cause) {
    case Cause::loss:
      plan.lasts_s = 0.03 + 0.4 * strength;
      break;
    case Cause::jitter:
      plan.lasts_s = random.uniform(0.02, 0.3);
      plan.size = 0.1 + 6.0 * jitter_s + 0.3 * strength;  // beyond what the network does
      break;
    case Cause::clock:
      plan.size = 0.3 + 0.6 * strength;
      break;
    case Cause::late_spawn:
      plan.size = 0.15 + 3.0 * jitter_s + 0.8 * strength;
      plan.lasts_s = plan.size + 0.6;  // or a spawn that the server writes again would come first
      break;
    case Cause::budget:
      plan.crowd = 60 + random.below(140);
      plan.bytes_per_second = 4'000 + random.below(6'000);
      plan.lasts_s = 0.4 + 0.8 * strength;
      plan.size = random.uniform(0.5, 2.0);
      break;
    case Cause::threshold:
      plan.size = 0.4 + 1.6 * strength;
      break;
    case Cause::teleport:
      plan.size = 2.0 + 30.0 * strength;
      plan.lasts_s = random.uniform(0.0, 6.0);  // direction
      break;
    case Cause::frame_change:
      plan.size = 20.0 + 40.0 * strength;
      break;  // m from the middle of the ship
    case Cause::owner_correction:
      plan.size = 0.5 + 4.0 * strength;
      plan.lasts_s = random.uniform(0.0, 6.0);  // direction
      break;
    case Cause::motion:
      plan.size = random.uniform(-0.8, 0.8);
      break;
    case Cause::correction:  // not injected
      break;
  }
  return plan;
}

PlayedTrial play_trial(const TrialPlan& plan, bool inject) {
  return Game(plan, inject).play();
}

}  // namespace reckoner::harness
