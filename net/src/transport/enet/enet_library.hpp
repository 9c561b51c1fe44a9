// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <mutex>

#include <enet/enet.h>

namespace reckoner {

/// Deleters for ENet's objects.
struct Destroy {
  void operator()(ENetHost* host) const { enet_host_destroy(host); }
  void operator()(ENetPacket* packet) const { enet_packet_destroy(packet); }
};
using HostPtr = std::unique_ptr<ENetHost, Destroy>;
using PacketPtr = std::unique_ptr<ENetPacket, Destroy>;

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

/// Starts ENet with the allocator from EnetTransport::set_allocator(). Returns 0 on success.
[[nodiscard]] int start_enet();
using EnetRuntime = SharedLibraryStart<&start_enet, &enet_deinitialize>;

}  // namespace reckoner
