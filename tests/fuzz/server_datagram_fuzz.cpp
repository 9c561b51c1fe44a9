// SPDX-License-Identifier: MIT
// The server's state datagram: header, answers to requests to join, full and residual updates, spawns and
// despawns, reports about inputs, corrections, fields, messages, parts of the stream of reliable messages.
// Both the readers of the wire format and the client's decode(), which also judges whether the contents can
// be applied.
#include "client/src/connection/decode.hpp"
#include "generate.hpp"
#include "net/src/codec/field_codec.hpp"
#include "net/src/codec/route_codec.hpp"
#include "net/src/messages/correction.hpp"
#include "net/src/messages/messages.hpp"
#include "net/src/messages/spawns.hpp"
#include "target.hpp"

#include <array>
#include <map>

namespace reckoner::fuzz {
namespace {

constexpr double kTickRateHz = 60.0;
constexpr std::uint32_t kSlots = 6;              // slots with an entity; they use the archetypes in turn
constexpr std::uint32_t kNewestSpawn = 100'000;  // numbers of spawns need more than their 16 bits on the wire
constexpr std::uint64_t kNewestByte = 50'000'000;  // offsets in the stream need more than their 24 bits
constexpr Tick kTick = 1u << 20;                   // the upper bits of all ticks

struct Update {
  UpdateHeader head;
  QuantisedState state;
};
struct Fields {
  std::uint32_t slot = 0;
  std::vector<FieldChange> changes;
};
struct Datagram {
  ServerHeader header;
  std::vector<Update> updates;
  std::vector<SpawnEntry> spawns;
  PredictionReport predictions;
  std::vector<Fields> fields;
  MessageBatch messages;
  std::vector<ReliablePart> reliable;

  [[nodiscard]] Tick tick() const { return kTick | header.tick; }
};

struct Known {
  const std::vector<Archetype>& kinds = archetypes();
  const std::vector<Quantisation>& quantisation = quantisations();
  std::array<QuantisedState, kSlots> baselines;  // used for any referenced tick

  Known() {
    for (std::uint32_t slot = 0; slot < kSlots; ++slot) {
      State s;
      s.position = {3.0 + slot, -4.5 * slot, 0.25};
      s.velocity = {1.5f, -0.5f * static_cast<float>(slot), 0.0f};
      s.acceleration = {0.0f, 0.3f, 0.0f};
      s.angular_velocity = {0.0f, 0.0f, 0.7f};
      baselines[slot] = quantise(s, 1, CodingMode{}, of(slot));
    }
  }
  [[nodiscard]] const Quantisation& of(std::uint32_t slot) const { return quantisation[slot % kinds.size()]; }
  [[nodiscard]] std::span<const FieldSpec> specs(std::uint32_t slot) const {
    return kinds[slot % kinds.size()].fields;
  }
};

double apart_s(const UpdateHeader& head) {
  return (*head.reference_age - head.age) / kTickRateHz;
}

bool read_updates(BitReader& reader, const Known& known, Datagram& d) {
  std::int64_t previous = -1;
  for (std::uint32_t i = 0; i < d.header.update_count; ++i) {
    const UpdateHeader head = read_update(reader, d.header.coding, previous);
    if (reader.failed()) return false;
    check(head.slot > previous && head.slot < kMaxEntities && head.level < UpdateHeader::kLevels,
          "an update is of a slot and a level");
    previous = head.slot;
    if (head.slot >= kSlots || (head.reference_age && *head.reference_age <= head.age)) return false;
    const Quantisation& q = known.of(head.slot);
    d.updates.push_back({head, head.reference_age
                                   ? read_residual(reader, known.baselines[head.slot], apart_s(head), q)
                                   : read_full(reader, q)});
    if (reader.failed()) return false;
    if (!d.updates.back().state.along.route && !dequantise(d.updates.back().state, q)) return false;
  }
  return true;
}

bool read_fields(BitReader& reader, const Known& known, Datagram& d) {
  std::int64_t previous = -1;
  while (const auto slot = read_field_slot(reader, previous)) {
    previous = *slot;
    if (*slot >= kSlots) return false;
    read_changes(reader, known.specs(*slot), d.fields.emplace_back(Fields{*slot, {}}).changes);
    if (reader.failed()) return false;
  }
  return previous >= 0 && !reader.failed();
}

std::optional<Datagram> read(std::span<const std::byte> bytes, const Known& known) {
  BitReader reader{bytes};
  Datagram d;
  d.header = read_server_header(reader);
  if (reader.failed() || !read_updates(reader, known, d)) return std::nullopt;
  if (d.header.has_spawns) read_spawns(reader, kNewestSpawn, d.spawns);
  if (reader.failed()) return std::nullopt;
  if (d.header.has_predictions) read_predictions(reader, d.tick(), d.predictions);
  if (reader.failed()) return std::nullopt;
  if (d.header.has_fields && !read_fields(reader, known, d)) return std::nullopt;
  if (d.header.has_messages) read_messages(reader, d.messages);
  if (d.header.has_reliable) read_reliable_parts(reader, kNewestByte, d.reliable);
  if (!reader.finished()) return std::nullopt;
  return d;
}

void write_fields(BitWriter& writer, const Known& known, const Datagram& d) {
  constexpr Tick kNow = UINT32_MAX;
  std::int64_t previous = -1;
  for (const Fields& f : d.fields) {
    const auto specs = known.specs(f.slot);
    std::vector<FieldValue> values(specs.size());
    std::vector<Tick> changed(specs.size());
    std::uint32_t mask = 0;
    for (const FieldChange& c : f.changes) {
      values[c.field] = c.value;
      changed[c.field] = kNow - c.age;
      mask |= std::uint32_t{1} << c.field;
    }
    write_field_slot(writer, f.slot, previous);
    write_changes(writer, specs, values, changed, mask, kNow);
    previous = f.slot;
  }
  writer.write(0, 1);
}

Bytes written(const Datagram& d, const Known& known) {
  static Bytes buffer(8192);
  BitWriter writer{buffer};
  write(writer, d.header);
  std::int64_t previous = -1;
  for (const Update& u : d.updates) {
    write(writer, u.head, d.header.coding, previous);
    if (u.head.reference_age) {
      write_residual(writer, u.state, known.baselines[u.head.slot], apart_s(u.head), known.of(u.head.slot));
    } else {
      write_full(writer, u.state, known.of(u.head.slot));
    }
    previous = u.head.slot;
  }
  SpawnsWriter section;
  for (const SpawnEntry& entry : d.spawns) {
    if (!section.add(writer, entry, buffer.size() * 8)) return {};
  }
  section.finish(writer);
  if (d.header.has_predictions) write(writer, d.predictions);
  if (d.header.has_fields) write_fields(writer, known, d);
  if (d.header.has_messages) {
    for (const MessageBatch::Item& item : d.messages.items)
      write_message(writer, d.messages.payload(item), item.time_s);
    writer.write(0, 1);
  }
  if (!write_parts(writer, d.reliable)) return {};
  return writer.overflowed() ? Bytes{} : finished(writer);
}

// The writer's codes end at 2^32 - 2, so no age may be that large.
bool can_be_written(const Datagram& d) {
  const auto small = [](std::uint32_t age) { return age < UINT32_MAX; };
  return small(d.header.complete_age) && std::ranges::all_of(d.updates, [&](const Update& u) {
           return small(u.head.age) &&
                  small(u.head.reference_age.value_or(0) - d.header.coding.reference_age);
         });
}

void check_predictions(const PredictionReport& report) {
  if (report.inputs && report.inputs->early)
    check(report.inputs->newest - report.inputs->timed <= 127, "an early input is one of the last");
  if (!report.correction) return check(report.inputs.has_value(), "a report is not empty");
  const CorrectionPart& part = *report.correction;
  check(part.total <= kMaxPredicted && part.first + part.entities.size() <= part.total,
        "a part is of a correction");
  check(part.entities.empty() == (part.total == 0), "a part is not empty");
  for (const ExactState& exact : part.entities) {
    check(is_sane(exact.state) && exact.entity.slot() < kMaxEntities,
          "an exact state is a state of an entity");
    check(exact.tolerance.position_m > 0.0f && exact.tolerance.angle_rad > 0.0f, "a tolerance is positive");
    check(exact.game_state.size() <= kMaxGameStateBytes, "the game's bytes are not too many");
    const auto result = result_of(exact.state, exact.game_state, exact.tolerance, 7);
    check(agrees(result, exact.state, exact.game_state, exact.tolerance, 7), "a state agrees with itself");
  }
}

// What the client does with a decoded spawn.
void use(const Spawn& spawn, const Known& known) {
  check(spawn.number > 0 && spawn.entity.slot() < kMaxEntities, "a spawn has a number and a slot");
  if (spawn.archetype >= known.kinds.size()) return;
  const Quantisation& q = known.quantisation[spawn.archetype];
  if (q.orientation_bits == spawn.orientation_bits) {
    const auto motion = motion_of(spawn.state, 0.0, q, RouteTable{});
    check(!motion || is_sane(motion->state), "a motion that is taken in is sane");
  }
  const auto& fields = known.kinds[spawn.archetype].fields;
  std::vector<FieldValue> values;
  BitReader reader{spawn.fields};
  read_values(reader, fields, values);
  if (!reader.finished()) return;
  for (std::size_t i = 0; i < values.size(); ++i)
    check(quantise(values[i], fields[i]) == values[i], "a value is one of its field");
}

// A client that knows the entities of the slots, and has the tick and the baselines of a datagram.
class Receiver {
 public:
  Receiver() : archetypes_(archetypes()) {
    welcome_.tick_rate_hz = kTickRateHz;
    for (const Archetype& a : archetypes_)
      welcome_.archetypes.push_back({a.threshold_m, a.threshold_rad, a.max_speed_mps, a.world_size_m, {}});
    check(formats_.begin(welcome_, archetypes_), "a client reads its own archetypes");
    for (std::uint32_t number = 1; number < kNewestSpawn; ++number)
      spawns_.settle(number);
    for (std::uint32_t slot = 0; slot < kSlots; ++slot) {
      const EntityId id{slot + 1, 1};
      entities_.put({.id = id, .info = {slot % archetypes_.size(), {}}, .remote = RemoteEntity{Motion{}}});
    }
  }

  std::optional<Refusal> decode(std::span<const std::byte> bytes, const Datagram& datagram,
                                const Known& known) {
    welcome_.tick = datagram.tick();
    SessionClock clock;
    clock.begin(welcome_, 0.0);
    for (const Update& u : datagram.updates) {
      if (u.head.reference_age)
        entities_.references(u.head.slot)
            ->note(u.head.level, welcome_.tick - *u.head.reference_age, known.baselines[u.head.slot]);
    }
    return reckoner::decode(bytes, {formats_, clock, spawns_, reliable_, entities_}, out_);
  }
  [[nodiscard]] const DecodedDatagram& decoded() const { return out_; }

 private:
  std::vector<Archetype> archetypes_;
  WelcomeMessage welcome_;
  SessionFormats formats_;
  SettledNumbers spawns_;
  ReliableReceiver reliable_{{}};
  EntityStore entities_;
  DecodedDatagram out_;
};

// The client may refuse more than the readers, but it reads nothing else.
void decode_at_client(std::span<const std::byte> bytes, const Datagram& datagram, const Known& known) {
  static Receiver receiver;
  if (receiver.decode(bytes, datagram, known)) return;
  const DecodedDatagram& decoded = receiver.decoded();
  check(decoded.motions.size() == datagram.updates.size(), "the client reads all motions");
  for (std::size_t i = 0; i < decoded.motions.size(); ++i) {
    check(decoded.motions[i].encoded == datagram.updates[i].state, "the client reads what was sent");
    check(is_sane(decoded.motions[i].motion.state), "a motion that is applied is sane");
  }
  check(decoded.entity_changes.size() == datagram.spawns.size(), "the client reads all spawns");
  check(decoded.predictions.inputs == datagram.predictions.inputs,
        "the client reads the report about its inputs");
  const auto &correction = decoded.predictions.correction, &sent = datagram.predictions.correction;
  check(correction.has_value() == sent.has_value(), "the client reads a correction");
  check(!sent || correction->entities.size() == sent->entities.size(), "the client reads all exact states");
  check(decoded.messages.items.size() == datagram.messages.items.size(), "the client reads all messages");
}

void decode(std::span<const std::byte> bytes, const Known& known) {
  const auto datagram = read(bytes, known);
  if (!datagram) return;
  if (datagram->header.has_predictions) check_predictions(datagram->predictions);
  decode_at_client(bytes, *datagram, known);
  for (const SpawnEntry& entry : datagram->spawns) {
    if (const auto* spawn = std::get_if<Spawn>(&entry)) use(*spawn, known);
  }
  if (!can_be_written(*datagram)) return;
  const Bytes again = written(*datagram, known);
  if (again.empty()) return;
  const auto second = read(again, known);
  check(second.has_value(), "what was decoded is encoded so that it can be decoded");
  check(second->updates.size() == datagram->updates.size(), "all updates arrive");
  for (std::size_t i = 0; i < datagram->updates.size(); ++i)
    check(second->updates[i].state == datagram->updates[i].state, "a motion arrives as it is");
  check(second->spawns == datagram->spawns, "all spawns and despawns arrive as they are");
  check(second->predictions.inputs == datagram->predictions.inputs, "a report about inputs arrives as it is");
  check(second->reliable == datagram->reliable, "all parts of the stream arrive as they are");
  check(written(*second, known) == again, "decoding twice gives the same");
}

Datagram any_datagram(Choices& choices, const Known& known) {
  Datagram d;
  d.header = any_server_header(choices);
  while (choices.flag() && d.spawns.size() < 4) {
    SpawnEntry& entry = d.spawns.emplace_back(any_spawn_entry(choices, kNewestSpawn));
    auto* spawn = std::get_if<Spawn>(&entry);
    if (spawn == nullptr || !choices.rarely(3)) continue;
    spawn->archetype = static_cast<std::uint8_t>(choices.up_to(UINT8_MAX));
    (void)damage(choices, spawn->fields);
  }
  d.header.has_spawns = !d.spawns.empty();
  for (std::uint32_t slot = 0; slot < kSlots; ++slot) {
    if (!choices.flag()) continue;
    Update u;
    u.head.slot = slot;
    u.head.age = static_cast<std::uint32_t>(choices.up_to(choices.rarely(7) ? 1000 : 3));
    u.head.level = static_cast<std::uint8_t>(choices.up_to(UpdateHeader::kLevels - 1));
    const Quantisation& q = known.of(slot);
    if (choices.flag()) {
      const std::uint32_t least = std::max(d.header.coding.reference_age, u.head.age + 1);
      u.head.reference_age = least + static_cast<std::uint32_t>(choices.up_to(8));
      const State near = nearest_encodable(any_state(choices, q), q);
      u.state = quantise(near, 1, known.baselines[slot].coding_mode, q);
    } else {
      u.state = any_quantised(choices, q.orientation_bits);
    }
    d.updates.push_back(u);
  }
  d.header.update_count = static_cast<std::uint32_t>(d.updates.size());
  d.header.has_predictions = choices.rarely(2);
  if (d.header.has_predictions) d.predictions = any_predictions(choices, d.tick());
  for (std::uint32_t slot = 0; slot < kSlots; ++slot) {
    const auto specs = known.specs(slot);
    if (specs.empty() || !choices.rarely(3)) continue;
    Fields& f = d.fields.emplace_back(Fields{slot, {}});
    const auto field = static_cast<std::uint8_t>(choices.up_to(specs.size() - 1));
    f.changes.push_back(
        {field, static_cast<std::uint32_t>(choices.up_to(9)), any_value(choices, specs[field])});
  }
  d.header.has_fields = !d.fields.empty();
  d.header.has_messages = choices.rarely(3);
  if (d.header.has_messages) {
    d.messages.bytes = choices.bytes(40);
    if (!d.messages.bytes.empty())
      d.messages.items.push_back({0, d.messages.bytes.size(), choices.real(0, 9)});
  }
  if (choices.flag()) d.reliable = any_parts(choices, kNewestByte);
  d.header.has_reliable = !d.reliable.empty();
  return d;
}

}  // namespace

void run(std::span<const std::byte> input) {
  static const Known known;
  if (input.empty()) return;
  if (input.front() == kRaw) return decode(input.subspan(1), known);
  Choices choices{input.subspan(1)};
  Bytes bytes = written(any_datagram(choices, known), known);
  decode(bytes, known);
  if (damage(choices, bytes)) decode(bytes, known);
}

std::vector<Bytes> seeds() {
  const Known known;
  std::vector<Bytes> out;
  std::mt19937_64 random{11};
  for (int i = 0; i < 16; ++i) {
    Bytes decisions(60 * (i + 1));
    for (std::byte& each : decisions)
      each = static_cast<std::byte>(random() & 0xff);
    Choices choices{decisions};
    out.push_back(marked(kRaw, written(any_datagram(choices, known), known)));
  }
  add_choices(out, 12, 500, kChoices);
  return out;
}

}  // namespace reckoner::fuzz
