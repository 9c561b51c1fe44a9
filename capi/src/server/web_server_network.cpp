// SPDX-License-Identifier: MIT
// Servers in Node.js: JavaScript owns the WebSockets, and decides who may join.
#include "capi/src/server/server_handle.hpp"
#include "capi/src/values/convert.hpp"
#include "capi/src/values/shared_fields.hpp"
#include "capi/src/values/web.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <reckoner/net/network_transport.hpp>
#include <reckoner/net/pipe_server.hpp>

namespace {

/// What JavaScript decides about a client. JavaScript writes it, so its layout is fixed.
struct Decision {
  std::uint32_t admitted = 0;
  std::uint32_t has_identity = 0;
  std::uint64_t client_id = 0;
  std::array<std::byte, reckoner::ConnectGrant::kUserBytes> user_data{};
  std::array<std::byte, 16> login{};  // equal for all sessions of one login
  std::uint32_t session = 0;          // the name that next_replaced() gives the client; its stream
};

}  // namespace

// Sends a message over a stream. `may_drop`: 1 to drop it rather than let it wait for a slow client. Returns
// 1, or 0 if it was dropped.
RECKONER_WEB_IMPORT(stream_send)
int page_stream_send(std::uint32_t stream, const std::byte* message, std::size_t bytes, int may_drop);
RECKONER_WEB_IMPORT(stream_close) void page_stream_close(std::uint32_t stream);
// Writes the decision about the client whose message is received now.
RECKONER_WEB_IMPORT(admit) void page_admit(Decision* decision);
// Returns 1 if the login of a client is no longer valid.
RECKONER_WEB_IMPORT(is_revoked) int page_is_revoked(double client_id, const std::byte* login);
// Returns the session of a client whose place a newer session of the same player has taken; 0: none.
RECKONER_WEB_IMPORT(next_replaced) std::uint32_t page_next_replaced();
// Makes a login invalid, and with `all` everything that was issued for the client until now.
RECKONER_WEB_IMPORT(revoke) void page_revoke(double client_id, const std::byte* login, int all);

namespace reckoner::capi {
namespace {

PipeStreams streams() {
  return {.send =
              [](StreamId stream, std::span<const std::byte> message, bool may_drop) {
                return page_stream_send(static_cast<std::uint32_t>(stream), message.data(), message.size(),
                                        may_drop ? 1 : 0) != 0;
              },
          .close = [](StreamId stream) { page_stream_close(static_cast<std::uint32_t>(stream)); }};
}

PipeGate gate(std::uint32_t sessions_per_client) {
  PipeGate gate;
  gate.admit = [sessions_per_client](std::span<const std::byte>, const IpAddress&) {
    Decision decision;
    page_admit(&decision);
    if (decision.admitted == 0) return Admission{.refusal = Refusal::wrong_token};
    if (decision.has_identity == 0) return Admission{};
    return Admission{.login = {.client_id = decision.client_id,
                               .id = decision.login,
                               .sessions_per_client = sessions_per_client},
                     .identity = ClientIdentity{decision.client_id, decision.user_data},
                     .session = decision.session};
  };
  gate.is_revoked = [](const PeerLogin& login) {
    return login.client_id && page_is_revoked(static_cast<double>(*login.client_id), login.id.data()) != 0;
  };
  gate.next_replaced = []() -> std::optional<std::uint32_t> {
    const std::uint32_t session = page_next_replaced();
    return session != 0 ? std::optional(session) : std::nullopt;
  };
  gate.revoke = [](const PeerLogin& login) {
    if (login.client_id)
      page_revoke(static_cast<double>(*login.client_id), login.id.data(),
                  login.sessions_per_client > 0 ? 1 : 0);
  };
  return gate;
}

class WebServerNetwork final : public ServerNetwork {
 public:
  explicit WebServerNetwork(PipeServer pipes) : pipes(std::move(pipes)) {}

  Transport& transport() override { return pipes; }
  std::uint16_t port() const override { return 0; }
  void wait(double) override {}  // JavaScript waits
  std::optional<ClientIdentity> identity(PeerId peer) const override { return pipes.identity(peer); }

  PipeServer pipes;
  std::vector<std::byte> room;  // for the message that arrives
};

}  // namespace

std::string_view network_fault(const reckoner_server_config& c) {
  // JavaScript listens, and decides who may join.
  return c.web != nullptr ? "web is set, but this library listens with JavaScript" : std::string_view{};
}

std::unique_ptr<ServerNetwork> open_network(const reckoner_server_config& c, ServerNetworkFailure& failure) {
  PipeServerConfig config{.max_peers = std::min<std::size_t>(c.max_clients + kSpareConnections, 65'535),
                          .max_peers_per_host = c.peers_per_address,
                          .join_s = c.join_timeout_s};
  copy_from_c(kLimitFields, config.limits, c);
  auto pipes = PipeServer::create(config, streams(), gate(c.sessions_per_client));
  if (!pipes) {
    failure = {RECKONER_ERROR_ARGUMENT, with_c_names(pipes.error())};
    return nullptr;
  }
  return std::make_unique<WebServerNetwork>(std::move(*pipes));
}

}  // namespace reckoner::capi

namespace {

reckoner::capi::WebServerNetwork& network_of(reckoner_server* server) {
  return static_cast<reckoner::capi::WebServerNetwork&>(*server->network);
}

}  // namespace

RECKONER_WEB(reckoner_web_alloc) void* reckoner_web_alloc(std::size_t bytes) {
  return std::malloc(bytes);
}
RECKONER_WEB(reckoner_web_free) void reckoner_web_free(void* memory) {
  std::free(memory);
}

// A stream is open. `address`: the 16 bytes of the client's address, IPv6 or IPv4 in IPv6. Returns 0 if there
// are too many streams.
RECKONER_WEB(reckoner_web_opened)
int reckoner_web_opened(reckoner_server* server, std::uint32_t stream, const std::uint8_t* address,
                        double now_s) {
  std::array<std::uint64_t, 2> halves{};
  for (std::size_t i = 0; i < 16; ++i)
    halves[i / 8] = halves[i / 8] << 8 | address[i];
  return network_of(server).pipes.opened(stream, reckoner::IpAddress(halves[0], halves[1]), now_s) ? 1 : 0;
}
// Memory for a message of this size, until the next call.
RECKONER_WEB(reckoner_web_room) std::byte* reckoner_web_room(reckoner_server* server, std::size_t bytes) {
  std::vector<std::byte>& room = network_of(server).room;
  if (room.size() < bytes) room.resize(bytes);
  return room.data();
}
// A message of this size has arrived; it is in reckoner_web_room().
RECKONER_WEB(reckoner_web_received)
void reckoner_web_received(reckoner_server* server, std::uint32_t stream, std::size_t bytes, double now_s) {
  reckoner::capi::WebServerNetwork& network = network_of(server);
  if (bytes <= network.room.size()) network.pipes.received(stream, {network.room.data(), bytes}, now_s, 0.0);
}
RECKONER_WEB(reckoner_web_closed) void reckoner_web_closed(reckoner_server* server, std::uint32_t stream) {
  network_of(server).pipes.closed(stream);
}
