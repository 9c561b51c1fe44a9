// SPDX-License-Identifier: MIT
#pragma once

#include <mutex>

namespace reckoner {

/// Initialises a C library once per process. The first object calls `Start`, which returns 0 on success. The
/// last object calls `Stop`. Any thread.
template <int (*Start)(), void (*Stop)()>
class SharedLibraryStart {
 public:
  SharedLibraryStart() {
    const std::lock_guard lock(mutex_);
    usable_ = users_ > 0 || Start() == 0;
    if (usable_) ++users_;
  }
  ~SharedLibraryStart() {
    const std::lock_guard lock(mutex_);
    if (usable_ && --users_ == 0) Stop();
  }
  SharedLibraryStart(const SharedLibraryStart&) = delete;
  SharedLibraryStart& operator=(const SharedLibraryStart&) = delete;

  /// Calls `change`, which configures the next start, unless the library is started already. Returns false if
  /// it is started already.
  template <class Change>
  [[nodiscard]] static bool before_start(Change change) {
    const std::lock_guard lock(mutex_);
    if (users_ == 0) change();
    return users_ == 0;
  }

  [[nodiscard]] bool usable() const { return usable_; }

 private:
  static inline std::mutex mutex_;
  static inline int users_ = 0;
  bool usable_ = false;
};

}  // namespace reckoner
