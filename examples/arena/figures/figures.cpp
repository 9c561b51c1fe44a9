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
#include <map>
#include <set>

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
  Viewer(reckoner::Transport& transport, const reckoner::PlayoutConfig& playout, const std::string& name)
      : link(transport),
        client(std::move(*reckoner::Client::create(Player::config(playout), transport))),
        player(client, name) {}
  reckoner::Transport& link;
  reckoner::Client client;
  Player player;
  Pilot pilot;
  std::set<std::uint64_t> avatars;  // all that the player ever had: bolts outlive their shooters
  std::map<EntityId, Steps> steps;
  std::map<EntityId, double> first_s;
  std::map<std::uint32_t, std::map<EntityId, glm::dvec2>> drawn;  // by beam: what was on the screen
  std::size_t verdicts = 0;
};

class Run {
 public:
  explicit Run(const FigureOptions& options);
  Figures play();

 private:
  void steer(Viewer& viewer, double from_s, double to_s);
  void shoot(Viewer& viewer, double now_s);
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
    viewers_.emplace_back(network_.add_client(reckoner::kProtocolVersion),
                          reckoner::PlayoutConfig{.mode = options.mode}, "player" + std::to_string(i));
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
      steer(viewer, now_s + shift_s - kFrameS, now_s + shift_s);
      viewer.player.frame(now_s, viewer.pilot.controls());
      shoot(viewer, now_s);
      shift_s += 2.7;
    }
    note_truth(now_s);
    for (Viewer& viewer : viewers_)
      measure(viewer, now_s);
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
  return figures_;
}

// Presses the keys of the script's lines between two times.
void Run::steer(Viewer& viewer, double from_s, double to_s) {
  if (options_.script.empty()) return;
  const double length_s = options_.script.back().time_s + kFrameS;
  for (const ScriptLine& line : options_.script) {
    const double turn_s = std::floor(to_s / length_s) * length_s + line.time_s;
    if (turn_s <= from_s || turn_s > to_s) continue;
    if (line.verb == "press") viewer.pilot.pressed.insert(line.words);
    if (line.verb == "release") viewer.pilot.pressed.erase(line.words);
    if (line.verb == "aim") viewer.pilot.aim_rad = std::stod(line.words) * std::numbers::pi / 180.0;
  }
}

void Run::shoot(Viewer& viewer, double now_s) {
  if (viewer.pilot.fires(kBoltGun) && viewer.player.fire(kBoltGun, now_s) && now_s > kWarmUpS) {
    ++figures_.own_bolts;  // it must be in the frame for this very instant
    const auto frame = viewer.client.shown();
    const glm::dvec3 muzzle =
        bolt_state(viewer.player.avatar_state()->position, viewer.pilot.last_aim_rad).position;
    if (std::none_of(frame.begin(), frame.end(), [&](const reckoner::ShownEntity& entity) {
          return glm::distance(entity.shown.position, muzzle) < 1e-3;
        }))
      ++figures_.own_bolts_late;
  }
  if (!viewer.pilot.fires(kBeamGun) || !viewer.player.fire(kBeamGun, now_s)) return;
  ++figures_.beams;
  for (const reckoner::ShownEntity& entity : viewer.player.shown())
    viewer.drawn[viewer.player.last_shot()][entity.id] = glm::dvec2(entity.shown.position);
}

// Bots in the world, riders on the deck, and avatars where their own players see them.
void Run::note_truth(double now_s) {
  for (const EntityId id : server_.entities()) {
    if (server_.owner(id)) continue;
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

}  // namespace

Figures play(const FigureOptions& options) {
  return Run(options).play();
}

}  // namespace arena
