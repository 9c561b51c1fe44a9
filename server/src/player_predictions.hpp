// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/messages/correction.hpp"
#include "server/src/prediction/game_states.hpp"
#include "server/src/server_world.hpp"
#include "server/src/session/session_table.hpp"
#include "server/src/util/server_time.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include <reckoner/net/call_result.hpp>
#include <reckoner/net/ids.hpp>
#include <reckoner/server/prediction.hpp>
#include <reckoner/server/server_config.hpp>

namespace reckoner {

/// The entities that clients predict, and the inputs of the players. Connects the world with the
/// ClientPrediction of each session.
class PlayerPredictions {
 public:
  /// All must outlive this object.
  PlayerPredictions(const ServerConfig& config, const ServerTime& time, const SessionTable& sessions,
                    ServerWorld& world)
      : config_(config), time_(time), sessions_(sessions), world_(world) {}

  /// These implement the functions of Server with the same names.
  CallResult let_predict(EntityId id, ClientId client, const PredictionRules& rules);
  CallResult stop_prediction(EntityId id, ClientId client);
  CallResult set_game_state(EntityId id, std::span<const std::byte> bytes);
  [[nodiscard]] PlayerInput input(ClientId client);
  [[nodiscard]] std::optional<PredictionStats> stats(ClientId client) const;

  /// True if a client predicts the entity.
  [[nodiscard]] bool is_predicted(EntityId id) const;
  /// Compares the clients' results for `tick` with the states that the game has set.
  void run(Tick tick, double now_s);

 private:
  void judge(Session& session, ClientPrediction& prediction, Tick tick, double now_s);

  const ServerConfig& config_;
  const ServerTime& time_;
  const SessionTable& sessions_;
  ServerWorld& world_;
  GameStates game_states_;
  std::array<ExactState, kMaxPredicted> states_;  // scratch; kept so that its memory is used again
};

}  // namespace reckoner
