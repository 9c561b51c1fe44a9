// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include <reckoner/harness/sim_transport.hpp>
#include <reckoner/net/dialer.hpp>
#include <reckoner/scenario/random.hpp>

namespace reckoner::harness {

/// Makes connections of a simulated network, over links as the network's.
class SimDialer final : public Dialer {
 public:
  SimDialer(SimNetwork& network, std::uint32_t reason, std::uint64_t seed)
      : network_(network), reason_(reason), seed_(seed) {}

  [[nodiscard]] Result<Transport*> dial() override {
    if (client_) network_.drop_client(*client_, true);
    client_.reset();
    if (broken) return Error{"the network is down"};
    Transport& transport = network_.add_client(reason_);
    client_ = network_.newest_client();
    ++dialed;
    return &transport;
  }
  [[nodiscard]] double chance() override {
    return scenario::to_unit_interval(scenario::hash(seed_, ++chances_));
  }

  /// The newest connection's number in the network.
  [[nodiscard]] std::optional<std::size_t> client() const { return client_; }

  bool broken = false;     ///< no attempt can even begin
  std::size_t dialed = 0;  ///< connections made

 private:
  SimNetwork& network_;
  std::uint32_t reason_;
  std::uint64_t seed_;
  std::uint64_t chances_ = 0;
  std::optional<std::size_t> client_;
};

}  // namespace reckoner::harness
