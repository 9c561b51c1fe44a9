// SPDX-License-Identifier: MIT
// The arena's client. `./dev play` starts it together with a server and a bad network.
#define SDL_MAIN_HANDLED
#include "input.hpp"
#include "scene.hpp"

#include <chrono>
#include <fstream>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace arena {
namespace {

constexpr double kFrameS = 1.0 / 60.0;
constexpr std::size_t kMenuItems = 5;
constexpr std::array kNetworks{"lan", "broadband", "wifi", "intercity", "mobile", "stress"};

constexpr const char* kHelp =
    "W A S D walk, Space jump, Shift dash, or a game pad\n"
    "J or left button: bolt, K or right button: beam\n"
    "Return chat, F1 overlay, F2 network, F3 mode, F4 authority, Esc menu";

struct Options {
  std::string host = "127.0.0.1", name = "player", network = "lan", network_control;
  std::uint16_t port = 26000, truth_port = 0;
  Authority authority = Authority::predicted;
};

class Game {
 public:
  Game(const Options& options, Canvas& canvas)
      : options_(options),
        canvas_(canvas),
        connection_(options.host, options.port, options.name, options.authority),
        overlay_(connection_, options.truth_port) {}

  int run() {
    const auto start = std::chrono::steady_clock::now();
    const auto clock = [&] {
      return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    };
    for (double next_s = 0.0; frame(clock());) {
      work_ms_.push_back(1e3 * (clock() - now_s_));
      next_s = std::max(next_s + kFrameS, clock() - kFrameS);  // software drawing knows no vertical sync
      connection_.dialer.wait(0.0);                            // what this picture sends leaves now
      if (const double left_s = next_s - clock(); left_s > 0.0)
        SDL_Delay(static_cast<Uint32>(1e3 * left_s + 0.5));
    }
    leave(clock);
    std::sort(work_ms_.begin(), work_ms_.end());
    fmt::print(
        "{}: {} pictures, {:.1f} a second; work in a picture p50 {:.1f} ms, p95 {:.1f} ms; {} entities\n",
        options_.name, work_ms_.size(), static_cast<double>(work_ms_.size()) / now_s_,
        work_ms_[work_ms_.size() / 2], work_ms_[work_ms_.size() * 95 / 100], player_.shown().size());
    const reckoner::ClientStats& stats = connection_.client.stats();
    fmt::print("authority {}: {} corrections, lead {:.0f} ms, {} of {} inputs repeated\n",
               name_of(player_.authority()), stats.mispredictions, 1e3 * stats.input_lead_s,
               player_.inputs().repeated, player_.inputs().ticks);
    return player_.shown().empty() ? 1 : 0;
  }

 private:
  // The last chat lines and hits still reach the server, unless that takes too long.
  template <class Clock>
  void leave(Clock clock) {
    reckoner::Client& client = connection_.client;
    client.leave();
    const double until_s = clock() + 2.0;
    while (client.update(clock()) != reckoner::ClientStatus::disconnected && clock() < until_s)
      connection_.dialer.wait(0.01);
  }

  bool frame(double now_s) {
    now_s_ = now_s;
    const Input::Events events = input_.read(player_);
    for (const std::string& key : events.keys)
      press(key);
    if (typing_) *typing_ = (*typing_ + events.text).substr(0, 80);
    Controls controls = input_.pilot.controls();
    const bool plays = !typing_ && !menu_;
    if (!plays) controls = {.aim_rad = controls.aim_rad};  // the avatar stands meanwhile
    player_.frame(now_s, controls);
    overlay_.update(now_s);
    draw();
    return !quit_ && !events.quit;
  }

  void press(const std::string& key) {
    if (typing_) {
      if (key == "Backspace" && !typing_->empty()) typing_->pop_back();
      if (key != "Return" && key != "Escape") return;
      if (key == "Return") player_.say(*typing_);
      typing_.reset();
      return SDL_StopTextInput();
    }
    if (key == "F1" || key == "Pad back") overlay_.toggle();
    if (key == "F2") next_network();
    if (key == "F3") next_mode();
    if (key == "F4") next_authority();
    if (key == "Escape" || key == "Pad start") return (void)(menu_ = !menu_);
    if (menu_) return press_in_menu(key);
    if (key == "Return") typing_.emplace(), SDL_StartTextInput();
  }

  void press_in_menu(const std::string& key) {
    if (key == "Up" || key == "Pad dpup") item_ = (item_ + kMenuItems - 1) % kMenuItems;
    if (key == "Down" || key == "Pad dpdown") item_ = (item_ + 1) % kMenuItems;
    if (key != "Return" && key != "Pad a") return;
    if (item_ == 0) menu_ = false;
    if (item_ == 1) next_network();
    if (item_ == 2) next_mode();
    if (item_ == 3) next_authority();
    if (item_ == 4) quit_ = true;
  }

  // The network between this game and its server is another program, which reads its commands from a pipe.
  void next_network() {
    if (options_.network_control.empty()) return;
    const auto at = std::find(kNetworks.begin(), kNetworks.end() - 1, options_.network);
    options_.network = at == kNetworks.end() - 1 ? kNetworks.front() : *(at + 1);
    std::ofstream(options_.network_control) << "network=" << options_.network << std::endl;
  }

  void next_mode() {
    reckoner::PlayoutConfig playout = connection_.client.playout();
    playout.mode = static_cast<reckoner::PlayoutMode>((static_cast<int>(playout.mode) + 1) % 3);
    playout.delay_s = 0.15;                         // of the delayed mode
    (void)connection_.client.set_playout(playout);  // its settings are valid
  }

  void next_authority() {
    const auto next = (static_cast<std::size_t>(player_.authority()) + 1) % kAuthorityNames.size();
    player_.set_authority(static_cast<Authority>(next));
  }

  void draw() {
    draw_scene(canvas_, player_);
    if (typing_) canvas_.text(1046, 720, *typing_ + "_");
    overlay_.draw(canvas_, options_.network, work_ms_.empty() ? 0.0 : work_ms_.back());
    const std::string link =
        options_.network + "\n" + mode_name(connection_.client) + "\n" + name_of(player_.authority());
    canvas_.text(16, 24, "RECKONER ARENA\n\n" + link + "\n\nEsc menu");
    if (menu_) draw_menu();
    if (!player_.has_joined()) canvas_.label({}, 0, "connecting... " + connection_.client.refusal(), kBad);
    canvas_.present();
  }

  void draw_menu() {
    canvas_.panel(490, 200, 300, 330, {22, 26, 34, 240});
    const std::array<std::string, kMenuItems> items{
        "Play", "Network  " + options_.network, "Mode     " + mode_name(connection_.client),
        std::string("Body     ") + name_of(player_.authority()), "Quit"};
    for (std::size_t i = 0; i < kMenuItems; ++i)
      canvas_.text(530, 240 + 30 * static_cast<int>(i), items[i], i == item_ ? Color{} : kDim);
    canvas_.text(530, 390, kHelp, kDim);
  }

  Options options_;
  Canvas& canvas_;
  Connection connection_;
  Player& player_ = connection_.player;
  Overlay overlay_;
  Input input_;
  std::optional<std::string> typing_;  // a line of chat
  bool menu_ = true, quit_ = false;
  std::size_t item_ = 0;  // of the menu
  double now_s_ = 0.0;
  std::vector<double> work_ms_;  // of each picture
};

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
  std::string authority = arena::name_of(options.authority);
  app.add_option("--authority", authority, "who moves the avatar: own (this player), predicted or server")
      ->check(CLI::IsMember(
          std::vector<std::string>(arena::kAuthorityNames.begin(), arena::kAuthorityNames.end())));
  CLI11_PARSE(app, argc, argv);
  options.authority = *arena::authority_of(authority);
  SDL_SetMainReady();
  const auto canvas = arena::Canvas::open("Reckoner arena", RECKONER_ARENA_FONT);
  if (!canvas) return fmt::print(stderr, "{}\n", SDL_GetError()), 1;
  return arena::Game(options, *canvas).run();
}
