// SPDX-License-Identifier: MIT
#pragma once

#include "client/src/world/field_timeline.hpp"
#include "net/src/codec/motion_codec.hpp"
#include "net/src/link/baselines.hpp"

#include <cstdint>
#include <deque>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <unordered_set>
#include <vector>

#include <reckoner/client/client.hpp>
#include <reckoner/net/ids.hpp>
#include <reckoner/reckoning/remote_entity.hpp>

namespace reckoner {

/// Ownership data of an entity that this client owns. (Its motions are sent by OwnedEntity.)
struct OwnershipState {
  Motion go_on;           ///< motion from which the game must continue after a grant, a correction or a brake
  double given_s = 0.0;   ///< time stamp of the motion in the last grant or correction, s
  unsigned unpolled = 0;  ///< number of `given` and `corrected` events not polled yet
  bool moved = false;     ///< the game has called move() since then
  /// The client ignored a grant, because its motion is in the frame of an entity that ended before it
  /// arrived.
  bool lacks_frame = false;
  bool is_reported = false;  ///< the `given` event is in the queue or was polled
  double viewers_s = 0.0;    ///< delay of updates from the server to other clients, s
  double moved_s = 0.0;      ///< server time of the game's last move(), or of the last grant or correction, s

  /// Where and when the client began to bring the entity to rest, because the game does not move it.
  struct Brake {
    State from;
    FrameId frame;
    double begin_s = 0.0;       ///< server time, s
    bool game_is_back = false;  ///< the game has called move() again and must now continue from the brake
  };
  std::optional<Brake> brake;  ///< nullopt while the game moves the entity
  /// The newest motion of the server that has arrived while this client owned the entity. The server sends
  /// motions again as soon as it has taken the entity back, and they can arrive before the message about it.
  std::optional<Motion> from_server;

  /// A motion of the server has arrived: it is kept if it is newer than the kept one.
  void keep(const Motion& motion) {
    if (!from_server || motion.time_s > from_server->time_s) from_server = motion;
  }
};

/// An entity, with everything the client knows about it.
struct KnownEntity {
  EntityId id;
  EntityInfo info;
  RemoteEntity remote;
  double spawned_s = 0.0;                     ///< server time of its first motion, s
  std::uint32_t spawn_number = 0;             ///< Spawn::number
  Tick announced = 0;                         ///< tick in which the server sent its spawn
  std::optional<std::uint32_t> prediction{};  ///< key of the prediction that the entity fulfils
  /// The instant that the client showed when the spawn arrived, s; infinity: it showed nothing yet.
  double appeared_s = std::numeric_limits<double>::infinity();
  /// Server time of its end, s; empty if it is not known yet. The entity is shown until then. (Without
  /// interpolation, an entity is removed as soon as the client learns of its end.)
  std::optional<double> despawned_s;
  bool visible = false;                 ///< shown in the last picture
  bool is_reported = false;             ///< the `spawned` event is in the queue or was polled
  bool has_news = false;                ///< its slot is in the list of WorldEvents
  std::uint8_t teleports_shown = 0;     ///< teleport counter as of the last picture
  std::uint8_t teleports_reported = 0;  ///< teleport counter as of the last event about it
  std::uint32_t jumps_reported = 0;     ///< RemoteEntity::jumps() as of the last event about it
  FieldTimeline fields;                 ///< user fields as of the last picture
  /// Bit set: fields whose first value is not in effect yet. The entity is not shown before all are.
  std::uint32_t lacks_fields = 0;
  FrameId frame_shown{};  ///< reference frame as of the last picture or applied motion
  /// The instant up to which changes of frame have been handled (Frames::settle()), s of shown time.
  double settled_s = -std::numeric_limits<double>::infinity();
  std::uint64_t user_value = 0;      ///< Client::set_user_value()
  bool owned = false;                ///< this client owns it, and its game moves it
  bool predicted = false;            ///< this client's game predicts it
  bool prediction_reported = false;  ///< the event about that is in the queue or was polled
  bool prediction_shown = false;     ///< pictures show what this client's game has computed
  Tick motion_sent = 0;              ///< newest tick in which the server sent a motion of it after its spawn
  OwnershipState ownership_state{};  ///< valid while `owned`, except `lacks_frame`
};

/// True if the shown pose has jumped, or will jump, without an event about it yet.
[[nodiscard]] inline bool has_jumped(const KnownEntity& entity) {
  return entity.remote.jumps() != entity.jumps_reported;
}

/// All entities whose spawns have arrived, by slot. An empty slot costs only a few bytes, whatever slots a
/// server uses. The store remembers the archetype of the last entity of a slot and, for a while, the motions
/// that arrived of it. So a datagram from before a despawn can still be read.
///
/// The store counts an entity as changed when a non-const accessor returns it.
class EntityStore {
 public:
  /// Stores an entity in its slot and discards the slot's earlier entity.
  void put(KnownEntity entity);

  /// Null if the slot is empty.
  [[nodiscard]] KnownEntity* at(std::uint32_t slot);
  [[nodiscard]] const KnownEntity* find(EntityId id) const;
  [[nodiscard]] KnownEntity* find(EntityId id);

  void remove(std::uint32_t slot);

  /// Notes that the entity of this slot with this Spawn::number has ended, whether the client has it or not.
  /// Returns false if that, or the end of a later entity of the slot, is known already.
  bool note_ended(std::uint32_t slot, std::uint32_t spawn_number);
  /// Number of the newest spawn in this slot whose entity has ended; 0: none is known.
  [[nodiscard]] std::uint32_t newest_ended(std::uint32_t slot) const {
    return slot < ended_.size() ? ended_[slot] : 0;
  }

  /// Number of entities.
  [[nodiscard]] std::size_t size() const { return size_; }

  /// Notes that the client does not keep an entity whose spawn has arrived. The store keeps the archetype
  /// and, for the last kMaxRefused such entities, the baselines, so that datagrams with their motions can
  /// still be read. The entity's slot must be empty.
  void note_refused(EntityId id, std::size_t archetype);
  /// The entity has ended. Returns false if it is not one of the last kMaxRefused refused entities.
  bool forget_refused(EntityId id);
  /// True for the last kMaxRefused refused entities.
  [[nodiscard]] bool is_refused(EntityId id) const { return refused_.contains(id); }
  static constexpr std::size_t kMaxRefused = 1024;

  /// The baselines of the slot's present or last entity; null if they have been dropped.
  [[nodiscard]] References* references(std::uint32_t slot) const {
    return slot < references_.size() ? references_[slot].get() : nullptr;
  }

  /// The archetype of the slot's present or last entity; empty if the slot never had one.
  [[nodiscard]] std::optional<std::size_t> archetype_of(std::uint32_t slot) const;

  /// Calls `visit(slot, entity or null)` for all slots that have changed since the last call.
  template <class Visit>
  void visit_changed(Visit visit) {
    for (const std::uint32_t slot : changed_) {
      is_changed_[slot] = false;
      visit(slot, slots_[slot].get());
    }
    changed_.clear();
  }
  /// Marks all slots as changed; call it after changing entities through slots().
  void all_changed() {
    for (std::uint32_t slot = 0; slot < slots_.size(); ++slot)
      note_change(slot);
  }

  /// The entities in order of slot; null for empty slots.
  [[nodiscard]] std::span<const std::unique_ptr<KnownEntity>> slots() const { return slots_; }

 private:
  void make_room(std::size_t slot);
  void drop_references(EntityId id);
  void note_change(std::size_t slot) {
    if (is_changed_[slot]) return;
    is_changed_[slot] = true;
    changed_.push_back(static_cast<std::uint32_t>(slot));
  }

  std::vector<std::unique_ptr<KnownEntity>> slots_;
  std::vector<std::unique_ptr<References>> references_;
  std::size_t size_ = 0;
  std::deque<EntityId> gone_;  // removed entities whose baselines are still kept, oldest first
  std::unordered_set<EntityId> refused_;
  std::deque<EntityId> refused_order_;     // refused entities, oldest first; some may be forgotten
  std::vector<bool> is_changed_;           // by slot
  std::vector<std::uint32_t> changed_;     // changed slots, each once
  std::vector<std::uint16_t> archetypes_;  // by slot: archetype + 1; 0: none yet
  std::vector<std::uint32_t> ended_;       // by slot: newest_ended()
};

}  // namespace reckoner
