// SPDX-License-Identifier: MIT
// When a client dials and gives up, without a session. reconnect_test.cpp has whole clients.
#include "client/src/connection/reconnect.hpp"
#include "harness/sim/dead_transport.hpp"

#include <gtest/gtest.h>

namespace reckoner {
namespace {

class ScriptedDialer final : public Dialer {
 public:
  Result<Transport*> dial() override {
    ++dials;
    if (fails) return Error{"no network"};
    return &transport;
  }
  bool try_next_server() override { return has_next; }
  std::string failure_hint() const override { return "the token has expired"; }
  double random_fraction() override { return 0.0; }

  harness::DeadTransport transport;
  int dials = 0;
  bool fails = false;
  bool has_next = false;
};

class ConnectionAttempts : public testing::Test {
 protected:
  using Due = Reconnect::Due;

  // A connection that was lost at local time 10 s, after the client had a session.
  void lose_at_10_s() {
    ASSERT_FALSE(connection_.dial(0.0));
    connection_.note_connected(PeerId{1}, 0.5);
    connection_.note_session();
    EXPECT_TRUE(connection_.lose(10.0));
  }

  ReconnectConfig config_{.silence_s = 5.0,
                          .first_wait_s = 1.0,
                          .growth = 2.0,
                          .jitter = 0.0,
                          .attempt_s = 6.0,
                          .give_up_s = 60.0};
  ScriptedDialer dialer_;
  Reconnect connection_{config_, nullptr, &dialer_};
};

TEST_F(ConnectionAttempts, TheFirstIsDueAtOnce) {
  EXPECT_TRUE(connection_.plans_first_session());
  EXPECT_EQ(connection_.review(-1000.0, false), Due::dial);
  EXPECT_EQ(connection_.transport(), nullptr);
  EXPECT_FALSE(connection_.dial(0.0));
  EXPECT_EQ(connection_.transport(), &dialer_.transport);
  EXPECT_FALSE(connection_.is_connected());
  EXPECT_FALSE(connection_.plans_first_session());
  EXPECT_EQ(connection_.review(100.0, false),
            Due::nothing);  // before the first session, the transport decides
}

TEST_F(ConnectionAttempts, SilenceEndsAConnectionWithASession) {
  ASSERT_FALSE(connection_.dial(0.0));
  connection_.note_connected(PeerId{1}, 1.0);
  EXPECT_TRUE(connection_.is_connected());
  connection_.note_heard(2.0, false);
  EXPECT_EQ(connection_.review(6.9, true), Due::nothing);
  EXPECT_EQ(connection_.review(7.0, true), Due::silence);
  EXPECT_EQ(connection_.review(7.0, false), Due::nothing);
}

TEST_F(ConnectionAttempts, DatagramsFromBeforeASleepProveLittle) {
  ASSERT_FALSE(connection_.dial(0.0));
  connection_.note_connected(PeerId{1}, 1.0);
  connection_.note_heard(100.0, true);
  EXPECT_EQ(connection_.review(101.4, true), Due::nothing);
  EXPECT_EQ(connection_.review(101.6, true), Due::silence);
}

TEST_F(ConnectionAttempts, FollowALoss) {
  lose_at_10_s();
  EXPECT_EQ(connection_.lost_s(), 10.0);
  EXPECT_EQ(connection_.transport(), nullptr);
  EXPECT_FALSE(connection_.plans_first_session());
  EXPECT_EQ(connection_.review(10.9, false), Due::nothing);
  EXPECT_EQ(connection_.review(11.0, false), Due::dial);
  ASSERT_FALSE(connection_.dial(11.0));
  EXPECT_EQ(connection_.review(16.9, false), Due::nothing);
  EXPECT_EQ(connection_.review(17.0, false), Due::no_answer);
  EXPECT_FALSE(connection_.lose(17.0));  // it is lost already
  EXPECT_EQ(connection_.lost_s(), 10.0);
  EXPECT_EQ(connection_.review(18.9, false), Due::nothing);  // the wait has grown
  EXPECT_EQ(connection_.review(19.0, false), Due::dial);
}

TEST_F(ConnectionAttempts, WaitOnlyTheFirstWaitForTheNextServerOfARound) {
  lose_at_10_s();
  ASSERT_FALSE(connection_.dial(11.0));
  dialer_.has_next = true;
  EXPECT_FALSE(connection_.lose(17.0));
  EXPECT_EQ(connection_.review(18.0, false), Due::dial);
}

TEST_F(ConnectionAttempts, EndAfterTheLimit) {
  lose_at_10_s();
  EXPECT_EQ(connection_.review(69.9, false), Due::dial);
  EXPECT_EQ(connection_.review(70.0, false), Due::give_up);
}

TEST_F(ConnectionAttempts, EndWithASession) {
  lose_at_10_s();
  ASSERT_FALSE(connection_.dial(11.0));
  connection_.note_connected(PeerId{2}, 12.0);
  connection_.note_session();
  EXPECT_EQ(connection_.lost_s(), std::nullopt);
  EXPECT_EQ(connection_.review(13.0, true), Due::nothing);
}

TEST_F(ConnectionAttempts, GoToTheNextServerBeforeTheFirstSession) {
  ASSERT_FALSE(connection_.dial(0.0));
  EXPECT_FALSE(connection_.try_next_server(1.0));  // there is none
  dialer_.has_next = true;
  EXPECT_TRUE(connection_.try_next_server(1.0));
  EXPECT_TRUE(connection_.plans_first_session());
  EXPECT_EQ(connection_.review(2.0, false), Due::dial);
}

TEST_F(ConnectionAttempts, ReportWhyTheyCannotStart) {
  dialer_.fails = true;
  EXPECT_EQ(connection_.dial(0.0), "no network");
  EXPECT_EQ(connection_.transport(), nullptr);
  EXPECT_EQ(connection_.explain_no_answer(), "the server does not answer; the token has expired");
}

TEST(Reconnect, NeverDialsWithoutADialer) {
  const ReconnectConfig config;
  harness::DeadTransport transport;
  Reconnect connection{config, &transport, nullptr};
  EXPECT_FALSE(connection.can_dial());
  EXPECT_FALSE(connection.plans_first_session());
  connection.note_connected(PeerId{1}, 0.0);
  EXPECT_EQ(connection.review(1000.0, true), Reconnect::Due::nothing);
  EXPECT_EQ(connection.explain_no_answer(), "the server does not answer");
}

}  // namespace
}  // namespace reckoner
