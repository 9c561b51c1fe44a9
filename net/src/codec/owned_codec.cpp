// SPDX-License-Identifier: MIT
#include "net/src/codec/motion_codec.hpp"
#include "net/src/wire/bit_archive.hpp"

#include <cassert>

namespace reckoner {
namespace {

constexpr unsigned kSlotGapOrder = 2;
constexpr unsigned kReferenceOrder = 4;

template <class Archive>
void serialize_head(Archive& archive, OwnedHead& head, std::uint32_t& gap, bool& refers, std::uint32_t& age) {
  archive(wire::golomb(gap, kSlotGapOrder), wire::ranged(head.term, 0, kTerms - 1), head.tick, refers);
  if (refers) archive(wire::golomb(age, kReferenceOrder));
}

}  // namespace

void write(BitWriter& writer, const OwnedHead& head, std::int64_t previous_slot) {
  assert(std::int64_t{head.slot} > previous_slot);
  wire::BitOutputArchive archive{writer};
  bool more = true;
  archive(more);
  OwnedHead h = head;
  auto gap = static_cast<std::uint32_t>(std::int64_t{head.slot} - previous_slot - 1);
  bool refers = head.reference_age.has_value();
  std::uint32_t age = head.reference_age.value_or(1) - 1;
  serialize_head(archive, h, gap, refers, age);
}

std::optional<OwnedHead> read_owned_head(BitReader& reader, std::int64_t previous_slot) {
  wire::BitInputArchive archive{reader};
  bool more = false;
  archive(more);
  if (!more) return std::nullopt;
  OwnedHead head;
  std::uint32_t gap = 0;
  std::uint32_t age = 0;
  bool refers = false;
  serialize_head(archive, head, gap, refers, age);
  const std::int64_t slot = previous_slot + 1 + gap;
  if (slot >= kMaxEntities || age == 0xffffffffu) reader.fail();
  if (reader.failed()) return std::nullopt;
  head.slot = static_cast<std::uint32_t>(slot);
  if (refers) head.reference_age = age + 1;
  return head;
}

}  // namespace reckoner
