// SPDX-License-Identifier: MIT
#include "cluster/src/witness/witness.hpp"

#include "cluster/src/wire/subjects.hpp"

namespace reckoner::cluster {
namespace {

constexpr std::size_t kMaxFaults = 20;

}  // namespace

Witness::Witness(const ClusterConfig& config, Bus& bus) : bus_(bus), codec_(config.archetypes) {
  for (std::uint32_t cell = 0; cell < config.columns * config.rows; ++cell)
    bus_.subscribe(cell_subject(config.world, cell));
}

void Witness::see(Seen& seen, std::uint32_t epoch, ProcessId writer, const std::string& what) {
  if (epoch < seen.epoch) {
    ++stale_;
    return;
  }
  if (epoch == seen.epoch && seen.writer && seen.writer != writer) {
    ++faulty_;
    if (faults_.size() < kMaxFaults)
      faults_.push_back("two writers of " + what + " with epoch " + std::to_string(epoch));
  }
  ++accepted_;
  seen = {epoch, writer};
}

void Witness::run(double now_s) {
  bus_.service(now_s);
  while (const auto message = bus_.poll()) {
    const auto payload = decode(message->payload, codec_);
    if (!payload || !std::holds_alternative<Batch>(*payload)) {
      if (faults_.size() < kMaxFaults) faults_.push_back("a malformed batch");
      continue;
    }
    const auto& batch = std::get<Batch>(*payload);
    if (batch.holds_cell && batch.cell_epoch < cells_[batch.cell].epoch) {
      ++stale_;
      continue;
    }
    if (batch.holds_cell)
      see(cells_[batch.cell], batch.cell_epoch, batch.writer, "cell " + std::to_string(batch.cell));
    const auto entity = [&](EntityId id, std::uint32_t epoch) {
      see(slots_[id.index1], epoch, batch.writer, "slot " + std::to_string(id.slot()));
    };
    for (const auto& r : batch.described)
      entity(r.entity.id, r.entity.epoch);
    for (const auto& r : batch.motions)
      entity(r.id, r.epoch);
    for (const auto& r : batch.fields)
      entity(r.id, r.epoch);
  }
}

}  // namespace reckoner::cluster
