// SPDX-License-Identifier: MIT
#include "harness/prediction/football_summary.hpp"

#include <algorithm>
#include <cmath>

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

struct Samples {
  std::vector<double> own_error, ball_error, ball_at_own, others_error, others_at_own, lead, response;
  std::vector<double> shown_steps, true_steps, shown_steps_all, true_steps_all, excess, added;
  double step_max = 0.0, left_max = 0.0;
};

double rms(const std::vector<double>& values) {
  return describe(values).rms;
}

// Steps of velocity and excess acceleration over three consecutive pictures.
void add_steps(const PlayerRecord& player, std::size_t display, std::size_t i, const FootballServer& server,
               std::size_t car, Samples& samples) {
  const Picture &a = player.pictures[i - 2], &b = player.pictures[i - 1], &c = player.pictures[i];
  const auto at = [&](const Picture& p) { return server.truth(car, p.own_s); };
  const auto ta = at(a), tb = at(b), tc = at(c);
  const double dt = 0.5 * (c.own_s - a.own_s);
  if (!ta || !tb || !tc || b.own_s <= a.own_s || c.own_s <= b.own_s) return;
  const double d1 = b.own_s - a.own_s, d2 = c.own_s - b.own_s;
  const auto change = [&](const glm::dvec3& p, const glm::dvec3& q, const glm::dvec3& r) {
    return (r - q) / d2 - (q - p) / d1;
  };
  const glm::dvec3 shown = change(a.own[display].position, b.own[display].position, c.own[display].position);
  const glm::dvec3 truth = change(ta->position, tb->position, tc->position);
  samples.excess.push_back(glm::length(shown - truth) / dt);
  samples.shown_steps_all.push_back(glm::length(shown));
  samples.true_steps_all.push_back(glm::length(truth));
  if (!is_near_correction(player, c.own_s)) return;
  samples.shown_steps.push_back(glm::length(shown));
  samples.true_steps.push_back(glm::length(truth));
}

void add_picture(const Picture& picture, std::size_t display, std::size_t car, const FootballServer& server,
                 Samples& samples) {
  const Drawn& own = picture.own[display];
  const Drawn& ball = picture.ball[display];
  const auto error = [&](std::size_t body, const glm::dvec3& shown, double time_s, std::vector<double>& out) {
    if (const auto truth = server.truth(body, time_s)) out.push_back(glm::distance(shown, truth->position));
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
  samples.step_max = std::max(samples.step_max, own.step_m);
  if (picture.since_correction_s > kFadedS) samples.left_max = std::max(samples.left_max, own.offset_m);
}

Samples collect(std::size_t display, const FootballServer& server, std::span<const PlayerRecord* const> players) {
  Samples samples;
  for (std::size_t car = 0; car < players.size(); ++car) {
    const PlayerRecord& player = *players[car];
    samples.response.insert(samples.response.end(), player.response_frames.begin(), player.response_frames.end());
    for (std::size_t i = 2; i < player.pictures.size(); ++i) {
      const Picture& picture = player.pictures[i];
      if (picture.time_s < kWarmUpS) continue;
      // From a kick-off until all that is shown has settled.
      const double first_s = std::min({picture.own_s, picture.ball_s, picture.others_s});
      if (server.kicked_off(first_s - kSettleS - 0.5, picture.own_s + 0.1)) continue;
      add_picture(picture, display, car, server, samples);
      add_steps(player, display, i, server, car, samples);
    }
  }
  return samples;
}

void count_contacts(const FootballServer& server, std::span<const PlayerRecord* const> players,
                    FootballFigures& figures) {
  std::uint64_t cars = 0, cars_denied = 0, balls = 0, balls_denied = 0;
  for (std::size_t car = 0; car < players.size(); ++car) {
    for (const SeenContact& contact : players[car]->contacts) {
      const double time_s = server.tick_s(contact.tick);
      if (time_s < kWarmUpS || time_s + kTouchS > server.end_s()) continue;
      if (server.kicked_off(time_s - kSettleS - 0.5, time_s + kTouchS)) continue;
      const bool denied = !server.touched(car, contact.with, contact.tick, kTouchS);
      (contact.with == kBall ? balls : cars) += 1;
      (contact.with == kBall ? balls_denied : cars_denied) += denied ? 1 : 0;
    }
  }
  const auto share = [](std::uint64_t part, std::uint64_t of) {
    return of > 0 ? std::optional{static_cast<double>(part) / static_cast<double>(of)} : std::nullopt;
  };
  figures.contacts_seen = cars + balls;
  figures.contacts_denied_share = share(cars_denied + balls_denied, cars + balls);
  figures.car_contacts_denied_share = share(cars_denied, cars);
  figures.ball_contacts_denied_share = share(balls_denied, balls);
}

void count_corrections(std::span<const PlayerRecord* const> players, double minutes, FootballFigures& figures) {
  for (const PlayerRecord* player : players) {
    for (const Applied& one : player->corrections) {
      if (one.until_s < kWarmUpS) continue;
      figures.corrections_per_minute += 1.0 / minutes;
      if (one.reason == CorrectionReason::input_missing) figures.corrections_input_missing_per_minute += 1.0 / minutes;
      if (one.reason == CorrectionReason::differs) figures.corrections_differs_per_minute += 1.0 / minutes;
      if (one.reason == CorrectionReason::teleported) figures.corrections_teleported_per_minute += 1.0 / minutes;
    }
  }
}

double ratio(const std::vector<double>& shown, const std::vector<double>& truth) {
  const double of = describe(truth).p99;
  return of > 0.0 ? describe(shown).p99 / of : 0.0;
}

}  // namespace

std::vector<FootballFigures> summarise(const FootballOptions& options, const FootballServer& server,
                                       std::span<const PlayerRecord* const> players, const Counters& before,
                                       const Counters& after) {
  const bool predicts = options.approach == Approach::prediction;
  const double client_s = options.seconds * static_cast<double>(players.size());
  std::vector<FootballFigures> all;
  for (std::size_t display = 0; display < (predicts ? kDisplays : 1); ++display) {
    const Samples samples = collect(display, server, players);
    FootballFigures f;
    f.method = predicts ? std::string(kDisplayNames[display])
                        : options.approach == Approach::none ? "no-prediction" : "ownership";
    f.pictures = samples.lead.size();
    f.own_response_frames = describe(samples.response);
    f.own_velocity_step_ratio_all_p99 = ratio(samples.shown_steps_all, samples.true_steps_all);
    f.own_error_m = describe(samples.own_error);
    f.own_excess_acceleration_mps2 = rms(samples.excess);
    f.ball_error_m = describe(samples.ball_error);
    f.ball_error_at_own_m = describe(samples.ball_at_own);
    f.others_error_m = describe(samples.others_error);
    f.others_error_at_own_m = describe(samples.others_at_own);
    if (predicts) {
      if (!samples.true_steps.empty()) f.own_velocity_step_ratio_p99 = ratio(samples.shown_steps, samples.true_steps);
      f.own_position_step_m_max = samples.step_max;
      f.own_offset_left_m_max = samples.left_max;
      f.correction_acceleration_mps2 = rms(samples.added);
      f.lead_s = describe(samples.lead);
      if (after.ticks > before.ticks)
        f.ticks_without_input_share = static_cast<double>(after.ticks_repeated - before.ticks_repeated) /
                                      static_cast<double>(after.ticks - before.ticks);
    }
    count_corrections(players, client_s / 60.0, f);
    if (options.approach != Approach::none) count_contacts(server, players, f);
    f.up_bytes_per_s = static_cast<double>(after.up_bytes - before.up_bytes) / client_s;
    f.down_bytes_per_s = static_cast<double>(after.down_bytes - before.down_bytes) / client_s;
    f.up_wire_bytes_per_s = static_cast<double>(after.up_wire_bytes - before.up_wire_bytes) / client_s;
    f.down_wire_bytes_per_s = static_cast<double>(after.down_wire_bytes - before.down_wire_bytes) / client_s;
    all.push_back(std::move(f));
  }
  if (predicts) {
    const double snap = *all[static_cast<std::size_t>(Display::snap)].correction_acceleration_mps2;
    for (FootballFigures& f : all) {
      if (snap > 0.0) f.correction_acceleration_to_snap = *f.correction_acceleration_mps2 / snap;
    }
  }
  return all;
}

}  // namespace reckoner::harness::football
