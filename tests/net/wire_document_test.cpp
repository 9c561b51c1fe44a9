// SPDX-License-Identifier: MIT
#include "net/src/link/byte_ranges.hpp"
#include "net/src/messages/correction.hpp"
#include "net/src/messages/datagram.hpp"
#include "net/src/messages/input_batch.hpp"
#include "net/src/messages/messages.hpp"
#include "second_decoder.hpp"
#include "tests/reckoning/random_states.hpp"
#include "tests/support/locations.hpp"
#include "wire_conversation.hpp"
#include "wire_stream.hpp"

#include <array>
#include <cstdio>
#include <fstream>
#include <optional>
#include <span>
#include <sstream>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

// Payloads written by the library are decoded by a decoder that was written from docs/WIRE.md alone. Covers
// the document's vectors and thousands of random payloads.

namespace reckoner {
namespace {

using second::as_text;
using test::Bytes;
using test::Conversation;

std::vector<second::Declared> declared() {
  using second::Field;
  return {{true, {}},
          {false,
           {{.type = Field::Type::boolean, .initial = "1"},
            {.type = Field::Type::integer, .initial = "100", .least = 0, .most = 100},
            {.type = Field::Type::real, .initial = "20", .real_least = -50, .real_most = 150, .step = 0.5},
            {.type = Field::Type::blob, .initial = "-", .most = 64}}}};
}

std::string as_hex(std::span<const std::byte> bytes) {
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    char buffer[8];
    std::snprintf(buffer, sizeof buffer, "%s%02x",
                  i == 0        ? ""
                  : i % 32 == 0 ? "\n"
                                : " ",
                  std::to_integer<unsigned>(bytes[i]));
    text += buffer;
  }
  return text;
}

TEST(WireDocument, SecondDecoderReadsThousandsOfDatagrams) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    Conversation conversation{seed};
    second::Decoder decoder{declared()};
    ASSERT_TRUE(decoder.message(conversation.welcome()));
    for (const std::uint32_t slot : {Conversation::kBodySlot, Conversation::kCrateSlot}) {
      const auto content = decoder.server_datagram(conversation.spawn(slot), Conversation::kStart);
      ASSERT_TRUE(content);
      EXPECT_EQ(as_text(*content), conversation.content());
    }
    Tick tick = Conversation::kStart;
    for (int i = 0; i < 100; ++i) {
      tick += static_cast<Tick>(1 + (i * 7) % 23);
      const Bytes bytes = conversation.datagram(tick, i % 4 != 0, i % 3 == 0);
      const auto content = decoder.server_datagram(bytes, tick - 100);
      ASSERT_TRUE(content) << "seed " << seed << " datagram " << i;
      ASSERT_EQ(as_text(*content), conversation.content()) << "seed " << seed << " datagram " << i;
    }
  }
}

TEST(WireDocument, BothDecodersRefuseTheSameRandomBytes) {
  test::RandomStates random{71};
  int good = 0;
  for (int i = 0; i < 20'000; ++i) {
    std::vector<Bytes> payloads{Conversation::encoded(PlayoutMessage{true, false, {BlendCurve::damped, 0.1}}),
                                Conversation::encoded(UnorderedMessage{{{std::byte{1}}, 3.0}, 99}),
                                Conversation::encoded(AfterSpawnsMessage{99}),
                                Conversation::encoded(GameDataMessage{{std::byte{1}, std::byte{2}}, 3.0})};
    Bytes bytes = payloads[static_cast<std::size_t>(i) % payloads.size()];
    const auto bit =
        static_cast<std::size_t>(random.number(0.0, static_cast<double>(bytes.size() * 8) - 0.01));
    bytes[bit / 8] ^= static_cast<std::byte>(1u << (bit % 8));
    if (i % 5 == 0)
      bytes.resize(static_cast<std::size_t>(random.number(0.0, static_cast<double>(bytes.size()) + 2.0)));
    second::Decoder decoder{{}};
    const bool second_reads = decoder.message(bytes).has_value();
    EXPECT_EQ(second_reads, decode_reliable(bytes).has_value()) << as_hex(bytes);
    good += second_reads ? 1 : 0;
  }
  EXPECT_GT(good, 1000);
}

struct Vector {
  std::string name;
  std::string hex;
  std::string content;
};

const std::vector<glm::dvec3> kCorner{{0, 0, 0}, {10, 0.5, 0}, {10, 10, -1}};

TcbRoute tcb_route() {
  TcbRoute route{.keys = std::vector<TcbKey<glm::dvec3>>(2), .closing_time = 4.0};
  route.keys[0].value = {1, 2, 3};
  route.keys[1].time = 2.5;
  route.keys[1].value = {-4, 5, 0.5};
  route.keys[1].shape = {0.5, -0.25, 0.125};
  route.keys[1].ease_to = 0.75;
  return route;
}

RouteMessage route_message(std::uint32_t id, RouteCurve curve) {
  return {{id}, {.curve = std::move(curve), .wrap = RouteWrap::closed}};
}

// Inputs of a player who holds keys, presses another one and moves a stick; and those of the two ticks after,
// with the results for two entities.
std::vector<InputBatch> input_batches() {
  const auto input = [](unsigned keys, int stick) {
    return Input(std::array{static_cast<std::byte>(keys), static_cast<std::byte>(stick)});
  };
  InputBatch first;
  first.newest = 1052;
  first.corrected = 1;
  first.seen_age_ms = 133;
  first.inputs = {Input{}, input(1, 0), input(1, 0), input(1, 20), input(3, 20)};
  InputBatch second;
  second.newest = 1054;
  second.corrected = 2;
  second.seen_age_ms = 134;
  second.has_base = true;
  second.inputs = {input(3, 20), Input(std::array{std::byte{3}, std::byte{20}, std::byte{9}})};
  second.results_behind = 1;
  second.results = {{{127, 0, 64}, {63, 0, 32}, 31}, {{1, 2, 3}, {4, 5, 6}, 7}};
  return {first, second};
}

// The vectors that the document must contain: written by the library, decoded by the second decoder.
std::vector<Vector> vectors() {
  std::vector<Vector> out;
  Conversation conversation{2026};
  second::Decoder decoder{declared()};
  const auto add = [&](const char* name, const Bytes& bytes,
                       const std::optional<second::DecodedFields>& content) {
    EXPECT_TRUE(content) << name;
    out.push_back({name, as_hex(bytes), content ? as_text(*content) : ""});
  };
  const auto reliable = [&](const char* name, const Bytes& bytes) {
    add(name, bytes, decoder.message(bytes));
  };
  const ResumeRequest resume{{77}, Conversation::kKey, 9};
  for (const bool resumes : {false, true}) {
    const Bytes bytes = Conversation::join(resumes ? std::optional{resume} : std::nullopt);
    add(resumes ? "request to resume a session" : "request to join", bytes,
        decoder.client_datagram(bytes, Conversation::kStart));
  }
  reliable("welcome", conversation.welcome());
  for (const std::uint32_t slot : {Conversation::kBodySlot, Conversation::kCrateSlot}) {
    const Bytes bytes = conversation.spawn(slot);
    add(slot == Conversation::kBodySlot ? "datagram with the spawn of a body"
                                        : "datagram with the spawn of a crate",
        bytes, decoder.server_datagram(bytes, Conversation::kStart));
  }
  reliable("after spawns", Conversation::encoded(AfterSpawnsMessage{70'000}));
  reliable("Catmull-Rom route", Conversation::encoded(route_message(
                                    11, CatmullRomRoute{kCorner, CatmullRomKnots::chordal, true})));
  reliable("TCB route", Conversation::encoded(route_message(12, tcb_route())));
  reliable("Chaikin route",
           Conversation::encoded(route_message(13, ChaikinRoute{kCorner, 2, std::nullopt, 0.25})));
  reliable("polyline route", Conversation::encoded(route_message(14, PolylineRoute{kCorner})));
  reliable("game message", Conversation::encoded(GameDataMessage{{std::byte{'h'}, std::byte{'i'}}, 16.0}));
  const Bytes chat = Conversation::encoded(GameDataMessage{Bytes(150, std::byte{'z'}), std::nullopt});
  for (const Bytes& message : {Conversation::encoded(GameDataMessage{{std::byte{'h'}, std::byte{'i'}}, 16.0}),
                               chat, Conversation::encoded(AfterSpawnsMessage{70'000})})
    conversation.add_to_stream(message);
  const UnorderedMessage unordered{{{std::byte{'n'}, std::byte{'o'}, std::byte{'w'}}, std::nullopt}, 70'000};
  reliable("unordered game message", Conversation::encoded(unordered));
  const auto stream = [&](const char* name, Tick tick, std::span<const ByteRange> parts,
                          const ServerControl& control) {
    const Bytes bytes = conversation.stream_datagram(tick, parts, control);
    add(name, bytes, decoder.server_datagram(bytes, tick));
  };
  stream("datagram with two parts of the stream, and the answer to a request to join", 1001,
         std::array<ByteRange, 2>{{{0, 20}, {32, 100}}}, {JoinAnswer{}, {}});
  stream("datagram with the part between them, the next one, and the answer to a request to resume", 1002,
         std::array<ByteRange, 2>{{{20, 32}, {100, 174}}},
         {JoinAnswer{ResumeAnswer{40, 33, 1001}}, std::uint16_t{33}});
  conversation.add_to_stream(Conversation::encoded(PlayoutMessage{true, false, {BlendCurve::damped, 0.1}}));
  const std::uint64_t begin = conversation.stream_end();
  conversation.add_to_stream(Conversation::encoded(unordered));
  stream("datagram with an unordered message before its turn", 1003,
         std::array<ByteRange, 1>{{{begin - 2, conversation.stream_end()}}}, {});
  const auto datagram = [&](const char* name, Tick tick, bool refers, bool fields_and_messages) {
    const Bytes bytes = conversation.datagram(tick, refers, fields_and_messages);
    add(name, bytes, decoder.server_datagram(bytes, tick));
  };
  datagram("datagram with residuals", 1010, true, false);
  datagram("datagram in full, with everything", 1016, false, true);
  datagram("datagram with residuals, with everything", 1029, true, true);
  datagram("datagram in full, in frames", 1036, false, false);
  datagram("datagram with residuals, in frames", 1042, true, false);
  ClientDatagram d;
  d.sequence = 513;
  d.ack = Ack{7203, {0x7fffffffu, 0xffffffffu, 0x00000005u}, 3};
  d.ack_delay = 300;
  d.processed = 5;
  d.stamp = 9'999'999;
  d.showing.emplace();
  d.showing->clock = 50'000;
  d.showing->delay = 2500;
  d.showing->era = 1;
  d.showing->count = 3;
  d.showing->arrivals[0] = {7203, 12};
  d.showing->arrivals[1] = {7201, 45};
  d.showing->arrivals[2] = {7202, 45};
  d.has_messages = true;
  Bytes buffer(64);
  BitWriter writer{buffer};
  write(writer, d);
  write_message(writer, std::array{std::byte{0x42}}, std::nullopt);
  writer.write(0, 1);
  buffer.resize(writer.finish().size());
  add("client datagram", buffer, decoder.client_datagram(buffer, 1030));
  d.has_messages = false;
  d.has_reliable = true;
  d.showing.reset();
  ++d.sequence;
  test::WireStream client_stream{0};
  client_stream.add(Conversation::encoded(PlayoutMessage{true, false, {BlendCurve::damped, 0.1}}));
  client_stream.add(Conversation::encoded(GameDataMessage{{std::byte{'y'}, std::byte{'o'}}, std::nullopt}));
  buffer.assign(64, {});
  BitWriter with_stream{buffer};
  write(with_stream, d);
  (void)client_stream.write(with_stream, std::array<ByteRange, 2>{{{0, 10}, {12, 15}}});
  buffer.resize(with_stream.finish().size());
  add("client datagram with two parts of the stream", buffer, decoder.client_datagram(buffer, 1030));
  reliable("ownership", Conversation::encoded(OwnershipMessage{{Conversation::kCrateSlot + 1, 3},
                                                               OwnershipMessage::Change::given,
                                                               6,
                                                               0.0625,
                                                               1028,
                                                               0,
                                                               conversation.crate()}));
  reliable("playout", Conversation::encoded(PlayoutMessage{true, false, {BlendCurve::damped, 0.1}}));
  reliable("kick", Conversation::encoded(KickMessage{"cheating"}));
  d.ack = Ack{7203, {0xffffffffu}};
  d.has_reliable = false;
  d.has_owned = true;
  for (const Tick tick : {1040u, 1046u}) {
    ++d.sequence;
    const Bytes bytes = conversation.owned_datagram(d, tick, tick > 1040);
    add(tick == 1040 ? "client datagram of an owner" : "the same, with a residual", bytes,
        decoder.client_datagram(bytes, 1030));
  }
  d.has_owned = false;
  d.has_inputs = true;
  Input before;
  for (const InputBatch& batch : input_batches()) {
    ++d.sequence;
    buffer.assign(128, {});
    BitWriter with_inputs{buffer};
    write(with_inputs, d);
    write_inputs(with_inputs, batch, before);
    before = batch.inputs.back();
    buffer.resize(with_inputs.finish().size());
    add(batch.has_base ? "client datagram with inputs after those, and results"
                       : "client datagram with inputs",
        buffer, decoder.client_datagram(buffer, 1050));
  }
  PredictionReport report;
  report.inputs = InputReport{.newest = 1052, .early = -3, .timed = 1051};
  CorrectionPart& part = report.correction.emplace();
  part.number = 2;
  part.total = 2;
  part.reason = CorrectionReason::differs;
  part.entities = {Conversation::exact(Conversation::kBodySlot, 1050)};
  const auto predictions = [&](const char* name) {
    const Bytes bytes = conversation.prediction_datagram(1050, report);
    add(name, bytes, decoder.server_datagram(bytes, 1050));
  };
  predictions("datagram with a report about inputs, and a part of a correction");
  report.inputs.reset();
  part.first = 1;
  part.entities = {Conversation::exact(Conversation::kCrateSlot, 1055)};
  predictions("datagram with the other part of the correction");
  return out;
}

TEST(WireDocument, VectorsMatchTheLibrary) {
  std::string text;
  for (const Vector& v : vectors())
    text += "\n### " + v.name + "\n\n```\n" + v.hex + "\n\n" + v.content + "```\n";
  std::ifstream file(test::source_dir() / "docs/WIRE.md");
  ASSERT_TRUE(file);
  std::stringstream document;
  document << file.rdbuf();
  if (document.str().find(text) == std::string::npos) {
    std::ofstream("wire_vectors.md") << text;
    FAIL() << "docs/WIRE.md has other vectors; those of today are in wire_vectors.md";
  }
}

}  // namespace
}  // namespace reckoner
