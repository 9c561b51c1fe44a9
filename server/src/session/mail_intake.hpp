// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/link/message_window.hpp"

#include <cstddef>
#include <cstdint>

namespace reckoner {

/// How many reliable messages of a client's were taken in, and of how many it has been told.
class MailIntake {
 public:
  /// One more was.
  void add(std::size_t payload_bytes) {
    ++taken_;
    untold_bytes_ += payload_bytes;
  }
  /// The client should be told, once there is room for what it then sends.
  [[nodiscard]] bool is_due() const {
    return taken_ - told_ >= MessageWindow::kTellMessages || untold_bytes_ >= MessageWindow::kTellBytes;
  }
  /// It is told: so many, since its session began; wraps.
  [[nodiscard]] std::uint32_t tell() {
    told_ = taken_;
    untold_bytes_ = 0;
    return taken_;
  }

 private:
  std::uint32_t taken_ = 0, told_ = 0;
  std::size_t untold_bytes_ = 0;
};

}  // namespace reckoner
