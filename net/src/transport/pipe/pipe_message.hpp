// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <reckoner/net/pipe_server.hpp>

namespace reckoner::pipe {

/// What a message of a pipe carries. The first byte of a message is its kind, the rest is its body
/// (docs/WIRE.md). Kind 0 is retired, and never used again.
enum class Kind : std::uint8_t {
  state = 1,    ///< either direction: a datagram; the body is 1 to kMaxDatagramBytes bytes
  hello = 2,    ///< client to server, first: u32 reason of the connection, then a token or nothing
  welcome = 3,  ///< server to client: the client is admitted; the body is empty
  bye = 4,      ///< either direction: u32 reason; the sender closes the stream
  status = 5,   ///< server to client: UTF-8 text, at most PipeServer::kMaxStatusBytes
};

struct Message {
  Kind kind = Kind::state;
  std::uint32_t reason = 0;           ///< of hello and bye
  std::span<const std::byte> body{};  ///< payload, token or text; part of the bytes that were read
};

/// Reads an untrusted message. Nullopt if its kind is unknown or its size is wrong for the kind.
[[nodiscard]] std::optional<Message> read(std::span<const std::byte> bytes);

/// Writes a message into `out`, replacing its content. read() returns an equal message.
void write(const Message& message, std::vector<std::byte>& out);

}  // namespace reckoner::pipe
