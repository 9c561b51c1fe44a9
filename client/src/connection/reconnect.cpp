// SPDX-License-Identifier: MIT
#include "client/src/connection/reconnect.hpp"

#include <algorithm>

namespace reckoner {
namespace {

// After the program was suspended, the client waits this long for a sign of its server before it gives up the
// connection, s, unless ReconnectConfig::silence_s is shorter.
constexpr double kAfterSleepS = 1.5;

constexpr double kAtOnce = -1e300;

}  // namespace

Reconnect::Reconnect(const ReconnectConfig& config, Transport* transport, Dialer* dialer)
    : config_(config), dialer_(dialer), transport_(transport), back_off_(config) {
  if (can_dial()) dial_s_ = kAtOnce;
}

Reconnect::Due Reconnect::review(double local_s, bool has_session) const {
  if (!can_dial()) return Due::nothing;
  if (lost_s_ && config_.give_up_s > 0.0 && local_s - *lost_s_ >= config_.give_up_s) return Due::give_up;
  if (dial_s_) return local_s >= *dial_s_ ? Due::dial : Due::nothing;
  const double silent_s = local_s - heard_s_;
  if (has_session && silent_s >= config_.silence_s) return Due::silence;
  return lost_s_ && silent_s >= config_.attempt_s ? Due::no_answer : Due::nothing;
}

std::optional<std::string> Reconnect::dial(double local_s) {
  dial_s_.reset();
  forget();
  heard_s_ = local_s;
  auto dialed = dialer_->dial();
  transport_ = dialed ? *dialed : nullptr;
  return dialed ? std::nullopt : std::optional<std::string>{dialed.error()};
}

void Reconnect::note_connected(PeerId server, double local_s) {
  heard_s_ = local_s;
  server_ = server;
}

void Reconnect::note_heard(double local_s, bool doubtful) {
  const double patience_s = std::max(0.0, config_.silence_s - kAfterSleepS);
  heard_s_ = doubtful ? std::max(heard_s_, local_s - patience_s) : local_s;
}

void Reconnect::note_session() {
  lost_s_.reset();
  back_off_.reset();
}

bool Reconnect::lose(double local_s) {
  forget();
  transport_ = nullptr;
  const bool is_first = !lost_s_;
  const bool within_round = !is_first && dialer_->try_next_server();
  if (is_first) lost_s_ = local_s;
  const double fraction = dialer_->random_fraction();
  dial_s_ = local_s + (within_round ? back_off_.within_round_s(fraction) : back_off_.next_s(fraction));
  return is_first;
}

bool Reconnect::try_next_server(double local_s) {
  if (!dialer_->try_next_server()) return false;
  forget();
  transport_ = nullptr;
  dial_s_ = local_s + back_off_.within_round_s(dialer_->random_fraction());
  return true;
}

void Reconnect::close() {
  if (is_connected()) disconnect(EndReason::left);
  forget();
  dial_s_.reset();
}

std::string Reconnect::explain_no_answer() const {
  std::string hint;
  if (can_dial()) {
    hint = dialer_->failure_hint();
  } else if (transport_ != nullptr) {
    hint = transport_->problem();
  }
  return "the server does not answer" + (hint.empty() ? hint : "; " + hint);
}

}  // namespace reckoner
