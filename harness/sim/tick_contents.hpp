// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>
#include <vector>

namespace reckoner::harness {

/// A part of the state datagrams that a server sent in one tick.
struct SentPart {
  static constexpr std::size_t kNoEntity = std::numeric_limits<std::size_t>::max();

  std::size_t entity = kNoEntity;  ///< index in the source, or kNoEntity
  /// What it is: "motion", "spawn" or "field" of an entity, or a name of SentContent. Valid forever.
  std::string_view kind;
  std::uint64_t count = 0;  ///< number of such things
  std::uint64_t bits = 0;   ///< their size
};

/// What a server sent in one tick, for reports. The bits of all parts add up to the payload of the state
/// datagrams to the client that were sent at this time.
struct TickContents {
  double sent_s = 0.0;  ///< PacketRecord::sent_s of the datagrams
  std::vector<SentPart> parts;
};

}  // namespace reckoner::harness
