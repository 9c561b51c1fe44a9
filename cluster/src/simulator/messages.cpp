// SPDX-License-Identifier: MIT
#include "cluster/src/simulator/simulator_core.hpp"

#include <iterator>
#include <utility>

namespace reckoner {

using namespace cluster;

// Game messages. The messages of a client go to the inbox of the entity's holder. A holder acknowledges what
// the game has polled: all others are sent again, to the next holder if necessary.

void SimulatorCore::handle(const Mail& mail) {
  Held* h = find(mail.entity);
  if (h == nullptr || !may_write(*h) || !mail.client) return;
  if (!h->mail.contains(mail.client) && h->mail.size() >= kMaxCorrespondents) {
    ++stats.messages_refused;
    return;
  }
  Held::Conversation& c = h->mail[mail.client];
  if (c.inbox.received() == c.polled && !mail.letters.empty() &&
      static_cast<std::int32_t>(mail.letters.front().number - c.polled) > 1)
    c.polled = mail.letters.front().number - 1;  // lost with a holder that died
  c.inbox.receive(mail.letters, [&](std::uint32_t number, const std::vector<std::byte>& payload) {
    if (!waiting_mail.add(mail.client, payload.size())) {
      ++stats.messages_refused;  // for now: it is sent again
      return false;
    }
    messages.push_back({{mail.client, mail.entity, payload}, number});
    return true;
  });
  c.acknowledge = true;
}

void SimulatorCore::handle(const MailReceived& received) {
  Held* h = find(received.entity);
  if (h == nullptr) return;
  const auto found = h->mail.find(received.client);
  if (found == h->mail.end()) return;
  if (!found->second.outbox.acknowledge(received.number)) ++stats.malformed;
}

void SimulatorCore::send_mail() {
  if (doubtful) return;
  for (auto& [id, h] : held) {
    if (h.mail.empty() || !may_write(h)) continue;
    for (auto it = h.mail.begin(); it != h.mail.end();) {
      auto& [client, c] = *it;
      // The correspondence with a gateway that has died is over.
      if (members.find(client.gateway) == nullptr) {
        it = c.outbox.waiting() > 0 ? h.mail.erase(it) : std::next(it);
        continue;
      }
      if (std::exchange(c.acknowledge, false))
        send(client.gateway, MailReceived{member.process, client, id, false, c.polled});
      bool repeats = false;
      if (c.outbox.due(now_s, repeats)) {
        if (repeats) ++stats.messages_repeated;
        send(client.gateway, Mail{member.process, client, id, true, c.outbox.take(now_s)});
      }
      ++it;
    }
  }
}

CallResult Simulator::send(EntityId from, ClusterClient to, std::span<const std::byte> payload) {
  Held* h = impl_->find(from);
  if (h == nullptr) return impl_->why_not_held(from);
  if (!to) return CallError::unknown_client;
  if (payload.empty()) return CallError::message_empty;
  if (payload.size() > kMaxMailBytes) return CallError::message_too_long;
  if (!h->mail.contains(to) && h->mail.size() >= kMaxCorrespondents) return CallError::queue_full;
  Outbox& outbox = h->mail[to].outbox;
  if (outbox.waiting() >= kMaxMailWaiting) return CallError::queue_full;
  outbox.push(payload);
  ++impl_->stats.messages_sent;
  return {};
}

std::optional<EntityMessage> Simulator::poll_message() {
  Impl& s = *impl_;
  while (!s.messages.empty()) {
    Queued queued = std::move(s.messages.front());
    s.messages.pop_front();
    s.waiting_mail.remove(queued.message.sender, queued.message.payload.size());
    // Messages to an entity that was handed over before the game polled them go to its next holder.
    Held* h = s.find(queued.message.entity);
    const auto found = h != nullptr ? h->mail.find(queued.message.sender) : decltype(h->mail.end()){};
    if (h == nullptr || found == h->mail.end() || queued.number != found->second.polled + 1) continue;
    found->second.polled = queued.number;
    found->second.acknowledge = h->checkpoint_due = true;
    ++s.stats.messages_received;
    return std::move(queued.message);
  }
  return std::nullopt;
}

}  // namespace reckoner
