// SPDX-License-Identifier: MIT
#pragma once

#include "harness/conditioner/conditioner.hpp"
#include "harness/replay/replay_network.hpp"

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <thread>
#include <vector>

#include <reckoner/net/forwarding_transport.hpp>
#include <reckoner/net/network_transport.hpp>
#include <reckoner/reckoning/result.hpp>

namespace reckoner::harness {

/// A RealTimeNetwork whose server and client use a NetworkTransport over the loopback interface, with a
/// conditioner between them that runs on its own thread.
class RealNetwork final : public RealTimeNetwork {
 public:
  /// Opens the sockets and starts the clock of the replay at `start_s`. Uses only the links, the link script,
  /// the seed and `log_packets` of `options`. Fails if a socket cannot be opened.
  [[nodiscard]] static Result<std::unique_ptr<RealNetwork>> open(const ReplayOptions& options,
                                                                 double start_s);
  ~RealNetwork() override;

  [[nodiscard]] double clock_s() const override;
  void wait_until(double time_s) override;

  [[nodiscard]] Transport& server() override { return server_end_; }
  [[nodiscard]] Transport& client() override { return client_end_; }
  void send_message(std::span<const std::byte> message) override;
  [[nodiscard]] double next_event_s() const override;
  void advance(double now_s) override;
  [[nodiscard]] double now_s() const override { return now_s_; }
  [[nodiscard]] bool server_has_events() const override { return true; }
  [[nodiscard]] bool client_has_events() const override { return true; }
  void begin_tick() override { tick_began_s_ = clock_s(); }
  void end_tick(std::size_t entities) override;
  [[nodiscard]] std::span<const PacketRecord> packets() override;

 private:
  // One end. Notes what it polls.
  class End final : public ForwardingTransport {
   public:
    End(RealNetwork& network, Transport& inner) : ForwardingTransport(inner), network_(network) {}
    [[nodiscard]] std::optional<TransportEvent> poll() override;

   private:
    RealNetwork& network_;
  };
  // A message that the client has not polled yet.
  struct Message {
    std::vector<std::byte> payload;
    double sent_s;
  };
  // The number of motions that the server sent in the tick that began at `began_s`.
  struct Tick {
    double began_s;
    std::size_t entities;
  };

  RealNetwork(std::unique_ptr<NetworkTransport> server, std::unique_ptr<NetworkTransport> client,
              Conditioner conditioner, double start_s);
  void stop();
  void collect_packets();

  std::unique_ptr<NetworkTransport> server_;
  std::unique_ptr<NetworkTransport> client_;
  End server_end_;
  End client_end_;
  PeerId client_peer_{};  // the client at the server, once it is connected
  std::vector<Message> messages_;
  Conditioner conditioner_;  // while the thread relay_ runs, only that thread may use it
  double zero_s_;            // time on the monotonic clock at time 0 of the replay
  double now_s_;
  double tick_began_s_ = 0.0;
  std::vector<Tick> ticks_;
  std::vector<PacketRecord> packets_;
  std::atomic<bool> stopping_{false};
  std::thread relay_;
};

}  // namespace reckoner::harness
