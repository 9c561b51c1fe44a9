// SPDX-License-Identifier: MIT
#include "capi/src/log.hpp"

#include <new>
#include <string>
#include <variant>
#include <vector>

namespace reckoner::capi {
namespace {

static_assert(static_cast<int>(LogLevel::debug) == RECKONER_LOG_DEBUG &&
              static_cast<int>(LogLevel::error) == RECKONER_LOG_ERROR);

// A record in C, and the texts that it points to.
class Record {
 public:
  explicit Record(const LogRecord& record) : event_(record.event), line_(text_of(record)) {
    texts_.reserve(2 * record.fields.size());  // pointers to the texts must stay valid
    for (const LogField& field : record.fields) {
      reckoner_log_field& c = fields_.emplace_back();
      c.name = texts_.emplace_back(field.name).c_str();
      std::visit([&](const auto& value) { put(value, c); }, field.value);
    }
    c_.struct_size = sizeof c_;
    c_.level = static_cast<std::int32_t>(record.level);
    c_.event = event_.c_str();
    c_.line = line_.c_str();
    c_.fields = fields_.data();
    c_.field_count = static_cast<std::uint32_t>(fields_.size());
  }
  Record(const Record&) = delete;
  Record& operator=(const Record&) = delete;

  [[nodiscard]] const reckoner_log_record& c() const { return c_; }

 private:
  static void put(bool value, reckoner_log_field& c) {
    c.type = RECKONER_LOG_BOOLEAN;
    c.integer = value ? 1 : 0;
  }
  static void put(std::int64_t value, reckoner_log_field& c) {
    c.type = RECKONER_LOG_INTEGER;
    c.integer = value;
  }
  static void put(std::uint64_t value, reckoner_log_field& c) {
    c.type = RECKONER_LOG_UNSIGNED;
    c.unsigned_integer = value;
  }
  static void put(double value, reckoner_log_field& c) {
    c.type = RECKONER_LOG_REAL;
    c.real = value;
  }
  void put(std::string_view value, reckoner_log_field& c) {
    c.type = RECKONER_LOG_TEXT;
    c.text = texts_.emplace_back(value).c_str();
  }

  std::string event_;
  std::string line_;
  std::vector<std::string> texts_;
  std::vector<reckoner_log_field> fields_;
  reckoner_log_record c_{};
};

}  // namespace

LogSink log_sink(reckoner_log_function function, void* user, std::int32_t least) {
  if (function == nullptr) return {};
  return [=](const LogRecord& record) {
    if (static_cast<std::int32_t>(record.level) < least) return;
    try {
      function(user, &Record(record).c());
    } catch (const std::bad_alloc&) {
      // Out of memory: drops the line.
    }
  };
}

}  // namespace reckoner::capi
