// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/link/sequence_ring.hpp"
#include "net/src/messages/datagram.hpp"
#include "reckoning/src/util/prefetch.hpp"
#include "server/src/rewind/shared_motions.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <utility>
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
 private:
  static constexpr double kNever = std::numeric_limits<double>::infinity();

 public:
  /// Converts a state from the frame `from` to the frame `to`, as the frames are at `time_s`, by what the
  /// client knew when it showed the instant `known_s`. Empty if that is unknown.
  using FrameConverter = std::function<std::optional<State>(const State&, FrameId from, FrameId to,
                                                            double time_s, double known_s)>;

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

  /// Adds a motion. The client applied it at the instant `shown_s`, and blends towards it as `blend` says.
  /// Calls may come in any order of instants. A motion that is already known is ignored. Motions more than
  /// `keep_s` older than the newest motion are dropped. kMaxSteps and kMaxReplayed bound the cost of a call,
  /// whatever instants the client claims.
  void add(double shown_s, const SharedMotion& motion, const BlendSettings& blend, double keep_s,
           const FrameConverter& converted = {});

  /// As add(), for a motion in a spawn of the entity. The entity appears when the client applies the first of
  /// its spawns, and reports may name a later one first.
  void announce(double shown_s, const SharedMotion& motion, const BlendSettings& blend, double keep_s,
                const FrameConverter& converted = {});

  /// Notes that the client may have applied a motion with this time stamp, and that the history has lost the
  /// motion. What the client shows is unknown until it applies a motion that is at least as new.
  void lose(double motion_s);

  /// Notes that the client applied a motion somewhere between these two shown instants. What the client shows
  /// is unknown from `from_s` until the blend that begins at `until_s` has ended. If another blend begins
  /// meanwhile, it begins at an unknown pose. The doubt then lasts until that blend has ended, too, but at
  /// most kJumpS longer, or kGentleJumpS if blends are gentle.
  void doubt(double from_s, double until_s, double blend_s) { add_doubt(from_s, until_s, blend_s, false); }
  /// As doubt(), for a client that blends over a jump, from a pose that may be far from the motion. The doubt
  /// lasts until the corrections that follow are certainly over, too.
  ///
  /// `gap_m`: at `until_s`, the pose is at most this far from the motion, m, apart from the corrections that
  /// the server knows.
  void doubt_jump(double from_s, double until_s, double gap_m = kNever) {
    add_doubt(from_s, until_s, kLongestCatchUpS, true, gap_m);
  }

  /// Notes that another entity is in the frame of this entity from the instant `shown_s` on, at the distance
  /// `lever_m` from the frame's origin, m (RemoteEntity::set_lever()).
  void carry(double shown_s, double lever_m, const FrameConverter& converted = {});
  /// Computes the corrections after changes of frame again, unless that was done for this version of what is
  /// known of the frames.
  void refresh(std::uint64_t version, const FrameConverter& converted);
  /// The largest distance of carry() so far, m; below 0: no entity is in this entity's frame.
  [[nodiscard]] double lever_m() const { return lever_m_; }
  /// True if the client applied a motion of this entity at an instant after `from_s`, but not after
  /// `until_s`.
  [[nodiscard]] bool has_step_within(double from_s, double until_s) const;

  /// The oldest motion that is kept.
  [[nodiscard]] const Motion& first() const { return *steps_.front().motion; }
  /// True if some motion is or was in the frame of another entity.
  [[nodiscard]] bool is_framed() const { return is_framed_; }
  /// True if any motion is in `frame`.
  [[nodiscard]] bool has_motion_in(FrameId frame) const;
  /// The client drew no frame between these shown instants. If the entity changes its frame meanwhile in a
  /// buffered mode, what the client shows is unknown: it converted the pose later than usual.
  void doubt_changes_of_frame(double from_s, double until_s, const FrameConverter& converted);
  /// The entity of the frame `frame` has ended. The client moves the entities in it to the frame outside it,
  /// at some time after the instant `from_s`. What it shows is unknown until left_frame().
  void lose_frame(FrameId frame, double from_s);
  /// The client moved the entities in `frame` to the frame outside it not later than at the instant
  /// `until_s`.
  void left_frame(FrameId frame, double until_s, double blend_s);

  /// Notes that the client shows the entity from the instant `shown_s` on.
  void appear(double shown_s);
  /// Call it if it is not known when the client got motions of this entity before it showed them. Large
  /// corrections until the instant `until_s` may then be catch-ups on the client
  /// (ShownBlends::hurries_until_s).
  void suspect_hurry(double until_s) { hurry_suspected_until_s_ = until_s; }
  [[nodiscard]] bool appeared() const { return appear_s_ < kNever; }

  /// Call it when the client's shown time jumped, or when the client changed to `path`. It is unknown how the
  /// client blended over this change. From `shown_s` on, the client shows the motions that it has.
  void restart(MotionPath path, double shown_s);
  /// Call it when it turns out that the client has shown this path since the last restart().
  void change_path(MotionPath path, const FrameConverter& converted);

  /// A state, and the frame in which it is given.
  struct FramedState {
    State state;
    FrameId frame;
  };
  /// The state that the client showed at this instant, with the frame of the state. Empty if the state is
  /// unknown or the client did not show the entity.
  [[nodiscard]] std::optional<FramedState> shown(double shown_s, const FrameConverter& converted = {}) {
    return foreseen(shown_s, shown_s, converted);
  }
  /// The state that the client would have shown at the instant `time_s` by what it knew at the instant
  /// `known_s`. Empty, too, if the entity jumps so close to `time_s` that an error of `error_s` matters.
  [[nodiscard]] std::optional<FramedState> foreseen(double time_s, double known_s,
                                                    const FrameConverter& converted, double error_s = 0.0);

  /// Time stamp of the newest motion that the client is known to have, s.
  [[nodiscard]] double newest_s() const { return newest_s_; }

  /// Number of motions kept.
  [[nodiscard]] std::size_t steps() const { return steps_.size(); }

 private:
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
    bool jumps;       // doubt_jump()
    // A chase from the unknown pose may have this far to go at the instant `gap_s`, m. It comes no nearer
    // before `begin_s`.
    double gap_m = 0.0;
    double gap_s = -kNever;
    double begin_s = -kNever;
    double chased_s = -kNever;  // when this chase has certainly ended

    [[nodiscard]] double end_s() const { return until_s > chased_s ? until_s : chased_s; }
  };

  // A motion that the client applied. The instant of applying it is in shown_s_, at the index that the step
  // has in steps_.
  struct Step {
    SharedMotion motion;
    double blend_s = 0.0;
    // The corrections that were in progress after this step: an index into stored_, kNone or kUnknown. Never
    // unknown for the first step.
    std::int32_t blends = kUnknown;
    BlendCurve curve = BlendCurve::cubic;
    // True if this step certainly starts no chase, provided that no chase was in progress before.
    bool calm = true;
    // Upper bounds of the correction when the step was applied, if no chase was in progress: m and m/s.
    double offset_m = 0.0;
    double offset_mps = 0.0;
    // Largest distance of an entity in this entity's frame, m; below 0: none (RemoteEntity::set_lever()).
    double lever_m = -1.0;
    // For interpolation without chases: when the corrections up to this step have certainly ended.
    double corrected_until_s = -kNever;
  };

  [[nodiscard]] std::size_t step_at(double shown_s) const;
  [[nodiscard]] bool jumps_near(double shown_s, std::size_t last, double error_s) const;
  [[nodiscard]] MotionHistory known_before(std::size_t step) const;
  [[nodiscard]] double hurries_until_s(std::size_t step) const;
  [[nodiscard]] RemoteEntity entity_before(std::size_t step) const;
  void begin_with(const SharedMotion& motion);
  void note_frame(std::size_t step);
  void settle_frames(RemoteEntity& entity, double from_s, double until_s, const FrameConverter& converted);
  [[nodiscard]] std::optional<State> surely_converted(const State& state, FrameId from, FrameId to,
                                                      double time_s, double known_s,
                                                      const FrameConverter& converted);
  [[nodiscard]] bool is_large(std::size_t step) const;
  [[nodiscard]] double longest_blend_after(std::size_t step, bool jumps) const;
  void add_doubt(double from_s, double until_s, double blend_s, bool jumps, double gap_m = 0.0);
  void changed_from(std::size_t step, const FrameConverter& converted);
  void assess(std::size_t step);
  void assess_again();
  void forget_corrections(std::size_t step, const ShownBlends& last);
  void assess_prediction(std::size_t step);
  void assess_interpolation(std::size_t step);
  [[nodiscard]] bool starts_no_correction(std::size_t step) const;
  [[nodiscard]] bool is_uncorrected_before(std::size_t step) const;
  [[nodiscard]] ShownBlends blends_after(std::size_t step);
  [[nodiscard]] ShownBlends known_blends(std::size_t step) const;
  void store(std::size_t step, const ShownBlends& blends);
  void release(Step& step);
  void replay(std::size_t from, std::size_t to, const FrameConverter& converted);
  void compute_always(std::size_t end);
  void prolong_doubts();
  [[nodiscard]] double gap_after(std::size_t step, double before_m) const;
  bool pursue(Doubt& doubt, std::size_t until_step) const;
  void forget_before(double shown_s);
  [[nodiscard]] std::size_t steps_needless_at(double shown_s) const;
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
  BlendSettings blend_;              // the client's present blend
  // True if corrections depend on other entities or last longer: a motion is on a route or in a frame, or
  // another entity is in the frame of this one. They are then computed at once.
  bool always_computes_ = false;
  double lost_s_ = -kNever;  // time stamp of the newest motion that lose() reported and nothing replaced
  std::vector<Doubt> doubts_;

  double hurry_suspected_until_s_ = -kNever;  // suspect_hurry()
  double chases_until_s_ = -kNever;           // until when a chase from before a restart() may last
  std::uint64_t version_ = 0;                 // see refresh()
  bool is_framed_ = false;                    // some motion is or was in a frame
  double lever_m_ = -1.0;                     // see carry()
  // Ends of interpolations across changes of frame (RemoteEntity::last_bridge()), in the order of the
  // instants at which they were computed.
  struct Bridge {
    double made_s;
    Motion end;
  };
  std::vector<Bridge> bridges_;
  // A frame whose entity has ended, and the instant from which what the client shows is therefore unknown.
  struct LostFrame {
    FrameId frame;
    double from_s;
  };
  std::vector<LostFrame> lost_frames_;
};

/// Reconstructs what one client showed during the last second. It uses three sources: the motions that the
/// server sent, the client's reports of when it applied them (ShowingReport), and the client's own code.
///
/// The reports of the client are limited to plausible values. They cannot reach further back than `limit_s`.
class ShownHistory {
 public:
  /// Length of the history, s.
  static constexpr double kHistoryS = 1.0;

  ShownHistory(MotionPath path, const BlendSettings& blend, double limit_s)
      : path_(path), blend_(blend), limit_s_(limit_s) {
    instants_.reserve(kMaxInstants + 1);
  }

  /// Notes that the client changes to `path` and `blend` at an unknown time. For a while it is then unknown
  /// what the client shows.
  void change(MotionPath path, const BlendSettings& blend);

  /// Notes that the spawn of an entity was written into the datagram `sequence`. The entity appears when the
  /// client applies the first datagram with its spawn.
  void announced_in(Sequence sequence, EntityId id, SharedMotion motion, double now_s);
  /// Notes that the end of an entity was written into the datagram `sequence`. Call forget() before.
  void ended_in(Sequence sequence, EntityId id, double now_s);
  /// Call it when the entity ended or the client no longer follows it. `confirmable`: end_confirmed() will be
  /// called for it.
  void forget(EntityId id, bool confirmable = false);
  /// Notes that the client acknowledged the end of an entity.
  void end_confirmed(EntityId id);

  /// Call it when the client becomes the owner of the entity. Its shown pose is then unknown until the server
  /// sends the client a motion of the entity again.
  void own(EntityId id);
  /// Call it when the client begins to predict the entity. As own(), and after the end of the prediction its
  /// shown pose is unknown for longer: the client goes over to another instant.
  void predict(EntityId id);

  /// Notes that a motion was written into the datagram `sequence`.
  void sent(Sequence sequence, EntityId id, SharedMotion motion, double now_s);

  /// Call it for a motion that the client has as the owner of the entity. If it is in the frame of another
  /// entity, this notes that the frame contains an entity.
  void note_owned_frame(const Motion& motion);

  /// Notes that the client has received these datagrams. The caller must call this before process() with the
  /// report of the same datagram.
  void acknowledged(const Ack& ack, double now_s);

  /// Processes the report in a client's datagram that arrived at server time `now_s`. Returns the reason if
  /// the report is refused, else nullopt. While the client's clock is far off, it is unknown what the client
  /// shows.
  ///
  /// `newest`: the client sent no later datagram that has arrived.
  std::optional<Refusal> process(const ShowingReport& report, double now_s, bool newest = false);

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
  // A motion or an end in a datagram.
  struct SentContent {
    enum class Kind : std::uint8_t { update, spawn, end };
    EntityId id;
    SharedMotion motion;  // empty for an end
    Kind kind = Kind::update;
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
    std::vector<SentContent> content;
  };
  // One instant: when the client's clock was at `now_s`, the client showed `shown_s`.
  struct Instant {
    double now_s = 0.0;
    double shown_s = 0.0;
  };
  static constexpr std::size_t kUsualContents = 16;  // motions in a datagram
  static constexpr double kUnreported = std::numeric_limits<double>::infinity();
  static constexpr std::size_t kMaxInstants = 256;

  [[nodiscard]] ShownEntityHistory* find(EntityId id) const;
  // A time, and the instant that the client showed when it knew what counts.
  struct Moment {
    double time_s;
    double known_s;
    double error_s = 0.0;  // how far time_s may be off
  };
  // Conversions need the poses of frames, which may depend on conversions. `most` bounds the depth.
  [[nodiscard]] std::optional<State> in_world(ShownEntityHistory& entity, const Moment& at, int most) const;
  [[nodiscard]] std::optional<State> frame_at(FrameId frame, const Moment& at, int most) const;
  void note_frame(const Motion& motion, double from_s, double shown_s);
  void carry_early(EntityId frame, double shown_s);
  void drop(EntityId id);
  void announced(EntityId id, const SharedMotion& first);
  void begin_era(unsigned era, double shown_s);
  void make_unknown(double shown_s);
  [[nodiscard]] const Sent* find_open(Sequence sequence) const;
  [[nodiscard]] Sent* find_open(Sequence sequence) {
    return const_cast<Sent*>(std::as_const(*this).find_open(sequence));
  }
  void add_sent(Sequence sequence, SentContent content, double now_s);
  void make_room(Sequence sequence, double now_s);
  void note_instant(const Instant& instant);
  void doubt_undrawn(const Instant& instant);
  void apply(Sent& datagram, double shown_s);
  void apply_ends(const Instant& instant);
  void apply_unreported(const ShowingReport& first);
  // Converts states between frames with the poses that the client showed.
  [[nodiscard]] ShownEntityHistory::FrameConverter converter(int most = kMostConversions) const;
  static constexpr int kMostConversions = 2 * kMaxFrameDepth;
  void guess_arrivals(const Instant& instant, double now_s);
  void lose(Sent& datagram);
  void close(Sent& datagram);
  // The shown time at `time_s`; nullopt before the first instant. Requires an instant.
  [[nodiscard]] std::optional<double> interpolated_shown_time(double time_s) const;
  // The delay between two reports: a cubic with the rates near both reports, s/s.
  struct DelayCurve {
    double span_s;
    double before_s;
    double after_s;
    double rate_before = 0.0;
    double rate_after = 0.0;
    [[nodiscard]] double mean_rate() const { return (after_s - before_s) / span_s; }
    [[nodiscard]] double at(double u) const;
    // Upper bound for the distance from a straight line, s.
    [[nodiscard]] double largest_bend_s() const;
  };
  [[nodiscard]] DelayCurve delay_curve(std::vector<Instant>::const_iterator after) const;
  [[nodiscard]] double error_s(double shown_s) const;
  [[nodiscard]] static double delay_s(const Instant& instant) { return instant.now_s - instant.shown_s; }
  [[nodiscard]] std::optional<double> delay_rate_near(std::vector<Instant>::const_iterator at,
                                                      int direction) const;

  MotionPath path_;
  BlendSettings blend_;
  double limit_s_;
  bool changed_ = false;     // path or blend changed since the last report
  bool predicts_ = false;    // only the path changed since the last report, to prediction
  bool is_present_ = false;  // the client showed the present when this era began
  std::vector<std::unique_ptr<ShownEntityHistory>> entities_;  // index: slot; null: unknown to the client
  std::vector<EntityId> own_;
  std::vector<EntityId> predicted_;        // those of own_ that the client predicts
  std::unordered_set<EntityId> expected_;  // entities that the client does not have yet
  // Distances of entities, m, in frames that the client does not have yet; only the largest of each frame.
  std::unordered_map<EntityId, double> early_levers_m_;
  // Frames whose entities have ended, and that contained other entities. The client may not know yet.
  struct EndedFrame {
    EntityId id;
    bool confirmed = false;
    double noticed_s = 0.0;          // shown time from which its end counts as confirmed; infinity: never
    double applied_s = kUnreported;  // shown time when the client applied its end
  };
  std::vector<EndedFrame> ended_frames_;
  SequenceRing<Sent> sent_;
  // Datagrams that the client acknowledged. No report has said yet when the client applied them.
  std::vector<Sequence> unreported_;
  std::vector<std::vector<SentContent>> spare_contents_;  // memory for the contents of later datagrams
  std::vector<Instant> instants_;                         // instants of the current era, ascending
  std::optional<unsigned> era_;
  double newest_client_s_ =
      -std::numeric_limits<double>::infinity();                  // the client's clock in its newest report
  double applied_s_ = -std::numeric_limits<double>::infinity();  // newest instant of a processed arrival
  // Counts the arrivals of frames that were processed late: entities may have changed into or out of these
  // frames by then, and what was computed for them is out of date.
  std::uint64_t frames_version_ = 0;
  double began_s_ = 0.0;       // shown time of the first report, s
  bool has_report_ = false;    // a report has been processed
  double known_from_s_ = 0.0;  // start of the known history, shown time, s
  double lag_s_ = 0.1;         // typical time from sending a motion to applying it, s
};

}  // namespace reckoner
