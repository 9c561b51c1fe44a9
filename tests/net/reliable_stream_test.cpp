// SPDX-License-Identifier: MIT
// ReliableSender and ReliableReceiver, and the section between them.
#include "net/src/link/byte_ranges.hpp"
#include "net/src/link/message_length.hpp"
#include "net/src/link/peer_link.hpp"
#include "net/src/link/reliable_receiver.hpp"
#include "net/src/link/reliable_sender.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <random>
#include <set>
#include <span>
#include <vector>

#include <gtest/gtest.h>

namespace reckoner {
namespace {

using Bytes = std::vector<std::byte>;

Bytes message_of(std::uint32_t number, std::size_t size) {
  Bytes bytes(size);
  for (std::size_t i = 0; i < size; ++i)
    bytes[i] = static_cast<std::byte>(number * 31 + i * 7);
  return bytes;
}

TEST(ByteRanges, IsASetOfNumbers) {
  std::mt19937 random{7};
  for (int run = 0; run < 200; ++run) {
    ByteRanges ranges;
    std::set<std::uint64_t> numbers;
    for (int step = 0; step < 60; ++step) {
      const std::uint64_t begin = random() % 50;
      const ByteRange range{begin, begin + random() % 12};
      const bool adds = random() % 3 != 0;
      adds ? ranges.add(range) : ranges.remove(range);
      for (std::uint64_t n = range.begin; n < range.end; ++n)
        adds ? (void)numbers.insert(n) : (void)numbers.erase(n);
      std::set<std::uint64_t> has;
      std::uint64_t before = 0;
      for (const ByteRange& one : ranges.ranges()) {
        ASSERT_LT(one.begin, one.end);
        ASSERT_TRUE(has.empty() || before < one.begin) << "apart and in order";
        for (std::uint64_t n = one.begin; n < one.end; ++n)
          has.insert(n);
        before = one.end;
      }
      ASSERT_EQ(has, numbers);
      ASSERT_EQ(ranges.size(), numbers.size());
      std::uint64_t missing = begin;
      while (numbers.contains(missing))
        ++missing;
      ASSERT_EQ(ranges.first_missing(begin), missing);
    }
  }
}

TEST(ReliablePart, SurvivesTheWire) {
  std::mt19937 random{3};
  for (int run = 0; run < 500; ++run) {
    std::array<std::byte, 4000> buffer;
    BitWriter writer{buffer};
    ReliablePartsWriter section;
    std::vector<ReliablePart> parts;
    std::uint64_t at = random() % 2 == 0 ? random() % 100 : (std::uint64_t{1} << 33) + random();
    const std::uint64_t near = at;
    for (std::size_t n = 1 + random() % 5; n > 0; --n) {
      at += random() % 3 == 0 ? 0 : random() % 5000;
      parts.push_back({at, message_of(static_cast<std::uint32_t>(n), 1 + random() % 600)});
      if (random() % 2 == 0)
        parts.back().unordered = static_cast<std::uint32_t>(random() % parts.back().bytes.size());
      const std::size_t before = writer.bits_written();
      section.add(writer, at, parts.back().bytes, parts.back().unordered);
      EXPECT_LE(writer.bits_written() - before + ReliablePartsWriter::kEndBits,
                parts.back().bytes.size() * 8 + ReliablePartsWriter::kMaxHeadBits);
      at += parts.back().bytes.size();
    }
    section.finish(writer);
    const std::uint64_t shift = random() % (1u << 23);
    const std::uint64_t seen_from = random() % 2 == 0 ? near + shift : near - std::min(near, shift);
    BitReader reader{writer.finish()};
    std::vector<ReliablePart> read;
    read_reliable_parts(reader, seen_from, read);
    EXPECT_TRUE(reader.finished());
    EXPECT_EQ(read, parts);
  }
}

TEST(ReliablePart, EmptyOrCutSectionsAreRefused) {
  std::array<std::byte, 200> buffer;
  BitWriter writer{buffer};
  ReliablePartsWriter section;
  section.add(writer, 5, message_of(1, 40));
  section.finish(writer);
  const auto whole = writer.finish();
  std::vector<ReliablePart> parts;
  for (std::size_t size = 0; size < whole.size(); ++size) {
    BitReader reader{whole.first(size)};
    read_reliable_parts(reader, 0, parts);
    EXPECT_TRUE(reader.failed()) << size;
  }
  const std::array<std::byte, 1> end{};
  BitReader reader{end};
  read_reliable_parts(reader, 0, parts);
  EXPECT_TRUE(reader.failed()) << "no part";
}

// Two ends and a link that loses, delays and reorders datagrams.
class Link {
 public:
  struct Options {
    double loss = 0.0;
    unsigned burst = 1;
    double delay_s = 0.05;
    double jitter_s = 0.0;
    std::uint64_t seed = 1;
  };
  explicit Link(const Options& options) : options_(options), random_(options.seed) {}

  ReliableSender sender;
  ReliableReceiver receiver{{}};
  std::vector<Bytes> received;  // in turn
  // Each message when it came out for the first time, and when.
  struct Delivered {
    Bytes bytes;
    double at_s = 0.0;
    bool early = false;
  };
  std::vector<Delivered> delivered;
  double now_s = 0.0;
  std::size_t datagrams = 0, bytes_sent = 0;
  std::size_t room_bytes = 1100;

  void tick() {
    now_s += 1.0 / 60.0;
    deliver();
    there_.expire(now_s);
    back_.expire(now_s);
    settle();
    back_.clear_outcomes();
    sender.review(0.02);
    if (sender.is_due(now_s) || ++idle_ % 6 == 0) send();
    const Sequence number = back_.begin(now_s);
    if (!loses()) answers_.push_back({arrival_s(), number, back_.acknowledge()});
  }
  void run(double seconds) {
    for (const double end_s = now_s + seconds; now_s < end_s;)
      tick();
  }
  // The link is replaced by another one. What is in flight is lost.
  void replace() {
    datagrams_.clear();
    answers_.clear();
    there_ = PeerLink{0.02};
    back_ = PeerLink{0.02};
    sender.restart(static_cast<std::uint32_t>(received.size()));
  }

 private:
  struct Datagram {
    double at_s = 0.0;
    Sequence number = 0;
    Bytes section;
  };
  struct Answer {
    double at_s = 0.0;
    Sequence number = 0;
    std::optional<Ack> ack;
  };

  [[nodiscard]] double arrival_s() {
    return now_s + options_.delay_s + std::uniform_real_distribution(0.0, 1.0)(random_) * options_.jitter_s;
  }
  [[nodiscard]] bool loses() {
    if (left_of_burst_ > 0) return --left_of_burst_, true;
    if (std::uniform_real_distribution(0.0, 1.0)(random_) >= options_.loss / options_.burst) return false;
    left_of_burst_ = options_.burst - 1;
    return true;
  }
  void send() {
    std::array<std::byte, 1500> buffer;
    BitWriter writer{buffer};
    const Sequence number = there_.begin(now_s);
    settle();
    bytes_sent += sender.write(writer, room_bytes * 8, number, now_s, there_.loss() > 0.002);
    ++datagrams;
    const auto section = writer.finish();
    if (!loses()) datagrams_.push_back({arrival_s(), number, Bytes(section.begin(), section.end())});
  }
  void deliver() {
    std::erase_if(datagrams_, [&](const Datagram& datagram) {
      if (datagram.at_s > now_s) return false;
      std::vector<ReliablePart> parts;
      if (!datagram.section.empty()) {
        BitReader reader{datagram.section};
        read_reliable_parts(reader, receiver.near(), parts);
        EXPECT_TRUE(reader.finished());
        EXPECT_TRUE(receiver.accepts(parts));
      }
      const auto receipt = back_.receive(datagram.number, std::nullopt, 0.0, now_s);
      if (receipt == PeerLink::Receipt::repeated) return true;
      back_.want_ack(datagram.number);
      receiver.add(parts);
      while (const auto message = receiver.next()) {
        received.emplace_back(message->begin(), message->end());
        if (!receiver.was_early()) delivered.push_back({received.back(), now_s});
      }
      while (const auto message = receiver.next_early())
        delivered.push_back({{message->begin(), message->end()}, now_s, true});
      return true;
    });
    std::erase_if(answers_, [&](const Answer& answer) {
      if (answer.at_s > now_s) return false;
      (void)there_.receive(answer.number, answer.ack, 0.0, now_s);
      settle();
      return true;
    });
  }
  void settle() {
    for (const PeerLink::Outcome& outcome : there_.outcomes())
      sender.settle(outcome.sequence, outcome.sent_s, outcome.acked);
    there_.clear_outcomes();
  }

  Options options_;
  std::mt19937_64 random_;
  unsigned left_of_burst_ = 0;
  unsigned idle_ = 0;
  PeerLink there_{0.02}, back_{0.02};
  std::deque<Datagram> datagrams_;
  std::deque<Answer> answers_;
};

class ReliableStream : public testing::TestWithParam<Link::Options> {};

TEST_P(ReliableStream, DeliversEveryMessageOnceAndInOrder) {
  Link link(GetParam());
  std::mt19937_64 random{GetParam().seed + 100};
  std::vector<Bytes> sent;
  for (int i = 0; i < 400; ++i) {
    for (std::size_t n = random() % 3; n > 0; --n) {
      const std::size_t size = random() % 40 == 0 ? 16'384 : 1 + random() % 300;
      sent.push_back(message_of(static_cast<std::uint32_t>(sent.size()), size));
      EXPECT_EQ(link.sender.add(sent.back()), sent.size());
    }
    link.tick();
    ASSERT_LE(link.received.size(), sent.size());
    if (i == 150 || i == 300) link.replace();
  }
  link.run(20.0);
  ASSERT_EQ(link.received.size(), sent.size());
  EXPECT_EQ(link.received, sent);
  EXPECT_EQ(link.sender.received(), sent.size());
  EXPECT_EQ(link.sender.bytes(), 0u);
  EXPECT_EQ(link.sender.bytes_in_flight(), 0u);
}

INSTANTIATE_TEST_SUITE_P(Links, ReliableStream,
                         testing::Values(Link::Options{}, Link::Options{.loss = 0.2, .seed = 2},
                                         Link::Options{.loss = 0.2, .burst = 8, .seed = 3},
                                         Link::Options{.loss = 0.05, .jitter_s = 0.2, .seed = 4},
                                         Link::Options{.loss = 0.5, .delay_s = 0.3, .seed = 5}));

constexpr std::byte kOrderedKind{6}, kUnorderedKind{13};

// A message with its number, of at least 5 bytes.
Bytes game_message(std::byte kind, std::uint32_t number, std::size_t size) {
  Bytes bytes = message_of(number, size);
  bytes[0] = kind;
  for (std::size_t i = 0; i < 4; ++i)
    bytes[1 + i] = static_cast<std::byte>(number >> (8 * i));
  return bytes;
}
std::uint32_t number_of(std::span<const std::byte> message) {
  std::uint32_t number = 0;
  for (std::size_t i = 0; i < 4; ++i)
    number |= std::to_integer<std::uint32_t>(message[1 + i]) << (8 * i);
  return number;
}

// The session changes to other links meanwhile.
TEST_P(ReliableStream, UnorderedMessagesComeOnceAndOrderedOnesInOrder) {
  std::size_t early = 0;
  for (std::uint64_t run = 0; run < 8; ++run) {
    Link::Options options = GetParam();
    options.seed += 1000 * run;
    Link link(options);
    std::mt19937_64 random{options.seed + 200};
    std::vector<Bytes> sent;
    for (int i = 0; i < 300; ++i) {
      for (std::size_t n = random() % 3; n > 0; --n) {
        const std::size_t size = random() % 40 == 0 ? 16'384 : 5 + random() % 300;
        const std::byte kind = random() % 2 == 0 ? kUnorderedKind : kOrderedKind;
        sent.push_back(game_message(kind, static_cast<std::uint32_t>(sent.size()), size));
        (void)link.sender.add(sent.back());
      }
      link.tick();
      if (i == 110 || i == 220) link.replace();
    }
    link.run(20.0);
    ASSERT_EQ(link.received, sent) << "all have their turn, in order";
    std::set<std::uint32_t> numbers;
    std::uint32_t next = 0;  // all before it came out
    for (const Link::Delivered& one : link.delivered) {
      const std::uint32_t number = number_of(one.bytes);
      ASSERT_LT(number, sent.size());
      ASSERT_EQ(one.bytes, sent[number]);
      ASSERT_TRUE(numbers.insert(number).second) << "message " << number << " comes once";
      if (one.bytes[0] == kOrderedKind) {
        ASSERT_EQ(next, number) << "an ordered message follows all before it";
        ASSERT_FALSE(one.early);
      }
      for (; numbers.contains(next); ++next) {
      }
      early += one.early ? 1 : 0;
    }
    ASSERT_EQ(numbers.size(), sent.size());
    EXPECT_EQ(link.sender.bytes(), 0u);
  }
  if (GetParam().loss > 0.0) {
    EXPECT_GT(early, 20u);
  }
}

// Time from add() to the other end, s, of 20 messages a second. `share` of them take no longer.
double delay_s(std::byte kind, double share, std::uint64_t seed) {
  Link link({.loss = 0.05, .burst = 3, .jitter_s = 0.02, .seed = seed});
  std::vector<double> sent_s, delays_s;
  for (int i = 0; i < 6000; ++i) {
    // Larger than what is sent twice, as on a busy link.
    if (i % 3 == 0) {
      (void)link.sender.add(game_message(kind, static_cast<std::uint32_t>(sent_s.size()), 900));
      sent_s.push_back(link.now_s);
    }
    link.tick();
  }
  link.run(5.0);
  for (const Link::Delivered& one : link.delivered)
    delays_s.push_back(one.at_s - sent_s[number_of(one.bytes)]);
  EXPECT_EQ(delays_s.size(), sent_s.size());
  std::sort(delays_s.begin(), delays_s.end());
  return delays_s[static_cast<std::size_t>(share * static_cast<double>(delays_s.size() - 1))];
}

TEST(ReliableStreamDelay, AnUnorderedMessageDoesNotWaitForALostOne) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const double ordered_s = delay_s(kOrderedKind, 0.9, seed),
                 unordered_s = delay_s(kUnorderedKind, 0.9, seed);
    EXPECT_LT(unordered_s, 0.12) << "90 % arrive at once";
    EXPECT_GT(ordered_s, 1.3 * unordered_s) << "ordered ones wait for those that were lost";
    EXPECT_LT(delay_s(kUnorderedKind, 0.99, seed), delay_s(kOrderedKind, 0.99, seed));
  }
}

TEST(ReliableSender, SendsLittleTwiceBeyondABurst) {
  Link link({.loss = 0.0});
  link.run(1.0);
  (void)link.sender.add(message_of(1, 50));
  link.run(1.0);
  EXPECT_EQ(link.bytes_sent, 51u) << "the link loses nothing";
  Link lossy({.loss = 0.1, .seed = 9});
  lossy.run(5.0);
  double worst_s = 0.0;
  for (int i = 0; i < 200; ++i) {
    const std::size_t before = lossy.received.size();
    (void)lossy.sender.add(message_of(1, 50));
    const double from_s = lossy.now_s;
    while (lossy.received.size() == before && lossy.now_s < from_s + 5.0)
      lossy.tick();
    worst_s = std::max(worst_s, lossy.now_s - from_s);
    lossy.run(0.3);
  }
  EXPECT_LT(worst_s, 0.4);
}

TEST(ReliableSender, UsesTheRoomOfADatagram) {
  for (const std::size_t room : {20u, 100u, 500u, 1100u}) {
    Link link({.loss = 0.1, .seed = room});
    link.room_bytes = room;
    const Bytes large = message_of(3, 16'384);
    (void)link.sender.add(large);
    link.run(16'384.0 / static_cast<double>(room) / 60.0 * 3.0 + 10.0);
    ASSERT_EQ(link.received.size(), 1u) << room;
    EXPECT_EQ(link.received[0], large);
  }
}

TEST(ReliableSender, StopsAtTheWindowOfAReceiverThatIsSilent) {
  ReliableSender sender;
  for (int i = 0; i < 80; ++i)
    (void)sender.add(message_of(1, 16'384));
  std::size_t sent = 0;
  for (std::uint32_t n = 0; n < 1000; ++n) {
    std::array<std::byte, 1500> buffer;
    BitWriter writer{buffer};
    sent += sender.write(writer, 1400 * 8, static_cast<Sequence>(n), n / 60.0, false);
  }
  EXPECT_EQ(sent, ReliableSender::kWindow);
  EXPECT_FALSE(sender.waits());
}

TEST(ReliableReceiver, RefusesWhatNoSenderSends) {
  ReliableReceiver receiver{{.bytes = 1000, .parts = 4, .message = 100}};
  const std::vector<ReliablePart> far{{990, message_of(1, 11)}};
  EXPECT_FALSE(receiver.accepts(far));
  std::vector<ReliablePart> many;
  for (std::uint64_t i = 0; i < 6; ++i)
    many.push_back({10 + 20 * i, message_of(1, 5)});
  EXPECT_FALSE(receiver.accepts(many)) << "too many gaps";
  EXPECT_FALSE(receiver.next());
  Bytes stream;
  stream.push_back(std::byte{101});
  receiver.add(std::vector<ReliablePart>{{0, stream}});
  EXPECT_FALSE(receiver.next());
  EXPECT_TRUE(receiver.is_broken()) << "longer than a message";
}

Bytes framed(const Bytes& message) {
  Bytes bytes;
  append_message_length(bytes, message.size());
  bytes.insert(bytes.end(), message.begin(), message.end());
  return bytes;
}

// A part of the stream that begins with an unordered message.
ReliablePart announced(std::uint64_t offset, Bytes bytes, std::uint32_t at = 0) {
  return {offset, std::move(bytes), at};
}

void add(ReliableReceiver& receiver, ReliablePart part) {
  receiver.add(std::span(&part, 1));
}

std::optional<std::uint32_t> next_early(ReliableReceiver& receiver) {
  const auto message = receiver.next_early();
  return message ? std::optional(number_of(*message)) : std::nullopt;
}

TEST(ReliableReceiver, ReturnsAnUnorderedMessageThatArrivesInPieces) {
  for (std::size_t cut = 1; cut < 40; ++cut) {
    ReliableReceiver receiver{{}};
    const Bytes stream = framed(game_message(kUnorderedKind, 7, 200));  // a length of two bytes
    const auto from = [&](std::size_t begin, std::size_t end) {
      return Bytes(stream.begin() + static_cast<std::ptrdiff_t>(begin),
                   stream.begin() + static_cast<std::ptrdiff_t>(end));
    };
    add(receiver, announced(10, from(0, cut)));
    EXPECT_FALSE(next_early(receiver));
    add(receiver, {10 + cut + 5, from(cut + 5, stream.size())});
    EXPECT_FALSE(next_early(receiver));
    add(receiver, {10 + cut, from(cut, cut + 5)});
    EXPECT_EQ(next_early(receiver), 7u);
    add(receiver, announced(10, stream));
    EXPECT_FALSE(next_early(receiver)) << "once";
    add(receiver, {0, framed(game_message(kOrderedKind, 1, 9))});
    EXPECT_TRUE(receiver.next() && !receiver.was_early());
    EXPECT_TRUE(receiver.next() && receiver.was_early()) << "its turn";
    EXPECT_FALSE(receiver.next());
  }
}

TEST(ReliableReceiver, RemembersALimitedNumberOfEarlyMessages) {
  ReliableReceiver receiver{{.bytes = 10'000, .parts = 1000, .message = 100, .early = 3}};
  const Bytes one = framed(game_message(kUnorderedKind, 7, 9));
  Bytes five;
  for (int i = 0; i < 5; ++i)
    five.insert(five.end(), one.begin(), one.end());
  add(receiver, announced(10, five));
  for (int i = 0; i < 3; ++i)
    EXPECT_TRUE(next_early(receiver));
  EXPECT_FALSE(next_early(receiver)) << "the others come in their turn";
  add(receiver, {0, framed(game_message(kOrderedKind, 1, 9))});
  EXPECT_TRUE(receiver.next());
  int in_turn = 0;
  for (; receiver.next(); ++in_turn)
    EXPECT_EQ(receiver.was_early(), in_turn < 3);
  EXPECT_EQ(in_turn, 5);
}

// Only a hostile end announces messages where there are none.
TEST(ReliableReceiver, IsBrokenAfterAMessageThatTheStreamDoesNotHave) {
  const Bytes inside = framed(game_message(kUnorderedKind, 7, 9));
  Bytes message = game_message(kOrderedKind, 2, 50);
  std::copy(inside.begin(), inside.end(), message.begin() + 20);
  ReliableReceiver receiver{{}};
  add(receiver, announced(10, framed(message), 21));
  EXPECT_EQ(next_early(receiver), 7u);
  add(receiver, {0, framed(game_message(kOrderedKind, 1, 9))});
  EXPECT_TRUE(receiver.next());
  EXPECT_FALSE(receiver.next());
  EXPECT_TRUE(receiver.is_broken());

  // Where an ordered message begins, or no message: nothing comes out early, and the stream goes on.
  ReliableReceiver other{{}};
  add(other, announced(10, framed(message)));
  EXPECT_FALSE(next_early(other));
  add(other, announced(10, framed(message), 1));
  EXPECT_FALSE(next_early(other));
  add(other, {0, framed(game_message(kOrderedKind, 1, 9))});
  EXPECT_TRUE(other.next() && other.next());
  EXPECT_FALSE(other.is_broken());
}

// The receiver counts from the beginning of a message that is not complete, and the sender from the first
// byte that is missing. While one datagram is without an outcome, the sender fills its window.
TEST(ReliableReceiver, AcceptsTheWholeWindowBehindAnIncompleteMessage) {
  ReliableSender sender;
  ReliableReceiver receiver{{}};
  for (std::uint32_t i = 0; i < 40; ++i)
    (void)sender.add(message_of(i, 30 * 1024));
  constexpr std::uint64_t kMissing = 29'000;  // near the end of the first message
  std::uint32_t messages = 0;
  std::optional<Sequence> lost;
  Sequence sequence = 0;
  // Returns false if there was nothing to send.
  const auto send = [&] {
    std::array<std::byte, 1500> buffer;
    BitWriter writer{buffer};
    const std::size_t room = sequence < 100 ? 400 * 8 : 1400 * 8;  // what is missing goes with other parts
    if (sender.write(writer, room, sequence, 0.0, false) == 0) return false;
    BitReader reader{writer.finish()};
    std::vector<ReliablePart> parts;
    read_reliable_parts(reader, receiver.near(), parts);
    const std::uint64_t first = parts.front().offset;
    if (!lost && first <= kMissing && kMissing < first + parts.front().bytes.size()) {
      lost = sequence++;
      return true;
    }
    const bool accepted = receiver.accepts(parts);
    EXPECT_TRUE(accepted) << "from " << first;
    if (accepted) receiver.add(parts);
    while (receiver.next())
      ++messages;
    sender.settle(sequence++, 0.0, accepted);
    return true;
  };
  while (send() && !HasFailure()) {
  }
  EXPECT_EQ(messages, 0u);
  sender.settle(lost.value(), 0.0, false);
  for (int i = 0; i < 2000 && send(); ++i) {
  }
  EXPECT_EQ(messages, 40u);
}

// Any parts in any order, also such that overlap: what comes out is the beginning of the stream.
TEST(ReliableReceiver, PutsAnyPartsTogether) {
  std::mt19937 random{11};
  for (int run = 0; run < 300; ++run) {
    ReliableSender sender;
    Bytes stream;
    for (int i = 0; i < 10; ++i)
      (void)sender.add(message_of(static_cast<std::uint32_t>(i), 1 + random() % 200));
    std::array<std::byte, 4000> buffer;
    for (Sequence number = 0; sender.waits(); ++number) {
      BitWriter writer{buffer};
      (void)sender.write(writer, 900 * 8, number, 0.0, false);
      BitReader reader{writer.finish()};
      std::vector<ReliablePart> parts;
      read_reliable_parts(reader, stream.size(), parts);
      for (const ReliablePart& part : parts)
        stream.insert(stream.end(), part.bytes.begin(), part.bytes.end());
    }
    ReliableReceiver receiver{{}};
    std::size_t count = 0;
    for (int step = 0; step < 400 && count < 10; ++step) {
      const std::size_t begin = random() % stream.size();
      const std::size_t size = std::min<std::size_t>(1 + random() % 90, stream.size() - begin);
      const auto part = std::span<const std::byte>(stream).subspan(begin, size);
      receiver.add(std::vector<ReliablePart>{{begin, Bytes(part.begin(), part.end())}});
      while (const auto message = receiver.next()) {
        const Bytes got(message->begin(), message->end());
        EXPECT_EQ(got, message_of(static_cast<std::uint32_t>(count++), got.size()));
      }
    }
    receiver.add(std::vector<ReliablePart>{{0, stream}});
    while (receiver.next())
      ++count;
    EXPECT_EQ(count, 10u);
  }
}

}  // namespace
}  // namespace reckoner
