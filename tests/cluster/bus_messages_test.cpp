// SPDX-License-Identifier: MIT
#include "cluster/src/wire/bus_messages.hpp"

#include "cluster/src/wire/senders.hpp"

#include <cstring>
#include <random>

#include <gtest/gtest.h>

namespace reckoner::cluster {
namespace {

WorldCodec codec() {
  Archetype kind;
  kind.fields = {{"health", IntegerField{0, 100, 100}}, {"name", BlobField{}}};
  return WorldCodec{{kind, Archetype{.name = "other", .has_orientation = false}}};
}

EntityRecord record(const WorldCodec& c) {
  EntityRecord entity;
  entity.id = {70'000, 3};
  entity.epoch = 12;
  entity.name = "a body";
  entity.cell = 5;
  entity.tick = 123'456;
  entity.motion =
      quantise(State{.position = {1.0, -2.0, 3.0}, .velocity = {1.0f, 2.0f, 3.0f}}, 1, 3, c.quantisation[0]);
  entity.fields = {std::int64_t{7}, *Blob::of(std::string_view("x"))};
  return entity;
}

EntityBaggage baggage() {
  EntityBaggage b;
  b.holder = {9};
  b.revision = 77;
  b.state.position = {1.5, -2.5, 3.5};
  b.tick = 123'457;
  b.data = std::vector<std::byte>(4096, std::byte{0x5a});
  b.priors.linear.emplace();
  b.mail.push_back({{{4}, 2}, 10, 20, {{20, {std::byte{1}}}}});
  return b;
}

std::vector<BusPayload> samples(const WorldCodec& c) {
  Batch batch;
  batch.cell = 5;
  batch.writer = {9};
  batch.holds_cell = true;
  batch.cell_epoch = 3;
  batch.sequence = 8;
  batch.tick = 123'460;
  batch.entities = 2;
  batch.described.push_back({Cause::handed_over, record(c)});
  batch.motions.push_back({{1, 1}, 2, 0, 123'459, record(c).motion});
  batch.fields.push_back({{1, 1}, 2, 0, record(c).fields});
  batch.gone.push_back({{2, 1}, 2, 6});
  batch.gone.push_back({{3, 1}, 2, std::nullopt});
  Heartbeat heartbeat{
      .process = {9}, .name = "sim", .simulator = true, .entities = 2, .cells = {5}, .epochs = {3}};
  return {batch,
          heartbeat,
          Ask{{9}, 5},
          Offer{{9}, record(c), baggage()},
          Accept{{8}, {1, 1}, 2},
          Commit{{9}, record(c), baggage(), {.linear = RateFit::Memory{0.18f}}},
          Done{{8}, {1, 1}, 3},
          CellOffer{{9}, 5, 3},
          CellAccept{{8}, 5, 3},
          CellCommit{{9}, 5, 4, 100, 200},
          Mail{{4}, {{4}, 2}, {1, 1}, false, {{1, {std::byte{7}}}, {2, {std::byte{8}}}}},
          MailReceived{{9}, {{4}, 2}, {1, 1}, false, 2}};
}

TEST(BusMessagesTest, EveryMessageSurvivesTheWay) {
  const WorldCodec c = codec();
  for (const BusPayload& message : samples(c)) {
    const auto bytes = encode(message, c);
    ASSERT_FALSE(bytes.empty()) << message.index();
    const auto read = decode(bytes, c);
    ASSERT_TRUE(read) << message.index();
    EXPECT_EQ(read->index(), message.index());
    EXPECT_EQ(encode(*read, c), bytes) << message.index();
  }
  const auto read = std::get<Batch>(*decode(encode(samples(c)[0], c), c));
  EXPECT_EQ(read.described[0].entity.name, "a body");
  EXPECT_EQ(read.described[0].entity.motion, record(c).motion);
  EXPECT_EQ(read.described[0].entity.fields, record(c).fields);
  EXPECT_EQ(read.motions[0].tick, 123'459u);
  EXPECT_EQ(read.gone[0].to_cell, 6u);
}

TEST(BusMessagesTest, EveryTruncationAndForeignByteIsRefused) {
  const WorldCodec c = codec();
  for (const BusPayload& message : samples(c)) {
    auto bytes = encode(message, c);
    const std::size_t step = std::max<std::size_t>(1, bytes.size() / 200);
    for (std::size_t size = 0; size < bytes.size(); size += step)
      EXPECT_FALSE(decode(std::span(bytes).first(size), c)) << message.index() << " " << size;
    bytes.push_back(std::byte{0});
    EXPECT_FALSE(decode(bytes, c)) << message.index();
    bytes.pop_back();
    bytes[0] = std::byte{0x11};
    EXPECT_FALSE(decode(bytes, c)) << message.index();
  }
}

TEST(BusMessagesTest, DamagedMessagesAreReadOrRefusedButNeverHarm) {
  const WorldCodec c = codec();
  std::mt19937_64 random(7);
  int refused = 0;
  for (const BusPayload& message : samples(c)) {
    const auto good = encode(message, c);
    for (int i = 0; i < 300; ++i) {
      auto bytes = good;
      for (int flips = 0; flips < 3; ++flips)
        bytes[2 + random() % (bytes.size() - 2)] ^= static_cast<std::byte>(1u << (random() % 8));
      const auto read = decode(bytes, c);
      refused += read ? 0 : 1;
      EXPECT_TRUE(!read || read->index() == message.index());
    }
  }
  EXPECT_GT(refused, 0);
}

TEST(BusMessagesTest, ValuesSurviveTheWay) {
  const WorldCodec c = codec();
  EXPECT_EQ(decode_lease(encode_value(LeaseValue{{5}}))->holder, (ProcessId{5}));
  const auto epoch = decode_epoch(encode_value(EpochValue{3, {5}, 2}));
  EXPECT_EQ(epoch->epoch, 3u);
  EXPECT_EQ(epoch->generation, 2u);
  WorldValue world;
  world.cell_m = 10.0;
  EXPECT_EQ(decode_world(encode_value(world))->cell_m, 10.0);
  EXPECT_EQ(decode_ids(encode_value(IdsValue{4}))->blocks, 4u);
  const auto checkpoint = decode_checkpoint(encode_value({{{record(c), baggage()}}}, c), c);
  ASSERT_TRUE(checkpoint && checkpoint->content);
  EXPECT_EQ(checkpoint->content->baggage.data.size(), 4096u);
  EXPECT_EQ(checkpoint->content->baggage.mail[0].waiting[0].number, 20u);
  EXPECT_FALSE(decode_checkpoint(encode_value(CheckpointValue{}, c), c)->content);
  EXPECT_FALSE(decode_lease({}));
}

TEST(BusMessagesTest, ValuesOutOfRangeAreRefused) {
  const WorldCodec c = codec();
  // A name is a part of keys and subjects.
  for (const char* name :
       {"", "a.b", "a b", "*", ">", "a\r\nPUB x 1", "a name of more than 32 characters....."}) {
    const Heartbeat heartbeat{.process = {9}, .name = name, .simulator = true};
    EXPECT_FALSE(decode(encode(heartbeat, c), c)) << name;
  }
  const Mail empty{{4}, {{4}, 2}, {1, 1}, false, {{1, {}}}};
  EXPECT_FALSE(decode(encode(empty, c), c));
  EXPECT_TRUE(decode_ids(encode_value(IdsValue{kMaxEntities / kSlotsInBlock})));
  EXPECT_FALSE(decode_ids(encode_value(IdsValue{kMaxEntities / kSlotsInBlock + 1})));
  EXPECT_FALSE(decode_ids(encode_value(IdsValue{UINT32_MAX})));
  EXPECT_EQ(next_epoch(1), 2u);
  EXPECT_EQ(next_epoch(UINT32_MAX), 1u);
}

// Each message is accepted under one kind of subject only, and from the role that sends it.
TEST(BusMessagesTest, OnlyTheSubjectOfAMessageCarriesIt) {
  const WorldCodec c = codec();
  const ReceivedSubjects subjects("w", {9});
  const std::vector<std::string> all{"w.c.5", "w.p.9.simulator", "w.p.9.gateway", "w.m.simulator",
                                     "w.m.gateway"};
  const auto accepted = [&](const BusPayload& message) {
    std::vector<std::string> subjects_of;
    for (const std::string& subject : all) {
      const auto role = subjects.sender_role(subject, message);
      if (!role) continue;
      EXPECT_EQ(*role == Role::gateway, subject.ends_with("gateway")) << subject;
      subjects_of.push_back(subject);
    }
    for (const char* foreign : {"w.c.6", "w.p.8.simulator", "w.p.9", "w.m", "v.c.5", "w.c.5.x", "w.c.05", ""})
      EXPECT_FALSE(subjects.sender_role(foreign, message)) << foreign;
    return subjects_of;
  };
  using Subjects = std::vector<std::string>;
  const Subjects from_simulators{"w.p.9.simulator"}, from_gateways{"w.p.9.gateway"};
  const std::vector<BusPayload> messages = samples(c);
  EXPECT_EQ(accepted(messages[0]), (Subjects{"w.c.5", "w.p.9.simulator"}));  // a batch; an asked-for snapshot
  EXPECT_EQ(accepted(messages[1]), Subjects{"w.m.simulator"});
  EXPECT_EQ(accepted(messages[2]), (Subjects{"w.p.9.simulator", "w.p.9.gateway"}));
  for (std::size_t i = 3; i < 10; ++i)
    EXPECT_EQ(accepted(messages[i]), from_simulators) << i;
  EXPECT_EQ(accepted(Heartbeat{.process = {9}, .name = "g", .gateway = true}), Subjects{"w.m.gateway"});
  EXPECT_EQ(accepted(Heartbeat{.process = {9}, .name = "b", .simulator = true, .gateway = true}), Subjects{});
  EXPECT_EQ(accepted(Heartbeat{.process = {9}, .name = "n"}), Subjects{});
  EXPECT_EQ(accepted(Mail{{4}, {{4}, 2}, {1, 1}, false, {}}), from_gateways);
  EXPECT_EQ(accepted(Mail{{4}, {{5}, 2}, {1, 1}, false, {}}), Subjects{});  // the client of another gateway
  EXPECT_EQ(accepted(Mail{{4}, {{5}, 2}, {1, 1}, true, {}}), from_simulators);
  EXPECT_EQ(accepted(MailReceived{{4}, {{4}, 2}, {1, 1}, true, 2}), from_gateways);
  EXPECT_EQ(accepted(MailReceived{{4}, {{5}, 2}, {1, 1}, true, 2}), Subjects{});
  EXPECT_EQ(accepted(MailReceived{{4}, {{5}, 2}, {1, 1}, false, 2}), from_simulators);
}

}  // namespace
}  // namespace reckoner::cluster
