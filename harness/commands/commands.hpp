// SPDX-License-Identifier: MIT
#pragma once

namespace CLI {
class App;
}

namespace reckoner::harness {

/// Each function adds a command to the program. The command runs while the command line is parsed and stores
/// its exit code in `exit_code`, which must outlive the application.
void add_replay_command(CLI::App& app, int& exit_code);
void add_compare_command(CLI::App& app, int& exit_code);
void add_measure_command(CLI::App& app, int& exit_code);
void add_conditioner_command(CLI::App& app, int& exit_code);
void add_demo_command(CLI::App& app, int& exit_code, const char* argv0);
void add_load_command(CLI::App& app, int& exit_code, const char* argv0);
void add_flood_command(CLI::App& app, int& exit_code, const char* argv0);
void add_soak_command(CLI::App& app, int& exit_code, const char* argv0);
void add_arena_command(CLI::App& app, int& exit_code);
void add_football_command(CLI::App& app, int& exit_code);
void add_cluster_command(CLI::App& app, int& exit_code, const char* argv0);
void add_plot_command(CLI::App& app, int& exit_code);
void add_record_command(CLI::App& app, int& exit_code);

}  // namespace reckoner::harness
