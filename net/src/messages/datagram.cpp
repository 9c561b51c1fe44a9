// SPDX-License-Identifier: MIT
#include "net/src/messages/datagram.hpp"

#include "net/src/messages/join_serialize.hpp"
#include "net/src/wire/bit_archive.hpp"

#include <algorithm>
#include <cassert>

namespace reckoner {
namespace {

constexpr unsigned kMoreWordsOrder = 0;  // most acknowledgements have one word
constexpr std::uint32_t kAllApplied = 0xffffffff;
constexpr unsigned kAgeOrder = 0;        // most updates are sent in the tick of their motion
constexpr unsigned kCountOrder = 1;      // a few updates in a datagram
constexpr unsigned kRoundTripOrder = 3;  // ticks until an acknowledgement arrives
constexpr unsigned kAckDelayOrder = 8;   // tens of milliseconds
constexpr unsigned kDelayOrder = 8;
constexpr unsigned kArrivalsOrder = 2;    // a few in a report
constexpr unsigned kArrivalGapOrder = 8;  // one tick between two arrivals

}  // namespace

template <class Archive>
void serialize(Archive& archive, Ack& ack) {
  auto more = static_cast<std::uint32_t>(ack.words - 1);
  archive(ack.newest, wire::golomb(more, kMoreWordsOrder));
  if constexpr (Archive::is_loading::value) {
    if (more >= Ack::kMaxWords) return archive.bits().fail();
    ack.words = more + 1;
  }
  for (std::size_t w = 0; w < ack.words; ++w) {
    std::uint32_t& word = ack.window[w];
    bool all = word == kAllApplied;
    archive(all);
    if (!all) archive(word);
    if constexpr (Archive::is_loading::value) {
      if (all)
        word = kAllApplied;
      else if (word == kAllApplied)
        return archive.bits().fail();
    }
  }
}

template <class Archive>
void serialize(Archive& archive, Echo& echo) {
  archive(wire::ranged(echo.stamp, 0, (1 << kStampBits) - 1),
          wire::ranged(echo.waited, -Echo::kMaxWaited, Echo::kMaxWaited));
}

// The flags of sections that are often all absent: one bit, and the flags if one of them is set.
template <class Archive, class... Flag>
void serialize_flags(Archive& archive, Flag&... flags) {
  bool any = (flags || ...);
  archive(any);
  if (!any) return;
  archive(flags...);
  if constexpr (Archive::is_loading::value) {
    if (!(flags || ...)) archive.bits().fail();
  }
}

template <class Archive>
void serialize(Archive& archive, UpdateCoding& c) {
  archive(wire::ranged(c.gap_order, 0, UpdateCoding::kMaxGapOrder),
          wire::ranged(c.reference_order, 0, UpdateCoding::kMaxReferenceOrder),
          wire::golomb(c.reference_age, kRoundTripOrder));
}

template <class Archive>
void serialize(Archive& archive, ServerControl& c) {
  serialize_optional(archive, c.answer);
  serialize_optional(archive, c.processed);
  if constexpr (Archive::is_loading::value) {
    if (!c.any()) archive.bits().fail();
  }
}

template <class Archive>
void serialize(Archive& archive, ServerHeader& h) {
  archive(h.sequence, h.tick, wire::golomb(h.complete_age, kAgeOrder));
  serialize_optional(archive, h.ack);
  serialize_optional(archive, h.echo);
  archive(wire::golomb(h.update_count, kCountOrder));
  if (h.update_count > 0) archive(h.coding);
  bool has_control = h.control.any();
  serialize_flags(archive, h.has_spawns, h.has_predictions, h.has_fields, h.has_messages, h.has_reliable,
                  has_control);
  if (has_control) archive(h.control);
}

// Each arrival is coded as the difference to the one before: in time, and in sequence to the expected number.
template <class Archive>
void serialize_arrivals(Archive& archive, ShowingReport& r, const Ack& ack) {
  std::uint32_t count = r.count;
  archive(wire::golomb(count, kArrivalsOrder));
  if constexpr (Archive::is_loading::value) {
    if (count > ShowingReport::kMaxArrivals) return archive.bits().fail();
  }
  r.count = static_cast<std::uint8_t>(count);
  auto expected = ack.newest;
  std::uint32_t ago = 0;
  for (std::size_t i = 0; i < count; ++i) {
    ShowingReport::Arrival& a = r.arrivals[i];
    const int off = sequence_distance(expected, a.sequence);
    auto folded = static_cast<std::uint32_t>(off >= 0 ? 2 * off : -2 * off - 1);
    std::uint32_t gap = a.ago - ago;
    archive(wire::golomb(folded, 0), wire::golomb(gap, kArrivalGapOrder));
    if constexpr (Archive::is_loading::value) {
      const auto half = static_cast<std::uint16_t>(folded / 2u);
      a.sequence = static_cast<Sequence>(folded % 2u == 0 ? expected - half : expected + half + 1u);
      a.ago = ago + gap;
      if (folded > 0xffffu || a.ago < ago) return archive.bits().fail();
    }
    expected = static_cast<Sequence>(a.sequence - 1u);
    ago = a.ago;
  }
}

template <class Archive>
void serialize_showing(Archive& archive, ShowingReport& r, const std::optional<Ack>& ack) {
  archive(r.clock, wire::golomb(r.delay, kDelayOrder), wire::ranged(r.era, 0, ShowingReport::kEras - 1));
  if constexpr (Archive::is_loading::value) {
    if (r.delay > ShowingReport::kMaxDelay) return archive.bits().fail();
  }
  if (ack) serialize_arrivals(archive, r, *ack);
}

// Other versions read the version in a request to join. So the request is at the same bit in all versions
// since 12, and the flags of newer sections come after that of the request.
template <class Archive>
void serialize_sections(Archive& archive, ClientDatagram& d, bool& joins) {
  bool any = d.has_inputs || d.has_messages || d.has_reliable || joins;
  archive(any);
  if (!any) return;
  archive(d.has_messages, d.has_reliable, joins);
  if (!joins) archive(d.has_inputs);
  if constexpr (Archive::is_loading::value) {
    if (!(d.has_inputs || d.has_messages || d.has_reliable || joins)) archive.bits().fail();
  }
}

template <class Archive>
void serialize(Archive& archive, ClientDatagram& d) {
  archive(d.sequence, d.processed, wire::ranged(d.stamp, 0, (1 << kStampBits) - 1));
  serialize_optional(archive, d.ack);
  if (d.ack) archive(wire::golomb(d.ack_delay, kAckDelayOrder));
  bool shows = d.showing.has_value();
  archive(shows);
  if (shows) {
    if (!d.showing) d.showing.emplace();
    serialize_showing(archive, *d.showing, d.ack);
  }
  archive(d.has_owned);
  bool joins = d.join.has_value();
  serialize_sections(archive, d, joins);
  if (!joins) return;
  if (!d.join) d.join.emplace();
  archive(*d.join);
  if constexpr (Archive::is_loading::value) {
    if (d.has_owned || d.has_messages || d.has_reliable) archive.bits().fail();
  }
}

std::size_t Ack::bits() const {
  std::size_t sum = 16 + wire::golomb_code(static_cast<std::uint32_t>(words - 1), kMoreWordsOrder).bits;
  for (std::size_t w = 0; w < words; ++w)
    sum += window[w] == kAllApplied ? 1 : 1 + kWordBits;
  return sum;
}

void write(BitWriter& writer, const ServerHeader& header) {
  wire::BitOutputArchive archive{writer};
  archive(header);
}

ServerHeader read_server_header(BitReader& reader) {
  wire::BitInputArchive archive{reader};
  ServerHeader header;
  archive(header);
  return header;
}

void write(BitWriter& writer, const UpdateHeader& update, const UpdateCoding& coding,
           std::int64_t previous_slot) {
  assert(std::int64_t{update.slot} > previous_slot);
  assert(!update.reference_age || *update.reference_age >= coding.reference_age);
  const auto gap = static_cast<std::uint32_t>(std::int64_t{update.slot} - previous_slot - 1);
  wire::CodeJoiner head{writer};  // hot path: four short codes, usually in one write
  head.append(wire::golomb_code(gap, coding.gap_order));
  head.append(wire::golomb_code(update.age, kAgeOrder));
  head.append({(1u << update.level) - 1u, std::min<unsigned>(update.level + 1u, UpdateHeader::kLevels - 1u)});
  head.append({update.reference_age ? 1u : 0u, 1});
  if (update.reference_age)
    head.append(wire::golomb_code(*update.reference_age - coding.reference_age, coding.reference_order));
  head.finish();
}

UpdateHeader read_update(BitReader& reader, const UpdateCoding& coding, std::int64_t previous_slot) {
  UpdateHeader update;
  std::uint32_t gap = 0;
  wire::BitInputArchive archive{reader};
  archive(wire::golomb(gap, coding.gap_order), wire::golomb(update.age, kAgeOrder));
  const std::int64_t slot = previous_slot + 1 + gap;
  if (slot >= kMaxEntities) reader.fail();
  update.level = static_cast<std::uint8_t>(reader.read_ones(UpdateHeader::kLevels - 1));
  bool refers = false;
  archive(refers);
  if (refers) {
    std::uint32_t back = 0;
    archive(wire::golomb(back, coding.reference_order));
    update.reference_age = coding.reference_age + back;
    if (*update.reference_age < back) reader.fail();  // beyond 32 bits
  }
  if (reader.failed()) return {};
  update.slot = static_cast<std::uint32_t>(slot);
  return update;
}

void write(BitWriter& writer, const ClientDatagram& datagram) {
  wire::BitOutputArchive archive{writer};
  archive(datagram);
}

std::vector<std::byte> request_datagram(const JoinRequest& request) {
  constexpr std::size_t kMostBytes = 128;
  ClientDatagram datagram;
  datagram.join = request;
  std::vector<std::byte> buffer(kMostBytes);
  BitWriter writer{buffer};
  write(writer, datagram);
  buffer.resize(writer.finish().size());
  return buffer;
}

std::optional<ClientDatagram> read_client_datagram(BitReader& reader) {
  wire::BitInputArchive archive{reader};
  ClientDatagram datagram;
  archive(datagram);
  const bool goes_on =
      datagram.has_owned || datagram.has_inputs || datagram.has_messages || datagram.has_reliable;
  if (goes_on ? reader.failed() : !reader.finished()) return std::nullopt;
  return datagram;
}

}  // namespace reckoner
