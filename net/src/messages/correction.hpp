// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/messages/predicted_result.hpp"
#include "net/src/wire/bit_stream.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <reckoner/net/ids.hpp>
#include <reckoner/net/prediction.hpp>
#include <reckoner/reckoning/export.hpp>
#include <reckoner/reckoning/state.hpp>

namespace reckoner {

// The section of predictions in a datagram from server to client: which inputs have arrived and how early,
// and a correction or a part of one.

/// Which inputs the server has, and how early they arrived.
struct InputReport {
  /// Unit of `early`: parts of a tick.
  static constexpr int kSteps = 8;
  static constexpr int kMostEarly = 63;    ///< the largest `early`, nearly 8 ticks
  static constexpr int kLeastEarly = -64;  ///< 8 ticks late

  Tick newest = 0;  ///< the server has the inputs up to this tick; 16 bits on the wire
  /// How long before its tick the input of `timed` arrived for the first time, in 1/kSteps ticks. It arrived
  /// least early of all inputs that are new since the last report. Empty: none is new.
  std::optional<int> early;
  Tick timed = 0;  ///< at most 127 ticks before `newest`

  bool operator==(const InputReport&) const = default;
};

/// The exact state of an entity that the client predicts, in world coordinates.
struct ExactState {
  EntityId entity;
  State state;
  std::uint8_t teleports = 0;  ///< counts the teleports of the entity
  PredictionTolerance tolerance;
  std::vector<std::byte> game_state;  ///< the game's bytes, at most kMaxGameStateBytes

  /// Largest size on the wire, bits.
  static constexpr std::size_t kMaxBits = 64 + 3 * 64 + 13 * 32 + 8 + 64 + 8 + 8 * kMaxGameStateBytes + 16;
};

/// Exact states of some of the entities that the client predicts, for the tick of the datagram. All parts
/// with one number make a correction, and name all entities that the client predicts from then on.
struct CorrectionPart {
  std::uint8_t number = 0;  ///< number of the correction, modulo 256
  std::uint8_t first = 0;   ///< index of the first of `entities` in the correction
  std::uint8_t total = 0;   ///< number of entities in the whole correction, 0 to kMaxPredicted
  CorrectionReason reason = CorrectionReason::begins;
  std::vector<ExactState> entities;

  /// Bits before the first entity, and at the end.
  static constexpr std::size_t kHeadBits = 8 + 4 + 4 + 4 + 2;
};

struct PredictionReport {
  std::optional<InputReport> inputs;
  std::optional<CorrectionPart> correction;

  void clear() {
    inputs.reset();
    correction.reset();
  }
};

RECKONER_NET_API void write(BitWriter& writer, const InputReport& report);
RECKONER_NET_API void write(BitWriter& writer, const ExactState& state);
/// Writes a section. At least one of its two parts is not empty.
RECKONER_NET_API void write(BitWriter& writer, const PredictionReport& report);

/// Reads a section. `near` is a tick that differs from InputReport::newest by less than 2^15. Marks the
/// reader as failed if the section is malformed: also if a number is not finite or an orientation is no
/// rotation.
RECKONER_NET_API void read_predictions(BitReader& reader, Tick near, PredictionReport& report);

}  // namespace reckoner
