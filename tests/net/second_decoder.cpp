// SPDX-License-Identifier: MIT
// Sections 4 and 5 of docs/WIRE.md, except 5.10, 5.13 and 5.14.
#include "second_decoder.hpp"

#include "second_text.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace second {
namespace {

// Returns the newest datagram.
std::int64_t ack(Bits& bits, DecodedFields& fields) {
  std::vector<std::int64_t> numbers{static_cast<std::int64_t>(bits.u(16))};
  const std::uint64_t words = bits.eg(0) + 1;
  bits.must(words <= 32);
  for (std::uint64_t i = 0; i < words && bits.good(); ++i) {
    const bool all = bits.flag();
    const auto word = static_cast<std::int64_t>(all ? 0xffffffff : bits.u(32));
    bits.must(all || word != 0xffffffff);
    numbers.push_back(word);
  }
  add_field(fields, "ack", list(numbers));
  return numbers[0];
}

template <std::size_t N>
void read_flags(Bits& bits, std::array<bool, N>& flags) {
  bool any = false;
  for (bool& flag : flags) {
    flag = bits.flag();
    any = any || flag;
  }
  bits.must(any);
}

template <std::size_t N>
void gains(Bits& bits, std::array<int, N>& out, std::vector<std::int64_t>& all) {
  for (int& gain : out) {
    gain = static_cast<int>(bits.range(-128, 127));
    all.push_back(gain);
  }
}

}  // namespace

void append_motion(const Motion& m, unsigned B, DecodedFields& fields) {
  if (m.frame != 0) add_field(fields, "frame", text(m.frame) + " " + text(m.generation));
  add_field(fields, "teleports", text(std::int64_t{m.teleports}));
  add_field(fields, "precision", text(std::int64_t{m.precision}));
  if (m.on_route) {
    add_field(fields, "along",
              list(std::array<std::int64_t, 4>{m.route, m.distance, m.speed, m.acceleration}));
    return;
  }
  add_field(fields, "reach prior wander twist bends steady",
            list(std::array<std::int64_t, 6>{m.reach, m.prior, m.wander, m.twist, m.bends ? 1 : 0,
                                             m.steady ? 1 : 0}));
  if (m.bends) add_field(fields, "link", text(std::int64_t{m.link}));
  if (m.steady) add_field(fields, "sudden", text(std::int64_t{m.sudden ? 1 : 0}));
  add_field(fields, "p", list(m.p));
  add_field(fields, "v", list(m.v));
  add_field(fields, "a", list(m.a));
  if (B == 0) return;
  add_field(fields, "largest", text(std::int64_t{m.largest}));
  add_field(fields, "o", list(m.o));
  add_field(fields, "w", list(m.w));
}

std::optional<DecodedFields> Decoder::message(std::span<const std::byte> payload) {
  Bits bits{payload};
  DecodedFields fields;
  const std::int64_t kind = bits.range(0, 15);
  if (kind == 2) {
    welcome(bits, fields);
  } else if (kind == 12) {
    add_field(fields, "number", text(static_cast<std::int64_t>(bits.u(32))));
  } else if (kind == 5) {
    route(bits, fields);
  } else if (kind == 6) {
    game(bits, fields);
  } else if (kind == 7) {
    ownership(bits, fields);
  } else if (kind == 10) {
    const bool interpolates = bits.flag();
    const bool shows_past = bits.flag();
    bits.must(interpolates || !shows_past);
    add_field(fields, "interpolates", text(std::int64_t{interpolates}));
    add_field(fields, "shows_past", text(std::int64_t{shows_past}));
    add_field(fields, "blend_s", text(bits.real(0, 600)));
    add_field(fields, "blend_curve", text(static_cast<std::int64_t>(bits.u(1))));
  } else if (kind == 11) {
    add_field(fields, "reason", hex(bits.bytes(255)));
  } else if (kind == 13) {
    add_field(fields, "after_spawns", bits.flag() ? text(static_cast<std::int64_t>(bits.u(32))) : "-");
    game(bits, fields);
  } else {
    return std::nullopt;
  }
  if (!bits.finished()) return std::nullopt;
  return fields;
}

// A session key.
void Decoder::key(Bits& bits, DecodedFields& fields) {
  const auto high = static_cast<std::int64_t>(bits.u(64));
  add_field(fields, "key", text(high) + " " + text(static_cast<std::int64_t>(bits.u(64))));
}

void Decoder::welcome(Bits& bits, DecodedFields& fields) {
  add_field(fields, "client", text(static_cast<std::int64_t>(bits.u(32))));
  key(bits, fields);
  tick_rate_hz_ = bits.real(1, 1000);
  add_field(fields, "tick_rate_hz", text(tick_rate_hz_));
  add_field(fields, "epoch_s", text(bits.real(-1e12, 1e12)));
  add_field(fields, "tick", text(static_cast<std::int64_t>(bits.u(32))));
  add_field(fields, "longest_gap_s", text(bits.real(0, 1e12)));
  add_field(fields, "rewinds", text(std::int64_t{bits.flag()}));
  const std::int64_t count = bits.range(0, 256);
  numbers_.clear();
  for (std::int64_t i = 0; i < count && bits.good(); ++i) {
    Numbers n;
    n.threshold_m = bits.real(1e-6, 1e12);
    n.threshold_rad = bits.real(1e-6, 1e12);
    n.max_speed_mps = bits.real(0, 1e12);
    n.world_size_m = bits.real(0, 1e12);
    add_field(fields, "archetype",
              list(std::array<double, 4>{n.threshold_m, n.threshold_rad, n.max_speed_mps, n.world_size_m}));
    std::vector<std::int64_t> rules;
    for (std::size_t k = 0; k < 15; ++k) {
      rules.push_back(n.offset[k] = static_cast<int>(bits.range(-64, 63)));
      rules.push_back(n.slope[k] = static_cast<int>(bits.range(0, 31)));
    }
    add_field(fields, "orders", list(rules));
    std::vector<std::int64_t> all;
    gains(bits, n.velocity, all);
    add_field(fields, "velocity", list(all));
    for (Numbers::Prior& prior : n.priors) {
      all.clear();
      gains(bits, prior.horizontal, all);
      gains(bits, prior.vertical, all);
      gains(bits, prior.tilt, all);
      gains(bits, prior.yaw, all);
      all.push_back(prior.pitch = static_cast<int>(bits.range(0, 15)));
      all.push_back(prior.other = static_cast<int>(bits.range(0, 15)));
      add_field(fields, "prior", list(all));
    }
    const auto index = static_cast<std::size_t>(i);
    n.derive(index < declared_.size() && declared_[index].has_orientation);
    numbers_.push_back(n);
  }
}

void Decoder::route(Bits& bits, DecodedFields& fields) {
  const auto number = [&] { return bits.real(-1e12, 1e12); };
  const auto numbers = [&](std::size_t count) {
    std::vector<double> values;
    for (std::size_t i = 0; i < count; ++i)
      values.push_back(number());
    return values;
  };
  add_field(fields, "id", text(bits.range(1, 4096)));
  const std::int64_t kind = bits.range(0, 3);
  add_field(fields, "kind", text(kind));
  add_field(fields, "wrap", text(bits.range(0, 2)));
  add_field(fields, "facing", text(bits.range(0, 2)));
  const std::int64_t count = bits.range(0, 4096);
  for (std::int64_t i = 0; i < count && bits.good(); ++i)
    add_field(fields, "point", list(numbers(kind == 1 ? 9 : 3)));
  if (kind == 1) add_field(fields, "closing_time", text(number()));
  if (kind == 0) {
    add_field(fields, "knots", text(bits.range(0, 2)));
    add_field(fields, "reflect_ends", text(std::int64_t{bits.flag()}));
  }
  if (kind == 2) {
    add_field(fields, "passes", text(bits.range(0, 15)));
    add_field(fields, "angle_limit", bits.flag() ? text(number()) : "-");
    add_field(fields, "outlier_limit", bits.flag() ? text(number()) : "-");
  }
  add_field(fields, "up", list(numbers(3)));
  add_field(fields, "orientation", list(numbers(4)));
  add_field(fields, "tolerance", text(number()));
}

void Decoder::game(Bits& bits, DecodedFields& fields) {
  add_field(fields, "time_s", bits.flag() ? text(bits.real(-1e12, 1e12)) : "-");
  const std::string payload = bits.data(16384);
  bits.must(!payload.empty());
  add_field(fields, "payload", hex(payload));
}

void Decoder::ownership(Bits& bits, DecodedFields& fields) {
  const std::int64_t index = bits.range(1, 1048576);
  add_field(fields, "index", text(index));
  add_field(fields, "generation", text(static_cast<std::int64_t>(bits.u(16))));
  const std::int64_t change = bits.range(0, 3);
  add_field(fields, "change", text(change));
  add_field(fields, "term", text(bits.range(0, 15)));
  add_field(fields, "viewers_s", text(bits.real(0, 10)));
  if (change != 1 && change != 2) return;
  add_field(fields, "motion_tick", text(static_cast<std::int64_t>(bits.u(32))));
  const auto B = static_cast<unsigned>(bits.range(0, 15));
  add_field(fields, "orientation_bits", text(std::int64_t{B}));
  append_motion(read_full(bits, B), B, fields);
}

std::string Decoder::value(Bits& bits, const Field& field) {
  switch (field.type) {
    case Field::Type::boolean:
      return text(std::int64_t{bits.flag()});
    case Field::Type::integer:
      return text(bits.range(field.least, field.most));
    case Field::Type::real: {
      const auto most = std::llround((field.real_most - field.real_least) / field.step);
      const auto index = static_cast<double>(bits.range(0, most));
      return text(std::min(field.real_least + index * field.step, field.real_most));
    }
    case Field::Type::blob:
      return hex(bits.bytes(static_cast<std::size_t>(field.most)));
  }
  return {};
}

std::optional<DecodedFields> Decoder::server_datagram(std::span<const std::byte> payload,
                                                      std::uint32_t near_tick) {
  Bits bits{payload};
  DecodedFields fields;
  add_field(fields, "sequence", text(static_cast<std::int64_t>(bits.u(16))));
  const auto low = static_cast<std::uint16_t>(bits.u(16));
  const auto tick = near_tick + static_cast<std::uint32_t>(
                                    static_cast<std::int16_t>(low - static_cast<std::uint16_t>(near_tick)));
  add_field(fields, "tick", text(std::int64_t{tick}));
  add_field(fields, "complete_age", text(static_cast<std::int64_t>(bits.eg(0))));
  if (bits.flag()) {
    (void)ack(bits, fields);
  }
  if (bits.flag()) {
    const auto stamp = static_cast<std::int64_t>(bits.u(24));
    add_field(fields, "echo", list(std::array<std::int64_t, 2>{stamp, bits.range(-4095, 4095)}));
  }
  const std::uint64_t count = bits.eg(1);
  add_field(fields, "update_count", text(static_cast<std::int64_t>(count)));
  std::array<unsigned, 3> coding{};
  if (count > 0) {
    coding[0] = static_cast<unsigned>(bits.range(0, 15));
    coding[1] = static_cast<unsigned>(bits.range(0, 7));
    coding[2] = static_cast<unsigned>(bits.eg(3));
  }
  std::array<bool, 6> has{};  // spawns, predictions, fields, messages, reliable, control
  if (bits.flag()) read_flags(bits, has);
  if (has[5]) control(bits, fields);
  std::int64_t slot = -1;
  for (std::uint64_t i = 0; i < count && bits.good(); ++i)
    update(bits, slot, tick, coding, fields);
  if (has[0]) spawns(bits, tick, fields);
  if (has[1]) predictions(bits, tick, fields);
  if (has[2]) field_changes(bits, fields);
  if (has[3]) messages(bits, fields);
  std::vector<Stream::Part> parts;
  if (has[4]) parts = reliable(bits, from_server_, fields);
  if (!bits.finished()) return std::nullopt;
  take_messages(from_server_, parts, fields);
  return fields;
}

void Decoder::control(Bits& bits, DecodedFields& fields) {
  const bool has_answer = bits.flag();
  if (has_answer) {
    const bool resumed = bits.flag();
    add_field(fields, "resumed", text(std::int64_t{resumed}));
    if (resumed) {
      add_field(fields, "received", text(static_cast<std::int64_t>(bits.u(32))));
      add_field(fields, "processed", text(static_cast<std::int64_t>(bits.u(32))));
      add_field(fields, "last_tick", text(static_cast<std::int64_t>(bits.u(32))));
    }
  }
  const bool has_processed = bits.flag();
  if (has_processed) add_field(fields, "processed", text(static_cast<std::int64_t>(bits.u(16))));
  bits.must(has_answer || has_processed);
}

void Decoder::update(Bits& bits, std::int64_t& slot, std::uint32_t tick,
                     const std::array<unsigned, 3>& coding, DecodedFields& fields) {
  slot += 1 + static_cast<std::int64_t>(bits.eg(coding[0]));
  const auto age = static_cast<std::uint32_t>(bits.eg(0));
  int level = 0;
  while (level < 2 && bits.flag())
    ++level;
  const bool refers = bits.flag();
  std::uint64_t back = 0;
  if (refers) back = coding[2] + bits.eg(coding[1]);
  bits.must(slot < 1048576 && entities_.count(slot) == 1 && back <= tick && (!refers || back > age));
  if (!bits.good()) return;
  add_field(fields, "slot age level", list(std::array<std::int64_t, 3>{slot, age, level}));
  Entity& entity = entities_[slot];
  const Numbers& numbers = numbers_[entity.archetype];
  const std::uint32_t motion_tick = tick - age;
  Motion motion;
  if (refers) {
    const auto base_tick = static_cast<std::uint32_t>(tick - back);
    add_field(fields, "baseline", text(std::int64_t{base_tick}));
    const auto base = entity.motions.find({level, base_tick});
    bits.must(base != entity.motions.end() && !base->second.on_route);
    if (!bits.good()) return;
    motion = read_residual(bits, base->second, (motion_tick - base_tick) / tick_rate_hz_, numbers);
  } else {
    motion = read_full(bits, numbers.B);
  }
  append_motion(motion, numbers.B, fields);
  entity.motions[{level, motion_tick}] = motion;
}

void Decoder::field_changes(Bits& bits, DecodedFields& fields) {
  std::int64_t slot = -1;
  while (bits.flag()) {
    slot += 1 + static_cast<std::int64_t>(bits.eg(2));
    bits.must(slot < 1048576 && entities_.count(slot) == 1);
    if (!bits.good()) return;
    add_field(fields, "fields of slot", text(slot));
    const std::vector<Field>& declared = declared_[entities_[slot].archetype].fields;
    const std::size_t count = declared.size();
    bits.must(count > 0);
    std::uint64_t seen = 0;
    for (bool more = true; more && bits.good();) {
      const auto age = static_cast<std::int64_t>(bits.eg(0));
      std::uint64_t set = 1;
      if (count > 1) {
        if (bits.flag()) {
          set = std::uint64_t{1} << bits.range(0, static_cast<std::int64_t>(count) - 1);
        } else {
          set = bits.u(static_cast<unsigned>(count));
          bits.must((set & (set - 1)) != 0);
        }
      }
      bits.must((set & seen) == 0);
      seen |= set;
      for (std::size_t i = 0; i < count && bits.good(); ++i) {
        if (((set >> i) & 1) == 0) continue;
        add_field(fields, "field age", list(std::array<std::int64_t, 2>{static_cast<std::int64_t>(i), age}));
        add_field(fields, "value", value(bits, declared[i]));
      }
      more = count > 1 && bits.flag();
    }
  }
}

// Every spawn and every despawn settles its number.
void Decoder::note_number(Bits& bits, std::int64_t number) {
  bits.must(number >= 1 && number <= 0xffffffff && number < lowest_ + 8192);
  if (!bits.good() || number < lowest_) return;
  settled_.insert(number);
  for (; settled_.erase(lowest_) == 1; ++lowest_) {
  }
}

// Returns the slot and the generation.
std::pair<std::int64_t, std::int64_t> Decoder::entity(Bits& bits, Section& section, DecodedFields& fields) {
  section.slot = bits.flag() ? section.slot + 1 : bits.range(1, 1048576) - 1;
  bits.must(section.slot < 1048576);
  add_field(fields, "index", text(section.slot + 1));
  const auto generation = static_cast<std::int64_t>(bits.eg(4));
  bits.must(generation <= 65535);
  add_field(fields, "generation", text(generation));
  return {section.slot, generation};
}

void Decoder::spawn(Bits& bits, std::uint32_t tick, Section& section, DecodedFields& fields) {
  std::int64_t number = 0;
  if (section.spawn != 0) {
    number = section.spawn + 1 + unfold(bits.eg(0));
  } else {
    // Of all numbers with these bits, the nearest one.
    const auto low = static_cast<std::int64_t>(bits.u(16));
    number = low;
    while (number + 32768 <= section.lowest)
      number += 65536;
    if (number - 32768 > section.lowest) number -= 65536;
  }
  add_field(fields, "spawn", text(number));
  note_number(bits, number);
  section.spawn = number;
  const auto [slot, generation] = entity(bits, section, fields);
  const auto archetype = static_cast<std::size_t>(bits.u(8));
  add_field(fields, "archetype", text(static_cast<std::int64_t>(archetype)));
  const auto level = static_cast<int>(bits.range(0, 2));
  add_field(fields, "level", text(std::int64_t{level}));
  const auto B = static_cast<unsigned>(bits.range(0, 15));
  add_field(fields, "orientation_bits", text(std::int64_t{B}));
  bits.must(archetype < numbers_.size() && archetype < declared_.size() && B == numbers_[archetype].B);
  const auto age = static_cast<std::int64_t>(bits.eg(2));
  add_field(fields, "age", text(age));
  const Motion motion = read_full(bits, B);
  append_motion(motion, B, fields);
  const bool short_lived = bits.flag();
  add_field(fields, "short_lived", text(std::int64_t{short_lived}));
  if (short_lived) {
    add_field(fields, "life", bits.flag() ? text(static_cast<std::int64_t>(bits.eg(9))) : "-");
    add_field(fields, "prediction", bits.flag() ? text(static_cast<std::int64_t>(bits.u(32))) : "-");
    add_field(fields, "data", hex(bits.data(256)));
  } else {
    add_field(fields, "name", hex(bits.bytes(64)));
  }
  const bool values_follow = bits.flag();
  add_field(fields, "values_follow", text(std::int64_t{values_follow}));
  if (!bits.good()) return;
  if (!values_follow) {
    const std::string values = bits.data(480);
    add_field(fields, "fields", hex(values));
    if (!bits.good()) return;
    Bits inner{std::as_bytes(std::span{values})};
    for (const Field& field : declared_[archetype].fields)
      add_field(fields, "value", inner.flag() ? value(inner, field) : field.initial);
    bits.must(inner.finished());
  }
  const auto ended = ended_.find(slot);
  if (ended != ended_.end() && number <= ended->second) return;
  const auto known = entities_.find(slot);
  if (known != entities_.end() && number < known->second.spawn) return;
  if (known == entities_.end() || number > known->second.spawn)
    entities_[slot] = {archetype, generation, number, {}, {}};
  Entity& updated = entities_[slot];
  if (updated.archetype != archetype || updated.generation != generation) return;
  updated.motions[{level, static_cast<std::uint32_t>(tick - age)}] = motion;
}

void Decoder::despawn(Bits& bits, Section& section, DecodedFields& fields) {
  const std::int64_t number = section.despawn == 0 ? static_cast<std::int64_t>(bits.eg(12))
                                                   : section.despawn + 1 + unfold(bits.eg(4));
  add_field(fields, "despawn", text(number));
  note_number(bits, number);
  section.despawn = number;
  const std::int64_t slot = entity(bits, section, fields).first;
  add_field(fields, "age", text(static_cast<std::int64_t>(bits.eg(2))));
  add_field(fields, "after_messages", bits.flag() ? text(static_cast<std::int64_t>(bits.u(16))) : "-");
  if (bits.good()) ended_[slot] = std::max(ended_[slot], number);
}

void Decoder::spawns(Bits& bits, std::uint32_t tick, DecodedFields& fields) {
  Section section;
  section.lowest = lowest_;
  int count = 0;
  for (; bits.flag() && bits.good(); ++count) {
    const std::int64_t kind = bits.range(0, 2);
    if (kind == 0) {
      spawn(bits, tick, section, fields);
    } else if (kind == 1) {
      despawn(bits, section, fields);
    } else {
      add_field(fields, "refused prediction", text(static_cast<std::int64_t>(bits.u(32))));
    }
  }
  bits.must(count > 0);
}

void Decoder::messages(Bits& bits, DecodedFields& fields) {
  while (bits.flag()) {
    add_field(fields, "time_s", bits.flag() ? text(bits.real(-1e12, 1e12)) : "-");
    const auto size = static_cast<std::size_t>(bits.u(10)) + 1;
    bits.must(size <= 1000);
    std::string payload;
    for (std::size_t i = 0; i < size && bits.good(); ++i)
      payload.push_back(static_cast<char>(bits.u(8)));
    if (!bits.good()) return;
    add_field(fields, "payload", hex(payload));
  }
}

std::vector<Stream::Part> Decoder::reliable(Bits& bits, const Stream& stream, DecodedFields& fields) {
  std::vector<Stream::Part> parts;
  std::int64_t end = 0;
  while (bits.flag() && bits.good()) {
    Stream::Part part;
    part.offset = parts.empty() ? stream.whole_offset(static_cast<std::int64_t>(bits.u(24)))
                                : end + static_cast<std::int64_t>(bits.eg(6));
    const std::uint64_t size = bits.eg(6) + 1;
    bits.must(size <= 1400);
    if (bits.flag()) part.unordered = static_cast<std::int64_t>(bits.eg(0));
    bits.must(!part.unordered || *part.unordered < static_cast<std::int64_t>(size));
    for (std::uint64_t i = 0; i < size && bits.good(); ++i)
      part.bytes.push_back(static_cast<char>(bits.u(8)));
    if (!bits.good()) return {};
    end = part.offset + static_cast<std::int64_t>(size);
    add_field(fields, "part", text(part.offset));
    if (part.unordered) add_field(fields, "unordered", text(*part.unordered));
    add_field(fields, "bytes", hex(part.bytes));
    parts.push_back(part);
  }
  bits.must(!parts.empty() && stream.may_add(parts));
  return parts;
}

void Decoder::take_messages(Stream& stream, const std::vector<Stream::Part>& parts, DecodedFields& fields) {
  stream.add(parts);
  while (const auto message = stream.next())
    add_field(fields, "message", hex(*message));
  while (const auto message = stream.next_early())
    add_field(fields, "early", hex(*message));
}

void Decoder::showing(Bits& bits, std::optional<std::int64_t> newest, DecodedFields& fields) {
  add_field(fields, "clock", text(static_cast<std::int64_t>(bits.u(16))));
  const std::uint64_t delay = bits.eg(8);
  bits.must(delay <= 100'000);
  add_field(fields, "delay", text(static_cast<std::int64_t>(delay)));
  add_field(fields, "era", text(bits.range(0, 3)));
  if (!newest) return;
  const std::uint64_t count = bits.eg(2);
  bits.must(count <= 24);
  std::int64_t next = *newest;
  std::uint64_t ago = 0;
  for (std::uint64_t i = 0; i < count && bits.good(); ++i) {
    const auto folded = static_cast<std::int64_t>(bits.eg(0));
    bits.must(folded <= 65535);
    const std::int64_t sequence = next - (folded % 2 == 0 ? folded / 2 : -(folded / 2) - 1);
    ago += bits.eg(8);
    bits.must(ago <= 0xffffffffu);
    add_field(fields, "arrival",
              list(std::array<std::int64_t, 2>{sequence & 0xffff, static_cast<std::int64_t>(ago)}));
    next = sequence - 1;
  }
}

void Decoder::owned(Bits& bits, std::uint32_t near_tick, DecodedFields& fields) {
  std::int64_t slot = -1;
  while (bits.flag()) {
    slot += 1 + static_cast<std::int64_t>(bits.eg(2));
    const std::int64_t term = bits.range(0, 15);
    const auto low = static_cast<std::uint16_t>(bits.u(16));
    const auto tick = near_tick + static_cast<std::uint32_t>(
                                      static_cast<std::int16_t>(low - static_cast<std::uint16_t>(near_tick)));
    const bool refers = bits.flag();
    const std::uint64_t back = refers ? bits.eg(4) + 1 : 0;
    bits.must(slot < 1048576 && entities_.count(slot) == 1);
    if (!bits.good()) return;
    add_field(fields, "slot term tick", list(std::array<std::int64_t, 3>{slot, term, tick}));
    Entity& entity = entities_[slot];
    const Numbers& numbers = numbers_[entity.archetype];
    Motion motion;
    if (refers) {
      const auto base_tick = static_cast<std::uint32_t>(tick - back);
      add_field(fields, "baseline", text(std::int64_t{base_tick}));
      const auto base = entity.owned.find(base_tick);
      bits.must(base != entity.owned.end());
      if (!bits.good()) return;
      motion = read_residual(bits, base->second, static_cast<double>(back) / tick_rate_hz_, numbers);
    } else {
      motion = read_full(bits, numbers.B);
    }
    bits.must(!motion.on_route);
    append_motion(motion, numbers.B, fields);
    entity.owned[tick] = motion;
  }
}

void Decoder::join(Bits& bits, DecodedFields& fields) {
  bits.must(bits.u(32) == 0x524b4e52);
  const auto version = static_cast<std::int64_t>(bits.u(16));
  add_field(fields, "version", text(version));
  if (version != 15) return bits.skip_rest();
  add_field(fields, "archetype_hash", text(static_cast<std::int64_t>(bits.u(32))));
  add_field(fields, "shows_past", text(std::int64_t{bits.flag()}));
  add_field(fields, "blend_s", text(bits.real(0, 600)));
  add_field(fields, "blend_curve", text(static_cast<std::int64_t>(bits.u(1))));
  if (!bits.flag()) return;
  add_field(fields, "client", text(static_cast<std::int64_t>(bits.u(32))));
  key(bits, fields);
  add_field(fields, "received", text(static_cast<std::int64_t>(bits.u(32))));
}

std::optional<DecodedFields> Decoder::client_datagram(std::span<const std::byte> payload,
                                                      std::uint32_t near_tick) {
  Bits bits{payload};
  DecodedFields fields;
  add_field(fields, "sequence", text(static_cast<std::int64_t>(bits.u(16))));
  add_field(fields, "processed", text(static_cast<std::int64_t>(bits.u(16))));
  add_field(fields, "stamp", text(static_cast<std::int64_t>(bits.u(24))));
  std::optional<std::int64_t> newest;
  if (bits.flag()) {
    newest = ack(bits, fields);
    add_field(fields, "ack_delay", text(static_cast<std::int64_t>(bits.eg(8))));
  }
  if (bits.flag()) showing(bits, newest, fields);
  const bool has_owned = bits.flag();
  bool has_messages = false, has_reliable = false, joins = false, has_inputs = false;
  if (bits.flag()) {
    has_messages = bits.flag();
    has_reliable = bits.flag();
    joins = bits.flag();
    if (!joins) has_inputs = bits.flag();
    bits.must(has_messages || has_reliable || joins || has_inputs);
  }
  if (joins) {
    bits.must(!has_owned && !has_messages && !has_reliable);
    join(bits, fields);
  }
  if (has_owned) owned(bits, near_tick, fields);
  Inputs arrived;
  if (has_inputs) arrived = inputs(bits, near_tick, fields);
  if (has_messages) messages(bits, fields);
  std::vector<Stream::Part> parts;
  if (has_reliable) parts = reliable(bits, from_client_, fields);
  if (!bits.finished()) return std::nullopt;
  inputs_.merge(arrived);  // the first input for a tick counts
  take_messages(from_client_, parts, fields);
  return fields;
}

}  // namespace second
