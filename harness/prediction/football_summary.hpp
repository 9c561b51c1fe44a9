// SPDX-License-Identifier: MIT
#pragma once

#include "harness/prediction/football_figures.hpp"
#include "harness/prediction/football_options.hpp"
#include "harness/prediction/football_picture.hpp"
#include "harness/prediction/football_truth.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace reckoner::harness::football {

/// Counters of all clients together. They only grow.
struct FootballCounters {
  std::uint64_t up_bits = 0;    ///< behind the heads of the clients' datagrams
  std::uint64_t down_bits = 0;  ///< about the clients' own cars and balls
  std::uint64_t up_bytes = 0, up_wire_bytes = 0, down_bytes = 0, down_wire_bytes = 0;
  std::uint64_t ticks = 0, ticks_repeated = 0;
};

/// What was seen with one method, in one run or in several.
struct FootballSamples {
  bool predicts = false;   ///< the server decides, and clients predict
  bool steps_own = false;  ///< the player's game steps its car at once
  double client_s = 0.0;   ///< seconds of all clients together
  std::vector<double> response, own_error, ball_error, ball_at_own, others_error, others_at_own, lead;
  /// Changes of velocity between pictures, m/s: near corrections, and in all pictures.
  std::vector<double> shown_steps, true_steps, shown_steps_all, true_steps_all;
  std::vector<double> excess, added;  ///< accelerations, m/s^2
  double step_max_m = 0.0, left_max_m = 0.0;
  std::uint64_t car_contacts = 0, car_contacts_denied = 0, ball_contacts = 0, ball_contacts_denied = 0;
  std::uint64_t corrections = 0, input_missing = 0, differs = 0, teleported = 0;
  FootballCounters sent;

  /// Adds another run of the same method.
  FootballSamples& operator+=(const FootballSamples& other);
};

/// What the players of a run saw with one display, from kWarmUpS on. `players` has one record for each car,
/// in their order. Without prediction, use Display::reckoner: everything is shown as the library shows it.
/// `before` and `after` are the counters at kWarmUpS and at the end.
[[nodiscard]] FootballSamples collect_samples(const FootballOptions& options, const FootballTruth& truth,
                                              std::span<const PlayerRecord* const> players, Display display,
                                              const FootballCounters& before, const FootballCounters& after);

/// The figures of a method. `snapping` has the same runs with snapping corrections; null if there are none.
[[nodiscard]] FootballFigures summarise(std::string method, const FootballSamples& samples,
                                        const FootballSamples* snapping);

}  // namespace reckoner::harness::football
