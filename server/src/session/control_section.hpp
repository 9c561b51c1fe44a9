// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/link/message_counts.hpp"
#include "net/src/messages/datagram.hpp"

#include <cstdint>
#include <optional>

namespace reckoner {

/// What the server says about the session itself: the answer to the request to join, and how many reliable
/// messages of the client it has processed. It is part of the head, and repeated in every datagram until the
/// client has acknowledged one of them.
class ControlSection {
 public:
  /// `counts` must outlive the section.
  explicit ControlSection(const MessageCounts& counts) : counts_(counts) {}

  /// The client has asked to join over a new connection.
  void answer(const JoinAnswer& answer) {
    answer_ = answer;
    answer_state_.change();
    if (answer.resumed) count_state_ = {};  // the answer has the count
  }
  /// MessageCounts::report() has returned another count.
  void report() { count_state_.change(); }

  /// True if something was not sent yet.
  [[nodiscard]] bool is_due() const { return answer_state_.is_new() || count_state_.is_new(); }

  /// What the datagram contains.
  [[nodiscard]] ServerControl write(Sequence sequence) {
    ServerControl control;
    if (answer_state_.write(sequence)) control.answer = answer_;
    if (count_state_.write(sequence))
      control.processed = static_cast<std::uint16_t>(counts_.reported_count());
    return control;
  }
  /// What the datagrams after the end of the session must contain.
  [[nodiscard]] ServerControl rest() const {
    return {answer_state_.waits() ? std::optional(answer_) : std::nullopt, std::nullopt};
  }
  void acknowledged(Sequence sequence) {
    answer_state_.acknowledged(sequence);
    count_state_.acknowledged(sequence);
  }

 private:
  // Something that each datagram contains until the client has it.
  class Repeated {
   public:
    void change() {
      waits_ = true;
      since_.reset();
    }
    [[nodiscard]] bool waits() const { return waits_; }
    [[nodiscard]] bool is_new() const { return waits_ && !since_; }
    [[nodiscard]] bool write(Sequence sequence) {
      if (is_new()) since_ = sequence;
      return waits_;
    }
    void acknowledged(Sequence sequence) {
      if (since_ && sequence_distance(sequence, *since_) >= 0) waits_ = false;
    }

   private:
    bool waits_ = false;
    std::optional<Sequence> since_;  // the first datagram that contains the present state
  };

  const MessageCounts& counts_;
  JoinAnswer answer_;
  Repeated answer_state_, count_state_;
};

}  // namespace reckoner
