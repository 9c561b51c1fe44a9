// SPDX-License-Identifier: MIT
// What the acknowledgement in a client's datagram costs a server while about a thousand datagrams are in
// flight to that client: an ordinary acknowledgement, and those that a hostile client would choose. An
// acknowledgement that settles datagrams costs something for each of them, but every datagram is settled
// once. So a hostile client repeats acknowledgements that leave as much as possible unsettled.
#include "net/src/messages/datagram.hpp"
#include "net/src/messages/messages.hpp"
#include "server/src/test_switches.hpp"

#include <array>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <optional>
#include <vector>

#include <benchmark/benchmark.h>

#include <reckoner/server/server.hpp>

namespace reckoner {
namespace {

constexpr std::size_t kRoom = 440;    // bytes of a datagram
constexpr std::size_t kFlight = 900;  // datagrams
constexpr Sequence kBatch = 64;       // acknowledgements that are measured together

// One client. The benchmark writes its datagrams. The server sends it no reliable messages after the welcome.
class OneClient final : public Transport {
 public:
  explicit OneClient(std::span<const Archetype> archetypes) {
    events_.push_back({TransportEvent::Kind::connected, {}});
    const JoinRequest request{.archetype_hash = archetype_hash(archetypes), .resume = {}};
    events_.push_back({TransportEvent::Kind::received, request_datagram(request)});
  }

  /// Lets the server receive a datagram with this acknowledgement. Returns its size.
  std::size_t acknowledge(const std::optional<Ack>& ack) {
    ClientDatagram datagram;
    datagram.sequence = next_++;
    datagram.ack = ack;
    std::array<std::byte, 512> buffer;
    BitWriter writer{buffer};
    write(writer, datagram);
    const auto payload = writer.finish();
    events_.push_back({TransportEvent::Kind::received, {payload.begin(), payload.end()}});
    return payload.size();
  }
  /// The newest datagram of the server; nullopt before the first.
  [[nodiscard]] std::optional<Sequence> newest() const { return newest_; }
  [[nodiscard]] std::uint64_t received() const { return received_; }

  void service(double) override {}
  std::optional<TransportEvent> poll() override {
    if (events_.empty()) return std::nullopt;
    current_ = std::move(events_.front());
    events_.pop_front();
    return TransportEvent{current_.kind, {1}, 0, current_.bytes};
  }
  bool send(PeerId, std::span<const std::byte> payload) override {
    BitReader reader{payload};
    const ServerHeader header = read_server_header(reader);
    newest_ = header.sequence;
    ++received_;
    return true;
  }
  [[nodiscard]] std::size_t max_datagram_bytes(PeerId) const override { return kRoom; }
  void disconnect(PeerId, std::uint32_t) override {}
  [[nodiscard]] const TransportStats& stats() const override { return stats_; }

 private:
  struct Event {
    TransportEvent::Kind kind;
    std::vector<std::byte> bytes;
  };
  std::deque<Event> events_;
  Event current_{};
  Sequence next_ = 0;
  std::optional<Sequence> newest_;
  std::uint64_t received_ = 0;
  TransportStats stats_;
};

// A server that sends its client messages, one in each datagram.
class Game {
 public:
  Game() : server_(make_test_server(config(), client)) {
    for (int i = 0; i < 10; ++i)
      tick(0);
    client_ = server_.clients().front();
    while (client.received() <= Ack::kMaxDatagrams) {
      if (client.newest()) client.acknowledge(Ack{.newest = *client.newest(), .window = {UINT32_MAX}});
      tick(kMessages / 2);
    }
  }

  void tick(int messages) {
    for (int i = 0; i < messages; ++i)
      (void)server_.send(client_, std::array<std::byte, kMessageBytes>{}, Delivery::unreliable);
    now_s_ = server_.tick_time_s(server_.next_tick());
    server_.receive(now_s_);
    server_.tick(now_s_);
  }
  /// Runs until kFlight datagrams are in flight.
  void fill() {
    Ack all{.newest = *client.newest(), .words = Ack::kMaxWords};
    all.window.fill(UINT32_MAX);
    client.acknowledge(all);
    tick(0);
    for (const std::uint64_t until = client.received() + kFlight; client.received() < until;)
      tick(kMessages);
  }
  void receive() { server_.receive(now_s_); }

  OneClient client{config().archetypes};

 private:
  static constexpr int kMessages = 40;
  static constexpr std::size_t kMessageBytes = 340;

  static ServerConfig config() {
    ServerConfig config;
    config.tick_rate_hz = 240.0;
    config.bytes_per_second = 0.0;
    config.follow_link = false;
    return config;
  }
  Server server_;
  ClientId client_;
  double now_s_ = 0.0;
};

enum Kind : std::int64_t { ordinary, newest_only, all_but_oldest, alternating, none, late };
constexpr std::array kNames{"ordinary",    "names the newest only", "all but the oldest in flight",
                            "alternating", "covers all, names one", "names lost ones"};

// The acknowledgement number `i` of a batch. `newest`: the newest datagram that is in flight.
Ack make(Kind kind, Sequence newest, Sequence i) {
  Ack ack{.newest = static_cast<Sequence>(newest - kBatch - 32 + i)};
  if (kind == ordinary) {  // three new datagrams each
    ack.newest = static_cast<Sequence>(newest - kFlight + 40u + 3u * i);
    ack.window[0] = UINT32_MAX;
    return ack;
  }
  if (kind == newest_only) return ack;
  ack.words = Ack::kMaxWords;
  for (std::uint32_t& word : ack.window)
    word = kind == none ? 0u : kind != alternating ? UINT32_MAX : i % 2 == 0 ? 0x55555555u : 0xaaaaaaaau;
  if (kind == all_but_oldest) {
    const auto behind = static_cast<unsigned>(kFlight - kBatch - 40 + i);
    ack.window[behind / 32] &= ~(1u << (behind % 32));
  }
  return ack;
}

void BM_ReceiveAck(benchmark::State& run) {
  const auto kind = static_cast<Kind>(run.range(0));
  Game game;
  std::size_t bytes = 0;
  for ([[maybe_unused]] auto _ : run) {
    game.fill();
    const Sequence newest = *game.client.newest();
    // All datagrams have timed out. They count as lost, and acknowledgements may still find them.
    for (int i = 0; kind == late && i < 120; ++i)
      game.tick(0);
    game.client.acknowledge(make(kind, newest, 0));  // settles what it can
    game.receive();
    for (Sequence i = 1; i <= kBatch; ++i)
      bytes += game.client.acknowledge(make(kind, newest, i));
    const auto begin = std::chrono::steady_clock::now();
    game.receive();
    run.SetIterationTime(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  }
  const auto datagrams = static_cast<double>(run.iterations()) * kBatch;
  run.SetLabel(kNames[static_cast<std::size_t>(kind)]);
  run.SetItemsProcessed(static_cast<std::int64_t>(datagrams));
  run.SetBytesProcessed(static_cast<std::int64_t>(bytes));
  run.counters["bytes"] = static_cast<double>(bytes) / datagrams;
}
BENCHMARK(BM_ReceiveAck)
    ->ArgName("kind")
    ->DenseRange(ordinary, late)
    ->UseManualTime()
    ->Iterations(200)
    ->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace reckoner
