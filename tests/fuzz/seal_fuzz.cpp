// SPDX-License-Identifier: MIT
// Sealed datagrams that are lost, repeated, reordered or forged: each genuine one opens once, and nothing
// else opens.
#include "fixed_random.hpp"
#include "net/src/secure/seal.hpp"
#include "target.hpp"

#include <array>
#include <set>

namespace reckoner::fuzz {

using namespace secure;

namespace {
constexpr std::array kKinds{Kind::datagram, Kind::ticket, Kind::probe, Kind::echo,
                            Kind::alive,    Kind::close,  Kind::closed};
}

void run(std::span<const std::byte> input) {
  fix_random();
  Choices choices{input};
  const SecretKey key = SecretKey::make();
  Sealer sealer{key, 77};
  Opener opener{key};
  std::vector<Bytes> sent;
  std::set<std::size_t> opened;
  std::array<std::byte, 600> out;
  while (!choices.empty() && sent.size() < 4000) {
    switch (choices.up_to(3)) {
      case 0:
        for (std::uint64_t n = choices.rarely(7) ? choices.up_to(1500) : 1; n > 0; --n) {
          const Bytes plain(choices.up_to(40), static_cast<std::byte>(sent.size()));
          Bytes sealed(plain.size() + kSealBytes);
          (void)sealer.seal(kKinds[choices.up_to(kKinds.size() - 1)], plain, sealed);
          sent.push_back(sealed);
        }
        break;
      case 1: {
        // Unchanged datagrams, mostly the newest.
        if (sent.empty()) break;
        const std::size_t back = choices.up_to(choices.rarely(3) ? sent.size() - 1 : 0);
        const std::size_t number = sent.size() - 1 - back;
        const bool in_window = opened.empty() || number + ReplayWindow::kSize > *opened.rbegin();
        const auto result = opener.open(sent[number], out);
        check(result.has_value() == (in_window && !opened.contains(number)),
              "each is opened once, if in time");
        if (!result) break;
        check(result->sequence == number && result->plain.size() == sent[number].size() - kSealBytes,
              "it is what was sealed");
        check(result->newest == (opened.empty() || number > *opened.rbegin()), "the newest is known");
        opened.insert(number);
        break;
      }
      case 2: {
        if (sent.empty()) break;
        Bytes forged = sent[choices.up_to(sent.size() - 1)];
        if (damage(choices, forged) && std::ranges::count(sent, forged) == 0)
          check(!opener.open(forged, out), "what was changed is not opened");
        break;
      }
      default: {
        const Bytes any = choices.bytes(60);
        check(!opener.open(any, out), "what was never sealed is not opened");
        break;
      }
    }
  }
}

std::vector<Bytes> seeds() {
  std::vector<Bytes> out;
  add_choices(out, 24, 400, std::byte{0});
  return out;
}

}  // namespace reckoner::fuzz
