// SPDX-License-Identifier: MIT
#include "net/src/link/message_queues.hpp"

#include "net/src/messages/messages.hpp"

#include <utility>

namespace reckoner {

bool MessageInbox::add(ClientId sender, std::span<const std::byte> payload, std::optional<double> time_s,
                       bool is_postponed) {
  Usage& usage = usage_[sender];
  if (usage.messages >= limits_.messages || usage.bytes + payload.size() > limits_.bytes) {
    if (usage.messages == 0) usage_.erase(sender);
    return false;
  }
  ++usage.messages;
  usage.bytes += payload.size();
  Entry entry{sender, {payload.begin(), payload.end()}, time_s};
  if (is_postponed && time_s) {
    postponed_.emplace(*time_s, std::move(entry));
  } else {
    ready_.push_back(std::move(entry));
  }
  return true;
}

bool MessageInbox::has_room(ClientId sender, std::size_t messages, std::size_t bytes) const {
  const auto found = usage_.find(sender);
  const Usage usage = found != usage_.end() ? found->second : Usage{};
  return usage.messages + messages <= limits_.messages && usage.bytes + bytes <= limits_.bytes;
}

void MessageInbox::release(double time_s) {
  while (!postponed_.empty() && postponed_.begin()->first <= time_s) {
    ready_.push_back(std::move(postponed_.begin()->second));
    postponed_.erase(postponed_.begin());
  }
}

std::optional<GameMessage> MessageInbox::poll() {
  if (ready_.empty()) return std::nullopt;
  polled_ = std::move(ready_.front());
  ready_.pop_front();
  const auto usage = usage_.find(polled_.sender);
  --usage->second.messages;
  usage->second.bytes -= polled_.payload.size();
  if (usage->second.messages == 0) usage_.erase(usage);
  return GameMessage{polled_.sender, polled_.payload, polled_.time_s};
}

bool MessageOutbox::add(Payload payload, std::optional<double> time_s, double now_s) {
  if (waiting_.size() >= kMaxMessages || bytes_ + payload->size() > kMaxBytes) return false;
  bytes_ += payload->size();
  waiting_.push_back({std::move(payload), time_s, now_s});
  return true;
}

std::size_t MessageOutbox::expire(double before_s) {
  std::size_t count = 0;
  for (; !waiting_.empty() && waiting_.front().added_s < before_s; ++count) {
    bytes_ -= waiting_.front().payload->size();
    waiting_.pop_front();
  }
  return count;
}

std::size_t MessageOutbox::datagram_bytes(std::size_t path_bytes) const {
  constexpr std::size_t kHeads = kMaxDatagramBytes - kMaxUnreliableBytes;
  if (path_bytes == 0 || path_bytes >= kMaxDatagramBytes || bytes_ + kHeads <= path_bytes) return path_bytes;
  bool needs_more = false;
  for (const Waiting& each : waiting_)
    needs_more = needs_more || each.payload->size() + kHeads > path_bytes;
  return needs_more ? kMaxDatagramBytes : path_bytes;
}

std::size_t MessageOutbox::write(BitWriter& writer, std::size_t most_bits) {
  constexpr std::size_t kEndBits = 1;
  const std::size_t begin = writer.bits_written();
  const std::size_t count = waiting_.erase_if([&](const Waiting& w) {
    const std::size_t after =
        writer.bits_written() - begin + message_bits(w.payload->size(), w.time_s.has_value());
    if (after + kEndBits > most_bits) return false;
    write_message(writer, *w.payload, w.time_s);
    bytes_ -= w.payload->size();
    return true;
  });
  if (count > 0) writer.write(0, kEndBits);
  return count;
}

}  // namespace reckoner
