// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>
#include <vector>

#include <reckoner/reckoning/result.hpp>

namespace reckoner::harness {

/// The clock of a replay's client. Its offset to the server's clock is not zero, so that code that confuses
/// the two clocks is noticed. It may also run at another rate, stand still or be set.
class ClientClock {
 public:
  /// A clock that runs like the server's.
  ClientClock() = default;

  /// Parses the option --client-clock. The text has one or more parts, separated by `|`:
  ///
  ///     rate:R        the clock runs R times as fast as the server's, 0 < R <= 100
  ///     stop:AT,FOR   it stands still for FOR seconds, and goes on from there
  ///     step:AT,BY    it is set forward by BY seconds, or back if BY is negative
  ///
  /// AT counts in seconds of the server's clock from the start of the run. The error names the part.
  [[nodiscard]] static Result<ClientClock> parse(std::string_view text);

  /// The time on this clock at server time `time_s`, in a run that began at `start_s`, s.
  [[nodiscard]] double at(double time_s, double start_s) const;

 private:
  struct Change {
    double at_s = 0.0;
    double stop_s = 0.0;  // how long the clock stands still
    double step_s = 0.0;
  };
  [[nodiscard]] static Result<ClientClock> with_part(ClientClock clock, std::string_view part);

  double rate_ = 1.0;
  std::vector<Change> changes_;
};

}  // namespace reckoner::harness
