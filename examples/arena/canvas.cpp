// SPDX-License-Identifier: MIT
#include "canvas.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <SDL2/SDL_ttf.h>
#include <glm/common.hpp>
#include <glm/geometric.hpp>

namespace arena {
namespace {

constexpr double kPixelsPerM = 24.0;
constexpr double kLift = 0.6;  // how much higher a body is drawn for each metre that it is in the air
constexpr glm::dvec2 kMiddlePx{640.0, 404.0};
constexpr int kLetters = '~' - ' ' + 1;

}  // namespace

std::unique_ptr<Canvas> Canvas::open(const char* title, const char* font_file) {
  if (SDL_Init(SDL_INIT_VIDEO | SDL_INIT_GAMECONTROLLER) != 0 || TTF_Init() != 0) return nullptr;
  std::unique_ptr<Canvas> canvas(new Canvas);
  canvas->window_ =
      SDL_CreateWindow(title, SDL_WINDOWPOS_CENTERED, SDL_WINDOWPOS_CENTERED, kWidthPx, kHeightPx, 0);
  if (canvas->window_ == nullptr) return nullptr;
  // What little this game draws, every processor can draw. So it looks alike
  // everywhere.
  canvas->renderer_ = SDL_CreateRenderer(canvas->window_, -1, SDL_RENDERER_SOFTWARE);
  if (canvas->renderer_ == nullptr) return nullptr;
  SDL_SetRenderDrawBlendMode(canvas->renderer_, SDL_BLENDMODE_BLEND);
  const bool loaded =
      canvas->load(canvas->small_, font_file, 13) && canvas->load(canvas->large_, font_file, 28);
  return loaded ? std::move(canvas) : nullptr;
}

Canvas::~Canvas() {
  for (const auto& [size, shape] : shapes_)
    SDL_DestroyTexture(shape);
  for (const Font& font : {small_, large_})
    SDL_DestroyTexture(font.letters);
  SDL_DestroyRenderer(renderer_);
  SDL_DestroyWindow(window_);
  TTF_Quit();
  SDL_Quit();
}

bool Canvas::load(Font& font, const char* file, int size) {
  TTF_Font* opened = TTF_OpenFont(file, size);
  if (opened == nullptr) return false;
  std::string all;
  for (char letter = ' '; letter <= '~'; ++letter)
    all += letter;
  SDL_Surface* drawn = TTF_RenderText_Blended(opened, all.c_str(), {255, 255, 255, 255});
  TTF_CloseFont(opened);
  if (drawn == nullptr) return false;
  font.width = drawn->w / kLetters, font.height = drawn->h;
  font.letters = SDL_CreateTextureFromSurface(renderer_, drawn);
  SDL_FreeSurface(drawn);
  return font.letters != nullptr;
}

void Canvas::clear(Color color) {
  SDL_SetRenderDrawColor(renderer_, color.r, color.g, color.b, 255);
  SDL_RenderClear(renderer_);
}

bool Canvas::save(const std::string& path) {
  SDL_Surface* pixels = SDL_CreateRGBSurfaceWithFormat(0, kWidthPx, kHeightPx, 24, SDL_PIXELFORMAT_BGR24);
  if (pixels == nullptr) return false;
  const bool saved =
      SDL_RenderReadPixels(renderer_, nullptr, SDL_PIXELFORMAT_BGR24, pixels->pixels, pixels->pitch) == 0 &&
      SDL_SaveBMP(pixels, path.c_str()) == 0;
  SDL_FreeSurface(pixels);
  return saved;
}

// A disc, or a ring with a rim of `width_px`, with a soft edge. Each size is
// drawn once and kept.
SDL_Texture* Canvas::round_shape(int radius_px, int width_px) {
  SDL_Texture*& shape = shapes_[{radius_px, width_px}];
  if (shape != nullptr) return shape;
  const int size = 2 * radius_px + 2;
  SDL_Surface* pixels = SDL_CreateRGBSurfaceWithFormat(0, size, size, 32, SDL_PIXELFORMAT_RGBA32);
  for (int y = 0; y < size; ++y) {
    for (int x = 0; x < size; ++x) {
      const double away = std::hypot(x + 0.5 - 0.5 * size, y + 0.5 - 0.5 * size);
      double cover = std::clamp(radius_px - away + 0.5, 0.0, 1.0);
      if (width_px > 0) cover *= std::clamp(away - (radius_px - width_px) + 0.5, 0.0, 1.0);
      Uint8* pixel = static_cast<Uint8*>(pixels->pixels) + y * pixels->pitch + 4 * x;
      pixel[0] = pixel[1] = pixel[2] = 255;
      pixel[3] = static_cast<Uint8>(255.0 * cover);
    }
  }
  shape = SDL_CreateTextureFromSurface(renderer_, pixels);
  SDL_FreeSurface(pixels);
  return shape;
}

void Canvas::draw_round(const glm::dvec3& at, double radius_m, Color color, int width_px) {
  const int radius_px = std::max(1, static_cast<int>(std::lround(radius_m * kPixelsPerM)));
  SDL_Texture* shape = round_shape(radius_px, width_px);
  SDL_SetTextureColorMod(shape, color.r, color.g, color.b);
  SDL_SetTextureAlphaMod(shape, color.a);
  const glm::dvec2 middle = pixel(at);
  const float size = 2.0f * static_cast<float>(radius_px) + 2.0f;
  const SDL_FRect where{static_cast<float>(middle.x) - 0.5f * size,
                        static_cast<float>(middle.y) - 0.5f * size, size, size};
  SDL_RenderCopyF(renderer_, shape, nullptr, &where);
}

void Canvas::disc(const glm::dvec3& at, double radius_m, Color color) {
  draw_round(at, radius_m, color, 0);
}
void Canvas::ring(const glm::dvec3& at, double radius_m, Color color, int width_px) {
  draw_round(at, radius_m, color, width_px);
}

void Canvas::line(const glm::dvec3& from, const glm::dvec3& to, Color color, double width_m) {
  if (width_m > 0.0 && from != to) {
    const glm::dvec3 along = glm::normalize(to - from) * 0.5 * width_m, across{-along.y, along.x, 0.0};
    return quad(std::array{from + across, to + across, to - across, from - across}, color);
  }
  const glm::dvec2 a = pixel(from), b = pixel(to);
  SDL_SetRenderDrawColor(renderer_, color.r, color.g, color.b, color.a);
  SDL_RenderDrawLineF(renderer_, static_cast<float>(a.x), static_cast<float>(a.y), static_cast<float>(b.x),
                      static_cast<float>(b.y));
}

void Canvas::box(const glm::dvec2& least, const glm::dvec2& most, Color color) {
  const glm::dvec2 a = glm::round(pixel({least.x, most.y, 0.0})),
                   b = glm::round(pixel({most.x, least.y, 0.0}));
  panel(static_cast<int>(a.x), static_cast<int>(a.y), static_cast<int>(b.x - a.x),
        static_cast<int>(b.y - a.y), color);
}

void Canvas::quad(std::span<const glm::dvec3, 4> corners, Color color) {
  std::array<SDL_Vertex, 4> vertices;
  for (std::size_t i = 0; i < 4; ++i) {
    const glm::dvec2 at = pixel(corners[i]);
    vertices[i] = {
        {static_cast<float>(at.x), static_cast<float>(at.y)}, {color.r, color.g, color.b, color.a}, {}};
  }
  const std::array order{0, 1, 2, 0, 2, 3};
  SDL_RenderGeometry(renderer_, nullptr, vertices.data(), 4, order.data(), 6);
}

void Canvas::panel(int x, int y, int width, int height, Color color) {
  const SDL_Rect where{x, y, width, height};
  SDL_SetRenderDrawColor(renderer_, color.r, color.g, color.b, color.a);
  SDL_RenderFillRect(renderer_, &where);
}

void Canvas::text(int x, int y, const std::string& text, Color color, bool large) {
  const Font& font = large ? large_ : small_;
  SDL_SetTextureColorMod(font.letters, color.r, color.g, color.b);
  SDL_SetTextureAlphaMod(font.letters, color.a);
  for (const char letter : text) {
    const SDL_Rect from{font.width * (std::clamp(letter, ' ', '~') - ' '), 0, font.width, font.height};
    const SDL_Rect to{x, y, font.width, font.height};
    SDL_RenderCopy(renderer_, font.letters, &from, &to);
    x += font.width;
  }
}

void Canvas::label(const glm::dvec3& at, int up_px, const std::string& words, Color color) {
  const glm::dvec2 middle = pixel(at);
  const int width = static_cast<int>(words.size()) * small_.width;
  text(static_cast<int>(middle.x) - width / 2, static_cast<int>(middle.y) - up_px - small_.height / 2, words,
       color);
}

glm::dvec2 Canvas::pixel(const glm::dvec3& at) {
  return kMiddlePx + kPixelsPerM * glm::dvec2(at.x, -at.y - kLift * at.z);
}

glm::dvec2 Canvas::world(int x, int y) {
  const glm::dvec2 off = (glm::dvec2(x, y) - kMiddlePx) / kPixelsPerM;
  return {off.x, -off.y};
}

}  // namespace arena
