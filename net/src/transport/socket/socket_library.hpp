// SPDX-License-Identifier: MIT
#pragma once

namespace reckoner {

/// Keeps the system's sockets usable as long as an object of this class exists. Windows needs it: it starts
/// the socket library, and asks for timers of 1 ms, without which a short sleep takes up to 16 ms. Does
/// nothing elsewhere. Any thread may create one.
class SocketLibrary {
 public:
  SocketLibrary();
  ~SocketLibrary();
  SocketLibrary(const SocketLibrary&) = delete;
  SocketLibrary& operator=(const SocketLibrary&) = delete;
};

}  // namespace reckoner
