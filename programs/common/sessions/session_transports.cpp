// SPDX-License-Identifier: MIT
#include "programs/common/sessions/session_transports.hpp"

#include <algorithm>
#include <utility>

namespace reckoner::program {
namespace {

bool is_call(const SessionRecord& record) {
  return std::holds_alternative<ServiceRecord>(record) || std::holds_alternative<FrameRecord>(record) ||
         std::holds_alternative<MoveRecord>(record) || std::holds_alternative<StepRecord>(record) ||
         std::holds_alternative<PredictRecord>(record) ||
         std::holds_alternative<PollCorrectionRecord>(record);
}

}  // namespace

void RecordedTransport::service(double now_s) {
  if (writer_ != nullptr) writer_->service(now_s);
  ForwardingTransport::service(now_s);
}

std::optional<TransportEvent> RecordedTransport::poll() {
  auto event = ForwardingTransport::poll();
  if (writer_ == nullptr) return event;
  if (event) {
    writer_->event(*event);
  } else {
    writer_->quiet();
  }
  return event;
}

bool RecordedTransport::send(PeerId peer, std::span<const std::byte> payload) {
  const bool accepted = ForwardingTransport::send(peer, payload);
  if (writer_ != nullptr) writer_->send(accepted, payload);
  return accepted;
}

std::size_t RecordedTransport::max_datagram_bytes(PeerId peer) const {
  const std::size_t room = ForwardingTransport::max_datagram_bytes(peer);
  if (writer_ != nullptr && room_ != room) writer_->room(room);
  room_ = room;
  return room;
}

// The next record, which stays the next one. Null at the end.
SessionRecord* PlayedTransport::peek() const {
  if (!ahead_ && !error_) {
    auto next = reader_.next();
    if (next) {
      ahead_ = std::move(*next);
    } else {
      error_ = Error{next.error()};
    }
  }
  return ahead_ ? &*ahead_ : nullptr;
}

// Skips records that the client did not poll or did not send again.
void PlayedTransport::skip(const SessionRecord& record) {
  if (const auto* room = std::get_if<RoomRecord>(&record)) {
    room_ = room->bytes;
  } else {
    ++differences_;
  }
  ahead_.reset();
}

std::optional<SessionRecord> PlayedTransport::next_call() {
  while (const SessionRecord* record = peek()) {
    if (is_call(*record)) return std::exchange(ahead_, std::nullopt);
    skip(*record);
  }
  return std::nullopt;
}

std::optional<TransportEvent> PlayedTransport::poll() {
  while (SessionRecord* record = peek()) {
    if (is_call(*record)) return std::nullopt;
    if (auto* event = std::get_if<EventRecord>(record)) {
      event_ = std::move(*event);
      ahead_.reset();
      return TransportEvent{event_.kind, event_.peer, event_.reason, event_.payload, event_.waited_s};
    }
    const bool quiet = std::holds_alternative<QuietRecord>(*record);
    if (quiet) {
      ahead_.reset();
      return std::nullopt;
    }
    skip(*record);
  }
  return std::nullopt;
}

bool PlayedTransport::send(PeerId, std::span<const std::byte> payload) {
  while (const SessionRecord* record = peek()) {
    if (std::holds_alternative<RoomRecord>(*record)) {
      skip(*record);
      continue;
    }
    const auto* sent = std::get_if<SendRecord>(record);
    if (sent == nullptr) break;
    const bool same = std::ranges::equal(sent->payload, payload);
    const bool accepted = sent->accepted;
    differences_ += same ? 0 : 1;
    ahead_.reset();
    return accepted;
  }
  ++differences_;
  return true;
}

std::size_t PlayedTransport::max_datagram_bytes(PeerId) const {
  SessionRecord* record = peek();
  if (const auto* room = record != nullptr ? std::get_if<RoomRecord>(record) : nullptr) {
    room_ = room->bytes;
    ahead_.reset();
  }
  return room_;
}

}  // namespace reckoner::program
