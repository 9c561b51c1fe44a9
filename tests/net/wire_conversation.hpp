// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/codec/field_codec.hpp"
#include "net/src/codec/motion_codec.hpp"
#include "net/src/messages/datagram.hpp"
#include "net/src/messages/messages.hpp"
#include "net/src/messages/spawns.hpp"
#include "tests/reckoning/random_states.hpp"
#include "wire_predictions.hpp"
#include "wire_stream.hpp"
#include "wire_text.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include <reckoner/net/archetype.hpp>
#include <reckoner/net/transport.hpp>
#include <reckoner/reckoning/motion.hpp>

namespace reckoner::test {

using Bytes = std::vector<std::byte>;

inline std::vector<Archetype> archetypes() {
  Archetype body;
  body.name = "body";
  Archetype crate;
  crate.name = "crate";
  crate.has_orientation = false;
  crate.fields = {{"alive", BooleanField{.initial = true}},
                  {"health", IntegerField{.least = 0, .most = 100, .initial = 100}},
                  {"heat", RealField{.least = -50.0, .most = 150.0, .step = 0.5, .initial = 20.0}},
                  {"label", BlobField{.most_bytes = 64}}};
  return {body, crate};
}

inline std::string text_of_ack(const Ack& ack) {
  std::string text = line("ack", ack.newest);
  text.pop_back();  // the end of the line
  for (std::size_t w = 0; w < ack.words; ++w)
    text += " " + std::to_string(ack.window[w]);
  return text + "\n";
}

// The second decoder's expected text for a motion.
inline std::string text_of_motion(const QuantisedState& s, bool turns) {
  std::string text = s.frame ? line("frame", s.frame.index1, s.frame.generation) : "";
  text += line("teleports", s.teleports) + line("precision", s.coding_mode.precision);
  if (s.along.route) {
    return text + line("along", s.along.route.value, s.along.distance, s.along.speed, s.along.acceleration);
  }
  text +=
      line("reach prior wander twist bends steady", s.coding_mode.reach, s.coding_mode.prior,
           s.coding_mode.wander, s.coding_mode.twist, int{s.coding_mode.bends}, int{s.coding_mode.steady});
  if (s.coding_mode.bends) text += line("link", s.link);
  if (s.coding_mode.steady) text += line("sudden", int{s.sudden});
  text += line("p", s.position[0], s.position[1], s.position[2]);
  text += line("v", s.velocity[0], s.velocity[1], s.velocity[2]);
  text += line("a", s.acceleration[0], s.acceleration[1], s.acceleration[2]);
  if (!turns) return text;
  text += line("largest", s.largest) + line("o", s.orientation[0], s.orientation[1], s.orientation[2]);
  return text + line("w", s.angular_velocity[0], s.angular_velocity[1], s.angular_velocity[2]);
}

// The second decoder's expected text for a field value.
inline std::string text_of(const FieldValue& value) {
  if (const auto* blob = std::get_if<Blob>(&value)) return hex_of(blob->bytes());
  if (const auto* flag = std::get_if<bool>(&value)) return *flag ? "1" : "0";
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return std::to_string(*whole);
  char buffer[40];
  std::snprintf(buffer, sizeof buffer, "%.17g", std::get<double>(value));
  return buffer;
}

// The second decoder's expected text for an entry of the section of spawns.
inline std::string text_of_entry(const SpawnEntry& entry, const std::vector<Archetype>& archetypes) {
  const auto number = [](const char* name, const auto& optional) {
    return optional ? line(name, *optional) : name + std::string{": -\n"};
  };
  if (const auto* refusal = std::get_if<PredictionRefusal>(&entry))
    return line("refused prediction", refusal->key);
  if (const auto* end = std::get_if<Despawn>(&entry)) {
    return line("despawn", end->number) + line("index", end->entity.index1) +
           line("generation", end->entity.generation) + line("age", end->age) +
           number("after_messages", end->after_messages);
  }
  const auto& spawn = std::get<Spawn>(entry);
  std::string text = line("spawn", spawn.number) + line("index", spawn.entity.index1) +
                     line("generation", spawn.entity.generation) + line("archetype", spawn.archetype) +
                     line("level", spawn.level) + line("orientation_bits", spawn.orientation_bits) +
                     line("age", spawn.age) + text_of_motion(spawn.state, spawn.orientation_bits != 0) +
                     line("short_lived", int{spawn.short_lived.has_value()});
  if (spawn.short_lived) {
    text += number("life", spawn.short_lived->life) + number("prediction", spawn.short_lived->prediction) +
            "data: " + hex_of(spawn.short_lived->data) + "\n";
  } else {
    text += "name: " + hex_of(std::as_bytes(std::span{spawn.name})) + "\n";
  }
  text += line("values_follow", int{spawn.values_follow});
  if (spawn.values_follow) return text;
  text += "fields: " + hex_of(spawn.fields) + "\n";
  std::vector<FieldValue> values;
  BitReader reader{spawn.fields};
  read_values(reader, archetypes[spawn.archetype].fields, values);
  EXPECT_TRUE(reader.finished());
  for (const FieldValue& value : values)
    text += "value: " + text_of(value) + "\n";
  return text;
}

// The second decoder's expected text for a request to join.
inline std::string text_of_request(const JoinRequest& request) {
  std::string text = line("version", request.version);
  if (request.version != kProtocolVersion) return text;
  text += line("archetype_hash", request.archetype_hash) + line("shows_past", request.shows_past) +
          reals("blend_s", request.blend.duration_s) +
          line("blend_curve", request.blend.curve == BlendCurve::damped);
  if (!request.resume) return text;
  const ResumeRequest& resume = *request.resume;
  return text + line("client", resume.client.value) + line("key", resume.key.high, resume.key.low) +
         line("received", resume.received);
}

// The second decoder's expected text for what the server says about the session.
inline std::string text_of_control(const ServerControl& control) {
  std::string text;
  if (control.answer) {
    const auto& resumed = control.answer->resumed;
    text += line("resumed", resumed.has_value());
    if (resumed) {
      text += line("received", resumed->received) + line("processed", resumed->processed) +
              line("last_tick", resumed->tick);
    }
  }
  return control.processed ? text + line("processed", *control.processed) : text;
}

// A server, and what its clients know about two entities: a body in slot 4 and a crate in slot 7.
class Conversation {
 public:
  static constexpr std::uint32_t kBodySlot = 4;
  static constexpr std::uint32_t kCrateSlot = 7;
  static constexpr Tick kStart = 1000;

  explicit Conversation(std::uint64_t seed) : random_(seed), stream_(seed) {
    for (const Archetype& archetype : archetypes())
      quantisation_.push_back(quantisation_for(archetype));
  }

  static constexpr SessionKey kKey{0x0123456789abcdef, 0x7edcba9876543210};

  // A datagram with a request to join, and with nothing else.
  [[nodiscard]] static Bytes join(const std::optional<ResumeRequest>& resume) {
    ClientDatagram datagram;
    datagram.join = JoinRequest{kProtocolVersion, 0xdeadbeef, true, {BlendCurve::damped, 0.1}, resume};
    Bytes buffer(kMaxDatagramBytes);
    BitWriter writer{buffer};
    write(writer, datagram);
    buffer.resize(writer.finish().size());
    return buffer;
  }
  [[nodiscard]] Bytes welcome() const {
    WelcomeMessage m;
    m.client = {77};
    m.key = kKey;
    m.tick_rate_hz = 60.0;
    m.epoch_s = -12.25;
    m.tick = kStart;
    m.longest_gap_s = 0.25;
    m.rewinds = true;
    const auto kinds = archetypes();
    for (std::size_t i = 0; i < kinds.size(); ++i) {
      m.archetypes.push_back({kinds[i].threshold_m, kinds[i].threshold_rad, kinds[i].max_speed_mps,
                              kinds[i].world_size_m, quantisation_[i].codes});
    }
    return encoded(m);
  }

  // A datagram with the spawn of an entity. Its motion is a baseline from now on.
  Bytes spawn(std::uint32_t slot) {
    Spawn spawn;
    spawn.number = next_number_++;
    spawn.entity = {slot + 1, 3};
    spawn.archetype = kind_of(slot);
    spawn.name = slot == kBodySlot ? "Ann" : "";
    spawn.age = 2;
    spawn.orientation_bits = static_cast<std::uint8_t>(quantisation(slot).orientation_bits);
    spawn.state = quantised(slot);
    sent_motions_[slot == kBodySlot ? 0 : 1] = {kStart - spawn.age, spawn.state};
    if (slot == kCrateSlot)
      spawn.fields = encoded_values({true, std::int64_t{55}, real_at(heat(), 141), label(5)});
    ServerHeader header;
    header.sequence = static_cast<Sequence>(6000 + slot);
    header.tick = static_cast<std::uint16_t>(kStart);
    header.has_spawns = true;
    Bytes buffer(kMaxDatagramBytes);
    BitWriter writer{buffer};
    write(writer, header);
    last_ = line("sequence", header.sequence) + line("tick", kStart) + line("complete_age", 0) +
            line("update_count", 0);
    write_spawns(writer, {spawn});
    const auto bytes = writer.finish();
    return {bytes.begin(), bytes.end()};
  }

  // Adds a message to the stream of reliable messages.
  void add_to_stream(std::span<const std::byte> message) { stream_.add(message); }
  // The number of bytes in this stream.
  [[nodiscard]] std::uint64_t stream_end() const { return stream_.end(); }

  // A datagram with parts of the stream, and with nothing else but `control`.
  Bytes stream_datagram(Tick tick, std::span<const ByteRange> parts, const ServerControl& control = {}) {
    ServerHeader header;
    header.sequence = static_cast<Sequence>(tick * 7);
    header.tick = static_cast<std::uint16_t>(tick);
    header.has_reliable = true;
    header.control = control;
    Bytes buffer(kMaxDatagramBytes);
    BitWriter writer{buffer};
    write(writer, header);
    last_ = line("sequence", header.sequence) + line("tick", tick) + line("complete_age", 0) +
            line("update_count", 0) + text_of_control(control);
    last_ += stream_.write(writer, parts);
    last_ += stream_.complete_messages();
    const auto bytes = writer.finish();
    return {bytes.begin(), bytes.end()};
  }

  // A datagram of this tick with an update of each entity, as a residual or in full, optionally with all
  // sections.
  Bytes datagram(Tick tick, bool refers, bool sections) {
    ServerHeader header;
    header.sequence = static_cast<Sequence>(tick * 7);
    header.tick = static_cast<std::uint16_t>(tick);
    header.complete_age = tick % 5;
    header.update_count = 2;
    header.coding = {2, 1, refers ? tick - std::max(sent_motions_[0].tick, sent_motions_[1].tick) : 0};
    if (sections) {
      header.ack = Ack{static_cast<Sequence>(tick), {0xfffffff5u}};
      header.echo = Echo{123456, -4095};
    }
    header.has_spawns = header.has_predictions = header.has_fields = sections;
    header.has_messages = header.has_reliable = sections;
    if (sections) header.control = control_at(tick);
    Bytes buffer(kMaxDatagramBytes);
    BitWriter writer{buffer};
    write(writer, header);
    last_ =
        line("sequence", header.sequence) + line("tick", tick) + line("complete_age", header.complete_age);
    if (sections) last_ += text_of_ack(*header.ack) + line("echo", 123456, -4095);
    last_ += line("update_count", 2) + text_of_control(header.control);
    std::int64_t previous = -1;
    for (const std::uint32_t slot : {kBodySlot, kCrateSlot}) {
      write_update(writer, slot, tick, refers, header.coding, previous);
      previous = slot;
    }
    if (sections) {
      write_spawns(writer, tick);
      const PredictionReport report = predictions_at(tick);
      write(writer, report);
      last_ += text_of(report);
      write_fields_and_messages(writer, tick);
      last_ += stream_.write_any(writer);
      last_ += stream_.complete_messages();
    }
    const auto bytes = writer.finish();
    return {bytes.begin(), bytes.end()};
  }

  // A datagram with nothing but a section of predictions. The report must have a correction.
  Bytes prediction_datagram(Tick tick, const PredictionReport& report) {
    ServerHeader header;
    header.sequence = static_cast<Sequence>(tick * 7 + report.correction->first);
    header.tick = static_cast<std::uint16_t>(tick);
    header.has_predictions = true;
    Bytes buffer(kMaxDatagramBytes);
    BitWriter writer{buffer};
    write(writer, header);
    write(writer, report);
    last_ = line("sequence", header.sequence) + line("tick", tick) + line("complete_age", 0) +
            line("update_count", 0) + text_of(report);
    const auto bytes = writer.finish();
    return {bytes.begin(), bytes.end()};
  }

  // The exact state of an entity that the client predicts. Every compiler computes the same numbers.
  static ExactState exact(std::uint32_t slot, Tick tick) {
    ExactState exact;
    exact.entity = {slot + 1, 3};
    const double t = tick;
    exact.state.position = {t / 3.0, -7.0 / t, 1e5 + slot};
    if (tick % 3 != 0) exact.state.velocity = glm::vec3{glm::dvec3{t / 7.0, -0.0, 0.5}};
    if (tick % 4 == 0) exact.state.acceleration = glm::vec3{0.0f, 0.0f, -9.81f};
    if (tick % 5 == 0) exact.state.angular_velocity = glm::vec3{0.25f, 0.0f, -1.5f};
    exact.state.orientation =
        tick % 2 == 0 ? glm::quat{0.5f, 0.5f, -0.5f, 0.5f} : glm::quat{0.6f, 0.0f, 0.8f, 0.0f};
    exact.teleports = static_cast<std::uint8_t>(tick % 8);
    exact.tolerance = {0.02f, 0.125f};
    exact.game_state.assign(tick % 11, static_cast<std::byte>(slot));
    return exact;
  }

  // A full motion of the crate.
  QuantisedState crate() { return quantised(kCrateSlot); }

  // A datagram with motions from the crate's owner. The later motion is a residual against the earlier one.
  Bytes owned_datagram(const ClientDatagram& head, Tick tick, bool refers) {
    const Quantisation& q = quantisation(kCrateSlot);
    const QuantisedState now = refers ? next(kCrateSlot, owned_, (tick - owned_.tick) / 60.0) : crate();
    Bytes buffer(kMaxDatagramBytes);
    BitWriter writer{buffer};
    write(writer, head);
    OwnedHead owned{kCrateSlot, 6, static_cast<std::uint16_t>(tick), {}};
    if (refers) owned.reference_age = tick - owned_.tick;
    write(writer, owned, -1);
    if (refers) {
      write_residual(writer, now, owned_.state, (tick - owned_.tick) / 60.0, q);
    } else {
      write_full(writer, now, q);
    }
    writer.write(0, 1);
    owned_ = {tick, now};
    const auto bytes = writer.finish();
    return {bytes.begin(), bytes.end()};
  }

  // The second decoder's expected text for the last payload.
  [[nodiscard]] const std::string& content() const { return last_; }

  static Bytes encoded(const ReliableMessage& message) {
    Bytes buffer(kMaxReliableMessageBytes);
    const auto bytes = encode(message, buffer);
    EXPECT_FALSE(bytes.empty());
    return {bytes.begin(), bytes.end()};
  }

 private:
  struct Sent {
    Tick tick = 0;
    QuantisedState state;
  };

  // Every combination, depending on the tick.
  static ServerControl control_at(Tick tick) {
    ServerControl control;
    if (tick % 3 == 0) control.answer.emplace();
    if (tick % 6 == 0) control.answer->resumed = {tick * 40, tick * 33, tick};
    if (tick % 4 < 2) control.processed = static_cast<std::uint16_t>(tick * 33);
    return control;
  }
  // Every combination of a report about inputs and of a part of a correction, depending on the tick.
  static PredictionReport predictions_at(Tick tick) {
    PredictionReport report;
    if (tick % 3 != 0) {
      report.inputs = InputReport{.newest = tick + 5};
      if (tick % 4 != 1) {
        report.inputs->early = static_cast<int>(tick % 128) - 64;
        report.inputs->timed = report.inputs->newest - tick % 128;
      }
    }
    if (report.inputs && tick % 5 == 0) return report;
    CorrectionPart& part = report.correction.emplace();
    part.number = static_cast<std::uint8_t>(tick);
    part.total = static_cast<std::uint8_t>(tick % 4);
    part.first = tick % 7 < 3 && part.total > 0 ? 1 % part.total : 0;
    part.reason = static_cast<CorrectionReason>(tick % 4);
    for (std::uint32_t slot = part.first; slot < part.total; ++slot)
      part.entities.push_back(exact(slot, tick + slot));
    return report;
  }
  static std::uint8_t kind_of(std::uint32_t slot) { return slot == kBodySlot ? 0 : 1; }
  [[nodiscard]] const Quantisation& quantisation(std::uint32_t slot) const {
    return quantisation_[kind_of(slot)];
  }
  // `size` bytes without equal neighbours.
  static Blob label(std::size_t size) {
    std::vector<std::byte> bytes(size);
    for (std::size_t i = 0; i < size; ++i)
      bytes[i] = static_cast<std::byte>(0xc3 + 29 * i + size);
    return *Blob::of(bytes);
  }
  static RealField heat() { return std::get<RealField>(archetypes()[1].fields[2].type); }

  CodingMode coding_mode() {
    const auto up_to = [this](unsigned most) {
      return static_cast<std::uint8_t>(random_.number(0.0, most + 0.999));
    };
    CodingMode mode{up_to(kMaxPrecision), up_to(kMaxReach), up_to(kPriorCount - 1),
                    up_to(kMaxWander),    up_to(kMaxTwist), up_to(1) == 1};
    mode.steady = !mode.bends && up_to(1) == 1;
    return mode;
  }

  State state(std::uint32_t slot) {
    State s = random_.state();
    if (random_.number(0.0, 1.0) < 0.1) s.velocity = s.acceleration = s.angular_velocity = glm::vec3{0.0f};
    if (kind_of(slot) == 1) {
      s.orientation = State{}.orientation;
      s.angular_velocity = glm::vec3{0.0f};
    }
    return s;
  }

  QuantisedState quantised(std::uint32_t slot) {
    const CodingMode mode = coding_mode();  // first, because every compiler must draw the same numbers
    return quantise(state(slot), 1, mode, quantisation(slot));
  }

  // Usually returns the extrapolated baseline with a deviation. Sometimes returns it exactly, and sometimes
  // another state.
  QuantisedState next(std::uint32_t slot, const Sent& last, double dt_s) {
    const double surprise = random_.number(0.0, 1.0);
    State s = surprise < 0.1 ? state(slot) : extrapolate(*dequantise(last.state, quantisation(slot)), dt_s);
    if (surprise > 0.3) {
      s.position += random_.vector(surprise);
      s.velocity += glm::vec3{random_.vector(3.0 * surprise)};
      s.acceleration += glm::vec3{random_.vector(5.0 * surprise)};
      if (kind_of(slot) == 0) {
        s.angular_velocity += glm::vec3{random_.vector(surprise)};
        s.orientation = glm::normalize(s.orientation + glm::quat{0.0f, glm::vec3{random_.vector(0.2)}});
      }
    }
    if (!is_encodable(s, quantisation(slot))) s = state(slot);
    const CodingMode same = last.state.coding_mode;
    QuantisedState now = quantise(s, last.state.teleports,
                                  random_.number(0.0, 1.0) < 0.6 ? same : coding_mode(), quantisation(slot));
    now.frame = last.state.frame;
    if (now.coding_mode.bends) now.link = static_cast<std::uint8_t>(random_.number(0.0, 3.999));
    if (now.coding_mode.steady) now.sudden = random_.number(0.0, 1.0) < 0.5;
    return now;
  }

  void write_update(BitWriter& writer, std::uint32_t slot, Tick tick, bool refers, const UpdateCoding& coding,
                    std::int64_t previous) {
    Sent& last = sent_motions_[slot == kBodySlot ? 0 : 1];
    const std::uint32_t age = tick - last.tick > 3 ? tick % 3 : 0;
    const double dt_s = (tick - age - last.tick) / 60.0;
    QuantisedState now = next(slot, last, dt_s);
    refers = refers && can_refer(now, last.state) && tick - last.tick > age;
    if (!refers && random_.number(0.0, 1.0) < 0.2) {
      now = QuantisedState{.along = {{12}, 34567, -89, 3}, .coding_mode = {.precision = 5}};
    }
    if (!refers && tick % 5 < 2) now.frame = tick % 5 == 0 ? EntityId{} : EntityId{slot + 3, 517};
    UpdateHeader head{slot, age, 0, {}};
    if (refers) head.reference_age = tick - last.tick;
    write(writer, head, coding, previous);
    last_ += line("slot age level", slot, age, 0);
    if (refers) {
      write_residual(writer, now, last.state, dt_s, quantisation(slot));
      last_ += line("baseline", last.tick);
    } else {
      write_full(writer, now, quantisation(slot));
    }
    last_ += text_of_motion(now, quantisation(slot).orientation_bits != 0);
    if (!now.along.route) last = {tick - age, now};
  }

  static std::vector<std::byte> encoded_values(const std::vector<FieldValue>& values) {
    Bytes buffer(kMaxValuesBytes);
    BitWriter writer{buffer};
    write_values(writer, archetypes()[1].fields, values);
    const auto bytes = writer.finish();
    return {bytes.begin(), bytes.end()};
  }

  void write_spawns(BitWriter& writer, const std::vector<SpawnEntry>& entries) {
    SpawnsWriter section;
    for (const SpawnEntry& entry : entries) {
      EXPECT_TRUE(section.add(writer, entry, kMaxDatagramBytes * 8));
      last_ += text_of_entry(entry, archetypes());
    }
    section.finish(writer);
  }

  // Entries of all kinds, in an order that depends on the tick.
  void write_spawns(BitWriter& writer, Tick tick) {
    Spawn brief;
    brief.number = next_number_++;
    brief.entity = {1000 + tick % 5, static_cast<std::uint16_t>(tick)};
    const std::uint32_t like = tick % 2 == 0 ? kBodySlot : kCrateSlot;
    brief.archetype = kind_of(like);
    brief.level = static_cast<std::uint8_t>(tick % 3);
    brief.orientation_bits = static_cast<std::uint8_t>(quantisation(like).orientation_bits);
    brief.age = tick % 9;
    brief.state = quantise(spawned_.state(), 1, CodingMode{}, quantisation(like));
    Spawn::ShortLife& life = brief.short_lived.emplace();
    if (tick % 4 != 0) life.life = tick * 11;
    if (tick % 3 == 0) life.prediction = tick * 1'000'003;
    life.data.assign(tick % 7, std::byte{0xd7});
    if (like == kCrateSlot) brief.fields.assign(1, std::byte{0});
    Spawn long_lived = brief;  // in the next slot
    long_lived.number = next_number_++;
    long_lived.entity.index1 = brief.entity.index1 + 1;
    long_lived.short_lived.reset();
    long_lived.name = std::string(tick % 4, 'n');
    long_lived.values_follow = tick % 5 == 0;
    if (long_lived.values_follow) long_lived.fields.clear();
    Despawn unseen{next_number_++, {900, 7}, tick % 12, {}};
    if (tick % 3 != 0) unseen.after_messages = static_cast<std::uint16_t>(tick * 99);
    const Despawn earlier{unseen.number > 7 ? unseen.number - 7 : 1, {450, 1}, 3, {}};
    std::vector<SpawnEntry> entries{brief, long_lived, unseen, earlier, PredictionRefusal{tick}};
    std::rotate(entries.begin(), entries.begin() + tick % 5, entries.end());
    write_spawns(writer, entries);
  }

  void write_fields_and_messages(BitWriter& writer, Tick tick) {
    const auto kinds = archetypes();
    const std::vector<FieldValue> values{tick % 2 == 0, static_cast<std::int64_t>(tick % 101),
                                         real_at(heat(), tick % 401), label(tick % (kMaxBlobBytes + 1))};
    const std::array<Tick, 4> changed{tick - 1, tick - 5, tick - 1, tick - 5};
    const std::uint32_t mask = 1 + tick % 15;
    write_field_slot(writer, kCrateSlot, -1);
    write_changes(writer, kinds[1].fields, values, changed, mask, tick);
    writer.write(0, 1);
    last_ += line("fields of slot", kCrateSlot);
    // Changes of the same tick are grouped. The group with the first field goes first.
    for (std::uint32_t left = mask, group = 0; left != 0; left &= ~group) {
      group = left & ((left & -left & 0b0101u) != 0 ? 0b0101u : 0b1010u);
      for (std::uint32_t i = 0; i < 4; ++i) {
        if (((group >> i) & 1u) == 0) continue;
        last_ += line("field age", i, tick - changed[i]) + "value: " + text_of(values[i]) + "\n";
      }
    }
    const std::array<std::byte, 3> payload{std::byte{0xca}, std::byte{0xfe}, std::byte{0x01}};
    write_message(writer, payload, 17.5);
    write_message(writer, payload, std::nullopt);
    writer.write(0, 1);
    last_ += "time_s: 17.5\npayload: cafe01\ntime_s: -\npayload: cafe01\n";
  }

  test::RandomStates random_;
  test::RandomStates spawned_{31};
  WireStream stream_;
  std::vector<Quantisation> quantisation_;
  std::array<Sent, 2> sent_motions_{};
  Sent owned_;
  std::uint32_t next_number_ = 1;  // Spawn::number
  std::string last_;
};

}  // namespace reckoner::test
