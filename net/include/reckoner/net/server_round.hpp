// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

namespace reckoner {

/// Which of several servers a dialer goes to: the one that was connected last, then the others in their
/// order, and over again.
class ServerRound {
 public:
  /// Of so many; begins with the first.
  explicit ServerRound(std::size_t servers) : servers_(servers) {}

  /// An attempt begins: the number of the server that it goes to, from 0.
  std::size_t dial() {
    if (!moved_) first_ = at_;
    moved_ = false;
    return at_;
  }

  /// The attempt has failed: the next one goes to the next server. False once all have been tried since one
  /// last stood.
  bool try_elsewhere() {
    if (servers_ == 0) return false;
    moved_ = true;
    at_ = (at_ + 1) % servers_;
    return at_ != first_;
  }

 private:
  std::size_t servers_;
  std::size_t at_ = 0;
  std::size_t first_ = 0;  // of the round of attempts
  bool moved_ = false;     // by an attempt that failed
};

}  // namespace reckoner
