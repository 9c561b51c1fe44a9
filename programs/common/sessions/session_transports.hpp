// SPDX-License-Identifier: MIT
#pragma once

#include "programs/common/sessions/session_log.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include <reckoner/net/forwarding_transport.hpp>
#include <reckoner/net/transport.hpp>

namespace reckoner::program {

/// Records all calls of a client to its transport, until stop_recording(). The inner transport and the writer
/// must outlive the RecordedTransport.
class RecordedTransport final : public ForwardingTransport {
 public:
  RecordedTransport(Transport& inner, SessionWriter& writer) : ForwardingTransport(inner), writer_(&writer) {}

  /// From now on, the transport only forwards. Call it before the recording is closed.
  void stop_recording() { writer_ = nullptr; }

  void service(double now_s) override;
  [[nodiscard]] std::optional<TransportEvent> poll() override;
  bool send(PeerId peer, std::span<const std::byte> payload) override;
  [[nodiscard]] std::size_t max_datagram_bytes(PeerId peer) const override;

 private:
  SessionWriter* writer_;                    // null: does not record any more
  mutable std::optional<std::size_t> room_;  // the value in the last RoomRecord
};

/// Replays a recorded session to a client. next_call() returns the calls to make to the client and their
/// times. Compares the payloads that the client sends with the recorded payloads. The reader must outlive the
/// PlayedTransport.
class PlayedTransport final : public Transport {
 public:
  explicit PlayedTransport(SessionReader& reader) : reader_(reader) {}

  /// The next call that the caller must make to the client (repeat_call()): a ServiceRecord, FrameRecord,
  /// MoveRecord, StepRecord, PredictRecord or PollCorrectionRecord. Nullopt at the end, and if error() is
  /// set.
  [[nodiscard]] std::optional<SessionRecord> next_call();

  [[nodiscard]] const std::optional<Error>& error() const { return error_; }
  /// How often the client behaved differently from the recorded client. 0 if both come from the same build.
  [[nodiscard]] std::size_t differences() const { return differences_; }

  void service(double) override {}
  [[nodiscard]] std::optional<TransportEvent> poll() override;
  bool send(PeerId peer, std::span<const std::byte> payload) override;
  [[nodiscard]] std::size_t max_datagram_bytes(PeerId peer) const override;
  void disconnect(PeerId, std::uint32_t) override {}
  [[nodiscard]] const TransportStats& stats() const override { return stats_; }

 private:
  [[nodiscard]] SessionRecord* peek() const;
  void skip(const SessionRecord& record);

  SessionReader& reader_;
  mutable std::optional<SessionRecord> ahead_;  // the next record, if it has already been read
  mutable std::optional<Error> error_;
  mutable std::size_t room_ = kMaxDatagramBytes;
  EventRecord event_;  // keeps the payload of which poll() returned a view
  std::size_t differences_ = 0;
  TransportStats stats_;
};

}  // namespace reckoner::program
