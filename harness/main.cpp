// SPDX-License-Identifier: MIT
// reckoner-harness measures what players see over a bad network, and how many bytes that takes.

#include "harness/commands/cli_options.hpp"
#include "harness/commands/commands.hpp"
#include "harness/commands/motion/curve_command.hpp"
#include "harness/commands/motion/predict_command.hpp"
#include "harness/commands/replay/explain_command.hpp"
#include "harness/commands/replay/replay_log_command.hpp"
#include "programs/common/options/command_line_error.hpp"
#include "programs/common/options/options.hpp"
#include "programs/common/system/memory.hpp"
#include "programs/common/system/standard_streams.hpp"

#include <cstdio>
#include <exception>
#include <new>
#include <stdexcept>
#include <string>

#include <CLI/CLI.hpp>

int main(int argc, char** argv) {
  using namespace reckoner::harness;
  CLI::App app{
      "Measures what players see over a bad network, and how many bytes that takes.\nCompares Reckoner and "
      "the usual techniques on recorded or simulated motion."};
  app.name("reckoner-harness");
  app.require_subcommand(1);
  app.option_defaults()->always_capture_default();
  app.footer(
      "reckoner-harness COMMAND --help describes a command. Examples to start with:\n"
      "  reckoner-harness demo\n"
      "  reckoner-harness replay --scenario crowd --network mobile");
  reckoner::program::use_utf8();
  reckoner::program::let_large_files_fail();
  int exit_code = 0;
  add_demo_command(app, exit_code, argv[0]);
  add_replay_command(app, exit_code);
  add_compare_command(app, exit_code);
  add_load_command(app, exit_code, argv[0]);
  add_flood_command(app, exit_code, argv[0]);
  add_soak_command(app, exit_code, argv[0]);
  add_arena_command(app, exit_code);
  add_football_command(app, exit_code);
#if defined(RECKONER_CLUSTER)
  add_cluster_command(app, exit_code, argv[0]);
#endif
  add_plot_command(app, exit_code);
  add_record_command(app, exit_code);
  add_conditioner_command(app, exit_code);
  add_measure_command(app, exit_code);
  add_curve_command(app, exit_code);
  add_predict_command(app, exit_code);
  add_replay_log_command(app, exit_code);
  add_explain_command(app, exit_code);
  add_explain_trials_command(app, exit_code);
  reckoner::program::want_finite_numbers(app);
  app.set_version_flag("--version", reckoner::program::version_text("reckoner-harness"),
                       "print the version and exit");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // --help
    return report_error(reckoner::program::command_line_error(app, error), reckoner::program::kBadInput);
  } catch (const std::bad_alloc& error) {
    return report_error(reckoner::program::out_of_memory_text(error), reckoner::program::kFailed);
  } catch (const std::length_error& error) {
    return report_error(reckoner::program::out_of_memory_text(error), reckoner::program::kFailed);
  } catch (const std::exception& error) {
    return report_error(error.what(), reckoner::program::kFailed);
  }
  return exit_code;
}
