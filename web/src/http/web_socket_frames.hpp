// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <reckoner/net/refusal.hpp>

namespace reckoner::web {

/// Receives what a FrameReader reads. A function that returns false stops the reader.
class FrameSink {
 public:
  virtual ~FrameSink() = default;
  /// The header of a frame has arrived: of a message, of a part of one, or of a control frame. `bytes` is the
  /// size of the payload. Returns false to skip the frame; of a message, all parts are then skipped.
  virtual bool admit_frame(std::size_t bytes) = 0;
  /// A whole binary message has arrived.
  virtual bool on_message(std::span<const std::byte> bytes) = 0;
  /// A whole text message has arrived. Its bytes are not checked: they need not be UTF-8. Only if the reader
  /// admits texts.
  virtual bool on_text(std::span<const std::byte> /*text*/) { return true; }
  /// A ping has arrived. Its payload belongs into the pong. At most 125 bytes.
  virtual bool on_ping(std::span<const std::byte> payload) = 0;
  /// The client closes the WebSocket. Nothing is read behind this frame.
  virtual void on_close() = 0;
};

/// Reads the frames of an untrusted client (RFC 6455, 5). Every frame goes through FrameSink::admit_frame(),
/// also control frames, empty frames and parts of messages, so that limits can count them. A library that
/// answers pings by itself would let a client send them without limit.
class FrameReader {
 public:
  /// Largest binary message and largest text message, bytes. 0: no text messages, which are malformed then.
  explicit FrameReader(std::size_t max_message, std::size_t max_text = 0)
      : max_message_(max_message), max_text_(max_text) {}

  /// Reads bytes of the stream. Returns why the stream cannot be continued, or nullopt: `too_large` as soon
  /// as a message would exceed the limit, before its payload arrives; `malformed` for frames that no client
  /// of this library may send. After a refusal, a close frame, or `false` from the sink, reads nothing more.
  [[nodiscard]] std::optional<Refusal> read(std::span<const std::byte> bytes, FrameSink& sink);

 private:
  enum class State : std::uint8_t { header, payload, ended };

  [[nodiscard]] std::optional<Refusal> begin_frame(FrameSink& sink);
  [[nodiscard]] std::size_t header_bytes() const;
  void end_frame(FrameSink& sink);

  std::size_t max_message_;
  std::size_t max_text_;
  State state_ = State::header;
  std::array<std::uint8_t, 14> header_{};
  std::size_t header_size_ = 0;

  // The current frame.
  std::uint8_t opcode_ = 0;
  bool final_ = false;
  bool skipped_ = false;
  std::array<std::uint8_t, 4> mask_{};
  std::size_t read_ = 0;  // bytes of the payload
  std::size_t size_ = 0;

  bool in_message_ = false;       // a message has begun and is not complete
  bool is_text_ = false;          // it is a text message
  bool message_skipped_ = false;  // its parts are skipped
  std::vector<std::byte> message_;
  std::vector<std::byte> control_;
};

/// Appends the header of a frame that a server sends: the only frame of a message, or a control frame.
void write_frame_header(std::uint8_t opcode, std::size_t bytes, std::vector<std::byte>& out);

inline constexpr std::uint8_t kTextFrame = 1;
inline constexpr std::uint8_t kBinaryFrame = 2;
inline constexpr std::uint8_t kCloseFrame = 8;
inline constexpr std::uint8_t kPongFrame = 10;

}  // namespace reckoner::web
