// SPDX-License-Identifier: MIT
#include "client/src/connection/motion_reader.hpp"

#include <algorithm>
#include <cstdint>

namespace reckoner {
namespace {

std::optional<Refusal> read_motion(BitReader& reader, const UpdateHeader& head, const DecodeContext& known,
                                   DecodedDatagram& out) {
  const auto archetype = known.entities.archetype_of(head.slot);
  if (!archetype) return Refusal::unknown_entity;
  if (head.age > out.tick) return Refusal::malformed;
  const Quantisation& q = *known.formats.quantisation(*archetype);
  const Tick motion_tick = out.tick - head.age;
  MotionUpdate& update = out.motions.emplace_back();
  if (head.reference_age) {
    if (*head.reference_age <= head.age)
      return Refusal::malformed;  // the baseline is the motion itself, or a later one
    const Tick reference_tick = out.tick - *head.reference_age;
    const References* references = known.entities.references(head.slot);
    const QuantisedState* reference =
        references != nullptr ? references->find(head.level, reference_tick) : nullptr;
    if (reference == nullptr) return Refusal::unknown_baseline;
    const double gap_s = (motion_tick - reference_tick) / known.clock.tick_rate_hz();
    update.encoded = read_residual(reader, *reference, gap_s, q);
  } else {
    update.encoded = read_full(reader, q);
  }
  if (reader.failed()) return Refusal::malformed;
  const auto motion = motion_of(update.encoded, known.clock.time_of(motion_tick), q, known.formats.routes());
  if (!motion) return refusal_for(update.encoded, known.formats.routes());
  update.slot = head.slot;
  update.level = head.level;
  update.tick = motion_tick;
  update.motion = *motion;
  return std::nullopt;
}

// Returns the frame that the entity in a slot will have when the motions are applied.
FrameId frame_after(std::uint32_t slot, const EntityStore& entities, const DecodedDatagram& datagram) {
  const Motion& known = entities.slots()[slot]->remote.newest();
  const auto& motions = datagram.motions;
  const auto update = std::lower_bound(motions.begin(), motions.end(), slot,
                                       [](const MotionUpdate& u, std::uint32_t s) { return u.slot < s; });
  const bool newer = update != motions.end() && update->slot == slot && update->motion.time_s > known.time_s;
  return newer ? update->motion.frame : known.frame;
}

// Returns false if a frame is unknown, nested in a circle or nested too deeply. After a lost change of frame
// this may happen for a moment. The server then sends the refused motions again. It would do so without end
// if the client has refused the frame's entity, so such a motion only counts as not applicable.
bool frames_fit(const EntityStore& entities, DecodedDatagram& datagram) {
  for (MotionUpdate& update : datagram.motions) {
    FrameId frame = update.motion.frame;
    const bool is_relevant = frame && update.slot < entities.slots().size() && entities.slots()[update.slot];
    if (!is_relevant) continue;
    for (int depth = 0; frame; ++depth) {
      const KnownEntity* outer = entities.find(entity_of(frame));
      // The frame of the frame has not arrived yet. Until then, nothing in it is shown.
      if (outer == nullptr && depth > 0) break;
      if (outer == nullptr && entities.is_refused(entity_of(frame))) {
        update.lacks_frame = true;
        break;
      }
      if (outer == nullptr || outer->id.slot() == update.slot || depth == kMaxFrameDepth) return false;
      frame = frame_after(static_cast<std::uint32_t>(outer->id.slot()), entities, datagram);
    }
  }
  return true;
}

}  // namespace

std::optional<Refusal> read_motions(BitReader& reader, const DecodeContext& known, DecodedDatagram& out) {
  std::int64_t previous = -1;
  for (std::uint32_t i = 0; i < out.header.update_count; ++i) {
    const UpdateHeader head = read_update(reader, out.header.coding, previous);
    if (reader.failed()) return Refusal::malformed;
    if (const auto why = read_motion(reader, head, known, out)) return why;
    previous = head.slot;
  }
  return frames_fit(known.entities, out) ? std::nullopt : std::optional{Refusal::unknown_frame};
}

}  // namespace reckoner
