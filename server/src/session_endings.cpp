// SPDX-License-Identifier: MIT
// How a session tells its client what is no more.
#include "session.hpp"

#include <algorithm>
#include <array>

namespace reckoner {
namespace {

// What a payload on the control channel costs besides itself, with its acknowledgement's share, bytes; and a
// message, if it is one among many.
constexpr std::size_t kPayloadHeaders = 40;
constexpr double kHeadersShare = 2.0;

constexpr std::size_t kFullPayload = 1000;
constexpr std::size_t kMostEnding = 64;  // no message is longer

}  // namespace

void Session::unfollow(EntityId id, Tick tick) {
  const Subscription* found = subscriptions_.find(id);
  if (found == nullptr) return;
  if (found->told) endings_.push_back({id, tick});
  extras_.fields().forget(id);
  if (seen_) seen_->forget(id);
  if (found->muted) --owns_;
  subscriptions_.remove(static_cast<std::uint32_t>(id.slot()));
}

// As much as the link takes up, many in a payload: hundreds at once, each with headers of its own, would fill
// a slow link's queue, and be sent again and again. True if nothing is left.
bool Session::tell_endings(double now_s, Transport& transport) {
  const double least = std::min(kMostEnding * static_cast<double>(endings_.size()), budget_.quantum());
  while (!endings_.empty() && budget_.available() >= least) {
    std::array<std::byte, kFullPayload + kMostEnding> payload;
    const double room = std::min(budget_.available(), static_cast<double>(kFullPayload));
    std::size_t size = 0;
    while (!endings_.empty() && (size == 0 || static_cast<double>(size + kPayloadHeaders) < room)) {
      const double under_way = announcements_.unconfirmed_count() * message_bytes_;
      if (announcements_.is_full() || under_way >= budget_.reliable_room()) break;
      const Ending& ending = endings_.front();
      const auto message =
          encode(DespawnMessage{ending.id, ending.tick}, std::span{payload}.subspan(size, kMostEnding));
      if (comeback_) comeback_->add(message);
      announcements_.sent_end(ending.id, ending.tick);
      endings_.pop_front();
      size += message.size();
      message_bytes_ = static_cast<double>(message.size()) + kHeadersShare;
    }
    if (size == 0) break;
    transport.send(peer_, Channel::control, std::span{payload}.first(size));
    budget_.spend(size + kPayloadHeaders, now_s);
  }
  return endings_.empty();
}

}  // namespace reckoner
