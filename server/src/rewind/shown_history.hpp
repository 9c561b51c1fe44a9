// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/messages/datagram.hpp"
#include "reckoning/src/util/prefetch.hpp"
#include "server/src/rewind/shared_motions.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include <reckoner/net/ids.hpp>
#include <reckoner/net/refusal.hpp>
#include <reckoner/reckoning/motion.hpp>
#include <reckoner/reckoning/remote_entity.hpp>
#include <reckoner/server/server.hpp>

namespace reckoner {

/// The history of one entity as one client showed it: which motions the client knew at each instant, and how
/// it blended from one motion to the next. To compute the blends, the server runs RemoteEntity, the client's
/// own code, over the motions. An instant is the server time that the client showed, s.
///
/// Most poses are never asked for. So the blends are computed on demand, from the newest step before which
/// the client certainly showed a motion without a correction.
class ShownEntityHistory {
 public:
  /// Converts a state from the frame `from` to the frame `to`. Uses the poses of the frames that the client
  /// showed at `shown_s`. Empty if these poses are unknown.
  using FrameConverter =
      std::function<std::optional<State>(const State&, FrameId from, FrameId to, double shown_s)>;

  /// Begins with the first motion that the client knows.
  ShownEntityHistory(EntityId id, const SharedMotion& first, MotionPath path);

  [[nodiscard]] EntityId id() const { return id_; }

  /// Tells the processor that add() will soon need the newest step.
  void prefetch_newest() const {
    prefetch(shown_s_.data() + shown_s_.size() - 1);
    prefetch(steps_.data() + steps_.size() - 1, 2 * sizeof(Step));
  }

  /// The largest number of motions kept. It is enough for 1.5 s at 170 motions per second.
  static constexpr std::size_t kMaxSteps = 256;
  /// The largest number of motions whose blends are recomputed when a late motion is inserted. It is enough
  /// for half a second at 128 motions per second. If a late motion belongs before even these motions, it is
  /// inserted just before them.
  static constexpr std::size_t kMaxReplayed = 64;

  /// Adds a motion. The client applied it at the instant `shown_s`, and blends towards it for `blend_s`.
  /// Calls may come in any order of instants. A motion that is already known is ignored. Motions more than
  /// `keep_s` older than the newest motion are dropped. kMaxSteps and kMaxReplayed bound the cost of a call,
  /// whatever instants the client claims.
  void add(double shown_s, const SharedMotion& motion, double blend_s, double keep_s,
           const FrameConverter& carry = {});

  /// As add(), for a motion in the spawn of a short-lived entity. The entity appears when the client applies
  /// the first of its spawns, and reports may name a later one first.
  void announce(double shown_s, const SharedMotion& motion, double blend_s, double keep_s,
                const FrameConverter& carry = {});

  /// Notes that the client may have applied a motion with this time stamp, and that the history has lost the
  /// motion. What the client shows is unknown until it applies a motion that is at least as new.
  void lose(double motion_s);

  /// Notes that the client applied a motion somewhere between these two shown instants. What the client shows
  /// is unknown from `from_s` until the blend that begins at `until_s` has ended. If another blend begins
  /// meanwhile, it begins at an unknown pose. The doubt then lasts until that blend has ended, too, but at
  /// most half a second longer.
  void doubt(double from_s, double until_s, double blend_s);

  /// Notes that another entity is in the frame of this entity, at the distance `lever_m` from the frame's
  /// origin, m (RemoteEntity::carry()).
  void carry(double lever_m);

  /// Notes that the client shows the entity from the instant `shown_s` on.
  void appear(double shown_s);
  [[nodiscard]] bool appeared() const { return appear_s_ < kNever; }

  /// Call it when the client's shown time jumped, or when the client changed to `path`. It is unknown how the
  /// client blended over this change. From `shown_s` on, the client shows the motions that it has.
  void restart(MotionPath path, double shown_s);

  /// A state, and the frame in which it is given.
  struct FramedState {
    State state;
    FrameId frame;
  };
  /// The state that the client showed at this instant, with the frame of the state. Empty if the state is
  /// unknown or the client did not show the entity. It is unknown how the client interpolated before a change
  /// of frame; therefore the motion before the change is extrapolated.
  [[nodiscard]] std::optional<FramedState> shown(double shown_s);

  /// Time stamp of the newest motion that the client is known to have, s.
  [[nodiscard]] double newest_s() const { return newest_s_; }

  /// Number of motions kept.
  [[nodiscard]] std::size_t steps() const { return steps_.size(); }

 private:
  static constexpr double kNever = std::numeric_limits<double>::infinity();
  static constexpr std::size_t kMaxDoubts = 16;
  static constexpr std::size_t kFirstGrowth = 8;  // steps
  static constexpr std::size_t kForgottenAtOnce = 8;
  static constexpr std::int32_t kUnknown = -1;  // not computed yet
  static constexpr std::int32_t kNone = -2;

  // What the client showed between these instants is unknown.
  struct Doubt {
    double from_s;
    double until_s;
    double latest_s;  // later blends prolong it no further
  };

  // A motion that the client applied. The instant of applying it is in shown_s_, at the index that the step
  // has in steps_.
  struct Step {
    SharedMotion motion;
    double blend_s = 0.0;
    // The corrections that were in progress after this step: an index into stored_, kNone or kUnknown. Never
    // unknown for the first step.
    std::int32_t blends = kUnknown;
    // True if this step certainly starts no chase, provided that no chase was in progress before.
    bool calm = true;
    // Upper bounds of the correction when the step was applied, if no chase was in progress: m and m/s.
    double offset_m = 0.0;
    double offset_mps = 0.0;
    // For interpolation without chases: when the corrections up to this step have certainly ended.
    double corrected_until_s = -kNever;
  };

  [[nodiscard]] std::size_t step_at(double shown_s) const;
  [[nodiscard]] bool jumps_near(double shown_s, std::size_t last) const;
  [[nodiscard]] MotionHistory known_before(std::size_t step) const;
  [[nodiscard]] double hurries_until_s(std::size_t step) const;
  [[nodiscard]] RemoteEntity entity_before(std::size_t step) const;
  void begin_with(const SharedMotion& motion);
  void changed_from(std::size_t step, const FrameConverter& carry);
  void assess(std::size_t step);
  void assess_again();
  void assess_prediction(std::size_t step);
  void assess_interpolation(std::size_t step);
  [[nodiscard]] bool starts_no_correction(std::size_t step) const;
  [[nodiscard]] bool is_uncorrected_before(std::size_t step) const;
  [[nodiscard]] ShownBlends blends_after(std::size_t step);
  [[nodiscard]] ShownBlends known_blends(std::size_t step) const;
  void store(std::size_t step, const ShownBlends& blends);
  void release(Step& step);
  void replay(std::size_t from, std::size_t to, const FrameConverter& carry);
  void compute_always();
  void prolong_doubts();
  void forget_before(double shown_s);
  void forget_oldest(std::size_t count);

  EntityId id_;
  MotionPath path_;
  double appear_s_ = kNever;
  std::optional<double> announced_s_;  // when the first step was applied, if announce() added it
  double first_s_;                     // time stamp of the first motion
  double newest_s_;                    // time stamp of the newest motion
  std::vector<double> shown_s_;        // instant at which each step was applied, ascending
  std::vector<Step> steps_;
  std::vector<ShownBlends> stored_;  // those that were computed
  std::vector<std::int32_t> free_;   // unused places in stored_
  std::size_t wild_ = 0;             // number of steps that are not calm
  double longest_blend_s_ = 0.0;     // of all steps so far
  // True if corrections depend on other entities or last longer: a motion is on a route or in a frame, or
  // another entity is in the frame of this one. They are then computed at once.
  bool always_computes_ = false;
  double lost_s_ = -kNever;  // time stamp of the newest motion that lose() reported and nothing replaced
  std::vector<Doubt> doubts_;
};

/// Reconstructs what one client showed during the last second. It uses three sources: the motions that the
/// server sent, the client's reports of when it applied them (ShowingReport), and the client's own code.
///
/// The reports of the client are limited to plausible values. They cannot reach further back than `limit_s`.
class ShownHistory {
 public:
  /// Length of the history, s.
  static constexpr double kHistoryS = 1.0;

  ShownHistory(MotionPath path, double blend_s, double limit_s)
      : path_(path), blend_s_(blend_s), limit_s_(limit_s) {
    instants_.reserve(kMaxInstants + 1);
  }

  /// Notes that the client changes to `path` and `blend_s` at an unknown time. For a while it is then unknown
  /// what the client shows.
  void change(MotionPath path, double blend_s);

  /// Notes that the server sent the client the announcement of an entity, with the motion `first`.
  void announced(EntityId id, const SharedMotion& first);
  /// Notes a newer motion that the server sent in the reliable message `number`, after the announcement and
  /// before the client acknowledged it.
  void repeated(std::uint32_t number, EntityId id, SharedMotion newer);
  /// Notes that the client acknowledged the announcement. The acknowledgement belongs to the client's next
  /// report or to the previous one. The next process() makes the entity appear.
  void confirmed(EntityId id);
  /// Notes that the client acknowledged the message of a repeated() motion.
  void confirmed_repeat(std::uint32_t number);
  /// Notes that the spawn of a short-lived entity was written into the datagram `sequence`. The entity
  /// appears when the client applies the first datagram with its spawn.
  void announced_in(Sequence sequence, EntityId id, SharedMotion motion, double now_s);
  /// Call it when the entity ended or the client no longer follows it.
  void forget(EntityId id);

  /// Call it when the client becomes the owner of the entity. Its shown pose is then unknown until the server
  /// sends the client a motion of the entity again.
  void own(EntityId id);

  /// Notes that a motion was written into the datagram `sequence`.
  void sent(Sequence sequence, EntityId id, SharedMotion motion, double now_s);

  /// Call it for a motion that the client has. If the motion is in the frame of another entity, this notes
  /// that the frame contains an entity.
  void note_frame(const Motion& motion) const;

  /// Notes that the client has received these datagrams. The caller must call this before process() with the
  /// report of the same datagram.
  void acknowledged(const Ack& ack, double now_s);

  /// Processes the report in a client's datagram that arrived at server time `now_s`. Returns the reason if
  /// the report is refused, else nullopt. While the client's clock is far off, it is unknown what the client
  /// shows.
  ///
  /// `consecutive`: the client's datagram before this one has arrived, too. A client sends a datagram as soon
  /// as it processes a reliable message. So it has processed what this datagram acknowledges first at the
  /// instant of the report, and otherwise at some time since the report before.
  std::optional<Refusal> process(const ShowingReport& report, double now_s, bool consecutive = false);

  /// Tells whether it is known what the client showed when its own estimate of server time was `time_s`.
  /// `now_s` is the present server time.
  [[nodiscard]] RewindStatus status(double time_s, double now_s) const;

  /// Returns the instant that the client showed at `time_s`. Returns nullopt unless status() is `known`.
  [[nodiscard]] std::optional<double> shown_at(double time_s, double now_s) const;

  /// Returns the state of the entity that the client showed, in the world frame; `shown_s` is an instant from
  /// shown_at(). Empty if the state is unknown.
  [[nodiscard]] std::optional<State> shown(EntityId id, double shown_s) const;

  /// Appends to `poses` the poses of all entities that the client showed at `shown_s`, in order of slot.
  void shown(double shown_s, std::vector<SeenPose>& poses) const;

 private:
  // A motion in a datagram.
  struct SentPublish {
    EntityId id;
    SharedMotion motion;
    bool announces = false;  // it is in the spawn of a short-lived entity
  };
  // A motion in a reliable message.
  struct Repeat {
    std::uint32_t number = 0;
    bool confirmed = false;
    EntityId id;
    SharedMotion motion;
  };
  // A datagram. It is `open` until the server knows when the client applied it.
  struct Sent {
    Sequence sequence = 0;
    bool open = false;
    bool acked = false;  // the client has received it
    double sent_s = 0.0;
    double acked_s = 0.0;  // server time of the first acknowledgement
    double applied_by_s =
        0.0;  // shown time of the first report after the acknowledgement; only in unreported_
    std::vector<SentPublish> content;
  };
  // One instant: when the client's clock was at `now_s`, the client showed `shown_s`.
  struct Instant {
    double now_s = 0.0;
    double shown_s = 0.0;
  };
  static constexpr std::size_t kSent = 256;
  static constexpr std::size_t kUsualContents = 16;  // motions in a datagram
  static constexpr double kUnreported = std::numeric_limits<double>::infinity();
  static constexpr std::size_t kMaxInstants = 256;

  [[nodiscard]] ShownEntityHistory* find(EntityId id) const;
  [[nodiscard]] std::optional<State> in_world(ShownEntityHistory& entity, double shown_s, int most) const;
  [[nodiscard]] std::optional<State> frame_at(FrameId frame, double shown_s, int most) const;
  void begin_era(unsigned era, double shown_s);
  void add_sent(Sequence sequence, SentPublish content, double now_s);
  void note_instant(const Instant& instant);
  void apply(Sent& datagram, double shown_s);
  void apply_reliable(const Instant& instant, bool exact);
  // Converts states between frames with the poses that the client showed.
  [[nodiscard]] ShownEntityHistory::FrameConverter converter() const;
  void guess_arrivals(const Instant& instant, double now_s);
  void lose(Sent& datagram);
  void close(Sent& datagram);
  // The shown time at `time_s`; nullopt before the first instant. Requires an instant.
  [[nodiscard]] std::optional<double> interpolated_shown_time(double time_s) const;

  MotionPath path_;
  double blend_s_;
  double limit_s_;
  bool changed_ = false;                                       // path or blend changed since the last report
  std::vector<std::unique_ptr<ShownEntityHistory>> entities_;  // index: slot; null: unknown to the client
  std::vector<EntityId> own_;
  std::vector<EntityId> expected_;   // short-lived entities that the client does not have yet
  std::vector<EntityId> confirmed_;  // entities acknowledged since the last report
  std::vector<Repeat> repeats_;      // in the order of sending
  std::array<Sent, kSent> sent_{};   // index: sequence modulo kSent
  // Datagrams that the client acknowledged. No report has said yet when the client applied them.
  std::vector<Sequence> unreported_;
  std::vector<std::vector<SentPublish>> spare_contents_;  // memory for the contents of later datagrams
  std::vector<Instant> instants_;                         // instants of the current era, ascending
  std::optional<unsigned> era_;
  double known_from_s_ = 0.0;  // start of the known history, shown time, s
  double lag_s_ = 0.1;         // typical time from sending a motion to applying it, s
};

}  // namespace reckoner
