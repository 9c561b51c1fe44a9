// SPDX-License-Identifier: MIT
#include "server/src/session/prediction_section.hpp"

#include <array>

namespace reckoner {
namespace {

std::size_t bits_of(const ExactState& state) {
  std::array<std::byte, ExactState::kMaxBits / 8 + 1> buffer;
  BitWriter writer{buffer};
  write(writer, state);
  return writer.bits_written();
}

}  // namespace

bool PredictionSection::write(BitWriter& writer, std::size_t most_bits, const SectionPlace& place) {
  ClientPrediction& prediction = *prediction_;
  report_.clear();
  if (most_bits < kReportBits) return false;
  if (const CorrectionPart* whole = prediction.correction()) {
    if (!fill(report_.correction.emplace(), *whole, most_bits - kReportBits)) report_.correction.reset();
  }
  if (prediction.inputs().has_news()) {
    report_.inputs = prediction.inputs().report();
    reported_tick_ = place.inputs.tick;
  }
  if (!report_.inputs && !report_.correction) return false;
  const std::size_t before = writer.bits_written();
  reckoner::write(writer, report_);
  place.traffic.other(SentContent::prediction, 1, writer.bits_written() - before);
  if (report_.correction) {
    prediction.note_written(report_.correction->entities.size());
    if (report_.correction->total == 0) sent_.add(place.sequence, report_.correction->number);
  }
  return true;
}

// Copies the entities that were not written yet and fit. Returns false if none fits.
bool PredictionSection::fill(CorrectionPart& part, const CorrectionPart& whole, std::size_t most_bits) {
  part.number = whole.number;
  part.total = whole.total;
  part.reason = whole.reason;
  part.first = static_cast<std::uint8_t>(prediction_->written());
  std::size_t bits = CorrectionPart::kHeadBits;
  for (std::size_t i = part.first; i < whole.entities.size(); ++i) {
    bits += bits_of(whole.entities[i]);
    if (bits > most_bits) break;
    part.entities.push_back(whole.entities[i]);
  }
  return bits <= most_bits || !part.entities.empty();
}

}  // namespace reckoner
