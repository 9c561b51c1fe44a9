// SPDX-License-Identifier: MIT
#include "server/src/session/control_section.hpp"

#include <cstdint>
#include <optional>

#include <gtest/gtest.h>

namespace reckoner {
namespace {

constexpr JoinAnswer kNewSession;

// The section with the messages of a client that it reports.
struct Control {
  MessageCounts counts{{}};
  ControlSection section{counts};

  // The server processes `count` more messages, and reports it.
  void report(int count) {
    for (int i = 0; i < count; ++i)
      counts.note_processed();
    (void)counts.report();
    section.report();
  }
  [[nodiscard]] bool answers(Sequence sequence) { return section.write(sequence).answer.has_value(); }
  [[nodiscard]] std::optional<std::uint16_t> processed(Sequence sequence) {
    return section.write(sequence).processed;
  }
};

TEST(ControlSection, HasNothingToSayAtFirst) {
  Control control;
  EXPECT_FALSE(control.section.is_due());
  EXPECT_FALSE(control.section.write(0).any());
  control.section.acknowledged(0);
  EXPECT_FALSE(control.section.is_due());
  EXPECT_FALSE(control.section.write(1).any());
}

TEST(ControlSection, RepeatsTheAnswerUntilItIsAcknowledged) {
  Control control;
  control.section.answer({ResumeAnswer{40, 33, 1029}});
  EXPECT_TRUE(control.section.is_due());
  for (Sequence sequence = 0; sequence < 100; ++sequence) {
    const ServerControl said = control.section.write(sequence);
    ASSERT_TRUE(said.answer && said.answer->resumed) << sequence;
    EXPECT_EQ(said.answer->resumed->received, 40u);
    EXPECT_EQ(said.answer->resumed->processed, 33u);
    EXPECT_EQ(said.answer->resumed->tick, 1029u);
    EXPECT_FALSE(said.processed);
    EXPECT_FALSE(control.section.is_due()) << "repeating it needs no datagram of its own";
  }
  control.section.acknowledged(57);
  EXPECT_FALSE(control.section.write(100).any());
  EXPECT_FALSE(control.section.is_due());
}

TEST(ControlSection, RepeatsTheCountUntilItIsAcknowledged) {
  Control control;
  control.report(32);
  EXPECT_TRUE(control.section.is_due());
  for (Sequence sequence = 10; sequence < 20; ++sequence) {
    EXPECT_EQ(control.processed(sequence), 32);
    EXPECT_FALSE(control.section.is_due());
  }
  control.section.acknowledged(10);  // the first one is enough
  EXPECT_FALSE(control.section.write(20).any());
}

// Datagrams from before the change do not contain it.
TEST(ControlSection, AnAcknowledgementOfAnEarlierDatagramDoesNotEndIt) {
  Control control;
  control.section.answer(kNewSession);
  control.report(32);
  control.section.acknowledged(499);  // nothing was written since the change
  EXPECT_TRUE(control.section.is_due());
  EXPECT_TRUE(control.answers(500));
  control.section.acknowledged(499);
  control.section.acknowledged(0);
  EXPECT_TRUE(control.answers(501));
  EXPECT_EQ(control.processed(502), 32);
  control.section.acknowledged(500);
  EXPECT_FALSE(control.section.write(503).any());
}

TEST(ControlSection, ANewChangeStartsAgain) {
  Control control;
  control.report(32);
  EXPECT_EQ(control.processed(5), 32);
  control.report(40);
  EXPECT_TRUE(control.section.is_due());
  control.section.acknowledged(5);  // with the count before
  EXPECT_TRUE(control.section.is_due());
  EXPECT_EQ(control.processed(6), 72);
  EXPECT_FALSE(control.section.is_due());
  control.section.acknowledged(5);
  EXPECT_EQ(control.processed(7), 72);
  control.section.acknowledged(7);
  EXPECT_FALSE(control.section.write(8).any());
  control.report(1);
  EXPECT_EQ(control.processed(9), 73);
}

// The client acknowledges each on its own, because they began at different times.
TEST(ControlSection, AnswerAndCountEndEachOnItsOwn) {
  Control control;
  control.section.answer(kNewSession);
  EXPECT_TRUE(control.answers(1));
  control.report(32);
  const ServerControl both = control.section.write(2);
  EXPECT_TRUE(both.answer && both.processed == 32);
  control.section.acknowledged(1);
  const ServerControl count = control.section.write(3);
  EXPECT_FALSE(count.answer);
  EXPECT_EQ(count.processed, 32);
  control.section.acknowledged(2);
  EXPECT_FALSE(control.section.write(4).any());
}

TEST(ControlSection, SequenceNumbersWrap) {
  Control control;
  control.section.answer(kNewSession);
  EXPECT_TRUE(control.answers(65534));
  EXPECT_TRUE(control.answers(65535));
  EXPECT_TRUE(control.answers(0));
  control.section.acknowledged(65533);
  EXPECT_TRUE(control.answers(1));
  control.section.acknowledged(0);
  EXPECT_FALSE(control.answers(2));

  control.report(32);
  EXPECT_EQ(control.processed(3), 32);
  control.section.acknowledged(65535);  // before, not after
  EXPECT_EQ(control.processed(4), 32);
  control.section.acknowledged(3);
  EXPECT_FALSE(control.section.write(5).any());
}

// The count has 16 bits on the wire.
TEST(ControlSection, CountsBeyondSixteenBits) {
  Control control;
  control.report(65'536 + 7);
  EXPECT_EQ(control.processed(1), 7);
}

// What is not reported yet is not said: the client would send more than the server has room for.
TEST(ControlSection, SaysOnlyWhatWasReported) {
  Control control;
  control.report(32);
  EXPECT_EQ(control.processed(1), 32);
  control.counts.note_processed();
  EXPECT_EQ(control.processed(2), 32);
  control.section.acknowledged(2);
  EXPECT_FALSE(control.section.is_due());
  EXPECT_FALSE(control.section.write(3).any());
}

}  // namespace
}  // namespace reckoner
