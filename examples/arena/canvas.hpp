// SPDX-License-Identifier: MIT
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <tuple>

#include <SDL2/SDL.h>
#include <SDL2/SDL_ttf.h>
#include <glm/vec2.hpp>
#include <glm/vec3.hpp>

namespace arena {

inline constexpr int kWidthPx = 1280, kHeightPx = 800, kColumnPx = 228;

struct Color {
  Uint8 r = 255, g = 255, b = 255, a = 255;
  auto operator<=>(const Color&) const = default;
};
/// In sixteen steps, because a canvas keeps a picture of each shape in each colour.
inline Color faded(Color color, double share) {
  color.a = static_cast<Uint8>(static_cast<int>(color.a * share) & 0xf0);
  return color;
}

/// A window with a few flat shapes. Positions with z are in the world, in metres, seen from above: a body in
/// the air is drawn higher. Positions of texts and panels are pixels from the window's upper left corner.
class Canvas {
 public:
  /// Opens the window. Null if that fails; SDL_GetError() then tells why.
  static std::unique_ptr<Canvas> open(const char* title, const char* font_file);
  ~Canvas();

  void disc(const glm::dvec3& at, double radius_m, Color color) { ring(at, radius_m, color, 0); }
  void ring(const glm::dvec3& at, double radius_m, Color color, int width_px = 2);  // width 0: a disc
  void line(const glm::dvec3& from, const glm::dvec3& to, Color color, double width_m);
  void box(const glm::dvec2& middle, const glm::dvec2& half, Color color);  // much faster than a quad
  void quad(std::span<const glm::dvec3, 4> corners, Color color);
  void panel(int x, int y, int width, int height, Color color);
  /// Lines end with '\n', or where the column beside the arena ends.
  void text(int x, int y, const std::string& words, Color color = {});
  /// A short text whose middle is at a place in the world, a few pixels higher.
  void label(const glm::dvec3& at, int up_px, const std::string& words, Color color);
  /// Shows what was drawn.
  void present() { SDL_RenderPresent(renderer_); }

  static glm::dvec2 pixel(const glm::dvec3& at);
  static glm::dvec2 world(int x, int y);

 private:
  Canvas() = default;
  void set_color(Color color);
  SDL_Texture* texture_of(SDL_Surface* surface);

  SDL_Window* window_ = nullptr;
  SDL_Renderer* renderer_ = nullptr;
  TTF_Font* font_ = nullptr;
  std::map<std::tuple<int, int, Color>, SDL_Texture*> rounds_;  // by radius and width of the rim, px
};

}  // namespace arena
