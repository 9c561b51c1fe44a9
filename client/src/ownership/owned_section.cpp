// SPDX-License-Identifier: MIT
#include "client/src/ownership/owned_section.hpp"

#include <algorithm>

namespace reckoner {
namespace {

// Upper bound for the header of an owned motion, the motion in full, and the end mark of the section.
constexpr std::size_t kMaxMotionBits = 1200;

}  // namespace

OwnedEntity* OwnedSection::find(EntityId id) const {
  if (!id) return nullptr;
  const auto found = entities_.find(static_cast<std::uint32_t>(id.slot()));
  return found != entities_.end() && found->second.first == id ? found->second.second.get() : nullptr;
}

OwnedEntity& OwnedSection::add(EntityId id, OwnedEntity entity) {
  auto& place = entities_[static_cast<std::uint32_t>(id.slot())];
  place = {id, std::make_unique<OwnedEntity>(std::move(entity))};
  return *place.second;
}

void OwnedSection::remove(EntityId id) {
  if (find(id) != nullptr) entities_.erase(static_cast<std::uint32_t>(id.slot()));
}

bool OwnedSection::any_due() const {
  return std::any_of(entities_.begin(), entities_.end(),
                     [](const auto& entry) { return entry.second.second->due(); });
}

bool OwnedSection::write(BitWriter& writer, std::size_t most_bits, Sequence sequence) {
  std::int64_t previous = -1;
  const std::size_t begin = writer.bits_written();
  for (auto& [slot, entry] : entities_) {
    OwnedEntity& entity = *entry.second;
    if (!entity.due()) continue;
    if (writer.bits_written() - begin + kMaxMotionBits > most_bits) break;
    const PublishStream& stream = entity.stream();
    const PublishStream::Publish& newest = stream.newest();
    OwnedHead head{slot, entity.term(), static_cast<std::uint16_t>(newest.tick), {}};
    const std::uint32_t reference = entity.reference();
    if (reference != 0) head.reference_age = newest.tick - stream.at(reference).tick;
    reckoner::write(writer, head, previous);
    if (reference != 0) {
      write_residual(writer, newest.encoded, stream.at(reference).encoded,
                     *head.reference_age / entity.tick_rate_hz(), entity.quantisation());
    } else {
      write_full(writer, newest.encoded, entity.quantisation());
    }
    sent_updates_.add(sequence, {entry.first, entity.term(), stream.number()});
    entity.sent();
    previous = slot;
  }
  if (previous < 0) return false;
  writer.write(0, 1);
  return true;
}

void OwnedSection::settle(const PeerLink::Outcome& outcome) {
  sent_updates_.settle(outcome.sequence, [&](const SentUpdate& sent) {
    if (OwnedEntity* entity = find(sent.id)) entity->note_outcome(sent.term, sent.number, outcome.acked);
  });
}

}  // namespace reckoner
