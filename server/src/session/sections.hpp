// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/link/peer_link.hpp"
#include "net/src/messages/datagram.hpp"
#include "net/src/wire/bit_stream.hpp"
#include "server/src/session/byte_budget.hpp"
#include "server/src/session/section_budget.hpp"
#include "server/src/session/tick_inputs.hpp"
#include "server/src/util/traffic_counter.hpp"

#include <cstddef>
#include <cstdint>
#include <tuple>

#include <reckoner/net/ids.hpp>
#include <reckoner/server/server.hpp>

namespace reckoner {

class ShownHistory;

/// A datagram that sections are written into.
struct SectionPlace {
  Sequence sequence = 0;  ///< number of the datagram
  const TickInputs& inputs;
  const PeerLink& link;
  ShownHistory* seen = nullptr;  ///< records what the client shows; may be null
  ServerStats& stats;
  TrafficShare& traffic;  ///< counts the contents of the datagram
};

/// What became of a datagram.
struct Settled {
  Sequence sequence = 0;
  Tick tick = 0;                 ///< of the datagram
  double sent_s = 0.0;           ///< when it was sent
  bool acked = false;            ///< false: it was lost
  ShownHistory* seen = nullptr;  ///< records what the client shows; may be null
};

/// When a section should be written.
enum class Urgency : std::uint8_t {
  none,   ///< nothing is due
  rides,  ///< in a datagram that is sent for another reason
  waits,  ///< in a datagram with motions, or in one that is worth its headers
  bulk,   ///< as `waits`, from what the motions leave and not from the budget of the sections
  now,    ///< in this tick; a datagram may overdraw the budget for it
};

/// The sections of a client's datagrams besides the motions, in the order in which they are offered the room
/// of a datagram. A section is one kind of content. It has these functions:
///
/// ```
/// static constexpr bool ServerHeader::*kFlag;  // says that a datagram has the section
/// Urgency urgency(Tick) const;                  // whether something is due
/// bool write(BitWriter&, std::size_t most_bits, const SectionPlace&);  // false: writes nothing
/// ```
///
/// and, if it needs them:
///
/// ```
/// void begin(const TickInputs&, ServerStats&);  // once per tick, before the others
/// void settle(const Settled&);                  // a datagram has arrived or is lost
/// bool is_crowded_out() const;                  // the motions left too little room in the last datagram
/// static constexpr bool kPaysItself;            // it does not use the budget of the sections
/// ```
///
/// The list is fixed, so calls cost as much as if they were written out.
template <class... Section>
class Sections {
 public:
  explicit Sections(Section&... sections) : sections_(sections...) {}

  void begin(const TickInputs& inputs, ServerStats& stats) {
    for_each([&](auto& section) {
      if constexpr (requires { section.begin(inputs, stats); }) section.begin(inputs, stats);
    });
  }

  /// True if a section can be written in this tick.
  [[nodiscard]] bool due(Tick tick) const {
    return any_of([&](const auto& section) {
      return section.urgency(tick) != Urgency::rides && can_write(section, tick);
    });
  }
  /// True if a section should be written in this tick, whatever the budget is.
  [[nodiscard]] bool urgent(Tick tick) const {
    return any_of([&](const auto& section) { return section.urgency(tick) == Urgency::now; });
  }
  /// True if the sections need a datagram without motions. What is urgent may overdraw the budget by one
  /// datagram.
  [[nodiscard]] bool need_datagram(Tick tick, const ByteBudget& budget) const {
    if (budget.affordable()) return due(tick);
    const bool can = any_of([&](const auto& section) {
      return section.urgency(tick) == Urgency::now && can_write(section, tick);
    });
    return can && budget.available() > -1.0 * kMaxDatagramBytes;
  }

  /// The part of `room_bits` for the sections. If motions wait, they keep half of the datagram, and at least
  /// `least_for_motions`. Bulk takes no more than the budget allows now, so that a slow connection gets small
  /// datagrams.
  [[nodiscard]] std::size_t room(std::size_t room_bits, bool motions_wait, std::size_t least_for_motions,
                                 Tick tick, const ByteBudget& budget) const {
    const bool crowded_out = any_of([](const auto& section) {
      if constexpr (requires { section.is_crowded_out(); }) return section.is_crowded_out();
      return false;
    });
    if (motions_wait && !crowded_out)
      room_bits -= std::min(room_bits, std::max(room_bits / 2, least_for_motions));
    const auto is_bulk = [tick](const auto& section) { return section.urgency(tick) == Urgency::bulk; };
    if (!any_of(is_bulk)) return room_bits;
    const double affordable = 8.0 * std::max(budget.quantum(), budget.available());
    return affordable < static_cast<double>(room_bits) ? static_cast<std::size_t>(affordable) : room_bits;
  }

  /// Writes what is due, in at most `most_bits`, and sets the flags of the header.
  void write(BitWriter& writer, std::size_t most_bits, const SectionPlace& place, ServerHeader& header) {
    const std::size_t limit = writer.bits_written() + most_bits;
    std::size_t paid_bits = 0;
    for_each([&](auto& section) {
      if (!can_write(section, place.inputs.tick)) return;
      const bool pays = section.urgency(place.inputs.tick) == Urgency::bulk || pays_itself(section);
      const std::size_t before = writer.bits_written();
      header.*section.kFlag = section.write(writer, limit - before, place);
      if (!pays) paid_bits += writer.bits_written() - before;
    });
    budget_.spend(paid_bits);
  }

  void settle(const Settled& datagram) {
    for_each([&](auto& section) {
      if constexpr (requires { section.settle(datagram); }) section.settle(datagram);
    });
  }

  [[nodiscard]] SectionBudget& budget() { return budget_; }

 private:
  template <class S>
  [[nodiscard]] static constexpr bool pays_itself(const S&) {
    if constexpr (requires { S::kPaysItself; }) return S::kPaysItself;
    return false;
  }
  template <class S>
  [[nodiscard]] bool can_write(const S& section, Tick tick) const {
    const Urgency urgency = section.urgency(tick);
    return urgency == Urgency::bulk || (urgency != Urgency::none && (pays_itself(section) || budget_.any()));
  }
  template <class F>
  void for_each(F&& f) {
    std::apply([&](auto&... section) { (f(section), ...); }, sections_);
  }
  template <class F>
  [[nodiscard]] bool any_of(F&& f) const {
    return std::apply([&](const auto&... section) { return (f(section) || ...); }, sections_);
  }

  std::tuple<Section&...> sections_;
  SectionBudget budget_;
};

}  // namespace reckoner
