// SPDX-License-Identifier: MIT
#include "harness/replay/sim_replay_network.hpp"

#include "harness/replay/replay_network.hpp"

namespace reckoner::harness {

SimNetworkConfig sim_network_config(const ReplayOptions& options, double start_s) {
  SimNetworkConfig config;
  config.links = options.links;
  config.script = options.link_script;
  config.start_s = start_s;
  config.seed = options.seed;
  config.log_packets = options.log_packets;
  return config;
}

namespace {

class SimReplayNetwork final : public ReplayNetwork {
 public:
  SimReplayNetwork(const ReplayOptions& options, double start_s)
      : network_(sim_network_config(options, start_s)), client_(network_.add_client(kProtocolVersion)) {}

  [[nodiscard]] Transport& server() override { return network_.server(); }
  [[nodiscard]] Transport& client() override { return client_; }
  void send_message(std::span<const std::byte> message) override {
    (void)network_.send_message(0, true, message);
  }
  [[nodiscard]] double next_event_s() const override { return network_.next_event_s(); }
  void advance(double now_s) override { network_.advance(now_s); }
  [[nodiscard]] double now_s() const override { return network_.now_s(); }
  [[nodiscard]] bool server_has_events() const override { return network_.server_has_events(); }
  [[nodiscard]] bool client_has_events() const override { return network_.client_has_events(0); }
  void begin_tick() override { logged_ = network_.packets().size(); }
  void end_tick(std::size_t entities) override { network_.note_entities(logged_, entities); }
  [[nodiscard]] std::span<const PacketRecord> packets() override { return network_.packets(); }

 private:
  SimNetwork network_;
  Transport& client_;
  std::size_t logged_ = 0;  // number of records in the packet log before the present tick
};

}  // namespace

std::unique_ptr<ReplayNetwork> make_sim_network(const ReplayOptions& options, double start_s) {
  return std::make_unique<SimReplayNetwork>(options, start_s);
}

}  // namespace reckoner::harness
