// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/link/sent_contents.hpp"
#include "net/src/messages/correction.hpp"
#include "server/src/prediction/client_prediction.hpp"
#include "server/src/session/sections.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace reckoner {

/// The section about a client's inputs and the entities that it predicts. Costs nothing for a client that
/// sends no inputs.
class PredictionSection {
 public:
  static constexpr bool ServerHeader::*kFlag = &ServerHeader::has_predictions;
  /// A correction is short, seldom, and worth more than anything else.
  static constexpr bool kPaysItself = true;

  /// Null if the client has sent no inputs and predicts nothing.
  [[nodiscard]] ClientPrediction* find() { return prediction_.get(); }
  [[nodiscard]] const ClientPrediction* find() const { return prediction_.get(); }
  [[nodiscard]] ClientPrediction& get() {
    if (!prediction_) prediction_ = std::make_unique<ClientPrediction>();
    return *prediction_;
  }
  void restart() {
    if (prediction_) prediction_->request_correction();
  }

  // For Sections.
  [[nodiscard]] Urgency urgency(Tick tick) const {
    if (!prediction_) return Urgency::none;
    if (prediction_->correction() != nullptr) return Urgency::now;
    if (!prediction_->inputs().has_news()) return Urgency::none;
    return tick - reported_tick_ >= kReportTicks ? Urgency::waits : Urgency::rides;
  }
  bool write(BitWriter& writer, std::size_t most_bits, const SectionPlace& place);
  void settle(const Settled& datagram) {
    sent_.settle(datagram.sequence, [&](std::uint8_t number) {
      if (datagram.acked && prediction_) prediction_->note_arrived(number);
    });
  }

 private:
  // A report waits at most this number of ticks for a datagram.
  static constexpr Tick kReportTicks = 3;
  static constexpr std::size_t kReportBits = 1 + 16 + 1 + 7 + 14 + 1;

  [[nodiscard]] bool fill(CorrectionPart& part, const CorrectionPart& whole, std::size_t most_bits);

  std::unique_ptr<ClientPrediction> prediction_;
  Tick reported_tick_ = 0;
  SentContents<std::uint8_t> sent_;  // numbers of corrections that name no entity
  PredictionReport report_;          // scratch
};

}  // namespace reckoner
