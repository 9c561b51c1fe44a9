// SPDX-License-Identifier: MIT
#pragma once

#include "subscriptions.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <reckoner/net/ack_window.hpp>
#include <reckoner/net/ids.hpp>

namespace reckoner {

/// One motion in a datagram.
struct Carried {
  Subscriptions::Place place = 0;
  std::uint32_t serial = 0;  ///< of the subscription it was sent for
  std::uint32_t number = 0;  ///< of the publish
  Tick motion_tick = 0;      ///< its time stamp
  std::uint8_t level = 0;
};

/// What each datagram on its way to a client carries.
class InFlight {
 public:
  struct Datagram {
    Tick tick = 0;  ///< that sent it
    std::size_t bytes = 0;
    std::vector<Carried> carried;
  };

  /// A new datagram's record, empty.
  Datagram& begin(Sequence sequence, Tick tick) {
    Datagram& datagram = datagrams_[sequence % SentWindow::kCapacity];
    datagram.tick = tick;
    if (datagram.carried.capacity() == 0 && !spare_.empty()) {
      datagram.carried = std::move(spare_.back());
      spare_.pop_back();
    }
    datagram.carried.clear();
    return datagram;
  }

  [[nodiscard]] const Datagram& at(Sequence sequence) const {
    return datagrams_[sequence % SentWindow::kCapacity];
  }

  /// The datagram's fate is known. Its memory goes to the next.
  void end(Sequence sequence) {
    Datagram& datagram = datagrams_[sequence % SentWindow::kCapacity];
    if (datagram.carried.capacity() > 0) spare_.push_back(std::exchange(datagram.carried, {}));
  }

 private:
  std::array<Datagram, SentWindow::kCapacity> datagrams_;
  std::vector<std::vector<Carried>> spare_;
};

}  // namespace reckoner
