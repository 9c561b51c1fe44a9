// SPDX-License-Identifier: MIT
#include "harness/arena/arena.hpp"

#include "harness/arena/arena_player.hpp"
#include "harness/arena/arena_server.hpp"
#include "harness/sim/sim_transport.hpp"

#include <deque>

#include <reckoner/net/transport.hpp>

namespace reckoner::harness {

std::vector<ArenaFigure> run_arena(const ArenaOptions& options) {
  SimNetworkConfig network_config;
  network_config.links = options.links;
  network_config.seed = options.seed;
  network_config.arrival_times = options.calls.arrival_times;
  SimNetwork network(network_config);
  ArenaRecord record;
  record.beams.resize(options.players);
  ArenaServer game(options, network.server(), record);
  std::deque<ArenaPlayer> players;
  for (std::size_t i = 0; i < options.players; ++i)
    players.emplace_back(options, i, network.add_client(kProtocolVersion), record);

  // Server and clients read their sockets once per tick or picture, as simple games do. The pictures of the
  // players lie between the ticks.
  for (double now_s = 0.0; now_s < options.seconds;
       now_s = game.server().tick_time_s(game.server().next_tick())) {
    network.advance(now_s);
    game.turn(now_s);
    record.settle(now_s);
    for (std::size_t i = 0; i < players.size(); ++i) {
      const double share = (static_cast<double>(i) + 0.5) / static_cast<double>(players.size());
      network.advance(now_s + share / kArenaTickHz);
      players[i].turn(now_s + share / kArenaTickHz);
    }
  }
  for (ArenaPlayer& player : players)
    player.finish();
  return record.figures(options.seconds - kArenaWarmUpS, options.players);
}

}  // namespace reckoner::harness
