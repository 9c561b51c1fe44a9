// SPDX-License-Identifier: MIT
#include "net/src/transport/platform.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <thread>
#include <vector>

#ifdef __linux__
#include <poll.h>
#include <sys/socket.h>
#endif

namespace reckoner {

void nap(double seconds) {
  seconds = std::clamp(seconds, 0.0, 1.0);
#ifdef _WIN32
  // Windows sleeps for whole milliseconds and would not sleep at all for less than one.
  constexpr double kUnitS = 1e-3;
  seconds = kUnitS * std::ceil(seconds / kUnitS);
#endif
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
}

double steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::uint64_t unix_milliseconds() {
  using std::chrono::milliseconds;
  const auto since_1970 = std::chrono::system_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(std::chrono::duration_cast<milliseconds>(since_1970).count());
}

bool wait_for_sockets([[maybe_unused]] std::span<const std::intptr_t> sockets,
                      [[maybe_unused]] double seconds) {
#ifdef __linux__
  std::vector<pollfd> watched;
  for (const std::intptr_t socket : sockets)
    watched.push_back({.fd = static_cast<int>(socket), .events = POLLIN, .revents = 0});
  const timespec time{.tv_sec = 0,
                      .tv_nsec = static_cast<long>(std::clamp(seconds, 0.0, 0.999'999'999) * 1e9)};
  return ppoll(watched.data(), watched.size(), &time, nullptr) != 0;
#else
  return true;
#endif
}

bool share_port([[maybe_unused]] std::intptr_t socket) {
#ifdef __linux__
  const int on = 1;
  return setsockopt(static_cast<int>(socket), SOL_SOCKET, SO_REUSEPORT, &on, sizeof on) == 0;
#else
  return false;
#endif
}

}  // namespace reckoner
