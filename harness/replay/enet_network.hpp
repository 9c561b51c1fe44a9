// SPDX-License-Identifier: MIT
#pragma once

#include "harness/replay/conditioner.hpp"
#include "harness/sim/replay_network.hpp"

#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include <reckoner/net/enet_transport.hpp>
#include <reckoner/reckoning/result.hpp>

namespace reckoner::harness {

/// A server and a client on this machine's loopback, with ENet at both ends and a conditioner, on a thread of
/// its own, in between: a ReplayNetwork in real time. The replay's clock is the machine's monotonic one, from
/// the start on.
class EnetNetwork final : public ReplayNetwork {
 public:
  /// Opens the sockets; the clock starts at `start_s`. Of the options the links, their script, the seed and
  /// whether to log count.
  [[nodiscard]] static Result<std::unique_ptr<EnetNetwork>> open(const ReplayOptions& options, double start_s,
                                                                 std::uint32_t connect_reason);
  ~EnetNetwork() override;

  /// What the replay's clock shows now.
  [[nodiscard]] double clock_s() const;

  /// Sends what waits, then sleeps until something arrives or the clock shows `time_s`, or for a short while.
  void wait_until(double time_s);

  [[nodiscard]] Transport& server() override { return *server_; }
  [[nodiscard]] Transport& client() override { return *client_; }
  [[nodiscard]] double next_event_s() const override;
  void advance(double now_s) override;
  [[nodiscard]] double now_s() const override { return now_s_; }
  [[nodiscard]] bool server_has_events() const override { return true; }
  [[nodiscard]] bool client_has_events() const override { return true; }
  void begin_tick() override { tick_began_s_ = clock_s(); }
  void end_tick(std::size_t entities) override;
  [[nodiscard]] std::span<const PacketRecord> packets() override;

 private:
  // What the server sent between these instants.
  struct Tick {
    double began_s;
    std::size_t entities;
  };

  EnetNetwork(std::unique_ptr<EnetTransport> server, std::unique_ptr<EnetTransport> client,
              Conditioner conditioner, double start_s);
  void stop();
  void collect_packets();

  std::unique_ptr<EnetTransport> server_;
  std::unique_ptr<EnetTransport> client_;
  Conditioner conditioner_;  // the relay's while it runs
  double zero_s_;            // the monotonic clock at the replay's 0
  double now_s_;
  double tick_began_s_ = 0.0;
  std::vector<Tick> ticks_;
  std::vector<PacketRecord> packets_;
  std::atomic<bool> stopping_{false};
  std::thread relay_;
};

}  // namespace reckoner::harness
