// SPDX-License-Identifier: MIT
// Ownership messages that no correct server sends.
#include "net/src/messages/messages.hpp"
#include "scenario/builtin/random.hpp"
#include "tests/support/forged_stream.hpp"
#include "tests/support/voyage.hpp"
#include "tests/support/world.hpp"

#include <optional>
#include <vector>

#include <gtest/gtest.h>

namespace reckoner::test {
namespace {

using Change = OwnershipMessage::Change;

struct HostileServer {
  World world{WorldConfig{}};
  EntityId known;
  std::optional<ForgedStream> stream;

  HostileServer() {
    world.add_client();
    stream.emplace(world, 0, ForgedStream::End::server);
    known = *world.server().spawn(0, "known", standing({1.0, 2.0, 3.0}));
    world.run_to(2.0);
  }
  OwnershipMessage message(Change change, EntityId entity) {
    const Quantisation q = quantisation_for(Archetype{});
    OwnershipMessage m;
    m.entity = entity;
    m.change = change;
    m.term = 3;
    m.motion_tick = world.server().next_tick() - 1;
    m.orientation_bits = static_cast<std::uint8_t>(q.orientation_bits);
    m.state = quantise(standing({1.0, 2.0, 3.0}), 0, kUnitPrecision, q);
    return m;
  }
  void send(const OwnershipMessage& m) { send(encoded_message(m)); }
  void send(const Bytes& bytes) { stream->send(bytes); }
  [[nodiscard]] std::uint64_t malformed() { return world.client(0).stats().malformed; }
  [[nodiscard]] bool owns() { return world.updated(0).owned(known).has_value(); }
};

TEST(HostileOwnership, InvalidMessagesAreMalformed) {
  HostileServer h;
  std::uint64_t refused = 0;
  for (const Change change : {Change::revoked, Change::corrected, Change::repeated}) {
    h.send(h.message(change, h.known));  // about an entity that it does not own
    EXPECT_EQ(h.malformed(), ++refused) << static_cast<int>(change);
  }
  for (const Change change : {Change::revoked, Change::given, Change::corrected, Change::repeated}) {
    h.send(h.message(change, {500, 1}));  // about an unknown entity
    EXPECT_EQ(h.malformed(), ++refused) << static_cast<int>(change);
  }
  OwnershipMessage odd = h.message(Change::given, h.known);
  odd.state.frame = {500, 1};
  h.send(odd);
  EXPECT_EQ(h.malformed(), ++refused);
  odd = h.message(Change::given, h.known);
  odd.state.along.route = {7};
  h.send(odd);
  EXPECT_GE(h.malformed(), ++refused);
  EXPECT_FALSE(h.owns());
  EXPECT_EQ(h.world.count(0, ClientEvent::Kind::given), 0u);
  h.send(h.message(Change::given, h.known));
  EXPECT_TRUE(h.owns());
  EXPECT_EQ(h.world.count(0, ClientEvent::Kind::given), 1u);
}

TEST(HostileOwnership, TruncatedOrDamagedMessagesAreHarmless) {
  HostileServer h;
  scenario::Random random(5);
  Bytes whole(kMaxReliableMessageBytes);
  whole.resize(encode(h.message(Change::given, h.known), whole).size());
  for (std::size_t size = 1; size < whole.size(); ++size) {
    const std::uint64_t before = h.malformed();
    h.send(Bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)));
    EXPECT_GT(h.malformed(), before) << size;
  }
  EXPECT_FALSE(h.owns());
  std::optional<HostileServer> other;
  for (int i = 0; i < 400; ++i) {
    // A damaged message can make the client wait for a spawn, or own the entity. So it does not read many.
    if (i % 10 == 0) other.emplace();
    Bytes damaged = whole;
    for (std::size_t n = 1 + random.below(3); n > 0; --n)
      damaged[random.below(damaged.size())] ^= std::byte{1} << random.below(8);
    other->send(damaged);
    ASSERT_FALSE(other->world.shown(0).empty());
    for (const ShownEntity& shown : other->world.shown(0))
      ASSERT_TRUE(is_sane(shown.shown)) << i;
  }
}

}  // namespace
}  // namespace reckoner::test
