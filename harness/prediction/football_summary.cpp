// SPDX-License-Identifier: MIT
#include "harness/prediction/football_summary.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include <glm/geometric.hpp>

namespace reckoner::harness::football {
namespace {

constexpr double kSettleS = 0.7;  // after a kick-off
constexpr double kTouchS = 0.25;  // a contact of server and client is the same within this time
constexpr double kAfterCorrectionS = 0.5;
constexpr double kFadedS = 0.25;

bool is_near_correction(const PlayerRecord& player, double own_s) {
  return std::ranges::any_of(player.corrections, [&](const Applied& one) {
    return own_s >= one.tick_s && own_s <= one.until_s + kAfterCorrectionS;
  });
}

// Steps of velocity and excess acceleration over three consecutive pictures.
void add_steps(const PlayerRecord& player, std::size_t display, std::size_t i, const FootballTruth& truth,
               std::size_t car, FootballSamples& samples) {
  const Picture &a = player.pictures[i - 2], &b = player.pictures[i - 1], &c = player.pictures[i];
  const auto ta = truth.state(car, a.own_s), tb = truth.state(car, b.own_s), tc = truth.state(car, c.own_s);
  if (!ta || !tb || !tc || b.own_s <= a.own_s || c.own_s <= b.own_s) return;
  const double d1 = b.own_s - a.own_s, d2 = c.own_s - b.own_s;
  const auto change = [&](const glm::dvec3& p, const glm::dvec3& q, const glm::dvec3& r) {
    return (r - q) / d2 - (q - p) / d1;
  };
  const glm::dvec3 shown = change(a.own[display].position, b.own[display].position, c.own[display].position);
  const glm::dvec3 real = change(ta->position, tb->position, tc->position);
  samples.excess.push_back(glm::length(shown - real) / (0.5 * (d1 + d2)));
  samples.shown_steps_all.push_back(glm::length(shown));
  samples.true_steps_all.push_back(glm::length(real));
  if (!is_near_correction(player, c.own_s)) return;
  samples.shown_steps.push_back(glm::length(shown));
  samples.true_steps.push_back(glm::length(real));
}

void add_picture(const Picture& picture, std::size_t display, std::size_t car, const FootballTruth& truth,
                 FootballSamples& samples) {
  const Drawn& own = picture.own[display];
  const Drawn& ball = picture.ball[display];
  const auto error = [&](std::size_t body, const glm::dvec3& shown, double time_s, std::vector<double>& out) {
    if (const auto real = truth.state(body, time_s)) out.push_back(glm::distance(shown, real->position));
  };
  error(car, own.position, picture.own_s, samples.own_error);
  error(kBall, ball.position, picture.ball_s, samples.ball_error);
  error(kBall, ball.position, picture.own_s, samples.ball_at_own);
  for (std::size_t i = 0; i < kCars; ++i) {
    if (!picture.others[i]) continue;
    error(i, *picture.others[i], picture.others_s, samples.others_error);
    error(i, *picture.others[i], picture.own_s, samples.others_at_own);
  }
  samples.lead.push_back(picture.lead_s);
  samples.added.push_back(own.acceleration_mps2);
  samples.step_max_m = std::max(samples.step_max_m, own.step_m);
  if (picture.since_correction_s > kFadedS) samples.left_max_m = std::max(samples.left_max_m, own.offset_m);
}

void add_contacts(const FootballTruth& truth, const PlayerRecord& player, std::size_t car,
                  FootballSamples& samples) {
  for (const SeenContact& contact : player.contacts) {
    const double time_s = truth.tick_s(contact.tick);
    if (time_s < kWarmUpS || time_s + kTouchS > truth.end_s()) continue;
    if (truth.kicked_off(time_s - kSettleS - 0.5, time_s + kTouchS)) continue;
    const bool denied = !truth.touched(car, contact.with, contact.tick, kTouchS);
    (contact.with == kBall ? samples.ball_contacts : samples.car_contacts) += 1;
    (contact.with == kBall ? samples.ball_contacts_denied : samples.car_contacts_denied) += denied ? 1 : 0;
  }
}

void add_corrections(const PlayerRecord& player, FootballSamples& samples) {
  for (const Applied& one : player.corrections) {
    if (one.until_s < kWarmUpS) continue;
    ++samples.corrections;
    samples.input_missing += one.reason == CorrectionReason::input_missing ? 1 : 0;
    samples.differs += one.reason == CorrectionReason::differs ? 1 : 0;
    samples.teleported += one.reason == CorrectionReason::teleported ? 1 : 0;
  }
}

FootballCounters difference(const FootballCounters& after, const FootballCounters& before) {
  return {after.up_bits - before.up_bits,       after.down_bits - before.down_bits,
          after.up_bytes - before.up_bytes,     after.up_wire_bytes - before.up_wire_bytes,
          after.down_bytes - before.down_bytes, after.down_wire_bytes - before.down_wire_bytes,
          after.ticks - before.ticks,           after.ticks_repeated - before.ticks_repeated};
}

double ratio_p99(const std::vector<double>& shown, const std::vector<double>& real) {
  const double of = describe(real).p99;
  return of > 0.0 ? describe(shown).p99 / of : 0.0;
}

std::optional<double> share(std::uint64_t part, std::uint64_t of) {
  return of > 0 ? std::optional{static_cast<double>(part) / static_cast<double>(of)} : std::nullopt;
}

}  // namespace

FootballSamples& FootballSamples::operator+=(const FootballSamples& other) {
  predicts = other.predicts;
  steps_own = other.steps_own;
  client_s += other.client_s;
  for (std::vector<double> FootballSamples::*list :
       {&FootballSamples::response, &FootballSamples::own_error, &FootballSamples::ball_error,
        &FootballSamples::ball_at_own, &FootballSamples::others_error, &FootballSamples::others_at_own,
        &FootballSamples::lead, &FootballSamples::shown_steps, &FootballSamples::true_steps,
        &FootballSamples::shown_steps_all, &FootballSamples::true_steps_all, &FootballSamples::excess,
        &FootballSamples::added})
    (this->*list).insert((this->*list).end(), (other.*list).begin(), (other.*list).end());
  step_max_m = std::max(step_max_m, other.step_max_m);
  left_max_m = std::max(left_max_m, other.left_max_m);
  for (std::uint64_t FootballSamples::*count :
       {&FootballSamples::car_contacts, &FootballSamples::car_contacts_denied,
        &FootballSamples::ball_contacts, &FootballSamples::ball_contacts_denied,
        &FootballSamples::corrections, &FootballSamples::input_missing, &FootballSamples::differs,
        &FootballSamples::teleported})
    this->*count += other.*count;
  for (std::uint64_t FootballCounters::*count :
       {&FootballCounters::up_bits, &FootballCounters::down_bits, &FootballCounters::up_bytes,
        &FootballCounters::up_wire_bytes, &FootballCounters::down_bytes, &FootballCounters::down_wire_bytes,
        &FootballCounters::ticks, &FootballCounters::ticks_repeated})
    sent.*count += other.sent.*count;
  return *this;
}

FootballSamples collect_samples(const FootballOptions& options, const FootballTruth& truth,
                                std::span<const PlayerRecord* const> players, Display display,
                                const FootballCounters& before, const FootballCounters& after) {
  FootballSamples samples;
  samples.predicts = options.approach == Approach::prediction;
  samples.steps_own = options.approach != Approach::none;
  samples.client_s = options.seconds * static_cast<double>(players.size());
  samples.sent = difference(after, before);
  for (std::size_t car = 0; car < players.size(); ++car) {
    const PlayerRecord& player = *players[car];
    samples.response.insert(samples.response.end(), player.response_frames.begin(),
                            player.response_frames.end());
    for (std::size_t i = 2; i < player.pictures.size(); ++i) {
      const Picture& picture = player.pictures[i];
      if (picture.time_s < kWarmUpS) continue;
      // From a kick-off until all that is shown has settled.
      const double first_s = std::min({picture.own_s, picture.ball_s, picture.others_s});
      if (truth.kicked_off(first_s - kSettleS - 0.5, picture.own_s + 0.1)) continue;
      add_picture(picture, static_cast<std::size_t>(display), car, truth, samples);
      add_steps(player, static_cast<std::size_t>(display), i, truth, car, samples);
    }
    add_contacts(truth, player, car, samples);
    add_corrections(player, samples);
  }
  return samples;
}

FootballFigures summarise(std::string method, const FootballSamples& s, const FootballSamples* snapping) {
  FootballFigures f;
  f.method = std::move(method);
  f.pictures = s.lead.size();
  f.own_response_frames = describe(s.response);
  f.own_velocity_step_ratio_all_p99 = ratio_p99(s.shown_steps_all, s.true_steps_all);
  f.own_velocity_step_ratio_p99 =
      s.true_steps.empty() ? f.own_velocity_step_ratio_all_p99 : ratio_p99(s.shown_steps, s.true_steps);
  f.own_error_m = describe(s.own_error);
  f.own_excess_acceleration_mps2 = describe(s.excess).rms;
  f.ball_error_m = describe(s.ball_error);
  f.ball_error_at_own_m = describe(s.ball_at_own);
  f.others_error_m = describe(s.others_error);
  f.others_error_at_own_m = describe(s.others_at_own);
  if (s.predicts) {
    f.own_position_step_m_max = s.step_max_m;
    f.own_offset_left_m_max = s.left_max_m;
    f.correction_acceleration_mps2 = describe(s.added).rms;
    if (const double snap = snapping ? describe(snapping->added).rms : 0.0; snap > 0.0)
      f.correction_acceleration_to_snap = *f.correction_acceleration_mps2 / snap;
    f.lead_s = describe(s.lead);
    f.ticks_without_input_share = share(s.sent.ticks_repeated, s.sent.ticks);
  }
  if (s.steps_own) {
    f.contacts_seen = s.car_contacts + s.ball_contacts;
    f.contacts_denied_share = share(s.car_contacts_denied + s.ball_contacts_denied, f.contacts_seen);
    f.car_contacts_denied_share = share(s.car_contacts_denied, s.car_contacts);
    f.ball_contacts_denied_share = share(s.ball_contacts_denied, s.ball_contacts);
  }
  if (s.client_s <= 0.0) return f;
  const auto rate = [&](std::uint64_t count) { return static_cast<double>(count) / s.client_s; };
  f.corrections_per_minute = 60.0 * rate(s.corrections);
  f.corrections_input_missing_per_minute = 60.0 * rate(s.input_missing);
  f.corrections_differs_per_minute = 60.0 * rate(s.differs);
  f.corrections_teleported_per_minute = 60.0 * rate(s.teleported);
  f.up_bytes_per_s = rate(s.sent.up_bits) / 8.0;
  f.down_bytes_per_s = rate(s.sent.down_bits) / 8.0;
  f.up_payload_bytes_per_s = rate(s.sent.up_bytes);
  f.down_payload_bytes_per_s = rate(s.sent.down_bytes);
  f.up_wire_bytes_per_s = rate(s.sent.up_wire_bytes);
  f.down_wire_bytes_per_s = rate(s.sent.down_wire_bytes);
  return f;
}

}  // namespace reckoner::harness::football
