// SPDX-License-Identifier: MIT
#include "programs/common/system/memory.hpp"

#include "scenario/trace/memory.hpp"

#include <cstdio>

#ifndef _WIN32
#include <sys/resource.h>
#endif

namespace reckoner::program {
namespace {

// The most memory that this process has used so far, bytes; 0 if the system does not say. On Linux this is
// address space, to which `ulimit -v` applies.
double most_used_bytes() {
  unsigned long kilobytes = 0;
#ifdef __linux__
  if (std::FILE* const status = std::fopen("/proc/self/status", "r")) {
    char line[200];
    while (kilobytes == 0 && std::fgets(line, sizeof line, status) != nullptr)
      (void)std::sscanf(line, "VmPeak: %lu kB", &kilobytes);
    std::fclose(status);
  }
#endif
  return 1024.0 * static_cast<double>(kilobytes);
}

// The largest address space of this process, bytes; 0 if there is no limit.
double limit_bytes() {
#ifndef _WIN32
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
    return static_cast<double>(limit.rlim_cur);
#endif
  return 0.0;
}

}  // namespace

std::string out_of_memory_text(const std::exception& error) {
  std::string text = "out of memory";
  if (const auto* known = dynamic_cast<const scenario::NotEnoughMemory*>(&error))
    text += std::string(": ") + known->what();
  if (const double used = most_used_bytes(); used > 0.0)
    text += "; the program has used up to " + scenario::megabytes(used);
  if (const double limit = limit_bytes(); limit > 0.0)
    text += "; its limit is " + scenario::megabytes(limit) + " (ulimit -v)";
  return text;
}

}  // namespace reckoner::program
