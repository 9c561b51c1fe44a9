// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
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
  /// What it reads: nothing, or what tell() writes.
  enum class Input : std::uint8_t { nothing, told };

  /// Starts `program`, looked up in PATH if it is a bare name. What it prints, to either stream, goes to the
  /// file `log`.
  [[nodiscard]] static Result<ChildProcess> start(const std::filesystem::path& program,
                                                  const std::vector<std::string>& arguments,
                                                  const std::filesystem::path& log,
                                                  Input input = Input::nothing);
  ~ChildProcess();
  ChildProcess(ChildProcess&& other) noexcept;
  ChildProcess& operator=(ChildProcess&& other) noexcept;

  /// Exit code, or 128 and the number of the signal that ended it; nothing while it runs.
  [[nodiscard]] std::optional<int> exit_code();

  [[nodiscard]] int pid() const { return pid_; }

  /// Asks it to end (SIGTERM).
  void ask_to_end();

  /// Writes a line to its standard input, which was to be Input::told. False if it reads no more. The caller
  /// ignores SIGPIPE.
  bool tell(const std::string& line);

  /// What it has printed so far.
  [[nodiscard]] std::string output() const;

 private:
  ChildProcess(int pid, int input, std::filesystem::path log)
      : pid_(pid), input_(input), log_(std::move(log)) {}
  void end();

  int pid_ = -1;
  int input_ = -1;  // the end of the pipe that is written to
  std::optional<int> exit_code_;
  std::filesystem::path log_;
};

/// The last line that a program printed: what it complained of, if it failed.
[[nodiscard]] std::string last_line(const std::string& output);

/// What follows the last `key` that begins a line of what a program printed, to the end of that line; nothing
/// if it is not there.
[[nodiscard]] std::optional<std::string> last_said(const std::string& output, const std::string& key);

/// The folder that this program was started from: its companions are beside it.
[[nodiscard]] std::filesystem::path program_folder(const char* argv0);

}  // namespace reckoner::harness
