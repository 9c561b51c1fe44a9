// SPDX-License-Identifier: MIT
#include "programs/server/options.hpp"

#include "programs/common/archetypes.hpp"
#include "programs/common/config_file.hpp"

#include <string>

#include <CLI/CLI.hpp>

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

// Names, help and range of limits, which all belong together on the page and in the file.
class LimitOptions {
 public:
  explicit LimitOptions(CLI::App& app) : app_(app) {}

  template <class T>
  void add(const std::string& name, T& value, double least, double most, const std::string& help) {
    app_.add_option("--limits." + name, value, help)
        ->check(CLI::Range(static_cast<T>(least), static_cast<T>(most)))
        ->capture_default_str()
        ->group("Limits (a section of the file; what is beyond them is dropped and counted)");
  }

 private:
  CLI::App& app_;
};

constexpr double kMega = 1e6;

// Of what clients send that were let in. The least keep to what an honest client sends.
void add_traffic_limits(LimitOptions options, TransportLimits& l) {
  options.add("datagrams-per-second", l.datagrams_per_second, 0, kMega, "of one client; 0: no limit");
  options.add("bytes-per-second", l.bytes_per_second, 0, 1e9, "of one client; 0: no limit");
  options.add("address-datagrams-per-second", l.address_datagrams_per_second, 0, kMega,
              "of all clients at one IPv4 address; 0: no limit");
  options.add("address-bytes-per-second", l.address_bytes_per_second, 0, 1e9, "the same in bytes");
  options.add("burst-s", l.burst_s, 0.1, 60, "so many seconds' worth may come at once, s");
  options.add("message-bytes", l.message_bytes, 1024, kMaxControlBytes,
              "the largest reliable message that is taken in");
  options.add("waiting-bytes", l.waiting_bytes, 131'072, 1e9,
              "of one client, what waits for something lost; then it is given up");
  options.add("backlog-bytes", l.backlog_bytes, 524'288, 1e9,
              "for one client, what it does not acknowledge; then it is given up");
  options.add("waiting-events", l.waiting_events, 64, 10 * kMega,
              "what has arrived and was not looked at; then the socket is not read");
  options.add("waiting-event-bytes", l.waiting_event_bytes, 65'536, 4e9, "the same in bytes");
  options.add("silence-s", l.silence_s, 1, 3600, "a client that sends nothing for so long is lost, s");
}

// Of who wants to be let in.
void add_gate_limits(LimitOptions options, ServerSecurity& s) {
  options.add("peers-per-address", s.peers_per_address, 1, 65'535, "connections from one IPv4 address");
  options.add("handshakes-per-second", s.handshakes_per_second, 0, kMega,
              "sessions that begin from one IPv4 address; ten seconds' worth at once; 0: no limit");
  options.add("tokens-per-second", s.tokens_per_second, 0, kMega,
              "the same from all addresses together; 0: no limit");
  options.add("sessions-per-client", s.sessions_per_client, 0, 65'535,
              "of one client id at once; a newer one ends the oldest; 0: no limit");
  options.add("used-tokens", s.used_tokens, 64, 1e8,
              "that are remembered, 400 bytes each; beyond it no new token is taken meanwhile");
  options.add("used-tokens-per-client", s.used_tokens_per_client, 1, kMega, "the same of one client id");
  options.add("ticket-s", s.ticket_s, 60, 604'800,
              "how long a client may come back by itself after it was last connected, s");
  options.add("half-open-s", s.half_open_s, 1, 60, "a session that no connection follows is gone then, s");
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
  add_traffic_limits(LimitOptions{app}, o.limits);
  add_gate_limits(LimitOptions{app}, o.security.limits);
  add_log_options(app, o.log);
  app.footer(
      "Examples:\n"
      "  reckoner-server --scenario crowd --port 26000 --insecure\n"
      "  reckoner-server --trace flight.csv --threshold-m 0.01 --truth truth.csv --key game.key\n"
      "  reckoner-server --scenario crowd --key game.key --address game.example:26000\n"
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
