// SPDX-License-Identifier: MIT
#pragma once

#include "programs/common/session_log.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include <reckoner/net/forwarding_transport.hpp>
#include <reckoner/net/transport.hpp>

namespace reckoner::program {

/// Writes down all that passes between a client and its transport. Both must outlive it.
class RecordedTransport final : public ForwardingTransport {
 public:
  RecordedTransport(Transport& inner, SessionWriter& writer) : ForwardingTransport(inner), writer_(writer) {}

  void service(double now_s) override;
  [[nodiscard]] std::optional<TransportEvent> poll() override;
  bool send(PeerId peer, Channel channel, std::span<const std::byte> payload) override;
  [[nodiscard]] std::size_t max_state_bytes(PeerId peer) const override;

 private:
  SessionWriter& writer_;
  mutable std::optional<std::size_t> room_;  // as written last
};

/// Plays a recorded session to a client, which must be called at the recorded times: next_call() says what.
/// Compares what the client sends with what it sent then. The reader must outlive it.
class PlayedTransport final : public Transport {
 public:
  explicit PlayedTransport(SessionReader& reader) : reader_(reader) {}

  /// The next call of the client: a ServiceRecord or a FrameRecord. Nothing at the end, or after an error().
  [[nodiscard]] std::optional<SessionRecord> next_call();

  [[nodiscard]] const std::optional<Error>& error() const { return error_; }
  /// How often the client did not do what the recorded one did: 0, unless it is another program.
  [[nodiscard]] std::size_t departures() const { return departures_; }

  void service(double) override {}
  [[nodiscard]] std::optional<TransportEvent> poll() override;
  bool send(PeerId peer, Channel channel, std::span<const std::byte> payload) override;
  [[nodiscard]] std::size_t max_state_bytes(PeerId peer) const override;
  void disconnect(PeerId, std::uint32_t) override {}
  [[nodiscard]] const TransportStats& stats() const override { return stats_; }

 private:
  [[nodiscard]] SessionRecord* peek() const;
  void pass_over(const SessionRecord& record);

  SessionReader& reader_;
  mutable std::optional<SessionRecord> ahead_;  // read, but not come to yet
  mutable std::optional<Error> error_;
  mutable std::size_t room_ = kMaxStateBytes;
  EventRecord event_;  // whose payload poll() gave out
  std::size_t departures_ = 0;
  TransportStats stats_;
};

}  // namespace reckoner::program
