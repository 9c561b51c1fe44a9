// SPDX-License-Identifier: MIT
#pragma once

#include <csignal>

namespace reckoner::harness {

/// While one lives, SIGINT and SIGTERM set a flag instead of ending the process. One at a time.
class StopSignal {
 public:
  StopSignal();
  ~StopSignal();
  StopSignal(const StopSignal&) = delete;
  StopSignal& operator=(const StopSignal&) = delete;

  [[nodiscard]] bool requested() const;

 private:
  void (*old_interrupt_)(int);
  void (*old_terminate_)(int);
};

}  // namespace reckoner::harness
