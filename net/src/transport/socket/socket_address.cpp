// SPDX-License-Identifier: MIT
#include "net/src/transport/socket/system_address.hpp"

#include <charconv>

#ifndef _WIN32
#include <net/if.h>
#endif

#include <reckoner/net/socket_address.hpp>

namespace reckoner {
namespace {

template <class Number>
std::optional<Number> whole_number(std::string_view text) {
  Number number{};
  const auto [end, wrong] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (wrong != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::optional<std::uint32_t> scope_of(std::string_view text) {
  if (const auto number = whole_number<std::uint32_t>(text)) return number;
#ifndef _WIN32
  if (text.find(':') != std::string_view::npos) return std::nullopt;  // Linux would ignore the rest
  if (const unsigned index = if_nametoindex(std::string(text).c_str()); index != 0) return index;
#endif
  return std::nullopt;
}

}  // namespace

std::string host_text(const SocketAddress& address) {
  start_sockets();
  char text[INET6_ADDRSTRLEN] = {};
  if (address.host.is_ipv4()) {
    in_addr v4{};
    v4.s_addr = htonl(address.host.ipv4());
    inet_ntop(AF_INET, &v4, text, sizeof text);
    return text;
  }
  const IpBytes bytes = bytes_of(address.host);
  inet_ntop(AF_INET6, bytes.data(), text, sizeof text);
  std::string out = text;
  if (address.scope != 0) out += '%' + std::to_string(address.scope);
  return out;
}

std::string text_of(const SocketAddress& address) {
  const std::string host = host_text(address);
  return (address.host.is_ipv4() ? host : '[' + host + ']') + ':' + std::to_string(address.port);
}

std::optional<SocketAddress> parse_host(std::string_view text) {
  start_sockets();
  if (text.find('\0') != std::string_view::npos) return std::nullopt;  // the system would ignore the rest
  const bool brackets = text.size() > 2 && text.front() == '[' && text.back() == ']';
  if (brackets) text = text.substr(1, text.size() - 2);
  SocketAddress address;
  const std::size_t percent = text.find('%');
  const std::string host(text.substr(0, percent));
  in_addr v4{};
  if (!brackets && percent == std::string_view::npos && inet_pton(AF_INET, host.c_str(), &v4) == 1)
    return SocketAddress{IpAddress(ntohl(v4.s_addr))};
  IpBytes bytes{};
  if (inet_pton(AF_INET6, host.c_str(), bytes.data()) != 1) return std::nullopt;
  address.host = ip_of(bytes);
  if (percent == std::string_view::npos) return address;
  const auto scope = scope_of(text.substr(percent + 1));
  if (!scope || !address.host.is_link_local()) return std::nullopt;
  address.scope = *scope;
  return address;
}

std::optional<HostAndPort> split_host_port(std::string_view text) {
  std::string_view host = text, port;
  bool has_port = false;
  if (!text.empty() && text.front() == '[') {
    const std::size_t close = text.find(']');
    if (close == std::string_view::npos || !parse_host(text.substr(0, close + 1))) return std::nullopt;
    host = text.substr(1, close - 1);
    port = text.substr(close + 1);
    has_port = !port.empty();
    if (has_port && port.front() != ':') return std::nullopt;
    if (has_port) port.remove_prefix(1);
  } else if (const std::size_t colon = text.find(':'); colon != std::string_view::npos) {
    if (text.find(':', colon + 1) == std::string_view::npos) {
      host = text.substr(0, colon);
      port = text.substr(colon + 1);
      has_port = true;
    } else if (!parse_host(text)) {  // several colons: an IPv6 address without brackets has no port
      return std::nullopt;
    }
  }
  if (host.empty()) return std::nullopt;
  HostAndPort out{std::string(host)};
  if (!has_port) return out;
  const auto number = whole_number<std::uint16_t>(port);
  if (!number || *number == 0) return std::nullopt;
  out.port = *number;
  return out;
}

}  // namespace reckoner
