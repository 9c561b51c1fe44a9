// SPDX-License-Identifier: MIT
// The functions that the page calls. Text goes in as UTF-8 in memory from pg_alloc(), and comes out as the
// text of pg_text(). Every function that can fail returns 1 if it succeeded; otherwise it returns 0 and the
// text is the error. Pointers stay valid until the next call that changes what they point to.
#include "harness/replay/method.hpp"
#include "harness/sim/link.hpp"
#include "playground/src/command_text.hpp"
#include "playground/src/digest.hpp"
#include "playground/src/module_text.hpp"
#include "playground/src/recorded_run.hpp"
#include "playground/src/settings.hpp"
#include "scenario/builtin/builtin.hpp"
#include "scenario/trace/trace.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include <reckoner/server/traffic.hpp>

#define PLAYGROUND_API(name) extern "C" __attribute__((export_name(#name), used))

namespace reckoner::playground {
namespace {

using Json = nlohmann::ordered_json;

// The state of the module. A module has one thread and one page.
struct Module {
  std::string text;       // result of the last call
  std::string recording;  // the recording that the page has
  std::optional<RecordedRun> run;
  std::vector<float> packets;
  std::vector<float> parts;
};

Module& module() {
  static Module one;
  return one;
}

Json link_json(const harness::LinkOptions& link) {
  return {
      {"latency-ms", link.latency_ms}, {"jitter-ms", link.jitter_ms},         {"loss", link.loss_percent},
      {"burst", link.burst},           {"duplicate", link.duplicate_percent}, {"rate-kbps", link.rate_kbps},
      {"queue-ms", link.queue_ms}};
}

// The memory of a browser's tab is limited.
constexpr std::size_t kMostParts = 300'000;

std::vector<std::string_view> part_kinds() {
  std::vector<std::string_view> kinds{"motion"};
  for (std::size_t i = 0; i < kContents; ++i)
    kinds.push_back(name_of(static_cast<SentContent>(i)));
  return kinds;
}

Json shape_json(const RecordedRun& run) {
  Json json{{"source", run.source},     {"network", run.network},
            {"start_s", run.start_s},   {"frame_rate_hz", run.frame_rate_hz},
            {"entities", run.entities}, {"frames", run.frames},
            {"names", run.names},       {"kinds", part_kinds()}};
  json["methods"] = Json::array();
  for (const MethodTrack& track : run.tracks)
    json["methods"].push_back(track.method);
  return json;
}

}  // namespace

int succeed(std::string text) {
  module().text = std::move(text);
  return 1;
}

int fail(std::string text) {
  module().text = std::move(text);
  return 0;
}

PLAYGROUND_API(pg_alloc) void* pg_alloc(std::size_t bytes) {
  return std::malloc(bytes);
}

PLAYGROUND_API(pg_free) void pg_free(void* memory) {
  std::free(memory);
}

PLAYGROUND_API(pg_text) const char* pg_text() {
  return module().text.data();
}

PLAYGROUND_API(pg_text_bytes) std::size_t pg_text_bytes() {
  return module().text.size();
}

// The scenarios, networks and methods, as JSON.
PLAYGROUND_API(pg_catalog) int pg_catalog() {
  Json json;
  for (const scenario::BuiltinInfo& info : scenario::builtin_scenarios())
    json["scenarios"].push_back({{"name", info.name}, {"description", info.description}});
  for (const harness::NamedNetwork& network : harness::named_networks())
    json["networks"].push_back({{"name", network.name}, {"link", link_json(network.options)}});
  json["perfect"] = link_json({});
  json["methods"] = harness::method_names();
  return succeed(json.dump());
}

// Keeps a recording. The text is then JSON: its seconds, its entities, and the remarks of the reader.
PLAYGROUND_API(pg_open)
int pg_open(const char* name, std::size_t name_bytes, const char* text, std::size_t bytes) {
  std::string recording(text, bytes);
  const auto source = scenario::parse_trace(recording, std::string(name, name_bytes), {});
  if (!source) return fail(source.error());
  Json json{{"seconds", (*source)->end_s() - (*source)->start_s()}, {"entities", Json::array()}};
  for (std::size_t i = 0; i < (*source)->size(); ++i)
    json["entities"].push_back((*source)->entity(i).name);
  json["remarks"] = (*source)->remarks();
  module().recording = std::move(recording);
  return succeed(json.dump(-1, ' ', false, Json::error_handler_t::replace));
}

// Runs the settings. With `frames`, the tracks are kept for pg_track() and the text of pg_shape().
PLAYGROUND_API(pg_run) int pg_run(const char* settings, std::size_t bytes, int frames) {
  const auto read = read_settings({settings, bytes});
  if (!read) return fail(read.error());
  if (frames != 0) module().run.reset();  // free the memory of the previous run first
  auto run =
      run_settings(*read, module().recording, frames != 0 ? Wanted::figures_and_frames : Wanted::figures);
  if (!run) return fail(run.error());
  const std::string figures = figures_text(*run);
  if (frames != 0) module().run = std::move(*run);
  return succeed(figures);
}

// The shape of the kept run: its times, entities and methods, as JSON.
PLAYGROUND_API(pg_shape) int pg_shape() {
  if (!module().run) return fail("there is no run");
  return succeed(shape_json(*module().run).dump(-1, ' ', false, Json::error_handler_t::replace));
}

// The poses of a method of the kept run, or the true poses for -1: pictures x entities x 7 floats.
PLAYGROUND_API(pg_track) const float* pg_track(int method) {
  const auto& run = module().run;
  if (!run || method >= static_cast<int>(run->tracks.size())) return nullptr;
  return method < 0 ? run->truth.data() : run->tracks[static_cast<std::size_t>(method)].poses.data();
}

// The datagrams of a method of the kept run, 5 floats each: sent (s after the start), arrived (NaN: lost),
// bytes on the wire, 1 if sent by the server, 1 if it carries states. Returns their number; pg_packets() is
// their address.
PLAYGROUND_API(pg_packet_count) int pg_packet_count(int method) {
  const auto& run = module().run;
  std::vector<float>& packets = module().packets;
  packets.clear();
  if (!run || method < 0 || method >= static_cast<int>(run->tracks.size())) return 0;
  for (const harness::PacketRecord& packet : run->tracks[static_cast<std::size_t>(method)].packets) {
    packets.push_back(static_cast<float>(packet.sent_s - run->start_s));
    packets.push_back(packet.arrived_s ? static_cast<float>(*packet.arrived_s - run->start_s)
                                       : std::numeric_limits<float>::quiet_NaN());
    packets.push_back(static_cast<float>(packet.wire_bytes));
    packets.push_back(packet.down ? 1.0f : 0.0f);
    packets.push_back(packet.state ? 1.0f : 0.0f);
  }
  return static_cast<int>(packets.size() / 5);
}

PLAYGROUND_API(pg_packets) const float* pg_packets() {
  return module().packets.data();
}

// What the datagrams of a method of the kept run contain, 5 floats for each part: the time of the tick that
// sent it (like the time of the datagrams), index of its entity (-1: none), index of its kind in the "kinds"
// of pg_shape(), number of such things, and their size in bits. The oldest come first. A very long run is
// cut. Returns the number of parts; pg_parts() is their address.
PLAYGROUND_API(pg_part_count) int pg_part_count(int method) {
  const auto& run = module().run;
  std::vector<float>& parts = module().parts;
  parts.clear();
  if (!run || method < 0 || method >= static_cast<int>(run->tracks.size())) return 0;
  const auto kinds = part_kinds();
  for (const harness::TickContents& tick : run->tracks[static_cast<std::size_t>(method)].contents) {
    if (parts.size() > 5 * kMostParts) break;
    for (const harness::SentPart& part : tick.parts) {
      parts.push_back(static_cast<float>(tick.sent_s - run->start_s));
      parts.push_back(part.entity == harness::SentPart::kNoEntity ? -1.0f : static_cast<float>(part.entity));
      parts.push_back(static_cast<float>(std::ranges::find(kinds, part.kind) - kinds.begin()));
      parts.push_back(static_cast<float>(part.count));
      parts.push_back(static_cast<float>(part.bits));
    }
  }
  return static_cast<int>(parts.size() / 5);
}

PLAYGROUND_API(pg_parts) const float* pg_parts() {
  return module().parts.data();
}

// The harness's command line for the settings.
PLAYGROUND_API(pg_command) int pg_command(const char* settings, std::size_t bytes) {
  const auto read = read_settings({settings, bytes});
  return read ? succeed(command_line(*read)) : fail(read.error());
}

// The configuration of the settings as C++ code.
PLAYGROUND_API(pg_cpp) int pg_cpp(const char* settings, std::size_t bytes) {
  const auto read = read_settings({settings, bytes});
  return read ? succeed(cpp_configuration(*read)) : fail(read.error());
}

// One line with a hash of the whole run for each method; the tests compare them with those of a native build.
PLAYGROUND_API(pg_digest) int pg_digest(const char* settings, std::size_t bytes) {
  const auto read = read_settings({settings, bytes});
  if (!read) return fail(read.error());
  auto lines = digest(*read, module().recording);
  return lines ? succeed(std::move(*lines)) : fail(lines.error());
}

}  // namespace reckoner::playground
