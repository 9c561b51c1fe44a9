// SPDX-License-Identifier: MIT
// A server, an honest client, and another client whose link may lose, repeat, change and invent payloads in
// both directions. Both clients predict entities. Neither end breaks, and the honest client is not affected.
#include "client/src/testing/test_switches.hpp"
#include "generate.hpp"
#include "net/src/codec/field_codec.hpp"
#include "pipes.hpp"
#include "server/src/test_switches.hpp"
#include "target.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <type_traits>

#include <reckoner/client/client.hpp>
#include <reckoner/server/server.hpp>

namespace reckoner::fuzz {
namespace {

constexpr double kTickS = 1.0 / 60.0;
constexpr double kLocalS = 1000.0;  // offset of the clients' clocks
constexpr int kMaxTicks = 90;
constexpr std::size_t kVictim = 0, kHonest = 1;
constexpr std::size_t kWalker = 5;  // the entity that the honest client predicts

ServerConfig server_config(Choices& choices) {
  ServerConfig config;
  config.archetypes = archetypes();
  config.rewind_s = 1.0;
  config.max_entities = 12;
  config.updates_per_second = choices.flag() ? 20.0 : 0.0;
  return config;
}

ClientConfig client_config(Choices& choices) {
  ClientConfig config;
  config.archetypes = archetypes();
  config.playout.mode = static_cast<PlayoutMode>(choices.up_to(2));
  return config;
}

bool finite(const State& s) {
  const auto sums = s.position + glm::dvec3{s.velocity} + glm::dvec3{s.angular_velocity};
  return std::isfinite(sums.x) && std::isfinite(sums.y) && std::isfinite(sums.z) &&
         std::isfinite(s.orientation.w + s.orientation.x + s.orientation.y + s.orientation.z);
}

// A body that both games step in the same way. The bytes of the game count the steps.
struct Walker {
  State state;
  std::uint8_t steps = 0;

  void step(std::span<const std::byte> input) {
    const double keys = input.empty() ? 0.0 : std::to_integer<int>(input.front()) % 8;
    state.position.x += keys / 64.0;
    state.velocity = glm::vec3{glm::dvec3{keys / 64.0 / kTickS, 0.0, 0.0}};
    ++steps;
  }
  [[nodiscard]] std::array<std::byte, 1> bytes() const { return {static_cast<std::byte>(steps)}; }
};

class Conversation {
 public:
  explicit Conversation(Choices& choices)
      : choices_(choices),
        server_(make_test_server(server_config(choices), server_end_, {.session_secret = session_secret()})) {
    for (std::size_t i : {kVictim, kHonest}) {
      const PeerId peer{static_cast<std::uint32_t>(i + 1)};
      ends_[i] = std::make_unique<PipeEnd>([this, i](PeerId, Bytes payload) {
        up_.push_back({i, std::move(payload)});
      });
      clients_[i] = std::make_unique<Client>(make_test_client(client_config(choices), *ends_[i]));
      ends_[i]->push(TransportEvent::Kind::connected, peer);
      server_end_.push(TransportEvent::Kind::connected, peer);
    }
    RouteDefinition route;
    route.curve = CatmullRomRoute{{{0.0, 0.0, 0.0}, {10.0, 0.0, 0.0}, {10.0, 10.0, 2.0}}};
    (void)server_.add_route(route);
    for (std::size_t kind : {0, 1, 0, 2, 0, 1})
      (void)spawn(kind);
    walker_.state = *server_.state(entities_[kWalker]);
    (void)server_.follow(entities_[1], RouteId{1});
    (void)server_.enter_frame(entities_[3], entities_[0]);
    quiet(6);
    for (const auto& client : clients_)
      check(client->status() == ClientStatus::joined, "both clients are admitted");
    (void)server_.give(entities_[2], victim(), {});
    (void)server_.give(entities_[4], honest(),
                       {.policy = choices.flag() ? OwnerPolicy::refuse : OwnerPolicy::correct});
    (void)server_.let_predict(entities_[0], victim());
    (void)server_.let_predict(entities_[kWalker], honest());
    quiet(6);
  }

  void run() {
    while (!choices_.empty() && ticks_ < kMaxTicks) {
      act();
      tick();
    }
  }

 private:
  struct Flying {
    std::size_t client;
    Bytes payload;
  };

  [[nodiscard]] static SecretKey session_secret() { return SecretKey{{std::byte{7}}}; }  // equal in every run
  // The victim joins first.
  [[nodiscard]] static ClientId victim() { return {1}; }
  [[nodiscard]] static ClientId honest() { return {2}; }
  [[nodiscard]] EntityId some() { return entities_[choices_.up_to(entities_.size() - 1)]; }
  [[nodiscard]] double now_s() const { return ticks_ * kTickS; }

  EntityId spawn(std::size_t kind) {
    State s;
    s.position = {static_cast<double>(entities_.size()), 1.0, 0.0};
    const auto id = server_.spawn(kind, "it", s);
    if (!id) return {};
    entities_.push_back(*id);
    return *id;
  }

  void quiet(int ticks) {
    tampers_ = false;
    for (int i = 0; i < ticks; ++i)
      tick();
    tampers_ = true;
  }

  void tick() {
    server_.receive(now_s());
    for (std::size_t i = 0; i < entities_.size(); ++i) {
      if (i == kWalker) continue;
      State s;
      s.position = {static_cast<double>(i) + 2.0 * now_s(), std::sin(3.0 * now_s()), 0.0};
      s.velocity = {2.0f, static_cast<float>(3.0 * std::cos(3.0 * now_s())), 0.0f};
      (void)server_.move(entities_[i], s);
    }
    walk();
    const Tick tick = server_.next_tick();
    server_.tick(now_s());
    const auto walked = server_.state(entities_[kWalker]);
    if (walked && !server_.frame_of(entities_[kWalker])) truth_[tick] = walked->position;
    ++ticks_;
    deliver(down_, true);
    for (std::size_t i : {kVictim, kHonest})
      turn(i);
    deliver(up_, false);
    while (server_.poll_event()) {
    }
    while (const auto message = server_.poll_message())
      (void)server_.rewind(message->sender, message->time_s.value_or(now_s()));
    for (const EntityId id : entities_) {
      if (const auto state = server_.state(id)) check(finite(*state), "the truth is a state");
      (void)server_.pose_seen_by(victim(), id, now_s() - 0.05);
    }
  }

  void turn(std::size_t i) {
    Client& client = *clients_[i];
    const double local_s = now_s() + kLocalS;
    client.update(local_s);
    while (const auto event = client.poll_event()) {
    }
    while (client.poll_message()) {
    }
    for (const ShownEntity& each : client.shown())
      check(finite(each.shown), "what is shown is a state");
    for (const glm::dvec3& p : client.shown_poses().positions)
      check(std::isfinite(p.x + p.y + p.z), "what is shown is a place");
    play(i);
    for (const EntityId id : {entities_[2], entities_[4]}) {
      if (auto state = client.owned(id)) {
        state->velocity = {1.0f, 0.5f, 0.0f};
        (void)client.move(id, *state);
      }
    }
    if (i != kHonest) return;
    check(client.stats().malformed == 0, "the honest client can read all that the server sends");
    check(!tampers_ || client.status() == ClientStatus::joined, "the honest client stays");
  }

  // The server's game steps the entity that the honest client predicts.
  void walk() {
    (void)server_.input(victim());
    walker_.step(server_.input(honest()).bytes);
    (void)server_.move(entities_[kWalker], walker_.state);
    (void)server_.set_game_state(entities_[kWalker], walker_.bytes());
  }

  // The game of a client steps what it predicts.
  void play(std::size_t i) {
    if (const auto correction = clients_[i]->poll_correction()) {
      for (const CorrectedEntity& each : correction->entities) {
        check(finite(each.state), "a correction is a state");
        const auto truth = truth_.find(correction->tick);
        if (i == kHonest && each.id == entities_[kWalker] && truth != truth_.end())
          check(each.state.position == truth->second, "a correction is exact");
        Walker& walker = predicted_[i][each.id];
        walker.state = each.state;
        walker.steps = each.game_state.empty() ? 0 : std::to_integer<std::uint8_t>(each.game_state.front());
      }
      for (const PredictionStep& step : correction->steps)
        predict(i, step);
    }
    const std::array input{static_cast<std::byte>(ticks_ / 7)};
    while (const auto step = clients_[i]->next_step(input))
      predict(i, *step);
  }
  void predict(std::size_t i, const PredictionStep& step) {
    for (auto& [id, walker] : predicted_[i]) {
      walker.step(step.input);
      (void)clients_[i]->predict(id, step.tick, walker.state, walker.bytes());
    }
  }

  // Delivers datagrams in flight to a client or to the server.
  void deliver(std::vector<Flying>& flying, bool to_client) {
    std::vector<Flying> now = std::exchange(flying, {});
    for (Flying& f : now) {
      if (f.client != kVictim || !tampers_) {
        arrive(f, to_client);
        continue;
      }
      seen_.push_back(f);
      if (choices_.rarely(7)) continue;
      if (choices_.rarely(3)) (void)damage(choices_, f.payload);
      arrive(f, to_client);
    }
  }

  void arrive(const Flying& f, bool to_client) {
    const PeerId peer{static_cast<std::uint32_t>(f.client + 1)};
    PipeEnd& end = to_client ? *ends_[f.client] : server_end_;
    end.push(TransportEvent::Kind::received, peer, f.payload);
  }

  void act() {
    switch (choices_.up_to(13)) {
      case 0:
        return invent(choices_.flag());
      case 1:
        if (choices_.flag()) return stranger();
        return arrive({kVictim, request(any_join_datagram(choices_))}, false);
      case 2:
        return arrive({kVictim, owned_motion()}, false);
      case 3:
        return arrive({kVictim, update()}, true);
      case 4:
        if (!seen_.empty()) arrive(seen_[choices_.up_to(seen_.size() - 1)], choices_.flag());
        return;
      case 5:
        (void)server_.teleport(some(), any_state(choices_, quantisations()[choices_.up_to(2)]));
        return;
      case 6:
        (void)server_.enter_frame(some(), choices_.flag() ? some() : EntityId{});
        return;
      case 7:
        choices_.flag() ? (void)server_.give(some(), victim(), {}) : (void)server_.revoke(some());
        return;
      case 8:
        if (choices_.flag()) {
          (void)server_.despawn(some());
        } else {
          (void)spawn(choices_.up_to(2));
        }
        return;
      case 9:
        (void)server_.set_field(some(), choices_.up_to(3), any_value(choices_, archetypes()[0].fields[1]));
        return;
      case 10: {
        const Bytes text = choices_.bytes(30);
        (void)clients_[kVictim]->send(text, choices_.flag() ? Delivery::reliable : Delivery::unreliable,
                                      choices_.real(-10.0, 10.0));
        (void)server_.broadcast(text, Delivery::unreliable, choices_.real(-10.0, 10.0));
        return;
      }
      case 11:
        return choices_.flag() ? arrive({kVictim, parts<ServerHeader>()}, true)
                               : arrive({kVictim, parts<ClientDatagram>()}, false);
      case 12:
        return predictions();
      default:
        ticks_ += static_cast<int>(choices_.up_to(choices_.rarely(7) ? 40 : 2));
        return;
    }
  }

  void invent(bool to_client) { arrive({kVictim, choices_.bytes(120)}, to_client); }

  // Changes what is predicted, or invents inputs or a correction for the victim.
  void predictions() {
    switch (choices_.up_to(4)) {
      case 0:
        (void)server_.let_predict(some(), choices_.flag() ? victim() : honest(),
                                  {choices_.real(1e-4, 100.0), choices_.real(1e-4, 1.0)});
        return;
      case 1:
        (void)server_.stop_prediction(some(), choices_.flag() ? victim() : honest());
        return;
      case 2:
        (void)server_.set_game_state(some(), choices_.bytes(8));
        return;
      case 3:
        return arrive({kVictim, inputs()}, false);
      default:
        return arrive({kVictim, correction()}, true);
    }
  }

  // A section of inputs as the victim would send it.
  Bytes inputs() {
    Bytes buffer(8192);
    BitWriter writer{buffer};
    ClientDatagram head = any_client_datagram(choices_, static_cast<Sequence>(ticks_));
    head.has_inputs = true;
    write(writer, head);
    const Input base;
    const auto newest =
        static_cast<Tick>(server_.next_tick() + choices_.integer(choices_.rarely(3) ? 16 : 7));
    write_inputs(writer, any_inputs(choices_, newest, [&](Tick) { return &base; }), base);
    return within_a_datagram(writer);
  }

  // A section of predictions as the server would send it.
  Bytes correction() {
    Bytes buffer(16384);
    BitWriter writer{buffer};
    ServerHeader head;
    head.tick = static_cast<std::uint16_t>(server_.next_tick() + choices_.integer(5));
    head.sequence = static_cast<Sequence>(ticks_ + choices_.integer(6));
    head.has_predictions = true;
    write(writer, head);
    write(writer, any_predictions(choices_, server_.next_tick()));
    return within_a_datagram(writer);
  }

  static Bytes within_a_datagram(BitWriter& writer) {
    Bytes bytes = finished(writer);
    bytes.resize(std::min(bytes.size(), kMaxDatagramBytes));
    return bytes;
  }

  Bytes request(const ClientDatagram& datagram) {
    Bytes buffer(kMaxDatagramBytes);
    BitWriter writer{buffer};
    write(writer, datagram);
    return finished(writer);
  }

  // Another connection asks to join, or to resume the victim's session, perhaps with the right key, and
  // perhaps several times.
  void stranger() {
    const PeerId peer{next_peer_++};
    server_end_.push(TransportEvent::Kind::connected, peer);
    ClientDatagram datagram = any_join_datagram(choices_);
    if (choices_.flag()) {
      datagram.join->resume = {victim(), session_key(session_secret(), victim()),
                               static_cast<std::uint32_t>(choices_.up_to(12))};
    }
    Bytes payload = request(datagram);
    if (choices_.rarely(3)) (void)damage(choices_, payload);
    for (std::uint64_t n = 1 + choices_.up_to(2); n > 0; --n)
      server_end_.push(TransportEvent::Kind::received, peer, payload);
    if (choices_.flag()) server_end_.push(TransportEvent::Kind::disconnected, peer);
  }

  // A motion as an owner would send it.
  Bytes owned_motion() {
    Bytes buffer(4096);
    BitWriter writer{buffer};
    ClientDatagram head = any_client_datagram(choices_, static_cast<Sequence>(ticks_));
    head.has_owned = true;
    head.has_messages = false;
    write(writer, head);
    const auto slot = static_cast<std::uint32_t>(choices_.up_to(5));
    write(writer,
          OwnedHead{slot,
                    static_cast<std::uint8_t>(choices_.up_to(3)),
                    static_cast<std::uint16_t>(ticks_ + choices_.integer(5)),
                    {}},
          -1);
    write_full(writer, any_quantised(choices_, quantisations()[0].orientation_bits), quantisations()[0]);
    writer.write(0, 1);
    return finished(writer);
  }

  // An update, or spawns and despawns, as the server would send them.
  Bytes update() {
    Bytes buffer(4096);
    BitWriter writer{buffer};
    ServerHeader head = any_server_header(choices_);
    head.tick = static_cast<std::uint16_t>(ticks_ + choices_.integer(5));
    head.sequence = static_cast<Sequence>(ticks_ + choices_.integer(6));
    head.has_spawns = choices_.flag();
    head.update_count = head.has_spawns ? 0 : 1;
    write(writer, head);
    if (head.has_spawns) {
      SpawnsWriter section;
      for (std::uint64_t n = choices_.up_to(3) + 1; n > 0; --n)
        (void)section.add(writer, any_spawn_entry(choices_, 10), buffer.size() * 8);
      section.finish(writer);
      return finished(writer);
    }
    UpdateHeader u;
    u.slot = static_cast<std::uint32_t>(choices_.up_to(5));
    u.age = static_cast<std::uint32_t>(choices_.up_to(3));
    u.level = static_cast<std::uint8_t>(choices_.up_to(2));
    write(writer, u, head.coding, -1);
    const Quantisation q = quantisations()[choices_.up_to(2)];
    write_full(writer, any_quantised(choices_, q.orientation_bits), q);
    return finished(writer);
  }

  // Parts of a stream of reliable messages, as either end would send them.
  template <class Head>
  Bytes parts() {
    Bytes buffer(8192);
    BitWriter writer{buffer};
    Head head;
    if constexpr (std::is_same_v<Head, ServerHeader>) {
      head.tick = static_cast<std::uint16_t>(ticks_ + choices_.integer(5));
      if (choices_.flag()) head.control = any_server_control(choices_);
    } else {
      head = any_client_datagram(choices_, static_cast<Sequence>(ticks_));
    }
    head.sequence = static_cast<Sequence>(ticks_ + choices_.integer(6));
    head.has_reliable = true;
    write(writer, head);
    (void)write_parts(writer, any_parts(choices_, choices_.up_to(400)));
    return within_a_datagram(writer);
  }

  Choices& choices_;
  std::vector<Flying> up_, down_, seen_;
  PipeEnd server_end_{[this](PeerId peer, Bytes payload) {
    if (peer.value <= 2) down_.push_back({peer.value - 1, std::move(payload)});
  }};
  Server server_;
  std::array<std::unique_ptr<PipeEnd>, 2> ends_;
  std::array<std::unique_ptr<Client>, 2> clients_;
  std::vector<EntityId> entities_;
  Walker walker_;                     // the server's, moved by the honest client
  std::map<Tick, glm::dvec3> truth_;  // positions of the walker, by tick, while it is in the world
  std::array<std::map<EntityId, Walker>, 2> predicted_;  // by the clients
  std::uint32_t next_peer_ = 3;                          // of a stranger
  bool tampers_ = false;
  int ticks_ = 0;
};

}  // namespace

void run(std::span<const std::byte> input) {
  Choices choices{input};
  Conversation conversation{choices};
  conversation.run();
}

std::vector<Bytes> seeds() {
  std::vector<Bytes> out;
  add_choices(out, 24, 600, std::byte{0});
  return out;
}

}  // namespace reckoner::fuzz
