// SPDX-License-Identifier: MIT
// The clients of a server: interest, messages, ownership and lag compensation.
#include "capi/src/server/server_handle.hpp"

#include <cmath>
#include <cstring>
#include <optional>
#include <span>
#include <vector>

using namespace reckoner;
using capi::done_or;
using capi::entity_id;
using capi::run;
using capi::run_or;
using capi::with;

namespace {

// A message as C describes it.
struct Outgoing {
  const void* bytes;
  std::size_t size;
  std::int32_t delivery;
  const double* time_s;

  [[nodiscard]] bool is_valid() const {
    const auto how = capi::delivery_of(delivery);
    return bytes != nullptr && how && size >= 1 && size <= max_message_bytes(*how) &&
           (time_s == nullptr || is_valid_stamp(*time_s));
  }
  [[nodiscard]] std::span<const std::byte> payload() const {
    return {static_cast<const std::byte*>(bytes), size};
  }
  [[nodiscard]] Delivery how() const { return capi::delivery_of(delivery).value(); }
  [[nodiscard]] std::optional<double> stamp() const {
    return time_s != nullptr ? std::optional<double>{*time_s} : std::nullopt;
  }
};

reckoner_result broadcast(reckoner_server* server, const Recipients& to, const Outgoing& message,
                          std::size_t* reached) {
  if (reached != nullptr) *reached = 0;
  if (!message.is_valid()) return RECKONER_ERROR_ARGUMENT;
  std::size_t count = 0;
  const reckoner_result result = run(server, [&](Server& s) -> CallResult {
    const auto sent = s.broadcast(to, message.payload(), message.how(), message.stamp());
    if (!sent) return sent.error();
    count = *sent;
    return {};
  });
  if (reached != nullptr) *reached = count;
  return result == RECKONER_OK ? done_or(count > 0, RECKONER_NOTHING) : result;
}

}  // namespace

reckoner_result reckoner_server_set_relevance(reckoner_server* server, reckoner_client_id client,
                                              reckoner_entity entity, std::int32_t relevance) {
  if (relevance < RECKONER_RELEVANCE_BY_DISTANCE || relevance > RECKONER_RELEVANCE_NEVER)
    return RECKONER_ERROR_ARGUMENT;
  return run(server, [&](Server& s) {
    const auto given = static_cast<Relevance>(relevance);
    const EntityId id = entity_id(entity);
    return client == 0 ? s.set_relevance(id, given) : s.set_relevance(ClientId{client}, id, given);
  });
}

reckoner_result reckoner_server_set_entity_groups(reckoner_server* server, reckoner_entity entity,
                                                  std::uint32_t groups) {
  return run(server, [&](Server& s) { return s.set_groups(entity_id(entity), groups); });
}

reckoner_result reckoner_server_set_client_groups(reckoner_server* server, reckoner_client_id client,
                                                  std::uint32_t groups) {
  return run(server, [&](Server& s) { return s.set_groups(ClientId{client}, groups); });
}

reckoner_result reckoner_server_set_view(reckoner_server* server, reckoner_client_id client,
                                         const double eye[3]) {
  if (eye == nullptr || !std::isfinite(eye[0]) || !std::isfinite(eye[1]) || !std::isfinite(eye[2]))
    return RECKONER_ERROR_ARGUMENT;
  return run(server, [&](Server& s) { return s.set_view(ClientId{client}, {eye[0], eye[1], eye[2]}); });
}

reckoner_result reckoner_server_send(reckoner_server* server, reckoner_client_id client, const void* bytes,
                                     std::size_t size, std::int32_t delivery, const double* time_s) {
  const Outgoing message{bytes, size, delivery, time_s};
  if (client == 0) return broadcast(server, Recipients::all(), message, nullptr);
  if (!message.is_valid()) return RECKONER_ERROR_ARGUMENT;
  return run(server, [&](Server& s) {
    return s.send(ClientId{client}, message.payload(), message.how(), message.stamp());
  });
}

reckoner_result reckoner_server_broadcast(reckoner_server* server, reckoner_client_id except,
                                          const void* bytes, std::size_t size, std::int32_t delivery,
                                          const double* time_s, std::size_t* reached) {
  return broadcast(server, Recipients::all().except({except}), {bytes, size, delivery, time_s}, reached);
}

reckoner_result reckoner_server_broadcast_listed(reckoner_server* server, const reckoner_client_id* clients,
                                                 std::size_t count, reckoner_client_id except,
                                                 const void* bytes, std::size_t size, std::int32_t delivery,
                                                 const double* time_s, std::size_t* reached) {
  if (reached != nullptr) *reached = 0;
  if (clients == nullptr && count > 0) return RECKONER_ERROR_ARGUMENT;
  return capi::guarded([&] {
    std::vector<ClientId> ids;
    for (const reckoner_client_id client : std::span(clients, count))
      ids.push_back({client});
    return broadcast(server, Recipients::listed(ids).except({except}), {bytes, size, delivery, time_s},
                     reached);
  });
}

reckoner_result reckoner_server_broadcast_within(reckoner_server* server, const double centre[3],
                                                 double radius_m, reckoner_client_id except,
                                                 const void* bytes, std::size_t size, std::int32_t delivery,
                                                 const double* time_s, std::size_t* reached) {
  if (reached != nullptr) *reached = 0;
  if (centre == nullptr) return RECKONER_ERROR_ARGUMENT;
  const Recipients to = Recipients::within({centre[0], centre[1], centre[2]}, radius_m);
  return broadcast(server, to.except({except}), {bytes, size, delivery, time_s}, reached);
}

reckoner_result reckoner_server_broadcast_seeing(reckoner_server* server, reckoner_entity entity,
                                                 reckoner_client_id except, const void* bytes,
                                                 std::size_t size, std::int32_t delivery,
                                                 const double* time_s, std::size_t* reached) {
  return broadcast(server, Recipients::seeing(entity_id(entity)).except({except}),
                   {bytes, size, delivery, time_s}, reached);
}

reckoner_result reckoner_server_poll_message(reckoner_server* server, reckoner_message* message) {
  return with(server, [&](Server& s) -> reckoner_result {
    if (const auto wrong = capi::check_struct(message); wrong != RECKONER_OK) return wrong;
    const auto polled = s.poll_message();
    return polled ? capi::give(message, capi::to_c(*polled)) : RECKONER_NOTHING;
  });
}

reckoner_result reckoner_server_poll_event(reckoner_server* server, reckoner_server_event* event) {
  return with(server, [&](Server& s) -> reckoner_result {
    if (const auto wrong = capi::check_struct(event); wrong != RECKONER_OK) return wrong;
    server->event = s.poll_event();
    if (!server->event) return RECKONER_NOTHING;
    reckoner_server_event c{};
    c.kind = static_cast<std::int32_t>(server->event->kind);
    c.client = server->event->client.value;
    c.entity = capi::to_c(server->event->entity);
    c.text = server->event->text.c_str();
    return capi::give(event, c);
  });
}

reckoner_result reckoner_server_identity(const reckoner_server* server, reckoner_client_id client,
                                         std::uint64_t* client_id, std::uint8_t user_data[256]) {
  if (client_id == nullptr) return RECKONER_ERROR_ARGUMENT;
  *client_id = 0;
  return with(server, [&](const Server& s) -> reckoner_result {
    const PeerId peer = s.peer(ClientId{client});
    if (!peer) return RECKONER_ERROR_UNKNOWN;
    const auto identity = server->network->identity(peer);
    if (!identity) return RECKONER_NOTHING;
    *client_id = identity->client_id;
    if (user_data != nullptr) std::memcpy(user_data, identity->user_data.data(), identity->user_data.size());
    return RECKONER_OK;
  });
}

reckoner_result reckoner_server_kick(reckoner_server* server, reckoner_client_id client, const char* reason) {
  const std::string_view text = reason == nullptr ? std::string_view{} : std::string_view{reason};
  if (text.size() > kMaxKickReasonBytes) return RECKONER_ERROR_ARGUMENT;
  return run_or(server, RECKONER_NOTHING, [&](Server& s) { return s.kick(ClientId{client}, text); });
}

reckoner_result reckoner_server_kick_player(reckoner_server* server, std::uint64_t client_id,
                                            const char* reason, std::size_t* ended) {
  const std::string_view text = reason == nullptr ? std::string_view{} : std::string_view{reason};
  if (ended != nullptr) *ended = 0;
  if (text.size() > kMaxKickReasonBytes) return RECKONER_ERROR_ARGUMENT;
  return with(server, [&](Server& s) {
    const std::size_t count = s.kick_player(client_id, text);
    if (ended != nullptr) *ended = count;
    return RECKONER_OK;
  });
}

reckoner_result reckoner_server_pose_seen_by(const reckoner_server* server, reckoner_client_id client,
                                             reckoner_entity entity, double time_s, reckoner_pose* pose) {
  if (pose == nullptr || !is_valid_stamp(time_s)) return RECKONER_ERROR_ARGUMENT;
  return with(server, [&](const Server& s) -> reckoner_result {
    const auto seen = s.pose_seen_by(ClientId{client}, entity_id(entity), time_s);
    if (!seen) return RECKONER_NOTHING;
    *pose = capi::to_c(*seen);
    return RECKONER_OK;
  });
}

reckoner_result reckoner_server_rewind_status(const reckoner_server* server, reckoner_client_id client,
                                              double time_s, std::uint32_t* status) {
  if (status == nullptr || !is_valid_stamp(time_s)) return RECKONER_ERROR_ARGUMENT;
  return with(server, [&](const Server& s) {
    *status = static_cast<std::uint32_t>(s.rewind_status(ClientId{client}, time_s));
    return RECKONER_OK;
  });
}

reckoner_result reckoner_server_rewind(reckoner_server* server, reckoner_client_id client, double time_s,
                                       reckoner_seen* seen, std::size_t capacity, std::size_t* count) {
  if (count == nullptr || (seen == nullptr && capacity > 0) || !is_valid_stamp(time_s))
    return RECKONER_ERROR_ARGUMENT;
  *count = 0;
  return with(server, [&](Server& s) {
    const auto all = s.rewind(ClientId{client}, time_s);
    *count = all.size();
    for (std::size_t i = 0; i < all.size() && i < capacity; ++i)
      seen[i] = {capi::to_c(all[i].entity), capi::to_c(all[i].pose)};
    return done_or(all.size() <= capacity, RECKONER_ERROR_CAPACITY);
  });
}
