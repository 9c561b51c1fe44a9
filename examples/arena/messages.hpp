// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace arena {

// The game's own messages. Each begins with its kind; the rest is the struct's bytes or a text. All machines
// that this game runs on store numbers alike (little endian, IEEE 754); a game for others writes each number
// by itself.
enum class MessageKind : std::uint32_t {
  hello,    // player to server, a text: the player's name. From then on the player has an avatar
  bolt,     // player to server, Trigger
  beam,     // player to server, Trigger
  chat,     // both ways, a text
  verdict,  // server to player, Verdict: what a beam hit
};

/// A player fires. The message's time stamp is the server time at which the player pulled the trigger.
struct Trigger {
  std::uint32_t key = 0;  ///< number of the shot; it names the player's prediction of a bolt
  std::uint32_t unused = 0;
  double x = 0.0, y = 0.0;  ///< the shooter's place
  double heading_rad = 0.0;
};

/// What the server found when it judged a beam.
struct Verdict {
  std::uint32_t key = 0;  ///< of the Trigger
  std::uint32_t unused = 0;
  std::uint64_t target = 0;           ///< to_number() of the fighter that was hit; 0: none
  double seen_x = 0.0, seen_y = 0.0;  ///< where the shooter saw the target: this decides
  double true_x = 0.0, true_y = 0.0;  ///< where the target was when the server judged
};

using Bytes = std::vector<std::byte>;

inline Bytes with_kind(MessageKind kind, const void* data, std::size_t size) {
  Bytes out(sizeof kind + size);
  std::memcpy(out.data(), &kind, sizeof kind);
  if (size > 0) std::memcpy(out.data() + sizeof kind, data, size);
  return out;
}
template <class T>
Bytes pack(MessageKind kind, const T& body) {
  static_assert(std::is_trivially_copyable_v<T>);
  return with_kind(kind, &body, sizeof body);
}
inline Bytes pack_text(MessageKind kind, std::string_view text) {
  return with_kind(kind, text.data(), text.size());
}

inline std::optional<MessageKind> kind_of(std::span<const std::byte> message) {
  MessageKind kind;
  if (message.size() < sizeof kind) return std::nullopt;
  std::memcpy(&kind, message.data(), sizeof kind);
  return kind;
}
/// The message behind its kind; nullopt if it has another size. The caller checks the numbers.
template <class T>
std::optional<T> unpack(std::span<const std::byte> message) {
  T body;
  if (message.size() != sizeof(MessageKind) + sizeof body) return std::nullopt;
  std::memcpy(&body, message.data() + sizeof(MessageKind), sizeof body);
  return body;
}
/// The text behind the kind. Only printable characters, at most `most`: it comes from a stranger.
inline std::string unpack_text(std::span<const std::byte> message, std::size_t most) {
  std::string text;
  for (const std::byte byte : message.subspan(sizeof(MessageKind))) {
    const char letter = static_cast<char>(byte);
    if (letter >= ' ' && letter <= '~' && text.size() < most) text += letter;
  }
  return text;
}

}  // namespace arena
