// SPDX-License-Identifier: MIT
#include "harness/sim/link.hpp"

#include <algorithm>
#include <cmath>

namespace reckoner::harness {
namespace {

constexpr double kSecondsPerMs = 1e-3;

// For each network: latency, jitter, loss and mean burst.
constexpr std::array<NamedNetwork, 6> kNetworks{{
    {"lan", {.latency_ms = 2, .jitter_ms = 0.5, .loss_percent = 0, .burst = 1}},
    {"broadband", {.latency_ms = 30, .jitter_ms = 5, .loss_percent = 0.5, .burst = 1}},
    {"wifi", {.latency_ms = 50, .jitter_ms = 20, .loss_percent = 2, .burst = 2}},
    {"intercity", {.latency_ms = 80, .jitter_ms = 20, .loss_percent = 2, .burst = 1}},
    {"mobile", {.latency_ms = 80, .jitter_ms = 40, .loss_percent = 3, .burst = 3}},
    {"stress", {.latency_ms = 150, .jitter_ms = 60, .loss_percent = 10, .burst = 2}},
}};

struct OptionField {
  std::string_view name;
  double LinkOptions::*field;
  double least;
  double most;
};

// The upper bounds are one hour of delay and one terabit per second. They serve only to keep times finite.
constexpr std::array<OptionField, 7> kFields{{
    {"latency-ms", &LinkOptions::latency_ms, 0.0, 3.6e6},
    {"jitter-ms", &LinkOptions::jitter_ms, 0.0, 3.6e6},
    {"loss", &LinkOptions::loss_percent, 0.0, 100.0},
    {"burst", &LinkOptions::burst, 0.0, 1e6},
    {"duplicate", &LinkOptions::duplicate_percent, 0.0, 100.0},
    {"rate-kbps", &LinkOptions::rate_kbps, 0.0, 1e9},
    {"queue-ms", &LinkOptions::queue_ms, 0.0, 3.6e6},
}};

std::optional<Error> check_value(const OptionField& field, double value) {
  // This form of the condition rejects NaN as well.
  if (value >= field.least && value <= field.most) return std::nullopt;
  const auto whole = [](double bound) { return std::to_string(static_cast<long>(bound)); };
  return Error{std::string(field.name) + " must be between " + whole(field.least) + " and " +
               whole(field.most)};
}

}  // namespace

std::span<const NamedNetwork> named_networks() {
  return kNetworks;
}

std::optional<LinkOptions> find_network(std::string_view name) {
  const auto found = std::ranges::find(kNetworks, name, &NamedNetwork::name);
  if (found == kNetworks.end()) return std::nullopt;
  return found->options;
}

std::optional<Error> set_option(LinkOptions& options, std::string_view name, double value) {
  const auto field = std::ranges::find(kFields, name, &OptionField::name);
  if (field == kFields.end()) return Error{"unknown link option '" + std::string(name) + "'"};
  if (auto wrong = check_value(*field, value)) return wrong;
  options.*(field->field) = value;
  return std::nullopt;
}

std::optional<Error> check(const LinkOptions& options) {
  for (const OptionField& field : kFields) {
    if (auto wrong = check_value(field, options.*(field.field))) return wrong;
  }
  return std::nullopt;
}

Link::Link(const LinkOptions& options, std::uint64_t seed)
    : options_(options), loss_random_(seed, 0), duplicate_random_(seed, 1), delay_random_(seed, 2) {
  // Start in the stationary distribution of Gilbert's model. The first datagram then has the same loss
  // probability as all others.
  bad_ = loss_random_.uniform() < options_.loss_percent / 100.0;
}

bool Link::step_loss() {
  const double draw = loss_random_.uniform();
  const double loss = options_.loss_percent / 100.0;
  if (options_.burst <= 1.0 || loss <= 0.0 || loss >= 1.0) {
    bad_ = draw < loss;
    return bad_;
  }
  double leave = 1.0 / options_.burst;
  double enter = loss * leave / (1.0 - loss);
  if (enter > 1.0) {
    // This high loss rate is impossible with such short bursts. Keep the loss rate and make the bursts
    // longer.
    enter = 1.0;
    leave = (1.0 - loss) / loss;
  }
  bad_ = bad_ ? draw >= leave : draw < enter;
  return bad_;
}

LinkFate Link::pass(double sent_s, std::size_t bytes) {
  const bool lost = step_loss();
  const bool duplicated = duplicate_random_.uniform() < options_.duplicate_percent / 100.0;
  const std::array<double, 2> noise{std::abs(delay_random_.normal()), std::abs(delay_random_.normal())};

  LinkFate fate;
  double left_s = sent_s;
  if (options_.rate_kbps > 0.0) {
    const double start_s = queue_used_ ? std::max(sent_s, queue_empty_s_) : sent_s;
    if (start_s - sent_s > options_.queue_ms * kSecondsPerMs) {
      fate.queue_full = true;
      return fate;
    }
    left_s = start_s + static_cast<double>(bytes) * 8.0 / (options_.rate_kbps * 1000.0);
    queue_empty_s_ = left_s;
    queue_used_ = true;
  } else if (queue_used_) {
    // The rate limit was removed. Datagrams that still wait in its queue are sent first.
    left_s = std::max(sent_s, queue_empty_s_);
  }
  if (lost) return fate;

  fate.count = duplicated ? 2 : 1;
  for (std::size_t i = 0; i < fate.count; ++i) {
    fate.arrived_s[i] = left_s + (options_.latency_ms + noise[i] * options_.jitter_ms) * kSecondsPerMs;
  }
  return fate;
}

}  // namespace reckoner::harness
