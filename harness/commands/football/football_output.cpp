// SPDX-License-Identifier: MIT
#include "harness/commands/football/football_output.hpp"

#include <fmt/format.h>

namespace reckoner::harness {

std::string football_text(const football::FootballOptions& options, const std::string& network,
                          std::span<const std::uint64_t> seeds,
                          const std::vector<football::FootballFigures>& methods) {
  std::string names;
  for (const std::uint64_t seed : seeds)
    names += fmt::format("{}{}", names.empty() ? "" : ", ", seed);
  return fmt::format("players' game over {}: {} players, {:g} s, {} {}\n", network, options.players,
                     options.seconds, seeds.size() == 1 ? "seed" : "seeds", names) +
         football_table(methods);
}

nlohmann::ordered_json football_json(const football::FootballOptions& options,
                                     std::span<const std::uint64_t> seeds,
                                     const std::vector<football::FootballFigures>& methods) {
  nlohmann::ordered_json out{{"seeds", nlohmann::ordered_json(seeds)},
                             {"seconds", options.seconds},
                             {"players", options.players},
                             {"tick_rate_hz", options.tick_rate_hz},
                             {"frame_rate_hz", options.frame_rate_hz},
                             {"input_delay_ticks", options.input_delay_ticks},
                             {"inputs_per_datagram", options.inputs_per_datagram},
                             {"tolerance_m", options.rules.position_m},
                             {"tolerance_rad", options.rules.angle_rad},
                             {"smoothing", options.smoothing},
                             {"others", football::name_of(options.others_at)},
                             {"ball", options.predicts_ball ? "predicted" : "shown"},
                             {"contacts", options.has_contacts},
                             {"methods", nlohmann::ordered_json::array()}};
  for (const football::FootballFigures& one : methods)
    out["methods"].push_back(figures_json(one));
  return out;
}

}  // namespace reckoner::harness
