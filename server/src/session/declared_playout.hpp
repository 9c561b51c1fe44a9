// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/messages/messages.hpp"

#include <limits>
#include <optional>

#include <reckoner/net/refusal.hpp>

namespace reckoner {

/// How a client declares that it shows entities: predicted or interpolated, and how it blends.
/// To apply a change, the server must visit every entity that the client follows. Therefore it applies
/// changes at most twice a second, and always the newest declaration.
class DeclaredPlayout {
 public:
  DeclaredPlayout() = default;
  explicit DeclaredPlayout(const PlayoutMessage& at_join) : declared_(at_join) {}

  /// Accepts a new declaration. Returns Refusal::repeated if it changes nothing, Refusal::too_many if it
  /// replaces a declaration that was not applied yet, and nullopt otherwise.
  [[nodiscard]] std::optional<Refusal> declare(const PlayoutMessage& message) {
    if (message == declared_) return Refusal::repeated;
    declared_ = message;
    if (pending_) return Refusal::too_many;
    pending_ = true;
    return std::nullopt;
  }

  /// The declaration to apply now. Nullopt if there is no new declaration, or if the last one was applied
  /// less than half a second ago.
  [[nodiscard]] std::optional<PlayoutMessage> due(double now_s) {
    constexpr double kMinIntervalS = 0.5;
    if (!pending_ || now_s - applied_s_ < kMinIntervalS) return std::nullopt;
    pending_ = false;
    applied_s_ = now_s;
    return declared_;
  }

 private:
  PlayoutMessage declared_;
  bool pending_ = false;
  double applied_s_ = -std::numeric_limits<double>::infinity();
};

}  // namespace reckoner
