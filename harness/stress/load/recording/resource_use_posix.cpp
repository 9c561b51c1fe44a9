// SPDX-License-Identifier: MIT
// The figures that the system reports about a process, on POSIX systems.
#include "harness/stress/load/recording/resource_use.hpp"

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <system_error>

#include <sys/resource.h>
#include <unistd.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace reckoner::harness {
namespace {

// Files that a process opens besides its sockets: the standard streams, pipes, logs.
constexpr std::size_t kSpareFiles = 64;

double seconds_of(const timeval& time) {
  return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
}

}  // namespace

CpuTime process_cpu_time() {
  rusage use{};
  getrusage(RUSAGE_SELF, &use);
  return {seconds_of(use.ru_utime), seconds_of(use.ru_stime)};
}

std::size_t machine_cores() {
  return static_cast<std::size_t>(std::max(1L, sysconf(_SC_NPROCESSORS_ONLN)));
}

std::optional<double> machine_idle_s() {
  // The first line has the times of all cores since the start, in clock ticks: user, nice, system and idle.
  std::ifstream file("/proc/stat");
  std::string cpu;
  double user = 0.0, nice = 0.0, system = 0.0, idle = 0.0;
  if (!(file >> cpu >> user >> nice >> system >> idle)) return std::nullopt;
  return idle / static_cast<double>(sysconf(_SC_CLK_TCK));
}

double thread_cpu_s() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

std::uint64_t peak_memory_bytes() {
  rusage use{};
  getrusage(RUSAGE_SELF, &use);
#ifdef __APPLE__
  constexpr std::uint64_t kUnit = 1;
#else
  constexpr std::uint64_t kUnit = 1024;
#endif
  return kUnit * static_cast<std::uint64_t>(use.ru_maxrss);
}

std::uint64_t heap_bytes() {
#if defined(__GLIBC__) && (__GLIBC__ > 2 || __GLIBC_MINOR__ >= 33)
  const struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
#else
  return 0;
#endif
}

ProcessUse use_of(int pid) {
  const std::string folder = "/proc/" + std::to_string(pid);
  ProcessUse use;
  std::ifstream sizes(folder + "/statm");
  std::uint64_t pages = 0, resident = 0;
  if (sizes >> pages >> resident)
    use.resident_bytes = resident * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  std::error_code wrong;
  for (std::filesystem::directory_iterator at(folder + "/fd", wrong), end; !wrong && at != end;
       at.increment(wrong))
    ++use.descriptors;
  return use;
}

std::string raise_open_file_limit(std::size_t sockets) {
  const std::size_t count = sockets + kSpareFiles;
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  if (limit.rlim_cur >= count) return {};
  if (limit.rlim_max < count) {
    return "a process may open only " + std::to_string(limit.rlim_max) + " files, but " +
           std::to_string(count) + " are needed (ulimit -Hn)";
  }
  limit.rlim_cur = count;
  return setrlimit(RLIMIT_NOFILE, &limit) == 0 ? std::string{}
                                               : "cannot raise the limit of open files (ulimit -n)";
}

void lower_priority() {
  constexpr int kNicer = 19;
  (void)setpriority(PRIO_PROCESS, 0, kNicer);
}

}  // namespace reckoner::harness
