// SPDX-License-Identifier: MIT
#include "harness/stress/load/load_figures.hpp"

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace reckoner::harness {
namespace {

using Json = nlohmann::ordered_json;

double number(const Json& json, std::string_view name) {
  const auto found = json.find(name);
  return found != json.end() && found->is_number() ? found->get<double>() : 0.0;
}

double ratio(double a, double b) {
  return b > 0.0 ? a / b : 0.0;
}

// A run with less idle time on this machine was saturated: clients and server took time from each other.
constexpr double kIdleEnough = 0.05;

bool is_saturated(const Json& server) {
  return server.contains("machine_idle") && number(server, "machine_idle") < kIdleEnough;
}

// The measurements of one server, with derived figures per second, client and tick.
Json server_json(const LoadRunOptions& options, const nlohmann::json& measured) {
  Json json = measured;
  const double ticks = std::max(1.0, number(json, "ticks"));
  const double cpu_ns = 1e9 * number(json, "cpu_s");
  const double seconds = ticks / options.tick_rate_hz;
  json["cores_used"] = cpu_ns / 1e9 / seconds;
  json["cpu_ns_per_client_tick"] = cpu_ns / (ticks * static_cast<double>(options.world.clients));
  json["cpu_ns_per_datagram"] = ratio(cpu_ns, number(json, "datagrams"));
  json["cpu_ns_per_entity_tick"] = cpu_ns / (ticks * static_cast<double>(options.world.entities));
  json["datagrams_per_s"] = number(json, "datagrams") / seconds;
  json["wire_bytes_per_s"] = number(json, "wire_bytes") / seconds;
  json["datagrams_received_per_s"] = number(json, "datagrams_received") / seconds;
  json["peak_memory_mb"] = number(json, "peak_memory_bytes") / 1e6;
  return json;
}

// The figures of all clients together. The error is that of the worst process.
Json clients_json(const LoadResult& result) {
  std::uint64_t updates = 0, lost = 0;
  double looks = 0.0, seen = 0.0;
  Json json;
  for (const char* name : {"error_m_p50", "error_m_p95", "error_m_p99"})
    json[name] = 0.0;
  for (const auto& each : result.clients) {
    const Json one = each;
    updates += static_cast<std::uint64_t>(number(one, "updates_applied"));
    lost += static_cast<std::uint64_t>(number(one, "datagrams_lost"));
    looks += number(one, "looks");
    seen += number(one, "looks") * number(one, "seen");
    for (const char* name : {"error_m_p50", "error_m_p95", "error_m_p99"})
      json[name] = std::max(number(json, name), number(one, name));
  }
  json["updates_applied"] = updates;
  json["datagrams_lost"] = lost;
  json["seen"] = ratio(seen, looks);
  return json;
}

std::string row(std::string_view name, const std::string& reckoner, const std::string& plain,
                const std::string& ratio = {}) {
  return fmt::format("  {:<44}{:>14}{:>14}{:>10}\n", name, reckoner, plain, ratio);
}

}  // namespace

nlohmann::ordered_json load_json(const LoadRunOptions& options, const LoadResult& reckoner,
                                 const LoadResult& plain) {
  Json json;
  const LoadWorldOptions& world = options.world;
  json["clients"] = world.clients;
  json["entities"] = world.entities;
  json["resting"] = world.resting;
  json["see"] = world.see;
  json["seed"] = world.seed;
  json["seconds"] = options.seconds;
  json["tick_rate_hz"] = options.tick_rate_hz;
  json["send_rate_hz"] = options.send_rate_hz;
  json["client_loss_percent"] = options.client_loss_percent;
  json["client_rate_hz"] = options.client_rate_hz;
  json["threads"] = options.threads;
  Json server = server_json(options, reckoner.server);
  const Json floor = server_json(options, plain.server);
  const Json seen = clients_json(reckoner);
  server["updates_delivered_per_cpu_s"] = ratio(number(seen, "updates_applied"), number(server, "cpu_s"));
  json["reckoner"] = server;
  json["clients_saw"] = seen;
  json["plain_enet"] = floor;
  json["cpu_ratio"] = ratio(number(server, "cpu_s") / number(server, "ticks"),
                            number(floor, "cpu_s") / number(floor, "ticks"));
  json["cpu_ns_per_entity_tick_beyond_floor"] =
      number(server, "cpu_ns_per_entity_tick") - number(floor, "cpu_ns_per_entity_tick");
  return json;
}

std::string load_table(const nlohmann::ordered_json& figures) {
  const Json& r = figures["reckoner"];
  const Json& p = figures["plain_enet"];
  const Json& seen = figures["clients_saw"];
  std::string text = fmt::format(
      "{} clients, {} moving entities{}, {} ticks per second for {} s; each client sees {:.0f}\n\n",
      figures["clients"].get<std::size_t>(), figures["entities"].get<std::size_t>(),
      number(figures, "resting") > 0.0 ? fmt::format(", {} at rest", number(figures, "resting")) : "",
      number(figures, "tick_rate_hz"), number(figures, "seconds"), number(seen, "seen"));
  text += row("server", "Reckoner", "plain ENet", "ratio");
  const auto both = [&](const char* name, const char* key, const char* format, bool with_ratio = false) {
    text += row(name, fmt::format(fmt::runtime(format), number(r, key)),
                fmt::format(fmt::runtime(format), number(p, key)),
                with_ratio ? fmt::format("{:.2f}", ratio(number(r, key), number(p, key))) : "");
  };
  both("processor, share of one core", "cores_used", "{:.3f}", true);
  both("  of which in the program itself (s)", "cpu_user_s", "{:.2f}", true);
  both("  of which in the kernel (s)", "cpu_system_s", "{:.2f}", true);
  both("processor per datagram sent (ns)", "cpu_ns_per_datagram", "{:.0f}", true);
  both("processor per client and tick (ns)", "cpu_ns_per_client_tick", "{:.0f}", true);
  both("processor per entity and tick (ns)", "cpu_ns_per_entity_tick", "{:.0f}", true);
  both("tick, real time, p50 (ms)", "tick_ms_p50", "{:.2f}");
  both("tick, real time, p99 (ms)", "tick_ms_p99", "{:.2f}");
  both("delay of ticks, p99 (ms)", "late_ms_p99", "{:.2f}");
  both("delay of ticks, p99.9 (ms)", "late_ms_p999", "{:.2f}");
  both("delay of ticks, max (ms)", "late_ms_max", "{:.2f}");
  both("ticks delayed by a tick or more", "late_ticks", "{:.0f}");
  both("datagrams sent a second", "datagrams_per_s", "{:.0f}", true);
  both("bytes on the wire a second, headers included", "wire_bytes_per_s", "{:.0f}", true);
  both("datagrams received a second", "datagrams_received_per_s", "{:.0f}", true);
  both("peak memory (MB)", "peak_memory_mb", "{:.0f}");
  text += row("updates delivered per processor second",
              fmt::format("{:.0f}", number(r, "updates_delivered_per_cpu_s")), "");
  text += row("simulation (not included), share of one core",
              fmt::format("{:.3f}", number(r, "simulation_cpu_s") * number(r, "cores_used") /
                                        std::max(1e-9, number(r, "cpu_s"))),
              "");
  text += row("same-time error of a client, p95 (m)", fmt::format("{:.3f}", number(seen, "error_m_p95")), "");
  if (r.contains("machine_idle")) both("processor time of this machine left idle", "machine_idle", "{:.2f}");
  for (const auto& [name, server] : {std::pair{"Reckoner", &r}, std::pair{"plain ENet", &p}}) {
    if (is_saturated(*server))
      text += fmt::format(
          "\n  The machine was saturated in the run of {}: its processor time is not exact.\n", name);
  }
  text += fmt::format("\n  Cost above plain ENet: {:.0f} ns per entity and tick.\n",
                      number(figures, "cpu_ns_per_entity_tick_beyond_floor"));
  return text;
}

}  // namespace reckoner::harness
