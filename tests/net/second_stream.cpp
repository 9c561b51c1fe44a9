// SPDX-License-Identifier: MIT
// Section 5.10 of docs/WIRE.md.
#include "second_decoder.hpp"

#include <cstdlib>

namespace second {

std::int64_t Stream::whole_offset(std::int64_t low) const {
  // Of all offsets with these bits that are not negative, the nearest one, and the lower of two.
  constexpr std::int64_t kPeriod = 1 << 24;
  std::int64_t nearest = low;
  for (std::int64_t n = lacking_ / kPeriod - 1; n <= lacking_ / kPeriod + 1; ++n) {
    const std::int64_t offset = n * kPeriod + low;
    if (n >= 0 && std::abs(offset - lacking_) < std::abs(nearest - lacking_)) nearest = offset;
  }
  return nearest;
}

bool Stream::may_add(const std::vector<Part>& parts) const {
  for (const Part& part : parts) {
    if (part.offset + static_cast<std::int64_t>(part.bytes.size()) > begin_ + 558'080) return false;
  }
  return true;
}

// Of bytes that arrive twice, the first ones count.
void Stream::add(const std::vector<Part>& parts) {
  for (const Part& part : parts) {
    for (std::size_t i = 0; i < part.bytes.size(); ++i) {
      const std::int64_t offset = part.offset + static_cast<std::int64_t>(i);
      if (offset == lacking_ && later_.empty()) {
        ready_.push_back(part.bytes[i]);
        ++lacking_;
      } else if (offset >= lacking_) {
        later_.emplace(offset, part.bytes[i]);
      }
    }
    for (auto at = later_.begin(); at != later_.end() && at->first == lacking_; at = later_.erase(at)) {
      ready_.push_back(at->second);
      ++lacking_;
    }
  }
}

std::optional<std::string> Stream::next() {
  std::size_t length = 0, head = 0;
  for (bool more = true; more && !broken_;) {
    if (head == ready_.size()) return std::nullopt;
    const auto byte = static_cast<unsigned char>(ready_[head]);
    length += static_cast<std::size_t>(byte % 128) << (7 * head);
    more = byte >= 128;
    ++head;
    if (more && head == 3) broken_ = true;
  }
  if (length == 0 || length > 33 * 1024) broken_ = true;
  if (broken_ || ready_.size() < head + length) return std::nullopt;
  const std::string message = ready_.substr(head, length);
  ready_.erase(0, head + length);
  begin_ += static_cast<std::int64_t>(head + length);
  return message;
}

}  // namespace second
