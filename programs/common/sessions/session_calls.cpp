// SPDX-License-Identifier: MIT
#include "programs/common/sessions/session_calls.hpp"

#include <variant>

namespace reckoner::program {

std::optional<PredictionStep> RecordedPrediction::next_step(std::span<const std::byte> input) {
  if (input.size() <= kMaxInputBytes) writer_.step(input);
  return client_.next_step(input);
}

CallResult RecordedPrediction::predict(EntityId id, Tick tick, const State& state,
                                       std::span<const std::byte> game_state) {
  if (id && is_sane(state) && game_state.size() <= kMaxGameStateBytes)
    writer_.predict(id, tick, state, game_state);
  return client_.predict(id, tick, state, game_state);
}

std::optional<Correction> RecordedPrediction::poll_correction() {
  writer_.poll_correction();
  return client_.poll_correction();
}

ClientConfig config_of(const SessionSettings& settings) {
  ClientConfig config;
  config.playout = settings.playout;
  config.input_delay_ticks = settings.input_delay_ticks;
  config.inputs_per_datagram = settings.inputs_per_datagram;
  return config;
}

std::optional<Correction> repeat_call(Client& client, const SessionRecord& call) {
  if (const auto* service = std::get_if<ServiceRecord>(&call)) {
    client.update(service->local_s);
  } else if (const auto* move = std::get_if<MoveRecord>(&call)) {
    (void)(move->teleports ? client.teleport(move->entity, move->state, move->frame)
                           : client.move(move->entity, move->state, move->frame));
  } else if (const auto* step = std::get_if<StepRecord>(&call)) {
    (void)client.next_step(step->input);
  } else if (const auto* result = std::get_if<PredictRecord>(&call)) {
    (void)client.predict(result->entity, result->tick, result->state, result->game_state);
  } else if (std::holds_alternative<PollCorrectionRecord>(call)) {
    return client.poll_correction();
  }
  return std::nullopt;
}

}  // namespace reckoner::program
