// SPDX-License-Identifier: MIT
#include "server/src/dispatcher.hpp"

#include "net/src/messages/messages.hpp"
#include "net/src/wire/bit_stream.hpp"
#include "server/src/util/refusal_counts.hpp"

#include <algorithm>
#include <utility>
#include <variant>

namespace reckoner {
namespace {

// Null for a message of another kind, and for one that only a server sends.
const UnorderedMessage* find_unordered(const ReliableMessage& message) {
  const auto* unordered = std::get_if<UnorderedMessage>(&message);
  return unordered != nullptr && !unordered->after_spawns ? unordered : nullptr;
}

}  // namespace

void Dispatcher::dispatch(const TransportEvent& event, double now_s) {
  switch (event.kind) {
    case TransportEvent::Kind::connected:
      lobby_.connected(event.peer, event.reason, now_s);
      break;
    case TransportEvent::Kind::disconnected:
      lobby_.disconnected(event.peer, event.reason);
      break;
    case TransportEvent::Kind::received:
      dispatch_datagram(event, now_s);
      break;
  }
}

void Dispatcher::dispatch_datagram(const TransportEvent& event, double now_s) {
  Session* session = sessions_.find(event.peer);
  BitReader reader{event.payload};
  const auto datagram = read_client_datagram(reader);
  if (!datagram) return count_malformed(stats_, Refusal::malformed);
  if (datagram->join) return lobby_.join(event.peer, *datagram->join);
  if (session == nullptr) {
    if (!lobby_.receive_closing(event.peer, *datagram, now_s)) count_malformed(stats_, Refusal::unexpected);
    return;
  }
  std::span<const Ownership::Update> owned;
  if (datagram->has_owned) {
    Refusal why{};
    const auto read = world_.ownership().read(reader, session->id(), time_.next_tick(), why);
    if (!read) {
      // The client may no longer own the entity, or the baseline may never have arrived. In both cases the
      // datagram counts as lost.
      const bool wrong = reader.failed() || !session->ever_owned();
      return wrong ? count_malformed(stats_, why) : count_refused(stats_, why);
    }
    owned = *read;
  }
  inputs_.clear();
  messages_.clear();
  parts_.clear();
  if (datagram->has_inputs && !read_inputs(*session, reader))
    return count_refused(stats_, Refusal::unknown_baseline);
  if (datagram->has_messages) read_messages(reader, messages_);
  if (datagram->has_reliable) read_reliable_parts(reader, session->received().near(), parts_);
  if (!reader.finished()) return count_malformed(stats_, Refusal::malformed);
  if (!parts_.empty() && !session->received().accepts(parts_))
    return count_malformed(stats_, Refusal::beyond_limits);
  const double waited_s = std::max(0.0, event.waited_s);
  const Session::Receipt receipt = session->receive(*datagram, now_s, stats_, waited_s);
  if (receipt == Session::Receipt::refused) return count_malformed(stats_, Refusal::never_sent);
  if (receipt == Session::Receipt::repeated) return count_refused(stats_, Refusal::repeated);
  if (!parts_.empty() && !dispatch_reliable(*session)) {
    count_malformed(stats_, Refusal::malformed);
    return lobby_.drop(*session, {EndReason::malformed, 0}, "its reliable messages are malformed");
  }
  world_.ownership().note_arrival(session->id(), now_s);
  if (datagram->has_inputs) accept_inputs(*session, now_s - waited_s);
  if (!owned.empty()) world_.ownership().judge(owned, session->id(), now_s);
  for (const MessageBatch::Item& item : messages_.items)
    mail_.accept_unreliable(*session, messages_.payload(item), item.time_s);
}

// Reads the inputs of a client. Returns false if they refer to an input that the server does not have.
bool Dispatcher::read_inputs(Session& session, BitReader& reader) {
  const InputQueue& known = session.predictions().get().inputs();
  return reckoner::read_inputs(
      reader, time_.next_tick(), [&](Tick tick) { return known.find(tick); }, inputs_);
}

void Dispatcher::accept_inputs(Session& session, double arrived_s) {
  const Tick next = time_.next_tick();
  const double wait_ticks = (time_.at(next) - arrived_s) / time_.tick_s();
  const auto why = session.predictions().get().accept(inputs_, next, wait_ticks, arrived_s);
  if (why) count_refused(stats_, *why);
}

// Passes on the reliable messages of a client that are complete. Returns false if nothing more can come out
// of its stream.
bool Dispatcher::dispatch_reliable(Session& session) {
  session.received().add(parts_);
  while (const auto bytes = session.received().next()) {
    if (session.received().was_early()) {
      mail_.note_turn(session, bytes->size());
      continue;
    }
    const auto message = decode_reliable(*bytes);
    const auto* unordered = message ? find_unordered(*message) : nullptr;
    const auto* data = message ? std::get_if<GameDataMessage>(&*message) : nullptr;
    if (unordered != nullptr) data = &unordered->data;
    if (data != nullptr) {
      mail_.accept_reliable(session, *data);
      continue;
    }
    const auto* playout = message ? std::get_if<PlayoutMessage>(&*message) : nullptr;
    if (playout == nullptr) {
      count_malformed(stats_, message ? Refusal::unexpected : Refusal::malformed);
    } else if (const auto why = playout_.declare(session, *playout)) {
      count_refused(stats_, *why);
    }
    mail_.count_processed(session, 0);
  }
  while (const auto bytes = session.received().next_early()) {
    const auto message = decode_reliable(*bytes);
    const auto* unordered = message ? find_unordered(*message) : nullptr;
    if (unordered != nullptr) {
      mail_.accept_early(session, unordered->data);
    } else {
      count_malformed(stats_, message ? Refusal::unexpected : Refusal::malformed);
    }
  }
  return !session.received().is_broken();
}

}  // namespace reckoner
