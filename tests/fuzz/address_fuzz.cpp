// SPDX-License-Identifier: MIT
// Addresses: text from people and files, the system's form, and the answer in which a client finds its
// network's NAT64 prefix.
#include "net/src/transport/socket/nat64.hpp"
#include "net/src/transport/socket/system_address.hpp"
#include "target.hpp"

#include <array>
#include <string>
#include <string_view>

#include <reckoner/net/socket_address.hpp>

namespace reckoner::fuzz {
namespace {

void check_same_text(const SocketAddress& address) {
  const auto host = parse_host(host_text(address));
  check(host && host->host == address.host && host->scope == address.scope,
        "an address is read as it was written");
  if (address.port == 0) return;
  const auto parts = split_host_port(text_of(address));
  check(parts && parts->port == address.port && parts->host == host_text(address),
        "an address with a port is split as it was written");
}

void read_any_text(std::string_view text) {
  const auto parts = split_host_port(text);
  const auto address = parse_host(text);
  if (address) {
    check(address->port == 0, "an address without a port has no port");
    check(address->scope == 0 || address->host.is_link_local(), "only link-local addresses have a scope");
    check(parts && parts->port == 0, "an address without a port is a host without a port");
    check_same_text(*address);
  }
  if (!parts) return;
  check(!parts->host.empty(), "a host has a name");
  check(parts->host.find_first_of("[]") == std::string::npos || text.front() != '[',
        "an address has no brackets");
  check(text.find('\0') != std::string_view::npos || text.front() != '[' || parse_host(parts->host),
        "the text in brackets is an address");
}

IpAddress any_ip(Choices& choices) {
  if (choices.flag()) return IpAddress(static_cast<std::uint32_t>(choices.up_to(UINT32_MAX)));
  const std::uint64_t high = choices.up_to(UINT64_MAX);
  return {high, choices.up_to(UINT64_MAX)};
}

SocketAddress any_address(Choices& choices) {
  SocketAddress address{any_ip(choices), static_cast<std::uint16_t>(choices.up_to(UINT16_MAX))};
  if (address.host.is_link_local()) address.scope = static_cast<std::uint32_t>(choices.up_to(UINT32_MAX));
  return address;
}

void write_any_address(Choices& choices) {
  const SocketAddress address = any_address(choices);
  check_same_text(address);
  SystemAddress system;
  to_system(address, AF_INET6, system);
  check(from_system(system) == address, "the system's form is read as it was written");
  if (address.host.is_ipv4()) {
    to_system(address, AF_INET, system);
    check(from_system(system) == address, "a client has one address on sockets of both families");
  }
  const IpAddress limited = address.host.limited_host();
  check(limited.limited_host() == limited, "a limit counts a host once");
  check(address.host.is_ipv4() == limited.is_ipv4(), "no IPv6 network is counted as an IPv4 host");
}

void find_any_prefix(Choices& choices) {
  std::array<SocketAddress, 3> answer;
  for (SocketAddress& one : answer)
    one = any_address(choices);
  // One of the two known addresses, behind some prefix.
  constexpr std::array kBits{32, 40, 48, 56, 64, 96};
  if (choices.flag()) {
    const Nat64Prefix genuine{IpAddress(choices.up_to(UINT64_MAX), 0),
                              kBits[choices.up_to(kBits.size() - 1)]};
    answer.front() = {
        genuine.address_of(IpAddress(0xC00000AA + static_cast<std::uint32_t>(choices.up_to(1))))};
  }
  const auto found = find_nat64_prefix(answer);
  if (!found) return;
  const IpAddress one =
      found->address_of(any_ip(choices).is_ipv4() ? IpAddress(0x01020304) : IpAddress(0xFFFFFFFF));
  const IpAddress known = found->address_of(IpAddress(0xC00000AA));
  check(one != known, "different IPv4 hosts have different IPv6 addresses");
  const SocketAddress again[] = {{known}};
  check(find_nat64_prefix(again).has_value(), "a prefix is found again");
}

}  // namespace

void run(std::span<const std::byte> input) {
  if (input.empty()) return;
  const auto rest = input.subspan(1);
  Choices choices{rest};
  switch (std::to_integer<unsigned>(input.front()) % 3) {
    case 0:
      return read_any_text({reinterpret_cast<const char*>(rest.data()), rest.size()});
    case 1:
      return write_any_address(choices);
    default:
      return find_any_prefix(choices);
  }
}

std::vector<Bytes> seeds() {
  const std::string_view texts[] = {
      "127.0.0.1",
      "127.0.0.1:4000",
      "::1",
      "[::1]",
      "[::1]:4000",
      "::ffff:10.1.2.3",
      "2001:db8::5",
      "[2001:db8::5]:65535",
      "fe80::1%2",
      "fe80::1%lo",
      "[fe80::1%2]:4000",
      "64:ff9b::1.2.3.4",
      "example.org",
      "example.org:4000",
      "0.0.0.0:1",
      "[::]:0",
      "1:2:3:4:5:6:7:8",
      "1:2:3:4:5:6:7:8:9",
      "255.255.255.256",
      "[127.0.0.1]:1",
      "[::1]:65536",
      "host:",
      "%",
      ":4000",
  };
  std::vector<Bytes> out;
  for (const std::string_view text : texts)
    out.push_back(marked(std::byte{0}, std::as_bytes(std::span(text))));
  for (const unsigned kind : {1u, 2u})
    add_choices(out, 8, 60, static_cast<std::byte>(kind));
  return out;
}

}  // namespace reckoner::fuzz
