// SPDX-License-Identifier: MIT
#include "options.hpp"

#include <reckoner/program/archetypes.hpp>
#include <reckoner/program/config_file.hpp>

namespace reckoner::program {
namespace {

void add_sending_options(CLI::App& app, ServerOptions& o) {
  app.add_option("--tick-rate", o.tick_rate_hz, "ticks per second")
      ->check(CLI::Range(1.0, 1000.0))
      ->capture_default_str();
  app.add_option("--threshold-m", o.threshold_m, "largest distance that clients may be off unnoticed, m")
      ->check(CLI::Range(1e-4, 1e3))
      ->capture_default_str();
  app.add_option("--threshold-rad", o.threshold_rad, "largest angle that clients may be off unnoticed, rad")
      ->check(CLI::Range(1e-4, 3.2))
      ->capture_default_str();
  auto* budget = app.add_option("--updates-per-second", o.updates_per_second,
                                "budget per entity; the thresholds follow it")
                     ->check(CLI::Range(0.1, 1000.0));
  app.add_option("--fixed-rate", o.fixed_rate_hz, "publish every entity evenly at this rate, Hz")
      ->check(CLI::Range(0.1, 1000.0))
      ->excludes(budget);
}

void add_watching_options(CLI::App& app, ServerOptions& o) {
  app.add_option("--truth", o.truth_path, "write every tick's true poses to this CSV file");
  app.add_option("--json", o.json_path, "write the final counts to this JSON file");
  app.add_option("--metrics-port", o.metrics_port,
                 "TCP port of /metrics (Prometheus) and /health; 0: any free one, which is printed");
  app.add_option("--metrics-host", o.metrics_host, "address that they are served on")->capture_default_str();
}

}  // namespace

void add_server_options(CLI::App& app, ServerOptions& o) {
  add_config_option(app, o.config_path);
  add_source_options(app, o.source);
  app.add_option("--seed", o.source.seed, "of a scenario")->capture_default_str();
  app.add_option("--host", o.host, "address to listen on (default: all of this machine's)");
  app.add_option("--port", o.port, "UDP port to listen on; 0: any free one, which is printed")
      ->capture_default_str();
  add_sending_options(app, o);
  app.add_option("--max-clients", o.max_clients, "more are turned away")
      ->check(CLI::Range(1, 65'535))
      ->capture_default_str();
  app.add_option("--threads", o.threads, "that publish and encode; 0: one for each core")
      ->check(CLI::Range(0u, 256u))
      ->capture_default_str();
  add_watching_options(app, o);
  add_security_options(app, o.security);
  add_log_options(app, o.log);
  app.footer(
      "Examples:\n"
      "  reckoner-server --scenario crowd --port 26000 --insecure\n"
      "  reckoner-server --trace flight.csv --threshold-m 0.01 --truth truth.csv --key game.key\n"
      "  reckoner-server --config /etc/reckoner/server.toml --metrics-port 9464\n"
      "Stops at the end of the trace, after --seconds, or on Ctrl-C or SIGTERM, and tells the clients. Exit\n"
      "codes: 0 done, 1 failed, 2 bad input.");
}

ServerConfig server_config(const ServerOptions& options, double epoch_s) {
  ServerConfig config;
  config.tick_rate_hz = options.tick_rate_hz;
  config.epoch_s = epoch_s;
  config.archetypes = archetypes(options.threshold_m, options.threshold_rad);
  config.max_clients = options.max_clients;
  config.threads = options.threads;
  config.updates_per_second = options.updates_per_second;
  config.fixed_rate_hz = options.fixed_rate_hz;
  return config;
}

}  // namespace reckoner::program
