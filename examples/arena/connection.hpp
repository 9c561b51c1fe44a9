// SPDX-License-Identifier: MIT
#pragma once

#include "player.hpp"

#include <utility>

#include <reckoner/net/network_dialer.hpp>

namespace arena {

/// A player's way to the server: socket, client and game. Not movable, because each refers to the one before.
struct Connection {
  Connection(const std::string& host, std::uint16_t port, std::string name)
      : dialer(host, port, reckoner::kProtocolVersion, reckoner::Insecure{}),
        client(std::move(*reckoner::Client::create(Player::config(), dialer))),
        player(client, std::move(name)) {}
  Connection(const Connection&) = delete;

  reckoner::NetworkDialer dialer;
  reckoner::Client client;
  Player player;
};

}  // namespace arena
