// SPDX-License-Identifier: MIT
// A recorded session gives the same poses when it is played back, and an invalid file is harmless.
#include "programs/common/sessions/session_log.hpp"

#include "client/src/testing/test_switches.hpp"
#include "net/src/messages/messages.hpp"
#include "process.hpp"
#include "programs/common/archetypes.hpp"
#include "programs/common/sessions/session_calls.hpp"
#include "programs/common/sessions/session_transports.hpp"
#include "tests/support/loopback.hpp"

#include <cmath>
#include <fstream>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <reckoner/client/client.hpp>

namespace reckoner::test {
namespace {

using namespace reckoner::program;

class SessionLog : public testing::Test {
 protected:
  [[nodiscard]] std::string path() const { return dir_.file("session.log"); }
  void write(const std::string& bytes) const { std::ofstream(path(), std::ios::binary) << bytes; }
  // Plays the file into a client. Returns the reason if it ended early, else an empty string.
  [[nodiscard]] std::string played() const {
    auto reader = SessionReader::open(path());
    if (!reader) return reader.error();
    PlayedTransport transport{*reader};
    ClientConfig config = config_of(reader->settings());
    config.archetypes = archetypes();
    Client client = make_test_client(config, transport);
    while (const auto call = transport.next_call()) {
      (void)repeat_call(client, *call);
      if (std::holds_alternative<FrameRecord>(*call)) (void)client.shown();
      while (client.poll_event()) {
      }
    }
    if (transport.error()) return transport.error()->message;
    return reader->is_truncated() ? "truncated" : "";
  }
  const ScratchDir dir_;
};

const SessionSettings kSettings{kProtocolVersion, "0.1.0", {}};

TEST_F(SessionLog, RoundTrips) {
  const std::vector<std::byte> payload{std::byte{1}, std::byte{0}, std::byte{255}};
  SessionSettings settings = kSettings;
  settings.playout = {PlayoutMode::delayed, 0.123456789, 0.7, BlendCurve::cubic, 3.25 / 144.0};
  settings.input_delay_ticks = 3;
  settings.inputs_per_datagram = 2;
  auto writer = SessionWriter::create(path(), settings);
  ASSERT_TRUE(writer);
  writer->service(0.1);
  writer->event({TransportEvent::Kind::connected, PeerId{7}, 42, {}});
  writer->send(false, payload);
  writer->room(1100);
  writer->event({TransportEvent::Kind::received, PeerId{7}, 0, payload});
  writer->event({TransportEvent::Kind::received, PeerId{7}, 0, payload, 0.0123});
  writer->quiet();
  writer->frame(0.1 + 1e-16);
  MoveRecord move{0.2, EntityId{3, 7}, EntityId{1, 0}, true, {}};
  move.state.position = {1e5 + 0.1, -2.0, 3.0};
  move.state.velocity = {1.5f, 0.0f, -1.0f};
  move.state.angular_velocity = {0.0f, 0.25f, 0.0f};
  writer->move(move);
  writer->step(payload);
  writer->predict(EntityId{4, 2}, 4'000'000'000u, move.state, payload);
  writer->poll_correction();
  ASSERT_TRUE(writer->close());

  auto reader = SessionReader::open(path());
  ASSERT_TRUE(reader) << reader.error();
  EXPECT_EQ(reader->settings().version, "0.1.0");
  EXPECT_EQ(reader->settings().playout.mode, PlayoutMode::delayed);
  EXPECT_EQ(reader->settings().playout.delay_s, 0.123456789);
  EXPECT_EQ(reader->settings().playout.max_delay_s, 0.7);
  EXPECT_EQ(reader->settings().playout.blend_curve, BlendCurve::cubic);
  EXPECT_EQ(reader->settings().playout.blend_s, 3.25 / 144.0);
  EXPECT_EQ(reader->settings().input_delay_ticks, 3u);
  EXPECT_EQ(reader->settings().inputs_per_datagram, 2u);
  std::vector<SessionRecord> records;
  for (auto next = reader->next(); next && *next; next = reader->next())
    records.push_back(**next);
  ASSERT_EQ(records.size(), 12u);
  EXPECT_EQ(std::get<ServiceRecord>(records[0]).local_s, 0.1);
  EXPECT_EQ(std::get<EventRecord>(records[1]).peer, PeerId{7});
  EXPECT_EQ(std::get<EventRecord>(records[1]).reason, 42u);
  EXPECT_FALSE(std::get<SendRecord>(records[2]).accepted);
  EXPECT_EQ(std::get<SendRecord>(records[2]).payload, payload);
  EXPECT_EQ(std::get<RoomRecord>(records[3]).bytes, 1100u);
  EXPECT_EQ(std::get<EventRecord>(records[4]).payload, payload);
  EXPECT_EQ(std::get<EventRecord>(records[4]).waited_s, 0.0);
  EXPECT_EQ(std::get<EventRecord>(records[5]).waited_s, 0.0123);
  EXPECT_EQ(std::get<EventRecord>(records[5]).payload, payload);
  EXPECT_TRUE(std::holds_alternative<QuietRecord>(records[6]));
  EXPECT_EQ(std::get<FrameRecord>(records[7]).local_s, 0.1 + 1e-16);
  const auto& moved = std::get<MoveRecord>(records[8]);
  EXPECT_EQ(moved.local_s, 0.2);
  EXPECT_EQ(moved.entity, (EntityId{3, 7}));
  EXPECT_EQ(moved.frame, (EntityId{1, 0}));
  EXPECT_TRUE(moved.teleports);
  EXPECT_EQ(moved.state.position, move.state.position);
  EXPECT_EQ(moved.state.velocity, move.state.velocity);
  EXPECT_EQ(moved.state.angular_velocity, move.state.angular_velocity);
  EXPECT_EQ(moved.state.orientation, move.state.orientation);
  EXPECT_EQ(std::get<StepRecord>(records[9]).input, payload);
  const auto& predicted = std::get<PredictRecord>(records[10]);
  EXPECT_EQ(predicted.entity, (EntityId{4, 2}));
  EXPECT_EQ(predicted.tick, 4'000'000'000u);
  EXPECT_EQ(predicted.state.position, move.state.position);
  EXPECT_EQ(predicted.game_state, payload);
  EXPECT_TRUE(std::holds_alternative<PollCorrectionRecord>(records[11]));
  EXPECT_FALSE(reader->is_truncated());
}

// The client's clock may stand below zero.
TEST_F(SessionLog, TimesBelowZeroRoundTrip) {
  for (const double begin_s : {-1e6, -100.0, -0.5}) {
    auto writer = SessionWriter::create(path(), kSettings);
    ASSERT_TRUE(writer);
    for (int i = 0; i < 200; ++i) {
      writer->service(begin_s + 0.01 * i);
      writer->frame(begin_s + 0.01 * i);
    }
    ASSERT_TRUE(writer->close());
    auto reader = SessionReader::open(path());
    ASSERT_TRUE(reader) << reader.error();
    for (int i = 0; i < 200; ++i) {
      const auto service = reader->next();
      ASSERT_TRUE(service && *service);
      EXPECT_EQ(std::get<ServiceRecord>(**service).local_s, begin_s + 0.01 * i);
      const auto frame = reader->next();
      ASSERT_TRUE(frame && *frame);
      EXPECT_EQ(std::get<FrameRecord>(**frame).local_s, begin_s + 0.01 * i);
    }
    EXPECT_FALSE(reader->is_truncated());
    EXPECT_EQ(played(), "");
  }
}

// Real processes over a bad network. The recording is then truncated and damaged in many places.
TEST_F(SessionLog, ReplaysTheSamePosesExactlyAndHandlesDamagedFiles) {
  const std::string port = free_udp_port();
  const std::string relay_port = free_udp_port();
  Process server("reckoner-server", {"--insecure", "--scenario", "hop", "--port", port});
  Process relay("reckoner-harness", {"conditioner", "--listen", relay_port, "--to", loopback_address(port),
                                     "--network", "mobile", "--seed", "1"});
  const Finished client = run("reckoner-client", {"--insecure", "--connect", loopback_address(relay_port),
                                                  "--mode", "adaptive", "--seconds", "4", "--rendered",
                                                  dir_.file("shown.csv"), "--record", path(), "--stats"});
  ASSERT_EQ(client.exit_code, 0) << client.errors;
  EXPECT_NE(client.output.find("corrections/s"), std::string::npos) << client.output;

  const Finished explained =
      run("reckoner-harness", {"explain", path(), "--worst", "3", "--json", dir_.file("why.json")});
  EXPECT_EQ(explained.exit_code, 0) << explained.errors;
  EXPECT_NE(explained.output.find("adaptive mode"), std::string::npos) << explained.output;
  EXPECT_TRUE(std::ifstream(dir_.file("why.json")).good());

  const Finished replayed =
      run("reckoner-harness", {"replay-log", path(), "--rendered", dir_.file("again.csv")});
  EXPECT_EQ(replayed.exit_code, 0) << replayed.output << replayed.errors;
  const std::string shown = read_file(dir_.file("shown.csv"));
  EXPECT_GT(shown.size(), 10'000u);
  EXPECT_EQ(shown, read_file(dir_.file("again.csv"))) << "not the same to the last digit";

  const std::string whole = read_file(path());
  EXPECT_EQ(played(), "");
  std::size_t step = 1;
  for (std::size_t size = 0; size < whole.size(); size += step) {
    write(whole.substr(0, size));
    const std::string said = played();
    EXPECT_NE(said, "") << "cut at " << size;
    if (size > 200) step = whole.size() / 40;
  }
  std::uint32_t random = 12345;
  for (int i = 0; i < 60; ++i) {
    std::string bent = whole;
    for (int flips = 0; flips <= i % 4; ++flips) {
      random = random * 1664525u + 1013904223u;
      bent[(random >> 4) % bent.size()] ^= static_cast<char>(1u << (random >> 29));
    }
    write(bent);
    (void)played();
  }
  write(whole + "x");
  EXPECT_NE(played(), "");
}

// A server with a small byte budget writes its decisions, and explain reads them.
TEST_F(SessionLog, DecisionsOfTheServerExplainIt) {
  const std::string decisions = dir_.file("decisions.csv");
  Process server("reckoner-server",
                 {"--scenario", "crowd", "--entities", "60", "--port", "0", "--insecure", "--seconds", "7",
                  "--bytes-per-second", "3000", "--decisions", decisions});
  ASSERT_TRUE(server.wait_for("listening on port ")) << server.errors();
  const std::string output = server.output();
  const std::string port = std::to_string(std::atoi(output.c_str() + output.find("port ") + 5));
  const Finished client = run("reckoner-client", {"--insecure", "--connect", "127.0.0.1:" + port, "--seconds",
                                                  "5", "--record", path()});
  ASSERT_EQ(client.exit_code, 0) << client.errors;
  ASSERT_EQ(server.wait(), 0) << server.errors();
  const std::string text = read_file(decisions);
  EXPECT_NE(text.find("\npublished,"), std::string::npos);
  EXPECT_NE(text.find(",budget\n"), std::string::npos);
  const Finished explained =
      run("reckoner-harness", {"explain", path(), "--decisions", decisions, "--worst", "1000"});
  EXPECT_EQ(explained.exit_code, 0) << explained.errors;
  EXPECT_NE(explained.output.find("byte budget (known)"), std::string::npos) << explained.output;
  EXPECT_EQ(explained.output.find("byte budget (inferred)"), std::string::npos) << explained.output;
  const Finished wrong = run("reckoner-harness", {"explain", path(), "--decisions", path()});
  EXPECT_EQ(wrong.exit_code, 2);
}

// A changed behaviour of the client is detected. Here, an acknowledgement in the recording was changed.
TEST_F(SessionLog, DeviationsAreReported) {
  auto writer = SessionWriter::create(path(), kSettings);
  ASSERT_TRUE(writer);
  writer->service(1.0);
  writer->event({TransportEvent::Kind::connected, PeerId{1}, 0, {}});
  const std::byte other[3]{};
  writer->send(true, other);
  writer->quiet();
  writer->frame(1.1);
  ASSERT_TRUE(writer->close());
  const Finished replayed = run("reckoner-harness", {"replay-log", path()});
  EXPECT_EQ(replayed.exit_code, 1) << replayed.output;
  EXPECT_NE(replayed.errors.find("behaved differently from the recorded one 1 times"), std::string::npos)
      << replayed.errors;
}

TEST_F(SessionLog, InvalidFileIsRefusedWithTheReason) {
  const auto refusal = [&](const std::string& bytes) {
    write(bytes);
    const Finished finished = run("reckoner-harness", {"replay-log", path()});
    EXPECT_EQ(finished.exit_code, 2) << finished.output;
    EXPECT_EQ(finished.errors.find('\n'), finished.errors.size() - 1) << finished.errors;
    return finished.errors;
  };
  auto writer = SessionWriter::create(path(), kSettings);
  ASSERT_TRUE(writer && writer->close());
  const std::string good = read_file(path());
  EXPECT_NE(refusal("").find("not a recorded session"), std::string::npos);
  EXPECT_NE(refusal("id,t,x\n1,2,3\n").find("not a recorded session"), std::string::npos);
  std::string other = good;
  other[8] = 9;
  EXPECT_NE(refusal(other).find("has format 9"), std::string::npos);
  other = good;
  other[10] = 99;
  EXPECT_NE(refusal(other).find("recorded with protocol 99"), std::string::npos);
  other = good;
  other[8] = 3;
  EXPECT_NE(refusal(other).find("has format 3"), std::string::npos);
  other[10] = 12;
  EXPECT_NE(refusal(other).find("recorded with protocol 12"), std::string::npos);
  EXPECT_NE(refusal(good.substr(0, 20)).find("the header is malformed"), std::string::npos);
  const std::string head = good.substr(0, good.size() - 9);
  EXPECT_NE(refusal(head + '\x0d').find("the record is invalid"), std::string::npos);
  EXPECT_NE(refusal(head + '\x05' + std::string(4, '\0')).find("before the first time"), std::string::npos);
  EXPECT_NE(refusal(head + '\x01' + std::string(6, '\0') + "\xf8\x7f").find("the time is invalid"),
            std::string::npos);
  const std::string claims =
      "\x01" + std::string(8, '\0') + "\x04" + std::string(1, '\0') + "\xff\xff\xff\x7f";
  EXPECT_NE(refusal(head + claims).find("the record is invalid"), std::string::npos)
      << "a length field is not trusted";
  EXPECT_NE(run("reckoner-harness", {"replay-log", "/no/such.log"}).errors.find("/no/such.log"),
            std::string::npos);
}

// Format 4 has no curve of blends, no settings of inputs and no calls of games that predict.
TEST_F(SessionLog, RecordingOfFormat4IsRead) {
  auto writer = SessionWriter::create(path(), kSettings);
  ASSERT_TRUE(writer);
  writer->service(1.0);
  writer->frame(1.0);
  ASSERT_TRUE(writer->close());
  std::string older = read_file(path());
  const std::size_t head = 8 + 2 + 2 + 4 + 5 + 1 + 4 * 8;
  older.erase(head, 3);
  older[8] = 4;
  write(older);
  EXPECT_EQ(played(), "");
  const std::string records = older.substr(0, older.size() - 9);
  for (const char kind : {'\x0a', '\x0b', '\x0c'}) {
    write(records + kind + std::string(200, '\0'));
    EXPECT_NE(played().find("the record is invalid"), std::string::npos);
  }
}

TEST_F(SessionLog, InvalidPredictionsAreRefused) {
  auto writer = SessionWriter::create(path(), kSettings);
  ASSERT_TRUE(writer);
  writer->service(1.0);
  ASSERT_TRUE(writer->close());
  const std::string good = read_file(path());
  const auto played_as = [&](const std::string& record) {
    write(good.substr(0, good.size() - 9) + record);
    return played();
  };
  const std::string zeros(200, '\0');
  EXPECT_NE(played_as("\x0a\x41" + zeros).find("the record is invalid"), std::string::npos) << "a long input";
  EXPECT_NE(played_as("\x0b" + zeros).find("the record is invalid"), std::string::npos) << "no entity";
  const std::string entity = "\x0b" + std::string("\x01", 1) + std::string(7, '\0');
  EXPECT_NE(played_as(entity + zeros).find("the record is invalid"), std::string::npos) << "no rotation";
  EXPECT_EQ(played_as("\x0c"), "truncated");
  std::string other = good;
  const std::size_t head = 8 + 2 + 2 + 4 + 5 + 1 + 4 * 8;
  for (const auto& [at, value] :
       {std::pair{head, '\x02'}, {head + 1, '\x04'}, {head + 2, '\x00'}, {head + 2, '\x05'}}) {
    other = good;
    other[at] = value;
    write(other);
    EXPECT_NE(played().find("the header is malformed"), std::string::npos);
  }
}

TEST_F(SessionLog, RecordingOfTheVersionBeforeIsRefusedByItsName) {
  SessionSettings before = kSettings;
  before.protocol = kProtocolVersion - 1;
  auto writer = SessionWriter::create(path(), before);
  ASSERT_TRUE(writer && writer->close());
  const std::string text = "was recorded with protocol " + std::to_string(kProtocolVersion - 1) +
                           " (Reckoner 0.1.0); this program uses " + std::to_string(kProtocolVersion);
  for (const char* const command : {"replay-log", "explain"}) {
    const Finished finished = run("reckoner-harness", {command, path()});
    EXPECT_EQ(finished.exit_code, 2) << command;
    EXPECT_NE(finished.errors.find(text), std::string::npos) << command << ": " << finished.errors;
  }
}

TEST_F(SessionLog, FullDiskIsReported) {
  auto writer = SessionWriter::create("/dev/full", kSettings);
  if (!writer) GTEST_SKIP() << "no /dev/full here";
  for (int i = 0; i < 100'000; ++i)
    writer->service(i);
  EXPECT_FALSE(writer->close());
}

}  // namespace
}  // namespace reckoner::test
