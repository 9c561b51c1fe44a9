// SPDX-License-Identifier: MIT
#include "overlay.hpp"

#include <algorithm>
#include <cstdarg>
#include <cstdio>

#include <glm/geometric.hpp>

namespace arena {
namespace {

constexpr Color kTruthColor{255, 255, 255}, kMotionColor{255, 170, 60}, kBlendColor{255, 90, 90},
    kDim{150, 158, 174};

const char* mode_name(reckoner::PlayoutMode mode) {
  if (mode == reckoner::PlayoutMode::present) return "present";
  return mode == reckoner::PlayoutMode::adaptive ? "adaptive" : "delayed";
}

std::string format(const char* form, ...) {
  char out[128];
  va_list values;
  va_start(values, form);
  std::vsnprintf(out, sizeof out, form, values);
  va_end(values);
  return out;
}

}  // namespace

Overlay::Truth::Truth(std::uint16_t port)
    : dialer("127.0.0.1", port, reckoner::kProtocolVersion, reckoner::Insecure{}) {
  if (auto made = reckoner::Client::create(Player::config(), dialer)) client.emplace(std::move(*made));
}

void Overlay::show(bool shown) {
  shown_ = shown;
  truth_ = shown && truth_port_ != 0 ? std::make_unique<Truth>(truth_port_) : nullptr;
  true_entities_.clear();
}

void Overlay::update(double local_s) {
  if (local_s >= second_began_s_ + 1.0) {
    const reckoner::TransportStats now = dialer_.stats();
    const double passed_s = local_s - second_began_s_;
    down_per_s_ = static_cast<double>(now.wire_bytes_received - before_.wire_bytes_received) / passed_s;
    up_per_s_ = static_cast<double>(now.wire_bytes_sent - before_.wire_bytes_sent) / passed_s;
    before_ = now, second_began_s_ = local_s;
  }
  if (!truth_ || !truth_->client) return;
  truth_->client->receive(local_s);
  while (truth_->client->poll_event()) {
  }
  while (truth_->client->poll_message()) {
  }
  const auto shown = truth_->client->frame(local_s);
  true_entities_.assign(shown.begin(), shown.end());
}

// For each fighter: a thin ring where it really is, an orange one where its newest motion is, and a red line
// while the drawn pose is blended towards that motion.
void Overlay::draw_ghosts(Canvas& canvas, const Player& player) {
  double error_sum_m = 0.0, age_sum_s = 0.0;
  int compared = 0;
  worst_error_m_ = 0.0, blending_ = fading_ = moving_ = 0;
  for (const reckoner::ShownEntity& entity : player.shown()) {
    const auto debug = player.client().debug(entity.id);
    const auto* info = player.client().info(entity.id);
    if (!debug || info == nullptr || info->archetype != kFighter || debug->owned) continue;
    ++moving_;
    age_sum_s += debug->age_s;
    if (debug->fading) ++fading_;
    const auto truth = std::find_if(true_entities_.begin(), true_entities_.end(),
                                    [&](const auto& other) { return other.id == entity.id; });
    if (truth != true_entities_.end()) {
      const double error_m = glm::distance(truth->shown.position, entity.shown.position);
      error_sum_m += error_m, ++compared;
      worst_error_m_ = std::max(worst_error_m_, error_m);
      canvas.ring(truth->shown.position, kBodyRadiusM, kTruthColor, 1);
    }
    canvas.ring(debug->motion.position, 0.6 * kBodyRadiusM, kMotionColor, 1);
    if (debug->blend_left_s > 0.0) {
      ++blending_;
      canvas.line(entity.shown.position, debug->motion.position, kBlendColor, 0.08);
    }
    canvas.label(entity.shown.position, -18, format("%.0f", 1e3 * debug->age_s),
                 debug->fading ? kBlendColor : kDim);
  }
  mean_error_m_ = compared > 0 ? error_sum_m / compared : 0.0;
  mean_age_s_ = moving_ > 0 ? age_sum_s / moving_ : 0.0;
}

void Overlay::draw(Canvas& canvas, const Player& player, const std::string& network, double local_s,
                   double frame_ms) {
  draw_ghosts(canvas, player);
  const reckoner::Client& client = player.client();
  const reckoner::ClientStats& stats = client.stats();
  const auto server_s = client.server_time_s(local_s);
  const auto true_s = truth_ && truth_->client ? truth_->client->server_time_s(local_s) : std::nullopt;
  const double all = static_cast<double>(stats.datagrams_received + stats.datagrams_lost);
  int y = 236;
  const auto say = [&](const std::string& words, Color color = {}) {
    canvas.text(16, y, words, color), y += 18;
  };
  canvas.panel(8, y - 8, 236, 420, {0, 0, 0, 110});
  say("LINK", kDim);
  say("network    " + network);
  say(format("round trip %.0f ms", 1e3 * stats.round_trip_s));
  say(format("lost       %.1f %%",
             all > 0.0 ? 100.0 * static_cast<double>(stats.datagrams_lost) / all : 0.0));
  say(format("down       %.1f kB/s", 1e-3 * down_per_s_));
  say(format("up         %.1f kB/s", 1e-3 * up_per_s_));
  y += 8;
  say("CLOCK", kDim);
  say(server_s ? format("server     %.2f s", *server_s) : "server     unknown");
  if (server_s && true_s) say(format("estimate   %+.1f ms off", 1e3 * (*server_s - *true_s)));
  say(std::string("mode       ") + mode_name(client.playout().mode));
  say(format("shown      %.0f ms ago", 1e3 * stats.delay_s));
  say(format("frame      %.1f ms of work", frame_ms));
  y += 8;
  say("MOTION", kDim);
  say(format("fighters   %d", moving_));
  say(format("age        %.0f ms, mean", 1e3 * mean_age_s_));
  say(format("blending   %d   fading %d", blending_, fading_));
  say(format("updates    %llu", static_cast<unsigned long long>(stats.updates_applied)));
  if (!true_entities_.empty()) say(format("error      %.2f, most %.2f m", mean_error_m_, worst_error_m_));
  y += 8;
  say("o where it really is", kTruthColor);
  say("o its newest motion", kMotionColor);
  say("- blending", kBlendColor);
}

}  // namespace arena
