// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <vector>

namespace reckoner {

/// The bytes of a stream from the offset `begin` to before the offset `end`.
struct ByteRange {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;

  [[nodiscard]] std::uint64_t size() const { return end - begin; }
  bool operator==(const ByteRange&) const = default;
};

/// A set of bytes of a stream: ranges in ascending order that neither overlap nor touch. Few ranges are
/// expected; a change takes time in proportion to their number, and a search to its logarithm.
class ByteRanges {
 public:
  [[nodiscard]] std::span<const ByteRange> ranges() const { return ranges_; }
  [[nodiscard]] bool empty() const { return ranges_.empty(); }
  /// The first range; the set must not be empty.
  [[nodiscard]] const ByteRange& first() const { return ranges_.front(); }
  /// The first offset from `from` on whose byte is not in the set.
  [[nodiscard]] std::uint64_t first_missing(std::uint64_t from) const {
    const auto after =
        std::upper_bound(ranges_.begin(), ranges_.end(), from,
                         [](std::uint64_t offset, const ByteRange& r) { return offset < r.begin; });
    return after != ranges_.begin() ? std::max(from, std::prev(after)->end) : from;
  }
  /// Number of bytes in the set.
  [[nodiscard]] std::uint64_t size() const {
    std::uint64_t sum = 0;
    for (const ByteRange& range : ranges_)
      sum += range.size();
    return sum;
  }

  void add(ByteRange added) {
    if (added.begin >= added.end) return;
    const auto from = std::lower_bound(ranges_.begin(), ranges_.end(), added.begin,
                                       [](const ByteRange& r, std::uint64_t begin) { return r.end < begin; });
    auto to = from;
    for (; to != ranges_.end() && to->begin <= added.end; ++to) {
      added.begin = std::min(added.begin, to->begin);
      added.end = std::max(added.end, to->end);
    }
    ranges_.insert(ranges_.erase(from, to), added);
  }

  void remove(const ByteRange& removed) {
    if (removed.begin >= removed.end) return;
    for (std::size_t i = 0; i < ranges_.size();) {
      const ByteRange range = ranges_[i];
      if (range.end <= removed.begin || removed.end <= range.begin) {
        ++i;
        continue;
      }
      ranges_.erase(ranges_.begin() + static_cast<std::ptrdiff_t>(i));
      if (removed.end < range.end)
        ranges_.insert(ranges_.begin() + static_cast<std::ptrdiff_t>(i), {removed.end, range.end});
      if (range.begin < removed.begin)
        ranges_.insert(ranges_.begin() + static_cast<std::ptrdiff_t>(i++), {range.begin, removed.begin});
    }
  }
  /// Removes all bytes before the offset.
  void remove_before(std::uint64_t offset) { remove({0, offset}); }

  void clear() { ranges_.clear(); }

 private:
  std::vector<ByteRange> ranges_;
};

}  // namespace reckoner
