// SPDX-License-Identifier: MIT
// A car that answers its player at once over a bad network, although the server decides where it is, and a
// ball that it pushes. Server and client run in this program. Between them are 60 to 80 ms in each direction
// and 5 % loss. docs/prediction.md explains each part. Exits with 0 if the car moved in the picture of the
// key press, and if server and client agree.
#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <deque>
#include <map>
#include <random>
#include <span>
#include <thread>
#include <vector>

#include <glm/geometric.hpp>
#include <glm/gtc/quaternion.hpp>

#include <reckoner/client/client.hpp>
#include <reckoner/net/forwarding_transport.hpp>
#include <reckoner/net/network_transport.hpp>
#include <reckoner/server/server.hpp>

using reckoner::EntityId;

// snip: game
constexpr float kTickS = 1.0f / 60.0f;
enum : unsigned { kGas = 1, kLeft = 2, kRight = 4 };  // keys, one bit each

// The game of both sides: what there is, and what one tick does to it.
struct Game {
  struct Engine {  // what a reckoner::State does not contain
    float heading = 0.0f, speed = 0.0f, fuel = 1.0f;
  };
  glm::dvec3 car{0.0}, ball{25.0, 0.0, 0.0};
  Engine engine;
  glm::vec3 ball_mps{0.0f};

  void step(std::span<const std::byte> input) {
    const unsigned keys = input.empty() ? 0u : std::to_integer<unsigned>(input[0]);
    const float gas = (keys & kGas) != 0 && engine.fuel > 0.0f ? 12.0f : -4.0f;
    const float turn = (keys & kLeft) != 0 ? 1.5f : (keys & kRight) != 0 ? -1.5f : 0.0f;
    engine.speed = std::clamp(engine.speed + gas * kTickS, 0.0f, 20.0f);
    engine.fuel -= gas > 0.0f ? 0.02f * kTickS : 0.0f;
    engine.heading += turn * kTickS * std::min(1.0f, engine.speed / 4.0f);
    car += glm::dvec3(car_mps() * kTickS);
    ball_mps *= 0.99f;
    ball += glm::dvec3(ball_mps * kTickS);
    const glm::vec3 away = glm::vec3(ball - car);
    if (glm::length(away) < 2.0f) ball_mps = car_mps() + 2.0f * away;  // the car pushes the ball
  }
  [[nodiscard]] glm::vec3 car_mps() const {
    return engine.speed * glm::vec3{std::cos(engine.heading), std::sin(engine.heading), 0.0f};
  }
  [[nodiscard]] reckoner::State car_state() const {
    return {.position = car,
            .velocity = car_mps(),
            .orientation = glm::angleAxis(engine.heading, glm::vec3{0.0f, 0.0f, 1.0f})};
  }
  [[nodiscard]] reckoner::State ball_state() const { return {.position = ball, .velocity = ball_mps}; }
  [[nodiscard]] std::span<const std::byte> car_bytes() const { return std::as_bytes(std::span(&engine, 1)); }
};
// snip: end

// snip: link
// The bad network: delays what the client sends and receives, and loses some of it.
class BadLink final : public reckoner::ForwardingTransport {
 public:
  using ForwardingTransport::ForwardingTransport;

  void service(double now_s) override {
    ForwardingTransport::service(now_s);
    now_s_ = now_s;
    while (const auto event = ForwardingTransport::poll())
      delay(down_, *event, event->payload);
    for (; is_due(up_); up_.pop_front())
      ForwardingTransport::send(up_.front().event.peer, up_.front().bytes);
  }
  bool send(reckoner::PeerId peer, std::span<const std::byte> payload) override {
    delay(up_, {.peer = peer}, payload);
    return true;
  }
  std::optional<reckoner::TransportEvent> poll() override {
    if (!is_due(down_)) return std::nullopt;
    polled_ = std::move(down_.front());
    down_.pop_front();
    polled_.event.payload = polled_.bytes;
    return polled_.event;
  }

 private:
  struct Packet {
    double due_s = 0.0;
    reckoner::TransportEvent event;
    std::vector<std::byte> bytes;
  };

  void delay(std::deque<Packet>& queue, const reckoner::TransportEvent& event,
             std::span<const std::byte> bytes) {
    const double chance = std::uniform_real_distribution(0.0, 1.0)(random_);
    if (!bytes.empty() && chance < 0.05) return;
    queue.push_back({now_s_ + 0.06 + 0.02 * chance, event, {bytes.begin(), bytes.end()}});
  }
  [[nodiscard]] bool is_due(const std::deque<Packet>& queue) const {
    return !queue.empty() && queue.front().due_s <= now_s_;
  }

  double now_s_ = 0.0;
  std::deque<Packet> up_, down_;
  Packet polled_;
  std::mt19937 random_{1};
};
// snip: end

// snip: server
struct GameServer {
  reckoner::Server server;
  Game game;
  EntityId car = *server.spawn(0, "car", game.car_state());
  EntityId ball = *server.spawn(0, "ball", game.ball_state());
  reckoner::ClientId driver;
  std::map<reckoner::Tick, glm::dvec3> path;  // to compare

  void run(double now_s) {
    server.run_due_ticks(now_s, [&](double) { tick(); });
  }
  void tick() {
    while (const auto event = server.poll_event()) {
      if (event->kind != reckoner::ServerEvent::Kind::client_joined) continue;
      if (!driver && server.let_predict(car, event->client)) driver = event->client;
      (void)server.let_predict(ball, event->client);  // every player may predict the ball
    }
    const reckoner::PlayerInput input = server.input(driver);  // empty if nobody drives
    game.step(input.bytes);
    (void)server.move(car, game.car_state());
    (void)server.set_game_state(car, game.car_bytes());
    (void)server.move(ball, game.ball_state());
    path[server.next_tick()] = game.car;
  }
};
// snip: end

// snip: client
struct GameClient {
  reckoner::Client client;
  Game game;
  EntityId car, ball;
  bool drives = false;  // the game has been told where its car is
  int corrections = 0;
  std::map<reckoner::Tick, glm::dvec3> path;  // to compare

  void run(double now_s, unsigned keys) {
    client.update(now_s);
    while (const auto event = client.poll_event()) {
      if (event->kind != reckoner::ClientEvent::Kind::prediction_began) continue;
      (client.info(event->entity)->name == "car" ? car : ball) = event->entity;
    }
    if (const auto correction = client.poll_correction()) {
      for (const reckoner::CorrectedEntity& entity : correction->entities)
        restore(entity);
      for (const reckoner::PredictionStep& step : correction->steps)
        predict(step);
      drives = true;
      ++corrections;
    }
    const std::array input{static_cast<std::byte>(keys)};
    while (const auto step = client.next_step(input)) {
      if (drives) predict(*step);
    }
  }
  void restore(const reckoner::CorrectedEntity& entity) {
    if (entity.id == car) {
      game.car = entity.state.position;
      std::ranges::copy(entity.game_state, std::as_writable_bytes(std::span(&game.engine, 1)).begin());
    } else {
      game.ball = entity.state.position;
      game.ball_mps = entity.state.velocity;
    }
  }
  void predict(const reckoner::PredictionStep& step) {
    game.step(step.input);
    (void)client.predict(car, step.tick, game.car_state(), game.car_bytes());
    (void)client.predict(ball, step.tick, game.ball_state());
    path[step.tick] = game.car;
  }
};
// snip: end

int main() {
  auto listening =
      reckoner::NetworkTransport::listen({.host = "127.0.0.1", .security = reckoner::Insecure{}});
  if (!listening) return std::fprintf(stderr, "%s\n", listening.error().c_str()), 1;
  auto connecting = reckoner::NetworkTransport::connect(
      {.host = "127.0.0.1", .port = (*listening)->port(), .security = reckoner::Insecure{}});
  if (!connecting) return std::fprintf(stderr, "%s\n", connecting.error().c_str()), 1;
  BadLink link(**connecting);
  auto server = reckoner::Server::create({}, **listening);
  if (!server) return std::fprintf(stderr, "%s\n", server.error().c_str()), 1;
  auto client = reckoner::Client::create({}, link);
  if (!client) return std::fprintf(stderr, "%s\n", client.error().c_str()), 1;
  GameServer host{std::move(*server)};
  GameClient player{std::move(*client)};

  int pictures = 0, pressed_in = 0, answered_in = 0;
  const auto start = std::chrono::steady_clock::now();
  for (double now_s = 0.0; now_s < 8.0; ++pictures) {
    now_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    const unsigned keys = now_s < 3.0 ? 0 : now_s < 6.0 ? kGas : kGas | kLeft;
    if (keys != 0 && pressed_in == 0) pressed_in = pictures;
    host.run(now_s);
    player.run(now_s, keys);
    for (const reckoner::ShownEntity& entity : player.client.shown()) {  // draw them here
      const bool moved = entity.id == player.car && entity.shown.position.x > 0.0;
      if (moved && answered_in == 0) answered_in = pictures;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(8));
  }

  int compared = 0, agreed = 0;
  for (const auto& [tick, position] : player.path) {
    const auto truth = host.path.find(tick);
    if (truth == host.path.end()) continue;  // ahead of the server
    ++compared;
    agreed += glm::distance(position, truth->second) < 0.01 ? 1 : 0;
  }
  std::printf("the car answered %d pictures after the key; %d of %d ticks as on the server; %d corrections\n",
              answered_in - pressed_in, agreed, compared, player.corrections);
  std::printf("the car drove %.1f m, the ball %.1f m; lead %.0f ms, round trip %.0f ms\n", player.game.car.x,
              player.game.ball.x - 25.0, 1e3 * player.client.stats().input_lead_s,
              1e3 * player.client.stats().round_trip_s);
  const bool answers_at_once = pressed_in > 0 && answered_in > 0 && answered_in - pressed_in <= 2;
  return answers_at_once && compared > 200 && agreed > compared * 8 / 10 ? 0 : 1;
}
