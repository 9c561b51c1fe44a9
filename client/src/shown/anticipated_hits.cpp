// SPDX-License-Identifier: MIT
#include "client/src/shown/anticipated_hits.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

#include <glm/geometric.hpp>

#include <reckoner/reckoning/remote_entity.hpp>

namespace reckoner {

bool AnticipatedHits::anticipate(KnownEntity& entity, const State& in_world, double anticipated_s,
                                 double one_way_s) {
  const double shown_s = playout_.shown_s();
  const State in_shown_time = at_rate(in_world, static_cast<float>(1.0 / playout_.rate()));
  const auto local = frames_.converted(in_shown_time, FrameId{}, entity.remote.frame(shown_s), shown_s);
  if (!local) return false;
  // What this client does now has an effect at the server after the one-way delay and some ticks.
  constexpr double kTicksS = 0.1;
  if (!entity.remote.is_anticipated()) anticipated_.push_back(entity.id);
  // In ahead mode, it has one at the shown time.
  const double effect_s = std::max(playout_.now_s() + one_way_s, shown_s);
  entity.remote.anticipate(*local, shown_s, effect_s + kTicksS, shown_s + anticipated_s);
  return true;
}

void AnticipatedHits::review(double blend_s) {
  const double shown_s = playout_.shown_s();
  std::erase_if(anticipated_, [&](EntityId id) {
    const KnownEntity* known = std::as_const(entities_).find(id);
    if (known == nullptr || !known->remote.is_anticipated()) return true;
    if (!known->remote.is_anticipation_over(shown_s)) return false;
    KnownEntity& entity = *entities_.find(id);
    RemoteEntity& remote = entity.remote;
    const State before = remote.shown(shown_s);
    const FrameId frame = remote.frame(shown_s);
    const std::uint8_t teleports = remote.teleports(shown_s);
    remote.release(shown_s);
    entity.frame_shown = remote.frame(shown_s);
    if (remote.teleports(shown_s) != teleports) return true;
    const auto from = frames_.converted(before, frame, entity.frame_shown, shown_s);
    if (!from) return true;
    const State onto = remote.unblended(shown_s);
    // The offset changes at most 1.5 times as fast as on average (Blend), and the entity may slow down.
    constexpr double kShare = 2.5;
    const double off_m = glm::distance(from->position, onto.position);
    const double speed_mps = std::max(0.1, glm::length(glm::dvec3{onto.velocity}));
    // After a hit, the entity goes on in about the same direction. After a wrong guess it must turn back.
    const bool was_hit = glm::distance(from->velocity, onto.velocity) < 0.5 * speed_mps;
    const double longest_s = was_hit ? 2.0 * kLongestCatchUpS : kLongestCatchUpS;
    const double duration_s = std::min(kShare * off_m / speed_mps, longest_s);
    if (duration_s > blend_s) {
      remote.correct_slowly(*from, shown_s, duration_s);
    } else {
      remote.correct(*from, shown_s, blend_s);
    }
    return true;
  });
}

}  // namespace reckoner
