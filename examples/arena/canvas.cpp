// SPDX-License-Identifier: MIT
#include "canvas.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <glm/common.hpp>
#include <glm/geometric.hpp>

namespace arena {
namespace {

constexpr double kPixelsPerM = 24.0;
constexpr double kLift = 0.6;  // how much higher a body is drawn for each metre that it is in the air
constexpr glm::dvec2 kMiddlePx{640.0, 404.0};

}  // namespace

std::unique_ptr<Canvas> Canvas::open(const char* title, const char* font_file) {
  // What little this game draws, every processor can draw, so it looks alike everywhere. Without the hint,
  // SDL would show the result through OpenGL, which is slow where OpenGL itself is software.
  SDL_SetHint(SDL_HINT_FRAMEBUFFER_ACCELERATION, "0");
  if (SDL_Init(SDL_INIT_VIDEO | SDL_INIT_GAMECONTROLLER) != 0 || TTF_Init() != 0) return nullptr;
  std::unique_ptr<Canvas> canvas(new Canvas);
  canvas->window_ =
      SDL_CreateWindow(title, SDL_WINDOWPOS_CENTERED, SDL_WINDOWPOS_CENTERED, kWidthPx, kHeightPx, 0);
  if (canvas->window_ == nullptr) return nullptr;
  canvas->renderer_ = SDL_CreateRenderer(canvas->window_, -1, SDL_RENDERER_SOFTWARE);
  canvas->font_ = TTF_OpenFont(font_file, 13);
  return canvas->renderer_ != nullptr && canvas->font_ != nullptr ? std::move(canvas) : nullptr;
}

Canvas::~Canvas() {
  SDL_DestroyRenderer(renderer_);  // with all textures
  SDL_DestroyWindow(window_);
  if (font_ != nullptr) TTF_CloseFont(font_);
  TTF_Quit();
  SDL_Quit();
}

void Canvas::set_color(Color color) {
  SDL_SetRenderDrawColor(renderer_, color.r, color.g, color.b, color.a);
  SDL_SetRenderDrawBlendMode(renderer_, color.a == 255 ? SDL_BLENDMODE_NONE : SDL_BLENDMODE_BLEND);
}

SDL_Texture* Canvas::texture_of(SDL_Surface* surface) {
  SDL_Texture* texture = SDL_CreateTextureFromSurface(renderer_, surface);
  SDL_FreeSurface(surface);
  return texture;
}

// A disc, or a ring with a rim of `width_px`, with a soft edge. Each one is drawn once and kept, in its
// colour: SDL is much slower if it has to tint a picture.
void Canvas::ring(const glm::dvec3& at, double radius_m, Color color, int width_px) {
  const int radius_px = std::max(1, static_cast<int>(std::lround(radius_m * kPixelsPerM)));
  const int size = 2 * radius_px + 2;
  SDL_Texture*& round = rounds_[{radius_px, width_px, color}];
  if (round == nullptr) {
    SDL_Surface* pixels = SDL_CreateRGBSurfaceWithFormat(0, size, size, 32, SDL_PIXELFORMAT_ARGB8888);
    for (int y = 0; y < size; ++y) {
      for (int x = 0; x < size; ++x) {
        const double away = std::hypot(x + 0.5 - 0.5 * size, y + 0.5 - 0.5 * size);
        double cover = std::clamp(radius_px - away + 0.5, 0.0, 1.0);
        if (width_px > 0) cover *= std::clamp(away - (radius_px - width_px) + 0.5, 0.0, 1.0);
        const SDL_Rect pixel{x, y, 1, 1};
        SDL_FillRect(
            pixels, &pixel,
            SDL_MapRGBA(pixels->format, color.r, color.g, color.b, static_cast<Uint8>(color.a * cover)));
      }
    }
    round = texture_of(pixels);
  }
  const glm::dvec2 corner = glm::round(pixel(at) - 0.5 * size);
  const SDL_Rect where{static_cast<int>(corner.x), static_cast<int>(corner.y), size, size};
  SDL_RenderCopy(renderer_, round, nullptr, &where);
}

void Canvas::line(const glm::dvec3& from, const glm::dvec3& to, Color color, double width_m) {
  if (from == to) return;
  const glm::dvec3 along = glm::normalize(to - from) * 0.5 * width_m, across{-along.y, along.x, 0.0};
  quad(std::array{from + across, to + across, to - across, from - across}, color);
}

void Canvas::box(const glm::dvec2& middle, const glm::dvec2& half, Color color) {
  const glm::ivec2 a(glm::round(pixel({middle.x - half.x, middle.y + half.y, 0.0})));
  const glm::ivec2 b(glm::round(pixel({middle.x + half.x, middle.y - half.y, 0.0})));
  panel(a.x, a.y, b.x - a.x, b.y - a.y, color);
}

void Canvas::quad(std::span<const glm::dvec3, 4> corners, Color color) {
  std::array<SDL_Vertex, 4> vertices{};
  for (std::size_t i = 0; i < 4; ++i) {
    const glm::vec2 at(pixel(corners[i]));
    vertices[i] = {.position = {at.x, at.y}, .color = {color.r, color.g, color.b, color.a}};
  }
  set_color(color);
  const std::array order{0, 1, 2, 0, 2, 3};
  SDL_RenderGeometry(renderer_, nullptr, vertices.data(), 4, order.data(), 6);
}

void Canvas::panel(int x, int y, int width, int height, Color color) {
  const SDL_Rect where{x, y, width, height};
  set_color(color);
  SDL_RenderFillRect(renderer_, &where);
}

void Canvas::text(int x, int y, const std::string& words, Color color) {
  const SDL_Color paint{color.r, color.g, color.b, color.a};
  SDL_Surface* pixels = TTF_RenderUTF8_Blended_Wrapped(font_, words.c_str(), paint, kColumnPx);
  if (pixels == nullptr) return;  // no words
  const SDL_Rect where{x, y, pixels->w, pixels->h};
  SDL_Texture* picture = texture_of(pixels);
  SDL_RenderCopy(renderer_, picture, nullptr, &where);
  SDL_DestroyTexture(picture);
}

void Canvas::label(const glm::dvec3& at, int up_px, const std::string& words, Color color) {
  const glm::ivec2 middle(pixel(at));
  int width = 0, height = 0;
  TTF_SizeUTF8(font_, words.c_str(), &width, &height);
  text(middle.x - width / 2, middle.y - up_px - height / 2, words, color);
}

glm::dvec2 Canvas::pixel(const glm::dvec3& at) {
  return kMiddlePx + kPixelsPerM * glm::dvec2(at.x, -at.y - kLift * at.z);
}

glm::dvec2 Canvas::world(int x, int y) {
  const glm::dvec2 off = (glm::dvec2(x, y) - kMiddlePx) / kPixelsPerM;
  return {off.x, -off.y};
}

}  // namespace arena
