// SPDX-License-Identifier: MIT
// The arena's client. `./dev play` starts it together with a server and a bad network.
#define SDL_MAIN_HANDLED
#include "connection.hpp"
#include "input.hpp"
#include "menu.hpp"
#include "overlay.hpp"
#include "scene.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>

#include <CLI/CLI.hpp>
#include <SDL2/SDL.h>

namespace arena {
namespace {

constexpr double kFrameS = 1.0 / 60.0;
constexpr std::array kNetworks{"lan", "broadband", "wifi", "intercity", "mobile", "stress"};

struct Options {
  std::string host = "127.0.0.1", name = "player", network = "lan", network_control, script;
  std::uint16_t port = 26000, truth_port = 0;
};

class Game {
 public:
  Game(const Options& options, Canvas& canvas, std::vector<ScriptLine> script)
      : options_(options),
        canvas_(canvas),
        connection_(options.host, options.port, options.name),
        overlay_(connection_, options.truth_port),
        input_(std::move(script)) {}

  int run();

 private:
  bool frame(double now_s);
  void press(const std::string& key);
  std::vector<MenuItem> menu_items();
  void next_network(int by);
  void next_mode(int by);
  void draw(const std::string& screenshot);
  void report() const;

  Options options_;
  Canvas& canvas_;
  Connection connection_;
  Player& player_ = connection_.player;
  Overlay overlay_;
  Input input_;
  Menu menu_;
  std::optional<std::string> typing_;  // a line of chat
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
  for (double next_s = 0.0; frame(clock());) {
    work_ms_.push_back(1e3 * (clock() - now_s_));
    next_s = std::max(next_s + kFrameS, clock() - kFrameS);  // software drawing knows no vertical sync
    connection_.dialer.wait(0.0);                            // what this frame sends leaves now
    if (const double left_s = next_s - clock(); left_s > 0.0)
      SDL_Delay(static_cast<Uint32>(1e3 * left_s + 0.5));
  }
  connection_.client.leave();
  connection_.client.receive(now_s_);
  connection_.dialer.wait(0.05);
  report();
  return most_shown_ > 0 ? 0 : 1;
}

bool Game::frame(double now_s) {
  now_s_ = now_s;
  const Input::Events events = input_.read(player_, now_s);
  for (const std::string& key : events.keys)
    press(key);
  if (typing_) *typing_ = (*typing_ + events.text).substr(0, 80);
  Controls controls = input_.pilot.controls();
  const bool plays = !menu_.open && !typing_;
  if (!plays) controls = {.aim_rad = controls.aim_rad};  // the avatar stands meanwhile
  player_.frame(now_s, controls);
  for (const Weapon weapon : {kBoltGun, kBeamGun}) {
    if (plays && input_.pilot.fires(weapon)) player_.fire(weapon, now_s);
  }
  overlay_.update(now_s);
  draw(events.screenshot);
  most_shown_ = std::max(most_shown_, player_.shown().size());
  return !quit_ && !events.quit;
}

void Game::press(const std::string& key) {
  if (typing_) {
    if (key == "Backspace" && !typing_->empty()) typing_->pop_back();
    if (key != "Return" && key != "Escape") return;
    if (key == "Return") player_.say(*typing_);
    typing_.reset();
    return SDL_StopTextInput();
  }
  if (key == "F1") overlay_.toggle();
  if (key == "F2") next_network(1);
  if (key == "F3") next_mode(1);
  if (key == "Escape" || key == "Pad start") return (void)(menu_.open = !menu_.open);
  if (menu_.open) return menu_.press(key, menu_items());
  if (key == "Return") typing_.emplace(), SDL_StartTextInput();
}

std::vector<MenuItem> Game::menu_items() {
  return {
      {"Play as " + options_.name, [this](int) { player_.play(), menu_.open = false; }},
      {"Network   < " + options_.network + " >", [this](int by) { next_network(by); }},
      {std::string("Mode      < ") + mode_name(connection_.client) + " >", [this](int by) { next_mode(by); }},
      {std::string("Overlay   < ") + (overlay_.is_shown() ? "on >" : "off >"),
       [this](int) { overlay_.toggle(); }},
      {"Quit", [this](int) { quit_ = true; }}};
}

// The network between this game and its server is another program, which reads its commands from a pipe.
void Game::next_network(int by) {
  if (options_.network_control.empty()) return;
  const auto at = std::find(kNetworks.begin(), kNetworks.end(), options_.network) - kNetworks.begin();
  const int count = static_cast<int>(kNetworks.size());
  options_.network = kNetworks[static_cast<std::size_t>((static_cast<int>(at) + by + count) % count)];
  std::ofstream(options_.network_control) << "network=" << options_.network << std::endl;
}

void Game::next_mode(int by) {
  reckoner::PlayoutConfig playout = connection_.client.playout();
  playout.mode = static_cast<reckoner::PlayoutMode>((static_cast<int>(playout.mode) + by + 3) % 3);
  playout.delay_s = 0.15;  // of the delayed mode
  connection_.client.set_playout(playout, now_s_);
}

void Game::draw(const std::string& screenshot) {
  draw_scene(canvas_, player_);
  draw_status(canvas_, player_, typing_);
  if (overlay_.is_shown())
    overlay_.draw(canvas_, options_.network, now_s_, work_ms_.empty() ? 0.0 : work_ms_.back());
  int y = 24;
  for (const std::string& line :
       {std::string("RECKONER ARENA"), std::string("F1 overlay"), "F2 network " + options_.network,
        std::string("F3 mode    ") + mode_name(connection_.client), std::string("Esc menu")}) {
    canvas_.text(16, y, line);
    y += 20;
  }
  std::string trouble = connection_.client.refusal();
  if (trouble.empty() && !player_.has_joined()) trouble = "connecting...";
  if (menu_.open) menu_.draw(canvas_, menu_items(), trouble);
  if (!canvas_.present(screenshot)) std::fprintf(stderr, "%s\n", SDL_GetError());
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
  arena::Options options;
  CLI::App app("The arena's client");
  app.add_option("host", options.host, "the server's address");
  app.add_option("port", options.port, "the server's port");
  app.add_option("--name", options.name, "name of the player");
  app.add_option("--network", options.network, "name of the network between client and server");
  app.add_option("--network-control", options.network_control, "pipe that takes the names of other networks");
  app.add_option("--truth-port", options.truth_port, "the server's port past the bad network; 0: unknown");
  app.add_option("--script", options.script, "file that plays instead of a person");
  CLI11_PARSE(app, argc, argv);
  std::optional<std::vector<arena::ScriptLine>> script(std::in_place);
  if (!options.script.empty()) script = arena::read_script(options.script);
  if (!script) return std::fprintf(stderr, "cannot read the script %s\n", options.script.c_str()), 2;
  SDL_SetMainReady();
  const char* font = std::getenv("ARENA_FONT");
  const auto canvas = arena::Canvas::open("Reckoner arena", font != nullptr ? font : RECKONER_ARENA_FONT);
  if (!canvas) return std::fprintf(stderr, "%s\n", SDL_GetError()), 1;
  return arena::Game(options, *canvas, std::move(*script)).run();
}
