// SPDX-License-Identifier: MIT
#include "web/src/http/origin.hpp"
#include "web/src/listener/web_settings.hpp"

#include <algorithm>

#include <reckoner/net/pipe_server.hpp>
#include <reckoner/net/socket_address.hpp>

namespace reckoner {
namespace {

bool is_loopback(const std::string& host) {
  const auto address = parse_host(host);
  if (!address) return host == "localhost";
  const IpAddress& ip = address->host;
  return ip.is_ipv4() ? ip.ipv4() >> 24 == 127 : ip == IpAddress(0, 1);
}

// Other characters could end the header.
bool is_header_value(const std::string& text) {
  return std::ranges::all_of(text, [](char c) { return c >= ' ' && c < 0x7f; });
}

}  // namespace

std::optional<Error> find_invalid_setting(const WebConfig& config) {
  if (auto error = find_invalid<WebConfig>(kWebSettings, config)) return error;
  if (auto error = find_invalid_setting(config.limits)) return error;
  for (const std::string& origin : config.origins) {
    if (!web::is_origin(origin)) {
      return Error{"origins: " + origin +
                   " is not an origin; give a scheme and a host without a path, for example "
                   "https://game.example"};
    }
  }
  if (config.certificate.empty() && !config.key.empty()) return Error{"key is given without a certificate"};
  if (!is_header_value(config.content_policy))
    return Error{"content_policy contains a character that no header may contain"};
  if (!config.channel_address.empty()) {
    const auto address = parse_host(config.channel_address);
    if (!address || address->host.is_any() || address->host.is_multicast())
      return Error{"channel_address: " + config.channel_address + " is not one specific IP address"};
  }
  const bool plain = config.certificate.empty() && !config.tls_ends_at_proxy;
  if (config.security.get() != nullptr && plain && !is_loopback(config.host)) {
    return Error{
        "tokens would travel unencrypted; give a certificate, or listen on 127.0.0.1, or set "
        "tls_ends_at_proxy"};
  }
  return std::nullopt;
}

}  // namespace reckoner
