// SPDX-License-Identifier: MIT
// The stream of reliable messages: a receiver with parts of any peer, and both ends over a bad link. Only
// what was sent comes out, in order, and the receiver's memory stays within its limits. Unordered messages
// come out once, before their turn or in it.
#include "generate.hpp"
#include "net/src/link/message_length.hpp"
#include "net/src/link/reliable_receiver.hpp"
#include "net/src/link/reliable_sender.hpp"
#include "net/src/messages/messages.hpp"
#include "net/src/messages/reliable_part.hpp"
#include "target.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>
#include <optional>
#include <set>

// The number of bytes that operator new has allocated. libFuzzer does not allow another operator new, but the
// address sanitizer counts as well.
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#include <sanitizer/allocator_interface.h>
#define RECKONER_SANITIZER_COUNTS
#endif
#endif

#ifdef RECKONER_SANITIZER_COUNTS

namespace {

std::size_t live_bytes() {
  return __sanitizer_get_current_allocated_bytes();
}

}  // namespace

#else

namespace {

std::size_t allocated = 0;
constexpr std::size_t kHead = 16;

std::size_t live_bytes() {
  return allocated;
}

}  // namespace

void* operator new(std::size_t size) {
  void* memory = std::malloc(size + kHead);
  if (memory == nullptr) std::abort();
  std::memcpy(memory, &size, sizeof size);
  allocated += size;
  return static_cast<std::byte*>(memory) + kHead;
}
void operator delete(void* memory) noexcept {
  if (memory == nullptr) return;
  void* whole = static_cast<std::byte*>(memory) - kHead;
  std::size_t size = 0;
  std::memcpy(&size, whole, sizeof size);
  allocated -= size;
  std::free(whole);
}
void operator delete(void* memory, std::size_t) noexcept {
  operator delete(memory);
}

#endif

namespace reckoner::fuzz {
namespace {

constexpr std::byte kLink{2};  // the third form of an input
constexpr int kMaxSteps = 200;
// A datagram that fills the gap is accepted with this many more parts than the limit.
constexpr std::size_t kMostBeyond = 64;

using Parts = std::vector<ReliablePart>;

// The stream as it should be after the accepted parts, byte by byte.
class Model {
 public:
  explicit Model(const ReliableReceiver::Limits& limits) : limits_(limits), window_(limits.bytes, kLacks) {}

  [[nodiscard]] bool is_within(const Parts& parts) const {
    return std::ranges::all_of(parts, [this](const ReliablePart& part) {
      return part.offset + part.bytes.size() <= begin_ + limits_.bytes;
    });
  }
  void add(const Parts& parts) {
    for (const ReliablePart& part : parts) {
      for (std::size_t i = 0; i < part.bytes.size(); ++i) {
        const std::uint64_t offset = part.offset + i;
        if (offset < begin_ || window_[offset - begin_] != kLacks) continue;
        window_[offset - begin_] = std::to_integer<int>(part.bytes[i]);
      }
    }
  }
  // True if bytes have arrived behind others that have not.
  [[nodiscard]] bool has_gap() const {
    const auto lacks = std::ranges::find(window_, kLacks);
    return std::any_of(lacks, window_.end(), [](int byte) { return byte != kLacks; });
  }
  // The number of stretches without a gap, behind the first byte that lacks.
  [[nodiscard]] std::size_t stretches() const {
    std::size_t count = 0;
    for (auto at = std::ranges::find(window_, kLacks); at != window_.end();) {
      at = std::find_if(at, window_.end(), [](int byte) { return byte != kLacks; });
      if (at == window_.end()) break;
      ++count;
      at = std::find(at, window_.end(), kLacks);
    }
    return count;
  }
  [[nodiscard]] std::uint64_t first_lacking() const {
    return begin_ + static_cast<std::uint64_t>(std::ranges::find(window_, kLacks) - window_.begin());
  }
  [[nodiscard]] std::optional<Bytes> next() {
    std::size_t length = 0, head = 0;
    for (bool more = true; more && !broken_;) {
      const int byte = head < window_.size() ? window_[head] : kLacks;
      if (byte == kLacks) return std::nullopt;
      length += static_cast<std::size_t>(byte % 128) << (7 * head);
      more = byte >= 128;
      if (++head == 3 && more) broken_ = true;
    }
    broken_ = broken_ || length == 0 || length > limits_.message;
    if (broken_ || head + length > window_.size()) return std::nullopt;
    Bytes message;
    for (std::size_t i = head; i < head + length; ++i) {
      if (window_[i] == kLacks) return std::nullopt;
      message.push_back(static_cast<std::byte>(window_[i]));
    }
    window_.erase(window_.begin(), window_.begin() + static_cast<std::ptrdiff_t>(head + length));
    window_.resize(limits_.bytes, kLacks);
    begin_ += head + length;
    return message;
  }
  [[nodiscard]] bool is_broken() const { return broken_; }

 private:
  static constexpr int kLacks = -1;

  ReliableReceiver::Limits limits_;
  std::vector<int> window_;  // from begin_ on
  std::uint64_t begin_ = 0;  // the messages before were taken
  bool broken_ = false;
};

// A receiver, compared with the model after every step.
class Receiver {
 public:
  explicit Receiver(const ReliableReceiver::Limits& limits)
      : limits_(limits), model_(limits), receiver_(limits) {}

  // The parts arrive over the wire.
  bool arrive(const Parts& parts) {
    static Bytes buffer(1 << 16);
    BitWriter writer{buffer};
    write_parts(writer, parts);
    return arrive(writer.finish());
  }
  bool arrive(std::span<const std::byte> section) {
    BitReader reader{section};
    Parts parts;
    read_reliable_parts(reader, receiver_.near(), parts);
    if (!reader.finished()) return false;
    check_order(parts);
    const bool accepts = receiver_.accepts(parts);
    check(!accepts || model_.is_within(parts), "no byte beyond the window is accepted");
    // Parts that repeat what has arrived count, too.
    check(accepts || !model_.is_within(parts) || model_.has_gap() || parts.size() > limits_.parts,
          "only what is beyond the limits is refused");
    if (!accepts) return false;
    const std::size_t before = live_bytes();
    receiver_.add(parts);
    memory_ += live_bytes() - before;
    model_.add(parts);
    check(receiver_.near() == model_.first_lacking(), "the receiver knows what it lacks");
    // A vector takes up to twice its size, and keeps as much that was taken. A node of a map takes 120 bytes.
    const std::size_t pieces = 3 * (limits_.parts + kMostBeyond);
    // An early message is copied. The begins of such messages take up to 64 bytes each.
    const std::size_t for_early = 2 * limits_.bytes + 64 * (2 * limits_.early + kMostBeyond);
    check(memory_ <= 5 * limits_.bytes + 120 * pieces + for_early, "the memory stays within the limits");
    return true;
  }
  std::optional<Bytes> next() {
    const auto message = receiver_.next();
    if (receiver_.is_broken() && has_early_) return std::nullopt;  // a false begin; the model knows of none
    const auto expected = model_.next();
    check(message.has_value() == expected.has_value(), "what is complete comes out, and nothing else");
    check(receiver_.is_broken() == model_.is_broken(), "a false length breaks the stream");
    if (!message) return std::nullopt;
    check(std::ranges::equal(*message, *expected), "a message comes out as it arrived");
    return expected;
  }
  [[nodiscard]] bool was_early() const { return receiver_.was_early(); }
  std::optional<Bytes> next_early() {
    const std::size_t before = live_bytes();
    const auto message = receiver_.next_early();
    memory_ += live_bytes() - before;
    if (!message) return std::nullopt;
    has_early_ = true;
    check(!message->empty() && is_unordered(*message), "only an unordered message comes out early");
    check(message->size() <= limits_.message, "an early message has the size of a message");
    check(model_.has_gap(), "a message before its turn has a gap before it");
    return Bytes(message->begin(), message->end());
  }
  [[nodiscard]] std::uint64_t near() const { return receiver_.near(); }
  void check_gaps() const {
    check(model_.stretches() <= limits_.parts + kMostBeyond,
          "the number of parts behind a gap stays within its limit");
  }

 private:
  void check_order(const Parts& parts) const {
    check(!parts.empty(), "a section has a part");
    std::uint64_t end = 0;
    for (const ReliablePart& part : parts) {
      check(part.offset >= end && !part.bytes.empty(), "parts are in order and not empty");
      end = part.offset + part.bytes.size();
    }
  }

  ReliableReceiver::Limits limits_;
  Model model_;
  ReliableReceiver receiver_;
  std::size_t memory_ = 0;
  bool has_early_ = false;
};

ReliableReceiver::Limits any_limits_of_receiver(Choices& choices) {
  return {.bytes = 16 + choices.up_to(choices.flag() ? 100 : 8000),
          .parts = 1 + choices.up_to(choices.flag() ? 3 : 200),
          .message = 1 + choices.up_to(choices.flag() ? 200 : 33 * 1024),
          .early = choices.up_to(choices.flag() ? 3 : 1024)};
}

// A peer that keeps to no rule.
void hear_anything(Choices& choices) {
  Receiver receiver{any_limits_of_receiver(choices)};
  for (int step = 0; step < kMaxSteps && !choices.empty(); ++step) {
    (void)receiver.arrive(any_parts(choices, receiver.near()));
    receiver.check_gaps();
    while (!choices.rarely(7) && receiver.next()) {
    }
    while (!choices.rarely(7) && receiver.next_early()) {
    }
  }
}

// Both ends. Datagrams are lost, repeated and overtaken, their outcomes are late or wrong, and the session
// changes to other links.
class Link {
 public:
  explicit Link(Choices& choices) : choices_(choices) {}

  void run() {
    for (int step = 0; step < kMaxSteps && !choices_.empty(); ++step)
      act();
    // A link without loss.
    sender_.restart(received_);
    flying_.clear();
    for (int step = 0; sender_.bytes() > 0; ++step) {
      check(step < 4000, "all messages arrive in the end");
      send(kMostBits);
      check(deliver(0), "what a sender sends is accepted");
      settle(0);
    }
    check(received_ == sent_.size() && sender_.received() == received_, "no message is lost");
  }

 private:
  struct Flying {
    Sequence sequence = 0;
    double sent_s = 0.0;
    Bytes section;
    bool arrived = false;
  };

  static constexpr std::size_t kMostBits = 1200 * 8;

  void act() {
    switch (choices_.up_to(7)) {
      case 0:
      case 1:
        return add();
      case 2:
      case 3:
        return send(600 + choices_.up_to(kMostBits - 600));  // room for at least a byte of a part
      case 4:
        if (!flying_.empty()) (void)deliver(choices_.up_to(flying_.size() - 1));
        return;
      case 5:
        if (!flying_.empty()) settle(choices_.up_to(flying_.size() - 1));
        return;
      case 6:
        now_s_ += choices_.real(0.0, 0.3);
        return sender_.review(0.02);
      default:
        if (!choices_.rarely(3)) return;
        sender_.restart(received_);
        flying_.clear();
        return;
    }
  }

  void add() {
    // It begins with a kind, of an unordered message or of another one, and its number.
    Bytes message(3 + choices_.up_to(choices_.rarely(3) ? 6000 : 60), static_cast<std::byte>(sent_.size()));
    message[0] = choices_.flag() ? std::byte{13} : std::byte{6};
    message[2] = static_cast<std::byte>(sent_.size() >> 8);
    check(sender_.add(message) == sent_.size() + 1, "messages have numbers");
    sent_.push_back(std::move(message));
  }

  void send(std::size_t most) {
    if (flying_.size() == 100) return;
    Bytes buffer(1500);
    BitWriter writer{buffer};
    const std::size_t bytes = sender_.write(writer, most, sequence_, now_s_, choices_.flag());
    check(writer.bits_written() <= most, "a section has its room");
    check(bytes > 0 || !sender_.waits(), "what waits is sent");
    if (bytes > 0) flying_.push_back({sequence_, now_s_, finished(writer)});
    ++sequence_;
  }

  bool deliver(std::size_t index) {
    Flying& datagram = flying_[index];
    if (!receiver_.arrive(datagram.section)) return false;
    datagram.arrived = true;
    while (const auto message = receiver_.next()) {
      check(received_ < sent_.size() && *message == sent_[received_], "messages come out as they were sent");
      check(receiver_.was_early() == (early_.erase(received_) > 0), "an early message is known in its turn");
      ++received_;
    }
    while (const auto message = receiver_.next_early()) {
      const auto number =
          std::to_integer<std::uint32_t>((*message)[1]) + 256 * std::to_integer<std::uint32_t>((*message)[2]);
      check(number > received_ && number < sent_.size() && *message == sent_[number],
            "early messages come out as they were sent");
      check(early_.insert(number).second, "a message comes out once");
    }
    return true;
  }

  // A datagram that has arrived may count as lost, too.
  void settle(std::size_t index) {
    const Flying& datagram = flying_[index];
    sender_.settle(datagram.sequence, datagram.sent_s, datagram.arrived && !choices_.rarely(7));
    check(sender_.received() <= received_, "only what has arrived is confirmed");
    flying_.erase(flying_.begin() + static_cast<std::ptrdiff_t>(index));
  }

  Choices& choices_;
  ReliableSender sender_;
  Receiver receiver_{{.bytes = 64 * 1024, .parts = 1024, .message = 33 * 1024, .early = 100}};
  std::vector<Bytes> sent_;
  std::uint32_t received_ = 0;
  std::set<std::uint32_t> early_;  // those that came out before their turn, until their turn
  std::vector<Flying> flying_;
  Sequence sequence_ = 0;
  double now_s_ = 0.0;
};

void decode(std::span<const std::byte> bytes) {
  Receiver receiver{{.bytes = 8000, .parts = 20, .message = 400}};
  BitReader reader{bytes};
  Parts parts;
  read_reliable_parts(reader, 0, parts);
  if (!reader.finished()) return;
  static Bytes buffer(1 << 17);
  BitWriter writer{buffer};
  if (!write_parts(writer, parts)) return;
  BitReader again{writer.finish()};
  Parts second;
  read_reliable_parts(again, 0, second);
  check(again.finished() && second == parts, "parts are written so that they can be read");
  (void)receiver.arrive(bytes);
  while (receiver.next()) {
  }
  while (receiver.next_early()) {
  }
}

}  // namespace

void run(std::span<const std::byte> input) {
  if (input.empty()) return;
  if (input.front() == kRaw) return decode(input.subspan(1));
  Choices choices{input.subspan(1)};
  if (input.front() == kLink) return Link{choices}.run();
  hear_anything(choices);
}

std::vector<Bytes> seeds() {
  std::vector<Bytes> out;
  std::mt19937_64 random{19};
  for (int i = 0; i < 8; ++i) {
    Bytes decisions(40 * (i + 1));
    for (std::byte& each : decisions)
      each = static_cast<std::byte>(random() & 0xff);
    Choices choices{decisions};
    Bytes buffer(1 << 16);
    BitWriter writer{buffer};
    (void)write_parts(writer, any_parts(choices, 0));
    out.push_back(marked(kRaw, finished(writer)));
  }
  add_choices(out, 12, 900, kChoices);
  add_choices(out, 12, 600, kLink);
  return out;
}

}  // namespace reckoner::fuzz
