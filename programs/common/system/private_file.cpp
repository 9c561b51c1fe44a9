// SPDX-License-Identifier: MIT
#include "programs/common/system/private_file.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>

#include <fcntl.h>
#ifdef _WIN32
#include <io.h>
#include <sys/stat.h>
#else
#include <unistd.h>
#endif

namespace reckoner::program {
namespace {

int create(const char* path) {
#ifdef _WIN32
  return _open(path, _O_WRONLY | _O_CREAT | _O_EXCL | _O_BINARY | _O_NOINHERIT, _S_IREAD | _S_IWRITE);
#else
  return open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR);
#endif
}

std::FILE* stream_of(int file) {
#ifdef _WIN32
  return _fdopen(file, "wb");
#else
  return fdopen(file, "wb");
#endif
}

}  // namespace

std::optional<Error> write_private_file(const std::string& path, std::string_view content) {
  const int number = create(path.c_str());
  std::FILE* const file = number < 0 ? nullptr : stream_of(number);
  if (file == nullptr) return Error{"could not create " + path + ": " + std::strerror(errno)};
  const bool written = std::fwrite(content.data(), 1, content.size(), file) == content.size();
  const bool closed = std::fclose(file) == 0;
  if (written && closed) return std::nullopt;
  (void)std::remove(path.c_str());
  return Error{"could not write all of " + path};
}

}  // namespace reckoner::program
