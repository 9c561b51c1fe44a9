// SPDX-License-Identifier: MIT
#include "client/src/connection/datagram_sender.hpp"
#include "harness/report/report_error.hpp"
#include "harness/stress/load/recording/datagram_record.hpp"
#include "harness/stress/load/recording/resource_use.hpp"
#include "harness/stress/load/roles/load_roles.hpp"
#include "harness/stress/load/roles/parent_lines.hpp"
#include "harness/stress/load/roles/plain_enet.hpp"
#include "programs/common/loop/clock.hpp"
#include "programs/common/loop/stop_signal.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include <fmt/core.h>

namespace reckoner::harness {
namespace {

// The commands from the parent process: measure for a time, report, or end.
struct ParentCommands {
  ParentLines lines;
  std::optional<double> measure_s;
  bool report = false;
  bool ended = false;

  void read() {
    measure_s.reset();
    report = false;
    while (const auto line = lines.next()) {
      double seconds = 0.0;
      if (std::sscanf(line->c_str(), "measure %lf", &seconds) == 1) {
        measure_s = seconds;
      } else if (*line == "report") {
        report = true;
      } else {
        ended = true;
      }
    }
    if (lines.closed() || program::stop_requested()) ended = true;
  }
};

void print_result(const nlohmann::ordered_json& json) {
  fmt::print("result {}\n", json.dump());
  std::fflush(stdout);
}

void sleep_until(double due_s) {
  const double left_s = due_s - program::monotonic_s();
  if (left_s > 0.0) std::this_thread::sleep_for(std::chrono::duration<double>(left_s));
}

nlohmann::ordered_json server_result(const TickLog& log, const ResourceUse& use_before,
                                     const PlainCounts& before, const PlainCounts& now) {
  auto json = log.json();
  add_use(json, use_before, resource_use(program::monotonic_s()));
  json["datagrams"] = now.datagrams_sent - before.datagrams_sent;
  json["wire_bytes"] = now.wire_bytes_sent - before.wire_bytes_sent;
  json["payload_bytes"] = now.payload_bytes_sent - before.payload_bytes_sent;
  json["datagrams_received"] = now.datagrams_received - before.datagrams_received;
  json["payloads_received"] = now.payloads_received - before.payloads_received;
  json["peak_memory_bytes"] = peak_memory_bytes();
  return json;
}

struct PlainPlayer {
  std::unique_ptr<PlainClient> client;
  bool joined = false;
  double next_turn_s = 0.0;
  double acknowledged_s = 0.0;
  std::size_t unacknowledged = 0;
};

// Runs one picture of a client. Returns true if it has just joined.
bool turn(PlainPlayer& plain, double now_s, const LoadClientsOptions& options) {
  const double pace_s = 1.0 / options.frame_rate_hz;
  plain.unacknowledged += plain.client->service();
  plain.next_turn_s = std::max(plain.next_turn_s + pace_s, now_s);
  const bool due = now_s - plain.acknowledged_s >= kAckIntervalS - 0.25 * pace_s;
  if (plain.unacknowledged >= DatagramSender::kDatagramsPerAck || (due && plain.unacknowledged > 0)) {
    plain.client->send(options.payload_bytes);
    plain.client->service();
    plain.unacknowledged = 0;
    plain.acknowledged_s = now_s;
  }
  return !std::exchange(plain.joined, plain.client->connected()) && plain.joined;
}

}  // namespace

int run_plain_server(const LoadServerOptions& options) {
  program::catch_stop_signals();
  const auto record = load_record(options.record);
  if (!record) return report_error(record.error(), program::kFailed);
  auto server = PlainServer::listen(options.world.clients + 8);
  if (!server) return report_error(server.error(), program::kFailed);
  const double tick_s = 1.0 / options.tick_rate_hz;
  const double start_s = program::monotonic_s();
  fmt::print("epoch {:.9f}\nlistening on port {}\n", start_s, (*server)->port());
  std::fflush(stdout);

  ParentCommands orders;
  std::optional<TickLog> log;
  std::size_t ticks_to_measure = 0;
  ResourceUse use_before;
  PlainCounts before;
  for (std::size_t tick = 0; !orders.ended; ++tick) {
    const double due_s = start_s + static_cast<double>(tick) * tick_s;
    sleep_until(due_s);
    const double began_s = program::monotonic_s();
    for (const SentPayload& payload : record->tick(tick % record->ticks()))
      (*server)->send(payload.client, payload.bytes);
    (*server)->service();
    if (log) log->add(began_s - due_s, program::monotonic_s() - began_s);
    if (log && log->size() == ticks_to_measure) {
      print_result(server_result(*log, use_before, before, (*server)->counts()));
      log.reset();
    }
    orders.read();
    if (!orders.measure_s) continue;
    ticks_to_measure = static_cast<std::size_t>(*orders.measure_s * options.tick_rate_hz + 0.5);
    log.emplace(tick_s);
    before = (*server)->counts();
    use_before = resource_use(program::monotonic_s());
  }
  return program::kOk;
}

int run_plain_clients(const LoadClientsOptions& options) {
  program::catch_stop_signals();
  lower_priority();
  if (const std::string wrong = raise_open_file_limit(options.count); !wrong.empty()) {
    return report_error(wrong, program::kFailed);
  }
  const auto server = program::parse_host_port(options.server);
  if (!server) return report_error(server.error());
  std::vector<PlainPlayer> clients;
  std::size_t joined = 0;
  const double start_s = program::monotonic_s();
  for (ParentCommands orders; !orders.ended; orders.read()) {
    const double now_s = program::monotonic_s();
    const auto due = static_cast<std::size_t>((now_s - start_s) * options.join_rate_hz) + 1;
    while (clients.size() < std::min(due, options.count)) {
      auto client = PlainClient::connect(server->host, server->port);
      if (!client) return report_error(client.error(), program::kFailed);
      clients.push_back({.client = std::move(*client), .next_turn_s = now_s});
    }
    for (PlainPlayer& plain : clients) {
      if (program::monotonic_s() < plain.next_turn_s) continue;
      if (turn(plain, program::monotonic_s(), options)) {
        fmt::print("joined {}\n", ++joined);
        std::fflush(stdout);
      }
      if (plain.client->lost()) return report_error("a plain client lost its connection", program::kFailed);
    }
    if (orders.report) print_result(nlohmann::ordered_json::object());
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return program::kOk;
}

}  // namespace reckoner::harness
