// SPDX-License-Identifier: MIT
#include "programs/server/serving.hpp"

#include "programs/common/loop/clock.hpp"
#include "programs/common/loop/stop_signal.hpp"

#include <cstdio>

#include <fmt/format.h>

namespace reckoner::program {
namespace {

// Maximum number of log lines per second that unknown peers can cause.
constexpr unsigned kStrangerLinesPerSecond = 10;

// Logs the addresses that tokens must name, for operators whose clients are refused.
void say_tokens(Log& log, const std::string& host, std::uint16_t port,
                const OrInsecure<ServerSecurity>& security) {
  const ServerSecurity* const secure = security.get();
  // The transport has already warned that any server address is accepted.
  if (secure == nullptr || secure->any_server) return;
  const std::string named =
      secure->addresses.empty() ? host + ':' + std::to_string(port) : text_of(secure->addresses, port);
  log.info("tokens must name", {{"address", std::string_view(named)}});
}

}  // namespace

Sinks::Sinks(Log& log) : server(log, kStrangerLinesPerSecond), network(log, kStrangerLinesPerSecond) {}

Result<std::unique_ptr<NetworkTransport>> open_transport(const ServerOptions& options,
                                                         const OrInsecure<ServerSecurity>& security,
                                                         Sinks& sinks) {
  return NetworkTransport::listen({.host = options.host,
                                   .port = options.port,
                                   .max_peers = options.server.max_clients + kSpareConnections,
                                   .security = security,
                                   .limits = options.limits,
                                   .log = sinks.network.sink(),
                                   .transport = options.transport});
}

Result<std::unique_ptr<StatusPage>> open_page(const ServerOptions& options, const ServerMetrics& metrics) {
  if (!options.metrics_port) return std::unique_ptr<StatusPage>{};
  return StatusPage::open(
      options.metrics_host, *options.metrics_port,
      {[&metrics] { return metrics.metrics(); }, [&metrics] { return metrics.health(monotonic_s()); }});
}

void say_listening(const ServerOptions& options, const NetworkTransport* transport, const StatusPage* page,
                   const std::string& view, const OrInsecure<ServerSecurity>& security, Log& log) {
  if (transport != nullptr) fmt::print("listening on port {}\n", transport->port());
  if (page != nullptr) fmt::print("metrics on http://{}:{}/metrics\n", options.metrics_host, page->port());
  if (!view.empty()) fmt::print("live view on {}\n", view);
  std::fflush(stdout);
  if (transport == nullptr) return;
  log.info("listening",
           {{"port", static_cast<std::uint64_t>(transport->port())}, {"secure", security.get() != nullptr}});
  say_tokens(log, options.host, transport->port(), security);
}

void take_events(Server& server, ServerMetrics& metrics, Sinks& sinks) {
  sinks.server.write_suppressed();
  sinks.network.write_suppressed();
  while (const auto event = server.poll_event())
    metrics.note(*event);
}

void disconnect_clients(Server& server, NetworkTransport& transport, const std::function<void()>& receive,
                        Log& log) {
  constexpr double kLongestS = 5.0;
  const std::size_t clients = server.client_count();
  server.shutdown();
  log.info(stop_requested() ? "stopping on request" : "stopping at the end",
           {{"clients", static_cast<std::uint64_t>(clients)}});
  const double until_s = monotonic_s() + kLongestS;
  receive();
  while (server.closing_count() > 0 && monotonic_s() < until_s) {
    transport.wait(0.01);
    receive();
  }
  if (const std::size_t left = server.closing_count(); left > 0)
    log.warn("clients did not confirm the shutdown", {{"clients", static_cast<std::uint64_t>(left)}});
}

}  // namespace reckoner::program
