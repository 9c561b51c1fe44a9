// SPDX-License-Identifier: MIT
#pragma once

#include "choices.hpp"
#include "net/src/codec/motion_codec.hpp"
#include "net/src/messages/correction.hpp"
#include "net/src/messages/datagram.hpp"
#include "net/src/messages/input_batch.hpp"
#include "net/src/messages/messages.hpp"
#include "net/src/messages/reliable_part.hpp"
#include "net/src/messages/spawns.hpp"

#include <functional>
#include <span>
#include <vector>

#include <reckoner/net/archetype.hpp>

// Values for the encoders, generated from choices.
namespace reckoner::fuzz {

/// Archetypes of all kinds: with orientation and fields, without them, coarse and fine.
[[nodiscard]] const std::vector<Archetype>& archetypes();
/// The result of quantisation_for() for each of archetypes().
[[nodiscard]] const std::vector<Quantisation>& quantisations();

[[nodiscard]] FieldSpec any_field(Choices& choices, const std::string& name);
/// A quantised value of the field.
[[nodiscard]] FieldValue any_value(Choices& choices, const FieldSpec& field);
[[nodiscard]] std::vector<FieldValue> any_values(Choices& choices, std::span<const FieldSpec> fields);

[[nodiscard]] CodeParameters any_codes(Choices& choices);
[[nodiscard]] Archetype any_limits(Choices& choices);
[[nodiscard]] State any_state(Choices& choices, const Quantisation& quantisation);
/// Any encodable state, sensible or not; `orientation_bits`: the archetype's.
[[nodiscard]] QuantisedState any_quantised(Choices& choices, unsigned orientation_bits);

[[nodiscard]] RouteDefinition any_route(Choices& choices);
[[nodiscard]] EntityId any_entity(Choices& choices);
[[nodiscard]] ReliableMessage any_reliable(Choices& choices);
/// A spawn or a despawn that suits archetypes(), or a refused prediction. The number of the newest spawn is
/// about `newest`.
[[nodiscard]] SpawnEntry any_spawn_entry(Choices& choices, std::uint32_t newest);

/// One part to four of a stream of reliable messages, in order, near the offset `near`. Often messages begin
/// where a part begins.
[[nodiscard]] std::vector<ReliablePart> any_parts(Choices& choices, std::uint64_t near);
/// Writes the section of these parts; nothing if there are none. Returns false if a distance between parts
/// cannot be written.
bool write_parts(BitWriter& writer, std::span<const ReliablePart> parts);

/// Inputs for the ticks up to `newest`, with results. `find` returns the input of a tick that the server has,
/// else null; the section may refer to it.
[[nodiscard]] InputBatch any_inputs(Choices& choices, Tick newest,
                                    const std::function<const Input*(Tick)>& find);
/// A report about inputs up to a tick near `near`, a part of a correction, or both.
[[nodiscard]] PredictionReport any_predictions(Choices& choices, Tick near);

[[nodiscard]] std::optional<Ack> any_ack(Choices& choices, Sequence near);
/// An answer to a request to join, a count of processed messages, or both.
[[nodiscard]] ServerControl any_server_control(Choices& choices);
[[nodiscard]] ServerHeader any_server_header(Choices& choices);
[[nodiscard]] ClientDatagram any_client_datagram(Choices& choices, Sequence newest);
/// A datagram with a request to join or to resume a session, sometimes of another version.
[[nodiscard]] ClientDatagram any_join_datagram(Choices& choices);

/// The encoded message.
[[nodiscard]] Bytes encoded(const ReliableMessage& message);
/// The bytes that the writer has written.
[[nodiscard]] Bytes finished(BitWriter& writer);

}  // namespace reckoner::fuzz
