// SPDX-License-Identifier: MIT
#include "net/src/transport/pipe/pipe_message.hpp"

#include "net/src/wire/byte_stream.hpp"

#include <array>

namespace reckoner::pipe {
namespace {

constexpr std::size_t kReasonBytes = 4;

bool has_reason(Kind kind) {
  return kind == Kind::hello || kind == Kind::bye;
}

bool is_valid_size(Kind kind, std::size_t body) {
  switch (kind) {
    case Kind::state:
      return body >= 1 && body <= kMaxDatagramBytes;
    case Kind::hello:
      return body == 0 || body == ConnectToken::kBytes;
    case Kind::welcome:
    case Kind::bye:
      return body == 0;
    case Kind::status:
      return body <= PipeServer::kMaxStatusBytes;
  }
  return false;
}

// A client's messages. The WebSocket of a game may refuse larger ones.
static_assert(PipeServer::kMaxMessageBytes >= 1 + kMaxDatagramBytes);
static_assert(PipeServer::kMaxMessageBytes >= 1 + kReasonBytes + ConnectToken::kBytes);

}  // namespace

std::optional<Message> read(std::span<const std::byte> bytes) {
  wire::ByteReader reader(bytes);
  const auto kind = reader.number<std::uint8_t>();
  if (reader.failed()) return std::nullopt;
  Message message;
  message.kind = static_cast<Kind>(kind);
  if (has_reason(message.kind)) message.reason = reader.number<std::uint32_t>();
  if (reader.failed()) return std::nullopt;
  message.body = bytes.subspan(reader.position());
  return is_valid_size(message.kind, message.body.size()) ? std::optional(message) : std::nullopt;
}

void write(const Message& message, std::vector<std::byte>& out) {
  std::array<std::byte, 1 + kReasonBytes> head;
  wire::ByteWriter writer(head);
  writer.number(static_cast<std::uint8_t>(message.kind));
  if (has_reason(message.kind)) writer.number(message.reason);
  const auto written = writer.written();
  out.assign(written.begin(), written.end());
  out.insert(out.end(), message.body.begin(), message.body.end());
}

}  // namespace reckoner::pipe
