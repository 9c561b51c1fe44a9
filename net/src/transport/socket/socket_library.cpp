// SPDX-License-Identifier: MIT
#include "net/src/transport/socket/socket_library.hpp"

#ifdef _WIN32
// The order of these two matters.
#include <winsock2.h>
// clang-format keeps them apart.
#include <timeapi.h>
#endif

namespace reckoner {

#ifdef _WIN32

namespace {
constexpr unsigned kTimerMs = 1;
}

// Both calls count their users themselves.
SocketLibrary::SocketLibrary() {
  WSADATA ignored{};
  (void)WSAStartup(MAKEWORD(2, 2), &ignored);
  (void)timeBeginPeriod(kTimerMs);
}

SocketLibrary::~SocketLibrary() {
  (void)timeEndPeriod(kTimerMs);
  (void)WSACleanup();
}

#else

SocketLibrary::SocketLibrary() = default;
SocketLibrary::~SocketLibrary() = default;

#endif

}  // namespace reckoner
