// SPDX-License-Identifier: MIT
//
// reckoner-client: joins a server, headless, and records what it would draw.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <optional>
#include <string>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <reckoner/client/client.hpp>
#include <reckoner/net/enet_transport.hpp>
#include <reckoner/net/messages.hpp>
#include <reckoner/program/archetypes.hpp>
#include <reckoner/program/clock.hpp>
#include <reckoner/program/options.hpp>
#include <reckoner/program/security.hpp>
#include <reckoner/program/stop_signal.hpp>
#include <reckoner/scenario/pose_csv.hpp>

namespace {

using namespace reckoner;
using program::fail;

constexpr const char* kName = "reckoner-client";

struct Options {
  std::string connect;
  std::string mode = "present";
  double frame_rate_hz = 60.0;
  double blend_frames = PlayoutConfig{}.blend_frames;
  double seconds = 0.0;
  std::string rendered_path;
  std::string json_path;
  program::ClientSecurityOptions security;
  bool quiet = false;
};

void add_options(CLI::App& app, Options& o) {
  app.add_option("--connect", o.connect, "server to join, HOST:PORT")->required();
  app.add_option("--mode", o.mode, "which instant to show: present, adaptive or delayed:MS")
      ->capture_default_str();
  app.add_option("--frame-rate", o.frame_rate_hz, "frames per second")
      ->check(CLI::Range(1.0, 1000.0))
      ->capture_default_str();
  app.add_option("--blend-frames", o.blend_frames, "frames that a correction takes; 0 snaps")
      ->check(CLI::Range(0.0, 600.0))
      ->capture_default_str();
  app.add_option("--seconds", o.seconds, "how long to run, s (default: until the server goes down)")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--rendered", o.rendered_path, "write every frame's shown poses to this CSV file");
  app.add_option("--json", o.json_path, "write the final figures to this JSON file");
  program::add_security_options(app, o.security);
  app.add_flag("--quiet", o.quiet, "print no events, only the summary");
  app.footer(
      "Examples:\n"
      "  reckoner-client --connect 127.0.0.1:26000 --insecure --seconds 10\n"
      "  reckoner-client --connect game.example:26000 --token alice.token --mode adaptive\n"
      "Stops after --seconds, when the server goes down, or on Ctrl-C. Exit codes: 0 done, 1 could not join "
      "or\n"
      "lost the server, 2 bad input.");
}

struct Totals {
  std::uint64_t frames = 0;
  double entity_seconds = 0.0;
  bool joined = false;
  bool server_closed = false;
};

void handle_events(Client& client, Totals& totals, bool quiet) {
  while (const auto event = client.poll_event()) {
    const EntityInfo* info = client.info(event->entity);
    const std::string name = info != nullptr ? info->name : "";
    switch (event->kind) {
      case ClientEvent::Kind::joined:
        totals.joined = true;
        if (!quiet) fmt::print("joined\n");
        break;
      case ClientEvent::Kind::spawned:
        if (!quiet) fmt::print("+ {}\n", name);
        break;
      case ClientEvent::Kind::despawned:
        if (!quiet) fmt::print("- {}\n", name);
        break;
      case ClientEvent::Kind::teleported:
        if (!quiet) fmt::print("! {} teleported\n", name);
        break;
      case ClientEvent::Kind::server_closed:
        totals.server_closed = true;
        break;
      case ClientEvent::Kind::given:  // this program owns nothing: it has no game
      case ClientEvent::Kind::taken:
      case ClientEvent::Kind::corrected:
      case ClientEvent::Kind::fields_changed:
      case ClientEvent::Kind::disconnected:
        break;
    }
  }
  std::fflush(stdout);
}

// Draws one frame: into the file, if there is one.
void draw(Client& client, double local_s, double frame_s, scenario::PoseCsvWriter* rendered, Totals& totals) {
  const auto shown = client.frame(local_s);
  const auto server_time_s = client.server_time_s(local_s);
  ++totals.frames;
  totals.entity_seconds += static_cast<double>(shown.size()) * frame_s;
  if (rendered == nullptr || !server_time_s) return;
  for (const ShownEntity& entity : shown) {
    const EntityInfo* info = client.info(entity.id);
    rendered->write({*server_time_s, info != nullptr ? info->name : "", entity.shown.pose(),
                     entity.shown_time_s, local_s});
  }
}

bool write_json(const std::string& path, const ClientStats& s, const TransportStats& wire,
                const Totals& totals) {
  const double seconds = std::max(1e-9, totals.entity_seconds);
  const nlohmann::json json = {
      {"frames", totals.frames},
      {"entity_seconds", totals.entity_seconds},
      {"updates", s.updates_applied},
      {"updates_stale", s.updates_stale},
      {"datagrams", s.datagrams_received},
      {"datagrams_lost", s.datagrams_lost},
      {"payload_bytes", s.state_bytes_received},
      {"wire_bytes", wire.wire_bytes_received},
      {"wire_bytes_up", wire.wire_bytes_sent},
      {"malformed", s.malformed},
      {"updates_per_entity_s", static_cast<double>(s.updates_applied) / seconds},
      {"payload_bytes_per_entity_s", static_cast<double>(s.state_bytes_received) / seconds},
      {"wire_bytes_per_entity_s", static_cast<double>(wire.wire_bytes_received) / seconds},
      {"round_trip_ms", s.round_trip_s * 1000.0},
      {"delay_ms", s.delay_s * 1000.0}};
  std::FILE* file = std::fopen(path.c_str(), "w");
  if (file == nullptr) return false;
  const std::string text = json.dump(2) + "\n";
  const bool written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  return std::fclose(file) == 0 && written;
}

void summarise(const ClientStats& s, const TransportStats& wire, const Totals& totals) {
  const double seconds = std::max(1e-9, totals.entity_seconds);
  fmt::print(
      "{} frames; {} updates in {} datagrams ({} lost); per entity and second {:.1f} updates, {:.0f} bytes, "
      "{:.0f} on "
      "the wire\nround trip {:.1f} ms, shown {:.1f} ms late; {} malformed payloads refused\n",
      totals.frames, s.updates_applied, s.datagrams_received, s.datagrams_lost,
      static_cast<double>(s.updates_applied) / seconds, static_cast<double>(s.state_bytes_received) / seconds,
      static_cast<double>(wire.wire_bytes_received) / seconds, s.round_trip_s * 1000.0, s.delay_s * 1000.0,
      s.malformed);
}

int run(const Options& options) {
  ClientConfig config;
  config.archetypes = program::archetypes();
  config.playout.blend_frames = options.blend_frames;
  config.playout.frame_rate_hz = options.frame_rate_hz;
  if (const auto error = program::parse_mode(options.mode, config.playout))
    return fail(kName, error->message);
  const auto address = program::parse_host_port(options.connect);
  if (!address) return fail(kName, address.error());

  std::optional<scenario::PoseCsvWriter> rendered;
  if (!options.rendered_path.empty()) {
    auto opened =
        scenario::PoseCsvWriter::open(options.rendered_path, {.shown_time = true, .monotonic = true});
    if (!opened) return fail(kName, opened.error());
    rendered = std::move(*opened);
  }
  const auto security = program::open_security(options.security);
  if (!security) return fail(kName, security.error());
  auto transport = EnetTransport::connect(address->host, address->port, kProtocolVersion, *security);
  if (!transport) return fail(kName, transport.error(), program::kFailed);
  Client client{config, **transport};

  Totals totals;
  const double frame_s = 1.0 / options.frame_rate_hz;
  const double started_s = program::monotonic_s();
  double next_frame_s = started_s;
  const auto ended = [&] {
    return client.status() == ClientStatus::refused || client.status() == ClientStatus::disconnected ||
           program::stop_requested() ||
           (options.seconds > 0.0 && program::monotonic_s() - started_s >= options.seconds);
  };
  while (!ended()) {
    next_frame_s =
        std::max(next_frame_s + frame_s, program::monotonic_s() - frame_s);  // drops frames, not time
    for (double left_s = 1.0; left_s > 0.0; left_s = next_frame_s - program::monotonic_s()) {
      (*transport)->wait(std::max(0.0, next_frame_s - program::monotonic_s()));
      client.receive(program::monotonic_s());
    }
    draw(client, program::monotonic_s(), frame_s, rendered ? &*rendered : nullptr, totals);
    handle_events(client, totals, options.quiet);
  }
  client.leave();
  for (int i = 0; i < 5; ++i) {  // gives the goodbye time to arrive
    (*transport)->wait(0.01);
    (*transport)->service(program::monotonic_s());
  }
  if (rendered && !rendered->close())
    return fail(kName, "could not write all of " + options.rendered_path, program::kFailed);
  if (!totals.joined) {
    const std::string why = client.refusal().empty() ? "did not get in before the end" : client.refusal();
    return fail(kName, options.connect + ": " + why, program::kFailed);
  }
  summarise(client.stats(), (*transport)->stats(), totals);
  if (!options.json_path.empty() &&
      !write_json(options.json_path, client.stats(), (*transport)->stats(), totals)) {
    return fail(kName, "could not write " + options.json_path, program::kFailed);
  }
  const bool lost = client.status() == ClientStatus::disconnected && !totals.server_closed;
  return lost ? fail(kName, options.connect + ": " + client.refusal(), program::kFailed) : program::kOk;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app{"Joins a Reckoner server without a window and records what it would draw.", kName};
  add_options(app, options);
  if (const auto code = program::parse(app, argc, argv)) return *code;
  program::catch_stop_signals();
  return run(options);
}
