// SPDX-License-Identifier: MIT
// The filter that checks ENet's datagrams before ENet does, and their cost in ENet's lists.
#include "net/src/transport/enet/search_cost_limit.hpp"
#include "net/src/transport/enet/socket/enet_filter.hpp"
#include "target.hpp"
#include "tests/support/enet_lists.hpp"

#include <algorithm>
#include <iterator>
#include <vector>

namespace reckoner::fuzz {
namespace {

using enet_filter::Role;

void look(std::span<const std::byte> datagram) {
  for (const Role role : {Role::server, Role::client}) {
    if (!enet_filter::acceptable(datagram, role)) continue;
    const std::size_t head = enet_filter::head_size(datagram);
    check(head < datagram.size(), "something follows the head");
    const bool of_none = enet_filter::peer_of(datagram) == enet_filter::detail::kNoPeer;
    check(enet_filter::connection_wanted(datagram).has_value() == of_none,
          "who has no number yet wants to connect");
    check(enet_filter::session_of(datagram) < 4, "sessions count to four");
    std::size_t commands = 0;
    enet_filter::for_each_command(datagram, [&](const enet_filter::Command&) { ++commands; });
    check(commands > 0 && commands <= 32, "some commands, and no more than ENet writes");
    SearchCostLimit work;
    (void)work.refuse(test::EnetLists(1, 1).peer, datagram, 0.0);
    const auto payload = enet_filter::lone_state(datagram);
    if (!payload) continue;
    check(payload->size() <= kMaxStateBytes &&
              payload->data() + payload->size() == datagram.data() + datagram.size(),
          "a payload lies at the end");
  }
}

Bytes any_datagram(Choices& choices) {
  // Sizes of ENet's commands without data, as in its protocol.h.
  constexpr std::size_t kSizes[16] = {0, 8, 48, 44, 8, 4, 6, 8, 24, 8, 12, 16, 24, 0, 0, 0};
  Bytes out;
  const auto put = [&out](std::uint64_t value, std::size_t bytes) {
    for (std::size_t i = bytes; i-- > 0;)
      out.push_back(static_cast<std::byte>(value >> (8 * i)));
  };
  const bool timed = choices.flag();
  const std::uint64_t peer = choices.flag() ? choices.up_to(4) : 0x0FFF;
  put((timed ? 0x8000u : 0u) | choices.up_to(3) << 12 | peer, 2);
  if (timed) put(choices.up_to(UINT16_MAX), 2);
  for (std::uint64_t n = choices.up_to(3) + 1; n > 0; --n) {
    const auto kind = static_cast<std::uint8_t>(choices.up_to(12));
    const std::size_t begin = out.size();
    put(kind | (choices.flag() ? 0x80u : 0u), 1);
    put(choices.up_to(2), 1);
    while (out.size() - begin < kSizes[kind])
      put(choices.up_to(255), 1);
    const auto set16 = [&](std::size_t at, std::uint64_t value) {
      if (begin + at + 1 >= out.size()) return;
      out[begin + at] = static_cast<std::byte>(value >> 8);
      out[begin + at + 1] = static_cast<std::byte>(value);
    };
    const std::uint64_t length = choices.up_to(choices.flag() ? 30 : 1300);
    if (kind == 2 && choices.flag()) {
      set16(16, 0);
      set16(18, 2);  // channels
    }
    if (kind == 6 || kind == 8) set16(kind == 6 ? 4 : 6, length);
    if (kind == 9) set16(6, length);
    if (kind == 6 || kind == 8 || kind == 9) out.resize(out.size() + length, std::byte{1});
  }
  return out;
}

/// How ENet 1.3.17 handles arriving reliable commands, written after its source: an ordered list, searched
/// from the end.
class Arrivals {
 public:
  explicit Arrivals(std::uint16_t taken) : taken_(taken) {}

  /// Handles an arriving command. Returns the number of steps along the list.
  std::size_t arrive(std::uint16_t number, bool whole) {
    constexpr unsigned kWindow = 4096, kWindows = 16, kFree = 8;
    unsigned window = number / kWindow;
    const unsigned current = taken_ / kWindow;
    if (number < taken_) window += kWindows;
    if (window < current || window >= current + kFree - 1 || number == taken_) return 0;
    std::size_t steps = 0;
    auto at = waiting_.end();
    for (; at != waiting_.begin(); --at, ++steps) {
      const std::uint16_t other = std::prev(at)->number;
      if (number >= taken_ ? other < taken_ : false) continue;
      if (number < taken_ && other >= taken_) break;
      if (other > number) continue;
      if (other == number) return steps + 1;
      break;
    }
    waiting_.insert(at, {number, whole});
    while (!waiting_.empty() && waiting_.front().whole &&
           waiting_.front().number == static_cast<std::uint16_t>(taken_ + 1)) {
      ++taken_;
      waiting_.erase(waiting_.begin());
    }
    return steps + 1;
  }
  /// Builds ENet's lists for the current state.
  void show(test::EnetLists& lists) const {
    for (const Command& each : waiting_)
      lists.wait(each.number);
  }
  [[nodiscard]] std::uint16_t taken() const { return taken_; }

 private:
  struct Command {
    std::uint16_t number;
    bool whole;
  };
  std::uint16_t taken_;
  std::vector<Command> waiting_;
};

// Reliable commands and acknowledgements with numbers close to the limits.
Bytes near(Choices& choices, std::uint16_t taken, std::uint16_t given) {
  Bytes out;
  const auto put = [&out](std::uint64_t value, std::size_t bytes) {
    for (std::size_t i = bytes; i-- > 0;)
      out.push_back(static_cast<std::byte>(value >> (8 * i)));
  };
  put(0x8000, 2);
  put(0, 2);
  for (std::uint64_t n = choices.up_to(31) + 1; n > 0; --n) {
    const std::uint64_t off = choices.rarely(15) ? choices.up_to(UINT16_MAX) : choices.up_to(1100);
    const std::uint64_t number = (choices.flag() ? taken : given) + off - choices.up_to(3);
    switch (choices.up_to(3)) {
      case 0:
        put(0x01, 1);
        put(choices.rarely(7) ? choices.up_to(255) : 0, 1);
        put(0, 2);
        put(number, 2);
        put(0, 2);
        break;
      case 1:  // the first of two fragments
        put(0x8800, 2);
        put(number, 2);
        put(number, 2);
        put(1, 2);
        for (const unsigned value : {2u, 0u, 2u, 0u})
          put(value, 4);
        put(7, 1);
        break;
      default:
        put(0x8600, 2);
        put(number, 2);
        put(0, 2);
    }
  }
  return out;
}

// Accepted datagrams cost ENet no more steps than the filter counted. No accepted command is too far ahead,
// and none acknowledges a command that was never sent.
void work(Choices& choices) {
  const auto given = static_cast<std::uint16_t>(choices.up_to(UINT16_MAX));
  const auto under_way = static_cast<std::uint16_t>(choices.up_to(40));
  const auto unsent = static_cast<std::uint16_t>(choices.up_to(5));
  const auto begin = static_cast<std::uint16_t>(choices.up_to(UINT16_MAX));
  Arrivals arrivals(begin);
  SearchCostLimit work;
  for (std::uint64_t n = choices.up_to(7) + 1; n > 0; --n) {
    test::EnetLists lists(arrivals.taken(), given);
    arrivals.show(lists);
    const auto sent = static_cast<std::uint16_t>(given - unsent);
    for (std::uint16_t i = 0; i < under_way; ++i)
      lists.send(static_cast<std::uint16_t>(sent - i));
    for (std::uint16_t i = 1; i <= unsent; ++i)
      lists.queue(static_cast<std::uint16_t>(sent + i), 0);
    const Bytes datagram = near(choices, arrivals.taken(), sent);
    if (!enet_filter::acceptable(datagram, Role::server)) continue;
    const std::uint64_t before = work.steps();
    if (work.refuse(lists.peer, datagram, 0.0)) continue;
    const std::uint64_t paid = work.steps() - before;
    std::size_t walked = 0;
    const std::uint16_t taken = arrivals.taken();
    enet_filter::for_each_command(datagram, [&](const enet_filter::Command& command) {
      using enet_filter::Kind;
      if (command.kind == Kind::acknowledge) {
        const auto beyond = static_cast<std::uint16_t>(command.about - sent);
        check(command.channel != 0 || beyond == 0 || beyond >= 0x8000, "what is acknowledged was sent");
        return;
      }
      const auto ahead = static_cast<std::uint16_t>(command.about - taken);
      check(ahead <= CommandWindow::kCommands || ahead >= 0x8000, "nothing is too far ahead");
      walked += arrivals.arrive(command.about, command.kind == Kind::send_reliable);
    });
    check(walked <= paid, "ENet's steps are within the counted budget");
  }
}

}  // namespace

void run(std::span<const std::byte> input) {
  if (input.empty()) return;
  if (input.front() == kRaw) return look(input.subspan(1));
  Choices choices{input.subspan(1)};
  Bytes datagram = any_datagram(choices);
  look(datagram);
  if (damage(choices, datagram)) look(datagram);
  const std::size_t length = choices.up_to(kMaxStateBytes);
  const auto head = enet_filter::lone_state_head(
      static_cast<std::uint32_t>(choices.up_to(4094)), static_cast<std::uint32_t>(choices.up_to(3)),
      static_cast<std::uint16_t>(choices.up_to(UINT16_MAX)), length);
  Bytes lone(head.begin(), head.end());
  lone.resize(lone.size() + length);
  check(enet_filter::acceptable(lone, Role::server), "what we write ourselves is let through");
  check(enet_filter::lone_state(lone) && enet_filter::lone_state(lone)->size() == length,
        "what we write ourselves is read");
  work(choices);
}

std::vector<Bytes> seeds() {
  std::vector<Bytes> out;
  std::mt19937_64 random{17};
  for (int i = 0; i < 16; ++i) {
    Bytes decisions(60);
    for (std::byte& each : decisions)
      each = static_cast<std::byte>(random() & 0xff);
    Choices choices{decisions};
    const Bytes datagram = any_datagram(choices);
    if (datagram.size() < 600) out.push_back(marked(kRaw, datagram));
  }
  add_choices(out, 12, 80, kChoices);
  add_choices(out, 12, 1200, kChoices);
  return out;
}

}  // namespace reckoner::fuzz
