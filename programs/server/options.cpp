// SPDX-License-Identifier: MIT
#include "programs/server/options.hpp"

#include "net/src/config/archetype_settings.hpp"
#include "net/src/transport/limits/limit_settings.hpp"
#include "programs/common/archetypes.hpp"
#include "programs/common/options/config_file.hpp"
#include "programs/common/options/setting_options.hpp"
#include "server/src/server_settings.hpp"

#include <string>

#include <CLI/CLI.hpp>

namespace reckoner::program {
namespace {

// Adds the command-line options of a table of settings. Skips settings that have no option.
template <class Table, class Config>
void add_settings(CLI::App& app, const Table& table, Config& config, const std::string& group = {}) {
  for (const auto& setting : table) {
    if (setting.option.empty()) continue;
    CLI::Option* const option = add_setting(app, setting, config);
    if (!group.empty()) option->group(group);
  }
}

void add_watching_options(CLI::App& app, ServerOptions& o) {
  app.add_option("--truth", o.truth_path, "write every tick's true poses to this CSV file");
  app.add_option("--json", o.json_path, "write the final counts to this JSON file");
  app.add_option("--metrics-port", o.metrics_port,
                 "TCP port of /metrics (Prometheus) and /health; 0: any free one, which is printed");
  app.add_option("--metrics-host", o.metrics_host, "address of /metrics and /health")->capture_default_str();
  app.add_option("--metrics-clients", o.metrics_clients,
                 "show figures of this many clients, those with the oldest data; 0: of none")
      ->capture_default_str();
}

void add_live_view_options(CLI::App& app, ServerOptions& o) {
  constexpr const char* kGroup = "Live view (docs/playground.md)";
  app.add_option(
         "--watch-port", o.watch_port,
         "TCP port of the live view in a browser, with a WebSocket; 0: any free one, which is printed")
      ->group(kGroup);
  app.add_option("--watch-host", o.watch.host, "address of the live view")
      ->capture_default_str()
      ->group(kGroup);
  app.add_option("--watch-page", o.watch.page,
                 "folder with the page, build/playground; without it, only the WebSocket is served")
      ->group(kGroup);
  app.add_option("--watch-certificate", o.watch.certificate,
                 "PEM file with certificate and private key, for https and wss")
      ->group(kGroup);
  app.add_option("--watch-origin", o.watch.origins,
                 "a page of this origin may connect, too, for example https://game.example")
      ->group(kGroup);
  app.add_option("--watchers", o.watch.most, "how many browsers may watch at once")
      ->check(CLI::Range(std::size_t{1}, std::size_t{1000}))
      ->capture_default_str()
      ->group(kGroup);
}

constexpr const char* kLimits =
    "Limits (a section of the file; the server drops and counts data beyond them)";

}  // namespace

void add_server_options(CLI::App& app, ServerOptions& o) {
  add_config_option(app, o.config_path);
  add_source_options(app, o.source);
  app.add_option("--seed", o.source.seed, "seed of the random numbers of a scenario")->capture_default_str();
  app.add_option(
      "--host", o.host,
      "address to listen on; \"0.0.0.0\": all IPv4 addresses, \"::\": all IPv6 addresses (default: all "
      "addresses of this machine)");
  app.add_option("--port", o.port, "UDP port to listen on; 0: any free one, which is printed")
      ->capture_default_str();
  add_settings(app, kServerSettings, o.server);
  app.get_option("--fixed-rate")->excludes("--updates-per-second");
  add_settings(app, kArchetypeSettings, o.thresholds);
  add_watching_options(app, o);
  add_live_view_options(app, o);
  add_security_options(app, o.security);
  add_settings(app, kTransportLimitSettings, o.limits, kLimits);
  add_settings(app, kSecuritySettings, o.security.limits, kLimits);
  add_log_options(app, o.log);
  app.footer(
      "Examples:\n"
      "  reckoner-server --scenario crowd --port 26000 --insecure\n"
      "  reckoner-server --trace flight.csv --threshold-m 0.01 --truth truth.csv --key game.key\n"
      "  reckoner-server --scenario crowd --key game.key --address game.example:26000\n"
      "  reckoner-server --config /etc/reckoner/server.toml --metrics-port 9464\n"
      "Stops at the end of the trace, after --seconds, or on Ctrl-C or SIGTERM, and notifies the clients.\n"
      "Exit codes: 0 done, 1 failed, 2 bad input.");
}

ServerConfig server_config(const ServerOptions& options, double epoch_s) {
  ServerConfig config = options.server;
  config.epoch_s = epoch_s;
  config.archetypes = archetypes(options.thresholds.threshold_m, options.thresholds.threshold_rad);
  return config;
}

}  // namespace reckoner::program
