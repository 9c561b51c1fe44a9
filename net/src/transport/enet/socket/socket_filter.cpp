// SPDX-License-Identifier: MIT
#include "net/src/transport/enet/socket/socket_filter.hpp"

#include <array>

#ifndef _WIN32
#include <sys/socket.h>
#endif

#ifdef __linux__
#include <ctime>

#include <linux/filter.h>
#include <linux/sock_diag.h>
#include <linux/sockios.h>
#include <sys/ioctl.h>
#endif

namespace reckoner {

bool filter_socket([[maybe_unused]] std::intptr_t socket, [[maybe_unused]] std::size_t longest) {
#ifdef __linux__
  // The filter program of a UDP socket sees each datagram from its UDP header on.
  constexpr std::uint32_t kHeader = 8;
  std::array<sock_filter, 5> program{{
      BPF_STMT(BPF_LD | BPF_W | BPF_LEN, 0),
      BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, kHeader, 0, 2),
      BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, static_cast<std::uint32_t>(kHeader + longest), 1, 0),
      BPF_STMT(BPF_RET | BPF_K, 0xffffffff),
      BPF_STMT(BPF_RET | BPF_K, 0),
  }};
  const sock_fprog whole{.len = program.size(), .filter = program.data()};
  return setsockopt(static_cast<int>(socket), SOL_SOCKET, SO_ATTACH_FILTER, &whole, sizeof whole) == 0;
#else
  return false;
#endif
}

std::optional<std::uint64_t> dropped_for_socket([[maybe_unused]] std::intptr_t socket) {
#ifdef __linux__
  std::array<std::uint32_t, SK_MEMINFO_VARS> numbers{};
  socklen_t size = sizeof numbers;
  if (getsockopt(static_cast<int>(socket), SOL_SOCKET, SO_MEMINFO, numbers.data(), &size) == 0 &&
      size > SK_MEMINFO_DROPS * sizeof numbers[0])
    return numbers[SK_MEMINFO_DROPS];
#endif
  return std::nullopt;
}

double waited_in_socket_s([[maybe_unused]] std::intptr_t socket) {
#ifdef __linux__
  // ENet reads with recvmsg() and passes no room for control messages, so the usual way to a time stamp is
  // closed. This call returns the stamp of the last datagram that was read. The first one enables the stamps.
  timespec arrived{}, now{};
  if (ioctl(static_cast<int>(socket), SIOCGSTAMPNS, &arrived) != 0 ||
      clock_gettime(CLOCK_REALTIME, &now) != 0)
    return 0.0;
  const double waited_s = static_cast<double>(now.tv_sec - arrived.tv_sec) +
                          1e-9 * static_cast<double>(now.tv_nsec - arrived.tv_nsec);
  // Somebody has set the clock if the time is negative or long.
  constexpr double kMaxWaitS = 1.0;
  return waited_s > 0.0 && waited_s < kMaxWaitS ? waited_s : 0.0;
#else
  return 0.0;
#endif
}

Skipped skip_empty([[maybe_unused]] std::intptr_t socket, [[maybe_unused]] int most) {
  Skipped skipped;
#ifndef _WIN32
  std::array<char, 1> first{};
  for (; skipped.empty < most; ++skipped.empty) {
    const auto next = recv(static_cast<int>(socket), first.data(), first.size(), MSG_PEEK | MSG_DONTWAIT);
    skipped.more = next > 0;
    if (next != 0) break;
    (void)recv(static_cast<int>(socket), first.data(), first.size(), MSG_DONTWAIT);
  }
#endif
  return skipped;
}

}  // namespace reckoner
