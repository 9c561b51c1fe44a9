// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace reckoner::harness {

/// Processor time, s.
struct CpuTime {
  double user_s = 0.0;    ///< in the code of the process itself
  double system_s = 0.0;  ///< in the kernel, on behalf of the process

  [[nodiscard]] double total_s() const { return user_s + system_s; }
};

/// Processor time of this process so far, in all threads.
[[nodiscard]] CpuTime process_cpu_time();

/// Number of cores of this machine, also of those that this process may not use.
[[nodiscard]] std::size_t machine_cores();

/// Processor time that all cores of this machine together have been idle, s. Empty if the system does not
/// report it.
[[nodiscard]] std::optional<double> machine_idle_s();

/// The use of this process and of this machine at one time.
struct ResourceUse {
  double time_s = 0.0;  ///< the time, on any clock
  CpuTime cpu;
  std::optional<double> idle_s;  ///< machine_idle_s()
};
[[nodiscard]] ResourceUse resource_use(double now_s);

/// Adds the processor time between two times to `json`, without `excluded_user_s` of it: `cpu_s`,
/// `cpu_user_s` and `cpu_system_s`. Adds `machine_idle`, the share of this machine's processor time that
/// nobody used, if the system reports it.
void add_use(nlohmann::ordered_json& json, const ResourceUse& before, const ResourceUse& now,
             double excluded_user_s = 0.0);

/// Processor time of the calling thread, s.
[[nodiscard]] double thread_cpu_s();

/// The largest resident memory of this process so far, bytes.
[[nodiscard]] std::uint64_t peak_memory_bytes();

/// Memory that this process has allocated and not freed, bytes. Always 0 without glibc 2.33 or later.
[[nodiscard]] std::uint64_t heap_bytes();

/// Resident memory and open file descriptors of another process. Zero if the process has ended, or if the
/// system is not Linux.
struct ProcessUse {
  std::uint64_t resident_bytes = 0;
  std::size_t descriptors = 0;
};
[[nodiscard]] ProcessUse use_of(int pid);

/// How many sockets a client may have: that of its connection, and another one while it dials again.
inline constexpr std::size_t kSocketsPerClient = 2;

/// Lets this process open `sockets` sockets and a few files besides. Returns an error message, or an empty
/// string on success.
[[nodiscard]] std::string raise_open_file_limit(std::size_t sockets);

/// Lowers the priority of this process, so that it disturbs others as little as a process on another machine.
void lower_priority();

/// Durations and delays of the ticks in the measured period.
class TickLog {
 public:
  explicit TickLog(double tick_s) : tick_s_(tick_s) {}

  /// Adds a tick that began `late_s` after its due time and took `duration_s` of real time.
  void add(double late_s, double duration_s);
  [[nodiscard]] std::size_t size() const { return late_ms_.size(); }

  /// Percentiles in ms, and the number of ticks that began at least a whole tick late.
  [[nodiscard]] nlohmann::ordered_json json() const;

 private:
  double tick_s_;
  std::size_t late_ticks_ = 0;
  std::vector<double> late_ms_;
  std::vector<double> duration_ms_;
};

}  // namespace reckoner::harness
