// SPDX-License-Identifier: MIT
#include "overlay.hpp"

#include "scene.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <glm/geometric.hpp>

namespace arena {
namespace {

constexpr Color kTruthColor{255, 255, 255}, kMotionColor{255, 170, 60}, kBlendColor{255, 90, 90};

}  // namespace

const char* mode_name(const reckoner::Client& client) {
  constexpr std::array kModes{"present", "adaptive", "delayed"};  // in the order of PlayoutMode
  return kModes[static_cast<std::size_t>(client.playout().mode)];
}

void Overlay::toggle() {
  shown_ = !shown_;
  truth_ = shown_ && truth_port_ != 0 ? std::make_unique<Connection>("127.0.0.1", truth_port_, "") : nullptr;
}

void Overlay::update(double local_s) {
  if (truth_) truth_->player.frame(local_s, {});
  if (local_s < second_began_s_ + 1.0) return;
  const reckoner::TransportStats now = connection_.dialer.stats();
  const double passed_s = local_s - second_began_s_;
  down_per_s_ = static_cast<double>(now.wire_bytes_received - before_.wire_bytes_received) / passed_s;
  up_per_s_ = static_cast<double>(now.wire_bytes_sent - before_.wire_bytes_sent) / passed_s;
  before_ = now, second_began_s_ = local_s;
}

// For each fighter: a thin ring where it really is, an orange one where its newest motion is, and a red line
// while the drawn pose is blended towards that motion.
Overlay::Motions Overlay::draw_ghosts(Canvas& canvas) {
  Motions out;
  const Player& player = connection_.player;
  for (const reckoner::ShownEntity& entity : player.shown()) {
    const auto debug = connection_.client.debug(entity.id);
    if (!debug || debug->owned || !is_fighter(player.kind(entity.id))) continue;
    ++out.fighters;
    out.age_sum_s += debug->age_s;
    out.fading += debug->fading ? 1 : 0;
    if (const auto* truth = truth_ ? truth_->player.find(entity.id) : nullptr) {
      const double error_m = glm::distance(truth->shown.position, entity.shown.position);
      out.error_sum_m += error_m, ++out.compared;
      out.worst_error_m = std::max(out.worst_error_m, error_m);
      canvas.ring(truth->shown.position, kBodyRadiusM, kTruthColor, 1);
    }
    canvas.ring(debug->motion.position, 0.6 * kBodyRadiusM, kMotionColor, 1);
    if (debug->blend_left_s > 0.0) {
      ++out.blending;
      canvas.line(entity.shown.position, debug->motion.position, kBlendColor, 0.08);
    }
    canvas.label(entity.shown.position, -18, fmt::format("{:.0f}", 1e3 * debug->age_s),
                 debug->fading ? kBlendColor : kDim);
  }
  return out;
}

void Overlay::draw(Canvas& canvas, const std::string& network, double local_s, double frame_ms) {
  const Motions motions = draw_ghosts(canvas);
  const reckoner::ClientStats& stats = connection_.client.stats();
  const auto server_s = connection_.client.server_time_s(local_s);
  const auto true_s = truth_ ? truth_->client.server_time_s(local_s) : std::nullopt;
  const auto share = [](double part, auto all) { return part / std::max(1.0, static_cast<double>(all)); };
  const double lost =
      share(static_cast<double>(stats.datagrams_lost), stats.datagrams_received + stats.datagrams_lost);
  int y = 236;
  const auto say = [&](const std::string& words, Color color = {}) {
    canvas.text(16, y, words, color), y += 18;
  };
  canvas.panel(8, y - 8, 236, 420, {0, 0, 0, 110});
  say("LINK", kDim);
  say("network    " + network);
  say(fmt::format("round trip {:.0f} ms", 1e3 * stats.round_trip_s));
  say(fmt::format("lost       {:.1f} %", 100.0 * lost));
  say(fmt::format("down       {:.1f} kB/s", 1e-3 * down_per_s_));
  say(fmt::format("up         {:.1f} kB/s", 1e-3 * up_per_s_));
  y += 8;
  say("CLOCK", kDim);
  say(server_s ? fmt::format("server     {:.2f} s", *server_s) : "server     unknown");
  if (server_s && true_s) say(fmt::format("estimate   {:+.1f} ms off", 1e3 * (*server_s - *true_s)));
  say(std::string("mode       ") + mode_name(connection_.client));
  say(fmt::format("shown      {:.0f} ms ago", 1e3 * stats.delay_s));
  say(fmt::format("frame      {:.1f} ms of work", frame_ms));
  y += 8;
  say("MOTION", kDim);
  say(fmt::format("fighters   {}", motions.fighters));
  say(fmt::format("age        {:.0f} ms, mean", 1e3 * share(motions.age_sum_s, motions.fighters)));
  say(fmt::format("blending   {}   fading {}", motions.blending, motions.fading));
  say(fmt::format("updates    {}", stats.updates_applied));
  if (motions.compared > 0)
    say(fmt::format("error      {:.2f}, most {:.2f} m", share(motions.error_sum_m, motions.compared),
                    motions.worst_error_m));
  y += 8;
  say("o where it really is", kTruthColor);
  say("o its newest motion", kMotionColor);
  say("- blending", kBlendColor);
}

}  // namespace arena
