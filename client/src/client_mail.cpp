// SPDX-License-Identifier: MIT
#include "client_mail.hpp"

#include <memory>
#include <vector>

#include <reckoner/net/messages.hpp>

namespace reckoner {
namespace {

// That the server has not confirmed, at most: enough for a minute away, and no more than a client can spare.
constexpr std::size_t kMostKeptBytes = 4 * 1024 * 1024;
constexpr std::size_t kMostKeptMessages = 8192;

}  // namespace

bool ClientMail::send(std::span<const std::byte> payload, Delivery delivery, std::optional<double> time_s,
                      double local_s, PeerId server, Transport* transport, ClientStats& stats) {
  if (payload.empty() || payload.size() > max_message_bytes(delivery) || (time_s && !can_stamp(*time_s)))
    return false;
  std::vector<std::byte> copy{payload.begin(), payload.end()};
  bool taken = false;
  if (delivery == Delivery::unreliable) {
    taken = outbox_.add(std::make_shared<const std::vector<std::byte>>(std::move(copy)), time_s, local_s);
  } else {
    std::vector<std::byte> buffer(payload.size() + 64);
    const auto encoded = encode(GameDataMessage{std::move(copy), time_s}, buffer);
    const bool room =
        !keeps_ || (kept_.bytes() + encoded.size() <= kMostKeptBytes && kept_.messages() < kMostKeptMessages);
    taken = room && (transport != nullptr ? transport->send(server, Channel::control, encoded) : keeps_);
    if (taken && keeps_) kept_.add(encoded);
    stats.messages_sent += taken ? 1 : 0;
  }
  stats.messages_dropped += taken ? 0 : 1;
  return taken;
}

void ClientMail::send_again(PeerId server, Transport& transport) const {
  kept_.for_each(
      [&](std::span<const std::byte> message) { transport.send(server, Channel::control, message); });
}

void ClientMail::restart(ClientStats& stats) {
  stats.messages_abandoned += kept_.messages();
  kept_ = ReliableLog{};
  keeps_ = false;
  outbox_ = {};
  inbox_.release(std::numeric_limits<double>::infinity());
}

}  // namespace reckoner
