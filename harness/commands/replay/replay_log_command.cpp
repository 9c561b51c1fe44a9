// SPDX-License-Identifier: MIT
#include "harness/commands/replay/replay_log_command.hpp"

#include "harness/commands/cli_options.hpp"
#include "programs/common/archetypes.hpp"
#include "programs/common/drawing.hpp"
#include "programs/common/sessions/session_calls.hpp"
#include "programs/common/sessions/session_log.hpp"
#include "programs/common/sessions/session_transports.hpp"

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include <reckoner/client/client.hpp>

namespace reckoner::harness {
namespace {

struct Arguments {
  std::string log;
  std::string rendered;
};

// Plays back the rest of the session. Returns the time between its first and last call, s. Fails if the
// recorded settings are invalid.
Result<double> play(program::PlayedTransport& transport, const program::SessionSettings& settings,
                    scenario::PoseCsvWriter* rendered, program::Drawn& drawn, ClientStats& stats) {
  ClientConfig config = program::config_of(settings);
  config.archetypes = program::archetypes();
  auto created = Client::create(std::move(config), transport);
  if (!created) return Error{created.error()};
  Client& client = *created;
  std::optional<double> first_s;
  double last_s = 0.0;
  while (const auto call = transport.next_call()) {
    if (const auto* service = std::get_if<program::ServiceRecord>(&*call)) last_s = service->local_s;
    if (std::holds_alternative<program::FrameRecord>(*call))
      program::draw(client, last_s, 0.0, rendered, drawn);
    (void)program::repeat_call(client, *call);
    if (!first_s) first_s = last_s;
    while (client.poll_event()) {
    }
  }
  stats = client.stats();
  return first_s ? last_s - *first_s : 0.0;
}

int run(const Arguments& arguments) {
  auto reader = program::SessionReader::open(arguments.log);
  if (!reader) return report_error(reader.error(), program::kBadInput);
  std::optional<scenario::PoseCsvWriter> rendered;
  if (!arguments.rendered.empty()) {
    auto opened = scenario::PoseCsvWriter::open(arguments.rendered, {.shown_time = true, .monotonic = true});
    if (!opened) return report_error(opened.error(), program::kBadInput);
    rendered = std::move(*opened);
  }
  program::PlayedTransport transport{*reader};
  program::Drawn drawn;
  ClientStats stats;
  const auto seconds = play(transport, reader->settings(), rendered ? &*rendered : nullptr, drawn, stats);
  if (!seconds) return report_error(seconds.error(), program::kBadInput);
  if (rendered && !rendered->close())
    return report_error("could not write all of " + arguments.rendered, program::kFailed);
  if (transport.error()) return report_error(transport.error()->message, program::kBadInput);
  fmt::print(
      "{:.1f} s recorded by Reckoner {}: {} frames; {} updates in {} datagrams ({} lost), {} malformed\n",
      *seconds, reader->settings().version, drawn.frames, stats.updates_applied, stats.datagrams_received,
      stats.datagrams_lost, stats.malformed);
  if (reader->is_truncated()) fmt::print("The file is truncated; the end of the session is missing.\n");
  if (transport.differences() > 0) {
    return report_error(fmt::format("the client behaved differently from the recorded one {} times: another "
                                    "version made the recording, or the machine has a fault",
                                    transport.differences()),
                        program::kFailed);
  }
  fmt::print("Every call had the recorded result.\n");
  return program::kOk;
}

}  // namespace

void add_replay_log_command(CLI::App& app, int& exit_code) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* command = app.add_subcommand(
      "replay-log",
      "play back a session recorded by reckoner-client --record, with poses equal to the last bit");
  command->add_option("log", arguments->log, "the recording")->required();
  command->add_option("--rendered", arguments->rendered,
                      "write every picture's shown poses to this CSV file, as the client would have");
  command->footer(
      "Example, for reporting a visual fault:\n"
      "  reckoner-client --connect game.example:26000 --token alice.token --record strange.log\n"
      "  reckoner-harness replay-log strange.log --rendered strange.csv\n"
      "Exit codes: 0 played back exactly, 1 the client behaved differently from the recorded one, 2 bad "
      "input.");
  command->callback([arguments, &exit_code] { exit_code = run(*arguments); });
}

}  // namespace reckoner::harness
