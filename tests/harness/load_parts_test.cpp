// SPDX-License-Identifier: MIT
// The parts of a load run that are not processes.
#include "harness/stress/load/recording/datagram_record.hpp"
#include "harness/stress/load/recording/recording_transport.hpp"
#include "harness/stress/load/recording/resource_use.hpp"
#include "harness/stress/load/roles/load_world.hpp"
#include "harness/stress/load/roles/lossy_transport.hpp"

#include <deque>
#include <filesystem>
#include <fstream>
#include <vector>

#include <glm/geometric.hpp>
#include <gtest/gtest.h>

namespace reckoner::harness {
namespace {

TEST(TickLog, CountsTicksThatStartAWholeTickLate) {
  TickLog log(0.01);
  for (int i = 0; i < 96; ++i)
    log.add(0.001, 0.002);
  for (const double late_s : {-0.001, 0.009, 0.011, 0.05})
    log.add(late_s, 0.004);
  const auto json = log.json();
  EXPECT_EQ(json["ticks"], 100);
  EXPECT_EQ(json["late_ticks"], 2);
  EXPECT_NEAR(json["late_ms_p50"].get<double>(), 1.0, 1e-9);
  EXPECT_NEAR(json["late_ms_p99"].get<double>(), 11.0, 1e-9);
  EXPECT_NEAR(json["late_ms_max"].get<double>(), 50.0, 1e-9);
  EXPECT_NEAR(json["tick_ms_p50"].get<double>(), 2.0, 1e-9);
}

TEST(LoadWorld, ClientsSeeTheRequestedNumberOnAverage) {
  for (const std::size_t see : {5u, 50u, 200u}) {
    const LoadWorldOptions options{.clients = 80, .entities = 1000, .see = see};
    LoadWorld world(options);
    const double radius_m = world.view_radius_m();
    std::size_t pairs = 0;
    for (std::size_t client = 0; client < options.clients; ++client) {
      const glm::dvec3 eye = world.moving(world.followed_by(client), 30.0).position;
      for (std::size_t i = 0; i < world.moving(); ++i)
        pairs += glm::distance(world.moving(i, 30.0).position, eye) <= radius_m ? 1 : 0;
    }
    const double mean = static_cast<double>(pairs) / static_cast<double>(options.clients);
    EXPECT_NEAR(mean, static_cast<double>(see), 0.15 * static_cast<double>(see) + 1.0);
  }
  EXPECT_EQ(LoadWorld({.entities = 100, .see = 0}).view_radius_m(), 0.0);
  EXPECT_EQ(LoadWorld({.entities = 100, .see = 100}).view_radius_m(), 0.0);
}

TEST(LoadWorld, ClientsFollowDifferentEntitiesWhilePossible) {
  LoadWorld world({.clients = 40, .entities = 100});
  std::vector<int> followed(100);
  for (std::size_t client = 0; client < 40; ++client)
    EXPECT_EQ(++followed.at(world.followed_by(client)), 1);
  LoadWorld crowded({.clients = 1000, .entities = 3});
  for (std::size_t client = 0; client < 1000; ++client)
    EXPECT_LT(crowded.followed_by(client), 3u);
}

TEST(LoadWorld, NamesContainTheEntityNumber) {
  EXPECT_EQ(LoadWorld::number_of(LoadWorld::moving_name(123)), 123u);
  for (const char* name : {"", "r5", "5r", "-1", "99999999999999999999999"})
    EXPECT_GT(LoadWorld::number_of(name), 1'000'000u) << name;
}

class RecordTest : public testing::Test {
 protected:
  std::filesystem::path path_ = std::filesystem::path(testing::TempDir()) / "reckoner_record_test.txt";
  ~RecordTest() override { std::filesystem::remove(path_); }
};

TEST_F(RecordTest, RoundTripsThroughAFile) {
  DatagramRecord record;
  record.uplink_bytes = 17;
  record.sent = {{0, 100}, {3, 1200}, {0, 5}};
  record.ends = {2, 2, 3};  // the second tick sent nothing
  ASSERT_TRUE(save(record, path_));
  const auto back = load_record(path_);
  ASSERT_TRUE(back) << back.error();
  EXPECT_EQ(back->uplink_bytes, 17u);
  ASSERT_EQ(back->ticks(), 3u);
  ASSERT_EQ(back->tick(0).size(), 2u);
  EXPECT_EQ(back->tick(0)[1].client, 3);
  EXPECT_EQ(back->tick(0)[1].bytes, 1200);
  EXPECT_TRUE(back->tick(1).empty());
  ASSERT_EQ(back->tick(2).size(), 1u);
  EXPECT_EQ(back->tick(2)[0].bytes, 5);
}

TEST_F(RecordTest, InvalidFileIsRefused) {
  EXPECT_FALSE(load_record(path_));
  for (const char* text : {"", "x", "17\n", "17\n2 0 100 1\n", "17\n1 0 999999\n"}) {
    std::ofstream(path_) << text;
    EXPECT_FALSE(load_record(path_)) << text;
  }
}

// Returns the events that the test provides, and counts sent payloads.
class Scripted final : public Transport {
 public:
  std::deque<TransportEvent> coming;
  std::size_t sent = 0;

  void service(double) override {}
  std::optional<TransportEvent> poll() override {
    if (coming.empty()) return std::nullopt;
    const TransportEvent event = coming.front();
    coming.pop_front();
    return event;
  }
  bool send(PeerId, std::span<const std::byte>) override {
    ++sent;
    return true;
  }
  [[nodiscard]] std::size_t max_datagram_bytes(PeerId) const override { return 1000; }
  void disconnect(PeerId, std::uint32_t) override {}
  [[nodiscard]] const TransportStats& stats() const override { return stats_; }

 private:
  TransportStats stats_;
};

TEST(RecordingTransport, RecordsPayloadSizesAndReceiversWhileRecording) {
  Scripted inner;
  RecordingTransport transport(inner);
  for (const std::uint32_t peer : {7u, 3u})
    inner.coming.push_back({.kind = TransportEvent::Kind::connected, .peer = {peer}});
  while (transport.poll()) {
  }
  const std::vector<std::byte> payload(40);
  EXPECT_TRUE(transport.send({7}, payload));
  transport.record(2);
  EXPECT_TRUE(transport.send({3}, payload));
  EXPECT_TRUE(transport.send({7}, std::span(payload).first(9)));
  transport.end_tick();
  inner.coming.push_back({.peer = {3}, .payload = std::span(payload).first(12)});
  while (transport.poll()) {
  }
  transport.end_tick();
  EXPECT_TRUE(transport.send({3}, payload));
  transport.end_tick();

  EXPECT_EQ(inner.sent, 4u);
  const DatagramRecord& record = transport.record();
  ASSERT_EQ(record.ticks(), 2u);
  ASSERT_EQ(record.tick(0).size(), 2u);
  EXPECT_EQ(record.tick(0)[0].client, 1) << "the second to connect";
  EXPECT_EQ(record.tick(0)[0].bytes, 40);
  EXPECT_EQ(record.tick(0)[1].client, 0);
  EXPECT_EQ(record.tick(0)[1].bytes, 9);
  EXPECT_TRUE(record.tick(1).empty());
  EXPECT_EQ(record.uplink_bytes, 12u);
}

TEST(LossyTransport, DropsTheGivenShareOfDatagrams) {
  Scripted inner;
  constexpr std::size_t kPayloads = 4000;
  inner.coming.assign(kPayloads, {.kind = TransportEvent::Kind::received});
  inner.coming.push_back({.kind = TransportEvent::Kind::disconnected});
  LossyTransport transport(inner, 0.05, 1);
  std::size_t received = 0, disconnected = 0;
  while (const auto event = transport.poll())
    ++(event->kind == TransportEvent::Kind::received ? received : disconnected);
  EXPECT_NEAR(static_cast<double>(received), 0.95 * kPayloads, 0.01 * kPayloads);
  EXPECT_EQ(disconnected, 1u);
}

TEST(ResourceUse, CountsProcessorTimeOfThisProcess) {
  const ResourceUse before = resource_use(10.0);
  volatile double sum = 0.0;
  while (process_cpu_time().total_s() < before.cpu.total_s() + 0.05)
    sum = sum + 1.0;
  nlohmann::ordered_json json;
  add_use(json, before, resource_use(10.1));
  // The sum of user and system time is rounded differently from their differences.
  EXPECT_GE(json["cpu_s"].get<double>(), 0.05 - 1e-9);
  EXPECT_NEAR(json["cpu_user_s"].get<double>() + json["cpu_system_s"].get<double>(),
              json["cpu_s"].get<double>(), 1e-9);
  EXPECT_EQ(json.contains("machine_idle"), machine_idle_s().has_value());
}

TEST(ResourceUse, LeavesOutExcludedTimeAndComparesIdleTimeWithAllCores) {
  const double all_s = 10.0 * static_cast<double>(machine_cores());
  const ResourceUse before{.time_s = 100.0, .cpu = {3.0, 1.0}, .idle_s = 50.0};
  const ResourceUse now{.time_s = 110.0, .cpu = {8.0, 3.0}, .idle_s = 50.0 + 0.25 * all_s};
  nlohmann::ordered_json json;
  add_use(json, before, now, 1.5);
  EXPECT_NEAR(json["cpu_user_s"].get<double>(), 3.5, 1e-9);
  EXPECT_NEAR(json["cpu_system_s"].get<double>(), 2.0, 1e-9);
  EXPECT_NEAR(json["cpu_s"].get<double>(), 5.5, 1e-9);
  EXPECT_NEAR(json["machine_idle"].get<double>(), 0.25, 1e-9);
}

}  // namespace
}  // namespace reckoner::harness
