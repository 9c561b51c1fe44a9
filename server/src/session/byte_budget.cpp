// SPDX-License-Identifier: MIT
#include "server/src/session/byte_budget.hpp"

#include <algorithm>
#include <cmath>

namespace reckoner {
namespace {

constexpr double kDatagramBytes = 1240.0;     // a full one with its headers
constexpr double kFirstBytesPerSecond = 8e3;  // a slow link answers before much has piled up
constexpr double kUnlimited = 1e9;
constexpr double kBucketS = 0.25;
constexpr double kQuantumS = 0.04;  // shorter ones waste a slow link on headers
constexpr double kLeastQuantumBytes = 150.0;

// Slots and rounds of acknowledgements that are looked at. A client acknowledges every 50 ms; with jitter of
// 60 ms either way the least of ten rounds is within 60 ms of the least of all in 999 of 1000 half seconds.
constexpr std::size_t kSlowSlots = 5, kSlowRounds = 6;
constexpr std::size_t kQuickSlots = 2, kQuickRounds = 3;
constexpr std::size_t kLossParts = 4, kLossPartSlots = 4, kLossSlots = kLossParts * kLossPartSlots;
constexpr std::size_t kLossPartDatagrams = 8;

constexpr double kThresholdS = 0.02;  // plus a share of the noise and a datagram's own time on the line
constexpr double kNoiseShare = 0.75;
constexpr double kMostThresholdS = 0.08;
constexpr double kNoiseGain = 1.0 / 8.0;
constexpr double kUsualGain = 1.0 / 16.0;
constexpr double kSevereQueueS = 0.25;  // is acted upon at once
constexpr double kLongestQueueS = 1.5;
constexpr double kStepShare = 2.0;   // so much faster than a queue would let it
constexpr double kStepLeastS = 0.1;  // must have been heard since
constexpr double kStepWaitS = 0.25;
constexpr double kStepMostS = 1.0;
constexpr double kHeavyLoss = 0.3;
constexpr double kMoreLoss = 0.15;  // than the loss that the rate has nothing to do with
constexpr double kAmbientGain = 0.02;
constexpr double kPartShare = 0.6;     // of the loss in each part of the window
constexpr double kHelpedShare = 0.25;  // of the loss before; chance losses fall back to their mean, too

constexpr double kDeliveredShare = 0.9;
constexpr double kNextShare = 0.7;  // of the rate if that did not help
constexpr int kTrials = 3;          // that did not help are enough

constexpr double kGrowthS = 0.25;
constexpr double kSilentS = 1.0;
constexpr double kUnderWayS = 0.35;
constexpr double kFirstUnderWay = 2.0 * kDatagramBytes;
constexpr double kReliableS = 0.06;  // for the delays of the client and the server themselves

}  // namespace

ByteBudget::ByteBudget(double most_bytes_per_second, double tick_s, bool follow_link)
    : most_bytes_per_second_(most_bytes_per_second),
      tick_s_(tick_s),
      follow_link_(follow_link),
      rate_(0.0),
      tokens_(kDatagramBytes),
      room_(kFirstUnderWay) {
  set_rate(follow_link ? kFirstBytesPerSecond : most());
  if (!follow_link) tokens_ = std::max(kDatagramBytes, kBucketS * rate_);
  if (!follow_link) room_ = kUnlimited;
}

double ByteBudget::most() const {
  return most_bytes_per_second_ > 0.0 ? most_bytes_per_second_ : kUnlimited;
}

void ByteBudget::set_rate(double bytes_per_second) {
  rate_ = std::min(most(), std::max(kLeastBytesPerSecond, bytes_per_second));
}

double ByteBudget::quantum() const {
  return std::clamp(rate_ * kQuantumS, kLeastQuantumBytes, kDatagramBytes);
}

// How much longer than the least round trip one may take before it is a queue.
double ByteBudget::threshold_s() const {
  return std::min(kMostThresholdS, kThresholdS + kNoiseShare * noise_s_) + quantum() / rate_;
}

// Bytes: what an empty link takes up in a round trip, and a third of a second's worth for jitter, for
// acknowledgements that wait or are lost, and for the queue that is let grow.
double ByteBudget::most_under_way() const {
  if (!std::isfinite(window_.base_s())) return kFirstUnderWay;
  return std::max(kFirstUnderWay, rate_ * (window_.base_s() + kUnderWayS));
}

void ByteBudget::advance(double now_s) {
  if (now_s_ < 0.0) {
    now_s_ = last_ack_s_ = last_growth_s_ = now_s;
    next_growth_s_ = now_s + kGrowthS;
  }
  const double passed_s = std::max(0.0, now_s - now_s_);
  now_s_ = std::max(now_s, now_s_);
  if (window_.advance(now_s_) && follow_link_) judge(now_s_);
  tokens_ =
      std::min(tokens_ + passed_s * rate_, std::max(kDatagramBytes, std::max(kBucketS, tick_s_) * rate_));
  if (follow_link_) room_ = most_under_way() - window_.sent_since(newest_sent_s_);
}

void ByteBudget::spend(std::size_t wire_bytes, double /*now_s*/) {
  const auto bytes = static_cast<double>(wire_bytes);
  tokens_ -= bytes;
  if (follow_link_) room_ -= bytes;
  spent_ += bytes;
  spent_since_ack_ += bytes;
  window_.sent(wire_bytes);
}

void ByteBudget::reliable_arrived(std::size_t wire_bytes, double now_s) {
  if (now_s_ >= 0.0) window_.acknowledged(now_s, 0.0, wire_bytes, false);
}

double ByteBudget::reliable_room() const {
  if (!follow_link_) return kUnlimited;
  const double base_s = std::isfinite(window_.base_s()) ? std::min(window_.base_s(), kLongestQueueS) : 0.0;
  return std::max(kDatagramBytes, rate_ * (base_s + kReliableS));
}

void ByteBudget::acknowledged(double sent_s, double now_s, double ack_delay_s, std::size_t wire_bytes) {
  const double age_s = now_s - sent_s;
  if (now_s_ < 0.0 || !(age_s >= 0.0)) return;
  const double delay_s = ack_delay_s > 0.0 ? std::min(ack_delay_s, age_s) : 0.0;  // NaN: none
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
  if (now_s_ >= 0.0 && sent_s >= since_s_) window_.lost();
}

// Compares each datagram with the one before.
void ByteBudget::note_step(double sent_s, double round_trip_s, double bytes, double now_s) {
  if (step_s_ >= 0.0 && now_s > step_s_) step_delivered_ += bytes;
  if (sent_s <= newest_sent_s_) return;
  const double rise_s = round_trip_s - stepped_from_s_;
  if (newest_sent_s_ >= 0.0 && rise_s > kSevereQueueS && round_trip_s < kLongestQueueS) {
    const double between = window_.sent_since(newest_sent_s_) - window_.sent_since(sent_s) + bytes;
    step_s_ = now_s;
    step_capacity_ = between / (rise_s + sent_s - newest_sent_s_);
    step_delivered_ = 0.0;
  }
  stepped_from_s_ = round_trip_s;
}

// True if all takes longer now, and no queue is the reason, or if that is about to be known.
bool ByteBudget::judge_step(const LinkWindow::Summary& quick, double now_s) {
  if (step_s_ < 0.0) return false;
  const double since_s = last_ack_s_ - step_s_;
  if (since_s < kStepLeastS && now_s < step_s_ + kStepWaitS) return true;
  const bool longer = since_s >= kStepLeastS && quick.least_s - window_.base_s() > kSevereQueueS &&
                      step_delivered_ > kStepShare * step_capacity_ * since_s;
  if (longer || since_s > kStepMostS) step_s_ = -1.0;
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

void ByteBudget::found(double sent_s) {
  if (now_s_ >= 0.0 && sent_s >= since_s_) window_.found();
}

void ByteBudget::judge(double now_s) {
  judge_silence(now_s);
  if (now_s < since_s_) return;  // the queue runs empty
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

// What the link carries, now that a queue has grown.
double ByteBudget::capacity_now(double queue_s, std::size_t slots, double now_s) const {
  const double delivered = std::max(kLeastBytesPerSecond, window_.delivered_bytes_per_second(slots));
  const double sending_s = now_s - since_s_;
  if (sending_s > static_cast<double>(slots) * LinkWindow::kSlotS) return delivered;
  // A pause is part of that time. The rate since then has left this queue behind.
  return std::max(delivered, rate_ * sending_s / (sending_s + queue_s));
}

// Nothing comes back: an outage, or a client that is gone.
void ByteBudget::judge_silence(double now_s) {
  if (now_s < since_s_) last_ack_s_ = now_s;  // nothing to be heard while the queue runs empty
  if (now_s - last_ack_s_ < kSilentS || spent_since_ack_ <= 0.0) return;
  set_rate(rate_ / 2.0);
  last_ack_s_ = now_s;
}

// True if the trial is over and the rate stands.
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
  if (++failures_ >= kTrials) {
    failures_ = 0;
    trial_ = Trial::none;
    set_rate(std::min(rate_before_, 2.0 * trial_capacity_));
    window_.rebase(slow.least_s);
    return false;
  }
  drain(kNextShare * rate_, worse ? quick_queue_s : queue_s, now_s);
  return false;
}

// Loss in every part of the window: a burst, or a burst of lost acknowledgements, is in one or two of them.
bool ByteBudget::judge_loss(double now_s) {
  const double loss = window_.recent(kLossSlots, 0).loss();
  if (loss < ambient_loss_) ambient_loss_ += kAmbientGain * (loss - ambient_loss_);
  const double least = std::max(kHeavyLoss, ambient_loss_ + kMoreLoss);
  if (loss < least) return false;
  for (std::size_t part = 0; part < kLossParts; ++part) {
    const LinkWindow::Summary some = window_.recent(kLossPartSlots, 0, part * kLossPartSlots);
    if (some.acknowledged == 0) return false;  // that is silence
    if (some.acknowledged + some.lost < kLossPartDatagrams || some.loss() < kPartShare * least) return false;
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

// Lowers the rate and lets the queue run empty.
void ByteBudget::drain(double bytes_per_second, double queue_s, double now_s) {
  trial_queue_s_ = std::min(queue_s, kLongestQueueS);
  // Measured is a queue of a round trip ago; it has become what is under way beyond an empty path's share.
  const double under_way_s = window_.sent_since(newest_sent_s_) / trial_capacity_ - window_.base_s();
  lower(bytes_per_second, std::clamp(under_way_s, trial_queue_s_, kLongestQueueS), now_s);
}

// Lowers the rate, pauses, and starts to measure anew.
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
  const bool used = spent_ >= 0.5 * rate_ * period_s;
  spent_ = 0.0;
  last_growth_s_ = now_s;
  next_growth_s_ = now_s + std::max(kGrowthS, window_.base_s());
  if (used && calm) set_rate(rate_ * (1.0 + growth()));
  if (!calm) growth_step_ = 0.0;
}

// By what share to raise the rate.
double ByteBudget::growth() {
  if (capacity_ <= 0.0) return 1.0;
  if (rate_ < 0.8 * capacity_) return 0.25;
  if (rate_ < 1.08 * capacity_) return 0.0125;
  growth_step_ = std::clamp(growth_step_ * 1.4, 0.02, 0.5);
  return growth_step_;
}

}  // namespace reckoner
