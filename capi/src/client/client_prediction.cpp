// SPDX-License-Identifier: MIT
// The player's own body at a client: steps, results and corrections.
#include "capi/src/client/client_handle.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

#include <reckoner/net/prediction.hpp>

using namespace reckoner;
using capi::entity_id;
using capi::run;
using capi::with;

namespace {

reckoner_prediction_step to_c(const PredictionStep& step) {
  return {step.tick, static_cast<std::uint32_t>(step.input.size()), capi::to_c(step.input)};
}

}  // namespace

reckoner_result reckoner_client_next_step(reckoner_client* client, const void* input, std::size_t input_size,
                                          reckoner_prediction_step* step) {
  if (step == nullptr || input_size > kMaxInputBytes || (input == nullptr && input_size > 0))
    return RECKONER_ERROR_ARGUMENT;
  *step = {};
  return with(client, [&](Client& c) -> reckoner_result {
    const auto next = c.next_step(std::span(static_cast<const std::byte*>(input), input_size));
    if (!next) return RECKONER_NOTHING;
    *step = to_c(*next);
    return RECKONER_OK;
  });
}

reckoner_result reckoner_client_predict(reckoner_client* client, reckoner_entity entity, std::uint32_t tick,
                                        const reckoner_state* state, const void* game_state,
                                        std::size_t game_state_size) {
  if (state == nullptr || (game_state == nullptr && game_state_size > 0)) return RECKONER_ERROR_ARGUMENT;
  return run(client, [&](Client& c) {
    const std::span bytes(static_cast<const std::byte*>(game_state), game_state_size);
    return c.predict(entity_id(entity), tick, capi::from_c(*state), bytes);
  });
}

reckoner_result reckoner_client_poll_correction(reckoner_client* client, reckoner_correction* correction) {
  return with(client, [&](Client& c) -> reckoner_result {
    if (const auto wrong = capi::check_struct(correction); wrong != RECKONER_OK) return wrong;
    const auto polled = c.poll_correction();
    if (!polled) return RECKONER_NOTHING;
    client->corrected.clear();
    client->steps.clear();
    for (const CorrectedEntity& entity : polled->entities)
      client->corrected.push_back({capi::to_c(entity.id), capi::to_c(entity.state),
                                   capi::to_c(entity.game_state), entity.game_state.size()});
    for (const PredictionStep& step : polled->steps)
      client->steps.push_back(to_c(step));
    reckoner_correction given{};
    given.reason = static_cast<std::int32_t>(polled->reason);
    given.tick = polled->tick;
    given.entity_count = static_cast<std::uint32_t>(client->corrected.size());
    given.entities = client->corrected.data();
    given.steps = client->steps.data();
    given.step_count = static_cast<std::uint32_t>(client->steps.size());
    return capi::give(correction, given);
  });
}
