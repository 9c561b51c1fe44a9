// SPDX-License-Identifier: MIT
#include "net/src/messages/input_batch.hpp"

#include "net/src/messages/datagram.hpp"
#include "net/src/wire/bit_archive.hpp"

#include <array>
#include <cassert>

namespace reckoner {
namespace {

constexpr unsigned kInputCountOrder = 3;  // a round trip has some ticks

// One input has one encoding: others are malformed.
template <class Archive>
void fail(Archive& archive) {
  if constexpr (Archive::is_loading::value) archive.bits().fail();
}

// One bit if the input is that of the tick before. Otherwise the size, if it has changed, one bit for each
// byte, and the bytes that have changed.
template <class Archive>
void serialize_input(Archive& archive, Input& input, const Input& before) {
  bool same = input == before;
  archive(same);
  if (same) {
    input = before;
    return;
  }
  auto size = static_cast<std::uint32_t>(input.bytes().size());
  const auto size_before = static_cast<std::uint32_t>(before.bytes().size());
  bool same_size = size == size_before;
  archive(same_size);
  if (same_size)
    size = size_before;
  else
    archive(wire::ranged(size, 0, kMaxInputBytes));
  if (!same_size && size == size_before) fail(archive);
  std::array<std::byte, kMaxInputBytes> bytes{};
  for (std::size_t i = 0; i < size; ++i) {
    bool changed = input.at(i) != before.at(i);
    archive(changed);
    auto byte = std::to_integer<std::uint8_t>(changed ? input.at(i) : before.at(i));
    if (changed) archive(byte);
    bytes[i] = static_cast<std::byte>(byte);
  }
  if constexpr (Archive::is_loading::value) {
    input = Input(std::span(bytes).first(size));
    if (input == before) fail(archive);
  }
}

template <class Archive>
void serialize_result(Archive& archive, PredictedResult& r) {
  for (std::uint8_t& part : r.position)
    archive(wire::fixed(part, PredictedResult::kPositionBits));
  for (std::uint8_t& part : r.rotation)
    archive(wire::fixed(part, PredictedResult::kRotationBits));
  archive(wire::fixed(r.game_state, PredictedResult::kGameStateBits));
}

}  // namespace

void write_inputs(BitWriter& writer, const InputBatch& batch, const Input& base) {
  assert(!batch.inputs.empty() && batch.inputs.size() <= InputBatch::kMost);
  assert(batch.results.size() <= kMaxPredicted);
  wire::BitOutputArchive archive{writer};
  auto low = static_cast<std::uint16_t>(batch.newest);
  auto corrected = batch.corrected;
  auto more = static_cast<std::uint32_t>(batch.inputs.size() - 1);
  auto seen_age = batch.seen_age_ms;
  bool has_base = batch.has_base;
  archive(low, corrected, wire::ranged(seen_age, 0, InputBatch::kMostSeenAgeMs),
          wire::golomb(more, kInputCountOrder), has_base);
  const Input empty;
  const Input* before = has_base ? &base : &empty;
  for (const Input& input : batch.inputs) {
    Input copy = input;
    serialize_input(archive, copy, *before);
    before = &input;
  }
  auto count = static_cast<std::uint32_t>(batch.results.size());
  archive(wire::ranged(count, 0, kMaxPredicted));
  auto behind = batch.results_behind;
  if (count > 0) archive(wire::ranged(behind, 0, InputBatch::kMostDelay));
  for (PredictedResult result : batch.results)
    serialize_result(archive, result);
}

bool read_inputs(BitReader& reader, Tick near, const std::function<const Input*(Tick)>& find,
                 InputBatch& batch) {
  batch.clear();
  wire::BitInputArchive archive{reader};
  std::uint16_t low = 0;
  std::uint32_t more = 0, count = 0;
  archive(low, batch.corrected, wire::ranged(batch.seen_age_ms, 0, InputBatch::kMostSeenAgeMs),
          wire::golomb(more, kInputCountOrder), batch.has_base);
  if (more >= InputBatch::kMost) reader.fail();
  if (reader.failed()) return true;
  batch.newest = unwrap16(low, near);
  const Input empty;
  const Input* base = batch.has_base ? find(batch.newest - more - 1) : &empty;
  if (base == nullptr) return false;
  Input before = *base;
  for (std::uint32_t i = 0; i <= more && !reader.failed(); ++i) {
    serialize_input(archive, batch.inputs.emplace_back(), before);
    before = batch.inputs.back();
  }
  archive(wire::ranged(count, 0, kMaxPredicted));
  batch.results_behind = 0;
  if (count > 0) archive(wire::ranged(batch.results_behind, 0, InputBatch::kMostDelay));
  for (std::uint32_t i = 0; i < count && !reader.failed(); ++i)
    serialize_result(archive, batch.results.emplace_back());
  if (reader.failed()) batch.clear();
  return true;
}

}  // namespace reckoner
