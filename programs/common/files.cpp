// SPDX-License-Identifier: MIT
#include "programs/common/files.hpp"

#include "scenario/trace/utf8_path.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <system_error>

namespace reckoner::program {
namespace {

std::optional<Error> write_to(const std::string& path, std::string_view content, const std::string& name) {
  std::FILE* const file = std::fopen(path.c_str(), "wb");
  if (file == nullptr) return Error{"could not write " + name + ": " + std::strerror(errno)};
  errno = 0;
  bool written = std::fwrite(content.data(), 1, content.size(), file) == content.size();
  int why = errno;
  if (std::fclose(file) != 0) {
    if (written) why = errno;
    written = false;
  }
  if (written) return std::nullopt;
  return Error{"could not write all of " + name + ": " + std::strerror(why)};
}

}  // namespace

std::optional<Error> write_file(const std::string& path, std::string_view content) {
  std::error_code none;
  const std::filesystem::path target = path_of(path);
  const bool special =
      std::filesystem::exists(target, none) && !std::filesystem::is_regular_file(target, none);
  if (special) return write_to(path, content, path);
  const std::string part = path + ".part";
  auto error = write_to(part, content, path);
  std::error_code why;
  if (!error) std::filesystem::rename(path_of(part), target, why);
  if (why) error = Error{"could not write " + path + ": " + why.message()};
  if (error) std::filesystem::remove(path_of(part), none);
  return error;
}

}  // namespace reckoner::program
