// SPDX-License-Identifier: MIT
#pragma once

#include "cluster/src/mail/conversation.hpp"
#include "cluster/src/wire/bus_messages.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include <reckoner/cluster/simulator.hpp>

namespace reckoner::cluster {

/// An entity that this simulator holds.
struct Held {
  enum class State : std::uint8_t { holding, asserting, offering, committing };
  State state = State::holding;
  std::uint32_t epoch = 0;
  std::uint64_t revision = 0;
  bool confirmed = false;  // the table of epochs names this process
  bool busy = false;       // a request about it is unanswered
  std::uint32_t cell = 0;
  std::uint32_t turn = 0;  // answers of an earlier turn are void
  bool describe = true;    // viewers do not know it in this cell yet
  Cause cause = Cause::spawned;
  bool fields_changed = false;
  ProcessId to;
  ProcessId committing_to;  // to whom this process tried to give it last
  double offered_s = -1e300;
  double offer_began_s = -1e300;
  std::vector<std::byte> data;
  MotionFit::Priors inherited;         // what its last holder had learned, until this one knows more
  std::optional<double> checkpoint_s;  // when the last checkpoint was written; empty: it is due
  Tick checkpoint_tick = 0;
  Tick checkpointed_motion = 0;
  bool checkpoint_due = true;
  struct Conversation {
    Inbox inbox;
    Outbox outbox;
    std::uint32_t polled = 0;  // number of the last message that the game has polled; it is acknowledged
    bool acknowledge = false;
  };
  std::map<ClusterClient, Conversation> mail;
};

/// A message that waits for the game.
struct Queued {
  EntityMessage message;
  std::uint32_t number = 0;
};

/// An entity that was given to another process, until that process confirms it.
struct Committed {
  Commit commit;
  ProcessId to;
  double sent_s = 0.0;
};

/// An accepted offer, until its commit arrives.
struct Expected {
  Offer offer;
  double accepted_s = 0.0;
  double asked_s = 0.0;  // when the table was asked last
  bool asked = false;    // and has not answered yet
  bool over = false;
};

}  // namespace reckoner::cluster
