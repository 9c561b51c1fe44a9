// SPDX-License-Identifier: MIT
// A client of a running server, in the page: the client library over a WebSocket. The page owns the WebSocket
// and the clock (s). Conventions are those of api.cpp.
#include "playground/src/module_text.hpp"
#include "programs/common/archetypes.hpp"
#include "programs/common/options/source_options.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include <reckoner/client/client.hpp>
#include <reckoner/net/pipe_transport.hpp>

#define PLAYGROUND_API(name) extern "C" __attribute__((export_name(#name), used))

// Sends one message over the page's WebSocket. Returns 1, or 0 if it is not open.
extern "C" __attribute__((import_module("page"), import_name("send"))) int page_send(const std::byte* message,
                                                                                     std::size_t bytes);

namespace reckoner::playground {
namespace {

using Json = nlohmann::ordered_json;

// Numbers of one shown entity in pg_live_entities().
constexpr std::size_t kEntityNumbers = 22;

struct Live {
  explicit Live(std::span<const std::byte> token)
      : transport([](std::span<const std::byte> m) { return page_send(m.data(), m.size()) != 0; }, token) {}

  PipeTransport transport;
  std::optional<Client> client;
  std::vector<double> entities;
  std::vector<std::string> events;
  bool has_joined = false;
};

std::unique_ptr<Live>& live() {
  static std::unique_ptr<Live> one;
  return one;
}

void put(std::vector<double>& out, const State& state) {
  for (int i = 0; i < 3; ++i)
    out.push_back(state.position[i]);
  out.insert(out.end(), {state.orientation.w, state.orientation.x, state.orientation.y, state.orientation.z});
}

const char* name_of(ClientStatus status) {
  constexpr const char* kNames[] = {"connecting", "joining",      "joined",
                                    "refused",    "disconnected", "reconnecting"};
  return kNames[static_cast<std::size_t>(status)];
}

}  // namespace

// Creates the client. `token`: the content of a token file, or nothing; `mode`: present, adaptive,
// delayed:MS or ahead.
PLAYGROUND_API(pg_live_start)
int pg_live_start(const std::byte* token, std::size_t token_bytes, const char* mode, std::size_t mode_bytes) {
  ClientConfig config;
  config.archetypes = program::archetypes();
  if (const auto error = program::parse_mode({mode, mode_bytes}, config.playout)) return fail(error->message);
  auto next = std::make_unique<Live>(std::span(token, token_bytes));
  auto client = Client::create(std::move(config), next->transport);
  if (!client) return fail(client.error());
  next->client.emplace(std::move(*client));
  live() = std::move(next);
  return succeed({});
}

// The page's WebSocket: it is open, has received a message, or is closed.
PLAYGROUND_API(pg_live_opened) void pg_live_opened() {
  if (live()) live()->transport.opened();
}
PLAYGROUND_API(pg_live_received)
void pg_live_received(const std::byte* message, std::size_t bytes, double now_s) {
  if (live()) live()->transport.received({message, bytes}, now_s);
}
PLAYGROUND_API(pg_live_closed) void pg_live_closed() {
  if (live()) live()->transport.closed();
}

// Processes what has arrived. Call it several times a picture, or once before pg_live_shown().
PLAYGROUND_API(pg_live_update) void pg_live_update(double now_s) {
  if (live()) live()->client->update(now_s);
}

// Computes the entities to draw, and returns their number. pg_live_entities() is the address of their
// numbers: id; shown position and orientation (w, x, y, z); position and orientation of the motion behind it;
// shown time, time of the motion, age, s; blend, m and rad; time until the blend ends, s; 1 if fading.
PLAYGROUND_API(pg_live_shown) int pg_live_shown() {
  if (!live()) return 0;
  Client& client = *live()->client;
  std::vector<double>& out = live()->entities;
  out.clear();
  for (const ShownEntity& entity : client.shown()) {
    const auto debug = client.debug(entity.id);
    out.push_back(static_cast<double>(to_number(entity.id)));
    put(out, entity.shown);
    put(out, debug ? debug->motion : entity.shown);
    out.insert(out.end(), {entity.shown_time_s, debug ? debug->motion_time_s : entity.shown_time_s,
                           entity.age_s, debug ? debug->blend_m : 0.0, debug ? debug->blend_rad : 0.0,
                           debug ? debug->blend_left_s : 0.0, debug && debug->fading ? 1.0 : 0.0});
  }
  return static_cast<int>(out.size() / kEntityNumbers);
}
PLAYGROUND_API(pg_live_entities) const double* pg_live_entities() {
  return live() ? live()->entities.data() : nullptr;
}

// The name of an entity as text; empty if it is unknown.
PLAYGROUND_API(pg_live_name) int pg_live_name(double id) {
  // An id is at most 2^48, which a double represents exactly.
  const bool valid = id >= 0.0 && id < 281474976710656.0;
  const EntityInfo* const info =
      live() && valid ? live()->client->info(entity_id_of(static_cast<std::uint64_t>(id))) : nullptr;
  return succeed(info != nullptr ? info->name : std::string());
}

// The state of the client, as JSON. `events` are the events since the last call.
PLAYGROUND_API(pg_live_state) int pg_live_state() {
  if (!live()) return fail("there is no client");
  Client& client = *live()->client;
  Json events = Json::array();
  while (const auto event = client.poll_event()) {
    using Kind = ClientEvent::Kind;
    const EntityInfo* const info = client.info(event->entity);
    const std::string name = info != nullptr ? info->name : std::string();
    if (event->kind == Kind::joined) live()->has_joined = true;
    const char* const what = event->kind == Kind::joined          ? "joined"
                             : event->kind == Kind::spawned       ? "spawned"
                             : event->kind == Kind::despawned     ? "despawned"
                             : event->kind == Kind::teleported    ? "teleported"
                             : event->kind == Kind::snapped       ? "snapped"
                             : event->kind == Kind::server_closed ? "server closed"
                             : event->kind == Kind::disconnected  ? "disconnected"
                                                                  : nullptr;
    if (what != nullptr) events.push_back({{"kind", what}, {"name", name}});
  }
  const ClientStats& stats = client.stats();
  const TransportStats& wire = live()->transport.stats();
  Json json{{"status", name_of(client.status())},
            {"has_joined", live()->has_joined},
            {"refusal", client.refusal()},
            {"round_trip_s", stats.round_trip_s},
            {"delay_s", stats.delay_s},
            {"datagrams_received", stats.datagrams_received},
            {"datagrams_lost", stats.datagrams_lost},
            {"updates_applied", stats.updates_applied},
            {"updates_stale", stats.updates_stale},
            {"malformed", stats.malformed + wire.refused},
            {"bytes_received", wire.wire_bytes_received},
            {"messages_received", wire.datagrams_received},
            {"bytes_sent", wire.wire_bytes_sent}};
  const auto server_s = client.server_time_s();
  json["server_time_s"] = server_s ? Json(*server_s) : Json();
  json["events"] = std::move(events);
  return succeed(json.dump(-1, ' ', false, Json::error_handler_t::replace));
}

// The newest status text of the server; it is untrusted. Empty before the first.
PLAYGROUND_API(pg_live_server) int pg_live_server() {
  return succeed(live() ? live()->transport.status() : std::string());
}

// Changes the mode without a jump.
PLAYGROUND_API(pg_live_mode) int pg_live_mode(const char* mode, std::size_t bytes) {
  if (!live()) return fail("there is no client");
  PlayoutConfig playout = live()->client->playout();
  if (const auto error = program::parse_mode({mode, bytes}, playout)) return fail(error->message);
  return live()->client->set_playout(playout) ? succeed({}) : fail("the mode is invalid");
}

// Leaves the server and ends the client, which has no messages worth waiting for. The page then closes the
// WebSocket.
PLAYGROUND_API(pg_live_leave) void pg_live_leave() {
  if (live()) live()->client->leave();
  live().reset();
}

}  // namespace reckoner::playground
