// SPDX-License-Identifier: MIT
#include "programs/common/files.hpp"

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
  const bool special = std::filesystem::exists(path, none) && !std::filesystem::is_regular_file(path, none);
  if (special) return write_to(path, content, path);
  const std::string part = path + ".part";
  auto error = write_to(part, content, path);
  std::error_code why;
  if (!error) std::filesystem::rename(part, path, why);
  if (why) error = Error{"could not write " + path + ": " + why.message()};
  if (error) std::filesystem::remove(part, none);
  return error;
}

}  // namespace reckoner::program
