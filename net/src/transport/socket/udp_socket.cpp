// SPDX-License-Identifier: MIT
#include "net/src/transport/socket/udp_socket.hpp"

#include "net/src/transport/socket/system_address.hpp"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <system_error>
#include <utility>

#ifdef _WIN32
#include <mstcpip.h>
#else
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>
#endif

namespace reckoner {
namespace {

#ifdef _WIN32
using Handle = SOCKET;
// The callers explain failures with errno.
void note_error() {
  switch (WSAGetLastError()) {
    case WSAEADDRINUSE:
      errno = EADDRINUSE;
      break;
    case WSAEADDRNOTAVAIL:
      errno = EADDRNOTAVAIL;
      break;
    case WSAEACCES:
      errno = EACCES;
      break;
    case WSAEAFNOSUPPORT:
      errno = EAFNOSUPPORT;
      break;
    case WSAEWOULDBLOCK:
      errno = EWOULDBLOCK;
      break;
    default:
      errno = EIO;
  }
}
#else
using Handle = int;
void note_error() {}
#endif

Handle handle_of(std::intptr_t descriptor) {
  return static_cast<Handle>(descriptor);
}

template <class Value>
bool set_option(std::intptr_t socket, int level, int name, const Value& value) {
  return setsockopt(handle_of(socket), level, name, reinterpret_cast<const char*>(&value), sizeof value) == 0;
}

std::intptr_t create(int family) {
  start_sockets();
#ifdef _WIN32
  const SOCKET made = ::socket(family, SOCK_DGRAM, 0);
  if (made == INVALID_SOCKET) return note_error(), -1;
  u_long on = 1;
  ioctlsocket(made, FIONBIO, &on);
  // Otherwise, a read fails after a datagram was sent to a port where nobody listens.
  BOOL report = FALSE;
  DWORD unused = 0;
  constexpr DWORD kReportConnectionReset = _WSAIOW(IOC_VENDOR, 12);
  WSAIoctl(made, kReportConnectionReset, &report, sizeof report, nullptr, 0, &unused, nullptr, nullptr);
  return static_cast<std::intptr_t>(made);
#else
  const int made = ::socket(family, SOCK_DGRAM, 0);
  if (made < 0) return -1;
  (void)fcntl(made, F_SETFD, FD_CLOEXEC);
  (void)fcntl(made, F_SETFL, fcntl(made, F_GETFL) | O_NONBLOCK);
  return made;
#endif
}

}  // namespace

UdpSocket::UdpSocket(UdpSocket&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, kNone)), family_(other.family_) {}

UdpSocket& UdpSocket::operator=(UdpSocket&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  std::swap(family_, other.family_);
  return *this;
}

UdpSocket::~UdpSocket() {
  close();
}

void UdpSocket::close() {
  if (descriptor_ == kNone) return;
#ifdef _WIN32
  closesocket(handle_of(descriptor_));
#else
  ::close(handle_of(descriptor_));
#endif
  descriptor_ = kNone;
}

UdpSocket UdpSocket::open(IpFamilies families) {
  UdpSocket made;
  made.family_ = families == IpFamilies::ipv4 ? AF_INET : AF_INET6;
  made.descriptor_ = create(made.family_);
  if (!made || families == IpFamilies::ipv4) return made;
  const int only_ipv6 = families == IpFamilies::ipv6 ? 1 : 0;
  if (!set_option(made.descriptor_, IPPROTO_IPV6, IPV6_V6ONLY, only_ipv6)) {
    note_error();
    made.close();
  }
  return made;
}

UdpSocket UdpSocket::open_any() {
  UdpSocket made = open(IpFamilies::both);
  return made ? std::move(made) : open(IpFamilies::ipv4);
}

bool UdpSocket::bind(const SocketAddress& address) {
  SocketAddress own = address;
  if (own.host.is_any()) own.host = family_ == AF_INET ? IpAddress(0) : IpAddress();
  SystemAddress system{};
  const socklen_t size = to_system(own, family_, system);
  if (::bind(handle_of(descriptor_), &system.generic, size) == 0) return true;
  note_error();
  return false;
}

bool UdpSocket::send(const SocketAddress& to, std::span<const std::byte> payload) {
  SystemAddress system{};
  const socklen_t size = to_system(to, family_, system);
#ifdef _WIN32
  const auto sent = sendto(handle_of(descriptor_), reinterpret_cast<const char*>(payload.data()),
                           static_cast<int>(payload.size()), 0, &system.generic, size);
#else
  const auto sent = sendto(handle_of(descriptor_), payload.data(), payload.size(), 0, &system.generic, size);
#endif
  if (sent >= 0) return true;
  note_error();
  return errno == EAGAIN || errno == EWOULDBLOCK;
}

SocketAddress UdpSocket::local() const {
  SystemAddress system{};
  socklen_t size = sizeof system;
  if (getsockname(handle_of(descriptor_), &system.generic, &size) != 0) return {};
  return from_system(system);
}

void UdpSocket::set_buffers(int bytes) {
  (void)set_option(descriptor_, SOL_SOCKET, SO_RCVBUF, bytes);
  (void)set_option(descriptor_, SOL_SOCKET, SO_SNDBUF, bytes);
}

bool UdpSocket::wait(double seconds) const {
#ifdef _WIN32
  WSAPOLLFD watched{handle_of(descriptor_), POLLRDNORM, 0};
  return WSAPoll(&watched, 1, static_cast<int>(std::ceil(std::clamp(seconds, 0.0, 3600.0) * 1000.0))) != 0;
#elif defined(__linux__)
  pollfd watched{handle_of(descriptor_), POLLIN, 0};
  const double whole_s = std::floor(std::clamp(seconds, 0.0, 3600.0));
  timespec time{};
  time.tv_sec = static_cast<time_t>(whole_s);
  time.tv_nsec = static_cast<long>((std::clamp(seconds, 0.0, 3600.0) - whole_s) * 1e9);
  return ppoll(&watched, 1, &time, nullptr) != 0;
#else
  pollfd watched{handle_of(descriptor_), POLLIN, 0};
  return poll(&watched, 1, static_cast<int>(std::ceil(std::clamp(seconds, 0.0, 3600.0) * 1000.0))) != 0;
#endif
}

bool has_route(const SocketAddress& address) {
  const UdpSocket probe = UdpSocket::open(address.host.is_ipv4() ? IpFamilies::ipv4 : IpFamilies::ipv6);
  if (!probe) return false;
  SystemAddress system{};
  const socklen_t size = to_system(address, probe.system_family(), system);
  return ::connect(handle_of(probe.descriptor()), &system.generic, size) == 0;
}

Error socket_error(const std::uint16_t* port, const std::string& host) {
#ifdef _WIN32
  if (errno == 0) note_error();  // for the socket of a library, which does not set errno
#endif
  const int reason = errno;
  const std::string why = std::generic_category().message(reason);
  if (port == nullptr) return Error{"cannot open a UDP socket: " + why};
  const std::string where = "UDP port " + std::to_string(*port);
  if (reason == EADDRINUSE) return Error{where + " is in use"};
  if (reason == EADDRNOTAVAIL) return Error{"this machine does not have the address '" + host + "'"};
  if (reason == EAFNOSUPPORT)
    return Error{"this machine has no IPv6, which the address '" + host + "' needs"};
  return Error{"cannot listen on " + where + ": " + why};
}

}  // namespace reckoner
