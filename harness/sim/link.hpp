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

/// One direction of a network. The defaults describe a perfect network.
struct LinkOptions {
  double latency_ms = 0.0;    ///< minimum delay, >= 0
  double jitter_ms = 0.0;     ///< the delay of each datagram is latency + |N(0,1)| x jitter; >= 0
  double loss_percent = 0.0;  ///< long-run share of lost datagrams, 0..100
  double burst = 1.0;         ///< mean number of consecutive losses; if 1 or less, losses are independent
  double duplicate_percent = 0.0;  ///< share of delivered datagrams that arrive twice, 0..100
  double rate_kbps = 0.0;          ///< rate limit in 1000 bits per second, headers included; 0: no limit
  double queue_ms = 100.0;  ///< if the rate limit delays a datagram by more than this, it is dropped; >= 0

  friend bool operator==(const LinkOptions&, const LinkOptions&) = default;
};

/// A network with a name. Both directions have the same options.
struct NamedNetwork {
  std::string_view name;
  LinkOptions options;
};

/// All named networks, ordered from the best to the worst.
[[nodiscard]] std::span<const NamedNetwork> named_networks();

/// The options of the network called `name`, or nullopt if there is none.
[[nodiscard]] std::optional<LinkOptions> find_network(std::string_view name);

/// Sets the option called `name` to `value`. The names are the command line's option names without the
/// leading dashes ("latency-ms", "loss", "burst", ...). Returns an error and changes nothing if the name is
/// unknown or the value is out of range.
[[nodiscard]] std::optional<Error> set_option(LinkOptions& options, std::string_view name, double value);

/// Returns an error that names the first invalid option, or nullopt.
[[nodiscard]] std::optional<Error> check(const LinkOptions& options);

/// The result of sending one datagram over a link.
struct LinkFate {
  std::size_t count = 0;              ///< number of copies that arrive: 0 (lost), 1 or 2 (duplicated)
  std::array<double, 2> arrived_s{};  ///< arrival times in any order; only the first `count` are valid
  bool queue_full = false;            ///< true: dropped because the queue of the rate limit was full

  [[nodiscard]] bool lost() const { return count == 0; }
};

/// One direction of a network. The results depend only on the seed, the options, and the sizes and send times
/// of the datagrams.
///
/// A datagram first waits in the queue of the rate limit (first in, first out; tail drop). Then it may be
/// lost. A lost datagram uses up rate like any other. Otherwise it is delayed. A duplicate gets its own
/// delay.
///
/// If burst > 1, losses follow Gilbert's model (E. N. Gilbert 1960). The model has a good and a bad state,
/// takes one step per datagram, and loses every datagram in the bad state. With loss rate P and burst B, the
/// probability of a change from bad to good is 1/B, and the probability of a change from good to bad is
/// P/(B(1 - P)). The long-run loss is then P and the mean burst length B.
///
/// Loss, duplication and delay each have their own random stream. Every datagram draws an equal number of
/// values from each stream, whatever the options are. Therefore, if two links have the same seed and differ
/// in one option, their results differ only by the effect of that option.
class Link {
 public:
  Link(const LinkOptions& options, std::uint64_t seed);

  /// Sends a datagram of `bytes` (headers included) at `sent_s`. The caller must not decrease `sent_s` from
  /// call to call.
  [[nodiscard]] LinkFate pass(double sent_s, std::size_t bytes);

  /// Changes the options for later datagrams. Datagrams in flight and in the queue are not affected.
  void set_options(const LinkOptions& options) { options_ = options; }
  [[nodiscard]] const LinkOptions& options() const { return options_; }

 private:
  [[nodiscard]] bool step_loss();

  LinkOptions options_;
  scenario::Random loss_random_;
  scenario::Random duplicate_random_;
  scenario::Random delay_random_;
  bool bad_ = false;            ///< true in the bad state of Gilbert's model
  double queue_empty_s_ = 0.0;  ///< time when the queue of the rate limit is empty
  bool queue_used_ = false;
};

}  // namespace reckoner::harness
