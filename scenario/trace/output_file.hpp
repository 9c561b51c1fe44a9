// SPDX-License-Identifier: MIT
#pragma once

#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <reckoner/reckoning/result.hpp>

namespace reckoner::scenario {

/// A file that a program writes. If a write fails, for example because the disk is full, no partial file
/// remains, and an existing file is not replaced: the new one has the name PATH.part until it is complete.
/// Devices and pipes are written to directly. Output is buffered. Not thread-safe.
class OutputFile {
 public:
  /// When a file that does not exist yet gets its name.
  enum class Named {
    at_once,       ///< the part that was written remains if the program is killed
    when_complete  ///< other programs see the whole file or none
  };

  /// Creates the file. On failure, the error is the system's reason.
  [[nodiscard]] static Result<OutputFile> create(const std::string& path, Named named = Named::at_once);
  OutputFile(OutputFile&& other) noexcept;
  OutputFile& operator=(OutputFile&& other) noexcept;
  ~OutputFile();  ///< calls discard()

  void write(std::string_view bytes);

  /// Completes the file. Returns false if any output was not written; discards the file then. write() must
  /// not be called afterwards. A second call returns the result of the first.
  [[nodiscard]] bool close();
  /// Removes what was written, unless the file is complete.
  void discard();

  /// The system's reason why writing failed; empty if it did not.
  [[nodiscard]] const std::string& why() const { return why_; }

 private:
  OutputFile(std::FILE* file, std::string path, std::string written, bool removable)
      : file_(file), path_(std::move(path)), written_(std::move(written)), removable_(removable) {}
  void note_failure(int error);
  void close_file();

  std::FILE* file_;
  std::string path_;     // the name of the complete file
  std::string written_;  // the name until then
  bool removable_;       // false: a device or a pipe
  std::string why_;
};

/// Writes a whole file: other programs see the old file or the new one. On failure, the error names the file
/// and the reason.
[[nodiscard]] std::optional<Error> write_file(const std::string& path, std::string_view content);

}  // namespace reckoner::scenario
