// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/link/peer_link.hpp"
#include "net/src/messages/datagram.hpp"
#include "net/src/wire/bit_stream.hpp"

#include <cstddef>
#include <tuple>

namespace reckoner {

/// The sections of this client's datagrams, in the order on the wire, which is also the order in which they
/// are offered the room of a datagram. A section is one kind of content. It has these functions:
///
/// ```
/// static constexpr bool ClientDatagram::*kFlag;   // says that a datagram has the section
/// bool any_due() const;                           // something should be sent now, in a datagram of its own
/// bool write(BitWriter&, std::size_t most_bits, Sequence);  // false: writes nothing
/// ```
///
/// and, if it needs them:
///
/// ```
/// void begin(double local_s);                     // before the others, whenever something may be sent
/// void settle(const PeerLink::Outcome&);          // the datagram has arrived or was lost
/// ```
///
/// The list is fixed, so calls cost as much as if they were written out.
template <class... Section>
class ClientSections {
 public:
  /// The sections must outlive the list.
  explicit ClientSections(Section&... sections) : sections_(sections...) {}

  void begin(double local_s) {
    for_each([&](auto& section) {
      if constexpr (requires { section.begin(local_s); }) section.begin(local_s);
    });
  }
  [[nodiscard]] bool any_due() const {
    return std::apply([](const auto&... section) { return (section.any_due() || ...); }, sections_);
  }

  /// Writes what is due into the datagram, in at most `most_bits`, and sets its flags.
  void write(BitWriter& writer, std::size_t most_bits, ClientDatagram& datagram) {
    const std::size_t limit = writer.bits_written() + most_bits;
    for_each([&](auto& section) {
      datagram.*section.kFlag = section.write(writer, limit - writer.bits_written(), datagram.sequence);
    });
  }

  void settle(const PeerLink::Outcome& outcome) {
    for_each([&](auto& section) {
      if constexpr (requires { section.settle(outcome); }) section.settle(outcome);
    });
  }

 private:
  template <class F>
  void for_each(F&& f) {
    std::apply([&](auto&... section) { (f(section), ...); }, sections_);
  }

  std::tuple<Section&...> sections_;
};

}  // namespace reckoner
