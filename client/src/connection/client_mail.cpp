// SPDX-License-Identifier: MIT
#include "client/src/connection/client_mail.hpp"

#include "net/src/link/message_window.hpp"
#include "net/src/messages/messages.hpp"

#include <memory>
#include <vector>

namespace reckoner {
namespace {

// That the server has not confirmed, at most: enough for a minute away, and no more than a client can spare.
constexpr std::size_t kMostKeptBytes = 4 * 1024 * 1024;
constexpr std::size_t kMostKeptMessages = 8192;

}  // namespace

bool ClientMail::send(std::span<const std::byte> payload, Delivery delivery, std::optional<double> time_s,
                      double local_s, PeerId server, Transport* transport, ClientStats& stats) {
  if (payload.empty() || payload.size() > max_message_bytes(delivery) || (time_s && !is_valid_stamp(*time_s)))
    return false;
  std::vector<std::byte> copy{payload.begin(), payload.end()};
  bool taken = false;
  if (delivery == Delivery::unreliable) {
    taken = outbox_.add(std::make_shared<const std::vector<std::byte>>(std::move(copy)), time_s, local_s);
  } else {
    std::vector<std::byte> buffer(payload.size() + 64);
    const auto encoded = encode(GameDataMessage{std::move(copy), time_s}, buffer);
    taken = (transport != nullptr || comes_back_) && kept_.bytes() + encoded.size() <= kMostKeptBytes &&
            kept_.messages() < kMostKeptMessages;
    if (taken) kept_.add(encoded);
    if (transport != nullptr) go_on(server, *transport);
    stats.messages_sent += taken ? 1 : 0;
  }
  stats.messages_dropped += taken ? 0 : 1;
  return taken;
}

void ClientMail::go_on(PeerId server, Transport& transport) {
  while (const auto message = kept_.next()) {
    const bool fits = kept_.gone() < MessageWindow::kMessages &&
                      kept_.gone_bytes() + message->size() <= MessageWindow::kBytes;
    if (!fits || !transport.send(server, Channel::control, *message)) return;
    kept_.let_go();
  }
}

void ClientMail::send_again(PeerId server, Transport& transport) {
  kept_.hold_all();
  go_on(server, transport);
}

void ClientMail::let_all_go(PeerId server, Transport& transport) {
  for (; const auto message = kept_.next(); kept_.let_go()) {
    if (!transport.send(server, Channel::control, *message)) return;
  }
}

void ClientMail::restart(ClientStats& stats) {
  stats.messages_abandoned += kept_.messages();
  kept_ = ReliableLog{};
  comes_back_ = false;
  outbox_ = {};
  inbox_.release(std::numeric_limits<double>::infinity());
}

}  // namespace reckoner
