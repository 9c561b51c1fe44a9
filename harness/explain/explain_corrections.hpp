// SPDX-License-Identifier: MIT
#pragma once

#include "harness/explain/explain.hpp"
#include "harness/explain/session_facts.hpp"

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <reckoner/client/prediction.hpp>

namespace reckoner::harness {

inline constexpr std::size_t kCorrectionCauses = 8;

/// The name of a cause in reports and JSON.
[[nodiscard]] constexpr std::string_view name_of(CorrectionCause cause) {
  constexpr std::array<std::string_view, kCorrectionCauses> kNames{
      "begins",     "teleport",   "input missing",    "input late",
      "input lost", "game state", "small difference", "differs"};
  return kNames[static_cast<std::size_t>(cause)];
}

/// A correction that the recorded game has taken, and why it came.
struct ExplainedCorrection {
  EntityId entity;       ///< of those in the correction, the one that was off most
  std::string name;      ///< of the entity; may be empty
  double at_s = 0.0;     ///< time since the first call of the session
  Tick tick = 0;         ///< Correction::tick
  double error_m = 0.0;  ///< distance of the client's result from the server's state, m
  CorrectionCause cause = CorrectionCause::begins;
  bool known = false;              ///< true: the server or the states say so; false: it is inferred
  std::string sentence;            ///< the explanation for people
  std::vector<Evidence> evidence;  ///< the numbers behind the sentence
};

/// Explains each correction of a session, in order of time. Of the options, only `entity` matters. Pure: no
/// files, no clock, no threads, no exceptions.
[[nodiscard]] std::vector<ExplainedCorrection> explain_corrections(const SessionFacts& facts,
                                                                   const ExplainOptions& options);

/// The number of corrections by cause.
[[nodiscard]] std::array<std::size_t, kCorrectionCauses> count_causes(
    std::span<const ExplainedCorrection> corrections);

/// What a correction was about, in one or two sentences.
[[nodiscard]] std::string sentence_of(const CorrectionFact& fact);

}  // namespace reckoner::harness
