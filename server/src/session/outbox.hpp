// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <reckoner/net/ids.hpp>
#include <reckoner/net/transport.hpp>
#include <reckoner/server/server.hpp>

namespace reckoner {

/// Datagrams of some clients that are ready to be sent, and what was counted when they were written. Clients
/// are written by several workers, but sent by one.
class Outbox {
 public:
  Outbox() { repaired.reserve(kUsualRepairs); }

  void add(PeerId peer, std::span<const std::byte> payload) {
    bytes_.insert(bytes_.end(), payload.begin(), payload.end());
    letters_.push_back({peer, payload.size()});
    ++stats.datagrams_sent;
    stats.state_bytes_sent += payload.size();
  }

  /// Sends all in order and is as new, but for what was counted.
  void flush(Transport& transport) {
    std::span<const std::byte> left = bytes_;
    for (const Letter& letter : letters_) {
      transport.send(letter.to, Channel::state, left.first(letter.bytes));
      left = left.subspan(letter.bytes);
    }
    bytes_.clear();
    letters_.clear();
  }

  ServerStats stats;
  std::vector<std::uint32_t> repaired;  ///< streams (slot x kLevels + level) of which repairs are in it

 private:
  struct Letter {
    PeerId to;
    std::size_t bytes = 0;
  };
  static constexpr std::size_t kUsualRepairs = 1024;  // of a bad tick

  std::vector<std::byte> bytes_;
  std::vector<Letter> letters_;
};

}  // namespace reckoner
