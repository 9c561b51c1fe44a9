// SPDX-License-Identifier: MIT
#pragma once

#include "client/src/connection/decoded_datagram.hpp"
#include "net/src/messages/datagram.hpp"
#include "net/src/wire/bit_stream.hpp"

#include <optional>
#include <tuple>
#include <utility>

#include <reckoner/net/refusal.hpp>

namespace reckoner {

/// The readers of the sections of the server's datagrams besides the motions, in the order on the wire. Each
/// reads one kind of content. It has these functions:
///
/// ```
/// static constexpr bool ServerHeader::*kFlag;   // says that a datagram has the section
/// void clear(DecodedDatagram&);                 // the datagram has no such content
/// std::optional<Refusal> read(BitReader&, DecodedDatagram&);  // appends it; returns why it refuses
/// ```
///
/// The list is fixed, so calls cost as much as if they were written out.
template <class... Reader>
class SectionReaders {
 public:
  explicit SectionReaders(Reader... readers) : readers_(std::move(readers)...) {}

  /// Reads the sections that the header of `datagram` announces. Returns the reason if one of them refuses
  /// the datagram, else nullopt.
  [[nodiscard]] std::optional<Refusal> read(BitReader& bits, DecodedDatagram& datagram) {
    std::optional<Refusal> why;
    const auto read_one = [&](auto& reader) {
      reader.clear(datagram);
      if (!why && datagram.header.*reader.kFlag) why = reader.read(bits, datagram);
    };
    std::apply([&](auto&... reader) { (read_one(reader), ...); }, readers_);
    return why;
  }

 private:
  std::tuple<Reader...> readers_;
};

}  // namespace reckoner
