// SPDX-License-Identifier: MIT
// The players' own bodies at a server: inputs, and which client predicts which entity.
#include "capi/src/server/server_handle.hpp"
#include "capi/src/values/shared_fields.hpp"

#include <cstddef>
#include <span>

using namespace reckoner;
using capi::done_or;
using capi::entity_id;
using capi::run;
using capi::with;

reckoner_result reckoner_server_let_predict(reckoner_server* server, reckoner_entity entity,
                                            reckoner_client_id client,
                                            const reckoner_prediction_rules* rules) {
  reckoner_prediction_rules c;
  reckoner_prediction_rules_init(&c, sizeof c);
  if (rules != nullptr) {
    if (const auto result = capi::read_struct(rules, c); result != RECKONER_OK) return result;
  }
  return run(server, [&](Server& s) {
    PredictionRules given;
    copy_from_c(capi::kPredictionFields, given, c);
    return s.let_predict(entity_id(entity), ClientId{client}, given);
  });
}

reckoner_result reckoner_server_stop_prediction(reckoner_server* server, reckoner_entity entity,
                                                reckoner_client_id client) {
  return run(server, [&](Server& s) { return s.stop_prediction(entity_id(entity), ClientId{client}); });
}

reckoner_result reckoner_server_set_game_state(reckoner_server* server, reckoner_entity entity,
                                               const void* bytes, std::size_t size) {
  if (bytes == nullptr && size > 0) return RECKONER_ERROR_ARGUMENT;
  return run(server, [&](Server& s) {
    return s.set_game_state(entity_id(entity), std::span(static_cast<const std::byte*>(bytes), size));
  });
}

reckoner_result reckoner_server_input(reckoner_server* server, reckoner_client_id client,
                                      reckoner_player_input* input) {
  return with(server, [&](Server& s) -> reckoner_result {
    if (const auto wrong = capi::check_struct(input); wrong != RECKONER_OK) return wrong;
    const PlayerInput given = s.input(ClientId{client});
    reckoner_player_input c{};
    c.repeated = given.repeated;
    c.bytes = capi::to_c(given.bytes);
    c.size = given.bytes.size();
    c.seen_s = given.seen_s;
    const bool is_known = s.prediction_stats(ClientId{client}).has_value();
    const auto wrong = capi::give(input, c);
    return wrong != RECKONER_OK ? wrong : done_or(is_known, RECKONER_NOTHING);
  });
}

reckoner_result reckoner_server_get_prediction_stats(const reckoner_server* server, reckoner_client_id client,
                                                     reckoner_prediction_stats* stats) {
  return with(server, [&](const Server& s) -> reckoner_result {
    if (const auto wrong = capi::check_struct(stats); wrong != RECKONER_OK) return wrong;
    const auto found = s.prediction_stats(ClientId{client});
    if (!found) return RECKONER_NOTHING;
    reckoner_prediction_stats c{};
    c.ticks = found->ticks;
    c.ticks_repeated = found->ticks_repeated;
    c.inputs_late = found->inputs_late;
    c.inputs_refused = found->inputs_refused;
    c.results = found->results;
    c.mispredicted = found->mispredicted;
    c.corrections = found->corrections;
    return capi::give(stats, c);
  });
}
