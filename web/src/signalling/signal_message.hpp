// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace reckoner::web {

/// What a text message of a WebSocket carries: a page and the server agree on a data channel (docs/WIRE.md,
/// 7.1). The game's own bytes are in binary messages.
enum class Signal : std::uint8_t {
  offer,    ///< page to server, after it has joined: the body is an SDP offer
  answer,   ///< server to page: the body is the SDP answer
  refused,  ///< server to page: the body is one sentence; the page stays on the WebSocket
  leave,    ///< page to server: it uses the WebSocket again; the body is one sentence that says why
};

struct SignalMessage {
  Signal kind = Signal::offer;
  std::string_view body{};  ///< part of the text that was read
};

/// Size of the largest text message of a page, bytes. Pages may leave the candidates out of their offers,
/// which have about 500 bytes then.
inline constexpr std::size_t kMaxSignalBytes = 8192;

/// Reads an untrusted text message: the name of its kind, a line feed, and the body. Nullopt if the kind is
/// unknown, the body is empty, or the text is too long.
[[nodiscard]] std::optional<SignalMessage> read_signal(std::string_view text);

/// Writes a text message. read_signal() returns an equal one.
[[nodiscard]] std::string write_signal(const SignalMessage& message);

}  // namespace reckoner::web
