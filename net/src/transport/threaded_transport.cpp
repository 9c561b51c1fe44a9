// SPDX-License-Identifier: MIT
#include "net/src/transport/threaded_transport.hpp"

#include "net/src/transport/platform.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <string>
#include <system_error>
#include <utility>

namespace reckoner {
namespace {

// The thread sleeps at most this long, s. The destructor waits no longer than this.
constexpr double kSleepS = 0.01;

}  // namespace

ThreadedTransport::Opened ThreadedTransport::start(const Open& open, const TransportLimits& limits,
                                                   const LogSink& log) {
  std::unique_ptr<ThreadedTransport> all(new ThreadedTransport(limits, log));
  LogSink relay;
  if (log) relay = [to = all.get()](const LogRecord& record) { to->records_.add(record); };
  auto inner = open(relay);
  if (!inner) return Error{inner.error()};
  all->inner_ = std::move(*inner);
  try {
    all->thread_ = std::thread([to = all.get()] { to->run(); });
  } catch (const std::system_error& error) {
    return Error{"cannot start the receive thread: " + std::string(error.what())};
  }
  return std::unique_ptr<NetworkTransport>(std::move(all));
}

ThreadedTransport::ThreadedTransport(const TransportLimits& limits, LogSink log)
    : limits_(limits), log_(std::move(log)) {}

ThreadedTransport::~ThreadedTransport() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  room_.notify_all();
  if (thread_.joinable()) thread_.join();
  inner_.reset();
  if (log_) records_.pass_to(log_);
}

void ThreadedTransport::run() {
  std::unique_lock lock(mutex_);
  while (!ending_) {
    if (is_full()) {
      room_.wait(lock, [this] { return ending_ || !is_full(); });
      continue;
    }
    pass(steady_seconds());
    if (!events_.empty()) arrived_.notify_one();
    lock.unlock();
    inner_->sleep_until_readable(kSleepS);
    // A mutex is not fair. Under a flood, the game would otherwise wait for many passes.
    while (game_waits_.load())
      std::this_thread::yield();
    lock.lock();
  }
}

// One pass of the other transport. Requires the mutex.
void ThreadedTransport::pass(double now_s) {
  inner_->service(now_s);
  while (auto event = inner_->poll()) {
    events_.push(*event, now_s);
    if (is_full()) break;  // the rest waits in the other transport, which has the same limits
  }
}

bool ThreadedTransport::is_full() const {
  return events_.size() >= limits_.waiting_events || events_.bytes() >= limits_.waiting_event_bytes;
}

void ThreadedTransport::service(double /*now_s*/) {
  service_s_ = steady_seconds();
  LogRelay records;
  {
    game_waits_ = true;
    const std::lock_guard lock(mutex_);
    game_waits_ = false;
    if (!is_full()) pass(service_s_);
    if (ready_.empty()) {
      std::swap(ready_, events_);
    } else if (ready_.size() < limits_.waiting_events && ready_.bytes() < limits_.waiting_event_bytes) {
      while (const auto event = events_.pop())
        ready_.push(*event);
    }
    if (!records_.empty()) records = records_.take();
  }
  room_.notify_one();
  if (log_) records.pass_to(log_);
}

std::optional<TransportEvent> ThreadedTransport::poll() {
  return ready_.pop(service_s_);
}

bool ThreadedTransport::send(PeerId peer, std::span<const std::byte> payload) {
  const std::lock_guard lock(mutex_);
  return inner_->send(peer, payload);
}

std::size_t ThreadedTransport::max_datagram_bytes(PeerId peer) const {
  const std::lock_guard lock(mutex_);
  return inner_->max_datagram_bytes(peer);
}

void ThreadedTransport::disconnect(PeerId peer, std::uint32_t reason) {
  const std::lock_guard lock(mutex_);
  inner_->disconnect(peer, reason);
}

PeerLogin ThreadedTransport::login(PeerId peer) const {
  const std::lock_guard lock(mutex_);
  return inner_->login(peer);
}

void ThreadedTransport::revoke_login(const PeerLogin& login) {
  const std::lock_guard lock(mutex_);
  inner_->revoke_login(login);
}

const TransportStats& ThreadedTransport::stats() const {
  const std::lock_guard lock(mutex_);
  stats_ = inner_->stats();
  return stats_;
}

std::optional<ClientIdentity> ThreadedTransport::identity(PeerId peer) const {
  const std::lock_guard lock(mutex_);
  return inner_->identity(peer);
}

std::optional<ConnectToken> ThreadedTransport::ticket() const {
  const std::lock_guard lock(mutex_);
  return inner_->ticket();
}

std::string ThreadedTransport::problem() const {
  const std::lock_guard lock(mutex_);
  return inner_->problem();
}

std::uint16_t ThreadedTransport::port() const {
  const std::lock_guard lock(mutex_);
  return inner_->port();
}

void ThreadedTransport::wait(double seconds) {
  if (!ready_.empty()) return;
  const std::chrono::duration<double> longest(std::clamp(std::isnan(seconds) ? 0.0 : seconds, 0.0, 3600.0));
  std::unique_lock lock(mutex_);
  if (!is_full()) pass(steady_seconds());  // sends what waits
  arrived_.wait_for(lock, longest, [this] { return !events_.empty(); });
}

void ThreadedTransport::sleep_until_readable(double seconds) {
  inner_->sleep_until_readable(seconds);
}

}  // namespace reckoner
