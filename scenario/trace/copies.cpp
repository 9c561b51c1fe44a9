// SPDX-License-Identifier: MIT
#include "scenario/trace/copies.hpp"

#include <cmath>
#include <string>
#include <utility>
#include <vector>

namespace reckoner::scenario {
namespace {

class Copies final : public Source {
 public:
  Copies(std::unique_ptr<Source> recording, std::size_t count) : recording_(std::move(recording)) {
    const std::size_t originals = recording_->size();
    const std::size_t rounds = (count + originals - 1) / originals;
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t original = i % originals;
      SourceEntity entity = recording_->entity(original);
      const std::size_t round = i / originals;
      const double share = static_cast<double>(round) / static_cast<double>(rounds);
      const double ahead_s = share * (entity.last_s - entity.first_s);
      entity.name += "#" + std::to_string(round + 1);
      entity.first_s = recording_->start_s();
      entity.last_s = recording_->end_s();
      copies_.push_back({entity, original, ahead_s});
    }
  }

  std::size_t size() const override { return copies_.size(); }
  const SourceEntity& entity(std::size_t index) const override { return copies_[index].entity; }
  Pose pose(std::size_t index, double time_s) const override {
    return recording_->pose(copies_[index].original, in_loop(index, time_s).recorded_s);
  }
  bool teleports_within(std::size_t index, double from_s, double to_s) const override {
    const Place from = in_loop(index, from_s);
    const Place to = in_loop(index, to_s);
    return from.turn != to.turn ||
           recording_->teleports_within(copies_[index].original, from.recorded_s, to.recorded_s);
  }
  bool in_gap(std::size_t index, double time_s) const override {
    return recording_->in_gap(copies_[index].original, in_loop(index, time_s).recorded_s);
  }
  double start_s() const override { return recording_->start_s(); }
  double end_s() const override { return recording_->end_s(); }

 private:
  struct Copy {
    SourceEntity entity;
    std::size_t original;  // index in the recording
    double ahead_s;        // place in the loop at the start, s
  };
  struct Place {
    double turn;        // number of finished turns of the loop
    double recorded_s;  // time in the recording, s
  };

  [[nodiscard]] Place in_loop(std::size_t index, double time_s) const {
    const Copy& copy = copies_[index];
    const SourceEntity& original = recording_->entity(copy.original);
    const double length_s = original.last_s - original.first_s;
    if (!(length_s > 0.0)) return {0.0, original.first_s};
    const double played_s = time_s - start_s() + copy.ahead_s;
    const double turn = std::floor(played_s / length_s);
    return {turn, original.first_s + (played_s - turn * length_s)};
  }

  std::unique_ptr<Source> recording_;
  std::vector<Copy> copies_;
};

}  // namespace

Result<std::unique_ptr<Source>> copies_of(std::unique_ptr<Source> recording, std::size_t count) {
  if (count == 0 || recording->size() == 0) return Error{"a world of copies needs at least one entity"};
  for (std::size_t i = 0; i < recording->size(); ++i) {
    if (!std::isfinite(recording->entity(i).last_s - recording->entity(i).first_s))
      return Error{"only recordings that end can be copied"};
  }
  return std::unique_ptr<Source>(std::make_unique<Copies>(std::move(recording), count));
}

}  // namespace reckoner::scenario
