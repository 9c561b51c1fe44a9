// SPDX-License-Identifier: MIT
#include "client/src/world/frames.hpp"

#include <algorithm>
#include <utility>

#include <glm/geometric.hpp>

#include <reckoner/net/ids.hpp>

namespace reckoner {
namespace {

// The state of a frame at an instant: the shown one or, before the frame's entity appears, its first motion
// extrapolated back.
State shown_frame(const KnownEntity& entity, double time_s) {
  return entity.visible ? entity.remote.shown(time_s) : entity.remote.as_frame(time_s);
}

}  // namespace

State at_rate(State state, float rate) {
  state.velocity *= rate;
  state.acceleration *= rate * rate;
  state.angular_velocity *= rate;
  return state;
}

void Frames::note(std::uint32_t slot, const Motion& motion) {
  if (!motion.frame) return;
  if (KnownEntity* frame = entities_.find(entity_of(motion.frame)))
    frame->remote.set_lever(glm::length(motion.state.position));
  const auto place = std::lower_bound(slots_.begin(), slots_.end(), slot);
  if (place == slots_.end() || *place != slot) slots_.insert(place, slot);
}

void Frames::note_arrival(KnownEntity& entity) const {
  const FrameId frame = frame_of(entity.id);
  for (const std::uint32_t slot : slots_) {
    const auto& known = entities_.slots()[slot];
    if (!known || !known->remote.has_motion_in(frame)) continue;
    const KnownEntity* inside = entities_.at(slot);  // it counts as changed: now it can be shown
    entity.remote.set_lever(glm::length(inside->remote.newest().state.position));
  }
}

std::optional<State> Frames::in_world(FrameId frame, double time_s) const {
  return in_world(frame, time_s, kMaxFrameDepth);
}

std::optional<State> Frames::in_world(FrameId frame, double time_s, int most) const {
  if (!frame) return State{};
  const KnownEntity* entity = std::as_const(entities_).find(entity_of(frame));
  if (entity == nullptr || most == 0) return std::nullopt;
  const State state = shown_frame(*entity, time_s);
  const FrameId outer = entity->remote.frame(time_s);
  if (!outer) return state;
  const auto outer_state = in_world(outer, time_s, most - 1);
  if (!outer_state) return std::nullopt;
  return out_of_frame(*outer_state, state);
}

bool Frames::can_enter(FrameId frame, EntityId id, double time_s) const {
  if (!in_world(frame, time_s)) return false;
  for (FrameId outer = frame; outer;) {
    if (entity_of(outer) == id) return false;
    outer = std::as_const(entities_).find(entity_of(outer))->remote.frame(time_s);
  }
  return true;
}

void Frames::begin(double time_s) {
  for (const Memo& memo : memos_)
    memo_of_[entity_of(memo.frame).slot()] = 0;
  memos_.clear();
  time_s_ = time_s;
}

const State* Frames::at(FrameId frame) {
  const std::size_t slot = entity_of(frame).slot();
  if (std::as_const(entities_).find(entity_of(frame)) == nullptr) return nullptr;
  if (slot >= memo_of_.size()) memo_of_.resize(slot + 1, 0);
  if (memo_of_[slot] == 0 || memos_[memo_of_[slot] - 1].frame != frame) {
    memos_.push_back({frame, in_world(frame, time_s_)});
    memo_of_[slot] = static_cast<std::uint32_t>(memos_.size());
  }
  const Memo& memo = memos_[memo_of_[slot] - 1];
  return memo.state ? &*memo.state : nullptr;
}

std::optional<State> Frames::converted(const State& state, FrameId from, FrameId to, double time_s) const {
  if (from == to) return state;
  const auto out_of = in_world(from, time_s);
  const auto into = in_world(to, time_s);
  if (!out_of || !into) return std::nullopt;
  const State outer = from ? out_of_frame(*out_of, state) : state;
  return to ? into_frame(*into, outer) : outer;
}

void Frames::settle(double shown_s, double blend_s) {
  std::erase_if(slots_, [&](std::uint32_t slot) {
    KnownEntity* entity = entities_.at(slot);
    if (entity == nullptr) return true;
    settle(*entity, shown_s, blend_s);
    return false;
  });
}

void Frames::settle(KnownEntity& entity, double shown_s, double blend_s) const {
  const FrameId before = std::exchange(entity.frame_shown, entity.remote.frame(shown_s));
  const double last_s = std::exchange(entity.settled_s, shown_s);
  entity.remote.settle_frames(before, last_s, shown_s, entity.visible ? blend_s : 0.0,
                              [this](const State& state, FrameId from, FrameId to, double time_s) {
                                return converted(state, from, to, time_s);
                              });
}

bool Frames::receive(KnownEntity& entity, const Motion& motion, double shown_s, BlendTime blend,
                     double valid_until_s) {
  RemoteEntity& remote = entity.remote;
  if (!motion.frame && !remote.frame(shown_s) && !entity.frame_shown)
    return remote.receive(motion, shown_s, blend, valid_until_s);
  settle(entity, shown_s, blend.blend_s);
  std::optional<State> shown;
  if (blend.blend_s > 0.0)
    shown = converted(remote.shown(shown_s), entity.frame_shown, motion.frame, shown_s);
  if (!remote.receive(motion, shown_s, blend, valid_until_s, shown)) return false;
  entity.frame_shown = remote.frame(shown_s);
  note(static_cast<std::uint32_t>(entity.id.slot()), motion);
  // At once, instead of in the next picture: the server knows only the times of arrivals.
  settle(entity, shown_s, blend.blend_s);
  return true;
}

// Converts the shown states to the world first, before any frame jumps.
void Frames::jump(double before_s, double now_s, double rate, BlendTime blend) const {
  std::vector<std::pair<KnownEntity*, State>> crossing;
  std::vector<RemoteEntity*> staying;
  for (const auto& slot : entities_.slots()) {
    if (!slot || !slot->visible || slot->owned) continue;
    slot->settled_s = now_s;
    RemoteEntity& remote = slot->remote;
    if (remote.teleports(before_s) != remote.teleports(now_s)) continue;
    const FrameId frame = remote.frame(before_s);
    if (frame == remote.frame(now_s)) {
      staying.push_back(&remote);
    } else if (const auto shown = converted(remote.shown(before_s), frame, FrameId{}, before_s)) {
      crossing.emplace_back(slot.get(), at_rate(*shown, static_cast<float>(rate)));
    }
  }
  for (RemoteEntity* remote : staying)
    remote->jump(before_s, now_s, rate, blend);
  for (const auto& [entity, shown] : crossing) {
    entity->frame_shown = entity->remote.frame(now_s);
    if (const auto local = converted(shown, FrameId{}, entity->frame_shown, now_s))
      entity->remote.correct(*local, now_s, blend);
  }
}

// Blends run in shown time, so this converts rates per second to rates per second of shown time.
bool Frames::correct(KnownEntity& entity, const State& in_world, double shown_s, double rate,
                     BlendTime blend) const {
  const auto local = in_shown_frame(entity, in_world, shown_s, rate);
  if (!local) return false;
  entity.remote.correct(*local, shown_s, blend);
  return true;
}

bool Frames::correct_slowly(KnownEntity& entity, const State& in_world, double shown_s, double rate,
                            double duration_s) const {
  const auto local = in_shown_frame(entity, in_world, shown_s, rate);
  if (!local) return false;
  entity.remote.correct_slowly(*local, shown_s, duration_s);
  return true;
}

// Converts a state in the world into the frame in which the entity is shown, and into shown time.
std::optional<State> Frames::in_shown_frame(const KnownEntity& entity, const State& in_world, double shown_s,
                                            double rate) const {
  const auto per_shown_second = static_cast<float>(1.0 / rate);
  State in_shown_time = in_world;
  in_shown_time.velocity *= per_shown_second;
  in_shown_time.angular_velocity *= per_shown_second;
  return converted(in_shown_time, FrameId{}, entity.remote.frame(shown_s), shown_s);
}

// Converts the entities that may change their frame to the world first, before anything changes.
void Frames::set_path(MotionPath path, double shown_s, double blend_s) {
  struct Framed {
    KnownEntity* entity;
    State in_world;
    FrameId frame;
    std::uint8_t teleports;
  };
  std::vector<Framed> framed;
  for (const std::uint32_t slot : slots_) {
    const auto& entity = entities_.slots()[slot];
    if (!entity || !entity->visible || entity->owned) continue;
    const FrameId frame = entity->remote.frame(shown_s);
    if (const auto shown = converted(entity->remote.shown(shown_s), frame, FrameId{}, shown_s))
      framed.push_back({entity.get(), *shown, frame, entity->remote.teleports(shown_s)});
  }
  for (const auto& entity : entities_.slots()) {
    if (entity && !entity->owned) entity->remote.set_path(path, shown_s, entity->visible ? blend_s : 0.0);
  }
  for (const Framed& f : framed) {
    RemoteEntity& remote = f.entity->remote;
    f.entity->frame_shown = remote.frame(shown_s);
    if (f.entity->frame_shown == f.frame || remote.teleports(shown_s) != f.teleports) continue;
    if (const auto local = converted(f.in_world, FrameId{}, f.entity->frame_shown, shown_s))
      remote.correct(*local, shown_s, blend_s);
  }
}

void Frames::release(const KnownEntity& gone, double ended_s, double shown_s, double blend_s) {
  const FrameId frame = frame_of(gone.id);
  for (const std::uint32_t slot : slots_) {
    const auto& known = entities_.slots()[slot];
    if (!known || known->id == gone.id || !known->remote.has_motion_in(frame)) continue;
    KnownEntity& entity = *entities_.at(slot);
    RemoteEntity& remote = entity.remote;
    const bool was_in_it = remote.frame(shown_s) == frame;
    const auto shown = converted(remote.shown(shown_s), remote.frame(shown_s), FrameId{}, shown_s);
    const FrameId outer = gone.remote.frame(ended_s);
    remote.leave_frame(
        frame, Motion{.state = out_of_frame(gone.remote.unblended(ended_s), remote.unblended(ended_s)),
                      .time_s = ended_s,
                      .teleports = remote.teleports(ended_s),
                      .max_speed_mps = remote.newest().max_speed_mps,
                      .world_size_m = remote.newest().world_size_m,
                      .transition = {.quiet = remote.newest().transition.quiet},
                      .floor = remote.newest().floor,
                      .walls = remote.newest().walls,
                      .frame = outer == frame_of(entity.id) ? FrameId{} : outer});
    if (!was_in_it) continue;  // it has a newer motion elsewhere, and goes on with it
    entity.frame_shown = remote.frame(shown_s);
    const auto now = shown ? converted(*shown, FrameId{}, entity.frame_shown, shown_s) : std::nullopt;
    if (now) remote.correct(*now, shown_s, entity.visible ? blend_s : 0.0);
  }
}

}  // namespace reckoner
