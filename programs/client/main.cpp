// SPDX-License-Identifier: MIT
//
// reckoner-client: a client without a screen, which joins a server and records what it would draw.
#include "net/src/messages/messages.hpp"
#include "programs/client/report.hpp"
#include "programs/client/statistics.hpp"
#include "programs/common/archetypes.hpp"
#include "programs/common/drawing.hpp"
#include "programs/common/loop/clock.hpp"
#include "programs/common/loop/stop_signal.hpp"
#include "programs/common/options/blend_choice_options.hpp"
#include "programs/common/options/options.hpp"
#include "programs/common/options/setting_options.hpp"
#include "programs/common/security.hpp"
#include "programs/common/sessions/session_log.hpp"
#include "programs/common/sessions/session_transports.hpp"
#include "programs/common/system/standard_streams.hpp"
#include "programs/common/transport_option.hpp"
#include "scenario/trace/pose_csv.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <reckoner/client/client.hpp>
#include <reckoner/net/network_dialer.hpp>

namespace {

using namespace reckoner;
using program::fail;

constexpr const char* kName = "reckoner-client";

struct Options {
  std::string connect;
  std::string mode = "present";
  PlayoutConfig playout;
  program::BlendChoice blend_choice;
  program::BlendOptions blend;
  bool sets_blend_frames = false;
  double seconds = 0.0;
  double reconnect_s = 30.0;
  std::string rendered_path;
  std::string json_path;
  std::string record_path;
  bool stats = false;
  program::ClientSecurityOptions security;
  std::string transport;
  bool quiet = false;
};

void add_options(CLI::App& app, Options& o) {
  app.add_option("--connect", o.connect,
                 "server to join, HOST:PORT (default: those that the token names, in their order)");
  app.add_option("--mode", o.mode,
                 "which instant to show: present, adaptive, delayed:MS, or ahead (present mode here: the "
                 "program has no inputs)")
      ->capture_default_str();
  program::add_blend_choice(app, o.blend_choice);
  for (const auto& setting : program::kBlendSettings)
    program::add_setting(app, setting, o.blend);
  app.add_option("--seconds", o.seconds, "how long to run, s (default: until the server goes down)")
      ->check(CLI::NonNegativeNumber);
  auto* reconnect = app.add_option("--reconnect", o.reconnect_s,
                                   "how long to try to reconnect after the connection is lost, s")
                        ->check(CLI::NonNegativeNumber)
                        ->capture_default_str();
  app.add_option("--rendered", o.rendered_path, "write every picture's shown poses to this CSV file");
  app.add_option("--json", o.json_path, "write the final figures to this JSON file");
  app.add_option(
         "--record", o.record_path,
         "write the session to this file, for reckoner-harness replay-log; the file is not encrypted, and "
         "the client does not reconnect; requires --connect")
      ->excludes(reconnect);
  app.add_flag("--stats", o.stats, "print a line of statistics every second");
  program::add_security_options(app, o.security);
  program::add_transport_option(app, o.transport);
  app.add_flag("--quiet", o.quiet, "print no events, only the summary");
  app.footer(
      "Examples:\n"
      "  reckoner-client --connect 127.0.0.1:26000 --insecure --seconds 10\n"
      "  reckoner-client --token alice.token --mode adaptive --stats\n"
      "  reckoner-client --connect 192.168.1.7:26000 --token alice.token\n"
      "Stops after --seconds, when the server goes down, or on Ctrl-C. Exit codes: 0 done, 1 could not join "
      "or\n"
      "lost the server, 2 bad input.");
}

struct Totals {
  program::Drawn drawn;
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
      case ClientEvent::Kind::snapped:
        if (!quiet) fmt::print("! {} jumped: it was too far away to catch up\n", name);
        break;
      case ClientEvent::Kind::server_closed:
        totals.server_closed = true;
        break;
      case ClientEvent::Kind::lost:
        fmt::print(stderr, "{}: {}; trying to reconnect\n", kName, client.refusal());
        break;
      case ClientEvent::Kind::resumed:
        if (!quiet) fmt::print("resumed\n");
        break;
      case ClientEvent::Kind::restarted:
        if (!quiet) fmt::print("joined a new session: the server does not know the old one\n");
        break;
      case ClientEvent::Kind::prediction_failed:
      case ClientEvent::Kind::given:  // this program has no game that could move an entity
      case ClientEvent::Kind::revoked:
      case ClientEvent::Kind::corrected:
      case ClientEvent::Kind::prediction_began:
      case ClientEvent::Kind::prediction_ended:
      case ClientEvent::Kind::fields_changed:
      case ClientEvent::Kind::disconnected:
        break;
    }
  }
  std::fflush(stdout);
}

// The client and its connection. It reconnects unless the session is recorded, because a recording has only
// one connection.
class Connection {
 public:
  static Result<std::unique_ptr<Connection>> open(const Options& options,
                                                  const OrInsecure<ClientSecurity>& security,
                                                  const PlayoutConfig& playout) {
    std::unique_ptr<Connection> connection;
    if (options.connect.empty()) {
      connection = std::make_unique<Connection>(HostAndPort{}, security, options.transport);
    } else {
      const auto address = program::parse_host_port(options.connect);
      if (!address) return Error{address.error()};
      connection = std::make_unique<Connection>(*address, security, options.transport);
    }
    if (options.record_path.empty()) return connection;
    auto writer =
        program::SessionWriter::create(options.record_path, {kProtocolVersion, RECKONER_VERSION, playout});
    if (!writer) return Error{writer.error()};
    connection->writer_ = std::move(*writer);
    const auto transport = connection->dialer_.dial();
    if (!transport) return Error{transport.error()};
    connection->recorded_.emplace(**transport, *connection->writer_);
    return connection;
  }
  // Without an address, connects to the servers that the token lists.
  Connection(const HostAndPort& address, const OrInsecure<ClientSecurity>& security,
             const std::string& transport)
      : dialer_({.host = address.host, .port = address.port, .security = security, .transport = transport}) {}

  // Creates the client. This object must outlive the client.
  [[nodiscard]] Result<Client> client(const ClientConfig& config) {
    if (recorded_) return Client::create(config, *recorded_);
    return Client::create(config, dialer_);
  }

  // Waits until a datagram arrives, but not longer than `seconds`.
  void wait(double seconds) {
    if (dialer_.transport() != nullptr) return dialer_.transport()->wait(seconds);
    std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
  }
  [[nodiscard]] TransportStats stats() const { return dialer_.stats(); }

  void note_picture(double local_s) {
    if (writer_) writer_->frame(local_s);
  }
  // Leaves the server. Waits until the server has the client's messages and has confirmed the end.
  void leave(Client& client) {
    constexpr double kLongestS = 2.0;
    const bool connected = client.status() == ClientStatus::joined;
    const double until_s = program::monotonic_s() + (connected ? kLongestS : kMomentS);
    client.leave();
    do {
      const ClientStatus status = client.update(program::monotonic_s());
      if (status == ClientStatus::disconnected || status == ClientStatus::refused) return;
      wait(0.01);
    } while (program::monotonic_s() < until_s);
  }
  // Completes the recording, if there is one. Returns false if a write failed.
  [[nodiscard]] bool end_record() {
    if (recorded_) recorded_->stop_recording();
    return !writer_ || writer_->close();
  }

 private:
  static constexpr double kMomentS = 0.05;  // a connection that is not established is ended in this time

  NetworkDialer dialer_;
  std::optional<program::SessionWriter> writer_;
  std::optional<program::RecordedTransport> recorded_;
};

// Prints a line. On a terminal the line replaces the line before it.
void print_statistics(const std::string& line) {
  static const bool terminal = program::is_terminal(stdout);
  fmt::print("{}{}{}", terminal ? "\r\033[K" : "", line, terminal ? "" : "\n");
  std::fflush(stdout);
}

// Shows the world until the session ends or the time in the options is over.
void show(Client& client, Connection& connection, const Options& options, scenario::PoseCsvWriter* rendered,
          Totals& totals) {
  program::LiveStatistics statistics;
  const double frame_s = 1.0 / options.blend.frame_rate_hz;
  const double started_s = program::monotonic_s();
  double next_frame_s = started_s;
  const auto ended = [&] {
    return client.status() == ClientStatus::refused || client.status() == ClientStatus::disconnected ||
           totals.server_closed || program::stop_requested() ||
           (options.seconds > 0.0 && program::monotonic_s() - started_s >= options.seconds);
  };
  while (!ended()) {
    next_frame_s =
        // If the program is late, it drops pictures, so that the time stays right.
        std::max(next_frame_s + frame_s, program::monotonic_s() - frame_s);
    double now_s = program::monotonic_s();
    do {
      connection.wait(std::max(0.0, next_frame_s - now_s));
      now_s = program::monotonic_s();
      client.update(now_s);
    } while (now_s < next_frame_s);
    connection.note_picture(now_s);
    const auto shown = program::draw(client, now_s, frame_s, rendered, totals.drawn);
    if (options.stats) {
      statistics.note_picture(client, shown);
      const auto line = statistics.line(client, connection.stats(), now_s);
      if (line) print_statistics(*line);
    }
    handle_events(client, totals, options.quiet);
  }
  if (options.stats) fmt::print("\n");
}

// Checks the options before the program opens anything.
std::optional<Error> find_invalid_setting(const Options& options) {
  if (!options.connect.empty()) {
    const auto address = program::parse_host_port(options.connect);
    return address ? std::nullopt : std::optional(Error{address.error()});
  }
  if (options.security.insecure || options.security.token_path.empty())
    return Error{
        "no server is given: use --connect HOST:PORT, or --token FILE with a token that names servers"};
  if (!options.record_path.empty())
    return Error{"--record requires --connect HOST:PORT, because a recording is of one connection"};
  return std::nullopt;
}

int run(const Options& options) {
  ClientConfig config;
  config.archetypes = program::archetypes();
  config.playout = options.playout;
  const BlendSettings blend = options.blend_choice.settings();
  config.playout.blend_curve = blend.curve;
  config.playout.blend_s = options.sets_blend_frames ? options.blend.blend_s() : blend.duration_s;
  if (const auto error = program::parse_mode(options.mode, config.playout))
    return fail(kName, error->message);
  if (const auto wrong = find_invalid_setting(options)) return fail(kName, wrong->message);

  std::optional<scenario::PoseCsvWriter> rendered;
  if (!options.rendered_path.empty()) {
    auto opened =
        scenario::PoseCsvWriter::open(options.rendered_path, {.shown_time = true, .monotonic = true});
    if (!opened) return fail(kName, opened.error());
    rendered = std::move(*opened);
  }
  const auto security = program::open_security(options.security);
  if (!security) return fail(kName, security.error());
  config.reconnect.give_up_s = std::max(1e-9, options.reconnect_s);
  auto connection = Connection::open(options, *security, config.playout);
  if (!connection) return fail(kName, connection.error(), program::kFailed);
  auto created = (*connection)->client(config);
  if (!created) return fail(kName, created.error());
  Client& client = *created;

  const std::string where = options.connect.empty() ? "" : options.connect + ": ";
  Totals totals;
  show(client, **connection, options, rendered ? &*rendered : nullptr, totals);
  const bool ended =
      client.status() == ClientStatus::disconnected || client.status() == ClientStatus::refused;
  const std::string refusal = client.refusal();
  const ClientStats stats = client.stats();
  if (!(*connection)->end_record())
    return fail(kName, "could not write all of " + options.record_path, program::kFailed);
  (*connection)->leave(client);
  if (rendered && !rendered->close())
    return fail(kName, "could not write all of " + options.rendered_path, program::kFailed);
  if (!totals.joined) {
    const std::string why = refusal.empty() ? "could not join before the end" : refusal;
    return fail(kName, where + why, program::kFailed);
  }
  program::print_summary(stats, (*connection)->stats(), totals.drawn);
  if (!options.json_path.empty()) {
    if (const auto error =
            program::write_figures(options.json_path, stats, (*connection)->stats(), totals.drawn)) {
      return fail(kName, error->message, program::kFailed);
    }
  }
  return ended && !totals.server_closed ? fail(kName, where + refusal, program::kFailed) : program::kOk;
}

}  // namespace

int main(int argc, char** argv) {
  program::use_utf8();
  Options options;
  CLI::App app{"Joins a Reckoner server without a window and records what it would draw.", kName};
  add_options(app, options);
  if (const auto code = program::parse(app, argc, argv)) return *code;
  options.sets_blend_frames = app.count("--blend-frames") > 0;
  program::catch_stop_signals();
  return program::run_in_memory(kName, [&] { return run(options); });
}
