// SPDX-License-Identifier: MIT
// A server that is safe on the internet. The backend issues a token to a player who has logged in. The client
// connects to the server that the token names. The server admits only clients with a valid token. This
// program plays all three parts. Exits with 0 if the client joined with the client id in its token and showed
// an entity.
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <thread>

#include <reckoner/client/client.hpp>
#include <reckoner/net/network_dialer.hpp>
#include <reckoner/net/network_transport.hpp>
#include <reckoner/net/transport.hpp>
#include <reckoner/server/server.hpp>

namespace {

using Clock = std::chrono::system_clock;

}  // namespace

int main() {
  // snip: token
  constexpr std::uint64_t kGame = 1;                            // separates games that share a key
  const reckoner::SecretKey key = reckoner::SecretKey::make();  // only the servers and the backend know it
  auto listening = reckoner::NetworkTransport::listen(
      {.host = "127.0.0.1", .security = reckoner::ServerSecurity{.key = key, .game = kGame}});
  if (!listening) return std::fprintf(stderr, "%s\n", listening.error().c_str()), 1;

  // The backend puts the player's id, the expiry time and the server's address into the token.
  reckoner::ConnectGrant grant{.client_id = 7001};
  grant.expires_s = static_cast<std::uint64_t>(Clock::to_time_t(Clock::now())) + 60;
  grant.servers = {{.host = 0x7f000001, .port = (*listening)->port()}};
  const auto token = reckoner::issue_token(grant, key, kGame);
  if (!token) return std::fprintf(stderr, "%s\n", token.error().c_str()), 1;

  // The player's game, which received the token from the backend, for example over HTTPS.
  reckoner::NetworkDialer dialer({.security = reckoner::ClientSecurity{.token = *token, .game = kGame}});
  auto client = reckoner::Client::create({}, dialer);
  if (!client) return std::fprintf(stderr, "%s\n", client.error().c_str()), 1;
  // snip: end

  auto server = reckoner::Server::create({}, **listening);
  if (!server) return std::fprintf(stderr, "%s\n", server.error().c_str()), 1;
  (void)server->spawn(0, "car", {});
  std::uint64_t joined_as = 0;
  bool shown = false;
  const auto start = std::chrono::steady_clock::now();
  for (double now_s = 0.0; now_s < 20.0 && !(shown && joined_as == grant.client_id);) {
    now_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    server->run_due_ticks(now_s, [](double) {});
    while (const auto event = server->poll_event()) {
      const auto identity = (*listening)->identity(server->peer(event->client));
      if (identity) joined_as = identity->client_id;
    }
    client->update(now_s);
    shown = shown || !client->shown().empty();
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  std::printf("joined as %d, %s\n", static_cast<int>(joined_as), shown ? "shown" : "not shown");
  return shown && joined_as == grant.client_id ? 0 : 1;
}
