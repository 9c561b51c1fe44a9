// SPDX-License-Identifier: MIT
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>

#include <SDL2/SDL.h>
#include <glm/vec2.hpp>
#include <glm/vec3.hpp>

namespace arena {

inline constexpr int kWidthPx = 1280, kHeightPx = 800;

struct Color {
  Uint8 r = 255, g = 255, b = 255, a = 255;
};
inline Color faded(Color color, double share) {
  color.a = static_cast<Uint8>(color.a * share);
  return color;
}

/// A window with a few flat shapes. Positions with z are in the world, in
/// metres, seen from above: a body in the air is drawn higher. Positions of
/// texts and panels are pixels from the window's upper left corner.
class Canvas {
 public:
  /// Opens the window. Null if that fails; SDL_GetError() then tells why.
  static std::unique_ptr<Canvas> open(const char* title, const char* font_file);
  ~Canvas();

  void clear(Color color);
  void present() { SDL_RenderPresent(renderer_); }
  /// Saves what was drawn since clear() as a BMP. Call it before present().
  bool save(const std::string& path);

  void disc(const glm::dvec3& at, double radius_m, Color color);
  void ring(const glm::dvec3& at, double radius_m, Color color, int width_px = 2);
  void line(const glm::dvec3& from, const glm::dvec3& to, Color color,
            double width_m = 0.0);  // 0: one pixel
  void box(const glm::dvec2& least, const glm::dvec2& most,
           Color color);  // much faster than a quad
  void quad(std::span<const glm::dvec3, 4> corners, Color color);
  void panel(int x, int y, int width, int height, Color color);
  void text(int x, int y, const std::string& text, Color color = {}, bool large = false);
  /// A short text whose middle is at a place in the world, a few pixels higher.
  void label(const glm::dvec3& at, int up_px, const std::string& words, Color color);

  static glm::dvec2 pixel(const glm::dvec3& at);
  static glm::dvec2 world(int x, int y);

 private:
  struct Font {  // all printable characters side by side, each equally wide
    SDL_Texture* letters = nullptr;
    int width = 0, height = 0;
  };
  Canvas() = default;
  bool load(Font& font, const char* file, int size);
  SDL_Texture* round_shape(int radius_px, int width_px);
  void draw_round(const glm::dvec3& at, double radius_m, Color color, int width_px);

  SDL_Window* window_ = nullptr;
  SDL_Renderer* renderer_ = nullptr;
  Font small_, large_;
  std::map<std::pair<int, int>, SDL_Texture*> shapes_;  // by radius and width of the rim, px
};

}  // namespace arena
