// SPDX-License-Identifier: MIT
#include "net/src/transport/socket/socket_filter.hpp"

#include <array>

#ifdef __linux__
#include <linux/filter.h>
#include <linux/sock_diag.h>
#include <sys/socket.h>
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

}  // namespace reckoner
