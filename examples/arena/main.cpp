// SPDX-License-Identifier: MIT
// The arena's client: example_arena HOST PORT [--name NAME] [--network NAME] [--network-control FILE]
// [--truth-port PORT] [--script FILE]. `./dev play` starts it together with a server and a bad network.
#define SDL_MAIN_HANDLED
#include "menu.hpp"
#include "overlay.hpp"
#include "pilot.hpp"
#include "scene.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>

namespace arena {
namespace {

using reckoner::PlayoutMode;

constexpr double kFrameS = 1.0 / 60.0;
constexpr const char* kNetworks[] = {"lan", "broadband", "wifi", "intercity", "mobile", "stress"};
constexpr const char* kModes[] = {"present", "adaptive", "delayed"};  // in the order of PlayoutMode

struct Options {
  std::string host = "127.0.0.1", name = "player", network = "lan", network_control, script;
  int port = 26000, truth_port = 0;
};

std::optional<Options> parse(int argc, char** argv) {
  Options options;
  int place = 0;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i], value = i + 1 < argc ? argv[i + 1] : "";
    const bool option = word.starts_with("--");
    if (option && ++i >= argc) return std::nullopt;
    if (word == "--name")
      options.name = value;
    else if (word == "--network")
      options.network = value;
    else if (word == "--network-control")
      options.network_control = value;
    else if (word == "--truth-port")
      options.truth_port = std::atoi(value.c_str());
    else if (word == "--script")
      options.script = value;
    else if (option || place > 1)
      return std::nullopt;
    else if (place++ == 0)
      options.host = word;
    else
      options.port = std::atoi(word.c_str());
  }
  return options;
}

class Game {
 public:
  Game(const Options& options, Canvas& canvas, std::vector<ScriptLine> script)
      : options_(options),
        canvas_(canvas),
        script_(std::move(script)),
        dialer_(options.host, static_cast<std::uint16_t>(options.port), reckoner::kProtocolVersion,
                reckoner::Insecure{}),
        client_(std::move(*reckoner::Client::create(Player::config(), dialer_))),
        player_(client_, options.name),
        overlay_(dialer_, static_cast<std::uint16_t>(options.truth_port)) {}

  int run();

 private:
  void handle(const SDL_Event& event);
  void press(const std::string& key);
  void choose(int by);
  void next_network(int by);
  void next_mode(int by);
  void play_script(double now_s);
  void aim(const std::string& at);
  void read_pads();
  void draw(double now_s, double frame_ms);
  void report() const;

  Options options_;
  Canvas& canvas_;
  std::vector<ScriptLine> script_;
  std::size_t script_at_ = 0;
  reckoner::NetworkDialer dialer_;
  reckoner::Client client_;
  Player player_;
  Overlay overlay_;
  Menu menu_;
  Pilot pilot_;
  std::optional<glm::dvec2> mouse_;    // where it points in the arena; empty while the player uses keys
  std::optional<std::string> typing_;  // a line of chat
  std::string screenshot_;
  bool quit_ = false;
  double now_s_ = 0.0;
  std::vector<double> work_ms_;  // of each frame
  std::size_t most_shown_ = 0;
};

int Game::run() {
  const auto start = std::chrono::steady_clock::now();
  const auto clock = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  for (double next_s = 0.0; !quit_;) {
    now_s_ = clock();
    play_script(now_s_);
    for (SDL_Event event; SDL_PollEvent(&event) != 0;)
      handle(event);
    read_pads();
    if (const auto at = player_.avatar_state(); at && mouse_) {
      const glm::dvec2 to = *mouse_ - glm::dvec2(at->position);
      pilot_.aim_rad = std::atan2(to.y, to.x);
    }
    Controls controls = pilot_.controls();
    if (menu_.open || typing_) controls = {.aim_rad = controls.aim_rad};  // the avatar stands meanwhile
    player_.frame(now_s_, controls);
    if (!menu_.open && !typing_ && pilot_.fires_bolt()) player_.fire_bolt(now_s_);
    if (!menu_.open && !typing_ && pilot_.fires_beam()) player_.fire_beam(now_s_);
    overlay_.update(now_s_);
    draw(now_s_, work_ms_.empty() ? 0.0 : work_ms_.back());
    work_ms_.push_back(1e3 * (clock() - now_s_));
    most_shown_ = std::max(most_shown_, player_.shown().size());

    next_s = std::max(next_s + kFrameS, clock() - kFrameS);  // software drawing knows no vertical sync
    dialer_.wait(0.0);                                       // what this frame sends leaves now
    if (const double left_s = next_s - clock(); left_s > 0.0)
      SDL_Delay(static_cast<Uint32>(1e3 * left_s + 0.5));
  }
  client_.leave();
  client_.receive(now_s_);
  dialer_.wait(0.05);
  report();
  return most_shown_ > 0 ? 0 : 1;
}

void Game::handle(const SDL_Event& event) {
  const auto button = [&] { return "Mouse " + std::to_string(event.button.button); };
  switch (event.type) {
    case SDL_QUIT:
      quit_ = true;
      break;
    case SDL_KEYDOWN:
      if (event.key.repeat == 0 || typing_) press(SDL_GetKeyName(event.key.keysym.sym));
      break;
    case SDL_KEYUP:
      pilot_.held.erase(SDL_GetKeyName(event.key.keysym.sym));
      break;
    case SDL_TEXTINPUT:
      if (typing_ && typing_->size() < 80) *typing_ += event.text.text;
      break;
    case SDL_MOUSEMOTION:
      mouse_ = Canvas::world(event.motion.x, event.motion.y);
      break;
    case SDL_MOUSEBUTTONDOWN:
      pilot_.held.insert(button());
      break;
    case SDL_MOUSEBUTTONUP:
      pilot_.held.erase(button());
      break;
    case SDL_CONTROLLERDEVICEADDED:
      SDL_GameControllerOpen(event.cdevice.which);
      break;
    case SDL_CONTROLLERBUTTONDOWN:
    case SDL_CONTROLLERBUTTONUP: {
      const char* name =
          SDL_GameControllerGetStringForButton(static_cast<SDL_GameControllerButton>(event.cbutton.button));
      const std::string key = std::string("Pad ") + (name != nullptr ? name : "");
      if (event.type == SDL_CONTROLLERBUTTONUP)
        pilot_.held.erase(key);
      else
        press(key == "Pad start" ? "Escape" : key);
      break;
    }
    default:
      break;
  }
}

void Game::press(const std::string& key) {
  if (typing_) {
    if (key == "Return") player_.say(*typing_);
    if (key == "Return" || key == "Escape") return typing_.reset(), SDL_StopTextInput();
    if (key == "Backspace" && !typing_->empty()) typing_->pop_back();
    return;
  }
  if (key == "F1") overlay_.show(!overlay_.is_shown());
  if (key == "F2") next_network(1);
  if (key == "F3") next_mode(1);
  if (key == "Escape") return (void)(menu_.open = !menu_.open);
  if (menu_.open) {
    if (key == "Up" || key == "Pad dpup") menu_.move(-1);
    if (key == "Down" || key == "Pad dpdown") menu_.move(1);
    if (key == "Left") choose(-1);
    if (key == "Right" || key == "Return" || key == "Pad a") choose(1);
    return;
  }
  if (key == "Return") return typing_.emplace(), SDL_StartTextInput();
  pilot_.held.insert(key);
}

void Game::choose(int by) {
  switch (menu_.item()) {
    case Menu::kPlay:
      player_.play();
      menu_.open = false;
      break;
    case Menu::kNetwork:
      next_network(by);
      break;
    case Menu::kMode:
      next_mode(by);
      break;
    case Menu::kOverlay:
      overlay_.show(!overlay_.is_shown());
      break;
    default:
      quit_ = true;
  }
}

// The network between this game and its server is another program, which reads its commands from a pipe.
void Game::next_network(int by) {
  constexpr int kCount = std::size(kNetworks);
  if (options_.network_control.empty()) return;
  int at = 0;
  while (at < kCount && options_.network != kNetworks[at])
    ++at;
  options_.network = kNetworks[(at + by + kCount) % kCount];
  std::ofstream(options_.network_control) << "network=" << options_.network << std::endl;
}

void Game::next_mode(int by) {
  reckoner::PlayoutConfig playout = client_.playout();
  playout.mode = static_cast<PlayoutMode>((static_cast<int>(playout.mode) + by + 3) % 3);
  playout.delay_s = 0.15;  // of the delayed mode
  client_.set_playout(playout, now_s_);
}

// Lines such as `2.5 press F1`, at most one a frame, so that on a slow machine each one still has its own
// picture. Keys go through SDL's queue, like those of a person.
void Game::play_script(double now_s) {
  if (script_at_ >= script_.size() || script_[script_at_].time_s > now_s) return;
  const ScriptLine& line = script_[script_at_++];
  SDL_Event event{};
  event.type = line.verb == "release" ? SDL_KEYUP : SDL_KEYDOWN;
  event.key.keysym.sym = SDL_GetKeyFromName(line.words.c_str());
  if (line.verb == "press" || line.verb == "tap" || line.verb == "release") SDL_PushEvent(&event);
  event.type = SDL_KEYUP;
  if (line.verb == "tap") SDL_PushEvent(&event);
  if (line.verb == "aim") aim(line.words);
  if (line.verb == "type" && typing_) *typing_ += line.words;
  if (line.verb == "screenshot") screenshot_ = line.words;
  if (line.verb == "quit") quit_ = true;
}

// At an angle in degrees, or at the `nearest` fighter.
void Game::aim(const std::string& at) {
  mouse_.reset();
  pilot_.aim_rad = std::atof(at.c_str()) * std::numbers::pi / 180.0;
  const auto own = player_.avatar_state();
  double nearest_m = 1e9;
  for (const reckoner::ShownEntity& entity : player_.shown()) {
    const auto* info = client_.info(entity.id);
    if (at != "nearest" || !own || info == nullptr || info->archetype != kFighter) continue;
    const glm::dvec2 to(entity.shown.position - own->position);
    const double away_m = std::hypot(to.x, to.y);
    if (entity.id == player_.avatar() || away_m > nearest_m) continue;
    nearest_m = away_m;
    pilot_.aim_rad = std::atan2(to.y, to.x);
  }
}

void Game::read_pads() {
  pilot_.stick = {0.0, 0.0};
  for (int i = 0; i < SDL_NumJoysticks(); ++i) {
    SDL_GameController* pad = SDL_GameControllerFromInstanceID(SDL_JoystickGetDeviceInstanceID(i));
    if (pad == nullptr) continue;
    const auto axis = [&](SDL_GameControllerAxis which) {
      return SDL_GameControllerGetAxis(pad, which) / 32768.0;
    };
    const glm::dvec2 walk{axis(SDL_CONTROLLER_AXIS_LEFTX), -axis(SDL_CONTROLLER_AXIS_LEFTY)};
    const glm::dvec2 aim{axis(SDL_CONTROLLER_AXIS_RIGHTX), -axis(SDL_CONTROLLER_AXIS_RIGHTY)};
    if (std::hypot(walk.x, walk.y) > 0.2) pilot_.stick = walk;
    if (std::hypot(aim.x, aim.y) > 0.4) mouse_.reset(), pilot_.aim_rad = std::atan2(aim.y, aim.x);
  }
}

void Game::draw(double now_s, double frame_ms) {
  canvas_.clear({16, 18, 24});
  draw_scene(canvas_, player_);
  draw_status(canvas_, player_, typing_ ? *typing_ + "_" : "");
  const std::string mode = kModes[static_cast<std::size_t>(client_.playout().mode)];
  if (overlay_.is_shown()) overlay_.draw(canvas_, player_, options_.network, now_s, frame_ms);
  canvas_.text(16, 24, "RECKONER ARENA", {150, 158, 174});
  canvas_.text(16, 46, "F1 overlay");
  canvas_.text(16, 64, "F2 network " + options_.network);
  canvas_.text(16, 82, "F3 mode    " + mode);
  canvas_.text(16, 100, "Esc menu");
  std::string trouble = client_.refusal();
  if (trouble.empty() && !player_.has_joined()) trouble = "connecting...";
  if (menu_.open) menu_.draw(canvas_, options_.name, options_.network, mode, overlay_.is_shown(), trouble);
  if (!screenshot_.empty() && !canvas_.save(screenshot_)) std::fprintf(stderr, "%s\n", SDL_GetError());
  screenshot_.clear();
  canvas_.present();
}

void Game::report() const {
  std::vector<double> work = work_ms_;
  std::sort(work.begin(), work.end());
  if (work.empty()) return;
  std::printf("%s: %zu frames, %.1f a second; work in a frame p50 %.1f ms, p95 %.1f ms; %zu entities\n",
              options_.name.c_str(), work.size(), static_cast<double>(work.size()) / now_s_,
              work[work.size() / 2], work[work.size() * 95 / 100], most_shown_);
}

}  // namespace
}  // namespace arena

int main(int argc, char** argv) {
  const auto options = arena::parse(argc, argv);
  if (!options || options->port < 1 || options->port > 65535 || options->truth_port < 0 ||
      options->truth_port > 65535)
    return std::fprintf(stderr,
                        "usage: %s HOST PORT [--name NAME] [--network NAME] [--network-control FILE]\n"
                        "  [--truth-port PORT] [--script FILE]\n",
                        argv[0]),
           2;
  std::optional<std::vector<arena::ScriptLine>> script(std::in_place);
  if (!options->script.empty()) script = arena::read_script(options->script);
  if (!script) return std::fprintf(stderr, "cannot read the script %s\n", options->script.c_str()), 2;
  SDL_SetMainReady();
  const char* font = std::getenv("ARENA_FONT");
  const auto canvas = arena::Canvas::open("Reckoner arena", font != nullptr ? font : RECKONER_ARENA_FONT);
  if (!canvas) return std::fprintf(stderr, "%s\n", SDL_GetError()), 1;
  return arena::Game(*options, *canvas, std::move(*script)).run();
}
