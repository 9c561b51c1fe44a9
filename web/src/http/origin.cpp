// SPDX-License-Identifier: MIT
#include "web/src/http/origin.hpp"

#include "web/src/http/ascii.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <utility>

#include <reckoner/net/socket_address.hpp>

namespace reckoner::web {
namespace {

// "HOST" or "HOST:PORT" (RFC 3986, 3.2, without user information).
struct Authority {
  std::string host;         // in lower case; an address in the text form of host_text()
  bool is_address = false;  // an IP address, not a name
  std::uint16_t port = 0;   // 0: not given
  bool operator==(const Authority&) const = default;
};

struct Origin {
  std::string scheme;  // in lower case
  Authority authority;
  bool operator==(const Origin&) const = default;
};

std::optional<std::uint16_t> read_port(std::string_view text) {
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  if (!whole || port == 0 || text.size() > 5) return std::nullopt;
  return port;
}

// A browser writes an address in one form only. A request with another form does not come from a browser.
std::optional<Authority> read_authority(std::string_view text) {
  Authority out;
  std::string_view rest;
  if (text.starts_with('[')) {
    const std::size_t end = text.find(']');
    if (end == std::string_view::npos || text.substr(0, end).find('%') != std::string_view::npos)
      return std::nullopt;
    const auto address = parse_host(text.substr(0, end + 1));
    if (!address) return std::nullopt;
    out.host = host_text(*address);
    out.is_address = true;
    rest = text.substr(end + 1);
  } else {
    const std::size_t end = std::min(text.find(':'), text.size());
    const std::string_view name = text.substr(0, end);
    const bool valid = !name.empty() && std::ranges::all_of(name, [](char c) {
      return is_letter(c) || is_digit(c) || c == '.' || c == '-' || c == '_';
    });
    if (!valid) return std::nullopt;
    const auto address = parse_host(name);
    out.host = address ? host_text(*address) : in_lower_case(name);
    out.is_address = address.has_value();
    rest = text.substr(end);
  }
  if (rest.empty()) return out;
  const auto port = rest.front() == ':' ? read_port(rest.substr(1)) : std::nullopt;
  if (!port) return std::nullopt;
  out.port = *port;
  return out;
}

std::uint16_t default_port(std::string_view scheme) {
  return scheme == "http" ? 80 : scheme == "https" ? 443 : 0;
}

std::optional<Origin> read_origin(std::string_view text) {
  const std::size_t end = text.find("://");
  if (end == std::string_view::npos || end == 0) return std::nullopt;
  const std::string_view scheme = text.substr(0, end);
  const bool valid = is_letter(scheme.front()) && std::ranges::all_of(scheme, [](char c) {
                       return is_letter(c) || is_digit(c) || c == '+' || c == '-' || c == '.';
                     });
  auto authority = read_authority(text.substr(end + 3));
  if (!valid || !authority) return std::nullopt;
  Origin out{in_lower_case(scheme), std::move(*authority)};
  if (out.authority.port == 0) out.authority.port = default_port(out.scheme);
  return out;
}

bool is_allowed(const Authority& host, const std::vector<std::string>& allowed, std::string_view address) {
  if (host.is_address || host.host == "localhost") return true;
  if (!address.empty() && host.host == in_lower_case(address)) return true;
  return std::ranges::any_of(allowed, [&](const std::string& each) {
    const auto origin = read_origin(each);
    return origin && origin->authority.host == host.host;
  });
}

}  // namespace

bool is_origin(std::string_view origin) {
  return read_origin(origin).has_value();
}

bool is_allowed_host(std::string_view host, const std::vector<std::string>& allowed,
                     std::string_view address) {
  const auto authority = read_authority(host);
  return authority && is_allowed(*authority, allowed, address);
}

bool is_allowed_origin(std::string_view origin, std::string_view host,
                       const std::vector<std::string>& allowed, std::string_view address) {
  const auto from = read_origin(origin);
  auto to = read_authority(host);
  if (!from || !to || !is_allowed(*to, allowed, address)) return false;
  const bool listed =
      std::ranges::any_of(allowed, [&](const std::string& each) { return read_origin(each) == from; });
  if (listed) return true;
  if (default_port(from->scheme) == 0) return false;
  if (to->port == 0) to->port = default_port(from->scheme);
  return from->authority == *to;
}

}  // namespace reckoner::web
