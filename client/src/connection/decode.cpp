// SPDX-License-Identifier: MIT
#include "client/src/connection/decode.hpp"

#include "client/src/connection/field_reader.hpp"
#include "client/src/connection/motion_reader.hpp"
#include "client/src/connection/spawn_reader.hpp"
#include "net/src/messages/datagram.hpp"
#include "net/src/messages/messages.hpp"
#include "net/src/messages/reliable_part.hpp"
#include "net/src/wire/bit_stream.hpp"

#include <algorithm>

namespace reckoner {
namespace {

std::optional<Refusal> read_prediction_section(BitReader& reader, const DecodeContext&,
                                               DecodedDatagram& out) {
  read_predictions(reader, out.tick, out.predictions);
  return reader.failed() ? std::optional{Refusal::malformed} : std::nullopt;
}

std::optional<Refusal> read_message_section(BitReader& reader, const DecodeContext&, DecodedDatagram& out) {
  read_messages(reader, out.messages);
  return reader.failed() ? std::optional{Refusal::malformed} : std::nullopt;
}

std::optional<Refusal> read_reliable_section(BitReader& reader, const DecodeContext& known,
                                             DecodedDatagram& out) {
  read_reliable_parts(reader, known.reliable.near(), out.reliable);
  if (reader.failed()) return Refusal::malformed;
  return known.reliable.accepts(out.reliable) ? std::nullopt : std::optional{Refusal::beyond_limits};
}

struct Section {
  bool ServerHeader::*flag;  // the header says that the section follows
  std::optional<Refusal> (*read)(BitReader&, const DecodeContext&, DecodedDatagram&);
};

// In the order on the wire.
constexpr Section kSections[] = {
    {&ServerHeader::has_spawns, read_spawn_section},
    {&ServerHeader::has_predictions, read_prediction_section},
    {&ServerHeader::has_fields, read_field_section},
    {&ServerHeader::has_messages, read_message_section},
    {&ServerHeader::has_reliable, read_reliable_section},
};

}  // namespace

std::optional<Refusal> decode(std::span<const std::byte> bytes, const DecodeContext& known,
                              DecodedDatagram& out) {
  BitReader reader{bytes};
  out.clear();
  out.header = read_server_header(reader);
  if (reader.failed()) return Refusal::malformed;
  out.tick = known.clock.unwrap(out.header.tick);
  // Refused before the contents are read, because their slots may contain other entities now.
  if (known.clock.is_too_old(out.tick)) return Refusal::too_old;
  if (known.clock.is_far_ahead(out.tick)) return Refusal::from_future;
  out.complete = out.tick - std::min(out.header.complete_age, out.tick);
  if (const auto why = read_motions(reader, known, out)) return why;
  for (const Section& section : kSections) {
    if (!(out.header.*section.flag)) continue;
    if (const auto why = section.read(reader, known, out)) return why;
  }
  return reader.finished() ? std::nullopt : std::optional{Refusal::malformed};
}

}  // namespace reckoner
