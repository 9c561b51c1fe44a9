// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/codec/motion_codec.hpp"
#include "net/src/codec/route_codec.hpp"
#include "net/src/messages/messages.hpp"

#include <cstddef>
#include <span>
#include <vector>

#include <reckoner/net/archetype.hpp>

namespace reckoner {

/// How to read what the server of one session sends of its entities: their archetypes, the quantisation of
/// their motions, and the routes that motions refer to.
class SessionFormats {
 public:
  /// Applies the settings in the welcome message. `archetypes` receive the server's thresholds and limits,
  /// and must outlive this object. Returns false, and changes nothing, if the message does not fit them.
  [[nodiscard]] bool begin(const WelcomeMessage& message, std::vector<Archetype>& archetypes);
  /// Adds a route. Returns false if it is invalid, or not the next one.
  [[nodiscard]] bool add_route(const RouteMessage& message);

  [[nodiscard]] const RouteTable& routes() const { return routes_; }
  /// Null if there is no such archetype.
  [[nodiscard]] const Quantisation* quantisation(std::size_t archetype) const {
    return archetype < quantisation_.size() ? &quantisation_[archetype] : nullptr;
  }
  /// The user fields of an existing archetype.
  [[nodiscard]] std::span<const FieldSpec> fields(std::size_t archetype) const {
    return archetypes_[archetype].fields;
  }

 private:
  std::span<const Archetype> archetypes_;
  std::vector<Quantisation> quantisation_;  // by archetype
  RouteTable routes_;
};

}  // namespace reckoner
