// SPDX-License-Identifier: MIT
#include "programs/common/loop/stop_signal.hpp"

#include <csignal>

namespace reckoner::program {
namespace {

volatile std::sig_atomic_t stop = 0;  // of the only type that a signal handler may write

void on_signal(int) {
  stop = 1;
}

}  // namespace

void catch_stop_signals() {
  std::signal(SIGINT, on_signal);
  std::signal(SIGTERM, on_signal);
#ifdef SIGBREAK
  std::signal(SIGBREAK, on_signal);  // Windows: Ctrl+Break
#endif
}

bool stop_requested() {
  return stop != 0;
}

}  // namespace reckoner::program
