// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <vector>

namespace reckoner {

/// The peers that sent a datagram since the last call of drain(), by ENet's peer index. Each peer is listed
/// once.
class TouchedPeers {
 public:
  explicit TouchedPeers(std::size_t peers) : is_touched_(peers) {}

  /// Ignores an index that is out of range: an untrusted datagram may contain it.
  void touch(std::size_t index) {
    if (index >= is_touched_.size() || is_touched_[index]) return;
    is_touched_[index] = true;
    touched_.push_back(index);
  }

  /// Calls `visit(index)` for each touched peer and then clears the list.
  template <class Visit>
  void drain(Visit visit) {
    for (const std::size_t index : touched_) {
      is_touched_[index] = false;
      visit(index);
    }
    touched_.clear();
  }

 private:
  std::vector<std::size_t> touched_;
  std::vector<bool> is_touched_;
};

}  // namespace reckoner
