// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/codec/motion_codec.hpp"
#include "net/src/codec/route_codec.hpp"
#include "server/src/world/entity_table.hpp"

#include <cstddef>
#include <cstdint>

#include <reckoner/net/archetype.hpp>
#include <reckoner/net/ids.hpp>

namespace reckoner {

/// An update that a client lacks.
struct DueUpdate {
  const Entity& entity;
  const Archetype& archetype;
  const Quantisation& quantisation;
  std::size_t level = 0;    ///< level of detail
  std::uint32_t known = 0;  ///< number of the publish that the client shows; 0: unknown
  double waited_s = 0.0;    ///< time since the client began to lack this or an earlier publish, s
  std::uint32_t bits = 0;   ///< size of the update, bits
};

/// The instant for which updates are put in order.
struct OrderInputs {
  const RouteTable& routes;
  Tick tick = 0;
  double tick_time_s = 0.0;  ///< server time of `tick`, s
  double tick_rate_hz = 0.0;
  double shown_s = 0.0;  ///< server time at which the client can show the update, s
};

/// The priority of an update if the byte budget does not allow all due updates. It grows with the visible
/// error that the update removes, and with the time that the client has waited, and falls with the size of
/// the update. A coarser level of detail counts less. The call decodes one motion and evaluates two motions
/// at two instants.
[[nodiscard]] float priority_of(const DueUpdate& update, const OrderInputs& inputs);

}  // namespace reckoner
