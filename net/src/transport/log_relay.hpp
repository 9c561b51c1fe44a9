// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <reckoner/net/log.hpp>

namespace reckoner {

/// Log records that one thread has created and another thread will pass to the game's sink. Not thread-safe:
/// the caller locks.
class LogRelay {
 public:
  /// More waiting records than this are dropped, oldest first.
  static constexpr std::size_t kMaxWaiting = 256;

  /// Stores a copy of a record.
  void add(const LogRecord& record) {
    if (waiting_.size() == kMaxWaiting) {
      waiting_.erase(waiting_.begin());
      ++dropped_;
    }
    Stored stored{record.level, std::string(record.event), {}};
    for (const LogField& field : record.fields) {
      stored.fields.emplace_back(field.name,
                                 std::visit([](const auto& v) { return Value(kept(v)); }, field.value));
    }
    waiting_.push_back(std::move(stored));
  }

  /// Removes and returns everything that waits.
  [[nodiscard]] LogRelay take() { return std::exchange(*this, {}); }

  /// Passes the records to `sink`, oldest first.
  void pass_to(const LogSink& sink) const {
    if (dropped_ > 0) say(sink, LogLevel::warning, "log records dropped", {{"records", dropped_}});
    for (const Stored& stored : waiting_) {
      std::vector<LogField> fields;
      for (const auto& [name, value] : stored.fields)
        fields.push_back({name, std::visit([](const auto& v) { return Shown(v); }, value)});
      sink({stored.level, stored.event, fields});
    }
  }

  [[nodiscard]] bool empty() const { return waiting_.empty(); }

 private:
  using Value = std::variant<bool, std::int64_t, std::uint64_t, double, std::string>;
  using Shown = decltype(LogField::value);
  struct Stored {
    LogLevel level;
    std::string event;
    std::vector<std::pair<std::string, Value>> fields;
  };

  template <class T>
  static T kept(const T& value) {
    return value;
  }
  static std::string kept(const std::string_view& text) { return std::string(text); }

  std::vector<Stored> waiting_;
  std::uint64_t dropped_ = 0;
};

}  // namespace reckoner
