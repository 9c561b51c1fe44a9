// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace reckoner::test {

/// Path of one of Reckoner's programs.
[[nodiscard]] std::string program_path(const std::string& name);

/// A program under test in its own process. The constructor starts the program with the environment of the
/// test. The program's output goes to files that the test can read at any time. The destructor kills the
/// program if it still runs.
class Process {
 public:
  /// `program`: name of one of Reckoner's programs, or an absolute path.
  Process(const std::string& program, const std::vector<std::string>& arguments);
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  /// Exit code of the program; 128 + number if a signal ended it; nullopt if it still runs after `timeout_s`.
  std::optional<int> wait(double timeout_s = 20.0);

  /// Waits until `text` appears in the program's output (both streams). False if the program ends without it,
  /// or if the time runs out.
  bool wait_for(const std::string& text, double timeout_s = 20.0);

  void send_signal(int number) const;
  /// Processor time that the program has used so far, s (Linux).
  [[nodiscard]] double processor_s() const;
  /// Number of descriptors that the program has open (Linux).
  [[nodiscard]] std::size_t descriptors() const;
  /// The program can open no more than `most` descriptors from now on (Linux).
  void limit_descriptors(std::size_t most) const;

  [[nodiscard]] std::string output() const;  ///< standard output so far
  [[nodiscard]] std::string errors() const;  ///< standard error so far

 private:
  std::filesystem::path output_path_;
  std::filesystem::path errors_path_;
  int pid_ = -1;
  std::optional<int> exit_code_;
};

/// Result of a program that ran to its end.
struct Finished {
  std::optional<int> exit_code;
  std::string output;
  std::string errors;
};
[[nodiscard]] Finished run(const std::string& program, const std::vector<std::string>& arguments,
                           double timeout_s = 20.0);

/// A new empty directory for one test's files. The destructor removes it.
class ScratchDir {
 public:
  ScratchDir();
  ~ScratchDir();
  ScratchDir(const ScratchDir&) = delete;
  ScratchDir& operator=(const ScratchDir&) = delete;

  [[nodiscard]] std::string file(const std::string& name) const { return (path_ / name).string(); }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

/// A UDP socket on a free port of 127.0.0.1. It occupies the port during its lifetime.
class UdpSocket {
 public:
  explicit UdpSocket(std::uint16_t port = 0);  ///< 0: any free port. Throws if the port is in use.
  ~UdpSocket();
  UdpSocket(const UdpSocket&) = delete;
  UdpSocket& operator=(const UdpSocket&) = delete;

  [[nodiscard]] std::uint16_t port() const { return port_; }
  void send_to(std::uint16_t port, const std::string& bytes) const;

 private:
  int socket_ = -1;
  std::uint16_t port_ = 0;
};

/// A UDP port that is free at this moment.
[[nodiscard]] std::string free_udp_port();

[[nodiscard]] std::string read_file(const std::filesystem::path& path);

}  // namespace reckoner::test
