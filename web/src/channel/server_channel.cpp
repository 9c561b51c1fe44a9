// SPDX-License-Identifier: MIT
#include "web/src/channel/server_channel.hpp"

#include "web/src/sctp/channel_open.hpp"

#include <utility>

namespace reckoner::web {

std::unique_ptr<ServerChannel> ServerChannel::create(SctpStack& stack, std::uint16_t port,
                                                     std::string label) {
  auto association = SctpAssociation::create(stack, SctpAssociation::Role::waits, port);
  if (!association) return nullptr;
  return std::unique_ptr<ServerChannel>(new ServerChannel(std::move(association), std::move(label)));
}

void ServerChannel::receive(std::span<const std::byte> packet) {
  if (const auto why = filter_.refuse(packet)) {
    ++refusals_[*why];
  } else {
    association_->receive(packet);
  }
}

std::optional<std::span<const std::byte>> ServerChannel::poll() {
  while (const auto message = association_->poll()) {
    if (message->protocol == kOpenProtocol) {
      handle_open(*message);
    } else if (const auto why = find_refusal(*message)) {
      ++refusals_[*why];
    } else {
      return message->payload;
    }
  }
  return std::nullopt;
}

void ServerChannel::handle_open(const SctpAssociation::Message& message) {
  const auto open = read_channel_open(message.payload);
  if (!open) {
    ++refusals_[Refusal::malformed];
  } else if (channel_) {
    ++refusals_[Refusal::repeated];
  } else if (open->label != label_ || !open->protocol.empty() ||
             open->type != ChannelOpen::kUnorderedRepeats || open->reliability != 0 ||
             message.stream >= kSctpStreams) {
    ++refusals_[Refusal::unexpected];
  } else if (association_->send(message.stream, kOpenProtocol, kChannelAck, SctpDelivery::reliable)) {
    channel_ = message.stream;
  }
}

std::optional<Refusal> ServerChannel::find_refusal(const SctpAssociation::Message& message) const {
  if (!channel_ || message.stream != *channel_) return Refusal::unexpected;
  // An empty message has a protocol of its own, and one byte.
  if (message.protocol == kEmptyBinaryProtocol || message.protocol == kEmptyTextProtocol)
    return Refusal::malformed;
  if (message.protocol != kBinaryProtocol) return Refusal::unexpected;
  if (message.payload.size() > kMaxChannelMessageBytes) return Refusal::too_large;
  return std::nullopt;
}

bool ServerChannel::send(std::span<const std::byte> message) {
  if (!is_open() || message.empty() || message.size() > kMaxChannelMessageBytes) return false;
  open_gate();
  if (newest_.empty() && !association_->has_waiting() &&
      association_->send(*channel_, kBinaryProtocol, message, SctpDelivery::newest))
    return true;
  if (!newest_.empty()) ++replaced_;
  newest_.assign(message.begin(), message.end());
  return true;
}

void ServerChannel::open_gate() {
  if (newest_.empty() || !is_open() || association_->has_waiting()) return;
  if (association_->send(*channel_, kBinaryProtocol, newest_, SctpDelivery::newest)) newest_.clear();
}

}  // namespace reckoner::web
