// SPDX-License-Identifier: MIT
#include "net/src/secure/path_check.hpp"

#include "net/src/secure/address_bytes.hpp"
#include "net/src/secure/keys.hpp"
#include "net/src/wire/byte_stream.hpp"

#include <algorithm>
#include <cmath>

namespace reckoner::secure {
namespace {

constexpr double kFirstProbeWaitS = 0.1;  // between two probes; each wait is twice the previous one
constexpr double kMaxProbeWaitS = 0.4;
constexpr double kRoundS = 1.0;       // length of a round after the old address has won
constexpr double kPathSettleS = 2.0;  // after the new address has won: the old one may still prove itself
constexpr double kForgetS = 10.0;     // forgets a silent address, and an earlier round, after this time
constexpr double kChangesPerS = 5.0;  // maximum rate of changes of the probed address
constexpr double kChangesAtOnce = 5.0;

// The old address may take as long to answer as the new one took, within these bounds. The lower bound also
// limits by how much a copy may be faster than its original without taking the session.
constexpr double kMinPatienceS = 0.25;
constexpr double kMaxPatienceS = 1.0;

}  // namespace

PathNumbers::PathNumbers() {
  static_assert(crypto_shorthash_KEYBYTES == 16 && crypto_shorthash_BYTES == kBytes);
  const SecretKey random = SecretKey::make();
  std::copy_n(random.bytes().begin(), key_.size(), key_.begin());
}

PathNumbers::Number PathNumbers::of(std::uint32_t session, const SocketAddress& to,
                                    std::int64_t epoch) const {
  std::array<std::byte, 4 + kAddressBytes + 8> about;
  wire::ByteWriter(about).number(session).bytes(address_bytes(to)).number(epoch);
  Number number;
  crypto_shorthash(raw(number), raw(about), about.size(), raw(key_));
  return number;
}

PathNumbers::Number PathNumbers::make(std::uint32_t session, const SocketAddress& to, double now_s) const {
  return of(session, to, static_cast<std::int64_t>(std::floor(now_s / kGoodS)));
}

bool PathNumbers::good(std::span<const std::byte> number, std::uint32_t session, const SocketAddress& to,
                       double now_s) const {
  if (number.size() != kBytes) return false;
  const auto epoch = static_cast<std::int64_t>(std::floor(now_s / kGoodS));
  const auto is = [&](std::int64_t at) {
    const Number one = of(session, to, at);
    return sodium_memcmp(one.data(), number.data(), kBytes) == 0;
  };
  return is(epoch) || is(epoch - 1);
}

void PathCheck::begin(const SocketAddress& in_use, const SocketAddress& from, double now_s) {
  if (!open_ || in_use != old_.address) {
    old_ = {.address = in_use};
    asked_ = false;
  }
  new_ = {.address = from};
  open_ = true;
  wait_s_ = 0.0;
  if (changes_.spend(1.0, kChangesPerS, kChangesAtOnce, now_s)) next_s_ = std::min(next_s_, now_s);
}

void PathCheck::received(const SocketAddress& in_use, const Datagram& datagram, double now_s) {
  if (now_s - heard_s_ > kForgetS) open_ = false;
  if (open_ && in_use == new_.address && now_s - decided_s_ > kPathSettleS) open_ = false;
  const SocketAddress& from = datagram.from;
  const bool known = open_ && (from == old_.address || from == new_.address);
  const bool elsewhere = from != in_use && datagram.genuine;
  if (!known) {
    // Only the newest datagram starts a check. A forwarded copy of an older one does not.
    if (!elsewhere || !datagram.newest) return;
    begin(in_use, from, now_s);
  }
  Side& side = from == old_.address ? old_ : new_;
  side.credit += datagram.bytes;
  // A genuine datagram that is not the newest was in flight when the client moved. A repeated datagram, or
  // the newest one, shows that somebody sends from this address now, perhaps not the client.
  if (!datagram.genuine || datagram.newest) side.spoken = true;
  if (elsewhere) heard_s_ = now_s;
}

bool PathCheck::due(const SocketAddress& in_use, double now_s) const {
  if (!open_ || now_s < next_s_) return false;
  if (in_use == old_.address) return new_.credit >= kProbeBytes;
  return old_.spoken && old_.credit >= kProbeBytes && now_s - decided_s_ <= kPathSettleS;
}

void PathCheck::probed(Side& unproven, double now_s) {
  unproven.credit -= kProbeBytes;
  if (!asked_) asked_s_ = now_s;
  asked_ = true;
  wait_s_ = std::clamp(2.0 * wait_s_, kFirstProbeWaitS, kMaxProbeWaitS);
  next_s_ = now_s + wait_s_;
}

void PathCheck::new_hears(const SocketAddress& in_use, const SocketAddress& from, double now_s) {
  if (from != new_.address) begin(in_use, from, now_s);
  if (new_.hears) return;
  new_.hears = true;
  const double took_s = asked_ ? now_s - asked_s_ : 0.0;
  patience_s_ = now_s + std::clamp(took_s, kMinPatienceS, kMaxPatienceS);
}

// The old address works and stays in use. The other address may be checked again, but not at once.
void PathCheck::next_round(double now_s) {
  asked_ = false;
  old_.spoken = old_.hears = new_.hears = false;
  wait_s_ = 0.0;
  next_s_ = now_s + kRoundS;
}

SocketAddress PathCheck::decide(const SocketAddress& in_use, double now_s) {
  if (!open_) return in_use;
  if (old_.spoken && old_.hears) {
    const SocketAddress old = old_.address;
    next_round(now_s);
    return old;
  }
  if (in_use != old_.address || !new_.hears) return in_use;
  // A silent old address does not show that the client moved: its datagrams may be slower than their copies.
  if (now_s < patience_s_) return in_use;
  decided_s_ = now_s;
  old_.credit = 0;
  next_s_ = now_s;
  return new_.address;
}

}  // namespace reckoner::secure
