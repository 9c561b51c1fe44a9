// SPDX-License-Identifier: MIT
#include "harness/replay/client_clock.hpp"

#include "scenario/trace/decimal.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>

namespace reckoner::harness {
namespace {

constexpr double kOffsetS = 1000.0;
constexpr double kMostRate = 100.0;
constexpr double kLongestS = 1e6;

std::optional<double> number_of(std::string_view text) {
  const std::optional<double> value = scenario::read_decimal(text);
  return value && std::isfinite(*value) ? value : std::nullopt;
}

}  // namespace

Result<ClientClock> ClientClock::with_part(ClientClock clock, std::string_view part) {
  const std::size_t colon = part.find(':');
  const std::string_view name = part.substr(0, colon);
  const std::string_view rest = colon == std::string_view::npos ? std::string_view{} : part.substr(colon + 1);
  if (name == "rate") {
    const auto rate = number_of(rest);
    if (!rate || *rate <= 0.0 || *rate > kMostRate)
      return Error{"'" + std::string(part) + "': expected rate:R with a rate above 0, at most 100"};
    clock.rate_ = *rate;
    return clock;
  }
  const std::size_t comma = rest.find(',');
  if (comma != std::string_view::npos) {
    const auto at_s = number_of(rest.substr(0, comma));
    const auto value_s = number_of(rest.substr(comma + 1));
    const bool in_range = at_s && value_s && *at_s >= 0.0 && std::abs(*value_s) <= kLongestS;
    if (name == "stop" && in_range && *value_s >= 0.0) {
      clock.changes_.push_back({.at_s = *at_s, .stop_s = *value_s});
      return clock;
    }
    if (name == "step" && in_range) {
      clock.changes_.push_back({.at_s = *at_s, .step_s = *value_s});
      return clock;
    }
  }
  return Error{"'" + std::string(part) + "': expected rate:R, stop:AT,FOR or step:AT,BY, in seconds"};
}

Result<ClientClock> ClientClock::parse(std::string_view text) {
  ClientClock clock;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find('|', begin), text.size());
    auto with = with_part(std::move(clock), text.substr(begin, end - begin));
    if (!with) return with;
    clock = std::move(*with);
    begin = end + 1;
  }
  return clock;
}

double ClientClock::at(double time_s, double start_s) const {
  double local_s = time_s + kOffsetS;
  if (rate_ == 1.0 && changes_.empty()) return local_s;
  const double since_s = time_s - start_s;
  double stopped_s = 0.0, step_s = 0.0;
  for (const Change& change : changes_) {
    stopped_s += std::clamp(since_s - change.at_s, 0.0, change.stop_s);
    if (since_s >= change.at_s) step_s += change.step_s;
  }
  return start_s + kOffsetS + (since_s - stopped_s) * rate_ + step_s;
}

}  // namespace reckoner::harness
