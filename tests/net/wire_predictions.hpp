// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/messages/correction.hpp"
#include "net/src/messages/input.hpp"
#include "net/src/messages/input_batch.hpp"
#include "wire_text.hpp"

#include <cstdint>
#include <map>
#include <string>

#include <reckoner/net/ids.hpp>

namespace reckoner::test {

/// The inputs that a server has of a client, by tick.
class WireInputs {
 public:
  /// Null if the server does not have the input.
  [[nodiscard]] const Input* find(Tick tick) const {
    const auto found = inputs_.find(tick);
    return found == inputs_.end() ? nullptr : &found->second;
  }
  /// Adds the inputs of a section that has arrived before the tick `next` of the server.
  void add(const InputBatch& batch, Tick next) {
    const auto ahead = static_cast<std::int32_t>(batch.newest - next);
    if (ahead > 64 || ahead < -128) return;
    Tick tick = batch.oldest();
    for (const Input& input : batch.inputs)
      inputs_.emplace(tick++, input);
  }

 private:
  std::map<Tick, Input> inputs_;
};

/// The second decoder's expected text for a section of inputs.
inline std::string text_of(const InputBatch& batch) {
  std::string text = line("newest", batch.newest) + line("corrected", batch.corrected) +
                     line("seen_age_ms", batch.seen_age_ms) + line("has_base", batch.has_base);
  for (const Input& input : batch.inputs)
    text += "input: " + hex_of(input.bytes()) + "\n";
  if (!batch.results.empty()) text += line("behind", batch.results_behind);
  for (const PredictedResult& r : batch.results) {
    text += line("result", r.position[0], r.position[1], r.position[2], r.rotation[0], r.rotation[1],
                 r.rotation[2], r.game_state);
  }
  return text;
}

inline std::string text_of(const ExactState& exact) {
  const State& s = exact.state;
  const glm::quat& q = s.orientation;
  return line("index generation", exact.entity.index1, exact.entity.generation) +
         reals("position", s.position.x, s.position.y, s.position.z) +
         reals("velocity", s.velocity.x, s.velocity.y, s.velocity.z) +
         reals("acceleration", s.acceleration.x, s.acceleration.y, s.acceleration.z) +
         reals("angular_velocity", s.angular_velocity.x, s.angular_velocity.y, s.angular_velocity.z) +
         reals("orientation", q.w, q.x, q.y, q.z) + line("teleports", exact.teleports) +
         reals("tolerance_m", exact.tolerance.position_m) +
         reals("tolerance_rad", exact.tolerance.angle_rad) + "game_state: " + hex_of(exact.game_state) + "\n";
}

/// The second decoder's expected text for a section of predictions.
inline std::string text_of(const PredictionReport& report) {
  std::string text;
  if (report.inputs) {
    const InputReport& inputs = *report.inputs;
    text += line("newest_input", inputs.newest);
    if (inputs.early) text += line("early behind", *inputs.early, inputs.newest - inputs.timed);
  }
  if (!report.correction) return text;
  const CorrectionPart& part = *report.correction;
  text +=
      line("number total first reason", part.number, part.total, part.first, static_cast<int>(part.reason));
  for (const ExactState& exact : part.entities)
    text += text_of(exact);
  return text;
}

}  // namespace reckoner::test
