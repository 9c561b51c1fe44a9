// SPDX-License-Identifier: MIT
// A transport of one's own, as a game writes it whose datagrams go through a platform (Steam's networking, a
// console's relay, WebRTC). The platform is two queues here, which delay and lose packets. Server and client
// run in virtual time: the program reads no clock. docs/INTEGRATION.md says what each function must promise.
// Exits with 0 if the client showed the car where it was, and learned why it was kicked.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <glm/geometric.hpp>

#include <reckoner/client/client.hpp>
#include <reckoner/net/transport.hpp>
#include <reckoner/server/server.hpp>

namespace {

using Event = reckoner::TransportEvent;
using reckoner::PeerId;

/// A connection of a player.
struct Line {
  std::uint64_t user = 0;        // the platform's number for the player
  std::uint32_t connection = 0;  // counted up by the player's game, from 1
  bool operator==(const Line&) const = default;
};

struct Packet {
  enum class Kind : std::uint8_t { request, welcome, datagram, goodbye };
  Kind kind = Kind::datagram;
  Line line{};
  std::uint32_t number = 0;  // of a request: the protocol version; of a goodbye: the reason
  std::vector<std::byte> bytes{};
  double arrives_s = 0.0;
};

/// One direction of the platform: takes 40 ms, and loses every fifth packet.
class Queue {
 public:
  void push(Packet packet, double now_s) {
    packet.arrives_s = now_s + 0.04;
    if (++pushed_ % 5 != 0) waiting_.push_back(std::move(packet));
  }
  std::optional<Packet> pop(double now_s) {
    if (waiting_.empty() || waiting_.front().arrives_s > now_s) return std::nullopt;
    Packet packet = std::move(waiting_.front());
    waiting_.pop_front();
    return packet;
  }

 private:
  std::deque<Packet> waiting_;
  int pushed_ = 0;
};

/// One end: the server, or the client of a player, whose only peer is the server.
class QueueTransport final : public reckoner::Transport {
 public:
  QueueTransport(Queue& in, Queue& out, std::optional<Line> player = {})
      : in_(in), out_(out), player_(player), requests_(player ? 20 : 0) {}

  void service(double now_s) override {
    now_s_ = now_s;
    while (const auto packet = in_.pop(now_s))
      receive(*packet);
    std::erase_if(peers_, [&](const auto& peer) {  // its goodbye was lost, or its program crashed
      const bool is_silent = now_s - peer.second.heard_s > 10.0;
      if (is_silent) add({.kind = Event::Kind::disconnected, .peer = peer.first});
      return is_silent;
    });
    if (requests_ == 0 || now_s < next_request_s_) return;
    next_request_s_ = now_s + 0.25;  // a request or its answer may be lost
    put({.kind = Packet::Kind::request, .line = *player_, .number = reckoner::kProtocolVersion});
    if (--requests_ == 0) add({.kind = Event::Kind::disconnected, .peer = PeerId{1}});
  }
  std::optional<Event> poll() override {
    if (events_.empty()) return std::nullopt;
    polled_ = std::move(events_.front());  // keeps the payload until the next call
    events_.pop_front();
    polled_.first.payload = polled_.second;
    return polled_.first;
  }
  bool send(PeerId to, std::span<const std::byte> datagram) override {
    if (datagram.size() > max_datagram_bytes(to)) return false;
    stats_.payload_bytes_sent += datagram.size();
    put({.line = peers_.at(to).line, .bytes = {datagram.begin(), datagram.end()}});
    return true;
  }
  std::size_t max_datagram_bytes(PeerId to) const override {
    return peers_.contains(to) ? reckoner::kMaxDatagramBytes : 0;
  }
  void disconnect(PeerId who, std::uint32_t reason) override {
    if (!peers_.contains(who)) return;
    put({.kind = Packet::Kind::goodbye, .line = peers_.at(who).line, .number = reason});
    end(who, 0);
  }
  // The platform knows its players. So a player has one session at once, and a kick keeps the player out.
  reckoner::PeerLogin login(PeerId who) const override {
    if (player_ || !peers_.contains(who)) return {};
    const std::uint64_t user = peers_.at(who).line.user;
    return {.client_id = user, .sessions_per_client = 1, .is_revoked = banned_.contains(user)};
  }
  void revoke_login(const reckoner::PeerLogin& login) override {
    if (login.client_id) banned_.insert(*login.client_id);
  }
  const reckoner::TransportStats& stats() const override { return stats_; }

 private:
  struct Peer {
    Line line;
    double heard_s = 0.0;
  };

  // Trusts nothing: a packet that the other end must not send, or of an older connection, has no effect.
  void receive(const Packet& packet) {
    ++stats_.datagrams_received;
    const auto found = std::find_if(peers_.begin(), peers_.end(),
                                    [&](const auto& peer) { return peer.second.line == packet.line; });
    const PeerId known = found == peers_.end() ? PeerId{} : found->first;
    if (known) found->second.heard_s = now_s_;
    if (packet.kind == Packet::Kind::request && !player_) {
      if (banned_.contains(packet.line.user))
        return put({.kind = Packet::Kind::goodbye, .line = packet.line});
      if (!known && packet.line.connection <= newest_[packet.line.user]) return;  // overtaken
      if (!known) begin(packet.line, packet.number);
      put({.kind = Packet::Kind::welcome, .line = packet.line});
    } else if (packet.kind == Packet::Kind::welcome && requests_ > 0 && packet.line == *player_) {
      requests_ = 0;
      begin(packet.line, 0);
    } else if (packet.kind == Packet::Kind::goodbye &&
               (known || (requests_ > 0 && packet.line == *player_))) {
      requests_ = 0;
      end(known ? known : PeerId{1}, packet.number);
    } else if (packet.kind == Packet::Kind::datagram && known) {
      stats_.payload_bytes_received += packet.bytes.size();
      const double waited_s = now_s_ - packet.arrives_s;  // for exact clocks
      add({.kind = Event::Kind::received, .peer = known, .waited_s = waited_s}, packet.bytes);
    }
  }
  void begin(const Line& line, std::uint32_t number) {
    const auto older = std::find_if(peers_.begin(), peers_.end(),
                                    [&](const auto& peer) { return peer.second.line.user == line.user; });
    if (older != peers_.end()) end(older->first, 0);
    newest_[line.user] = line.connection;
    const PeerId id{++last_peer_};  // no id is used twice
    peers_[id] = {line, now_s_};
    add({.kind = Event::Kind::connected, .peer = id, .reason = number});
  }
  void end(PeerId who, std::uint32_t reason) {
    peers_.erase(who);
    add({.kind = Event::Kind::disconnected, .peer = who, .reason = reason});
  }
  void add(const Event& event, std::vector<std::byte> bytes = {}) {
    events_.emplace_back(event, std::move(bytes));
  }
  void put(Packet packet) {
    ++stats_.datagrams_sent;
    out_.push(std::move(packet), now_s_);
  }

  Queue& in_;
  Queue& out_;
  const std::optional<Line> player_;  // nullopt: this end is the server
  int requests_;                      // that are still to be sent before the client gives up
  double next_request_s_ = 0.0;
  double now_s_ = 0.0;
  std::map<PeerId, Peer> peers_;
  std::uint32_t last_peer_ = 0;
  std::map<std::uint64_t, std::uint32_t> newest_;  // connection of each player
  std::set<std::uint64_t> banned_;
  std::deque<std::pair<Event, std::vector<std::byte>>> events_;
  std::pair<Event, std::vector<std::byte>> polled_;
  reckoner::TransportStats stats_;
};

reckoner::State on_the_circle(double time_s) {  // radius 20 m, speed 10 m/s
  const double angle = 0.5 * time_s;
  reckoner::State car;
  car.position = {20.0 * std::cos(angle), 20.0 * std::sin(angle), 0.0};
  car.velocity = {-10.0 * std::sin(angle), 10.0 * std::cos(angle), 0.0};
  return car;
}

}  // namespace

int main() {
  Queue to_server, to_client;
  QueueTransport at_server(to_server, to_client);
  QueueTransport at_client(to_client, to_server, Line{.user = 76561, .connection = 1});
  auto server = reckoner::Server::create({}, at_server);
  if (!server) return std::fprintf(stderr, "%s\n", server.error().c_str()), 1;
  auto client = reckoner::Client::create({}, at_client);
  if (!client) return std::fprintf(stderr, "%s\n", client.error().c_str()), 1;

  const reckoner::EntityId car = *server->spawn(0, "car", on_the_circle(0.0));
  double worst_m = 0.0;
  int shown = 0;
  bool kicked = false;
  for (double now_s = 0.0; now_s < 6.0; now_s += 1.0 / 120.0) {
    server->run_due_ticks(now_s, [&](double time_s) { (void)server->move(car, on_the_circle(time_s)); });
    if (now_s > 5.0 && !kicked)
      kicked = static_cast<bool>(server->kick(server->clients().front(), "the match is over"));
    client->update(now_s);
    while (client->poll_event()) {
    }
    if (kicked || now_s < 1.0) continue;  // the first second is for joining
    for (const reckoner::ShownEntity& entity : client->shown()) {
      worst_m = std::max(worst_m, glm::distance(entity.shown.position, on_the_circle(now_s).position));
      ++shown;
    }
  }
  std::printf("shown %d times, at most %.3f m off; then: %s\n", shown, worst_m, client->refusal().c_str());
  const bool knows_why = client->refusal().find("the match is over") != std::string::npos;
  return shown > 400 && worst_m < 0.5 && knows_why ? 0 : 1;
}
