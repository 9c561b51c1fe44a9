// SPDX-License-Identifier: MIT
// ChildProcess on POSIX systems.
#include "harness/process/child_process.hpp"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

namespace reckoner::harness {
namespace {

// A pipe that other children do not inherit. An inherited copy would keep the pipe open.
bool open_pipe(int (&ends)[2]) {
  if (pipe(ends) != 0) return false;
  for (const int end : ends)
    (void)fcntl(end, F_SETFD, FD_CLOEXEC);
  return true;
}

void close_if_open(int descriptor) {
  if (descriptor >= 0) close(descriptor);
}

}  // namespace

Result<ChildProcess> ChildProcess::start(const std::filesystem::path& program,
                                         const std::vector<std::string>& arguments,
                                         const std::filesystem::path& log, Input input) {
  std::string name = program.string();
  std::vector<std::string> copies = arguments;
  std::vector<char*> argv{name.data()};
  for (std::string& argument : copies)
    argv.push_back(argument.data());
  argv.push_back(nullptr);

  int ends[2] = {-1, -1};
  if (input == Input::piped && !open_pipe(ends)) {
    return Error{"cannot start " + name + ": " + std::strerror(errno)};
  }
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  if (input == Input::piped) {
    posix_spawn_file_actions_adddup2(&actions, ends[0], STDIN_FILENO);
  } else {
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  }
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
  pid_t pid = -1;
  const int failed = posix_spawnp(&pid, name.c_str(), &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close_if_open(ends[0]);
  if (failed != 0) {
    close_if_open(ends[1]);
    return Error{"cannot start " + name + ": " + std::strerror(failed)};
  }
  return ChildProcess(pid, -1, ends[1], log);
}

bool ChildProcess::write_line(const std::string& line) {
  const std::string text = line + "\n";  // short enough for one write to the pipe
  return input_ >= 0 &&
         ::write(static_cast<int>(input_), text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

void ChildProcess::close_input() {
  close_if_open(static_cast<int>(std::exchange(input_, -1)));
}

std::optional<int> ChildProcess::exit_code() {
  if (exit_code_ || pid_ < 0) return exit_code_;
  int status = 0;
  if (waitpid(pid_, &status, WNOHANG) != pid_) return std::nullopt;
  exit_code_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return exit_code_;
}

bool ChildProcess::set_stopped(bool stopped) {
  return ::kill(pid_, stopped ? SIGSTOP : SIGCONT) == 0;
}

void ChildProcess::request_stop() {
  if (pid_ >= 0 && !exit_code()) ::kill(pid_, SIGTERM);
}

void ChildProcess::kill() {
  ::kill(pid_, SIGKILL);
  while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

std::filesystem::path program_folder(const char* argv0) {
  std::error_code failed;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", failed);
  if (!failed) return self.parent_path();
  return std::filesystem::absolute(argv0, failed).parent_path();
}

}  // namespace reckoner::harness
