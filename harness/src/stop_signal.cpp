// SPDX-License-Identifier: MIT
#include "stop_signal.hpp"

namespace reckoner::harness {
namespace {

// A signal handler can reach nothing but a global: the only one in the program.
volatile std::sig_atomic_t g_requested = 0;

void request_stop(int) {
  g_requested = 1;
}

}  // namespace

StopSignal::StopSignal()
    : old_interrupt_((g_requested = 0, std::signal(SIGINT, request_stop))),
      old_terminate_(std::signal(SIGTERM, request_stop)) {}

StopSignal::~StopSignal() {
  std::signal(SIGINT, old_interrupt_);
  std::signal(SIGTERM, old_terminate_);
}

bool StopSignal::requested() const {
  return g_requested != 0;
}

}  // namespace reckoner::harness
