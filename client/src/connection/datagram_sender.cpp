// SPDX-License-Identifier: MIT
#include "client/src/connection/datagram_sender.hpp"

#include "net/src/wire/bit_stream.hpp"

#include <algorithm>
#include <array>

namespace reckoner {
namespace {

// The longest time that the server waits for an acknowledgement beyond the round trip.
constexpr double kLongestAckIntervalS = 0.1;

// Until the clock has settled, the client sends more time stamps.
constexpr double kSettlingIntervalS = 0.025;
constexpr double kKeepAliveS = 0.25;

// At most this many datagrams are sent at once. What the sections still have waits for the next call.
constexpr int kDatagramsAtOnce = 8;

// The header with an ack of one word, the showing report and the end of a client's datagram are never longer.
constexpr std::size_t kClientHeaderBits = 256 + ShowingReport::kMaxArrivals * 36;

}  // namespace

DatagramSender::DatagramSender(const Shared& shared)
    : shared_(shared),
      messages_(shared.messages, shared.stats),
      reliable_(shared.messages.reliable(), shared.link),
      sections_(owned_, inputs_, messages_, reliable_) {}

void DatagramSender::settle() {
  for (const PeerLink::Outcome& outcome : shared_.link.outcomes())
    sections_.settle(outcome);
  shared_.link.clear_outcomes();
}

bool DatagramSender::is_due(double local_s, double ack_interval_s) const {
  const double interval_s = shared_.clock.settles(local_s) ? kSettlingIntervalS
                            : unacknowledged_ > 0          ? std::min(ack_interval_s, kLongestAckIntervalS)
                                                           : kKeepAliveS;
  return ack_requested_ || ack_overdue() || local_s - last_send_s_ >= interval_s || sections_.any_due();
}

void DatagramSender::send_due(double local_s, double ack_interval_s, const std::optional<Showing>& showing,
                              PeerId server, Transport& transport) {
  sections_.begin(local_s);
  shared_.link.expire(local_s);
  settle();
  if (!is_due(local_s, ack_interval_s)) return;
  const ClientDatagram head = make_head(local_s);
  for (int i = 0; i == 0 || (sections_.any_due() && i < kDatagramsAtOnce); ++i)
    send(head, local_s, showing, server, transport);
  transport.service(local_s);
  last_send_s_ = local_s;
  unacknowledged_ = 0;
  ack_requested_ = false;
}

// The part of the head that all datagrams of this moment have in common.
ClientDatagram DatagramSender::make_head(double local_s) {
  ClientDatagram head;
  head.processed = static_cast<std::uint16_t>(shared_.messages.counts().processed_count());
  head.stamp = SessionClock::stamp_at(local_s);
  head.ack = shared_.link.acknowledge();
  if (head.ack) {
    const double delay_s = std::clamp(local_s - newest_arrival_s_, 0.0, 10.0);
    head.ack_delay = static_cast<std::uint32_t>(delay_s / kStampUnitS);
  }
  return head;
}

void DatagramSender::send(ClientDatagram datagram, double local_s, const std::optional<Showing>& showing,
                          PeerId server, Transport& transport) {
  datagram.sequence = shared_.link.begin(local_s);
  settle();
  std::array<std::byte, kMaxDatagramBytes> section_buffer;
  BitWriter sections{section_buffer};
  const std::size_t path_room = transport.max_datagram_bytes(server);
  std::size_t room_bits = shared_.messages.unreliable().datagram_bytes(path_room) * 8;
  const std::size_t ack_bits = datagram.ack && datagram.ack->words > 1 ? datagram.ack->bits() : 0;
  room_bits -= std::min(room_bits, kClientHeaderBits + ack_bits);
  sections_.write(sections, room_bits, datagram);
  const std::size_t section_bits = sections.bits_written();
  if (showing && shared_.showing.wanted()) {
    // A message may be about what is shown now (a shot), so the server needs all arrivals.
    const bool all = datagram.has_messages || datagram.has_reliable || ack_requested_;
    datagram.showing = datagram.ack ? shared_.showing.report(*showing, datagram.sequence, all)
                                    : shared_.showing.report(*showing);
  }
  std::array<std::byte, kMaxDatagramBytes> buffer;
  BitWriter writer{buffer};
  write(writer, datagram);
  writer.append(sections.finish(), section_bits);
  transport.send(server, writer.finish());
}

}  // namespace reckoner
