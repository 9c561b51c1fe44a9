// SPDX-License-Identifier: MIT
#include "web/src/http/page_files.hpp"

#include "web/src/http/ascii.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <fstream>
#include <system_error>
#include <utility>

namespace reckoner::web {
namespace {

constexpr std::uintmax_t kMaxFileBytes = 64 * 1024 * 1024;

constexpr std::array<std::pair<std::string_view, std::string_view>, 9> kTypes{{
    {".html", "text/html; charset=utf-8"},
    {".js", "text/javascript; charset=utf-8"},
    {".css", "text/css; charset=utf-8"},
    {".svg", "image/svg+xml"},
    {".wasm", "application/wasm"},
    {".json", "application/json"},
    {".png", "image/png"},
    {".ico", "image/x-icon"},
    {".txt", "text/plain; charset=utf-8"},
}};

std::string_view type_of(std::string_view path) {
  const auto found =
      std::ranges::find_if(kTypes, [&](const auto& each) { return path.ends_with(each.first); });
  return found == kTypes.end() ? "application/octet-stream" : found->second;
}

// Percent signs are refused, too: no file of the page needs them, and so ".." has one spelling.
bool is_plain_path(std::string_view path) {
  if (!path.starts_with('/') || path.ends_with('/')) return false;
  for (std::size_t i = 1; i < path.size(); ++i) {
    const char c = path[i];
    const bool begins_part = path[i - 1] == '/';
    const bool valid =
        is_letter(c) || is_digit(c) || c == '-' || c == '_' || (!begins_part && (c == '.' || c == '/'));
    if (!valid) return false;
  }
  return true;
}

}  // namespace

std::optional<PageFiles::File> PageFiles::find(std::string_view path) {
  if (path == "/") path = front_;
  if (folder_.empty() || !is_plain_path(path)) return std::nullopt;
  const std::filesystem::path file(folder_ + std::string(path));
  std::error_code error;
  const bool regular = std::filesystem::is_regular_file(file, error);
  const auto changed =
      regular ? std::filesystem::last_write_time(file, error) : std::filesystem::file_time_type();
  const std::uintmax_t size = regular && !error ? std::filesystem::file_size(file, error) : 0;
  if (!regular || error || size > kMaxFileBytes) return std::nullopt;
  Kept& kept = kept_[std::string(path)];
  if (!kept.bytes || kept.changed != changed || kept.bytes->size() != size) {
    std::string bytes(static_cast<std::size_t>(size), '\0');
    std::ifstream in(file, std::ios::binary);
    if (!in.read(bytes.data(), static_cast<std::streamsize>(size))) {
      kept_.erase(std::string(path));
      return std::nullopt;
    }
    kept = {std::make_shared<const std::string>(std::move(bytes)), changed};
  }
  return File{kept.bytes, type_of(path)};
}

}  // namespace reckoner::web
