// SPDX-License-Identifier: MIT
#include "client/src/world/silence_fades.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

namespace reckoner {

void SilenceFades::limit_unseen(KnownEntity& entity, double shown_s) {
  const double valid_until_s = limit_.of_unseen(entity.remote.newest().time_s);
  if (shown_s <= valid_until_s) return;
  entity.remote.set_valid_until(valid_until_s, valid_until_s, 0.0);
  any_ = true;
}

bool SilenceFades::review_all(double shown_s, double before_s, double blend_s) {
  bool ended = std::exchange(any_, false);
  for (std::uint32_t slot = 0; slot < entities_.slots().size(); ++slot) {
    const KnownEntity* known = entities_.slots()[slot].get();
    if (known == nullptr || known->owned) continue;  // an owned entity needs no confirmation
    const double motion_s = known->remote.newest().time_s;
    const double limit_s = known->remote.valid_until_s();
    if (limit_s == kAlwaysValid && shown_s > limit_.of(motion_s)) {
      entities_.at(slot)->remote.set_valid_until(std::max(limit_.of(motion_s), before_s), before_s, blend_s);
      any_ = true;
    } else if (limit_s != kAlwaysValid && limit_.is_valid_again(motion_s, limit_s, shown_s)) {
      KnownEntity& entity = *entities_.at(slot);
      // An entity that was never shown has an old motion. A newer one is probably in flight, so it does not
      // jump.
      constexpr double kUnseenS = 0.5;
      const BlendTime blend = entity.visible ? BlendTime{blend_s, std::abs(shown_s - limit_s)}
                                             : BlendTime{std::max(blend_s, kUnseenS)};
      entity.remote.set_valid_until(kAlwaysValid, shown_s, blend);
      if (has_jumped(entity)) events_.note_news(entity);
      ended = true;
    } else {
      any_ = any_ || limit_s != kAlwaysValid;
    }
  }
  return ended;
}

}  // namespace reckoner
