// SPDX-License-Identifier: MIT
// Plays the arena in virtual time and prints what its players see. See the table in ../README.md.
#include "examples/arena/figures/figures.hpp"

#include <cstdio>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace {

void print(const char* name, const arena::KindFigures& kind) {
  std::printf("| %-9s | %.3f | %.2f | %.2f |\n", name, kind.error_p95_m, kind.velocity_step_mps,
              kind.true_step_mps);
}

}  // namespace

int main(int argc, char** argv) {
  arena::FigureOptions options;
  std::string network = "intercity", mode = "present", authority = "predicted",
              script = RECKONER_ARENA_SCRIPT;
  CLI::App app("Plays the arena in virtual time and prints what its players see");
  app.add_option("--network", network, "lan, broadband, wifi, intercity, mobile or stress");
  app.add_option("--mode", mode, "present or adaptive")->check(CLI::IsMember({"present", "adaptive"}));
  app.add_option("--authority", authority, "who moves the avatars: own (their players), predicted or server")
      ->check(CLI::IsMember(
          std::vector<std::string>(arena::kAuthorityNames.begin(), arena::kAuthorityNames.end())));
  app.add_flag("--chase-ball", options.chase_ball, "the players run after the ball instead of the script");
  app.add_option("--seconds", options.seconds, "length of the run")->check(CLI::Range(5.0, 3600.0));
  app.add_option("--players", options.players, "number of players")->check(CLI::Range(1, 32));
  app.add_option("--seed", options.seed, "of the bots and of the network");
  app.add_option("--script", script, "file with the keys that the players press");
  CLI11_PARSE(app, argc, argv);
  const auto link = reckoner::harness::find_network(network);
  const auto lines = arena::read_script(script);
  if (!link) return std::fprintf(stderr, "unknown network %s\n", network.c_str()), 2;
  if (!lines) return std::fprintf(stderr, "cannot read the script %s\n", script.c_str()), 2;
  options.link = *link, options.script = *lines;
  if (mode == "adaptive") options.mode = reckoner::PlayoutMode::adaptive;

  options.authority = *arena::authority_of(authority);

  const arena::Figures figures = arena::play(options);
  std::printf("%s, %s, authority %s, %.0f s\n\n", network.c_str(), mode.c_str(), authority.c_str(),
              options.seconds);
  std::printf(
      "| kind | error p95, m | largest velocity step, m/s | of the truth, m/s |\n|---|---|---|---|\n");
  print("bots", figures.bots);
  print("avatars", figures.avatars);
  print("riders", figures.riders);
  print("bolts", figures.bolts);
  std::printf("\nstanding riders, largest error on the deck  %.4f m\n", figures.standing_rider_m);
  std::printf("bolts of others, off the muzzle's line      %.4f m at most, when first shown\n",
              figures.off_line_m);
  std::printf("bolts of others, first shown after          %.0f ms (p95 of %zu)\n", figures.bolt_late_p95_ms,
              figures.bolts_seen);
  std::printf("own bolts, not shown in their first picture   %zu of %zu\n", figures.own_bolts_late,
              figures.own_bolts);
  std::printf("beams: %zu fired, %zu judged, %zu hit; seen place wrong by at most %.4f m\n", figures.beams,
              figures.verdicts, figures.beams_hit, figures.seen_error_m);
  std::printf("motions of players corrected                %zu\n", figures.corrected);
  const arena::OwnFigures& own = figures.own;
  std::printf("own avatar, error to the server's path      %.3f m (p95); largest velocity step %.2f m/s\n",
              own.error_p95_m, own.velocity_step_mps);
  std::printf(
      "ball near the avatar, error                 %.3f m (p95); predicted in %.0f %% of the pictures\n",
      own.ball_error_p95_m, 100.0 * own.ball_predicted_share);
  std::printf("ball, largest step in a picture             %.3f m; of the truth %.3f m; %zu kicks\n",
              own.ball_step_m, own.ball_true_step_m, own.kicks);
  std::printf("corrections of a player in a minute         %.1f; because of late inputs %.1f\n",
              own.corrections_per_minute, own.input_missing_per_minute);
  std::printf("lead of the inputs, mean                    %.0f ms\n", 1e3 * own.lead_s);
  std::printf("ticks with a repeated input                 %.2f %%\n", 100.0 * own.repeated_share);
  std::printf("received by a player                        %.0f bytes/s\n", figures.bytes_per_second);
}
