// SPDX-License-Identifier: MIT
#include "server/src/session/update_order.hpp"

#include "reckoning/src/motion/rotation.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include <glm/geometric.hpp>

namespace reckoner {
namespace {

// The error is the mean of the errors at the instant when the client can show the update, and this time
// later, s. So an error that grows counts more.
constexpr double kLookAheadS = 0.25;

// If the error cannot be computed, it is taken for this number of thresholds.
constexpr double kUnknownError = 16.0;

// Distance between two motions at `time_s`, in thresholds of the archetype. Uses the distance of the
// positions or of the orientations, whichever is larger in thresholds.
double distance_at(const Motion& a, const Motion& b, double time_s, const Archetype& archetype) {
  const State from = state_at(a, time_s);
  const State to = state_at(b, time_s);
  const double moved = glm::distance(from.position, to.position) / archetype.threshold_m;
  if (!archetype.has_orientation) return moved;
  return std::max(moved, angle_between(from.orientation, to.orientation) / archetype.threshold_rad);
}

// The visible error that the update removes, in thresholds. Empty if the client has no motion that can be
// compared with the newest one.
std::optional<double> removed_error(const DueUpdate& update, const OrderInputs& inputs) {
  const PublishStream& stream = update.entity.levels[update.level].stream;
  if (!stream.has(update.known)) return std::nullopt;
  const PublishStream::Publish& known = stream.at(update.known);
  if (known.encoded.frame != stream.newest().encoded.frame) return std::nullopt;
  const double known_s = inputs.tick_time_s - (inputs.tick - known.tick) / inputs.tick_rate_hz;
  const auto motion = motion_of(known.encoded, known_s, update.quantisation, inputs.routes);
  if (!motion) return std::nullopt;
  const auto error_at = [&](double time_s) {
    return distance_at(*motion, stream.motion(), time_s, update.archetype);
  };
  return 0.5 * (error_at(inputs.shown_s) + error_at(inputs.shown_s + kLookAheadS));
}

}  // namespace

// The exponents were measured with `reckoner-harness compare`: if the error alone decides, a few entities
// with wild motions take all bytes, and the others wait too long (docs/TUNING.md).
float priority_of(const DueUpdate& update, const OrderInputs& inputs) {
  const EntityLevel& level = update.entity.levels[update.level];
  const double unknown = std::max(kUnknownError, double{level.stream.head().urgency});
  const double error = removed_error(update, inputs).value_or(unknown) / level.factor;
  return static_cast<float>(std::cbrt(error) * update.waited_s * update.waited_s / update.bits);
}

}  // namespace reckoner
