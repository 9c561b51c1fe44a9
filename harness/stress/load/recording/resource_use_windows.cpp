// SPDX-License-Identifier: MIT
// The figures that the system reports about a process, on Windows.
#include "harness/stress/load/recording/resource_use.hpp"

#include <algorithm>
#include <optional>
#include <string>

// <psapi.h> needs <windows.h> before it.
// clang-format off
#include <windows.h>
#include <psapi.h>
// clang-format on

namespace reckoner::harness {
namespace {

double seconds_of(const FILETIME& time) {
  constexpr double kUnitS = 1e-7;
  return kUnitS *
         (4294967296.0 * static_cast<double>(time.dwHighDateTime) + static_cast<double>(time.dwLowDateTime));
}

}  // namespace

CpuTime process_cpu_time() {
  FILETIME begun{}, ended{}, kernel{}, user{};
  GetProcessTimes(GetCurrentProcess(), &begun, &ended, &kernel, &user);
  return {seconds_of(user), seconds_of(kernel)};
}

std::size_t machine_cores() {
  SYSTEM_INFO info{};
  GetSystemInfo(&info);
  return std::max<std::size_t>(1, info.dwNumberOfProcessors);
}

std::optional<double> machine_idle_s() {
  FILETIME idle{}, kernel{}, user{};
  if (GetSystemTimes(&idle, &kernel, &user) == 0) return std::nullopt;
  return seconds_of(idle);
}

double thread_cpu_s() {
  FILETIME begun{}, ended{}, kernel{}, user{};
  GetThreadTimes(GetCurrentThread(), &begun, &ended, &kernel, &user);
  return seconds_of(kernel) + seconds_of(user);
}

std::uint64_t peak_memory_bytes() {
  PROCESS_MEMORY_COUNTERS counters{};
  K32GetProcessMemoryInfo(GetCurrentProcess(), &counters, sizeof counters);
  return counters.PeakWorkingSetSize;
}

std::uint64_t heap_bytes() {
  return 0;
}

ProcessUse use_of(int /*pid*/) {
  return {};
}

std::string raise_open_file_limit(std::size_t /*sockets*/) {
  return {};  // Windows has no such limit
}

void lower_priority() {
  (void)SetPriorityClass(GetCurrentProcess(), IDLE_PRIORITY_CLASS);
}

}  // namespace reckoner::harness
