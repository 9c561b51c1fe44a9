// SPDX-License-Identifier: MIT
#include "link_model.hpp"

#include <algorithm>
#include <cmath>

namespace reckoner::test {
namespace {

constexpr double kHeaderBytes = 40.0;
constexpr double kHeartbeatBytes = 12.0;
constexpr double kHeartbeatS = 0.25;
constexpr double kDatagramBytes = 1240.0;
constexpr double kAcknowledgeS = 0.05;
constexpr std::size_t kAcknowledgeEvery = 8;
constexpr std::size_t kAcknowledged = 32;
constexpr double kNever = 1e18;

harness::LinkOptions without_rate(harness::LinkOptions options) {
  options.rate_kbps = 0.0;
  return options;
}

double rate_of(const harness::LinkOptions& options) {
  return options.rate_kbps * 1000.0 / 8.0;
}

}  // namespace

LinkModel::LinkModel(const Options& options)
    : options_(options),
      budget_(options.most, options.tick_s),
      down_(without_rate(options.down), options.seed),
      up_(options.up, options.seed + 1000) {}

void LinkModel::run_to(double end_s) {
  figures_ = {};
  const double start_s = time_s_;
  while (time_s_ < end_s)
    tick();
  figures_.seconds = time_s_ - start_s;
}

void LinkModel::change(const harness::LinkOptions& down) {
  options_.down = down;
  down_.set_options(without_rate(down));
}

double LinkModel::utilisation() const {
  return delivered_rate() / rate_of(options_.down);
}

double LinkModel::queue_s(double quantile) const {
  std::vector<double> sorted = figures_.queue_s;
  std::ranges::sort(sorted);
  return sorted.at(static_cast<std::size_t>(quantile * static_cast<double>(sorted.size() - 1)));
}

double LinkModel::postponed() const {
  return static_cast<double>(figures_.postponed) / static_cast<double>(figures_.queue_s.size());
}

void LinkModel::tick() {
  time_s_ += options_.tick_s;
  client_receives();
  server_receives();
  give_up();
  budget_.advance(time_s_);
  // Old motion is worthless: unsent data is replaced by newer data, not sent later.
  backlog_ = std::min(backlog_ + options_.demand * options_.tick_s, options_.demand);
  while (budget_.affordable() && backlog_ > 0.0)
    send(std::min({budget_.available(), kDatagramBytes, backlog_ + kHeaderBytes}));
  if (time_s_ - last_send_s_ >= kHeartbeatS) send(kHeaderBytes + kHeartbeatBytes);

  figures_.postponed += backlog_ > 0.1 * options_.demand ? 1 : 0;
  figures_.queue_s.push_back(std::max(0.0, line_free_s_ - time_s_));
  figures_.lowest_rate = std::min(figures_.lowest_rate, budget_.bytes_per_second());
  figures_.highest_rate = std::max(figures_.highest_rate, budget_.bytes_per_second());
}

void LinkModel::send(double wire_bytes) {
  last_send_s_ = time_s_;
  backlog_ = std::max(0.0, backlog_ - (wire_bytes - kHeaderBytes));
  figures_.sent += wire_bytes;
  const auto bytes = static_cast<std::size_t>(wire_bytes);
  budget_.spend(bytes, time_s_);
  datagrams_.push_back({time_s_, bytes});
  double left_s = time_s_;
  if (const double rate = rate_of(options_.down); rate > 0.0) {
    const double wait_s = std::max(0.0, line_free_s_ - time_s_);
    if (wait_s > options_.down.queue_ms / 1000.0) return;
    left_s = line_free_s_ = time_s_ + wait_s + wire_bytes / rate;
  }
  const harness::LinkFate fate = down_.pass(left_s, bytes);
  if (!fate.lost()) arrivals_.emplace(fate.arrived_s[0], datagrams_.size() - 1);
}

void LinkModel::client_receives() {
  while (!arrivals_.empty() && arrivals_.begin()->first <= time_s_) {
    const auto [arrived_s, sequence] = *arrivals_.begin();
    if (acknowledge_at_s_ <= arrived_s) client_acknowledges(acknowledge_at_s_);
    arrivals_.erase(arrivals_.begin());
    figures_.delivered += static_cast<double>(datagrams_[sequence].bytes);
    if (received_.empty() || sequence > newest_received_) {
      newest_received_ = sequence;
      newest_received_s_ = arrived_s;
    }
    received_.push_back(sequence);
    if (received_.size() > 2 * kAcknowledged) received_.pop_front();
    if (unacknowledged_++ == 0) acknowledge_at_s_ = arrived_s + kAcknowledgeS;
    if (unacknowledged_ == kAcknowledgeEvery) client_acknowledges(arrived_s);
  }
  if (acknowledge_at_s_ <= time_s_) client_acknowledges(acknowledge_at_s_);
}

void LinkModel::client_acknowledges(double at_s) {
  unacknowledged_ = 0;
  acknowledge_at_s_ = kNever;
  if (at_s < silent_until_s_) return;
  Acknowledgement ack{{}, at_s - newest_received_s_};
  for (const std::size_t sequence : received_) {
    if (sequence + kAcknowledged > newest_received_) ack.sequences.push_back(sequence);
  }
  const harness::LinkFate fate = up_.pass(at_s, 60);
  if (!fate.lost()) acknowledgements_.emplace(fate.arrived_s[0], std::move(ack));
}

void LinkModel::server_receives() {
  while (!acknowledgements_.empty() && acknowledgements_.begin()->first <= time_s_) {
    const Acknowledgement ack = std::move(acknowledgements_.begin()->second);
    acknowledgements_.erase(acknowledgements_.begin());
    for (const std::size_t sequence : ack.sequences) {
      newest_acknowledged_ = std::max(newest_acknowledged_, sequence);
      Datagram& d = datagrams_[sequence];
      if (d.acknowledged) continue;  // given-up datagrams count: ByteBudget::acknowledged()
      if (d.settled) budget_.found(d.sent_s);
      d.settled = d.acknowledged = true;
      link_.add(time_s_ - d.sent_s - ack.delay_s);
      budget_.acknowledged(d.sent_s, time_s_, ack.delay_s, d.bytes);
    }
  }
}

void LinkModel::give_up() {
  for (; oldest_open_ < datagrams_.size(); ++oldest_open_) {
    Datagram& d = datagrams_[oldest_open_];
    if (d.settled) continue;
    const bool passed = oldest_open_ + kAcknowledged <= newest_acknowledged_;
    if (!passed && time_s_ - d.sent_s < link_.timeout_s(kAcknowledgeS)) break;
    d.settled = true;
    budget_.lost(d.sent_s, time_s_, d.bytes);
  }
}

}  // namespace reckoner::test
