// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include <reckoner/net/socket_address.hpp>

namespace reckoner {

/// Chooses between the addresses of one server ("happy eyeballs", RFC 8305). A name often has IPv6 and IPv4
/// addresses, and one of the families may lead nowhere. So the attempts start one after the other, while the
/// earlier ones go on, and the first address that answers wins. Times are in seconds on a monotonic clock.
class AddressRace {
 public:
  /// Time between the starts of two attempts, s (RFC 8305, 5: 250 ms is recommended).
  static constexpr double kStaggerS = 0.25;
  /// Maximum number of addresses; the others are left out.
  static constexpr std::size_t kMost = 16;

  /// `addresses`: in the order of preference, as the system's look-up returns them. The families take turns
  /// (RFC 8305, 4).
  explicit AddressRace(std::span<const SocketAddress> addresses);

  /// Starts the attempts that are due and calls `begin(address)` for each. `begin` returns false if the
  /// address cannot be used; then the next address is due at once.
  template <class Begin>
  void start_due(double now_s, Begin begin) {
    while (!winner_ && started_ < addresses_.size() && now_s >= next_s_) {
      if (begin(addresses_[started_])) {
        next_s_ = now_s + kStaggerS;
        ++started_;
      } else {
        addresses_.erase(addresses_.begin() + static_cast<std::ptrdiff_t>(started_));
      }
    }
  }

  /// The addresses whose attempts have started. After decide(), only the winner.
  [[nodiscard]] std::span<const SocketAddress> started() const {
    return winner_ ? std::span(&*winner_, 1) : std::span(addresses_).first(started_);
  }
  /// Returns true if an attempt with this address has started and no other address has won.
  [[nodiscard]] bool runs(const SocketAddress& address) const;

  /// Ends the race: `address` has answered. Ignores an address that does not run.
  void decide(const SocketAddress& address);
  /// The address that has won. Nullopt before the end of the race.
  [[nodiscard]] const std::optional<SocketAddress>& winner() const { return winner_; }

  /// Returns true if no address is left that could be tried.
  [[nodiscard]] bool lost() const { return !winner_ && addresses_.empty(); }

 private:
  std::vector<SocketAddress> addresses_;
  std::size_t started_ = 0;
  double next_s_ = -1e300;
  std::optional<SocketAddress> winner_;
};

}  // namespace reckoner
