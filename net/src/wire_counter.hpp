// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <utility>

namespace reckoner {

/// Follows a pair of 32-bit counters that wrap (UDP payload bytes and datagrams) and makes 64-bit totals of
/// them, with UDP's and IPv4's headers. Must look before a counter has gone all the way round.
class WireCounter {
 public:
  static constexpr std::uint64_t kUdpIpBytes = 28;

  void look(std::uint32_t payload_bytes, std::uint32_t datagrams) {
    // Unsigned differences are right across the wrap.
    const std::uint32_t more_bytes = payload_bytes - std::exchange(payload_bytes_, payload_bytes);
    const std::uint32_t more_datagrams = datagrams - std::exchange(datagrams_, datagrams);
    total_datagrams_ += more_datagrams;
    total_bytes_ += more_bytes + more_datagrams * kUdpIpBytes;
  }

  [[nodiscard]] std::uint64_t datagrams() const { return total_datagrams_; }
  [[nodiscard]] std::uint64_t bytes() const { return total_bytes_; }

 private:
  std::uint32_t payload_bytes_ = 0;
  std::uint32_t datagrams_ = 0;
  std::uint64_t total_datagrams_ = 0;
  std::uint64_t total_bytes_ = 0;
};

}  // namespace reckoner
