// SPDX-License-Identifier: MIT
#pragma once

#include "authority.hpp"
#include "rules.hpp"

#include <algorithm>
#include <cstring>
#include <string>

namespace arena {

// The game's own messages. Each begins with its kind; the rest is the struct's bytes or a text. All machines
// that this game runs on store numbers alike (little endian, IEEE 754); a game for others writes each number
// by itself.
enum class MessageKind : std::uint32_t {
  hello,      // player to server, a text: the player's name. From then on the player has an avatar
  authority,  // player to server, a number: the Authority that the player wants
  avatar,     // server to player, AvatarNews
  shot,       // player to server, Shot: by a player who moves the own avatar. Otherwise shots are inputs
  chat,       // both directions, a text
  verdict,    // server to player, Verdict: what a beam hit
  inputs,     // server to player, InputNews: once a second
};

/// Which fighter belongs to the player, and who moves it.
struct AvatarNews {
  std::uint64_t avatar = 0;  ///< to_number() of the fighter
  std::uint32_t authority = 0, unused = 0;
};

/// How many ticks of the player the server has stepped, and for how many of them the input was not there.
struct InputNews {
  std::uint64_t ticks = 0, repeated = 0;
};

/// A player fires. The message's time stamp is the server time at which the player pulled the trigger.
struct Shot {
  std::uint32_t key = 0;  ///< it names the player's prediction of a bolt: of an input its tick
  std::uint32_t weapon = 0;
  glm::dvec2 place{0.0};  ///< of the shooter
  double heading_rad = 0.0;
};

/// What the server found when it judged a beam.
struct Verdict {
  std::uint32_t key = 0, unused = 0;  ///< key of the Shot
  std::uint64_t target = 0;           ///< to_number() of the fighter that was hit; 0: none
  glm::dvec2 seen{0.0};               ///< where the shooter saw the target: this decides
  glm::dvec2 truth{0.0};              ///< where the target was when the server judged
};

/// The message with a text behind its kind.
inline std::vector<std::byte> pack_text(MessageKind kind, std::string_view text) {
  std::vector<std::byte> out(sizeof kind + text.size());
  std::memcpy(out.data(), &kind, sizeof kind);
  std::copy_n(std::as_bytes(std::span(text)).begin(), text.size(), out.begin() + sizeof kind);
  return out;
}
/// The message with the bytes of a struct behind its kind.
template <class T>
std::vector<std::byte> pack(MessageKind kind, const T& body) {
  return pack_text(kind, {reinterpret_cast<const char*>(&body), sizeof body});
}

/// The first bytes of a message, or of what follows; nullopt if there are fewer.
template <class T>
std::optional<T> first(std::span<const std::byte> bytes) {
  T value;
  if (bytes.size() < sizeof value) return std::nullopt;
  std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}
/// The message behind its kind; nullopt if it has another size. The caller checks the numbers.
template <class T>
std::optional<T> unpack(std::span<const std::byte> message) {
  const bool fits = message.size() == sizeof(MessageKind) + sizeof(T);
  return fits ? first<T>(message.subspan(sizeof(MessageKind))) : std::nullopt;
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
