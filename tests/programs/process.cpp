// SPDX-License-Identifier: MIT
#include "process.hpp"

#include "tests/support/locations.hpp"
#include "tests/support/random_port.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>
#include <thread>

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

namespace reckoner::test {
namespace {

using Clock = std::chrono::steady_clock;

Clock::time_point in_seconds(double seconds) {
  return Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
}

std::filesystem::path unique_path(const std::string& kind) {
  static std::atomic<int> count{0};
  return std::filesystem::temp_directory_path() /
         ("reckoner_" + kind + "_" + std::to_string(getpid()) + "_" + std::to_string(++count));
}

sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

}  // namespace

std::string program_path(const std::string& name) {
  return (program_dir() / name).string();
}

Process::Process(const std::string& program, const std::vector<std::string>& arguments)
    : output_path_(unique_path("out")), errors_path_(unique_path("err")) {
  const std::string path = program.front() == '/' ? program : program_path(program);
  std::vector<char*> argv{const_cast<char*>(path.c_str())};
  for (const std::string& argument : arguments)
    argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  const int flags = O_WRONLY | O_CREAT | O_TRUNC;
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, output_path_.c_str(), flags, 0600);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, errors_path_.c_str(), flags, 0600);
  const int error = posix_spawn(&pid_, path.c_str(), &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) throw std::runtime_error("cannot start " + path);
}

Process::~Process() {
  if (!exit_code_) {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  std::filesystem::remove(output_path_);
  std::filesystem::remove(errors_path_);
}

std::optional<int> Process::wait(double timeout_s) {
  const auto deadline = in_seconds(timeout_s);
  while (!exit_code_) {
    int status = 0;
    if (waitpid(pid_, &status, WNOHANG) == pid_) {
      exit_code_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    } else if (Clock::now() >= deadline) {
      break;
    } else {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  }
  return exit_code_;
}

bool Process::wait_for(const std::string& text, double timeout_s) {
  const auto deadline = in_seconds(timeout_s);
  for (;;) {
    const bool ended = wait(0.0).has_value();
    if ((output() + errors()).find(text) != std::string::npos) return true;
    if (ended || Clock::now() >= deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

void Process::send_signal(int number) const {
  if (!exit_code_) kill(pid_, number);
}

double Process::processor_s() const {
  const std::string stat = read_file("/proc/" + std::to_string(pid_) + "/stat");
  // The name in brackets may contain blanks. User and system time are fields 14 and 15 (proc(5)).
  std::istringstream rest(stat.substr(std::min(stat.rfind(')'), stat.size())));
  std::string skipped;
  for (int field = 2; field < 14; ++field)
    rest >> skipped;
  double user = 0.0, system = 0.0;
  rest >> user >> system;
  return (user + system) / static_cast<double>(sysconf(_SC_CLK_TCK));
}

std::size_t Process::descriptors() const {
  const std::filesystem::directory_iterator all("/proc/" + std::to_string(pid_) + "/fd");
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

void Process::limit_descriptors(std::size_t most) const {
#ifdef __linux__
  const rlimit limit{most, most};
  if (prlimit(pid_, RLIMIT_NOFILE, &limit, nullptr) != 0)
    throw std::runtime_error("cannot limit descriptors");
#else
  (void)most;
#endif
}

std::string Process::output() const {
  return read_file(output_path_);
}
std::string Process::errors() const {
  return read_file(errors_path_);
}

Finished run(const std::string& program, const std::vector<std::string>& arguments, double timeout_s) {
  Process process(program, arguments);
  const auto exit_code = process.wait(timeout_s);
  return {exit_code, process.output(), process.errors()};
}

ScratchDir::ScratchDir() : path_(unique_path("dir")) {
  std::filesystem::remove_all(path_);
  std::filesystem::create_directories(path_);
}

ScratchDir::~ScratchDir() {
  std::filesystem::remove_all(path_);
}

UdpSocket::UdpSocket(std::uint16_t port) : socket_(socket(AF_INET, SOCK_DGRAM, 0)) {
  sockaddr_in address = loopback(port);
  socklen_t size = sizeof address;
  if (socket_ < 0 || bind(socket_, reinterpret_cast<sockaddr*>(&address), size) != 0 ||
      getsockname(socket_, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    if (socket_ >= 0) close(socket_);
    throw std::runtime_error("no UDP socket on 127.0.0.1");
  }
  port_ = ntohs(address.sin_port);
}

UdpSocket::~UdpSocket() {
  close(socket_);
}

void UdpSocket::send_to(std::uint16_t port, const std::string& bytes) const {
  const sockaddr_in address = loopback(port);
  sendto(socket_, bytes.data(), bytes.size(), 0, reinterpret_cast<const sockaddr*>(&address), sizeof address);
}

// A port from those that systems give to clients would soon be given to the socket of another test.
std::string free_udp_port() {
  constexpr int kAttempts = 100;
  for (int i = 1;; ++i) {
    const std::string port = random_port();
    try {
      const UdpSocket free(static_cast<std::uint16_t>(std::stoi(port)));
      return port;
    } catch (const std::runtime_error&) {
      if (i == kAttempts) throw;
    }
  }
}

std::string read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace reckoner::test
