// SPDX-License-Identifier: MIT
#include "server/src/player_predictions.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

namespace reckoner {
namespace {

bool is_valid(const PredictionRules& rules) {
  return rules.position_m >= 1e-4 && rules.position_m <= 100.0 && rules.angle_rad >= 1e-4 &&
         rules.angle_rad <= 1.0;
}

}  // namespace

CallResult PlayerPredictions::let_predict(EntityId id, ClientId client, const PredictionRules& rules) {
  const Entity* entity = world_.find(id);
  if (entity == nullptr) return CallError::unknown_entity;
  if (entity->short_lived) return CallError::short_lived;
  if (world_.ownership().owner(id)) return CallError::owned;
  Session* session = sessions_.find(client);
  if (session == nullptr) return CallError::unknown_client;
  if (!is_valid(rules)) return CallError::out_of_range;
  const PredictionTolerance tolerance{static_cast<float>(rules.position_m),
                                      static_cast<float>(rules.angle_rad)};
  return session->predictions().get().add(id, tolerance) ? CallError::none : CallError::too_many_predicted;
}

CallResult PlayerPredictions::stop_prediction(EntityId id, ClientId client) {
  Session* session = sessions_.find(client);
  if (session == nullptr) return CallError::unknown_client;
  ClientPrediction* prediction = session->predictions().find();
  if (prediction == nullptr || !prediction->remove(id)) return CallError::not_predicted;
  session->set_predicted(id, false, time_.next_tick());
  return {};
}

CallResult PlayerPredictions::set_game_state(EntityId id, std::span<const std::byte> bytes) {
  if (world_.find(id) == nullptr) return CallError::unknown_entity;
  if (bytes.size() > kMaxGameStateBytes) return CallError::data_too_long;
  game_states_.set(id, bytes);
  return {};
}

PlayerInput PlayerPredictions::input(ClientId client) {
  Session* session = sessions_.find(client);
  ClientPrediction* prediction = session != nullptr ? session->predictions().find() : nullptr;
  if (prediction == nullptr) return {};
  const Tick tick = time_.next_tick();
  const auto repeat_ticks = static_cast<std::uint32_t>(config_.repeat_input_s * config_.tick_rate_hz);
  const InputQueue::Taken& taken = prediction->inputs().take(tick, repeat_ticks, prediction->stats());
  PlayerInput input{taken.input.bytes(), taken.repeated, 0.0};
  if (taken.seen_age_ms) input.seen_s = time_.at(taken.made_for) - 0.001 * *taken.seen_age_ms;
  return input;
}

std::optional<PredictionStats> PlayerPredictions::stats(ClientId client) const {
  const Session* session = sessions_.find(client);
  if (session == nullptr) return std::nullopt;
  const ClientPrediction* prediction = session->predictions().find();
  return prediction != nullptr ? prediction->stats() : PredictionStats{};
}

bool PlayerPredictions::is_predicted(EntityId id) const {
  return std::ranges::any_of(sessions_.all(), [&](const auto& session) {
    const ClientPrediction* prediction = session->predictions().find();
    return prediction != nullptr && prediction->predicts(id);
  });
}

void PlayerPredictions::run(Tick tick, double now_s) {
  for (const auto& session : sessions_.all()) {
    ClientPrediction* prediction = session->predictions().find();
    if (prediction != nullptr && session->peer()) judge(*session, *prediction, tick, now_s);
  }
}

void PlayerPredictions::judge(Session& session, ClientPrediction& prediction, Tick tick, double now_s) {
  std::array<EntityId, kMaxPredicted> ended;
  std::size_t ends = 0, known = 0;
  for (const ClientPrediction::Predicted& one : prediction.entities()) {
    const Entity* entity = world_.find(one.id);
    if (entity == nullptr) {
      ended[ends++] = one.id;
      continue;
    }
    if (!session.has_confirmed(one.id)) continue;
    session.set_predicted(one.id, true, tick);
    ExactState& exact = states_[known++];
    exact.entity = one.id;
    exact.state = *world_.states().in_world(one.id);
    exact.state.position += world_.states().origin();
    exact.teleports = entity->teleports;
    exact.tolerance = one.tolerance;
    const auto bytes = game_states_.of(one.id);
    exact.game_state.assign(bytes.begin(), bytes.end());
  }
  for (const EntityId id : std::span(ended).first(ends))
    (void)prediction.remove(id);
  prediction.judge(tick, now_s, std::span(states_).first(known));
}

}  // namespace reckoner
