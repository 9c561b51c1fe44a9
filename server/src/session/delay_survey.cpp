// SPDX-License-Identifier: MIT
#include "server/src/session/delay_survey.hpp"

#include "reckoning/src/statistics/quantile.hpp"

#include <cstddef>

namespace reckoner {
namespace {

constexpr double kQuantile = 0.9;

// Each entity is measured once in this many ticks, which is enough because delays change slowly.
constexpr std::size_t kTicks = 64;

}  // namespace

void DelaySurvey::run(EntityTable& entities, const SessionTable& sessions) {
  const std::size_t words = (entities.slots().size() + SlotSet::kWordBits - 1) / SlotSet::kWordBits;
  // Spreads the words evenly over the ticks of a round.
  const std::size_t turn = next_turn_++ % kTicks;
  for (std::size_t word = turn * words / kTicks; word < (turn + 1) * words / kTicks; ++word)
    measure_word(entities, sessions, word);
}

void DelaySurvey::measure_word(EntityTable& entities, const SessionTable& sessions, std::size_t word) {
  // A sleeping entity publishes nothing, so its delay does not matter.
  const std::uint64_t awake = entities.awake().word(word);
  for (std::size_t level = 0; level < kLevels && awake != 0; ++level) {
    for (auto& delays : delays_s_)
      delays.clear();
    for (const auto& session : sessions.all()) {
      const auto listening = session->subscriptions().listening(level).words();
      if (word >= listening.size() || !session->round_trip().known()) continue;
      const double delay_s = session->mean_delay_s();
      SlotSet::for_each_in(listening[word] & awake, 0,
                           [&](std::uint32_t bit) { delays_s_[bit].push_back(delay_s); });
    }
    for (std::size_t bit = 0; bit < delays_s_.size(); ++bit) {
      std::vector<double>& delays = delays_s_[bit];
      if (delays.empty()) continue;
      // With two subscribers, the quantile is the larger delay.
      entities.slots()[word * SlotSet::kWordBits + bit].levels[level].delay_s = quantile(delays, kQuantile);
    }
  }
}

}  // namespace reckoner
