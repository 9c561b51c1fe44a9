// SPDX-License-Identifier: MIT
// The window of the tutorial: it contains what SDL2 needs, and nothing of Reckoner. It draws discs on a
// ground with a grid, and reads the keys. Options, after the arguments of the program, replace a person in
// tests and for pictures:
//   --seconds N      closes the window after N seconds
//   --keys r20u5     holds right for 20 pictures, up for 5, and so on, again and again; also l, d, and . for
//                    no key; presses space twice a second
//   --picture FILE   after the N seconds, writes a BMP file, and stays open for a second more
// The environment variable SDL_VIDEODRIVER=dummy makes a window that nobody sees.
#pragma once

#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <utility>

#include <SDL2/SDL.h>
#include <glm/vec2.hpp>
#include <glm/vec3.hpp>

struct Color {
  Uint8 r, g, b;
};
constexpr Color kGreen{112, 224, 144}, kOrange{255, 176, 64}, kGrey{150, 150, 170}, kRed{255, 80, 80};

class Window {
 public:
  Window(const char* title, int argc, char** argv) {
    for (int i = 1; i + 1 < argc; ++i) {
      const std::string option = argv[i];
      if (option == "--seconds") seconds_ = std::atof(argv[i + 1]);
      if (option == "--keys") script_ = argv[i + 1];
      if (option == "--picture") picture_ = argv[i + 1];
    }
    if (SDL_Init(SDL_INIT_VIDEO) == 0)
      window_ = SDL_CreateWindow(title, SDL_WINDOWPOS_UNDEFINED, SDL_WINDOWPOS_UNDEFINED, kWidth, kHeight, 0);
    if (window_ != nullptr) renderer_ = SDL_CreateRenderer(window_, -1, SDL_RENDERER_SOFTWARE);
    if (renderer_ == nullptr) std::fprintf(stderr, "no window: %s\n", SDL_GetError());
  }
  ~Window() { SDL_Quit(); }
  Window(const Window&) = delete;
  Window& operator=(const Window&) = delete;

  /// Shows what was drawn, waits for the next picture and begins it. False: the window was closed.
  bool next_picture() {
    if (renderer_ == nullptr) return false;
    SDL_RenderPresent(renderer_);
    bool open = now_s() < seconds_ + (picture_.empty() ? 0.0 : 1.0);
    for (SDL_Event event; SDL_PollEvent(&event) != 0;) {
      if (event.type == SDL_QUIT) open = false;
      if (event.type == SDL_KEYDOWN && event.key.repeat == 0) tapped_ = event.key.keysym.sym;
    }
    if (now_s() >= seconds_ && !std::exchange(written_, true)) write_picture();
    next_ += std::chrono::microseconds(16'667);
    std::this_thread::sleep_until(next_);
    ++pictures_;
    draw_ground();
    return open;
  }

  /// Seconds since the program started.
  [[nodiscard]] double now_s() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }
  /// The arrow keys that are held: x to the right and y up, each -1, 0 or 1.
  [[nodiscard]] glm::vec2 arrows() const {
    const Uint8* keys = SDL_GetKeyboardState(nullptr);
    const char by_itself = scripted_key();
    const auto held = [&](SDL_Scancode code, char letter) {
      return keys[code] != 0 || by_itself == letter ? 1.0f : 0.0f;
    };
    return {held(SDL_SCANCODE_RIGHT, 'r') - held(SDL_SCANCODE_LEFT, 'l'),
            held(SDL_SCANCODE_UP, 'u') - held(SDL_SCANCODE_DOWN, 'd')};
  }
  /// True once for each press of the key, for example ' ' or '1'.
  [[nodiscard]] bool tapped(char key) {
    const bool by_itself =
        key == ' ' && !script_.empty() && pictures_ % 30 == 0;  // a script presses space, too
    const bool pressed = tapped_ == key;
    if (pressed) tapped_ = 0;
    return pressed || by_itself;
  }

  /// Positions and radii are in metres; the middle of the window is at 0, 0.
  void disc(const glm::dvec3& at, double radius_m, Color color) {
    SDL_SetRenderDrawColor(renderer_, color.r, color.g, color.b, 255);
    const double x = kWidth / 2.0 + kPixelsPerM * at.x, y = kHeight / 2.0 - kPixelsPerM * at.y,
                 r = kPixelsPerM * radius_m;
    for (int row = static_cast<int>(std::ceil(y - r)); row <= y + r; ++row) {
      const double half = std::sqrt(r * r - (row - y) * (row - y));
      SDL_RenderDrawLine(renderer_, static_cast<int>(std::lround(x - half)), row,
                         static_cast<int>(std::lround(x + half)), row);
    }
  }
  void title(const std::string& words) { SDL_SetWindowTitle(window_, words.c_str()); }

 private:
  static constexpr int kWidth = 640, kHeight = 400;
  static constexpr double kPixelsPerM = 20.0;

  void draw_ground() {
    SDL_SetRenderDrawColor(renderer_, 28, 32, 48, 255);
    SDL_RenderClear(renderer_);
    SDL_SetRenderDrawColor(renderer_, 48, 54, 76, 255);
    for (int x = 0; x < kWidth; x += 40)
      SDL_RenderDrawLine(renderer_, x, 0, x, kHeight);
    for (int y = 0; y < kHeight; y += 40)
      SDL_RenderDrawLine(renderer_, 0, y, kWidth, y);
  }
  void write_picture() {
    if (picture_.empty()) return;
    SDL_Surface* pixels = SDL_CreateRGBSurfaceWithFormat(0, kWidth, kHeight, 24, SDL_PIXELFORMAT_BGR24);
    SDL_RenderReadPixels(renderer_, nullptr, SDL_PIXELFORMAT_BGR24, pixels->pixels, pixels->pitch);
    if (SDL_SaveBMP(pixels, picture_.c_str()) != 0) std::fprintf(stderr, "no picture: %s\n", SDL_GetError());
    SDL_FreeSurface(pixels);
  }
  [[nodiscard]] char scripted_key() const {
    int left = pictures_;
    for (const char* at = script_.c_str(); *at != 0;) {
      const char key = *at++;
      left -= static_cast<int>(std::strtol(at, const_cast<char**>(&at), 10));
      if (left < 0) return key;
      if (*at == 0 && left < pictures_) at = script_.c_str();  // again from the beginning
    }
    return 0;
  }

  SDL_Window* window_ = nullptr;
  SDL_Renderer* renderer_ = nullptr;
  double seconds_ = 1e9;
  std::string script_, picture_;
  int pictures_ = 0;
  bool written_ = false;
  SDL_Keycode tapped_ = 0;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now(), next_ = start_;
};
