// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/messages/messages.hpp"

#include <limits>
#include <optional>

#include <reckoner/net/refusal.hpp>

namespace reckoner {

/// How a client says that it shows others. To follow a change costs a look at everything that the client
/// follows: a client that changes its mind all the time is followed twice a second at most, and then the
/// newest counts.
class DeclaredPlayout {
 public:
  /// A client that never says anything else.
  DeclaredPlayout() = default;
  explicit DeclaredPlayout(const PlayoutMessage& at_join) : said_(at_join) {}

  /// Takes in what it says now. Why something of it is not taken in, or nothing: that is news to nobody
  /// (repeated), or what it said before, which was still waiting, is void (too_many).
  [[nodiscard]] std::optional<Refusal> say(const PlayoutMessage& message) {
    if (message == said_) return Refusal::repeated;
    said_ = message;
    if (waits_) return Refusal::too_many;
    waits_ = true;
    return std::nullopt;
  }

  /// What is to be followed from now on, once.
  [[nodiscard]] std::optional<PlayoutMessage> due(double now_s) {
    constexpr double kLeastS = 0.5;
    if (!waits_ || now_s - followed_s_ < kLeastS) return std::nullopt;
    waits_ = false;
    followed_s_ = now_s;
    return said_;
  }

 private:
  PlayoutMessage said_;
  bool waits_ = false;
  double followed_s_ = -std::numeric_limits<double>::infinity();
};

}  // namespace reckoner
