// SPDX-License-Identifier: MIT
#include "harness/metrics/figures_text.hpp"

#include "scenario/trace/output_file.hpp"

#include <fmt/core.h>

namespace reckoner::harness {

void print_figures(const Figures& run) {
  const auto per_s = [&run](std::uint64_t count) {
    return run.entity_seconds > 0.0 ? static_cast<double>(count) / run.entity_seconds : 0.0;
  };
  fmt::print("  same-time error   p50 {:.3f}  p95 {:.3f}  max {:.3f} m\n", run.now_error_m.p50,
             run.now_error_m.p95, run.now_error_m.max);
  fmt::print("  shown error       p50 {:.3f}  p95 {:.3f}  p99 {:.4f}  max {:.3f} m, delay {:.0f} ms\n",
             run.shown_error_m.p50, run.shown_error_m.p95, run.shown_error_m.p99, run.shown_error_m.max,
             run.delay_ms.mean);
  if (run.angle_error_rad && run.shown_angle_error_rad) {
    fmt::print("  angle error       p95 {:.4f} rad, at the instant shown p95 {:.4f}  p99 {:.4f}\n",
               run.angle_error_rad->p95, run.shown_angle_error_rad->p95, run.shown_angle_error_rad->p99);
  }
  fmt::print("  velocity step     p99 {:.3f}  max {:.3f} m/s; {:.2f} pops per s\n", run.velocity_step_mps.p99,
             run.velocity_step_mps.max, run.pops_per_s);
  if (run.down) {
    fmt::print(
        "  sent              {:.2f} updates, {:.0f} payload and {:.0f} wire bytes per entity and second\n",
        per_s(run.down->updates), per_s(run.down->payload_bytes), per_s(run.down->wire_bytes));
  }
  if (run.down && run.up && run.run_s > 0.0) {
    fmt::print(
        "  all entities      {:.2f} kB/s down and {:.2f} kB/s up on the wire; payload down {:.1f} kbit/s, "
        "{:.3f} "
        "bits per entity and tick\n",
        1e-3 * static_cast<double>(run.down->wire_bytes) / run.run_s,
        1e-3 * static_cast<double>(run.up->wire_bytes) / run.run_s,
        8e-3 * static_cast<double>(run.down->payload_bytes) / run.run_s, payload_bits_per_body_frame(run));
  }
  if (run.in_frames) {
    const FrameFigures& f = *run.in_frames;
    fmt::print(
        "  error in frames   at rest p99 {:.4f}, walking p95 {:.4f} p99 {:.4f} m; in the world frame {:.4f}, "
        "{:.4f} {:.4f}\n",
        f.frame_rest_error_m.p99, f.frame_walk_error_m.p95, f.frame_walk_error_m.p99, f.firm_rest_error_m.p99,
        f.firm_walk_error_m.p95, f.firm_walk_error_m.p99);
    fmt::print(
        "  frame changes     {}; they add velocity steps of at most {:.3f} m/s; steps after them p99 {:.3f}  "
        "max {:.3f}, otherwise p99 {:.3f}  max {:.3f} m/s\n",
        f.frame_changes, f.frame_switch_velocity_step_mps.max, f.frame_change_velocity_step_mps.p99,
        f.frame_change_velocity_step_mps.max, f.other_velocity_step_mps.p99, f.other_velocity_step_mps.max);
  }
  if (run.clock_error_ms) fmt::print("  clock error       p95 {:.2f} ms\n", run.clock_error_ms->p95);
  if (run.seen) {
    fmt::print(
        "  rewind error      p50 {:.4f}  p99 {:.4f}  max {:.3f} m in {} shots; in all pictures p99 {:.4f} "
        "m\n",
        run.seen->seen_error_m.p50, run.seen->seen_error_m.p99, run.seen->seen_error_m.max, run.seen->shots,
        run.seen->seen_late_error_m.p99);
  }
  if (run.owned) {
    const OwnershipStats& s = run.owned->server;
    fmt::print(
        "  owned             {} accepted, {} corrected, {} refused, {} late, {} ahead, {} too many, {} "
        "void\n",
        s.accepted, s.corrected, s.refused, s.late, s.ahead, s.too_many, s.void_terms);
    if (const auto& speed = run.owned->rogue_speed_mps) {
      fmt::print(
          "  cheating owner    published at most {:.2f}, shown p99 {:.2f}, max {:.2f}, from one picture to "
          "the next "
          "{:.2f} m/s; limit {:.2f}\n",
          run.owned->rogue_believed_mps->max, speed->p99, speed->max, run.owned->rogue_step_mps->max,
          run.owned->rogue_limit_mps);
    }
  }
  if (run.between_teleport_frames > 0) {
    fmt::print("  {} pictures between the two ends of a teleport\n", run.between_teleport_frames);
  }
  fmt::print("  missing {:.2f} s, ghosts {:.2f} s, teleports {} (settled in {:.0f} ms)\n", run.missing_s,
             run.ghost_s, run.teleports, run.teleport_settle_ms);
}

void print_figures(const CodingFigures& f) {
  if (f.full_updates + f.residual_updates == 0) return;
  fmt::print(
      "  coding            {:.2f} bytes per update with orientation, {:.2f} without; header {:.1f} bits\n",
      f.bytes_with_orientation, f.bytes_without_orientation, f.head_bits);
  fmt::print(
      "                    {} in full ({:.0f} bits), {} residuals ({:.1f} bits, {:.1f} of them "
      "coding_mode)\n",
      f.full_updates, f.full_bits, f.residual_updates, f.residual_bits, f.coding_mode_bits);
  fmt::print("                    fields {:.1f} % above their entropy; bits/entropy:", f.gap_percent);
  constexpr std::size_t kPerLine = 6;
  for (std::size_t i = 0; i < CodingFigures::kFields; ++i) {
    if (i % kPerLine == 0) fmt::print("\n                   ");
    const FieldFigures& field = f.fields[i];
    fmt::print(" {} {:.1f}/{:.1f}", field.name, field.bits_per_update, field.entropy_per_update);
  }
  fmt::print("\n");
}

std::optional<Error> write_json(const std::string& path, const nlohmann::ordered_json& json) {
  return scenario::write_file(path, json.dump(2) + '\n');
}

}  // namespace reckoner::harness
