// SPDX-License-Identifier: MIT
#include "client/src/connection/server_link.hpp"

#include <algorithm>

namespace reckoner {
namespace {

// The server has noticed a lost datagram after this time, or after this many round trips if that is longer.
constexpr double kNoticedS = 0.5;
constexpr double kNoticedRoundTrips = 3.0;

}  // namespace

ServerLink::ServerLink(ClientMessages& messages, ClientStats& stats)
    : messages_(messages), stats_(stats), sender_({link_, clock_, showing_, messages, stats}) {}

void ServerLink::begin(const WelcomeMessage& message, double local_s) {
  clock_.begin(message, local_s);
  showing_.begin(message.rewinds);
  has_begun_ = true;
}

void ServerLink::resume(Tick tick, double local_s) {
  clock_.resume(tick, local_s);
  showing_.note_jump();
  sender_.restart();
  sender_.request_ack();
}

ServerLink::First ServerLink::receive_first(std::span<const std::byte> payload, double local_s) {
  BitReader reader{payload};
  const ServerHeader header = read_server_header(reader);
  if (!reader.failed() && !header.has_only_reliable()) return First::has_more;
  const auto why = reader.failed() ? std::optional{Refusal::malformed} : read_first(header, reader, local_s);
  if (why) count_refusal(*why);
  return why ? First::refused : First::accepted;
}

std::optional<Refusal> ServerLink::read_first(const ServerHeader& header, BitReader& reader, double local_s) {
  first_parts_.clear();
  read_reliable_parts(reader, reliable_.near(), first_parts_);
  if (!reader.finished()) return Refusal::malformed;
  if (!reliable_.accepts(first_parts_)) return Refusal::beyond_limits;
  if (const auto why = accept(header, local_s)) return why;
  reliable_.add(first_parts_);
  if (link_.newest_received() == header.sequence) {
    lost_.note_newest(header.sequence);
    sender_.note_newest(local_s);
  }
  sender_.note_received();
  sender_.request_ack();  // the server sends it again until it knows
  ++stats_.datagrams_received;
  return std::nullopt;
}

std::optional<Refusal> ServerLink::accept(const DecodedDatagram& datagram, std::size_t bytes, double local_s,
                                          double arrived_s) {
  if (const auto why = accept(datagram.header, local_s)) return why;
  ++stats_.datagrams_received;
  stats_.state_bytes_received += bytes;
  note_accepted(datagram, local_s, arrived_s);
  return std::nullopt;
}

// Without an acknowledgement, the server sends the contents of a refused datagram again.
std::optional<Refusal> ServerLink::accept(const ServerHeader& header, double local_s) {
  const MessageCounts& sent = messages_.counts();
  std::uint32_t processed = sent.confirmed_count();
  // An older datagram has an older count.
  if (header.control.processed) processed = unwrap16(*header.control.processed, processed);
  const bool is_newer = earlier(sent.confirmed_count(), processed);
  if (is_newer && !sent.can_confirm(processed)) return Refusal::never_sent;
  const auto receipt = link_.receive(header.sequence, header.ack, 0.0, local_s);
  if (receipt == PeerLink::Receipt::refused) return Refusal::malformed;
  if (receipt == PeerLink::Receipt::repeated) return Refusal::repeated;
  link_.want_ack(header.sequence);
  if (is_newer) (void)messages_.confirm(processed);
  if (header.ack) showing_.note_acknowledged(*header.ack);
  sender_.settle();
  return std::nullopt;
}

void ServerLink::count_refusal(Refusal why) {
  const bool stale = why == Refusal::too_old || why == Refusal::repeated;
  const bool unknown = why == Refusal::unknown_baseline || why == Refusal::unknown_frame;
  ++(stale ? stats_.datagrams_stale : unknown ? stats_.unknown_references : stats_.malformed);
  ++stats_.refusals[why];
}

void ServerLink::note_accepted(const DecodedDatagram& datagram, double local_s, double arrived_s) {
  const Sequence sequence = datagram.header.sequence;
  const Tick tick = datagram.tick;
  sender_.note_received();
  reliable_.add(datagram.reliable);
  if (link_.newest_received() == sequence) {
    lost_.note_newest(sequence);
    sender_.note_newest(arrived_s - clock_.waited_s(tick, arrived_s));
  }
  clock_.note_tick(tick);
  const double noticed_s = std::max(kNoticedS, kNoticedRoundTrips * stats_.round_trip_s);
  completeness_.note(sequence, tick, datagram.complete, noticed_s * clock_.tick_rate_hz());
  stats_.datagrams_lost = lost_.count(stats_.datagrams_received);
  if (!datagram.header.has_only_reliable())
    clock_.note_datagram(tick, datagram.header.echo, local_s, arrived_s);
  if (const auto round_trip_s = clock_.round_trip_s()) stats_.round_trip_s = *round_trip_s;
}

}  // namespace reckoner
