// SPDX-License-Identifier: MIT
#include "recorded_drive.hpp"

#include "harness/sim/sim_transport.hpp"
#include "programs/common/archetypes.hpp"
#include "programs/common/sessions/session_calls.hpp"
#include "programs/common/sessions/session_log.hpp"
#include "programs/common/sessions/session_transports.hpp"
#include "server/src/test_switches.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <deque>
#include <optional>
#include <span>
#include <utility>

#include <reckoner/client/client.hpp>
#include <reckoner/net/forwarding_transport.hpp>
#include <reckoner/server/server.hpp>

namespace reckoner::test {
namespace {

constexpr double kTickS = 1.0 / 60.0;
using Disturbance = DrivePlan::Disturbance;

// The car: one step is deterministic.
struct Car {
  double x = 0.0, y = 0.0, heading = 0.0, speed = 0.0, fuel = 1.0;

  void step(std::span<const std::byte> input) {
    const unsigned keys = input.empty() ? 0u : std::to_integer<unsigned>(input[0]);
    speed = std::clamp(speed + ((keys & 1u) != 0 ? 12.0 : -4.0) * kTickS, 0.0, 20.0);
    heading += ((keys & 2u) != 0 ? 1.5 : (keys & 4u) != 0 ? -1.5 : 0.0) * kTickS;
    x += speed * std::cos(heading) * kTickS;
    y += speed * std::sin(heading) * kTickS;
    fuel -= 1e-4 * speed * kTickS;
  }
  [[nodiscard]] State state() const {
    State state;
    state.position = {x, y, 0.0};
    state.velocity = glm::vec3(glm::dvec3{speed * std::cos(heading), speed * std::sin(heading), 0.0});
    state.orientation = glm::quat(glm::angleAxis(heading, glm::dvec3{0.0, 0.0, 1.0}));
    return state;
  }
  [[nodiscard]] std::array<std::byte, 3 * sizeof(double)> bytes() const {
    std::array<std::byte, 3 * sizeof(double)> out{};
    const std::array numbers{heading, speed, fuel};
    std::memcpy(out.data(), numbers.data(), sizeof numbers);
    return out;
  }
  void restore(const CorrectedEntity& exact) {
    x = exact.state.position.x;
    y = exact.state.position.y;
    if (exact.game_state.size() != 3 * sizeof(double)) {
      const glm::quat& turn = exact.state.orientation;
      heading = 2.0 * std::atan2(double{turn.z}, double{turn.w});
      speed = std::hypot(double{exact.state.velocity.x}, double{exact.state.velocity.y});
      return;
    }
    std::array<double, 3> numbers{};
    std::memcpy(numbers.data(), exact.game_state.data(), sizeof numbers);
    heading = numbers[0];
    speed = numbers[1];
    fuel = numbers[2];
  }
};

// Drops or delays what the client sends during the disturbance.
class DisturbedUplink final : public ForwardingTransport {
 public:
  DisturbedUplink(Transport& inner, const DrivePlan& plan) : ForwardingTransport(inner), plan_(plan) {}

  void advance(double time_s) {
    time_s_ = time_s;
    for (; !held_.empty() && held_.front().until_s <= time_s; held_.pop_front())
      (void)ForwardingTransport::send(held_.front().peer, held_.front().payload);
  }
  bool send(PeerId peer, std::span<const std::byte> payload) override {
    if (plan_.disturbance == Disturbance::lost_inputs && within(plan_.size)) return true;
    if (plan_.disturbance == Disturbance::held_inputs && within(plan_.size)) {
      held_.push_back({plan_.at_s + plan_.size, peer, {payload.begin(), payload.end()}});
      return true;
    }
    return ForwardingTransport::send(peer, payload);
  }

 private:
  struct Held {
    double until_s = 0.0;
    PeerId peer;
    std::vector<std::byte> payload;
  };
  [[nodiscard]] bool within(double seconds) const {
    return time_s_ >= plan_.at_s - 1e-9 && time_s_ < plan_.at_s + seconds;
  }

  const DrivePlan& plan_;
  double time_s_ = 0.0;
  std::deque<Held> held_;
};

class Drive {
 public:
  explicit Drive(const DrivePlan& plan)
      : plan_(plan),
        network_({.links = {plan.link, plan.link}, .seed = 1}),
        server_(make_test_server(server_config(), network_.server())),
        uplink_(network_.add_client(kProtocolVersion), plan),
        writer_(program::SessionWriter::to_memory(
            played_.session, {kProtocolVersion, "drive", plan.client.playout, plan.client.input_delay_ticks,
                              plan.client.inputs_per_datagram})),
        recorded_(uplink_, writer_),
        client_(std::move(*Client::create(client_config(), recorded_))),
        calls_(client_, writer_) {
    played_.car = *server_.spawn(0, "car", truth_.state());
  }

  RecordedDrive play() {
    double tick_s = server_.tick_time_s(server_.next_tick());
    double picture_s = 0.3 * kTickS;
    while (picture_s < plan_.seconds) {
      if (tick_s <= picture_s) {
        network_.advance(tick_s);
        server_.receive(tick_s);
        while (server_.poll_event()) {
        }
        step_server(tick_s);
        server_.tick(tick_s);
        tick_s = server_.tick_time_s(server_.next_tick());
      } else {
        network_.advance(picture_s);
        uplink_.advance(picture_s);
        step_client(picture_s);
        const bool stalls =
            plan_.disturbance == Disturbance::stall && picture_s > plan_.at_s + 0.35 && !done_;
        done_ = done_ || stalls;
        picture_s += kTickS + (stalls ? plan_.size : 0.0);
      }
    }
    (void)writer_.close();
    return std::move(played_);
  }

 private:
  static ServerConfig server_config() {
    ServerConfig config;
    config.archetypes = program::archetypes();
    return config;
  }
  [[nodiscard]] ClientConfig client_config() const {
    ClientConfig config = plan_.client;
    config.archetypes = program::archetypes();
    return config;
  }
  // True in one call, in the first tick of the disturbance.
  bool begins(Disturbance disturbance, double time_s) {
    if (plan_.disturbance != disturbance || time_s < plan_.at_s || done_) return false;
    return done_ = true;
  }

  void step_server(double time_s) {
    if (!player_ && !server_.clients().empty()) {
      player_ = server_.clients()[0];
      (void)server_.let_predict(played_.car, player_);
    }
    truth_.step(server_.input(player_).bytes);
    if (begins(Disturbance::push, time_s)) truth_.y += plan_.size;
    if (begins(Disturbance::fuel, time_s)) truth_.fuel = 1.0;
    if (begins(Disturbance::begins_again, time_s)) (void)server_.stop_prediction(played_.car, player_);
    if (plan_.disturbance == Disturbance::begins_again && done_ && !again_ && time_s > plan_.at_s + 1.0)
      again_ = static_cast<bool>(server_.let_predict(played_.car, player_));
    if (begins(Disturbance::teleport, time_s)) {
      truth_.y += plan_.size;
      (void)server_.teleport(played_.car, truth_.state());
    } else {
      (void)server_.move(played_.car, truth_.state());
    }
    if (plan_.has_game_state) (void)server_.set_game_state(played_.car, truth_.bytes());
  }

  void step_client(double time_s) {
    const double local_s = 1000.0 + time_s;
    client_.update(local_s);
    poll_events();
    if (const auto correction = calls_.poll_correction()) {
      played_.corrections.push_back({time_s, correction->tick, correction->reason});
      for (const CorrectedEntity& entity : correction->entities)
        own_.restore(entity);
      for (const PredictionStep& step : correction->steps)
        predict(step, time_s);
    }
    // Another key at `at_s`, and then each 0.4 s.
    const int phase = static_cast<int>(std::floor((time_s - plan_.at_s) * 2.5 + 1e-6)) & 3;
    const std::array input{static_cast<std::byte>(1 + (phase == 0 ? 2 : phase == 2 ? 4 : 0))};
    while (const auto step = calls_.next_step(input)) {
      if (predicts_) predict(*step, time_s);
    }
    writer_.frame(local_s);
    for (const ShownEntity& shown : client_.shown()) {
      if (shown.id == played_.car)
        played_.drawn.push_back({local_s, shown.shown.position, shown.shown.orientation});
    }
    poll_events();
    const auto debug = client_.debug(played_.car);
    played_.debug.push_back(debug && debug->prediction ? *debug->prediction : PredictionDebug{});
  }
  void predict(const PredictionStep& step, double time_s) {
    own_.step(step.input);
    if (plan_.disturbance == Disturbance::inexact_step && time_s >= plan_.at_s)
      own_.x += plan_.size * own_.speed * kTickS;
    const auto bytes = own_.bytes();
    (void)calls_.predict(
        played_.car, step.tick, own_.state(),
        plan_.has_game_state ? std::span<const std::byte>(bytes) : std::span<const std::byte>{});
  }
  void poll_events() {
    while (const auto event = client_.poll_event()) {
      if (event->kind == ClientEvent::Kind::prediction_began) predicts_ = true;
      if (event->kind == ClientEvent::Kind::prediction_ended) predicts_ = false;
    }
  }

  const DrivePlan& plan_;
  RecordedDrive played_;
  harness::SimNetwork network_;
  Server server_;
  DisturbedUplink uplink_;
  program::SessionWriter writer_;
  program::RecordedTransport recorded_;
  Client client_;
  program::RecordedPrediction calls_;
  ClientId player_;
  Car truth_, own_;
  bool predicts_ = false;
  bool done_ = false;
  bool again_ = false;
};

}  // namespace

RecordedDrive play_drive(const DrivePlan& plan) {
  return Drive(plan).play();
}

}  // namespace reckoner::test
