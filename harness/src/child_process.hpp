// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <reckoner/reckoning/result.hpp>

namespace reckoner::harness {

/// A program in a process of its own, whose output goes to a file. Ended by the destructor if it still runs:
/// asked first, killed after a second. Linux and macOS.
class ChildProcess {
 public:
  /// Starts `program`, looked up in PATH if it is a bare name. What it prints, to either stream, goes to the
  /// file `log`.
  [[nodiscard]] static Result<ChildProcess> start(const std::filesystem::path& program,
                                                  const std::vector<std::string>& arguments,
                                                  const std::filesystem::path& log);
  ~ChildProcess();
  ChildProcess(ChildProcess&& other) noexcept;
  ChildProcess& operator=(ChildProcess&& other) noexcept;

  /// Exit code, or 128 and the number of the signal that ended it; nothing while it runs.
  [[nodiscard]] std::optional<int> exit_code();

  /// Asks it to end (SIGTERM).
  void ask_to_end();

  /// What it has printed so far.
  [[nodiscard]] std::string output() const;

 private:
  ChildProcess(int pid, std::filesystem::path log) : pid_(pid), log_(std::move(log)) {}
  void end();

  int pid_ = -1;
  std::optional<int> exit_code_;
  std::filesystem::path log_;
};

/// The folder that this program was started from: its companions are beside it.
[[nodiscard]] std::filesystem::path program_folder(const char* argv0);

}  // namespace reckoner::harness
