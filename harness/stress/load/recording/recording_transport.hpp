// SPDX-License-Identifier: MIT
#pragma once

#include "harness/stress/load/recording/datagram_record.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <reckoner/net/forwarding_transport.hpp>

namespace reckoner::harness {

/// Records the sizes of the payloads that pass through. Adds a few nanoseconds to each payload.
class RecordingTransport final : public ForwardingTransport {
 public:
  using ForwardingTransport::ForwardingTransport;

  /// Records the payloads sent and received in the next `ticks` ticks.
  void record(std::size_t ticks) {
    record_ = {};
    ticks_left_ = ticks;
  }
  /// Call this at the end of every tick.
  void end_tick() {
    if (ticks_left_ == 0) return;
    record_.end_tick();
    --ticks_left_;
  }
  [[nodiscard]] const DatagramRecord& record() {
    record_.uplink_bytes = received_ == 0 ? 0 : received_bytes_ / received_;
    return record_;
  }

  std::optional<TransportEvent> poll() override {
    auto event = ForwardingTransport::poll();
    if (event) note(*event);
    return event;
  }

  bool send(PeerId peer, std::span<const std::byte> payload) override {
    if (ticks_left_ > 0 && peer.value < numbers_.size()) {
      const std::size_t bytes = std::min<std::size_t>(payload.size(), kMaxDatagramBytes);
      record_.sent.push_back({numbers_[peer.value], static_cast<std::uint16_t>(bytes)});
    }
    return ForwardingTransport::send(peer, payload);
  }

 private:
  void note(const TransportEvent& event) {
    if (event.kind == TransportEvent::Kind::connected) {
      if (event.peer.value >= numbers_.size()) numbers_.resize(event.peer.value + 1);
      numbers_[event.peer.value] = next_number_++;
    } else if (event.kind == TransportEvent::Kind::received && ticks_left_ > 0) {
      ++received_;
      received_bytes_ += event.payload.size();
    }
  }

  std::vector<std::uint16_t> numbers_;  // by PeerId: the client's number in the order of connecting
  std::uint16_t next_number_ = 0;
  DatagramRecord record_;
  std::size_t ticks_left_ = 0;
  std::size_t received_ = 0;
  std::size_t received_bytes_ = 0;
};

}  // namespace reckoner::harness
