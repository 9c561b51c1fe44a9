// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/transport/event_queue.hpp"
#include "net/src/transport/log_relay.hpp"

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>

#include <reckoner/net/network_transport.hpp>

namespace reckoner {

/// A transport whose socket is read by a thread of its own (ListenConfig::receive_thread). The thread runs
/// service() of another transport as soon as data arrives, and keeps the events until the game calls
/// service(). So TransportEvent::waited_s is exact on every system, and the connections stay alive while the
/// game does something else.
///
/// The game still calls all functions from one thread, and gets log records on that thread. A mutex protects
/// the other transport. The thread locks it only during service(), never while it sleeps.
///
/// If the game calls service() too rarely, the thread stops at TransportLimits::waiting_events or
/// waiting_event_bytes until the game has taken the events. The data then waits in the socket, as without a
/// thread.
class ThreadedTransport final : public NetworkTransport {
 public:
  using Opened = Result<std::unique_ptr<NetworkTransport>>;
  /// Opens the transport that the thread will service. The log sink must go into that transport.
  using Open = std::function<Opened(const LogSink& log)>;

  /// Opens a transport and starts its thread. `log` receives the log records of both; empty: no log. Fails if
  /// `open` fails or if the system has no thread left.
  [[nodiscard]] static Opened start(const Open& open, const TransportLimits& limits, const LogSink& log);

  /// Ends the thread, then the transport, which notifies all peers.
  ~ThreadedTransport() override;
  ThreadedTransport(const ThreadedTransport&) = delete;
  ThreadedTransport& operator=(const ThreadedTransport&) = delete;

  void service(double now_s) override;
  [[nodiscard]] std::optional<TransportEvent> poll() override;
  bool send(PeerId peer, std::span<const std::byte> payload) override;
  [[nodiscard]] std::size_t max_datagram_bytes(PeerId peer) const override;
  void disconnect(PeerId peer, std::uint32_t reason) override;
  [[nodiscard]] PeerLogin login(PeerId peer) const override;
  void revoke_login(const PeerLogin& login) override;
  /// Returns the counters since the transport was created. The reference is valid as long as the transport;
  /// the values are those of the last call of stats().
  [[nodiscard]] const TransportStats& stats() const override;

  [[nodiscard]] std::optional<ClientIdentity> identity(PeerId peer) const override;
  [[nodiscard]] std::optional<ConnectToken> ticket() const override;
  [[nodiscard]] std::string problem() const override;
  [[nodiscard]] std::uint16_t port() const override;
  /// Like NetworkTransport::wait(), but a signal does not end the wait.
  void wait(double seconds) override;
  void sleep_until_readable(double seconds) override;

 private:
  ThreadedTransport(const TransportLimits& limits, LogSink log);
  void run();
  void pass(double now_s);
  [[nodiscard]] bool is_full() const;

  mutable std::mutex mutex_;
  std::condition_variable arrived_;      // wakes the game in wait()
  std::condition_variable room_;         // wakes the thread when the game has taken events, and at the end
  std::atomic<bool> game_waits_{false};  // the game waits for the mutex; the thread lets it go first

  // Protected by the mutex.
  std::unique_ptr<NetworkTransport> inner_;
  EventQueue events_;
  LogRelay records_;
  bool ending_ = false;

  // Only for the game's thread.
  EventQueue ready_;
  double service_s_ = 0.0;  // steady_seconds() of the last service()
  mutable TransportStats stats_;

  const TransportLimits limits_;
  const LogSink log_;
  std::thread thread_;
};

}  // namespace reckoner
