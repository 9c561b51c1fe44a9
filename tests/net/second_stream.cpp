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
  for (const Part& part : parts) {
    if (!part.unordered || part.offset <= lacking_) continue;
    const std::int64_t end = part.offset + static_cast<std::int64_t>(part.bytes.size());
    for (std::optional<std::int64_t> at = part.offset + *part.unordered; at && *at < end;) {
      begins_.insert(*at);
      const auto message = framed(*at);
      at = message ? std::optional{message->end} : std::nullopt;
    }
  }
}

// Where the message lies whose length begins at the offset; nullopt if its length or the first byte of the
// message lacks, or is wrong.
std::optional<Stream::Framed> Stream::framed(std::int64_t at) const {
  std::int64_t length = 0;
  for (int i = 0; i < 3; ++i, ++at) {
    const auto found = later_.find(at);
    if (found == later_.end()) return std::nullopt;
    const auto byte = static_cast<unsigned char>(found->second);
    length += std::int64_t{byte % 128} << (7 * i);
    if (byte >= 128) continue;
    if (length == 0 || length > 33 * 1024 || later_.count(at + 1) == 0) return std::nullopt;
    return Framed{at + 1, at + 1 + length};
  }
  return std::nullopt;
}

std::optional<std::string> Stream::next_early() {
  begins_.erase(begins_.begin(), begins_.lower_bound(lacking_));
  for (const std::int64_t begin : begins_) {
    const auto found = framed(begin);
    if (broken_ || early_.count(begin) == 1 || !found ||
        static_cast<unsigned char>(later_.at(found->begin)) % 16 != 13)
      continue;
    std::string message;
    for (auto at = later_.find(found->begin); at != later_.end() && at->first < found->end; ++at) {
      if (at->first == found->begin + static_cast<std::int64_t>(message.size())) message += at->second;
    }
    if (static_cast<std::int64_t>(message.size()) < found->end - found->begin) continue;
    early_.insert(begin);
    return message;
  }
  return std::nullopt;
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
  const std::int64_t end = begin_ + static_cast<std::int64_t>(head + length);
  early_.erase(begin_);
  if (!early_.empty() && *early_.begin() < end) broken_ = true;  // a message within a message
  if (broken_) return std::nullopt;
  const std::string message = ready_.substr(head, length);
  ready_.erase(0, head + length);
  begin_ += static_cast<std::int64_t>(head + length);
  return message;
}

}  // namespace second
