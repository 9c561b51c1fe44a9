// SPDX-License-Identifier: MIT
// Sections 4 and 5 of docs/WIRE.md.
#include "second_decoder.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>

namespace second {
namespace {

void say(Told& told, std::string name, std::string value) {
  told.push_back({std::move(name), std::move(value)});
}

std::string text(std::int64_t n) {
  return std::to_string(n);
}
std::string text(double x) {
  char buffer[40];
  std::snprintf(buffer, sizeof buffer, "%.17g", x);
  return buffer;
}
std::string hex(const std::string& bytes) {
  std::string out;
  for (const char c : bytes) {
    char buffer[4];
    std::snprintf(buffer, sizeof buffer, "%02x", static_cast<unsigned char>(c));
    out += buffer;
  }
  return out.empty() ? "-" : out;
}
template <class T>
std::string list(const T& values) {
  std::string out;
  for (const auto& v : values)
    out += (out.empty() ? "" : " ") + text(v);
  return out;
}

template <std::size_t N>
void gains(Bits& bits, std::array<int, N>& out, std::vector<std::int64_t>& all) {
  for (int& gain : out) {
    gain = static_cast<int>(bits.range(-128, 127));
    all.push_back(gain);
  }
}

}  // namespace

void tell(const Motion& m, unsigned B, Told& told) {
  if (m.frame != 0) say(told, "frame", text(m.frame) + " " + text(m.generation));
  say(told, "teleports", text(std::int64_t{m.teleports}));
  say(told, "precision", text(std::int64_t{m.precision}));
  if (m.on_route) {
    say(told, "along", list(std::array<std::int64_t, 4>{m.route, m.distance, m.speed, m.acceleration}));
    return;
  }
  say(told, "reach prior wander twist bends",
      list(std::array<std::int64_t, 5>{m.reach, m.prior, m.wander, m.twist, m.bends ? 1 : 0}));
  if (m.bends) say(told, "link", text(std::int64_t{m.link}));
  say(told, "p", list(m.p));
  say(told, "v", list(m.v));
  say(told, "a", list(m.a));
  if (B == 0) return;
  say(told, "largest", text(std::int64_t{m.largest}));
  say(told, "o", list(m.o));
  say(told, "w", list(m.w));
}

std::optional<Told> Decoder::control(std::span<const std::byte> payload) {
  Bits bits{payload};
  Told told;
  const std::int64_t kind = bits.range(0, 15);
  if (kind == 1) {
    bits.must(bits.u(32) == 0x524b4e52);
    const auto version = static_cast<std::int64_t>(bits.u(16));
    say(told, "version", text(version));
    if (version != 7) {
      if (!bits.good()) return std::nullopt;
      return told;
    }
    say(told, "archetype_hash", text(static_cast<std::int64_t>(bits.u(32))));
    say(told, "shows_past", text(std::int64_t{bits.flag()}));
    say(told, "blend_s", text(bits.real(0, 600)));
  } else if (kind == 2) {
    welcome(bits, told);
  } else if (kind == 3) {
    spawn(bits, told);
  } else if (kind == 4) {
    const std::int64_t index = bits.range(1, 1048576);
    say(told, "index", text(index));
    say(told, "generation", text(static_cast<std::int64_t>(bits.u(16))));
    say(told, "tick", text(static_cast<std::int64_t>(bits.u(32))));
  } else if (kind == 5) {
    route(bits, told);
  } else if (kind == 6) {
    game(bits, told);
  } else if (kind == 7) {
    ownership(bits, told);
  } else if (kind == 8 || kind == 9) {
    if (kind == 9) say(told, "client", text(static_cast<std::int64_t>(bits.u(32))));
    const auto high = static_cast<std::int64_t>(bits.u(64));
    say(told, "key", text(high) + " " + text(static_cast<std::int64_t>(bits.u(64))));
    say(told, "taken", text(static_cast<std::int64_t>(bits.u(32))));
    if (kind == 8) say(told, "tick", text(static_cast<std::int64_t>(bits.u(32))));
  } else if (kind == 10) {
    const bool interpolates = bits.flag();
    const bool shows_past = bits.flag();
    bits.must(interpolates || !shows_past);
    say(told, "interpolates", text(std::int64_t{interpolates}));
    say(told, "shows_past", text(std::int64_t{shows_past}));
    say(told, "blend_s", text(bits.real(0, 600)));
  } else {
    return std::nullopt;
  }
  if (!bits.finished()) return std::nullopt;
  return told;
}

void Decoder::welcome(Bits& bits, Told& told) {
  say(told, "client", text(static_cast<std::int64_t>(bits.u(32))));
  tick_rate_hz_ = bits.real(1, 1000);
  say(told, "tick_rate_hz", text(tick_rate_hz_));
  say(told, "epoch_s", text(bits.real(-1e12, 1e12)));
  say(told, "tick", text(static_cast<std::int64_t>(bits.u(32))));
  say(told, "longest_gap_s", text(bits.real(0, 1e12)));
  say(told, "rewinds", text(std::int64_t{bits.flag()}));
  const std::int64_t count = bits.range(0, 256);
  numbers_.clear();
  for (std::int64_t i = 0; i < count && bits.good(); ++i) {
    Numbers n;
    n.threshold_m = bits.real(1e-6, 1e12);
    n.threshold_rad = bits.real(1e-6, 1e12);
    n.max_speed_mps = bits.real(0, 1e12);
    n.world_size_m = bits.real(0, 1e12);
    say(told, "archetype",
        list(std::array<double, 4>{n.threshold_m, n.threshold_rad, n.max_speed_mps, n.world_size_m}));
    std::vector<std::int64_t> rules;
    for (std::size_t k = 0; k < 15; ++k) {
      rules.push_back(n.offset[k] = static_cast<int>(bits.range(-64, 63)));
      rules.push_back(n.slope[k] = static_cast<int>(bits.range(0, 31)));
    }
    say(told, "orders", list(rules));
    std::vector<std::int64_t> all;
    gains(bits, n.velocity, all);
    say(told, "velocity", list(all));
    for (Numbers::Prior& prior : n.priors) {
      all.clear();
      gains(bits, prior.horizontal, all);
      gains(bits, prior.vertical, all);
      gains(bits, prior.tilt, all);
      gains(bits, prior.yaw, all);
      all.push_back(prior.pitch = static_cast<int>(bits.range(0, 15)));
      all.push_back(prior.other = static_cast<int>(bits.range(0, 15)));
      say(told, "prior", list(all));
    }
    const auto index = static_cast<std::size_t>(i);
    n.derive(index < declared_.size() && declared_[index].has_orientation);
    numbers_.push_back(n);
  }
}

void Decoder::spawn(Bits& bits, Told& told) {
  const std::int64_t index = bits.range(1, 1048576);
  say(told, "index", text(index));
  say(told, "generation", text(static_cast<std::int64_t>(bits.u(16))));
  const auto archetype = static_cast<std::size_t>(bits.u(8));
  say(told, "archetype", text(static_cast<std::int64_t>(archetype)));
  say(told, "name", hex(bits.bytes(64)));
  say(told, "tick", text(static_cast<std::int64_t>(bits.u(32))));
  const auto motion_tick = static_cast<std::uint32_t>(bits.u(32));
  say(told, "motion_tick", text(std::int64_t{motion_tick}));
  const auto level = static_cast<int>(bits.range(0, 2));
  say(told, "level", text(std::int64_t{level}));
  const auto B = static_cast<unsigned>(bits.range(0, 15));
  say(told, "orientation_bits", text(std::int64_t{B}));
  const Motion motion = read_full(bits, B);
  tell(motion, B, told);
  const std::string values = bits.data(2112);
  say(told, "fields", hex(values));
  if (!bits.good() || archetype >= declared_.size()) return;
  entities_[index - 1] = {archetype, {}};
  entities_[index - 1].motions[{level, motion_tick}] = motion;
  if (declared_[archetype].fields.empty()) return;
  Bits inner{std::as_bytes(std::span{values})};
  for (const Field& field : declared_[archetype].fields)
    say(told, "value", inner.flag() ? value(inner, field) : field.initial);
  bits.must(inner.finished());
}

void Decoder::route(Bits& bits, Told& told) {
  const auto number = [&] { return bits.real(-1e12, 1e12); };
  const auto numbers = [&](std::size_t count) {
    std::vector<double> values;
    for (std::size_t i = 0; i < count; ++i)
      values.push_back(number());
    return values;
  };
  say(told, "id", text(bits.range(1, 4096)));
  const std::int64_t kind = bits.range(0, 3);
  say(told, "kind", text(kind));
  say(told, "wrap", text(bits.range(0, 2)));
  say(told, "facing", text(bits.range(0, 2)));
  const std::int64_t count = bits.range(0, 4096);
  for (std::int64_t i = 0; i < count && bits.good(); ++i)
    say(told, "point", list(numbers(kind == 1 ? 9 : 3)));
  if (kind == 1) say(told, "closing_time", text(number()));
  if (kind == 0) {
    say(told, "knots", text(bits.range(0, 2)));
    say(told, "reflect_ends", text(std::int64_t{bits.flag()}));
  }
  if (kind == 2) {
    say(told, "passes", text(bits.range(0, 15)));
    say(told, "angle_limit", bits.flag() ? text(number()) : "-");
    say(told, "outlier_limit", bits.flag() ? text(number()) : "-");
  }
  say(told, "up", list(numbers(3)));
  say(told, "orientation", list(numbers(4)));
  say(told, "tolerance", text(number()));
}

void Decoder::game(Bits& bits, Told& told) {
  say(told, "time_s", bits.flag() ? text(bits.real(-1e12, 1e12)) : "-");
  const std::string payload = bits.data(16384);
  bits.must(!payload.empty());
  say(told, "payload", hex(payload));
}

void Decoder::ownership(Bits& bits, Told& told) {
  const std::int64_t index = bits.range(1, 1048576);
  say(told, "index", text(index));
  say(told, "generation", text(static_cast<std::int64_t>(bits.u(16))));
  const std::int64_t news = bits.range(0, 3);
  say(told, "news", text(news));
  say(told, "term", text(bits.range(0, 15)));
  say(told, "viewers_s", text(bits.real(0, 10)));
  if (news != 1 && news != 2) return;
  say(told, "motion_tick", text(static_cast<std::int64_t>(bits.u(32))));
  const auto B = static_cast<unsigned>(bits.range(0, 15));
  say(told, "orientation_bits", text(std::int64_t{B}));
  tell(read_full(bits, B), B, told);
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

std::optional<Told> Decoder::server_datagram(std::span<const std::byte> payload, std::uint32_t near_tick) {
  Bits bits{payload};
  Told told;
  say(told, "sequence", text(static_cast<std::int64_t>(bits.u(16))));
  const auto low = static_cast<std::uint16_t>(bits.u(16));
  const auto tick = near_tick + static_cast<std::uint32_t>(
                                    static_cast<std::int16_t>(low - static_cast<std::uint16_t>(near_tick)));
  say(told, "tick", text(std::int64_t{tick}));
  say(told, "complete_age", text(static_cast<std::int64_t>(bits.eg(0))));
  if (bits.flag()) {
    const auto newest = static_cast<std::int64_t>(bits.u(16));
    say(told, "ack", list(std::array<std::int64_t, 2>{newest, static_cast<std::int64_t>(bits.u(32))}));
  }
  if (bits.flag()) {
    const auto stamp = static_cast<std::int64_t>(bits.u(24));
    say(told, "echo", list(std::array<std::int64_t, 2>{stamp, bits.range(-4095, 4095)}));
  }
  const std::uint64_t count = bits.eg(1);
  say(told, "update_count", text(static_cast<std::int64_t>(count)));
  std::array<unsigned, 3> coding{};
  if (count > 0) {
    coding[0] = static_cast<unsigned>(bits.range(0, 15));
    coding[1] = static_cast<unsigned>(bits.range(0, 7));
    coding[2] = static_cast<unsigned>(bits.eg(3));
  }
  const bool has_fields = bits.flag();
  const bool has_messages = bits.flag();
  std::int64_t slot = -1;
  for (std::uint64_t i = 0; i < count && bits.good(); ++i)
    update(bits, slot, tick, coding, told);
  if (has_fields) fields(bits, told);
  if (has_messages) messages(bits, told);
  if (!bits.finished()) return std::nullopt;
  return told;
}

void Decoder::update(Bits& bits, std::int64_t& slot, std::uint32_t tick,
                     const std::array<unsigned, 3>& coding, Told& told) {
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
  say(told, "slot age level", list(std::array<std::int64_t, 3>{slot, age, level}));
  Entity& entity = entities_[slot];
  const Numbers& numbers = numbers_[entity.archetype];
  const std::uint32_t motion_tick = tick - age;
  Motion motion;
  if (refers) {
    const auto base_tick = static_cast<std::uint32_t>(tick - back);
    say(told, "baseline", text(std::int64_t{base_tick}));
    const auto base = entity.motions.find({level, base_tick});
    bits.must(base != entity.motions.end() && !base->second.on_route);
    if (!bits.good()) return;
    motion = read_residual(bits, base->second, (motion_tick - base_tick) / tick_rate_hz_, numbers);
  } else {
    motion = read_full(bits, numbers.B);
  }
  tell(motion, numbers.B, told);
  entity.motions[{level, motion_tick}] = motion;
}

void Decoder::fields(Bits& bits, Told& told) {
  std::int64_t slot = -1;
  while (bits.flag()) {
    slot += 1 + static_cast<std::int64_t>(bits.eg(2));
    bits.must(slot < 1048576 && entities_.count(slot) == 1);
    if (!bits.good()) return;
    say(told, "fields of slot", text(slot));
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
        say(told, "field age", list(std::array<std::int64_t, 2>{static_cast<std::int64_t>(i), age}));
        say(told, "value", value(bits, declared[i]));
      }
      more = count > 1 && bits.flag();
    }
  }
}

void Decoder::messages(Bits& bits, Told& told) {
  while (bits.flag()) {
    say(told, "time_s", bits.flag() ? text(bits.real(-1e12, 1e12)) : "-");
    const auto size = static_cast<std::size_t>(bits.u(10)) + 1;
    bits.must(size <= 1000);
    std::string payload;
    for (std::size_t i = 0; i < size && bits.good(); ++i)
      payload.push_back(static_cast<char>(bits.u(8)));
    if (!bits.good()) return;
    say(told, "payload", hex(payload));
  }
}

void Decoder::showing(Bits& bits, std::optional<std::int64_t> newest, Told& told) {
  say(told, "clock", text(static_cast<std::int64_t>(bits.u(16))));
  const std::uint64_t delay = bits.eg(8);
  bits.must(delay <= 100'000);
  say(told, "delay", text(static_cast<std::int64_t>(delay)));
  say(told, "era", text(bits.range(0, 3)));
  if (!newest) return;
  const std::uint64_t count = bits.eg(2);
  bits.must(count <= 24);
  std::int64_t next = *newest;
  std::uint64_t ago = 0;
  for (std::uint64_t i = 0; i < count && bits.good(); ++i) {
    const auto folded = static_cast<std::int64_t>(bits.eg(0));
    bits.must(folded <= 65535);
    const std::int64_t sequence = next - (folded % 2 == 0 ? folded / 2 : -(folded / 2) - 1);
    ago += bits.eg(6);
    bits.must(ago <= 0xffffffffu);
    say(told, "arrival",
        list(std::array<std::int64_t, 2>{sequence & 0xffff, static_cast<std::int64_t>(ago)}));
    next = sequence - 1;
  }
}

void Decoder::owned(Bits& bits, std::uint32_t near_tick, Told& told) {
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
    say(told, "slot term tick", list(std::array<std::int64_t, 3>{slot, term, tick}));
    Entity& entity = entities_[slot];
    const Numbers& numbers = numbers_[entity.archetype];
    Motion motion;
    if (refers) {
      const auto base_tick = static_cast<std::uint32_t>(tick - back);
      say(told, "baseline", text(std::int64_t{base_tick}));
      const auto base = entity.owned.find(base_tick);
      bits.must(base != entity.owned.end());
      if (!bits.good()) return;
      motion = read_residual(bits, base->second, static_cast<double>(back) / tick_rate_hz_, numbers);
    } else {
      motion = read_full(bits, numbers.B);
    }
    bits.must(!motion.on_route);
    tell(motion, numbers.B, told);
    entity.owned[tick] = motion;
  }
}

std::optional<Told> Decoder::client_datagram(std::span<const std::byte> payload, std::uint32_t near_tick) {
  Bits bits{payload};
  Told told;
  say(told, "sequence", text(static_cast<std::int64_t>(bits.u(16))));
  say(told, "control_count", text(static_cast<std::int64_t>(bits.u(16))));
  say(told, "stamp", text(static_cast<std::int64_t>(bits.u(24))));
  std::optional<std::int64_t> newest;
  if (bits.flag()) {
    newest = static_cast<std::int64_t>(bits.u(16));
    say(told, "ack", list(std::array<std::int64_t, 2>{*newest, static_cast<std::int64_t>(bits.u(32))}));
    say(told, "ack_delay", text(static_cast<std::int64_t>(bits.eg(8))));
  }
  if (bits.flag()) showing(bits, newest, told);
  const bool has_owned = bits.flag();
  const bool has_messages = bits.flag();
  if (has_owned) owned(bits, near_tick, told);
  if (has_messages) messages(bits, told);
  if (!bits.finished()) return std::nullopt;
  return told;
}

}  // namespace second
