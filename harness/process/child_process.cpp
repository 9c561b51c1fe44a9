// SPDX-License-Identifier: MIT
#include "harness/process/child_process.hpp"

#include <chrono>
#include <fstream>
#include <iterator>
#include <thread>
#include <utility>

namespace reckoner::harness {

ChildProcess::ChildProcess(ChildProcess&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      handle_(std::exchange(other.handle_, -1)),
      input_(std::exchange(other.input_, -1)),
      exit_code_(other.exit_code_),
      log_(std::move(other.log_)) {}

ChildProcess& ChildProcess::operator=(ChildProcess&& other) noexcept {
  if (this == &other) return *this;
  end();
  pid_ = std::exchange(other.pid_, -1);
  handle_ = std::exchange(other.handle_, -1);
  input_ = std::exchange(other.input_, -1);
  exit_code_ = other.exit_code_;
  log_ = std::move(other.log_);
  return *this;
}

ChildProcess::~ChildProcess() {
  end();
}

void ChildProcess::end() {
  close_input();
  request_stop();
  for (int i = 0; i < 100 && pid_ >= 0 && !exit_code(); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  if (pid_ >= 0 && !exit_code()) kill();
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
