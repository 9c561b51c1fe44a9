// SPDX-License-Identifier: MIT
#include "examples/arena/figures/figures.hpp"

#include "examples/arena/pilot.hpp"
#include "examples/arena/player.hpp"
#include "examples/arena/server_game.hpp"
#include "harness/sim/sim_transport.hpp"
#include "reckoning/src/statistics/quantile.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <deque>
#include <iterator>
#include <map>
#include <optional>
#include <set>

#include <glm/common.hpp>
#include <glm/geometric.hpp>

namespace arena {
namespace {

using reckoner::EntityId;

constexpr double kWarmUpS = 4.0;
// Not counted in the errors: the first moments of an entity, and those after a teleport, which the viewer
// cannot know yet. An avatar's teleport travels over two links.
constexpr double kNewS = 0.3, kAfterTeleportS = 0.7, kAfterAvatarTeleportS = 1.5;

// Positions of one entity in consecutive pictures, and its largest change of velocity.
struct Steps {
  int frames = 0;
  glm::dvec3 position{0.0}, velocity{0.0};
  double add(const glm::dvec3& at, double frame_s) {
    const glm::dvec3 now = (at - position) / frame_s;
    const double step = frames >= 2 ? glm::distance(now, velocity) : 0.0;
    velocity = now, position = at, frames = std::min(frames + 1, 2);
    return step;
  }
};

struct Truth {
  glm::dvec3 position{0.0};
  Steps steps;
  double step_mps = 0.0, born_s = 0.0, teleport_s = -1e9, rest_since_s = 0.0;
};

struct Samples {
  std::vector<double> error_m;
  double step_mps = 0.0, true_step_mps = 0.0;
  [[nodiscard]] KindFigures figures() {
    return {error_m.empty() ? 0.0 : reckoner::quantile(error_m, 0.95), step_mps, true_step_mps};
  }
};

struct Viewer {
  Viewer(reckoner::Transport& transport, const FigureOptions& options, const std::string& name)
      : link(transport),
        client(std::move(*reckoner::Client::create(Player::config({.mode = options.mode}), transport))),
        player(client, name, options.authority) {}
  reckoner::Transport& link;
  reckoner::Client client;
  Player player;
  Pilot pilot;
  std::set<std::uint64_t> avatars;  // all that the player ever had: bolts outlive their shooters
  std::map<EntityId, Steps> steps;
  std::map<EntityId, double> first_s;
  std::map<std::uint32_t, std::map<EntityId, glm::dvec2>> drawn;  // by beam: what was on the screen
  std::size_t verdicts = 0;
  Steps own_steps;
  std::optional<glm::dvec3> ball;  // in the last picture
};

// A picture of something whose true path is only known later.
struct Seen {
  double time_s = 0.0;
  glm::dvec3 position{0.0};
  std::uint64_t entity = 0;
};

class Run {
 public:
  explicit Run(const FigureOptions& options);
  Figures play();

 private:
  [[nodiscard]] Controls steer(Viewer& viewer, double from_s, double to_s);
  void note_shots(Viewer& viewer, double now_s);
  void note_paths();
  void measure_own(Viewer& viewer, double now_s);
  void finish_own();
  [[nodiscard]] double error_p95_m(const std::vector<Seen>& seen) const;
  void note_truth(double now_s);
  void note(EntityId id, const glm::dvec3& at, double now_s);
  void measure(Viewer& viewer, double now_s);
  void measure_bolt(Viewer& viewer, const reckoner::ShownEntity& entity, const reckoner::EntityInfo& info,
                    double now_s);
  void measure_verdicts(Viewer& viewer);

  static constexpr double kFrameS = 1.0 / 60.0;
  const FigureOptions& options_;
  reckoner::harness::SimNetwork network_;
  reckoner::Server server_;
  ServerGame game_;
  std::deque<Viewer> viewers_;
  std::map<EntityId, Truth> truth_;
  std::map<EntityId, ServerGame::FlyingBolt> bolts_;
  Samples bots_, avatars_, riders_, flying_;
  std::vector<double> bolt_late_ms_;
  std::map<std::uint64_t, std::map<reckoner::Tick, glm::dvec3>> paths_;  // of avatars and of the ball
  std::vector<Seen> own_seen_, ball_seen_;
  std::vector<double> lead_s_;
  glm::dvec3 ball_mps_{0.0};
  std::size_t own_pictures_ = 0, ball_pictures_ = 0;
  Figures figures_;
};

reckoner::harness::SimNetworkConfig network_config(const FigureOptions& options) {
  return {.links = {options.link, options.link}, .seed = options.seed, .arrival_times = true};
}

Run::Run(const FigureOptions& options)
    : options_(options),
      network_(network_config(options)),
      server_(std::move(*reckoner::Server::create(ServerGame::config(), network_.server()))),
      game_(server_, options.seed) {
  for (std::size_t i = 0; i < options.players; ++i) {
    viewers_.emplace_back(network_.add_client(reckoner::kProtocolVersion), options,
                          "player" + std::to_string(i));
  }
}

Figures Run::play() {
  std::uint64_t bytes_before = 0;
  for (double now_s = 0.0; now_s < options_.seconds; now_s = server_.tick_time_s(server_.next_tick())) {
    network_.advance(now_s);
    game_.receive(now_s);
    game_.tick(now_s);
    for (const auto& bolt : game_.bolts())
      bolts_.emplace(bolt.id, bolt);
    double shift_s = 0.0;  // each player begins the script at another time
    for (Viewer& viewer : viewers_) {
      viewer.player.frame(now_s, steer(viewer, now_s + shift_s - kFrameS, now_s + shift_s));
      note_shots(viewer, now_s);
      shift_s += 2.7;
    }
    note_truth(now_s);
    note_paths();
    for (Viewer& viewer : viewers_) {
      measure(viewer, now_s);
      measure_own(viewer, now_s);
    }
    if (now_s < kWarmUpS) {
      bytes_before = 0;
      for (const Viewer& viewer : viewers_)
        bytes_before += viewer.link.stats().wire_bytes_received;
    }
  }
  std::uint64_t bytes = 0;
  for (const Viewer& viewer : viewers_)
    bytes += viewer.link.stats().wire_bytes_received;
  figures_.bots = bots_.figures(), figures_.avatars = avatars_.figures();
  figures_.riders = riders_.figures(), figures_.bolts = flying_.figures();
  figures_.bolts_seen = bolt_late_ms_.size();
  if (!bolt_late_ms_.empty()) figures_.bolt_late_p95_ms = reckoner::quantile(bolt_late_ms_, 0.95);
  figures_.corrected = server_.ownership_stats().corrected + server_.ownership_stats().refused;
  figures_.bytes_per_second = static_cast<double>(bytes - bytes_before) / (options_.seconds - kWarmUpS) /
                              static_cast<double>(viewers_.size());
  finish_own();
  return figures_;
}

// Presses the keys of the script's lines between two times, or runs after the ball.
Controls Run::steer(Viewer& viewer, double from_s, double to_s) {
  if (options_.chase_ball) {
    const auto self = viewer.player.avatar_state();
    const auto* ball = viewer.player.find(game_.ball());
    return self && ball != nullptr ? chase(*self, glm::dvec2(ball->shown.position)) : Controls{};
  }
  if (options_.script.empty()) return {};
  const double length_s = options_.script.back().time_s + kFrameS;
  for (const ScriptLine& line : options_.script) {
    const double turn_s = std::floor(to_s / length_s) * length_s + line.time_s;
    if (turn_s <= from_s || turn_s > to_s) continue;
    if (line.verb == "press") viewer.pilot.pressed.insert(line.words);
    if (line.verb == "release") viewer.pilot.pressed.erase(line.words);
    if (line.verb == "aim") viewer.pilot.aim_rad = std::stod(line.words) * std::numbers::pi / 180.0;
  }
  return viewer.pilot.controls();
}

void Run::note_shots(Viewer& viewer, double now_s) {
  for (const Shot& shot : viewer.player.shots()) {
    if (shot.weapon == kBeamGun) {
      ++figures_.beams;
      for (const reckoner::ShownEntity& entity : viewer.player.shown())
        viewer.drawn[shot.key][entity.id] = glm::dvec2(entity.shown.position);
    } else if (now_s > kWarmUpS) {
      ++figures_.own_bolts;  // it must be in the frame for this very instant
      const auto frame = viewer.client.shown();
      const glm::dvec3 muzzle = bolt_state(viewer.player.avatar_state()->position, shot.heading_rad).position;
      if (std::none_of(frame.begin(), frame.end(), [&](const reckoner::ShownEntity& entity) {
            return glm::distance(entity.shown.position, muzzle) < 1e-3;
          }))
        ++figures_.own_bolts_late;
    }
  }
}

// Bots in the world, riders on the deck, and avatars where their own players see them.
void Run::note_truth(double now_s) {
  std::set<EntityId> avatars;
  for (const reckoner::ClientId client : server_.clients())
    avatars.insert(game_.avatar(client));
  for (const EntityId id : server_.entities()) {
    if (avatars.contains(id)) continue;
    note(id, (server_.frame_of(id) ? server_.state(id) : server_.in_world(id))->position, now_s);
  }
  for (const Viewer& viewer : viewers_) {
    if (const auto own = viewer.player.avatar_state()) note(viewer.player.avatar(), own->position, now_s);
  }
}

void Run::note(EntityId id, const glm::dvec3& at, double now_s) {
  Truth& truth = truth_[id];
  if (truth.steps.frames == 0) truth.born_s = now_s;
  const double moved_m = glm::distance(at, truth.position);
  if (truth.steps.frames > 0 && moved_m > 1.0) truth.teleport_s = now_s, truth.steps = {};
  if (moved_m > 1e-9) truth.rest_since_s = now_s;
  truth.position = at;
  truth.step_mps = truth.steps.add(at, kFrameS);
}

void Run::measure(Viewer& viewer, double now_s) {
  measure_verdicts(viewer);
  viewer.avatars.insert(reckoner::to_number(viewer.player.avatar()));
  if (now_s < kWarmUpS) return;
  for (const reckoner::ShownEntity& entity : viewer.player.shown()) {
    const reckoner::EntityInfo* info = viewer.client.info(entity.id);
    const auto truth = truth_.find(entity.id);
    if (info == nullptr || entity.id == viewer.player.avatar()) continue;
    if (info->archetype == kBolt) measure_bolt(viewer, entity, *info, now_s);
    if (!is_fighter(info->archetype) || truth == truth_.end()) continue;
    const bool rider = info->archetype == kRider, avatar = info->archetype == kPlayer;
    Samples& samples = rider ? riders_ : avatar ? avatars_ : bots_;
    const glm::dvec3 at = rider ? entity.local.position : entity.shown.position;
    Steps& steps = viewer.steps[entity.id];
    const double since_s = now_s - truth->second.teleport_s;
    const double settle_s = avatar ? kAfterAvatarTeleportS : kAfterTeleportS;
    if (glm::distance(at, steps.position) > 1.0 && since_s < settle_s) steps = {};  // the teleport is drawn
    samples.step_mps = std::max(samples.step_mps, steps.add(at, kFrameS));
    samples.true_step_mps = std::max(samples.true_step_mps, truth->second.step_mps);
    const double first_s = viewer.first_s.try_emplace(entity.id, now_s).first->second;
    if (since_s < settle_s || now_s < first_s + kNewS) continue;
    const double error_m = glm::distance(at, truth->second.position);
    samples.error_m.push_back(error_m);
    if (rider && now_s - truth->second.rest_since_s > 1.0)
      figures_.standing_rider_m = std::max(figures_.standing_rider_m, error_m);
  }
}

// Bolts of others; a player's own is on the screen at once.
void Run::measure_bolt(Viewer& viewer, const reckoner::ShownEntity& entity, const reckoner::EntityInfo& info,
                       double now_s) {
  const auto found = bolts_.find(entity.id);
  std::uint64_t shooter = 0;
  if (found == bolts_.end() || info.data.size() != sizeof shooter) return;
  std::memcpy(&shooter, info.data.data(), sizeof shooter);
  if (viewer.avatars.contains(shooter)) return;
  const ServerGame::FlyingBolt& bolt = found->second;
  const glm::dvec3 direction = glm::normalize(glm::dvec3(bolt.start.velocity));
  if (viewer.first_s.try_emplace(entity.id, now_s).second) {
    bolt_late_ms_.push_back(1e3 * (now_s - bolt.start_s));
    const glm::dvec3 off = entity.shown.position - bolt.start.position;
    figures_.off_line_m =
        std::max(figures_.off_line_m, glm::distance(off, glm::dot(off, direction) * direction));
  }
  const glm::dvec3 truth = bolt.start.position + (now_s - bolt.start_s) * glm::dvec3(bolt.start.velocity);
  flying_.error_m.push_back(glm::distance(truth, entity.shown.position));
  flying_.step_mps = std::max(flying_.step_mps, viewer.steps[entity.id].add(entity.shown.position, kFrameS));
}

// Compares where the server says that the player saw the target with what was on the screen.
void Run::measure_verdicts(Viewer& viewer) {
  for (const DrawnVerdict& drawn : viewer.player.verdicts()) {
    const auto screen = viewer.drawn.find(drawn.verdict.key);
    if (screen == viewer.drawn.end()) continue;
    ++figures_.verdicts;
    const EntityId target = reckoner::entity_id_of(drawn.verdict.target);
    if (const auto seen = screen->second.find(target); seen != screen->second.end()) {
      ++figures_.beams_hit;
      figures_.seen_error_m =
          std::max(figures_.seen_error_m, glm::distance(drawn.verdict.seen, seen->second));
    }
    viewer.drawn.erase(screen);
  }
}

// Where the server's game has put the ball and the avatars, by tick.
void Run::note_paths() {
  const reckoner::Tick tick = server_.next_tick() - 1;
  const auto note_path = [&](EntityId id) {
    if (const auto state = server_.in_world(id)) paths_[reckoner::to_number(id)][tick] = state->position;
  };
  for (const reckoner::ClientId client : server_.clients())
    note_path(game_.avatar(client));
  note_path(game_.ball());
  const glm::dvec3 mps(server_.state(game_.ball()).value_or(reckoner::State{}).velocity);
  if (glm::distance(mps, ball_mps_) > 1.0) ++figures_.own.kicks;
  ball_mps_ = mps;
  const auto& ball = paths_[reckoner::to_number(game_.ball())];
  if (const auto before = ball.find(tick - 1); before != ball.end())
    figures_.own.ball_true_step_m =
        std::max(figures_.own.ball_true_step_m, glm::distance(before->second, ball.rbegin()->second));
}

void Run::measure_own(Viewer& viewer, double now_s) {
  const reckoner::ShownEntity* own = viewer.player.find(viewer.player.avatar());
  const reckoner::ShownEntity* ball = viewer.player.find(game_.ball());
  if (now_s < kWarmUpS || own == nullptr || ball == nullptr) return;
  OwnFigures& out = figures_.own;
  const glm::dvec3 at = own->shown.position;
  if (glm::distance(at, viewer.own_steps.position) > 1.0) viewer.own_steps = {};  // a pad, or a new avatar
  out.velocity_step_mps = std::max(out.velocity_step_mps, viewer.own_steps.add(at, kFrameS));
  own_seen_.push_back({own->shown_time_s, at, reckoner::to_number(own->id)});
  if (viewer.ball)
    out.ball_step_m = std::max(out.ball_step_m, glm::distance(*viewer.ball, ball->shown.position));
  viewer.ball = ball->shown.position;
  const double lead_s =
      viewer.player.authority() == Authority::own ? 0.0 : viewer.client.stats().input_lead_s;
  if (glm::distance(at, ball->shown.position) < 7.0)
    ball_seen_.push_back({now_s + lead_s, ball->shown.position, reckoner::to_number(ball->id)});
  lead_s_.push_back(lead_s);
  ++own_pictures_;
  ball_pictures_ += viewer.player.predictor().predicts_ball() ? 1 : 0;
}

void Run::finish_own() {
  OwnFigures& out = figures_.own;
  out.error_p95_m = error_p95_m(own_seen_);
  out.ball_error_p95_m = error_p95_m(ball_seen_);
  const auto pictures = static_cast<double>(std::max<std::size_t>(own_pictures_, 1));
  for (const double lead_s : lead_s_)
    out.lead_s += lead_s / pictures;
  out.ball_predicted_share = static_cast<double>(ball_pictures_) / pictures;
  const double minutes = static_cast<double>(viewers_.size()) * options_.seconds / 60.0;
  for (const Viewer& viewer : viewers_) {
    const auto& corrections = viewer.player.predictor().corrections();
    for (const std::size_t count : corrections)
      out.corrections_per_minute += static_cast<double>(count) / minutes;
    out.input_missing_per_minute +=
        static_cast<double>(
            corrections[static_cast<std::size_t>(reckoner::CorrectionReason::input_missing)]) /
        minutes;
  }
  std::uint64_t ticks = 0, repeated = 0;
  for (const reckoner::ClientId client : server_.clients()) {
    const reckoner::PredictionStats stats =
        server_.prediction_stats(client).value_or(reckoner::PredictionStats{});
    ticks += stats.ticks, repeated += stats.ticks_repeated;
  }
  if (ticks > 0) out.repeated_share = static_cast<double>(repeated) / static_cast<double>(ticks);
}

// Compares pictures with the paths, between two ticks linearly.
double Run::error_p95_m(const std::vector<Seen>& seen) const {
  std::vector<double> errors;
  for (const Seen& picture : seen) {
    const auto path = paths_.find(picture.entity);
    if (path == paths_.end()) continue;
    const double at = picture.time_s * kTickHz;
    const auto before = path->second.find(static_cast<reckoner::Tick>(at));
    if (before == path->second.end() || std::next(before) == path->second.end()) continue;
    const glm::dvec3 from = before->second, to = std::next(before)->second;
    if (glm::distance(from, to) < 1.0)
      errors.push_back(glm::distance(picture.position, glm::mix(from, to, at - std::floor(at))));
  }
  return errors.empty() ? 0.0 : reckoner::quantile(errors, 0.95);
}

}  // namespace

Figures play(const FigureOptions& options) {
  return Run(options).play();
}

}  // namespace arena
