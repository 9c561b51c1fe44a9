// SPDX-License-Identifier: MIT
#pragma once

#include "choices.hpp"
#include "net/src/codec/motion_codec.hpp"
#include "net/src/codec/owned_codec.hpp"
#include "net/src/messages/datagram.hpp"
#include "net/src/messages/messages.hpp"

#include <span>
#include <vector>

#include <reckoner/net/archetype.hpp>

// Things that the encoders take, made by choices.
namespace reckoner::fuzz {

/// Of every kind: with orientation and fields, without, coarse and fine.
[[nodiscard]] const std::vector<Archetype>& archetypes();
/// As quantisation_for() makes them of archetypes().
[[nodiscard]] const std::vector<Quantisation>& quantisations();

[[nodiscard]] FieldSpec any_field(Choices& choices, const std::string& name);
/// As quantise() makes them.
[[nodiscard]] FieldValue any_value(Choices& choices, const FieldSpec& field);
[[nodiscard]] std::vector<FieldValue> any_values(Choices& choices, std::span<const FieldSpec> fields);

[[nodiscard]] CodeParameters any_codes(Choices& choices);
[[nodiscard]] Archetype any_limits(Choices& choices);
[[nodiscard]] State any_state(Choices& choices, const Quantisation& quantisation);
/// Whatever has an encoding, sensible or not; `orientation_bits`: the archetype's.
[[nodiscard]] QuantisedState any_quantised(Choices& choices, unsigned orientation_bits);

[[nodiscard]] RouteDefinition any_route(Choices& choices);
[[nodiscard]] EntityId any_entity(Choices& choices);
[[nodiscard]] ControlMessage any_control(Choices& choices);

[[nodiscard]] std::optional<Ack> any_ack(Choices& choices, Sequence near);
[[nodiscard]] ServerHeader any_server_header(Choices& choices);
[[nodiscard]] ClientDatagram any_client_datagram(Choices& choices, Sequence newest);

/// A message as it travels.
[[nodiscard]] Bytes encoded(const ControlMessage& message);
/// What a writer has written.
[[nodiscard]] Bytes finished(BitWriter& writer);

}  // namespace reckoner::fuzz
