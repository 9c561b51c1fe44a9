// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace reckoner::web {

/// True if `origin` can be an entry of WebConfig::origins: a scheme, a host and perhaps a port, without a
/// path, for example "https://game.example:8443". False for "null", the origin of documents without a site.
[[nodiscard]] bool is_origin(std::string_view origin);

/// True if a request with this Host header may be answered. In an attack by DNS rebinding, a name of the
/// attacker leads to this server, and the browser takes the server for a part of the attacker's site. Such a
/// request has the attacker's name in its Host header. So the host must be an IP address as a literal
/// ("127.0.0.1", "[::1]"), which no DNS server can redirect, "localhost", `address` (the name that the server
/// was told to listen on; empty: none), or the host of an origin in `allowed`. Any port from 1 to 65535 may
/// follow. Names are compared without regard to case; "localhost." with a dot at its end is another name.
[[nodiscard]] bool is_allowed_host(std::string_view host, const std::vector<std::string>& allowed,
                                   std::string_view address = {});

/// True if a page of this origin may open a WebSocket on a server that it reached as `host` (the Host
/// header). The host must be allowed (is_allowed_host()), and the origin must be the server itself or be in
/// `allowed`. A client without an
/// origin is no browser: WebConfig::without_origin decides about it.
[[nodiscard]] bool is_allowed_origin(std::string_view origin, std::string_view host,
                                     const std::vector<std::string>& allowed, std::string_view address = {});

}  // namespace reckoner::web
