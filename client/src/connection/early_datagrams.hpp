// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

namespace reckoner {

/// Datagrams of the server that have overtaken its welcome message. They cannot be read before that. They are
/// neither lost nor acknowledged meanwhile.
class EarlyDatagrams {
 public:
  using Datagram = std::vector<std::byte>;

  /// Keeps the datagram, if there is room.
  void add(std::span<const std::byte> payload) {
    if (bytes_ + payload.size() > kMostBytes) return;
    bytes_ += payload.size();
    datagrams_.emplace_back(payload.begin(), payload.end());
  }
  /// Removes and returns them in the order of their arrival.
  [[nodiscard]] std::vector<Datagram> take() {
    bytes_ = 0;
    return std::exchange(datagrams_, {});
  }

 private:
  static constexpr std::size_t kMostBytes = 1024 * 1024;

  std::vector<Datagram> datagrams_;
  std::size_t bytes_ = 0;
};

}  // namespace reckoner
