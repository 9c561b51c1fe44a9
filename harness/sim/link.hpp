// SPDX-License-Identifier: MIT
#pragma once

#include "scenario/builtin/random.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <reckoner/reckoning/result.hpp>

namespace reckoner::harness {

/// One direction of a network. The defaults are a perfect one.
struct LinkOptions {
  double latency_ms = 0.0;         ///< least delay, >= 0
  double jitter_ms = 0.0;          ///< delay = latency + |N(0,1)| x jitter, drawn per datagram; >= 0
  double loss_percent = 0.0;       ///< share of datagrams lost in the long run, 0..100
  double burst = 1.0;              ///< mean number of losses in a row; up to 1: each loss is independent
  double duplicate_percent = 0.0;  ///< share of delivered datagrams that arrive a second time, 0..100
  double rate_kbps = 0.0;          ///< 1000 bits a second, headers included; 0: no limit
  double queue_ms = 100.0;         ///< a datagram that would wait longer for the rate is dropped; >= 0

  friend bool operator==(const LinkOptions&, const LinkOptions&) = default;
};

/// A network that has a name; the same both ways.
struct NamedNetwork {
  std::string_view name;
  LinkOptions options;
};

/// The named networks, from the best to the worst.
[[nodiscard]] std::span<const NamedNetwork> named_networks();

/// The network of that name, or nothing.
[[nodiscard]] std::optional<LinkOptions> find_network(std::string_view name);

/// Sets one option by its name on the command line without dashes in front ("latency-ms", "loss", "burst",
/// ...). Says what is wrong with an unknown name or a value outside the option's range, and then changes
/// nothing.
[[nodiscard]] std::optional<Error> set_option(LinkOptions& options, std::string_view name, double value);

/// What is wrong with these options, or nothing.
[[nodiscard]] std::optional<Error> check(const LinkOptions& options);

/// What became of one datagram.
struct LinkFate {
  std::size_t count = 0;              ///< copies that arrive: 0 (lost), 1 or 2 (duplicated)
  std::array<double, 2> arrived_s{};  ///< when; the first `count` are valid, in no particular order
  bool queue_full = false;            ///< lost because the queue in front of the rate limit was full

  [[nodiscard]] bool lost() const { return count == 0; }
};

/// One direction of a network as a pure function of the datagrams sent, their times and a seed.
///
/// A datagram first waits for the rate limit (first in, first out; tail drop), is then lost or not (losses
/// take up the rate too), then delayed; a duplicate gets a delay of its own. With burst > 1 losses follow
/// Gilbert's two states, one step a datagram, all lost in the bad one: bad to good with probability 1/B, good
/// to bad with P/(B(1 - P)), which makes the long-run loss P and the mean burst B (E. N. Gilbert 1960).
///
/// Every datagram takes the same number of random draws from each of the streams for loss, duplication and
/// delay, whatever the options: two links with one seed that differ in one option differ in its effect only.
class Link {
 public:
  Link(const LinkOptions& options, std::uint64_t seed);

  /// The fate of a datagram of `bytes` (headers included) sent at `sent_s`; times must not go back.
  [[nodiscard]] LinkFate pass(double sent_s, std::size_t bytes);

  /// From now on; what is on its way keeps its fate, what waits in the queue its place.
  void set_options(const LinkOptions& options) { options_ = options; }
  [[nodiscard]] const LinkOptions& options() const { return options_; }

 private:
  [[nodiscard]] bool step_loss();

  LinkOptions options_;
  scenario::Random loss_random_;
  scenario::Random duplicate_random_;
  scenario::Random delay_random_;
  bool bad_ = false;          ///< Gilbert's state
  double line_free_s_ = 0.0;  ///< when the rate limit has sent all that waits
  bool line_used_ = false;
};

}  // namespace reckoner::harness
