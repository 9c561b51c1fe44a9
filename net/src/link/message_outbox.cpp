// SPDX-License-Identifier: MIT
#include "net/src/link/message_outbox.hpp"

#include "net/src/messages/message_codec.hpp"

#include <utility>

namespace reckoner {

bool MessageOutbox::add(Payload payload, std::optional<double> time_s, double now_s) {
  if (waiting_.size() >= kMostMessages || bytes_ + payload->size() > kMostBytes) return false;
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

std::size_t MessageOutbox::write(BitWriter& writer, std::size_t most_bits) {
  constexpr std::size_t kEndBits = 1;
  const std::size_t begin = writer.bits_written();
  const std::size_t count = std::erase_if(waiting_, [&](const Waiting& w) {
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
