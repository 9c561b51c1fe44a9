// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace reckoner::harness {

/// Processor time of this process, all threads, user and system, s.
[[nodiscard]] double process_cpu_s();

/// Processor time of the calling thread, s.
[[nodiscard]] double thread_cpu_s();

/// Most memory that this process ever had resident, bytes.
[[nodiscard]] std::uint64_t peak_memory_bytes();

/// What this process has allocated and not freed, bytes; where that is not known (glibc knows), 0.
[[nodiscard]] std::uint64_t heap_bytes();

/// Of another process: what it has resident, bytes, and how many descriptors are open; zeros if that is not
/// known (Linux knows) or it has ended.
struct ProcessUse {
  std::uint64_t resident_bytes = 0;
  std::size_t descriptors = 0;
};
[[nodiscard]] ProcessUse use_of(int pid);

/// Lets the process open so many files at once, sockets included. What is wrong, or empty.
[[nodiscard]] std::string allow_open_files(std::size_t count);

/// The process steps back behind others, as if it ran on another machine.
void step_back();

/// How ticks went: for the window that is measured.
class TickLog {
 public:
  explicit TickLog(double tick_s) : tick_s_(tick_s) {}

  /// A tick began `late_s` after it was due and took `duration_s` of real time.
  void add(double late_s, double duration_s);
  [[nodiscard]] std::size_t size() const { return late_ms_.size(); }

  /// Percentiles in ms, and how many began a whole tick late or more.
  [[nodiscard]] nlohmann::ordered_json json() const;

 private:
  double tick_s_;
  std::size_t late_ticks_ = 0;
  std::vector<double> late_ms_;
  std::vector<double> duration_ms_;
};

/// The value that a share `q` of the values do not exceed; 0 of none.
[[nodiscard]] double quantile(std::vector<double> values, double q);

}  // namespace reckoner::harness
