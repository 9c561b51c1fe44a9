// SPDX-License-Identifier: MIT
#include "harness/process/child_process.hpp"

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fstream>
#include <iterator>
#include <thread>
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
  return ChildProcess(pid, ends[1], log);
}

ChildProcess::ChildProcess(ChildProcess&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      input_(std::exchange(other.input_, -1)),
      exit_code_(other.exit_code_),
      log_(std::move(other.log_)) {}

ChildProcess& ChildProcess::operator=(ChildProcess&& other) noexcept {
  if (this == &other) return *this;
  end();
  pid_ = std::exchange(other.pid_, -1);
  input_ = std::exchange(other.input_, -1);
  exit_code_ = other.exit_code_;
  log_ = std::move(other.log_);
  return *this;
}

ChildProcess::~ChildProcess() {
  end();
}

bool ChildProcess::write_line(const std::string& line) {
  const std::string text = line + "\n";  // short enough for one write to the pipe
  return input_ >= 0 && ::write(input_, text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

std::optional<int> ChildProcess::exit_code() {
  if (exit_code_ || pid_ < 0) return exit_code_;
  int status = 0;
  if (waitpid(pid_, &status, WNOHANG) != pid_) return std::nullopt;
  exit_code_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return exit_code_;
}

void ChildProcess::request_stop() {
  if (pid_ >= 0 && !exit_code()) kill(pid_, SIGTERM);
}

void ChildProcess::end() {
  close_if_open(std::exchange(input_, -1));
  request_stop();
  for (int i = 0; i < 100 && pid_ >= 0 && !exit_code(); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  if (pid_ < 0 || exit_code()) return;
  kill(pid_, SIGKILL);
  while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

std::string ChildProcess::output() const {
  std::ifstream file(log_);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::string last_line(const std::string& output) {
  const std::size_t end = output.find_last_not_of('\n');
  if (end == std::string::npos) return "it printed nothing";
  const std::size_t before = output.find_last_of('\n', end);
  const std::size_t begin = before == std::string::npos ? 0 : before + 1;
  return output.substr(begin, end + 1 - begin);
}

std::filesystem::path program_folder(const char* argv0) {
  std::error_code failed;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", failed);
  if (!failed) return self.parent_path();
  return std::filesystem::absolute(argv0, failed).parent_path();
}

std::optional<std::string> last_value(const std::string& output, const std::string& key) {
  const std::size_t end = output.rfind('\n');
  if (end == std::string::npos) return std::nullopt;
  const std::string whole = "\n" + output.substr(0, end + 1);
  const std::size_t at = whole.rfind("\n" + key + " ");
  if (at == std::string::npos) return std::nullopt;
  const std::size_t begin = at + key.size() + 2;
  return whole.substr(begin, whole.find('\n', begin) - begin);
}

}  // namespace reckoner::harness
