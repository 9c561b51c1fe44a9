// SPDX-License-Identifier: MIT
#include "client/src/connection/join_handshake.hpp"

#include "client/src/playout/session_clock.hpp"
#include "net/src/messages/datagram.hpp"
#include "net/src/wire/bit_stream.hpp"

namespace reckoner {

void JoinHandshake::begin(JoinRequest request, std::uint32_t received_messages) {
  request_ = request;
  if (key_) request_->resume = {id_, key_, received_messages};
  requested_s_.reset();
}

void JoinHandshake::forget() {
  request_.reset();
  admitted_ = false;
}

void JoinHandshake::send_request(const Reconnect& connection, double local_s) {
  constexpr double kEveryS = 0.1, kEveryOnOrderedS = 1.0;
  const double every_s = connection.is_ordered() ? kEveryOnOrderedS : kEveryS;
  if (requested_s_ && local_s - *requested_s_ < every_s) return;
  requested_s_ = local_s;
  Transport& transport = *connection.transport();
  transport.send(connection.server(), request_datagram(*request_));
  transport.service(local_s);
}

JoinHandshake::Answer JoinHandshake::read_answer(std::span<const std::byte> datagram) {
  BitReader reader{datagram};
  const ServerHeader header = read_server_header(reader);
  if (reader.failed()) return Refusal::malformed;
  if (!header.control.answer) return {};
  return *header.control.answer;
}

std::optional<Refusal> JoinHandshake::find_impossible(const ResumeAnswer& answer) const {
  if (!request_->resume) return Refusal::unexpected;
  if (!SessionClock::is_valid_tick(answer.tick)) return Refusal::from_future;
  if (earlier(answer.received, answer.processed)) return Refusal::never_sent;
  return std::nullopt;
}

void JoinHandshake::note_resumed() {
  request_.reset();
  admitted_ = true;
}

void JoinHandshake::note_new_session() {
  drop_session();
  request_.reset();
  (void)early_.take();
}

void JoinHandshake::note_welcome(const WelcomeMessage& message) {
  admitted_ = true;
  id_ = message.client;
  key_ = message.key;
}

}  // namespace reckoner
