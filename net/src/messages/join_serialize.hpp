// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/messages/join.hpp"
#include "net/src/wire/bit_archive.hpp"

#include <cstdint>
#include <optional>

namespace reckoner {

/// Refuses the bytes of other programs.
inline constexpr std::uint32_t kJoinMagic = 0x524b4e52;  // "RNKR" in memory order

// Argument-dependent lookup finds serialize(), so these functions are in the namespace of the messages.

/// An optional part: one bit, and the part if the bit is set.
template <class Archive, class T>
void serialize_optional(Archive& archive, std::optional<T>& part) {
  bool present = part.has_value();
  archive(present);
  if (present && !part) part.emplace();
  if (present) archive(*part);
}

template <class Archive>
void serialize(Archive& archive, SessionKey& key) {
  archive(key.high, key.low);
}

template <class Archive>
void serialize_blend(Archive& archive, BlendSettings& b) {
  archive(wire::real(b.duration_s, 0.0, kMaxBlendS), wire::ranged(b.curve, 0, 1));
}

template <class Archive>
void serialize(Archive& archive, ResumeRequest& r) {
  archive(r.client.value, r.key, r.received);
}

template <class Archive>
void serialize(Archive& archive, JoinRequest& r) {
  std::uint32_t magic = kJoinMagic;
  archive(magic, r.version);
  if constexpr (Archive::is_loading::value) {
    // The format of another version after the number is unknown.
    if (magic != kJoinMagic) archive.bits().fail();
    if (r.version != kProtocolVersion) {
      archive.bits().skip_rest();
      return;
    }
  }
  archive(r.archetype_hash, r.shows_past);
  serialize_blend(archive, r.blend);
  serialize_optional(archive, r.resume);
}

template <class Archive>
void serialize(Archive& archive, ResumeAnswer& r) {
  archive(r.received, r.processed, r.tick);
}

template <class Archive>
void serialize(Archive& archive, JoinAnswer& answer) {
  serialize_optional(archive, answer.resumed);
}

}  // namespace reckoner
