// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstdio>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>

namespace reckoner::scenario {

/// There was not enough memory to read a file. The programs print what().
class NotEnoughMemory : public std::bad_alloc {
 public:
  explicit NotEnoughMemory(std::string what) : what_(std::move(what)) {}
  [[nodiscard]] const char* what() const noexcept override { return what_.c_str(); }

 private:
  std::string what_;
};

/// A number of bytes for an error message: "84.2 MB".
[[nodiscard]] inline std::string megabytes(double bytes) {
  char text[40];
  std::snprintf(text, sizeof text, "%.1f MB", bytes / 1e6);
  return text;
}

/// The size of a file, bytes; 0 if it is unknown, as for a device.
[[nodiscard]] inline long bytes_of(const std::string& path) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"), &std::fclose);
  return file && std::fseek(file.get(), 0, SEEK_END) == 0 ? std::max(0L, std::ftell(file.get())) : 0L;
}

/// Returns the result of `read`, which reads the file `path`. If it lacks memory, throws NotEnoughMemory with
/// the name and the size of the file.
template <class Read>
auto naming_the_file([[maybe_unused]] const std::string& path, Read read) {
#if defined(__cpp_exceptions) && !defined(__wasi__)  // nothing catches in a browser
  try {
    return read();
  } catch (const NotEnoughMemory&) {
    throw;
  } catch (const std::bad_alloc&) {
  } catch (const std::length_error&) {
  }
  const long bytes = bytes_of(path);
  throw NotEnoughMemory("there is not enough memory to read " + path +
                        (bytes > 0 ? " (" + megabytes(static_cast<double>(bytes)) + ")" : std::string{}));
#else
  return read();
#endif
}

}  // namespace reckoner::scenario
