// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/messages/input.hpp"
#include "net/src/messages/predicted_result.hpp"
#include "net/src/wire/bit_stream.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include <reckoner/net/ids.hpp>
#include <reckoner/reckoning/export.hpp>

namespace reckoner {

// The section of inputs in a datagram from client to server: every input that the server has not
// acknowledged, and what the client has computed for the newest of these ticks.

/// The contents of the section.
struct InputBatch {
  /// Most inputs in a section.
  static constexpr std::size_t kMost = 64;

  Tick newest = 0;             ///< tick of the newest input; 16 bits on the wire
  std::uint8_t corrected = 0;  ///< number of the newest correction that the client has applied, modulo 256
  /// From the server's time, as the client estimated it when it made the newest input, to the time of that
  /// input's tick, ms.
  std::uint16_t seen_age_ms = 0;
  static constexpr std::uint16_t kMostSeenAgeMs = 4095;
  /// True if the first input is coded as the difference to the input of the tick before it, which the server
  /// must have; false: to an empty input.
  bool has_base = false;
  std::vector<Input> inputs;  ///< 1 to kMost, oldest first; the last one is that of `newest`
  /// `results` are those of the tick that is this number of ticks before `newest`: the client's input delay.
  std::uint8_t results_behind = 0;
  static constexpr std::uint8_t kMostDelay = 3;
  /// What the client has computed for that tick: one for each entity of the newest correction, in its order,
  /// or none.
  std::vector<PredictedResult> results;

  /// Tick of the oldest input.
  [[nodiscard]] Tick oldest() const { return newest - static_cast<Tick>(inputs.size() - 1); }
  void clear() {
    inputs.clear();
    results.clear();
  }
};

/// Writes the inputs of consecutive ticks and the results. The fields of `batch` are as there; `base` is the
/// input of the tick before the first, if `batch.has_base`.
RECKONER_NET_API void write_inputs(BitWriter& writer, const InputBatch& batch, const Input& base);

/// Reads a section into `batch`. `near` is a tick that differs from `newest` by less than 2^15. `find`
/// returns the input of a tick that the server has, else null. Marks the reader as failed if the section is
/// malformed. Returns false if the server lacks the base; then nothing behind this section can be read.
[[nodiscard]] RECKONER_NET_API bool read_inputs(BitReader& reader, Tick near,
                                                const std::function<const Input*(Tick)>& find,
                                                InputBatch& batch);

}  // namespace reckoner
