// SPDX-License-Identifier: MIT
#include "net/src/messages/reliable_part.hpp"

#include "net/src/wire/bit_archive.hpp"

#include <cassert>

namespace reckoner {
namespace {

constexpr unsigned kPartOffsetBits = 24;
constexpr unsigned kPartGapOrder = 6;    // lost bytes lie anywhere before the newest
constexpr unsigned kPartSizeOrder = 6;   // most messages have some ten bytes
constexpr unsigned kUnorderedOrder = 0;  // most parts begin with a message

// The number with these low bits that is closest to `near`.
std::uint64_t unwrap_offset(std::uint32_t low, std::uint64_t near) {
  constexpr std::uint64_t kSize = std::uint64_t{1} << kPartOffsetBits;
  const std::uint64_t ahead = (low - near) & (kSize - 1);
  if (ahead < kSize / 2) return near + ahead;
  return near + ahead >= kSize ? near + ahead - kSize : near + ahead;
}

template <class Archive>
void serialize_size(Archive& archive, std::uint32_t& size) {
  std::uint32_t less = size - 1;
  archive(wire::golomb(less, kPartSizeOrder));
  if constexpr (Archive::is_loading::value) {
    if (less >= ReliablePartsWriter::kMaxPartBytes) return archive.bits().fail();
    size = less + 1;
  }
}

// Where the first unordered message begins in a part of `size` bytes.
template <class Archive>
void serialize_unordered(Archive& archive, std::optional<std::uint32_t>& unordered, std::uint32_t size) {
  bool any = unordered.has_value();
  archive(any);
  if (!any) return;
  std::uint32_t begin = unordered.value_or(0);
  archive(wire::golomb(begin, kUnorderedOrder));
  unordered = begin;
  if constexpr (Archive::is_loading::value) {
    if (begin >= size) archive.bits().fail();
  }
}

}  // namespace

void ReliablePartsWriter::add(BitWriter& writer, std::uint64_t offset, std::span<const std::byte> bytes,
                              std::optional<std::uint32_t> unordered) {
  assert(!bytes.empty() && bytes.size() <= kMaxPartBytes && offset >= end_);
  assert(!unordered || *unordered < bytes.size());
  wire::BitOutputArchive archive{writer};
  bool more = true;
  archive(more);
  if (any()) {
    auto gap = static_cast<std::uint32_t>(offset - end_);
    archive(wire::golomb(gap, kPartGapOrder));
  } else {
    auto low = static_cast<std::uint32_t>(offset & ((std::uint64_t{1} << kPartOffsetBits) - 1));
    archive(wire::fixed(low, kPartOffsetBits));
  }
  auto size = static_cast<std::uint32_t>(bytes.size());
  serialize_size(archive, size);
  serialize_unordered(archive, unordered, size);
  writer.append(bytes, bytes.size() * 8);
  end_ = offset + bytes.size();
}

void ReliablePartsWriter::finish(BitWriter& writer) const {
  if (any()) writer.write(0, kEndBits);
}

void read_reliable_parts(BitReader& reader, std::uint64_t near, std::vector<ReliablePart>& parts) {
  parts.clear();
  wire::BitInputArchive archive{reader};
  std::uint64_t end = 0;
  for (bool more = true; archive(more), more && !reader.failed();) {
    std::uint32_t place = 0, size = 1;
    std::optional<std::uint32_t> unordered;
    parts.empty() ? archive(wire::fixed(place, kPartOffsetBits))
                  : archive(wire::golomb(place, kPartGapOrder));
    serialize_size(archive, size);
    serialize_unordered(archive, unordered, size);
    if (std::size_t{size} * 8 > reader.bits_left()) reader.fail();  // before any memory is allocated
    if (reader.failed()) return;
    ReliablePart& part = parts.emplace_back();
    part.offset = parts.size() == 1 ? unwrap_offset(place, near) : end + place;
    part.unordered = unordered;
    part.bytes.resize(size);
    archive(wire::raw(std::span(part.bytes)));
    end = part.offset + size;
  }
  if (parts.empty()) reader.fail();
}

}  // namespace reckoner
