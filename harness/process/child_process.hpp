// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <reckoner/reckoning/result.hpp>

namespace reckoner::harness {

/// A program in its own process, with its output in a file. If it still runs, the destructor asks it to end
/// and kills it after a second.
class ChildProcess {
 public:
  /// Standard input of the program: empty, or the lines passed to write_line().
  enum class Input : std::uint8_t { nothing, piped };

  /// Starts `program`, which is searched in PATH if it is a bare name. Both output streams go to the file
  /// `log`.
  [[nodiscard]] static Result<ChildProcess> start(const std::filesystem::path& program,
                                                  const std::vector<std::string>& arguments,
                                                  const std::filesystem::path& log,
                                                  Input input = Input::nothing);
  ~ChildProcess();
  ChildProcess(ChildProcess&& other) noexcept;
  ChildProcess& operator=(ChildProcess&& other) noexcept;

  /// The exit code, or 128 plus the number of the signal that ended the program. Returns nullopt while it
  /// runs.
  [[nodiscard]] std::optional<int> exit_code();

  [[nodiscard]] int pid() const { return pid_; }

  /// Stops the program for a while, as if its machine slept, and lets it go on. Returns false if the system
  /// cannot do that; Windows cannot.
  bool set_stopped(bool stopped);

  /// Asks the program to end (SIGTERM; on Windows Ctrl+Break).
  void request_stop();

  /// Writes a line to the program's standard input, which requires Input::piped. Returns false if the program
  /// no longer reads. The caller must ignore SIGPIPE.
  bool write_line(const std::string& line);

  /// The output of the program so far.
  [[nodiscard]] std::string output() const;

 private:
  ChildProcess(int pid, std::intptr_t handle, std::intptr_t input, std::filesystem::path log)
      : pid_(pid), handle_(handle), input_(input), log_(std::move(log)) {}
  void end();
  void close_input();
  void kill();  // the program has ended afterwards

  int pid_ = -1;
  std::intptr_t handle_ = -1;  // of the process; only on Windows
  std::intptr_t input_ = -1;   // the write end of the pipe
  std::optional<int> exit_code_;
  std::filesystem::path log_;
};

/// The last line of a program's output. If the program failed, this is usually the error message.
[[nodiscard]] std::string last_line(const std::string& output);

/// Searches the complete lines of `output` for the last one that starts with `key` and a space. Returns the
/// rest of that line, or nullopt if there is none.
[[nodiscard]] std::optional<std::string> last_value(const std::string& output, const std::string& key);

/// The folder of the running program. The other programs of the project are in the same folder.
[[nodiscard]] std::filesystem::path program_folder(const char* argv0);

}  // namespace reckoner::harness
