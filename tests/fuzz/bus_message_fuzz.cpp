// SPDX-License-Identifier: MIT
// Messages and stored values from the bus of a cluster.
#include "choices.hpp"
#include "cluster/src/wire/bus_messages.hpp"
#include "target.hpp"

namespace reckoner::fuzz {
namespace {

cluster::WorldCodec codec() {
  Archetype kind;
  kind.fields = {{"health", IntegerField{0, 100, 100}}, {"name", BlobField{}}};
  return cluster::WorldCodec{{kind, Archetype{.name = "other", .has_orientation = false}}};
}

void read_any_message(std::span<const std::byte> bytes) {
  const cluster::WorldCodec c = codec();
  const auto message = cluster::decode(bytes, c);
  if (!message) return;
  const auto again = cluster::encode(*message, c);
  if (again.empty()) return;  // larger than a message may be
  const auto second = cluster::decode(again, c);
  check(second && cluster::encode(*second, c) == again, "a message is written as it was read");
}

void read_any_checkpoint(std::span<const std::byte> bytes) {
  const cluster::WorldCodec c = codec();
  const auto value = cluster::decode_checkpoint(bytes, c);
  if (!value) return;
  const auto again = cluster::encode_value(*value, c);
  const auto second = cluster::decode_checkpoint(again, c);
  check(second && cluster::encode_value(*second, c) == again, "a checkpoint is written as it was read");
}

cluster::EntityRecord record() {
  cluster::EntityRecord entity;
  entity.id = {70'000, 3};
  entity.epoch = 12;
  entity.name = "a body";
  entity.tick = 123'456;
  entity.motion = quantise(State{.position = {1.0, -2.0, 3.0}}, 1, 3, codec().quantisation[0]);
  entity.fields = {std::int64_t{7}, Blob{}};
  return entity;
}

cluster::EntityBaggage baggage() {
  cluster::EntityBaggage all;
  all.holder = {9};
  all.data.assign(20, std::byte{5});
  all.priors.linear.emplace();
  all.mail.push_back({{{4}, 2}, 10, 20, {{20, {std::byte{1}}}}});
  return all;
}

}  // namespace

void run(std::span<const std::byte> input) {
  if (input.empty()) return;
  const auto rest = input.subspan(1);
  switch (std::to_integer<unsigned>(input.front()) % 5) {
    case 0:
      return read_any_message(rest);
    case 1:
      return read_any_checkpoint(rest);
    case 2:
      (void)cluster::decode_world(rest);
      (void)cluster::decode_ids(rest);
      return;
    case 3:
      (void)cluster::decode_lease(rest);
      (void)cluster::decode_epoch(rest);
      return;
    default: {
      Choices choices{rest};
      const auto good = cluster::encode(cluster::Offer{{9}, record(), baggage()}, codec());
      Bytes bytes(good.begin(), good.end());
      if (damage(choices, bytes)) read_any_message(bytes);
    }
  }
}

std::vector<Bytes> seeds() {
  const cluster::WorldCodec c = codec();
  cluster::Batch batch;
  batch.writer = {9};
  batch.described.push_back({cluster::Cause::handed_over, record()});
  batch.motions.push_back({{1, 1}, 2, 0, 5, record().motion});
  batch.fields.push_back({{1, 1}, 2, 0, record().fields});
  batch.gone.push_back({{2, 1}, 2, 6});
  std::vector<Bytes> out;
  const std::vector<cluster::BusPayload> messages{
      batch,
      cluster::Heartbeat{.process = {9}, .name = "sim", .simulator = true, .cells = {5}, .epochs = {3}},
      cluster::Ask{{9}, 5},
      cluster::Offer{{9}, record(), baggage()},
      cluster::Mail{{4}, {{4}, 2}, {1, 1}, false, {{1, {std::byte{7}}}}},
      cluster::CellCommit{{9}, 5, 4, 100, 200}};
  for (const auto& message : messages)
    out.push_back(marked(std::byte{0}, cluster::encode(message, c)));
  out.push_back(marked(std::byte{1}, cluster::encode_value({{{record(), baggage()}}}, c)));
  out.push_back(marked(std::byte{2}, cluster::encode_value(cluster::WorldValue{})));
  out.push_back(marked(std::byte{3}, cluster::encode_value(cluster::EpochValue{3, {5}, 2})));
  add_choices(out, 4, 40, std::byte{4});
  return out;
}

}  // namespace reckoner::fuzz
