// SPDX-License-Identifier: MIT
#include "web/src/listener/listening_socket.hpp"

#include "net/src/transport/socket/system_address.hpp"

#include <cerrno>
#include <cstdint>
#include <vector>

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <reckoner/net/network_transport.hpp>

namespace reckoner::web {
namespace {

// Data in the kernel that TCP has not sent yet, bytes. Without this limit, a slow reader would get states
// that have waited for seconds in a send buffer of megabytes.
constexpr int kMaxUnsent = 16 * 1024;
constexpr int kBacklog = 256;

template <class Value>
void set_option(int file, int level, int name, Value value) {
  (void)setsockopt(file, level, name, &value, sizeof value);
}

// Without a wait, and closed in child processes.
void set_flags(int file) {
  (void)fcntl(file, F_SETFL, fcntl(file, F_GETFL) | O_NONBLOCK);
  (void)fcntl(file, F_SETFD, FD_CLOEXEC);
}

std::optional<ListeningSocket> listen_at(const SocketAddress& address, int family) {
  const int file = socket(family, SOCK_STREAM, 0);
  if (file < 0) return std::nullopt;
  set_flags(file);
  set_option(file, SOL_SOCKET, SO_REUSEADDR, 1);
  if (family == AF_INET6) set_option(file, IPPROTO_IPV6, IPV6_V6ONLY, address.host.is_any() ? 0 : 1);
  SystemAddress system{};
  const socklen_t size = to_system(address, family, system);
  SystemAddress bound{};
  socklen_t bound_size = sizeof bound;
  if (bind(file, &system.generic, size) != 0 || listen(file, kBacklog) != 0 ||
      getsockname(file, &bound.generic, &bound_size) != 0) {
    close(file);
    return std::nullopt;
  }
  return ListeningSocket{file, from_system(bound).port};
}

}  // namespace

std::optional<ListeningSocket> listen_on(const std::string& host, std::uint16_t port) {
  if (host.empty()) {
    const auto both = listen_at({IpAddress(0, 0), port}, AF_INET6);
    return both ? both : listen_at({IpAddress(0), port}, AF_INET);  // this machine has no IPv6
  }
  for (SocketAddress address : resolve_host(host)) {
    address.port = port;
    if (auto socket = listen_at(address, address.host.is_ipv4() ? AF_INET : AF_INET6)) return socket;
  }
  return std::nullopt;
}

Accepted accept_connection(int listening_file) {
  for (;;) {
    SystemAddress from{};
    socklen_t size = sizeof from;
    const int file = accept(listening_file, &from.generic, &size);
    if (file >= 0) {
      set_flags(file);
      set_option(file, IPPROTO_TCP, TCP_NODELAY, 1);
#ifdef TCP_NOTSENT_LOWAT
      set_option(file, IPPROTO_TCP, TCP_NOTSENT_LOWAT, kMaxUnsent);
#endif
      SystemAddress own{};
      socklen_t own_size = sizeof own;
      const bool known = getsockname(file, &own.generic, &own_size) == 0;
      return {.outcome = Accepted::Outcome::connection,
              .file = file,
              .host = from_system(from).host,
              .reached = known ? from_system(own).host : IpAddress{}};
    }
    if (errno == EINTR || errno == ECONNABORTED) continue;
    const bool exhausted = errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM;
    // Linux looks for a free descriptor before it looks for a connection.
    pollfd waits{listening_file, POLLIN, 0};
    const bool missing = exhausted && poll(&waits, 1, 0) == 1;
    return {.outcome = missing ? Accepted::Outcome::no_descriptors : Accepted::Outcome::none};
  }
}

std::size_t descriptor_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return SIZE_MAX;
  return static_cast<std::size_t>(limit.rlim_cur);
}

}  // namespace reckoner::web
