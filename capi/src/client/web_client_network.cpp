// SPDX-License-Identifier: MIT
// Clients in a page: the page owns the WebSocket, or another ordered stream of messages.
#include "capi/src/client/client_handle.hpp"
#include "capi/src/values/web.hpp"

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <reckoner/net/dialer.hpp>
#include <reckoner/net/pipe_transport.hpp>

// Asks for a new connection of a network, which replaces the one before. `connection` is its number: calls
// for older connections have no effect.
RECKONER_WEB_IMPORT(open) void page_open(void* network, std::uint32_t connection);
// Sends one message over the newest connection. Returns 1, or 0 if it is not open.
RECKONER_WEB_IMPORT(send)
int page_send(void* network, const std::byte* message, std::size_t bytes);
// A random number in [0, 1).
RECKONER_WEB_IMPORT(random) double page_random();

namespace reckoner::capi {
namespace {

class WebClientNetwork final : public ClientNetwork, public Dialer {
 public:
  explicit WebClientNetwork(bool reconnects) : reconnects_(reconnects) {}

  // ClientNetwork
  Result<Client> create_client(ClientConfig config) override {
    if (reconnects_) return Client::create(std::move(config), static_cast<Dialer&>(*this));
    start();
    return Client::create(std::move(config), *transport_);
  }
  void wait(double) override {}  // JavaScript waits
  reckoner_result set_token(const std::uint8_t[1024]) override { return RECKONER_ERROR_REFUSED; }
  reckoner_result ticket(std::uint8_t[1024]) const override { return RECKONER_NOTHING; }
  TransportStats stats() const override {
    TransportStats sum = earlier_stats_;
    if (transport_) sum += transport_->stats();
    return sum;
  }

  // Dialer
  Result<Transport*> dial() override {
    start();
    return transport_.get();
  }
  std::string failure_hint() const override {
    if (refused_)
      return "it did not admit this client: the token is missing, wrong, expired or used, or the server is "
             "full";
    if (opened_)
      return "it closed the WebSocket at once: it has too many connections, or allows no pages of this "
             "origin";
    return "the WebSocket could not be opened";
  }
  double random_fraction() override { return page_random(); }

  // The page
  void opened(std::uint32_t connection, std::span<const std::byte> token) {
    if (connection != connection_) return;
    opened_ = true;
    transport_->set_token(token);
    transport_->opened();
  }
  void received(std::uint32_t connection, std::span<const std::byte> message, double now_s) {
    constexpr std::byte kWelcome{3}, kBye{4};  // docs/WIRE.md
    if (connection != connection_ || message.empty()) return;
    if (message[0] == kWelcome) welcomed_ = true;
    refused_ = message[0] == kBye && !welcomed_;
    transport_->received(message, now_s);
  }
  // 0 bytes: datagrams travel over the ordered stream. Else over a channel that loses and reorders.
  void set_path(std::uint32_t connection, std::size_t channel_datagram_bytes) {
    if (connection != connection_) return;
    transport_->set_path(channel_datagram_bytes == 0
                             ? PipePath{}
                             : PipePath{.is_ordered = false, .max_datagram_bytes = channel_datagram_bytes});
  }
  void closed(std::uint32_t connection) {
    if (connection == connection_) transport_->closed();
  }
  [[nodiscard]] bool is_refused() const { return refused_; }

  std::vector<double> ids;  // of the last picture
  std::vector<double> positions;
  std::vector<float> orientations;
  std::vector<std::byte> room;  // for the message that arrives

 private:
  void start() {
    if (transport_) earlier_stats_ += transport_->stats();
    opened_ = welcomed_ = refused_ = false;
    ++connection_;
    transport_ = std::make_unique<PipeTransport>(
        [this](std::span<const std::byte> m) { return page_send(this, m.data(), m.size()) != 0; });
    page_open(this, connection_);
  }

  bool reconnects_;
  std::unique_ptr<PipeTransport> transport_;
  TransportStats earlier_stats_;
  std::uint32_t connection_ = 0;
  bool opened_ = false, welcomed_ = false, refused_ = false;
};

}  // namespace

std::string_view network_fault(const reckoner_client_config&) {
  return {};  // the page knows the server and the token
}

std::unique_ptr<ClientNetwork> open_network(const reckoner_client_config& c, NetworkFailure&) {
  return std::make_unique<WebClientNetwork>(c.reconnects != 0);
}

}  // namespace reckoner::capi

using reckoner::capi::WebClientNetwork;

namespace {

WebClientNetwork& network_of(reckoner_client* client) {
  return static_cast<WebClientNetwork&>(*client->network);
}

/// The picture that reckoner_web_frame() has written. JavaScript reads it, so its layout is fixed.
struct Picture {
  std::uint32_t count = 0;     // entities
  std::uint32_t capacity = 0;  // of the arrays
  const double* ids = nullptr;
  const double* positions = nullptr;    // x, y, z
  const float* orientations = nullptr;  // x, y, z, w
  std::uint32_t reserved = 0;
  double shown_time_s = 0.0;
};

}  // namespace

RECKONER_WEB(reckoner_web_alloc) void* reckoner_web_alloc(std::size_t bytes) {
  return std::malloc(bytes);
}
RECKONER_WEB(reckoner_web_free) void reckoner_web_free(void* memory) {
  std::free(memory);
}

// The network of a client, by which page_open() and page_send() name it.
RECKONER_WEB(reckoner_web_network) void* reckoner_web_network(reckoner_client* client) {
  return &network_of(client);
}
// A connection is open: joins with a token, which may be empty.
RECKONER_WEB(reckoner_web_opened)
void reckoner_web_opened(reckoner_client* client, std::uint32_t connection, const std::byte* token,
                         std::size_t bytes) {
  network_of(client).opened(connection, {token, bytes});
}
// Memory for a message of this size, until the next call.
RECKONER_WEB(reckoner_web_room) std::byte* reckoner_web_room(reckoner_client* client, std::size_t bytes) {
  std::vector<std::byte>& room = network_of(client).room;
  if (room.size() < bytes) room.resize(bytes);
  return room.data();
}
// A message of this size has arrived; it is in reckoner_web_room().
RECKONER_WEB(reckoner_web_received)
void reckoner_web_received(reckoner_client* client, std::uint32_t connection, std::size_t bytes,
                           double now_s) {
  WebClientNetwork& network = network_of(client);
  if (bytes <= network.room.size()) network.received(connection, {network.room.data(), bytes}, now_s);
}
// Datagrams travel over a data channel from now on, in at most this number of bytes; 0: over the stream
// again.
RECKONER_WEB(reckoner_web_path)
void reckoner_web_path(reckoner_client* client, std::uint32_t connection, std::size_t bytes) {
  network_of(client).set_path(connection, bytes);
}
RECKONER_WEB(reckoner_web_closed)
void reckoner_web_closed(reckoner_client* client, std::uint32_t connection) {
  network_of(client).closed(connection);
}
// 1 if the server has refused to admit the newest connection.
RECKONER_WEB(reckoner_web_refused) int reckoner_web_refused(reckoner_client* client) {
  return network_of(client).is_refused() ? 1 : 0;
}

// Writes the poses of the last update into the arrays of `picture`, which grow if necessary.
RECKONER_WEB(reckoner_web_frame) int reckoner_web_frame(reckoner_client* client, Picture* picture) {
  WebClientNetwork& network = network_of(client);
  reckoner_poses poses{};
  poses.struct_size = sizeof poses;
  const reckoner_result result = reckoner_client_shown_poses(client, &poses);
  if (result != RECKONER_OK) return result;
  if (poses.count > network.ids.size()) {
    std::size_t capacity = network.ids.empty() ? 64 : network.ids.size();
    while (capacity < poses.count)
      capacity *= 2;
    network.ids.resize(capacity);
    network.positions.resize(3 * capacity);
    network.orientations.resize(4 * capacity);
  }
  for (std::size_t i = 0; i < poses.count; ++i)
    network.ids[i] = static_cast<double>(poses.entities[i]);
  std::copy_n(poses.positions, 3 * poses.count, network.positions.begin());
  std::copy_n(poses.orientations, 4 * poses.count, network.orientations.begin());
  *picture = {.count = static_cast<std::uint32_t>(poses.count),
              .capacity = static_cast<std::uint32_t>(network.ids.size()),
              .ids = network.ids.data(),
              .positions = network.positions.data(),
              .orientations = network.orientations.data(),
              .shown_time_s = poses.shown_time_s};
  return RECKONER_OK;
}

// The archetype of an entity; -1 if it is unknown.
RECKONER_WEB(reckoner_web_archetype) int reckoner_web_archetype(reckoner_client* client, double entity) {
  const reckoner::EntityInfo* const info =
      client->object->info(reckoner::entity_id_of(static_cast<std::uint64_t>(entity)));
  return info != nullptr ? static_cast<int>(info->archetype) : -1;
}
