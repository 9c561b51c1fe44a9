// SPDX-License-Identifier: MIT
#include "client/src/playout/arrival_log.hpp"

#include <gtest/gtest.h>

namespace reckoner {
namespace {

// The arrivals in a report that the client sends in its datagram `own`.
unsigned reported(ArrivalLog& log, int own) {
  ShowingReport report;
  log.fill(report, static_cast<Sequence>(65'500 + own), 1.0, true);
  return report.count;
}

TEST(ArrivalLog, RepeatsArrivalsUntilAReportIsAcknowledged) {
  ArrivalLog log;
  log.acknowledged({65'500});  // contained no report
  log.add(1, 0.5);
  EXPECT_EQ(reported(log, 0), 1u);
  log.add(2, 0.6);
  EXPECT_EQ(reported(log, 1), 2u);
  log.acknowledged({65'500});
  EXPECT_EQ(reported(log, 2), 1u);
  log.acknowledged({65'502, {0b1}});
  EXPECT_EQ(reported(log, 3), 0u);
}

// Acknowledgements may arrive after many more reports.
TEST(ArrivalLog, RemembersEveryReportOfALongFlight) {
  constexpr int kFlight = 1000;
  for (int acked = 0; acked < kFlight - 1; acked += 37) {
    ArrivalLog log;
    log.add(1, 0.5);
    for (int own = 0; own < kFlight; ++own) {
      if (own == acked + 1) log.add(2, 0.6);
      ASSERT_EQ(reported(log, own), own > acked ? 2u : 1u);
    }
    log.acknowledged({static_cast<Sequence>(65'500 + acked)});
    EXPECT_EQ(reported(log, kFlight), 1u) << acked;
  }
}

}  // namespace
}  // namespace reckoner
