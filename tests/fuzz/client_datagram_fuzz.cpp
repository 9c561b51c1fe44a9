// SPDX-License-Identifier: MIT
// A client's state datagram: acknowledgements, its showing report, motions of owned entities, inputs and
// results, messages, parts of the stream of reliable messages, requests to join.
#include "generate.hpp"
#include "net/src/codec/motion_codec.hpp"
#include "net/src/messages/input_batch.hpp"
#include "net/src/messages/messages.hpp"
#include "target.hpp"

namespace reckoner::fuzz {
namespace {

constexpr double kTickRateHz = 60.0;
constexpr std::uint64_t kNewestByte = 50'000'000;  // offsets in the stream need more than their 24 bits
constexpr Tick kNextTick = 200'000;                // ticks of inputs need more than their 16 bits

struct Owned {
  OwnedHead head;
  QuantisedState state;
};
struct Datagram {
  ClientDatagram head;
  std::vector<Owned> owned;
  InputBatch inputs;
  MessageBatch messages;
  std::vector<ReliablePart> reliable;
};

// Slots use the archetypes in turn. All slots of an archetype share one baseline.
const Quantisation& quantisation_of(std::uint32_t slot) {
  const auto& all = quantisations();
  return all[slot % all.size()];
}
QuantisedState baseline_of(std::uint32_t slot) {
  State s;
  s.position = {3.0, -4.5, 0.25};
  s.velocity = {1.5f, -0.5f, 0.0f};
  s.angular_velocity = {0.0f, 0.0f, 0.7f};
  return quantise(s, 1, CodingMode{}, quantisation_of(slot));
}

// The server lacks the input of every fourth tick, and has one input for all others.
const Input* known_input(Tick tick) {
  static const Input known = Input(std::array{std::byte{3}, std::byte{0}, std::byte{200}});
  return tick % 4 == 0 ? nullptr : &known;
}

std::optional<Datagram> read(std::span<const std::byte> bytes) {
  BitReader reader{bytes};
  Datagram d;
  const auto head = read_client_datagram(reader);
  if (!head) return std::nullopt;
  d.head = *head;
  std::int64_t previous = -1;
  while (d.head.has_owned) {
    const auto owned = read_owned_head(reader, previous);
    if (!owned) break;
    check(owned->slot > previous && owned->slot < kMaxEntities && owned->term < kTerms,
          "an owned motion is of a slot and a term");
    check(!owned->reference_age || *owned->reference_age > 0, "nothing refers to itself");
    previous = owned->slot;
    const Quantisation& q = quantisation_of(owned->slot);
    d.owned.push_back({*owned, owned->reference_age ? read_residual(reader, baseline_of(owned->slot),
                                                                    *owned->reference_age / kTickRateHz, q)
                                                    : read_full(reader, q)});
    if (reader.failed()) return std::nullopt;
    if (!d.owned.back().state.along.route && !dequantise(d.owned.back().state, q)) return std::nullopt;
  }
  if (d.head.has_inputs && !read_inputs(reader, kNextTick, known_input, d.inputs)) return std::nullopt;
  if (d.head.has_messages) read_messages(reader, d.messages);
  if (d.head.has_reliable) read_reliable_parts(reader, kNewestByte, d.reliable);
  if (!reader.finished()) return std::nullopt;
  return d;
}

Bytes written(const Datagram& d) {
  static Bytes buffer(8192);
  BitWriter writer{buffer};
  write(writer, d.head);
  std::int64_t previous = -1;
  for (const Owned& o : d.owned) {
    write(writer, o.head, previous);
    previous = o.head.slot;
    const Quantisation& q = quantisation_of(o.head.slot);
    if (o.head.reference_age) {
      write_residual(writer, o.state, baseline_of(o.head.slot), *o.head.reference_age / kTickRateHz, q);
    } else {
      write_full(writer, o.state, q);
    }
  }
  if (d.head.has_owned) writer.write(0, 1);
  if (d.head.has_inputs) {
    const Input* base = d.inputs.has_base ? known_input(d.inputs.oldest() - 1) : nullptr;
    write_inputs(writer, d.inputs, base != nullptr ? *base : Input{});
  }
  if (d.head.has_messages) {
    for (const MessageBatch::Item& item : d.messages.items)
      write_message(writer, d.messages.payload(item), item.time_s);
    writer.write(0, 1);
  }
  if (!write_parts(writer, d.reliable)) return {};
  return writer.overflowed() ? Bytes{} : finished(writer);
}

void check_inputs(const InputBatch& batch) {
  check(!batch.inputs.empty() && batch.inputs.size() <= InputBatch::kMost,
        "there are inputs, and not too many");
  check(batch.results.size() <= kMaxPredicted, "there are no more results than entities");
  check(batch.results_behind <= InputBatch::kMostDelay, "results are at most as late as inputs");
}

void decode(std::span<const std::byte> bytes) {
  const auto datagram = read(bytes);
  if (!datagram) return;
  if (datagram->head.has_inputs) check_inputs(datagram->inputs);
  const Bytes again = written(*datagram);
  if (again.empty()) return;
  const auto second = read(again);
  check(second.has_value(), "what was decoded is encoded so that it can be decoded");
  check(second->owned.size() == datagram->owned.size(), "all motions arrive");
  for (std::size_t i = 0; i < datagram->owned.size(); ++i)
    check(second->owned[i].state == datagram->owned[i].state, "a motion arrives as it is");
  check(second->inputs.newest == datagram->inputs.newest, "inputs are of their ticks");
  check(second->inputs.inputs == datagram->inputs.inputs, "all inputs arrive as they are");
  check(second->inputs.results == datagram->inputs.results, "all results arrive as they are");
  check(second->reliable == datagram->reliable, "all parts of the stream arrive as they are");
  check(second->head.join.has_value() == datagram->head.join.has_value(), "a request to join arrives");
  check(written(*second) == again, "decoding twice gives the same");
}

Datagram any_datagram(Choices& choices) {
  Datagram d;
  if (choices.rarely(7)) {
    d.head = any_join_datagram(choices);
    return d;
  }
  d.head = any_client_datagram(choices, 100);
  d.head.has_owned = choices.flag();
  for (std::uint32_t slot = 0; d.head.has_owned && slot < 4; ++slot) {
    if (!choices.flag()) continue;
    OwnedHead head{slot,
                   static_cast<std::uint8_t>(choices.up_to(kTerms - 1)),
                   static_cast<std::uint16_t>(choices.up_to(UINT16_MAX)),
                   {}};
    const Quantisation& q = quantisation_of(slot);
    QuantisedState state = any_quantised(choices, q.orientation_bits);
    if (choices.flag()) {
      head.reference_age = static_cast<std::uint32_t>(choices.up_to(choices.rarely(7) ? 100'000 : 20) + 1);
      state = quantise(nearest_encodable(any_state(choices, q), q), 1, CodingMode{}, q);
    }
    d.owned.push_back({head, state});
  }
  d.head.has_inputs = choices.flag();
  if (d.head.has_inputs)
    d.inputs = any_inputs(choices, static_cast<Tick>(kNextTick + choices.integer(choices.rarely(7) ? 16 : 7)),
                          known_input);
  d.messages.bytes = choices.bytes(60);
  if (!d.messages.bytes.empty()) d.messages.items.push_back({0, d.messages.bytes.size(), choices.real(0, 9)});
  d.head.has_messages = !d.messages.bytes.empty();
  if (choices.flag()) d.reliable = any_parts(choices, kNewestByte);
  d.head.has_reliable = !d.reliable.empty();
  return d;
}

}  // namespace

void run(std::span<const std::byte> input) {
  if (input.empty()) return;
  if (input.front() == kRaw) return decode(input.subspan(1));
  Choices choices{input.subspan(1)};
  Bytes bytes = written(any_datagram(choices));
  decode(bytes);
  if (damage(choices, bytes)) decode(bytes);
}

std::vector<Bytes> seeds() {
  std::vector<Bytes> out;
  std::mt19937_64 random{13};
  for (int i = 0; i < 16; ++i) {
    Bytes decisions(40 * (i + 1));
    for (std::byte& each : decisions)
      each = static_cast<std::byte>(random() & 0xff);
    Choices choices{decisions};
    out.push_back(marked(kRaw, written(any_datagram(choices))));
    Choices same{decisions};
    if (i < 6) out.push_back(marked(kRaw, written({any_join_datagram(same), {}, {}, {}, {}})));
  }
  add_choices(out, 12, 500, kChoices);
  return out;
}

}  // namespace reckoner::fuzz
