// SPDX-License-Identifier: MIT
// A recorded session of any origin: read and played back to a client, like reckoner-harness replay-log does.
#include "client/src/testing/test_switches.hpp"
#include "generate.hpp"
#include "net/src/link/message_length.hpp"
#include "pipes.hpp"
#include "programs/common/sessions/session_calls.hpp"
#include "programs/common/sessions/session_log.hpp"
#include "programs/common/sessions/session_transports.hpp"
#include "server/src/test_switches.hpp"
#include "target.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include <reckoner/client/client.hpp>
#include <reckoner/server/server.hpp>

namespace reckoner::fuzz {
namespace {

constexpr int kMaxCalls = 400;

bool finite(const glm::dvec3& v) {
  return std::isfinite(v.x + v.y + v.z);
}

void check_correction(const Correction& correction) {
  check(correction.entities.size() <= kMaxPredicted, "a client predicts at most this number");
  for (const CorrectedEntity& entity : correction.entities)
    check(is_sane(entity.state) && entity.game_state.size() <= kMaxGameStateBytes,
          "an exact state is a state");
  Tick tick = correction.tick;
  for (const PredictionStep& step : correction.steps)
    check(step.tick == ++tick && step.input.size() <= kMaxInputBytes, "a step for each tick since");
}

void play_back(program::SessionReader& reader) {
  program::PlayedTransport transport{reader};
  ClientConfig config = program::config_of(reader.settings());
  config.archetypes = archetypes();
  Client client = make_test_client(config, transport);
  for (int i = 0; i < kMaxCalls; ++i) {
    const auto call = transport.next_call();
    if (!call) break;
    if (std::holds_alternative<program::FrameRecord>(*call)) {
      for (const ShownEntity& each : client.shown())
        check(finite(each.shown.position) && finite(glm::dvec3{each.shown.velocity}),
              "what is shown is a state");
    }
    if (const auto correction = program::repeat_call(client, *call)) check_correction(*correction);
    while (client.poll_event()) {
    }
    while (client.poll_message()) {
    }
  }
  if (transport.error()) check(!transport.error()->message.empty(), "an error says something");
}

// Reading must reach the end of any file and must never take more bytes than there are.
void read_through(program::SessionReader& reader, std::size_t bytes) {
  for (;;) {
    const auto record = reader.next();
    if (!record) return check(!record.error().empty(), "an error says something");
    if (!*record) return;
    check(reader.records() <= bytes, "every record takes a byte at least");
  }
}

Bytes closed(program::SessionWriter& writer, const std::string& path) {
  check(writer.close(), "the scratch file can be created");
  std::ifstream file(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

// Datagrams with an intact stream of reliable messages, and sometimes with other parts of it.
class ReliableDatagrams {
 public:
  Bytes next(Choices& choices) {
    ServerHeader header;
    header.sequence = sequence_++;
    header.has_reliable = true;
    if (choices.flag()) header.control = any_server_control(choices);
    Bytes buffer(64 * 1024);
    BitWriter writer{buffer};
    write(writer, header);
    (void)write_parts(writer, choices.rarely(3) ? any_parts(choices, end_) : next_parts(choices));
    return finished(writer);
  }

 private:
  std::vector<ReliablePart> next_parts(Choices& choices) {
    const Bytes message = encoded(any_reliable(choices));
    ReliablePart part{end_, {}};
    append_message_length(part.bytes, message.size());
    part.bytes.insert(part.bytes.end(), message.begin(), message.end());
    if (part.bytes.size() > ReliablePartsWriter::kMaxPartBytes) return any_parts(choices, end_);
    end_ += part.bytes.size();
    return {part};
  }

  Sequence sequence_ = 0;
  std::uint64_t end_ = 0;  // of the stream
};

// A session in which a client receives arbitrary payloads.
Bytes any_session(Choices& choices, const std::string& path) {
  program::SessionSettings settings{.protocol = kProtocolVersion, .version = "1.0"};
  settings.playout.mode = static_cast<PlayoutMode>(choices.up_to(2));
  auto writer = program::SessionWriter::create(path, settings);
  check(static_cast<bool>(writer), "the scratch file can be created");
  const PeerId server{1};
  double now_s = 100.0;
  writer->service(now_s);
  writer->room(kMaxDatagramBytes);
  writer->event({.kind = TransportEvent::Kind::connected, .peer = server});
  ReliableDatagrams reliable;
  while (!choices.empty()) {
    Bytes payload = choices.flag() ? reliable.next(choices) : choices.bytes(200);
    payload.resize(std::min(payload.size(), kMaxDatagramBytes));
    writer->event({.kind = TransportEvent::Kind::received, .peer = server, .payload = payload});
    writer->quiet();
    if (choices.flag()) writer->send(choices.flag(), choices.bytes(40));
    if (choices.rarely(3)) {
      State state;
      state.position.x = choices.real(-100.0, 100.0);
      writer->poll_correction();
      writer->step(choices.bytes(kMaxInputBytes));
      writer->predict(EntityId{1 + static_cast<std::uint32_t>(choices.up_to(3)), 0},
                      static_cast<Tick>(choices.up_to(200)), state, choices.bytes(kMaxGameStateBytes));
    }
    now_s += choices.real(0.0, 0.1);
    writer->frame(now_s);
    writer->service(now_s);
  }
  return closed(*writer, path);
}

// A game that predicts an entity: it moves while a key is down.
class PredictingGame {
 public:
  PredictingGame(Client& client, program::SessionWriter& writer) : calls_(client, writer) {}

  static void step(State& state, std::span<const std::byte> input) {
    state.position.x += !input.empty() && input[0] != std::byte{} ? 0.1 : 0.0;
  }
  // Makes the calls after an update().
  void play(int tick) {
    if (const auto correction = calls_.poll_correction()) {
      entity_ = correction->entities.empty() ? EntityId{} : correction->entities[0].id;
      if (entity_) own_ = correction->entities[0].state;
      for (const PredictionStep& each : correction->steps)
        predict(each);
    }
    const std::array input{static_cast<std::byte>(tick / 8 % 2)};
    while (const auto each = calls_.next_step(input))
      predict(*each);
  }

 private:
  void predict(const PredictionStep& each) {
    step(own_, each.input);
    if (entity_) (void)calls_.predict(entity_, each.tick, own_, each.input);
  }

  program::RecordedPrediction calls_;
  EntityId entity_;
  State own_;
};

// A realistic session: three moving entities, one of which the client owns in the end. If the client
// predicts, its game and the server's move the second one, and the server pushes it once.
Bytes real_session(PlayoutMode mode, bool predicts, const std::string& path) {
  program::SessionSettings settings{.protocol = kProtocolVersion, .version = "1.0"};
  settings.playout.mode = mode;
  auto writer = program::SessionWriter::create(path, settings);
  check(static_cast<bool>(writer), "the scratch file can be created");
  const PeerId peer{1};
  ServerConfig server_config;
  server_config.archetypes = archetypes();
  PipeEnd* to_client = nullptr;
  PipeEnd server_end{[&](PeerId, Bytes payload) {
    to_client->push(TransportEvent::Kind::received, peer, std::move(payload));
  }};
  Server server = make_test_server(server_config, server_end);
  PipeEnd client_end{[&](PeerId, Bytes payload) {
    server_end.push(TransportEvent::Kind::received, peer, std::move(payload));
  }};
  to_client = &client_end;
  program::RecordedTransport recorded{client_end, *writer};
  ClientConfig client_config;
  client_config.archetypes = archetypes();
  client_config.playout = settings.playout;
  Client client = make_test_client(client_config, recorded);
  client_end.push(TransportEvent::Kind::connected, peer);
  server_end.push(TransportEvent::Kind::connected, peer);
  std::vector<EntityId> entities;
  for (std::size_t kind = 0; kind < 3; ++kind)
    entities.push_back(*server.spawn(kind, "it", {}));
  PredictingGame game(client, *writer);
  State predicted;
  for (int tick = 0; tick < (predicts ? 70 : 40); ++tick) {
    const double now_s = tick / 60.0;
    server.receive(now_s);
    for (const EntityId id : entities) {
      State s;
      s.position = {2.0 * now_s, std::sin(3.0 * now_s), 0.0};
      s.velocity = {2.0f, static_cast<float>(3.0 * std::cos(3.0 * now_s)), 0.0f};
      if (!predicts || id != entities[1]) (void)server.move(id, s);
    }
    if (predicts) {
      if (tick == 10) (void)server.let_predict(entities[1], ClientId{1});
      const auto input = server.input(ClientId{1}).bytes;
      PredictingGame::step(predicted, input);
      if (tick == 50) predicted.position.y += 1.0;
      (void)server.move(entities[1], predicted);
      (void)server.set_game_state(entities[1], input);
    }
    if (tick == 25 && !predicts) (void)server.give(entities[0], ClientId{1}, {});
    server.tick(now_s);
    client.update(50.0 + now_s);
    if (predicts) game.play(tick);
    writer->frame(50.0 + now_s);
    (void)client.shown();
    while (client.poll_event()) {
    }
    while (server.poll_event()) {
    }
  }
  check(client.status() == ClientStatus::joined, "the client is admitted");
  return closed(*writer, path);
}

}  // namespace

void run(std::span<const std::byte> input) {
  const Bytes file{input.begin(), input.end()};
  auto reader = program::SessionReader::read(file, "a file");
  if (!reader) return check(!reader.error().empty(), "an error says something");
  check(reader->settings().protocol == kProtocolVersion, "the protocol version is ours");
  read_through(*reader, file.size());
  play_back(*program::SessionReader::read(file, "a file"));
}

std::vector<Bytes> seeds() {
  std::vector<Bytes> choices;
  add_choices(choices, 12, 600, kChoices);
  const std::string path = (std::filesystem::temp_directory_path() / "reckoner-session-seed").string();
  std::vector<Bytes> out;
  for (const PlayoutMode mode : {PlayoutMode::present, PlayoutMode::adaptive})
    out.push_back(real_session(mode, false, path));
  out.push_back(real_session(PlayoutMode::present, true, path));
  for (const Bytes& bytes : choices) {
    Choices drawn{bytes};
    out.push_back(any_session(drawn, path));
  }
  std::filesystem::remove(path);
  return out;
}

}  // namespace reckoner::fuzz
