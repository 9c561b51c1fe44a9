// SPDX-License-Identifier: MIT
#pragma once

#include "cluster/src/wire/bus_messages.hpp"
#include "cluster/src/wire/subjects.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include <reckoner/cluster/bus.hpp>

namespace reckoner::cluster {

/// The process that a message names as its sender.
inline ProcessId sender_of(const BusPayload& message) {
  struct Name {
    ProcessId operator()(const Batch& m) const { return m.writer; }
    ProcessId operator()(const Heartbeat& m) const { return m.process; }
    ProcessId operator()(const Ask& m) const { return m.from; }
    ProcessId operator()(const Offer& m) const { return m.from; }
    ProcessId operator()(const Accept& m) const { return m.from; }
    ProcessId operator()(const Commit& m) const { return m.from; }
    ProcessId operator()(const Done& m) const { return m.from; }
    ProcessId operator()(const CellOffer& m) const { return m.from; }
    ProcessId operator()(const CellAccept& m) const { return m.from; }
    ProcessId operator()(const CellCommit& m) const { return m.from; }
    ProcessId operator()(const Mail& m) const { return m.from; }
    ProcessId operator()(const MailReceived& m) const { return m.from; }
  };
  return std::visit(Name{}, message);
}

/// True if processes of a role send such messages.
inline bool may_send(Role role, const BusPayload& message) {
  const bool simulator = role == Role::simulator;
  if (const auto* m = std::get_if<Heartbeat>(&message))
    return m->simulator == simulator && m->gateway != simulator;
  if (std::holds_alternative<Ask>(message)) return true;
  if (const auto* m = std::get_if<Mail>(&message)) {
    const bool own = simulator || m->client.gateway == m->from;  // a gateway writes for its own clients
    return m->to_client == simulator && own;
  }
  if (const auto* m = std::get_if<MailReceived>(&message)) {
    const bool own = simulator || m->client.gateway == m->from;
    return m->to_client != simulator && own;
  }
  return simulator;
}

/// The subjects under which a process receives, and what may arrive there. A NATS server can restrict who
/// publishes to a subject, but not what.
class ReceivedSubjects {
 public:
  ReceivedSubjects(const std::string& world, ProcessId self)
      : cells_(world + ".c."),
        from_simulators_(inbox_subject(world, self, Role::simulator)),
        from_gateways_(inbox_subject(world, self, Role::gateway)),
        simulators_(members_subject(world, Role::simulator)),
        gateways_(members_subject(world, Role::gateway)) {}

  /// The role of the sender; nullopt if no correct process sends this message to this subject.
  [[nodiscard]] std::optional<Role> sender_role(std::string_view subject, const BusPayload& message) const {
    if (subject.starts_with(cells_)) {
      const auto* batch = std::get_if<Batch>(&message);
      const bool fits = batch != nullptr && subject.substr(cells_.size()) == std::to_string(batch->cell);
      return fits ? std::optional{Role::simulator} : std::nullopt;
    }
    const bool heartbeat = std::holds_alternative<Heartbeat>(message);
    for (const Role role : {Role::simulator, Role::gateway}) {
      const bool simulator = role == Role::simulator;
      const std::string& wanted =
          heartbeat ? (simulator ? simulators_ : gateways_) : (simulator ? from_simulators_ : from_gateways_);
      if (subject == wanted) return may_send(role, message) ? std::optional{role} : std::nullopt;
    }
    return std::nullopt;
  }

  /// Subscribes to everything but the cells.
  void subscribe(Bus& bus) const {
    for (const std::string* subject : {&from_simulators_, &from_gateways_, &simulators_, &gateways_})
      bus.subscribe(*subject);
  }

 private:
  std::string cells_;
  std::string from_simulators_, from_gateways_;
  std::string simulators_, gateways_;
};

}  // namespace reckoner::cluster
