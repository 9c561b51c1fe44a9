// SPDX-License-Identifier: MIT
#include "programs/server/options.hpp"

#include "net/src/config/archetype_settings.hpp"
#include "net/src/transport/limits/limit_settings.hpp"
#include "programs/common/archetypes.hpp"
#include "programs/common/options/config_file.hpp"
#include "programs/common/options/setting_options.hpp"
#include "programs/common/transport_option.hpp"
#include "server/src/server_settings.hpp"

#include <map>
#include <string>
#include <utility>

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
  app.add_option("--decisions", o.decisions_path,
                 "write why motions were published and why updates were postponed to this CSV file, for "
                 "reckoner-harness explain; the server then uses one thread");
  app.add_option("--metrics-port", o.metrics_port,
                 "TCP port of /metrics (Prometheus) and /health; 0: any free one, which is printed")
      ->check(CLI::Range(0, 65'535));
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
      ->check(CLI::Range(0, 65'535))
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
  app.add_option(
         "--watch-origin", o.watch.origins,
         "a page of this origin may connect, too, for example https://game.example; browsers may reach "
         "the live view under its host name, otherwise only under an address or localhost")
      ->group(kGroup);
  app.add_flag("--watch-no-udp", o.watch.no_udp,
               "browsers get everything over the WebSocket, and nothing over data channels")
      ->group(kGroup);
  app.add_option("--watch-udp-port", o.watch.udp_port,
                 "UDP port of the data channels of the live view; 0: any free one")
      ->capture_default_str()
      ->group(kGroup);
  app.add_option(
         "--watch-udp-address", o.watch.udp_address,
         "IP address at which browsers reach the UDP port, behind a NAT or beside a proxy; by default "
         "the one at which they reach the TCP port")
      ->group(kGroup);
  app.add_option("--watchers", o.watch.most, "how many browsers may watch at once")
      ->check(CLI::Range(std::size_t{1}, std::size_t{1000}))
      ->capture_default_str()
      ->group(kGroup);
}

void add_cluster_options(CLI::App& app, ClusterOptions& o) {
  constexpr const char* kGroup = "One world on several servers, over NATS (docs/cluster.md)";
  const auto add = [&](const char* name, auto& value, const char* meaning) {
    return app.add_option(name, value, meaning)->group(kGroup);
  };
  add("--world", o.world, "name of the world that this process joins; without it, this is a single server");
  add("--nats", o.nats, "URL of the NATS server with JetStream (default: nats://127.0.0.1:4222)");
  add("--role", o.role, "simulator (moves entities), gateway (serves clients) or both (default: both)")
      ->check(CLI::IsMember({"simulator", "gateway", "both"}));
  add("--name", o.name, "name of this process in the world (default: made from its role and number)");
  add("--nats-user", o.user, "user at the NATS server");
  add("--nats-password", o.password, "password of the user; better in the file of --config");
  add("--nats-ca", o.ca_file, "certificates of trusted authorities; makes TLS to NATS mandatory");
  add("--nats-cert", o.cert_file, "certificate of this process, for mutual TLS");
  add("--nats-key", o.key_file, "private key of this process, for mutual TLS");
  add("--nats-replicas", o.replicas, "copies of each bucket in a NATS cluster, if this process creates it")
      ->check(CLI::Range(1, 5))
      ->capture_default_str();
  add("--cell-m", o.cell_m, "side of a cell, m; equal in all processes of the world")
      ->check(CLI::Range(1.0, 1e9))
      ->capture_default_str();
  add("--columns", o.columns, "cells along x; equal in all processes of the world")
      ->check(CLI::Range(1u, 4096u))
      ->capture_default_str();
  add("--rows", o.rows, "cells along y; equal in all processes of the world")
      ->check(CLI::Range(1u, 4096u))
      ->capture_default_str();
}

constexpr const char* kLimits =
    "Limits (a section of the file; the server drops and counts data beyond them)";

}  // namespace

void add_server_options(CLI::App& app, ServerOptions& o) {
  add_config_option(app, o.config_path);
  add_source_options(app, o.source, "--trace-columns");  // --columns: cells
  app.add_option("--seed", o.source.seed, "seed of the random numbers of a scenario")->capture_default_str();
  app.add_option(
      "--host", o.host,
      "address to listen on; \"0.0.0.0\": all IPv4 addresses, \"::\": all IPv6 addresses (default: all "
      "addresses of this machine)");
  app.add_option("--port", o.port, "UDP port to listen on; 0: any free one, which is printed")
      ->check(CLI::Range(0, 65'535))
      ->capture_default_str();
  add_settings(app, kServerSettings, o.server);
  app.get_option("--fixed-rate")->excludes("--updates-per-second");
  add_settings(app, kArchetypeSettings, o.thresholds);
  const std::map<std::string, VelocitySource> sources{{"automatic", VelocitySource::automatic},
                                                      {"given", VelocitySource::given},
                                                      {"estimated", VelocitySource::estimated}};
  app.add_option("--velocity", o.thresholds.velocity,
                 "where velocities come from: given (by the scenario or the trace), estimated (from the "
                 "positions) or automatic (estimated while the given ones are zero)")
      ->transform(CLI::CheckedTransformer(sources).description(""))
      ->type_name("TEXT")
      ->default_str("automatic");
  add_watching_options(app, o);
  add_live_view_options(app, o);
  add_security_options(app, o.security);
  add_transport_option(app, o.transport);
  add_settings(app, kTransportLimitSettings, o.limits, kLimits);
  add_settings(app, kSecuritySettings, o.security.limits, kLimits);
  add_cluster_options(app, o.cluster);
  add_log_options(app, o.log);
  app.footer(
      "Examples:\n"
      "  reckoner-server --scenario crowd --port 26000 --insecure\n"
      "  reckoner-server --trace flight.csv --threshold-m 0.01 --truth truth.csv --key game.key\n"
      "  reckoner-server --scenario crowd --key game.key --address game.example:26000\n"
      "  reckoner-server --config /etc/reckoner/server.toml --metrics-port 9464\n"
      "  reckoner-server --scenario crowd --world arena --role simulator --nats nats://10.0.0.1:4222\n"
      "Stops at the end of the trace, after --seconds, or on Ctrl-C or SIGTERM, and notifies the clients.\n"
      "Exit codes: 0 done, 1 failed, 2 bad input.");
}

std::optional<Error> find_wrong_cluster_option(const ClusterOptions& o) {
  if (o.world.empty()) {
    const std::pair<const std::string*, const char*> needing[] = {{&o.nats, "--nats"},
                                                                  {&o.role, "--role"},
                                                                  {&o.name, "--name"},
                                                                  {&o.user, "--nats-user"},
                                                                  {&o.password, "--nats-password"},
                                                                  {&o.ca_file, "--nats-ca"},
                                                                  {&o.cert_file, "--nats-cert"},
                                                                  {&o.key_file, "--nats-key"}};
    for (const auto& [value, option] : needing) {
      if (!value->empty()) return Error{std::string(option) + " needs --world"};
    }
    return std::nullopt;
  }
#if !defined(RECKONER_CLUSTER)
  return Error{
      "--world needs NATS, and this reckoner-server was built without it (libnats, RECKONER_CLUSTER)"};
#else
  if (o.cert_file.empty() != o.key_file.empty()) return Error{"--nats-cert and --nats-key need each other"};
  if (!o.password.empty() && o.user.empty()) return Error{"--nats-password needs --nats-user"};
  return std::nullopt;
#endif
}

ServerConfig server_config(const ServerOptions& options, double epoch_s) {
  ServerConfig config = options.server;
  config.epoch_s = epoch_s;
  config.archetypes = archetypes(options.thresholds.threshold_m, options.thresholds.threshold_rad,
                                 options.thresholds.velocity);
  return config;
}

}  // namespace reckoner::program
