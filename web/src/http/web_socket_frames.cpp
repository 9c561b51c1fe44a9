// SPDX-License-Identifier: MIT
#include "web/src/http/web_socket_frames.hpp"

#include <algorithm>

namespace reckoner::web {
namespace {

constexpr std::uint8_t kContinuation = 0;
constexpr std::uint8_t kPingFrame = 9;
constexpr std::size_t kMaxControlPayload = 125;

bool is_control(std::uint8_t opcode) {
  return (opcode & 8) != 0;
}

}  // namespace

// Size of the header of which header_ contains the begin, at least two bytes.
std::size_t FrameReader::header_bytes() const {
  const std::uint8_t length = header_[1] & 0x7f;
  return 2u + (length == 126 ? 2u : length == 127 ? 8u : 0u) + 4u;
}

std::optional<Refusal> FrameReader::read(std::span<const std::byte> bytes, FrameSink& sink) {
  while (!bytes.empty() && state_ != State::ended) {
    if (state_ == State::header) {
      header_[header_size_++] = std::to_integer<std::uint8_t>(bytes.front());
      bytes = bytes.subspan(1);
      if (header_size_ < 2 || header_size_ < header_bytes()) {
        // Without a mask, the header would end here, and its bytes would be payload.
        if (header_size_ == 2 && (header_[1] & 0x80) == 0) {
          state_ = State::ended;
          return Refusal::malformed;
        }
        continue;
      }
      if (const auto why = begin_frame(sink)) {
        state_ = State::ended;
        return why;
      }
    } else {
      const std::size_t count = std::min(bytes.size(), size_ - read_);
      if (!skipped_) {
        std::vector<std::byte>& to = is_control(opcode_) ? control_ : message_;
        for (std::size_t i = 0; i < count; ++i)
          to.push_back(bytes[i] ^ std::byte{mask_[(read_ + i) % 4]});
      }
      read_ += count;
      bytes = bytes.subspan(count);
    }
    if (state_ == State::payload && read_ == size_) end_frame(sink);
  }
  return std::nullopt;
}

std::optional<Refusal> FrameReader::begin_frame(FrameSink& sink) {
  const std::uint8_t length = header_[1] & 0x7f;
  std::uint64_t size = length;
  if (length >= 126) {
    size = 0;
    for (std::size_t i = 2; i < header_size_ - 4; ++i)
      size = size << 8 | header_[i];
  }
  std::copy_n(header_.begin() + static_cast<std::ptrdiff_t>(header_size_) - 4, 4, mask_.begin());
  header_size_ = 0;
  opcode_ = header_[0] & 0x0f;
  final_ = (header_[0] & 0x80) != 0;
  // Extensions would use the other bits. None is agreed on.
  if ((header_[0] & 0x70) != 0) return Refusal::malformed;
  if (is_control(opcode_)) {
    const bool known = opcode_ == kCloseFrame || opcode_ == kPingFrame || opcode_ == kPongFrame;
    if (!known || !final_ || size > kMaxControlPayload) return Refusal::malformed;
    control_.clear();
  } else {
    const bool begins = opcode_ == kBinaryFrame || (opcode_ == kTextFrame && max_text_ > 0);
    const bool expected = in_message_ ? opcode_ == kContinuation : begins;
    if (!expected) return Refusal::malformed;
    if (!in_message_) {
      is_text_ = opcode_ == kTextFrame;
      message_.clear();
      message_skipped_ = false;
    }
    if (size > (is_text_ ? max_text_ : max_message_) - message_.size()) return Refusal::too_large;
    in_message_ = true;
  }
  size_ = static_cast<std::size_t>(size);
  read_ = 0;
  state_ = State::payload;
  const bool admitted = sink.admit_frame(size_);
  if (!is_control(opcode_) && !admitted) {
    message_skipped_ = true;
    message_.clear();
  }
  skipped_ = is_control(opcode_) ? !admitted : message_skipped_;
  return std::nullopt;
}

void FrameReader::end_frame(FrameSink& sink) {
  state_ = State::header;
  bool goes_on = true;
  if (opcode_ == kCloseFrame) {  // even if the limits are exceeded: it ends the stream
    state_ = State::ended;
    return sink.on_close();
  }
  if (is_control(opcode_)) {
    if (!skipped_ && opcode_ == kPingFrame) goes_on = sink.on_ping(control_);
  } else if (final_) {
    in_message_ = false;
    if (!message_skipped_) goes_on = is_text_ ? sink.on_text(message_) : sink.on_message(message_);
    message_.clear();
  }
  if (!goes_on) state_ = State::ended;
}

void write_frame_header(std::uint8_t opcode, std::size_t bytes, std::vector<std::byte>& out) {
  const auto put = [&](std::size_t value) { out.push_back(static_cast<std::byte>(value & 0xff)); };
  put(0x80u | opcode);
  if (bytes < 126) return put(bytes);
  if (bytes < 65'536) {
    put(126);
  } else {
    put(127);
    for (int shift = 56; shift >= 16; shift -= 8)
      put(static_cast<std::size_t>(static_cast<std::uint64_t>(bytes) >> shift));
  }
  put(bytes >> 8);
  put(bytes);
}

}  // namespace reckoner::web
