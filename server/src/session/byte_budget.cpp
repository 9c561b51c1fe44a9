// SPDX-License-Identifier: MIT
#include "server/src/session/byte_budget.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace reckoner {
namespace {

constexpr double kFirstBytesPerSecond = 8e3;  // a slow connection answers before a long queue forms
constexpr double kUnlimited = 1e9;
constexpr double kBucketS = 0.25;
constexpr double kQuantumS = 0.04;  // smaller datagrams would waste a slow connection on headers
constexpr double kMinQuantumBytes = 150.0;

// Number of slots and number of rounds of acknowledgements in each measurement. A client acknowledges every
// 50 ms, so half a second contains ten round trips. With 60 ms of jitter in each direction, the smallest of
// ten round trips exceeds the smallest possible one by at most 60 ms. This is true for 99.9 % of the half
// seconds.
constexpr std::size_t kSlowSlots = 5, kSlowRounds = 6;
constexpr std::size_t kQuickSlots = 2, kQuickRounds = 3;
constexpr std::size_t kLossParts = 4, kLossPartSlots = 4, kLossSlots = kLossParts * kLossPartSlots;
constexpr std::size_t kLossPartDatagrams = 8;

// The threshold is this time plus a share of the noise plus the transmission time of a datagram.
constexpr double kThresholdS = 0.02;
constexpr double kNoiseShare = 0.75;
constexpr double kMaxThresholdS = 0.08;
constexpr double kNoiseGain = 1.0 / 8.0;
constexpr double kUsualGain = 1.0 / 16.0;
constexpr double kSevereQueueS = 0.25;  // a queue of this length lowers the rate at once
constexpr double kLongestQueueS = 1.5;
constexpr double kStepShare = 2.0;  // a longer route delivers this many times the rate that a queue delivers
constexpr double kStepMinS = 0.1;   // shortest time of measurement after a jump
constexpr double kStepWaitS = 0.25;
constexpr double kStepMaxS = 1.0;
constexpr double kHeavyLoss = 0.3;
constexpr double kMoreLoss = 0.15;  // counts on top of the loss that does not depend on the rate
constexpr double kAmbientGain = 0.02;
constexpr double kPartShare = 0.6;  // each part of the window must have this share of the threshold
// A trial has helped if the loss falls below this share of the loss before the trial. The share is small
// because a random peak of loss falls by itself, too.
constexpr double kHelpedShare = 0.25;

constexpr double kDeliveredShare = 0.9;
constexpr double kNextShare = 0.7;  // share of the rate to use if the first reduction did not help
constexpr int kMaxTrials = 3;       // after this many failures the rate returns

constexpr double kGrowthS = 0.25;
constexpr double kUsed = 0.5;  // the rate grows if this share of it is used
constexpr double kGentleGrowth = 0.3;
constexpr double kMostOfUsed = 2.6;
constexpr double kUsedWhileWaiting = 0.35;  // if data waits that may use only a half of the rate
constexpr double kSilentS = 1.0;
constexpr double kInFlightS = 0.35;
constexpr double kFirstInFlight = 2.0 * ByteBudget::kDatagramBytes;
constexpr std::size_t kMaxSlotStep = 1'000'000;  // bytes; sums of such steps do not overflow a slot
constexpr double kAnswerS = 0.06;                // allows for the delays in client and server

}  // namespace

bool LinkWindow::advance(double now_s) {
  const auto index = static_cast<std::int64_t>(std::floor(std::clamp(now_s, -1e15, 1e15) / kSlotS)) + kZero;
  if (index <= index_) return false;
  const bool started = index_ >= 0;
  const std::uint32_t sent_before = started ? 0 : current_slot().sent;
  const std::int64_t first = std::max(index_ + 1, index - static_cast<std::int64_t>(kSlots) + 1);
  for (std::int64_t i = first; i <= index; ++i)
    slots_[static_cast<std::size_t>(i) % kSlots] = {};
  const std::int64_t base_from = std::max(index_ / kBaseEvery + 1, index / kBaseEvery - 9);
  for (std::int64_t i = base_from; started && i <= index / kBaseEvery; ++i)
    base_[static_cast<std::size_t>(i) % kBaseSlots] = std::numeric_limits<float>::infinity();
  index_ = index;
  current_slot().sent += sent_before;
  return started;
}

void LinkWindow::acknowledged(double now_s, double round_trip_s, std::size_t bytes, bool counts) {
  Slot& slot = current_slot();
  slot.bytes += static_cast<std::uint32_t>(std::min(bytes, kMaxSlotStep));
  if (!counts) return;
  const auto trip_s = static_cast<float>(round_trip_s);
  slot.least_s = std::min(slot.least_s, trip_s);
  slot.sum_s += trip_s;
  if (now_s != last_round_s_ || slot.rounds == 0) ++slot.rounds;
  last_round_s_ = now_s;
  ++slot.acknowledged;
  float& base = base_[static_cast<std::size_t>(index_ / kBaseEvery) % kBaseSlots];
  base = std::min(base, trip_s);
}

void LinkWindow::sent(std::size_t bytes) {
  current_slot().sent += static_cast<std::uint32_t>(std::min(bytes, kMaxSlotStep));
}

void LinkWindow::lost() {
  ++current_slot().lost;
}

void LinkWindow::found() {
  for (std::size_t i = 0; i < kSlots; ++i) {
    if (back(i).lost == 0) continue;
    --slots_[(static_cast<std::size_t>(index_) + 2 * kSlots - i) % kSlots].lost;
    return;
  }
}

LinkWindow::Summary LinkWindow::recent(std::size_t slots, std::size_t rounds, std::size_t skipped) const {
  Summary all;
  double sum_s = 0.0;
  for (std::size_t i = 1 + skipped; i < kSlots && (i <= slots + skipped || all.rounds < rounds); ++i) {
    const Slot& slot = back(i);
    all.least_s = std::min(all.least_s, double{slot.least_s});
    sum_s += slot.sum_s;
    all.rounds += slot.rounds;
    all.acknowledged += slot.acknowledged;
    all.lost += slot.lost;
    ++all.slots;
  }
  if (all.acknowledged > 0) all.mean_s = sum_s / static_cast<double>(all.acknowledged);
  return all;
}

double LinkWindow::delivered_bytes_per_second(std::size_t slots) const {
  double bytes = 0.0;
  for (std::size_t i = 1; i <= slots; ++i)
    bytes += back(i).bytes;
  return bytes / (static_cast<double>(slots) * kSlotS);
}

double LinkWindow::sent_since(double time_s) const {
  double bytes = 0.0;
  for (std::size_t i = 0; i < kSlots; ++i) {
    const double share =
        static_cast<double>(index_ - kZero - static_cast<std::int64_t>(i) + 1) - time_s / kSlotS;
    if (share <= 0.0) break;
    bytes += back(i).sent * std::min(share, 1.0);
  }
  return bytes;
}

double LinkWindow::base_s() const {
  return *std::ranges::min_element(base_);
}

void LinkWindow::restart() {
  for (Slot& slot : slots_)
    slot = Slot{.bytes = slot.bytes, .sent = slot.sent};
}

void LinkWindow::rebase(double round_trip_s) {
  base_.fill(std::numeric_limits<float>::infinity());
  base_[static_cast<std::size_t>(std::max<std::int64_t>(index_, 0) / kBaseEvery) % kBaseSlots] =
      static_cast<float>(round_trip_s);
}

ByteBudget::ByteBudget(double max_bytes_per_second, double tick_s, bool follow_link)
    : max_bytes_per_second_(max_bytes_per_second),
      tick_s_(tick_s),
      follow_link_(follow_link),
      rate_(0.0),
      tokens_(kDatagramBytes),
      flight_room_(kFirstInFlight) {
  set_rate(follow_link ? kFirstBytesPerSecond : max_rate());
  if (!follow_link) tokens_ = std::max(kDatagramBytes, kBucketS * rate_);
  if (!follow_link) flight_room_ = kUnlimited;
}

double ByteBudget::max_rate() const {
  return max_bytes_per_second_ > 0.0 ? max_bytes_per_second_ : kUnlimited;
}

void ByteBudget::set_rate(double bytes_per_second) {
  rate_ = std::min(max_rate(), std::max(kMinBytesPerSecond, bytes_per_second));
}

double ByteBudget::quantum() const {
  return std::clamp(rate_ * kQuantumS, kMinQuantumBytes, kDatagramBytes);
}

// A round trip that is this much longer than the smallest one indicates a queue.
double ByteBudget::threshold_s() const {
  return std::min(kMaxThresholdS, kThresholdS + kNoiseShare * noise_s_) + quantum() / rate_;
}

// Limit of the bytes in flight. It is the sum of two parts. The first part is what a connection with empty
// queues carries during a round trip. The second part is the bytes of a third of a second; it allows for
// jitter, for delayed and lost acknowledgements, and for a short queue.
double ByteBudget::max_in_flight() const {
  if (!follow_link_) return kUnlimited;
  if (!std::isfinite(window_.base_s())) return kFirstInFlight;
  return std::max(kFirstInFlight, rate_ * (window_.base_s() + kInFlightS));
}

void ByteBudget::advance(double now_s) {
  if (!started()) {
    now_s_ = last_ack_s_ = last_growth_s_ = now_s;
    next_growth_s_ = now_s + kGrowthS;
  }
  const double passed_s = std::max(0.0, now_s - now_s_);
  now_s_ = std::max(now_s, now_s_);
  if (window_.advance(now_s_) && follow_link_) judge(now_s_);
  tokens_ =
      std::min(tokens_ + passed_s * rate_, std::max(kDatagramBytes, std::max(kBucketS, tick_s_) * rate_));
  if (!follow_link_) return;
  // After an outage, what was sent long ago is lost and fills the connection no longer. A connection of half
  // the rate would have delivered it by then.
  const double base_s = std::isfinite(window_.base_s()) ? window_.base_s() : kLongestQueueS;
  const double from_s = std::max(newest_sent_s_, now_s_ - 2.0 * (base_s + kInFlightS));
  flight_room_ = max_in_flight() - window_.sent_since(from_s);
}

void ByteBudget::spend(std::size_t wire_bytes, double /*now_s*/) {
  charge(wire_bytes);
  send_on_credit(wire_bytes);
}

void ByteBudget::send_on_credit(std::size_t wire_bytes) {
  const auto bytes = static_cast<double>(wire_bytes);
  if (follow_link_) flight_room_ -= bytes;
  spent_since_ack_ += bytes;
  window_.sent(wire_bytes);
}

double ByteBudget::spawn_room() const {
  if (!follow_link_) return kUnlimited;
  const double base_s = std::isfinite(window_.base_s()) ? std::min(window_.base_s(), kLongestQueueS) : 0.0;
  return std::max(kDatagramBytes, rate_ * (base_s + kAnswerS));
}

void ByteBudget::acknowledged(double sent_s, double now_s, double ack_delay_s, std::size_t wire_bytes) {
  const double age_s = now_s - sent_s;
  if (!started() || !(age_s >= 0.0)) return;
  const double delay_s = ack_delay_s > 0.0 ? std::min(ack_delay_s, age_s) : 0.0;  // 0 for NaN
  const auto bytes = static_cast<double>(wire_bytes);
  last_ack_s_ = std::max(last_ack_s_, now_s);
  note_step(sent_s, age_s - delay_s, bytes, now_s);
  newest_sent_s_ = std::max(newest_sent_s_, sent_s);
  spent_since_ack_ = 0.0;
  usual_bytes_ += kUsualGain * (bytes - usual_bytes_);
  const bool usual = bytes >= 0.5 * usual_bytes_;
  window_.acknowledged(now_s, age_s - delay_s, wire_bytes, usual && sent_s >= since_s_);
}

void ByteBudget::lost(double sent_s, double /*now_s*/, std::size_t /*wire_bytes*/) {
  if (started() && sent_s >= since_s_) window_.lost();
}

// Looks for a jump of the delay between this datagram and the previous one.
void ByteBudget::note_step(double sent_s, double round_trip_s, double bytes, double now_s) {
  if (step_s_ && now_s > *step_s_) step_delivered_ += bytes;
  if (sent_s <= newest_sent_s_) return;
  const double rise_s = round_trip_s - stepped_from_s_;
  if (newest_sent_s_ > kLongAgo && rise_s > kSevereQueueS && round_trip_s < kLongestQueueS) {
    const double between = window_.sent_since(newest_sent_s_) - window_.sent_since(sent_s) + bytes;
    step_s_ = now_s;
    step_capacity_ = between / (rise_s + sent_s - newest_sent_s_);
    step_delivered_ = 0.0;
  }
  stepped_from_s_ = round_trip_s;
}

// Decides whether a jump of the delay is a longer route or a queue. Returns true if the route is longer, or
// if this is not decided yet.
bool ByteBudget::judge_step(const LinkWindow::Summary& quick, double now_s) {
  if (!step_s_) return false;
  const double since_s = last_ack_s_ - *step_s_;
  if (since_s < kStepMinS && now_s < *step_s_ + kStepWaitS) return true;
  const bool longer = since_s >= kStepMinS && quick.least_s - window_.base_s() > kSevereQueueS &&
                      step_delivered_ > kStepShare * step_capacity_ * since_s;
  if (longer || since_s > kStepMaxS) step_s_.reset();
  if (!longer) return false;
  if (trial_ != Trial::none) set_rate(rate_before_);
  trial_ = Trial::none;
  failures_ = 0;
  window_.rebase(quick.least_s);
  last_growth_s_ = now_s;
  next_growth_s_ = now_s + kGrowthS;
  spent_ = 0.0;
  return true;
}

bool ByteBudget::may_have_queue() const {
  if (!follow_link_ || !started()) return false;
  const LinkWindow::Summary quick = window_.recent(kQuickSlots, kQuickRounds);
  return quick.rounds >= kQuickRounds && quick.least_s - window_.base_s() > 0.5 * threshold_s();
}

void ByteBudget::found(double sent_s) {
  if (started() && sent_s >= since_s_) window_.found();
}

void ByteBudget::judge(double now_s) {
  judge_silence(now_s);
  if (now_s < since_s_) return;  // the queue is draining
  const LinkWindow::Summary slow = window_.recent(kSlowSlots, kSlowRounds);
  const LinkWindow::Summary quick = window_.recent(kQuickSlots, kQuickRounds);
  if (quick.rounds < kQuickRounds || judge_step(quick, now_s)) return;
  if (trial_ != Trial::none && !judge_trial(slow, quick, now_s)) return;

  const double queue_s = slow.least_s - window_.base_s();
  const double quick_queue_s = quick.least_s - window_.base_s();
  const bool severe = quick_queue_s > kSevereQueueS;
  if (severe || (slow.rounds >= kSlowRounds && queue_s > threshold_s())) {
    begin(Trial::delay);
    const double grown_s = severe ? quick_queue_s : queue_s;
    trial_capacity_ = capacity_now(grown_s, severe ? kSlowSlots : 2 * kSlowSlots, now_s);
    drain(kDeliveredShare * trial_capacity_, grown_s, now_s);
    return;
  }
  noise_s_ += kNoiseGain * (slow.mean_s - slow.least_s - noise_s_);
  if (judge_loss(now_s)) return;
  const double line_s = quantum() / rate_;
  const double above_s = threshold_s() - line_s;
  grow(queue_s <= 0.5 * line_s + (rate_ < 0.8 * capacity_ ? 0.5 : 0.25) * above_s &&
           quick_queue_s <= 0.5 * line_s + 0.5 * above_s,
       now_s);
}

// The capacity of the connection, measured while there is a queue.
double ByteBudget::capacity_now(double queue_s, std::size_t slots, double now_s) const {
  const double delivered = std::max(kMinBytesPerSecond, window_.delivered_bytes_per_second(slots));
  const double sending_s = now_s - since_s_;
  if (sending_s > static_cast<double>(slots) * LinkWindow::kSlotS) return delivered;
  // The time may include a pause. Since the pause, the current rate has caused this queue.
  return std::max(delivered, rate_ * sending_s / (sending_s + queue_s));
}

// Lowers the rate if no acknowledgements arrive. The cause is an outage, or the client is gone.
void ByteBudget::judge_silence(double now_s) {
  if (now_s < since_s_) last_ack_s_ = now_s;  // no acknowledgement is expected while the queue drains
  if (now_s - last_ack_s_ < kSilentS || spent_since_ack_ <= 0.0) return;
  set_rate(rate_ / 2.0);
  last_ack_s_ = now_s;
}

// Returns true if the trial has ended and the lower rate stays.
bool ByteBudget::judge_trial(const LinkWindow::Summary& slow, const LinkWindow::Summary& quick,
                             double now_s) {
  if (trial_ == Trial::loss) {
    const LinkWindow::Summary all = window_.recent(kLossSlots, 0);
    if (now_s < since_s_ + static_cast<double>(kLossSlots + 1) * LinkWindow::kSlotS) return false;
    if (all.acknowledged + all.lost < kLossPartDatagrams) return false;
    const bool helped = all.loss() < kHelpedShare * trial_loss_;
    if (helped) {
      capacity_ = trial_capacity_;
    } else {
      set_rate(rate_before_);
      ambient_loss_ = all.loss();
    }
    trial_ = Trial::none;
    return helped;
  }
  const double quick_queue_s = quick.least_s - window_.base_s();
  const double queue_s = slow.least_s - window_.base_s();
  const bool worse = quick_queue_s > std::max(kSevereQueueS, trial_queue_s_);
  if (!worse && slow.rounds < kSlowRounds) return false;
  if (!worse && queue_s <= 0.5 * std::max(threshold_s(), trial_queue_s_)) {
    trial_ = Trial::none;
    failures_ = 0;
    capacity_ = trial_capacity_;
    return true;
  }
  if (++failures_ >= kMaxTrials) {
    failures_ = 0;
    trial_ = Trial::none;
    set_rate(std::min(rate_before_, 2.0 * trial_capacity_));
    window_.rebase(slow.least_s);
    return false;
  }
  drain(kNextShare * rate_, worse ? quick_queue_s : queue_s, now_s);
  return false;
}

// Starts a trial if the loss is heavy in every part of the window. A burst of losses, or of lost
// acknowledgements, affects only one or two parts.
bool ByteBudget::judge_loss(double now_s) {
  const double loss = window_.recent(kLossSlots, 0).loss();
  if (loss < ambient_loss_) ambient_loss_ += kAmbientGain * (loss - ambient_loss_);
  const double threshold = std::max(kHeavyLoss, ambient_loss_ + kMoreLoss);
  if (loss < threshold) return false;
  for (std::size_t part = 0; part < kLossParts; ++part) {
    const LinkWindow::Summary some = window_.recent(kLossPartSlots, 0, part * kLossPartSlots);
    if (some.acknowledged == 0) return false;  // silence, not loss
    if (some.acknowledged + some.lost < kLossPartDatagrams || some.loss() < kPartShare * threshold)
      return false;
  }
  begin(Trial::loss);
  trial_loss_ = loss;
  trial_capacity_ = window_.delivered_bytes_per_second(kLossSlots);
  lower(kDeliveredShare * trial_capacity_, 0.0, now_s);
  return true;
}

void ByteBudget::begin(Trial trial) {
  trial_ = trial;
  rate_before_ = rate_;
}

// Lowers the rate and pauses until the queue is drained.
void ByteBudget::drain(double bytes_per_second, double queue_s, double now_s) {
  trial_queue_s_ = std::min(queue_s, kLongestQueueS);
  // The measured queue is a round trip old. The present queue contains the bytes in flight beyond those that
  // an empty path would contain.
  const double backlog_s = window_.sent_since(newest_sent_s_) / trial_capacity_ - window_.base_s();
  lower(bytes_per_second, std::clamp(backlog_s, trial_queue_s_, kLongestQueueS), now_s);
}

// Lowers the rate, pauses, and restarts the measurements.
void ByteBudget::lower(double bytes_per_second, double pause_s, double now_s) {
  set_rate(std::min(rate_, bytes_per_second));
  tokens_ = std::min(tokens_, 0.0) - pause_s * rate_;
  since_s_ = now_s + pause_s;
  window_.restart();
  last_growth_s_ = since_s_;
  next_growth_s_ = since_s_ + kGrowthS;
  growth_step_ = 0.0;
  spent_ = 0.0;
}

void ByteBudget::grow(bool calm, double now_s) {
  if (now_s < next_growth_s_) return;
  const double period_s = now_s - last_growth_s_;
  const bool used = spent_ >= (waiting_ ? kUsedWhileWaiting : kUsed) * rate_ * period_s;
  // Data that waits uses only a half of the rate, so a rate that is too high shows late. It rises in small
  // steps, and to not much more than twice what is used.
  const double most =
      waiting_ ? std::clamp(kMostOfUsed * spent_ / (rate_ * period_s) - 1.0, 0.0, kGentleGrowth) : 1.0;
  spent_ = 0.0;
  waiting_ = false;
  last_growth_s_ = now_s;
  next_growth_s_ = now_s + std::max(kGrowthS, window_.base_s());
  if (used && calm) set_rate(rate_ * (1.0 + std::min(growth(), most)));
  if (!calm) growth_step_ = 0.0;
}

// Returns the share by which to raise the rate.
double ByteBudget::growth() {
  if (capacity_ <= 0.0) return 1.0;
  if (rate_ < 0.8 * capacity_) return 0.25;
  if (rate_ < 1.08 * capacity_) return 0.0125;
  growth_step_ = std::clamp(growth_step_ * 1.4, 0.02, 0.5);
  return growth_step_;
}

}  // namespace reckoner
