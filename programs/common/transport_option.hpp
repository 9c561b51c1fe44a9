// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include <CLI/CLI.hpp>

namespace reckoner::program {

/// The option --transport of a server or client: ListenConfig::transport. Empty: it is not given.
inline CLI::Option* add_transport_option(CLI::App& app, std::string& transport) {
  return app
      .add_option(
          "--transport", transport,
          "udp (IPv4 and IPv6, with or without a key) or enet (ENet, IPv4, without a key); server and "
          "clients must use the same one (default: udp, with --insecure enet)")
      ->check(CLI::IsMember({"udp", "enet"}));
}

}  // namespace reckoner::program
