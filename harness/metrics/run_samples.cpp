// SPDX-License-Identifier: MIT
#include "harness/metrics/run_samples.hpp"

namespace reckoner::harness {
namespace {

void add_to(Traffic& sum, const Traffic& more) {
  sum.updates += more.updates;
  sum.payload_bytes += more.payload_bytes;
  sum.wire_bytes += more.wire_bytes;
}

}  // namespace

void RunSamples::add(const RunSamples& other) {
  metrics.add(other.metrics);
  if (frames && other.frames) frames->add(*other.frames);
  add_to(down, other.down);
  add_to(up, other.up);
  run_s += other.run_s;
}

Figures RunSamples::figures() const {
  Figures result = metrics.figures();
  if (frames) result.in_frames = frames->figures();
  result.down = down;
  result.up = up;
  result.run_s = run_s;
  result.tick_rate_hz = tick_rate_hz;
  return result;
}

}  // namespace reckoner::harness
