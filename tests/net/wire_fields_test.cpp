// SPDX-License-Identifier: MIT
#include "net/src/codec/motion_codec.hpp"
#include "net/src/link/reliable_receiver.hpp"
#include "net/src/messages/correction.hpp"
#include "net/src/messages/input_batch.hpp"
#include "net/src/messages/messages.hpp"
#include "net/src/messages/predicted_result.hpp"
#include "net/src/messages/reliable_part.hpp"
#include "second_decoder.hpp"
#include "tests/fuzz/generate.hpp"
#include "wire_conversation.hpp"
#include "wire_predictions.hpp"
#include "wire_reader.hpp"
#include "wire_stream.hpp"
#include "wire_text.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <random>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

// Compares random payloads of every kind, number by number, with the second decoder's text. Both decoders
// must also refuse the same random bytes.

namespace reckoner {
namespace {

using second::as_text;
using test::Bytes;
using test::hex_of;
using test::line;
using test::reals;
using test::text_of_ack;
using test::text_of_motion;

fuzz::Bytes decisions(std::mt19937_64& engine, std::size_t count) {
  fuzz::Bytes bytes(count);
  for (std::byte& each : bytes)
    each = static_cast<std::byte>(engine() & 0xff);
  return bytes;
}

std::string optional(const char* name, const std::optional<double>& number) {
  return number ? reals(name, *number) : name + std::string{": -\n"};
}

template <class... Arrays>
std::string all_of(const char* name, const Arrays&... arrays) {
  std::string text = name + std::string{":"};
  const auto add = [&](const auto& array) {
    for (const auto n : array)
      text += " " + std::to_string(int{n});
  };
  (add(arrays), ...);
  return text + "\n";
}

std::string expected(const WelcomeMessage& m) {
  std::string text = line("client", m.client.value) + line("key", m.key.high, m.key.low) +
                     reals("tick_rate_hz", m.tick_rate_hz) + reals("epoch_s", m.epoch_s) +
                     line("tick", m.tick) + reals("longest_gap_s", m.longest_gap_s) +
                     line("rewinds", m.rewinds);
  for (const ArchetypeLimits& a : m.archetypes) {
    text += reals("archetype", a.threshold_m, a.threshold_rad, a.max_speed_mps, a.world_size_m);
    std::vector<int> rules;
    for (const OrderRule& rule : a.codes.orders) {
      rules.push_back(rule.offset);
      rules.push_back(rule.slope);
    }
    text += all_of("orders", rules) + all_of("velocity", a.codes.velocity);
    for (const Prior& h : a.codes.priors) {
      text += all_of("prior", h.horizontal, h.vertical, h.tilt, h.yaw,
                     std::array{int{h.pitch_share}, int{h.other_share}});
    }
  }
  return text;
}

std::string expected(const AfterSpawnsMessage& m) {
  return line("number", m.number);
}

std::string expected(const std::vector<glm::dvec3>& points) {
  std::string text;
  for (const glm::dvec3& p : points)
    text += reals("point", p.x, p.y, p.z);
  return text;
}

std::string expected(const CatmullRomRoute& r) {
  return expected(r.points) + line("knots", static_cast<int>(r.knots)) + line("reflect_ends", r.reflect_ends);
}

std::string expected(const TcbRoute& r) {
  std::string text;
  for (const auto& k : r.keys) {
    text += reals("point", k.time, k.value.x, k.value.y, k.value.z, k.shape.tension, k.shape.continuity,
                  k.shape.bias, k.ease_to, k.ease_from);
  }
  return text + reals("closing_time", r.closing_time);
}

std::string expected(const ChaikinRoute& r) {
  return expected(r.points) + line("passes", r.passes) + optional("angle_limit", r.angle_limit) +
         optional("outlier_limit", r.outlier_limit);
}

std::string expected(const PolylineRoute& r) {
  return expected(r.points);
}

std::string expected(const RouteMessage& m) {
  const RouteDefinition& d = m.definition;
  std::string text = line("id", m.route.value) + line("kind", d.curve.index()) +
                     line("wrap", static_cast<int>(d.wrap)) + line("facing", static_cast<int>(d.facing));
  text += std::visit([](const auto& curve) { return expected(curve); }, d.curve);
  return text + reals("up", d.up.x, d.up.y, d.up.z) +
         reals("orientation", d.orientation.w, d.orientation.x, d.orientation.y, d.orientation.z) +
         reals("tolerance", d.tolerance);
}

std::string expected(const GameDataMessage& m) {
  return optional("time_s", m.time_s) + "payload: " + hex_of(m.payload) + "\n";
}

std::string expected(const UnorderedMessage& m) {
  std::string text = "after_spawns: -\n";
  if (m.after_spawns) text = line("after_spawns", *m.after_spawns);
  return text + expected(m.data);
}

std::string expected(const OwnershipMessage& m) {
  std::string text = line("index", m.entity.index1) + line("generation", m.entity.generation) +
                     line("change", static_cast<int>(m.change)) + line("term", m.term) +
                     reals("viewers_s", m.viewers_s);
  if (m.change != OwnershipMessage::Change::given && m.change != OwnershipMessage::Change::corrected)
    return text;
  return text + line("motion_tick", m.motion_tick) + line("orientation_bits", m.orientation_bits) +
         text_of_motion(m.state, m.orientation_bits != 0);
}

std::string expected(const PlayoutMessage& m) {
  return line("interpolates", m.interpolates) + line("shows_past", m.shows_past) +
         reals("blend_s", m.blend.duration_s) + line("blend_curve", m.blend.curve == BlendCurve::damped);
}

std::string expected(const KickMessage& m) {
  return "reason: " + hex_of(std::as_bytes(std::span{m.reason})) + "\n";
}

std::string expected(const ClientDatagram& d) {
  std::string text = line("sequence", d.sequence) + line("processed", d.processed) + line("stamp", d.stamp);
  if (d.ack) text += text_of_ack(*d.ack) + line("ack_delay", d.ack_delay);
  if (d.join) return text + test::text_of_request(*d.join);
  if (!d.showing) return text;
  const ShowingReport& r = *d.showing;
  text += line("clock", r.clock) + line("delay", r.delay) + line("era", r.era);
  for (std::size_t i = 0; d.ack && i < r.count; ++i)
    text += line("arrival", r.arrivals[i].sequence, r.arrivals[i].ago);
  return text;
}

TEST(WireFields, SecondDecoderReadsEveryReliableMessage) {
  std::mt19937_64 engine{5};
  std::array<int, std::variant_size_v<ReliableMessage>> seen{};
  std::array<int, 4> routes{};
  for (int i = 0; i < 6000; ++i) {
    const fuzz::Bytes bytes = decisions(engine, 1500);
    fuzz::Choices choices{bytes};
    const ReliableMessage message = fuzz::any_reliable(choices);
    const auto content = second::Decoder{{}}.message(fuzz::encoded(message));
    ASSERT_TRUE(content) << "message " << i << " of kind " << message.index();
    ASSERT_EQ(as_text(*content), std::visit([](const auto& m) { return expected(m); }, message));
    ++seen[message.index()];
    if (const auto* route = std::get_if<RouteMessage>(&message)) ++routes[route->definition.curve.index()];
  }
  for (const int count : seen)
    EXPECT_GT(count, 100);
  for (const int count : routes)
    EXPECT_GT(count, 20);
}

// A client that owns the entities of four slots and sends their motions, and the inputs of its player. All
// motions of an entity after its first one are residuals.
class Owner {
 public:
  explicit Owner(std::uint64_t seed) : engine_(seed), stream_(seed) {}

  // The next tick of the server is kLater ticks after `tick`.
  static constexpr Tick kLater = 50;

  Bytes datagram(Tick tick, std::string& content) {
    const fuzz::Bytes bytes = decisions(engine_, 2000);
    fuzz::Choices choices{bytes};
    ClientDatagram d = fuzz::any_client_datagram(choices, 100);
    d.has_owned = choices.flag();
    d.has_inputs = choices.flag();
    d.has_messages = choices.flag();
    d.has_reliable = choices.flag();
    content = expected(d);
    Bytes buffer(8192);
    BitWriter writer{buffer};
    write(writer, d);
    std::int64_t previous = -1;
    for (std::uint32_t slot = 0; d.has_owned && slot < test::WireReader::kSlots; ++slot) {
      if (!choices.flag()) continue;
      content += motion(writer, choices, slot, tick, previous);
      previous = slot;
    }
    if (d.has_owned) writer.write(0, 1);
    if (d.has_inputs) content += inputs(writer, choices, tick + kLater);
    if (d.has_messages) {
      const double time_s = choices.real(-1e12, 1e12);
      fuzz::Bytes payload = choices.bytes(60);
      payload.push_back(std::byte{9});
      write_message(writer, payload, time_s);
      write_message(writer, std::span{payload}.last(1), std::nullopt);
      writer.write(0, 1);
      content += optional("time_s", time_s) + "payload: " + hex_of(payload) + "\ntime_s: -\npayload: 09\n";
    }
    if (d.has_reliable) {
      content += stream_.write_any(writer);
      content += stream_.complete_messages();
    }
    return fuzz::finished(writer);
  }

 private:
  std::string motion(BitWriter& writer, fuzz::Choices& choices, std::uint32_t slot, Tick tick,
                     std::int64_t previous) {
    const Quantisation& q = test::WireReader::quantisation_of(slot);
    CodingMode coding_mode;
    coding_mode.precision = static_cast<std::uint8_t>(choices.up_to(kMaxPrecision));
    coding_mode.reach = static_cast<std::uint8_t>(choices.up_to(kMaxReach));
    coding_mode.prior = static_cast<std::uint8_t>(choices.up_to(kPriorCount - 1));
    coding_mode.wander = static_cast<std::uint8_t>(choices.up_to(kMaxWander));
    if (q.orientation_bits > 0) coding_mode.twist = static_cast<std::uint8_t>(choices.up_to(kMaxTwist));
    coding_mode.bends = choices.flag();
    coding_mode.steady = !coding_mode.bends && choices.flag();
    QuantisedState now = quantise(nearest_encodable(fuzz::any_state(choices, q), q), 1, coding_mode, q);
    if (now.coding_mode.bends)
      now.link = static_cast<std::uint8_t>(choices.up_to(MotionTransition::kLinks - 1));
    if (now.coding_mode.steady) now.sudden = choices.flag();
    Sent& last = sent_motions_[slot];
    OwnedHead head{
        slot, static_cast<std::uint8_t>(choices.up_to(kTerms - 1)), static_cast<std::uint16_t>(tick), {}};
    if (last.tick != 0 && choices.flag()) head.reference_age = tick - last.tick;
    write(writer, head, previous);
    std::string content = line("slot term tick", slot, head.term, tick);
    if (head.reference_age) {
      write_residual(writer, now, last.state, *head.reference_age / test::WireReader::kTickRateHz, q);
      content += line("baseline", last.tick);
    } else {
      write_full(writer, now, q);
    }
    last = {tick, now};
    return content + text_of_motion(now, q.orientation_bits != 0);
  }

  // Sometimes so far from the server's next tick that it does not use them.
  std::string inputs(BitWriter& writer, fuzz::Choices& choices, Tick next) {
    Tick newest = next + static_cast<Tick>(choices.up_to(30)) - 10;
    if (choices.rarely(7)) newest = next + static_cast<Tick>(choices.up_to(200)) - 131;
    const auto find = [this](Tick tick) { return inputs_.find(tick); };
    const InputBatch batch = fuzz::any_inputs(choices, newest, find);
    write_inputs(writer, batch, batch.has_base ? *find(batch.oldest() - 1) : Input{});
    inputs_.add(batch, next);
    return test::text_of(batch);
  }

  struct Sent {
    Tick tick = 0;
    QuantisedState state;
  };
  std::mt19937_64 engine_;
  test::WireInputs inputs_;
  std::array<Sent, test::WireReader::kSlots> sent_motions_;
  test::WireStream stream_;
};

// Both decoders, after the same join.
struct Both {
  second::Decoder second{test::declared_as(fuzz::archetypes())};
  test::WireReader first;

  Both() {
    WelcomeMessage welcome;
    welcome.tick_rate_hz = test::WireReader::kTickRateHz;
    for (std::size_t i = 0; i < fuzz::archetypes().size(); ++i) {
      const Archetype& a = fuzz::archetypes()[i];
      welcome.archetypes.push_back(
          {a.threshold_m, a.threshold_rad, a.max_speed_mps, a.world_size_m, fuzz::quantisations()[i].codes});
    }
    EXPECT_TRUE(second.message(fuzz::encoded(welcome)));
    for (std::uint32_t slot = 0; slot < test::WireReader::kSlots; ++slot)
      EXPECT_TRUE(second.server_datagram(first.spawn(slot), 0));
  }
};

TEST(WireFields, SecondDecoderReadsEveryClientDatagram) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    Owner owner{seed};
    Both both;
    for (Tick tick = 1000; tick < 3000; tick += 1 + tick % 37) {
      std::string expected;
      const Bytes bytes = owner.datagram(tick, expected);
      const auto content = both.second.client_datagram(bytes, tick + Owner::kLater);
      ASSERT_TRUE(content) << "seed " << seed << " tick " << tick;
      ASSERT_EQ(as_text(*content), expected) << "seed " << seed << " tick " << tick;
    }
  }
}

// A datagram with entries of the section of spawns.
Bytes datagram_with(std::span<const SpawnEntry> entries, Sequence sequence, Tick tick, std::string& content) {
  ServerHeader header;
  header.sequence = sequence;
  header.tick = static_cast<std::uint16_t>(tick);
  header.has_spawns = true;
  content =
      line("sequence", sequence) + line("tick", tick) + line("complete_age", 0) + line("update_count", 0);
  Bytes buffer(16384);
  BitWriter writer{buffer};
  write(writer, header);
  SpawnsWriter section;
  for (const SpawnEntry& entry : entries) {
    EXPECT_TRUE(section.add(writer, entry, buffer.size() * 8));
    content += test::text_of_entry(entry, fuzz::archetypes());
  }
  section.finish(writer);
  return fuzz::finished(writer);
}

// Random entries with numbers in any order near `newest`.
std::vector<SpawnEntry> random_entries(std::mt19937_64& engine, std::uint32_t newest) {
  const fuzz::Bytes bytes = decisions(engine, 1200);
  fuzz::Choices choices{bytes};
  std::vector<SpawnEntry> entries;
  for (std::uint64_t n = 1 + choices.up_to(5); n > 0; --n)
    entries.push_back(fuzz::any_spawn_entry(choices, newest));
  return entries;
}

TEST(WireFields, SecondDecoderReadsSpawnsAndDespawns) {
  std::mt19937_64 engine{9};
  std::array<int, std::variant_size_v<SpawnEntry>> seen{};
  for (int seed = 0; seed < 40; ++seed) {
    Both both;
    for (std::uint32_t i = 0; i < 50; ++i) {
      const auto entries = random_entries(engine, 20 + 40 * i);
      std::string content;
      const Bytes bytes = datagram_with(entries, static_cast<Sequence>(i), 5000 + i, content);
      const auto decoded = both.second.server_datagram(bytes, 5000);
      ASSERT_TRUE(decoded) << "seed " << seed << " datagram " << i;
      ASSERT_EQ(as_text(*decoded), content) << "seed " << seed << " datagram " << i;
      ASSERT_TRUE(both.first.server_datagram(bytes, 5000));
      for (const SpawnEntry& entry : entries)
        ++seen[entry.index()];
    }
  }
  for (const int count : seen)
    EXPECT_GT(count, 300);
}

// Numbers of spawns have 16 bits on the wire, and a session has more spawns. An entity of the first spawns
// ends long afterwards.
TEST(WireFields, SecondDecoderCountsBeyondSixteenBits) {
  Both both;
  std::uint32_t next = test::WireReader::kSlots + 1;
  Tick tick = 1000;
  const auto read = [&](std::span<const SpawnEntry> entries) {
    std::string content;
    const Bytes bytes = datagram_with(entries, static_cast<Sequence>(tick), tick, content);
    const auto decoded = both.second.server_datagram(bytes, tick);
    ASSERT_TRUE(decoded) << next;
    ASSERT_EQ(as_text(*decoded), content);
    ASSERT_TRUE(both.first.server_datagram(bytes, tick));
    ++tick;
  };
  const Spawn model = [] {
    Spawn spawn;
    spawn.entity = {60, 1};
    spawn.archetype = 2;
    spawn.orientation_bits = static_cast<std::uint8_t>(fuzz::quantisations()[2].orientation_bits);
    spawn.state = quantise(State{}, 1, CodingMode{}, fuzz::quantisations()[2]);
    return spawn;
  }();
  while (next < 150'000) {
    std::vector<SpawnEntry> entries;
    for (std::uint32_t i = 0; i < 500; ++i, ++next) {
      if (i % 50 == 0) {
        Spawn spawn = model;
        spawn.number = next;
        entries.emplace_back(spawn);
      } else {
        entries.emplace_back(Despawn{next, {70 + i, 1}, 0, {}});
      }
    }
    ASSERT_NO_FATAL_FAILURE(read(entries));
  }
  const std::vector<SpawnEntry> old{Despawn{2, {2, 1}, 0, {}}, PredictionRefusal{1}};
  ASSERT_NO_FATAL_FAILURE(read(old));
}

// Datagrams overtake each other. The numbers decide which entity a slot has, and so how its updates are
// decoded.
TEST(WireFields, SecondDecoderDecidesByNumbers) {
  constexpr std::uint32_t kSlot = 40;
  const auto spawn_of = [](std::uint32_t number, std::uint16_t generation, std::uint8_t archetype) {
    Spawn spawn;
    spawn.number = number;
    spawn.entity = {kSlot + 1, generation};
    spawn.archetype = archetype;
    spawn.orientation_bits = static_cast<std::uint8_t>(fuzz::quantisations()[archetype].orientation_bits);
    spawn.state = quantise(State{}, 1, CodingMode{}, fuzz::quantisations()[archetype]);
    spawn.values_follow = true;
    return spawn;
  };
  const auto end_of = [](std::uint32_t number, std::uint16_t generation) {
    return Despawn{number, {kSlot + 1, generation}, 0, {}};
  };
  struct Case {
    std::vector<SpawnEntry> entries;
    std::uint8_t archetype;  // of the entity that the slot has in the end
  };
  const std::vector<Case> cases{
      {{spawn_of(10, 1, 0), spawn_of(11, 2, 1)}, 1},
      {{spawn_of(11, 2, 1), spawn_of(10, 1, 0)}, 1},
      {{spawn_of(10, 1, 0), spawn_of(10, 1, 1)}, 0},
      {{spawn_of(10, 1, 0), spawn_of(10, 2, 0)}, 0},
      {{spawn_of(10, 1, 0), end_of(11, 2), spawn_of(11, 2, 1)}, 0},
      {{spawn_of(10, 1, 0), end_of(12, 3), spawn_of(11, 2, 1)}, 0},
      {{spawn_of(10, 1, 0), end_of(9, 0), spawn_of(11, 2, 1)}, 1},
      {{spawn_of(10, 1, 0), end_of(10, 1), spawn_of(10, 1, 0), spawn_of(12, 1, 1)}, 1},
  };
  std::size_t number = 0;
  for (const Case& c : cases) {
    Both both;
    for (const SpawnEntry& entry : c.entries) {
      std::string content;
      const std::vector<SpawnEntry> alone{entry};
      const Bytes bytes = datagram_with(alone, 1, 5000, content);
      ASSERT_TRUE(both.second.server_datagram(bytes, 5000));
      ASSERT_TRUE(both.first.server_datagram(bytes, 5000));
    }
    const Quantisation& q = fuzz::quantisations()[c.archetype];
    State moved;
    moved.position = {1.0, 2.0, 3.0};
    const QuantisedState state = quantise(moved, 1, CodingMode{}, q);
    Bytes buffer(kMaxDatagramBytes);
    BitWriter writer{buffer};
    ServerHeader header;
    header.tick = 5001;
    header.update_count = 1;
    header.coding.reference_age = 1;
    write(writer, header);
    write(writer, UpdateHeader{kSlot, 0, 0, 1}, header.coding, -1);
    write_residual(writer, state, quantise(State{}, 1, CodingMode{}, q), 1.0 / test::WireReader::kTickRateHz,
                   q);
    const Bytes bytes = fuzz::finished(writer);
    const auto decoded = both.second.server_datagram(bytes, 5001);
    ASSERT_TRUE(decoded) << "case " << number;
    EXPECT_TRUE(as_text(*decoded).ends_with(text_of_motion(state, c.archetype == 0))) << "case " << number;
    EXPECT_TRUE(both.first.server_datagram(bytes, 5001)) << "case " << number;
    ++number;
  }
}

// A datagram with a section of predictions and nothing else.
Bytes datagram_with(const PredictionReport& report, Tick tick) {
  ServerHeader header;
  header.tick = static_cast<std::uint16_t>(tick);
  header.has_predictions = true;
  Bytes buffer(16384);
  BitWriter writer{buffer};
  write(writer, header);
  write(writer, report);
  return fuzz::finished(writer);
}

TEST(WireFields, SecondDecoderReadsEveryReportAndCorrection) {
  std::mt19937_64 engine{16};
  int reports = 0, corrections = 0, entities = 0;
  for (Tick tick = 70'000; tick < 74'000; ++tick) {
    const fuzz::Bytes bytes = decisions(engine, 1200);
    fuzz::Choices choices{bytes};
    const PredictionReport report = fuzz::any_predictions(choices, tick);
    const auto content = second::Decoder{{}}.server_datagram(datagram_with(report, tick), tick - 500);
    ASSERT_TRUE(content) << tick;
    ASSERT_EQ(as_text(*content), line("sequence", 0) + line("tick", tick) + line("complete_age", 0) +
                                     line("update_count", 0) + test::text_of(report));
    reports += report.inputs ? 1 : 0;
    if (!report.correction) continue;
    ++corrections;
    entities += static_cast<int>(report.correction->entities.size());
  }
  EXPECT_GT(reports, 1000);
  EXPECT_GT(corrections, 1000);
  EXPECT_GT(entities, 2000);
}

TEST(WireFields, BothDecodersRefuseTheSameDamagedPredictions) {
  std::mt19937_64 engine{17};
  int read = 0, refused = 0;
  for (Tick tick = 5000; tick < 25'000; ++tick) {
    const fuzz::Bytes bytes = decisions(engine, 1200);
    fuzz::Choices choices{bytes};
    Bytes noisy = datagram_with(fuzz::any_predictions(choices, tick), tick);
    (void)fuzz::damage(choices, noisy);
    const bool second_reads = second::Decoder{{}}.server_datagram(noisy, tick).has_value();
    ASSERT_EQ(second_reads, test::WireReader{}.server_datagram(noisy, tick)) << tick << ": " << hex_of(noisy);
    ++(second_reads ? read : refused);
  }
  EXPECT_GT(read, 2000);
  EXPECT_GT(refused, 2000);
}

// What a client computes for its results does not travel itself, so the document's formula is compared.
TEST(WireFields, ResultsAreThoseOfTheDocument) {
  std::mt19937_64 engine{18};
  for (Tick tick = 0; tick < 20'000; ++tick) {
    const fuzz::Bytes bytes = decisions(engine, 1200);
    fuzz::Choices choices{bytes};
    PredictionReport report;
    while (!report.correction || report.correction->entities.empty()) {
      if (choices.empty()) break;
      report = fuzz::any_predictions(choices, tick);
    }
    if (!report.correction) continue;
    for (const ExactState& exact : report.correction->entities) {
      const auto& [p, q] = std::pair{exact.state.position, exact.state.orientation};
      std::string game_state;
      for (const std::byte byte : exact.game_state)
        game_state.push_back(static_cast<char>(byte));
      const auto expected = second::result({{p.x, p.y, p.z},
                                            {q.x, q.y, q.z},
                                            game_state,
                                            exact.tolerance.position_m,
                                            exact.tolerance.angle_rad},
                                           tick);
      const PredictedResult r = result_of(exact.state, exact.game_state, exact.tolerance, tick);
      const std::array<int, 7> result{r.position[0], r.position[1], r.position[2], r.rotation[0],
                                      r.rotation[1], r.rotation[2], r.game_state};
      ASSERT_EQ(result, expected) << tick;
    }
  }
}

TEST(WireFields, BothDecodersRefuseTheSameDamagedSpawns) {
  std::mt19937_64 engine{10};
  int read = 0, refused = 0;
  for (int seed = 0; seed < 40; ++seed) {
    Both both;
    for (std::uint32_t i = 0; i < 100; ++i) {
      std::string content;
      Bytes noisy = datagram_with(random_entries(engine, 20), static_cast<Sequence>(i), 5000, content);
      const fuzz::Bytes chosen = decisions(engine, 64);
      fuzz::Choices choices{chosen};
      (void)fuzz::damage(choices, noisy);
      Both trial = both;
      const bool second_reads = trial.second.server_datagram(noisy, 5000).has_value();
      ASSERT_EQ(second_reads, trial.first.server_datagram(noisy, 5000))
          << "seed " << seed << " datagram " << i << ": " << hex_of(noisy);
      ++(second_reads ? read : refused);
    }
  }
  EXPECT_GT(read, 500);
  EXPECT_GT(refused, 500);
}

TEST(WireFields, BothDecodersRefuseTheSameDamagedReliableMessages) {
  std::mt19937_64 engine{6};
  std::array<int, std::variant_size_v<ReliableMessage>> read{}, refused{};
  for (int i = 0; i < 20'000; ++i) {
    const fuzz::Bytes bytes = decisions(engine, 1500);
    fuzz::Choices choices{bytes};
    const ReliableMessage message = fuzz::any_reliable(choices);
    Bytes payload = fuzz::encoded(message);
    (void)fuzz::damage(choices, payload);
    const bool second_reads = second::Decoder{{}}.message(payload).has_value();
    ASSERT_EQ(second_reads, decode_reliable(payload).has_value())
        << "message " << i << " of kind " << message.index() << ": " << hex_of(payload);
    ++(second_reads ? read : refused)[message.index()];
  }
  for (std::size_t kind = 0; kind < read.size(); ++kind) {
    EXPECT_GT(read[kind], 100) << kind;
    EXPECT_GT(refused[kind], 100) << kind;
  }
}

TEST(WireFields, BothDecodersRefuseTheSameDamagedClientDatagrams) {
  std::mt19937_64 engine{7};
  int read = 0, refused = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    Owner owner{seed};
    Both both;
    for (Tick tick = 1000; tick < 3000; tick += 1 + tick % 37) {
      std::string content;
      const Bytes bytes = owner.datagram(tick, content);
      const fuzz::Bytes chosen = decisions(engine, 64);
      fuzz::Choices choices{chosen};
      Bytes noisy = bytes;
      (void)fuzz::damage(choices, noisy);
      Both trial = both;
      const bool second_reads = trial.second.client_datagram(noisy, tick + Owner::kLater).has_value();
      ASSERT_EQ(second_reads, trial.first.client_datagram(noisy, tick + Owner::kLater))
          << "seed " << seed << " tick " << tick << ": " << hex_of(noisy);
      ++(second_reads ? read : refused);
      ASSERT_TRUE(both.second.client_datagram(bytes, tick + Owner::kLater));
      ASSERT_TRUE(both.first.client_datagram(bytes, tick + Owner::kLater));
    }
  }
  EXPECT_GT(read, 500);
  EXPECT_GT(refused, 500);
}

template <class Head>
Bytes head_alone(const Head& head) {
  Bytes buffer(kMaxDatagramBytes);
  BitWriter writer{buffer};
  write(writer, head);
  return fuzz::finished(writer);
}

TEST(WireFields, SecondDecoderReadsEveryRequestToJoin) {
  std::mt19937_64 engine{13};
  int resumes = 0, versions = 0;
  for (int i = 0; i < 4000; ++i) {
    const fuzz::Bytes bytes = decisions(engine, 100);
    fuzz::Choices choices{bytes};
    const ClientDatagram d = fuzz::any_join_datagram(choices);
    const auto content = second::Decoder{{}}.client_datagram(head_alone(d), 0);
    ASSERT_TRUE(content) << i;
    ASSERT_EQ(as_text(*content), expected(d)) << i;
    resumes += d.join->resume ? 1 : 0;
    versions += d.join->version != kProtocolVersion ? 1 : 0;
  }
  EXPECT_GT(resumes, 1000);
  EXPECT_GT(versions, 200);
}

TEST(WireFields, BothDecodersRefuseTheSameDamagedRequestsToJoin) {
  std::mt19937_64 engine{14};
  int read = 0, refused = 0;
  for (int i = 0; i < 20'000; ++i) {
    const fuzz::Bytes bytes = decisions(engine, 200);
    fuzz::Choices choices{bytes};
    Bytes noisy = head_alone(fuzz::any_join_datagram(choices));
    (void)fuzz::damage(choices, noisy);
    const bool second_reads = second::Decoder{{}}.client_datagram(noisy, 0).has_value();
    ASSERT_EQ(second_reads, test::WireReader{}.client_datagram(noisy, 0)) << i << ": " << hex_of(noisy);
    ++(second_reads ? read : refused);
  }
  EXPECT_GT(read, 2000);
  EXPECT_GT(refused, 2000);
}

// Heads of the server with nothing but what the server says about the session, intact and damaged.
TEST(WireFields, BothDecodersAgreeOnTheAnswerAndTheProcessedMessages) {
  std::mt19937_64 engine{15};
  std::array<int, 6> seen{};
  int read = 0, refused = 0;
  for (int i = 0; i < 20'000; ++i) {
    const fuzz::Bytes bytes = decisions(engine, 200);
    fuzz::Choices choices{bytes};
    ServerHeader header;
    header.sequence = static_cast<Sequence>(choices.up_to(UINT16_MAX));
    header.control = fuzz::any_server_control(choices);
    const Bytes good = head_alone(header);
    const auto content = second::Decoder{{}}.server_datagram(good, 0);
    ASSERT_TRUE(content) << i;
    ASSERT_EQ(as_text(*content), line("sequence", header.sequence) + line("tick", 0) +
                                     line("complete_age", 0) + line("update_count", 0) +
                                     test::text_of_control(header.control));
    const auto& answer = header.control.answer;
    ++seen[(answer ? answer->resumed ? 4u : 2u : 0u) + (header.control.processed ? 1u : 0u)];
    Bytes noisy = good;
    (void)fuzz::damage(choices, noisy);
    const bool second_reads = second::Decoder{{}}.server_datagram(noisy, 0).has_value();
    ASSERT_EQ(second_reads, test::WireReader{}.server_datagram(noisy, 0)) << i << ": " << hex_of(noisy);
    ++(second_reads ? read : refused);
  }
  EXPECT_EQ(seen[0], 0);  // nothing is never written
  for (const int count : std::span(seen).subspan(1))
    EXPECT_GT(count, 500);
  EXPECT_GT(read, 2000);
  EXPECT_GT(refused, 2000);
}

// Datagrams with parts of a stream and nothing else, of the server or of the client.
template <class Head>
Bytes stream_datagram(test::WireStream& stream) {
  Head head;
  head.has_reliable = true;
  Bytes buffer(kMaxDatagramBytes);
  BitWriter writer{buffer};
  write(writer, head);
  (void)stream.write_any(writer);
  return fuzz::finished(writer);
}

std::string messages_in(const second::DecodedFields& fields) {
  second::DecodedFields messages;
  for (const auto& field : fields) {
    if (field.first == "message" || field.first == "early") messages.push_back(field);
  }
  return as_text(messages);
}

// The damaged datagrams are applied. So offsets, lengths and messages become wrong, but for both decoders.
TEST(WireFields, BothDecodersPutTheSameDamagedStreamTogether) {
  std::mt19937_64 engine{11};
  int read = 0, refused = 0, early = 0;
  std::size_t bytes = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const bool from_server = seed % 2 == 0;
    test::WireStream stream{seed};
    second::Decoder second{{}};
    test::WireReader first;
    for (int i = 0; i < 100; ++i) {
      Bytes noisy =
          from_server ? stream_datagram<ServerHeader>(stream) : stream_datagram<ClientDatagram>(stream);
      const fuzz::Bytes chosen = decisions(engine, 64);
      fuzz::Choices choices{chosen};
      if (choices.rarely(9)) (void)fuzz::damage(choices, noisy);
      const auto content = from_server ? second.server_datagram(noisy, 0) : second.client_datagram(noisy, 0);
      const bool first_reads =
          from_server ? first.server_datagram(noisy, 0) : first.client_datagram(noisy, 0);
      ASSERT_EQ(content.has_value(), first_reads)
          << "seed " << seed << " datagram " << i << ": " << hex_of(noisy);
      const std::string messages = first.complete_messages();
      early += messages.find("early: ") == std::string::npos ? 0 : 1;
      if (content) {
        ASSERT_EQ(messages_in(*content), messages) << "seed " << seed << " datagram " << i;
      }
      bytes += messages.size();
      ++(content ? read : refused);
    }
  }
  EXPECT_GT(read, 1000);
  EXPECT_GT(refused, 500);
  EXPECT_GT(bytes, 100'000u);
  EXPECT_GT(early, 300);
}

// Lengths that no sender writes: nothing more comes out of the stream.
TEST(WireFields, BothDecodersRefuseTheSameLengths) {
  struct Case {
    std::vector<unsigned> head;
    std::size_t size;  // of the message, if the length is valid
  };
  const std::vector<Case> cases{{{0x01}, 1},
                                {{0x7f}, 127},
                                {{0x80, 0x01}, 128},
                                {{0xff, 0x7f}, 16383},
                                {{0x80, 0x80, 1}, 16384},
                                {{0x81, 0x00}, 1},
                                {{0x80, 0x88, 2}, 33 * 1024},
                                {{0x81, 0x88, 2}, 0},
                                {{0xff, 0xff, 0x7f}, 0},
                                {{0x00}, 0},
                                {{0x80, 0x00}, 0},
                                {{0x80, 0x80, 0x80}, 0}};
  for (const Case& c : cases) {
    std::vector<std::byte> stream;
    for (const unsigned byte : c.head)
      stream.push_back(static_cast<std::byte>(byte));
    stream.resize(stream.size() + std::max<std::size_t>(c.size, 50), std::byte{0x21});
    stream.insert(stream.end(), {std::byte{1}, std::byte{0x22}});  // one more message
    second::Decoder second{{}};
    test::WireReader first;
    std::string second_text, first_text;
    for (std::size_t at = 0; at < stream.size(); at += 1000) {
      Bytes buffer(kMaxDatagramBytes);
      BitWriter writer{buffer};
      ServerHeader header;
      header.has_reliable = true;
      write(writer, header);
      ReliablePartsWriter section;
      section.add(writer, at, std::span(stream).subspan(at, std::min<std::size_t>(1000, stream.size() - at)));
      section.finish(writer);
      const Bytes bytes = fuzz::finished(writer);
      const auto content = second.server_datagram(bytes, 0);
      ASSERT_TRUE(content);
      ASSERT_TRUE(first.server_datagram(bytes, 0));
      second_text += messages_in(*content);
      first_text += first.complete_messages();
    }
    const std::string expected =
        c.size == 0 ? "" : "message: " + hex_of(std::vector(c.size, std::byte{0x21})) + "\nmessage: ";
    EXPECT_EQ(second_text, first_text) << hex_of(std::span(stream).first(c.head.size()));
    EXPECT_EQ(first_text.substr(0, expected.size()), expected);
    EXPECT_EQ(first_text.empty(), c.size == 0);
  }
}

// Both decoders find the whole offset of a part from its 24 bits, and refuse what lies beyond the window.
TEST(WireFields, SecondDecoderCountsBytesBeyondTwentyFourBits) {
  std::mt19937_64 engine{12};
  for (const std::size_t lacking :
       {std::size_t{0}, std::size_t{100}, (std::size_t{1} << 23) + 5, (std::size_t{1} << 24) - 1,
        (std::size_t{1} << 24) + 77, std::size_t{1} << 25}) {
    second::Stream second;
    second.add({{0, std::string(lacking, '\1')}});
    ReliableReceiver first{{.bytes = std::size_t{1} << 30}};
    const ReliablePart all{0, std::vector<std::byte>(lacking)};
    first.add(std::span(&all, 1));
    ASSERT_EQ(first.near(), lacking);
    for (int i = 0; i < 2000; ++i) {
      const std::uint64_t low = i < 3
                                    ? (lacking + (1u << 23) + static_cast<std::uint64_t>(i) - 1) % (1u << 24)
                                    : engine() % (1u << 24);
      std::array<std::byte, 16> buffer;
      BitWriter writer{buffer};
      ReliablePartsWriter section;
      const std::byte byte{7};
      section.add(writer, low, std::span(&byte, 1));
      section.finish(writer);
      BitReader reader{writer.finish()};
      std::vector<ReliablePart> parts;
      read_reliable_parts(reader, first.near(), parts);
      ASSERT_EQ(parts.size(), 1u);
      EXPECT_EQ(second.whole_offset(static_cast<std::int64_t>(low)),
                static_cast<std::int64_t>(parts[0].offset))
          << lacking << " " << low;
    }
  }
  constexpr std::int64_t kWindow = 558'080;
  for (const std::int64_t end : {kWindow, kWindow + 1}) {
    const ReliablePart part{static_cast<std::uint64_t>(end - 3), std::vector<std::byte>(3)};
    EXPECT_EQ(second::Stream{}.may_add({{end - 3, std::string(3, '\0')}}), end == kWindow);
    EXPECT_EQ(ReliableReceiver{{}}.accepts(std::span(&part, 1)), end == kWindow);
  }
}

TEST(WireFields, BothDecodersRefuseTheSameDamagedServerDatagrams) {
  std::mt19937_64 engine{8};
  int read = 0, refused = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    test::Conversation conversation{seed};
    second::Decoder second{test::declared_as(test::archetypes())};
    test::WireReader first{test::archetypes()};
    ASSERT_TRUE(second.message(conversation.welcome()));
    for (const std::uint32_t slot : {test::Conversation::kBodySlot, test::Conversation::kCrateSlot}) {
      const Bytes spawn = conversation.spawn(slot);
      ASSERT_TRUE(second.server_datagram(spawn, test::Conversation::kStart));
      ASSERT_TRUE(first.server_datagram(spawn, test::Conversation::kStart));
    }
    Tick tick = test::Conversation::kStart;
    for (int i = 0; i < 100; ++i) {
      tick += static_cast<Tick>(1 + (i * 7) % 23);
      const Bytes bytes = conversation.datagram(tick, i % 4 != 0, i % 3 == 0);
      const fuzz::Bytes chosen = decisions(engine, 64);
      fuzz::Choices choices{chosen};
      Bytes noisy = bytes;
      (void)fuzz::damage(choices, noisy);
      second::Decoder second_trial = second;
      test::WireReader first_trial = first;
      const bool second_reads = second_trial.server_datagram(noisy, tick).has_value();
      ASSERT_EQ(second_reads, first_trial.server_datagram(noisy, tick))
          << "seed " << seed << " tick " << tick << ": " << hex_of(noisy);
      ++(second_reads ? read : refused);
      ASSERT_TRUE(second.server_datagram(bytes, tick));
      ASSERT_TRUE(first.server_datagram(bytes, tick));
    }
  }
  EXPECT_GT(read, 500);
  EXPECT_GT(refused, 500);
}

}  // namespace
}  // namespace reckoner
