// SPDX-License-Identifier: MIT
#pragma once

// The system's UDP sockets under the same names everywhere. Include it only in .cpp files: the system's
// headers define many macros.
#ifdef _WIN32
#include <winsock2.h>
#include <ws2tcpip.h>
#else
#include <arpa/inet.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>
#endif

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <span>
#include <string>
#include <system_error>

namespace reckoner::sockets {

#ifdef _WIN32
using Handle = SOCKET;
using PollEntry = WSAPOLLFD;
inline constexpr Handle kNone = INVALID_SOCKET;
inline constexpr int kInUse = WSAEADDRINUSE;

/// Must exist while the process uses sockets.
class Library {
 public:
  Library() {
    WSADATA unused{};
    (void)WSAStartup(MAKEWORD(2, 2), &unused);
  }
  ~Library() { WSACleanup(); }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;
};

[[nodiscard]] inline int last_error() {
  return WSAGetLastError();
}
inline void close(Handle socket) {
  closesocket(socket);
}
#else
using Handle = int;
using PollEntry = pollfd;
inline constexpr Handle kNone = -1;
inline constexpr int kInUse = EADDRINUSE;

/// Must exist while the process uses sockets.
class Library {
 public:
  Library() {}
};

[[nodiscard]] inline int last_error() {
  return errno;
}
inline void close(Handle socket) {
  ::close(socket);
}
#endif

/// The number in last_error() in words.
[[nodiscard]] inline std::string error_text(int error) {
  return std::system_category().message(error);
}

/// A UDP socket that does not block and that child processes do not inherit, or kNone.
[[nodiscard]] inline Handle open_udp(int family) {
#ifdef _WIN32
  const Handle made = WSASocketW(family, SOCK_DGRAM, 0, nullptr, 0, WSA_FLAG_NO_HANDLE_INHERIT);
  u_long on = 1;
  if (made != kNone) ioctlsocket(made, FIONBIO, &on);
#else
  const Handle made = socket(family, SOCK_DGRAM, 0);
  if (made == kNone) return kNone;
  (void)fcntl(made, F_SETFL, fcntl(made, F_GETFL) | O_NONBLOCK);
  (void)fcntl(made, F_SETFD, FD_CLOEXEC);
#endif
  return made;
}

/// Sets an option that is an int. The system may refuse it.
inline void set_option(Handle socket, int level, int option, int value) {
  (void)setsockopt(socket, level, option, reinterpret_cast<const char*>(&value), sizeof value);
}

/// Sends a datagram, to a connected socket's peer if `to` is null. Returns its size, or -1.
inline int send_to(Handle socket, std::span<const std::byte> bytes, const sockaddr* to = nullptr,
                   std::size_t to_size = 0) {
  return static_cast<int>(sendto(socket, reinterpret_cast<const char*>(bytes.data()),
                                 static_cast<int>(bytes.size()), 0, to, static_cast<socklen_t>(to_size)));
}

/// Reads a datagram. Returns its size, or -1 if none waits.
inline int receive_from(Handle socket, std::span<std::byte> room, sockaddr* from = nullptr,
                        socklen_t* from_size = nullptr) {
  return static_cast<int>(recvfrom(socket, reinterpret_cast<char*>(room.data()),
                                   static_cast<int>(room.size()), 0, from, from_size));
}

/// True if a read failed and the next one may succeed: a signal came, or a peer's port is closed.
[[nodiscard]] inline bool may_read_again(int error) {
#ifdef _WIN32
  return error == WSAECONNRESET || error == WSAENETRESET || error == WSAEMSGSIZE;
#else
  return error == EINTR || error == ECONNREFUSED;
#endif
}

/// Waits until a socket is readable or `seconds` have passed. Afterwards, `revents` is not 0 for the sockets
/// that are readable. Windows counts in milliseconds, so that the end of a wait there needs further calls.
inline void poll(std::span<PollEntry> entries, double seconds) {
#ifdef _WIN32
  const int got = WSAPoll(entries.data(), static_cast<ULONG>(entries.size()),
                          static_cast<int>(1000.0 * std::clamp(seconds, 0.0, 1e6)));
#else
  seconds = std::clamp(seconds, 0.0, 1e6);
  timespec timeout{};
  timeout.tv_sec = static_cast<time_t>(seconds);
  timeout.tv_nsec = static_cast<long>((seconds - static_cast<double>(timeout.tv_sec)) * 1e9);
  const int got = ppoll(entries.data(), entries.size(), &timeout, nullptr);
#endif
  if (got >= 0) return;
  for (PollEntry& entry : entries)
    entry.revents = 0;
}

}  // namespace reckoner::sockets
