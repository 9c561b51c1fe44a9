// SPDX-License-Identifier: MIT
#include "programs/common/system/interfaces.hpp"

#include "net/src/transport/socket/system_address.hpp"

#include <cstddef>
#include <cstring>

#ifdef _WIN32
#include <iphlpapi.h>
#else
#include <ifaddrs.h>
#include <net/if.h>
#endif

namespace reckoner::program {
namespace {

void add(const sockaddr* own, std::vector<SocketAddress>& addresses) {
  SystemAddress system{};
  if (own == nullptr) return;
  if (own->sa_family == AF_INET) {
    std::memcpy(&system.v4, own, sizeof system.v4);
  } else if (own->sa_family == AF_INET6) {
    std::memcpy(&system.v6, own, sizeof system.v6);
  } else {
    return;
  }
  const IpAddress host = from_system(system).host;
  if (!host.is_link_local()) addresses.push_back({host, 0});  // a token cannot name a link-local one
}

}  // namespace

#ifdef _WIN32

std::vector<SocketAddress> own_addresses() {
  std::vector<SocketAddress> addresses;
  ULONG size = 16 * 1024;
  for (int tries = 0; tries < 3; ++tries) {  // the list may grow between two calls
    std::vector<std::max_align_t> room(size / sizeof(std::max_align_t) + 1);
    auto* const all = reinterpret_cast<IP_ADAPTER_ADDRESSES*>(room.data());
    const ULONG result = GetAdaptersAddresses(
        AF_UNSPEC, GAA_FLAG_SKIP_ANYCAST | GAA_FLAG_SKIP_MULTICAST | GAA_FLAG_SKIP_DNS_SERVER, nullptr, all,
        &size);
    if (result == ERROR_BUFFER_OVERFLOW) continue;
    if (result != NO_ERROR) return addresses;
    for (const auto* one = all; one != nullptr; one = one->Next) {
      if (one->OperStatus != IfOperStatusUp) continue;
      for (const auto* part = one->FirstUnicastAddress; part != nullptr; part = part->Next)
        add(part->Address.lpSockaddr, addresses);
    }
    return addresses;
  }
  return addresses;
}

#else

std::vector<SocketAddress> own_addresses() {
  std::vector<SocketAddress> addresses;
  ifaddrs* all = nullptr;
  if (getifaddrs(&all) != 0) return addresses;
  for (const ifaddrs* one = all; one != nullptr; one = one->ifa_next) {
    if ((one->ifa_flags & IFF_UP) != 0) add(one->ifa_addr, addresses);
  }
  freeifaddrs(all);
  return addresses;
}

#endif

}  // namespace reckoner::program
