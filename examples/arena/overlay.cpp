// SPDX-License-Identifier: MIT
#include "scene.hpp"

#include <fmt/format.h>

namespace arena {

std::string mode_name(const reckoner::Client& client) {
  constexpr std::array kModes{"present", "adaptive", "delayed", "ahead"};  // in the order of PlayoutMode
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
    const bool at_once = entity.id == player.avatar() && player.moves_at_once();
    if (!debug || at_once || !is_fighter(player.kind(entity.id))) continue;
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

void Overlay::draw(Canvas& canvas, const std::string& network, double frame_ms) {
  if (!shown_) return;
  const Motions motions = draw_ghosts(canvas);
  const reckoner::ClientStats& stats = connection_.client.stats();
  const double server_s = connection_.client.server_time_s().value_or(0.0);
  const double true_s = truth_ ? truth_->client.server_time_s().value_or(server_s) : server_s;
  const auto share = [](double part, auto all) { return part / std::max(1.0, static_cast<double>(all)); };
  const double lost =
      share(static_cast<double>(stats.datagrams_lost), stats.datagrams_received + stats.datagrams_lost);
  canvas.panel(8, 228, 236, 516, {0, 0, 0, 110});
  const std::string words = fmt::format(
      "LINK\n"
      "network    {}\n"
      "round trip {:.0f} ms\n"
      "lost       {:.1f} %\n"
      "down       {:.1f} kB/s\n"
      "up         {:.1f} kB/s\n\n"
      "CLOCK\n"
      "server     {:.2f} s\n"
      "estimate   {:+.1f} ms off\n"
      "mode       {}\n"
      "shown      {:.0f} ms ago\n"
      "picture    {:.1f} ms of work\n\n"
      "OWN BODY\n"
      "authority  {}\n"
      "lead       {:.0f} ms\n"
      "corrected  {} times\n"
      "repeated   {} of {} inputs\n\n"
      "MOTION\n"
      "fighters   {}\n"
      "age        {:.0f} ms, mean\n"
      "blending   {}   fading {}\n"
      "updates    {}\n"
      "error      {:.2f}, most {:.2f} m",
      network, 1e3 * stats.round_trip_s, 100.0 * lost, 1e-3 * down_per_s_, 1e-3 * up_per_s_, server_s,
      1e3 * (server_s - true_s), mode_name(connection_.client), 1e3 * stats.delay_s, frame_ms,
      name_of(connection_.player.authority()), 1e3 * stats.input_lead_s,
      stats.mispredictions + stats.corrections, connection_.player.inputs().repeated,
      connection_.player.inputs().ticks, motions.fighters, 1e3 * share(motions.age_sum_s, motions.fighters),
      motions.blending, motions.fading, stats.updates_applied, share(motions.error_sum_m, motions.compared),
      motions.worst_error_m);
  canvas.text(16, 236, words);
  canvas.text(16, 686, "o where it really is", kTruthColor);
  canvas.text(16, 702, "o its newest motion", kMotionColor);
  canvas.text(16, 718, "- blending", kBlendColor);
}

}  // namespace arena
