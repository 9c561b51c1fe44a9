// SPDX-License-Identifier: MIT
#include "server/src/session/closing_link.hpp"

#include "net/src/wire/bit_stream.hpp"
#include "server/src/session/message_datagram.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace reckoner {
namespace {

// No faster than this, s.
constexpr double kLeastIntervalS = 1.0 / 60.0;
// At most this number of datagrams at once.
constexpr int kMostAtOnce = 8;
// While only acknowledgements are awaited, they are asked for this often, s.
constexpr double kAskS = 0.1;

}  // namespace

ClosingLink::ClosingLink(PeerId peer, std::uint32_t end_code, Rest rest, double now_s)
    : peer_(peer),
      end_code_(end_code),
      rest_(std::move(rest)),
      until_s_(now_s + kLongestS),
      next_s_(now_s),
      now_s_(now_s) {
  settle();
}

void ClosingLink::receive(const ClientDatagram& datagram, double now_s) {
  now_s_ = now_s;
  const double delay_s = datagram.ack_delay * kStampUnitS;
  (void)rest_.link.receive(datagram.sequence, datagram.ack, delay_s, now_s);
  settle();
}

void ClosingLink::settle() {
  for (const PeerLink::Outcome& outcome : rest_.link.outcomes())
    (void)window_.settle(rest_.messages, outcome, now_s_);
  rest_.link.clear_outcomes();
}

bool ClosingLink::service(double now_s, Transport& transport) {
  now_s_ = now_s;
  rest_.link.expire(now_s);
  settle();
  rest_.messages.review(rest_.link.round_trip().deviation_s());
  const std::size_t room = transport.max_datagram_bytes(peer_);
  if (rest_.messages.bytes() == 0 || now_s >= until_s_ || room == 0) {
    end(transport);
    return true;
  }
  bool sends = window_.allows(rest_.messages, now_s);
  if (now_s < next_s_ + (sends ? 0.0 : kAskS)) return false;
  for (int i = 0; (i == 0 || sends) && i < kMostAtOnce && !rest_.link.full(); ++i) {
    send(sends, room, now_s, transport);
    sends = window_.allows(rest_.messages, now_s);
  }
  next_s_ = now_s + kLeastIntervalS;
  return false;
}

void ClosingLink::send(bool with_messages, std::size_t room, double now_s, Transport& transport) {
  // The client learns nothing more about the world.
  MessageDatagram datagram{rest_.tick, rest_.tick};
  const Sequence sequence = datagram.begin(rest_.link, now_s);
  settle();
  const auto payload =
      datagram.finish(rest_.link, rest_.control, room, [&](BitWriter& writer, std::size_t most_bits) {
        return with_messages &&
               rest_.messages.write(writer, most_bits, sequence, now_s, rest_.link.loses()) > 0;
      });
  rest_.link.set_bytes(sequence, payload.size());
  transport.send(peer_, payload);
}

}  // namespace reckoner
