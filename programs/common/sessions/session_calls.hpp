// SPDX-License-Identifier: MIT
#pragma once

#include "programs/common/sessions/session_log.hpp"

#include <cstddef>
#include <optional>
#include <span>

#include <reckoner/client/client.hpp>
#include <reckoner/client/prediction.hpp>
#include <reckoner/net/call_result.hpp>
#include <reckoner/net/ids.hpp>
#include <reckoner/reckoning/state.hpp>

namespace reckoner::program {

/// Makes and records the calls of a game that predicts entities. A record precedes what its call sends, as a
/// replay needs it. The client and the writer must outlive this object.
class RecordedPrediction {
 public:
  /// `client` has its origin at zero: a recording does not contain Client::set_origin().
  RecordedPrediction(Client& client, SessionWriter& writer) : client_(client), writer_(writer) {}

  /// Client::next_step().
  [[nodiscard]] std::optional<PredictionStep> next_step(std::span<const std::byte> input);
  /// Client::predict(). Arguments that the client refuses for themselves are not recorded.
  CallResult predict(EntityId id, Tick tick, const State& state, std::span<const std::byte> game_state = {});
  /// Client::poll_correction().
  [[nodiscard]] std::optional<Correction> poll_correction();

 private:
  Client& client_;
  SessionWriter& writer_;
};

/// The settings of a client that plays back a recording, without archetypes.
[[nodiscard]] ClientConfig config_of(const SessionSettings& settings);

/// Makes the recorded call to the client. Does nothing for a FrameRecord, because the caller needs the
/// picture, and for records that are no calls. Returns the correction that the call has returned.
std::optional<Correction> repeat_call(Client& client, const SessionRecord& call);

}  // namespace reckoner::program
