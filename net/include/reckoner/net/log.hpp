// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include <reckoner/reckoning/export.hpp>

namespace reckoner {

enum class LogLevel : std::uint8_t {
  debug,    ///< details that help to find an error in a program
  info,     ///< normal operation
  warning,  ///< unexpected, but operation continues
  error,    ///< an operation failed and is not tried again
};

/// Returns the name of a level: "debug", "info", "warning" or "error".
[[nodiscard]] constexpr std::string_view name_of(LogLevel level) {
  constexpr std::string_view kNames[] = {"debug", "info", "warning", "error"};
  return kNames[static_cast<std::size_t>(level)];
}

/// A detail of a log record. The name is in lower case with underscores. If the value has a unit, the name
/// ends with this unit.
struct LogField {
  std::string_view name;                                                            ///< name of the detail
  std::variant<bool, std::int64_t, std::uint64_t, double, std::string_view> value;  ///< its value
};

/// A log record about an event in a server, a client or a transport. All views are valid only during the call
/// of the sink.
struct LogRecord {
  LogLevel level = LogLevel::info;     ///< severity
  std::string_view event;              ///< constant text; `fields` contains the variable parts
  std::span<const LogField> fields{};  ///< details, in a fixed order
};

/// Receives the log records of a server, a client or a transport. The records are for operators and
/// programmers; a game must not use them as events. If the sink is empty, which is the default, no records
/// are created.
///
/// The sink is called during receive(), tick(), service() and other non-const calls, on the caller's thread.
/// It must not throw, and must not call the object that logs. Some events can be caused by anyone who sends a
/// datagram, even without a connection. Such events are counted, and the count is logged at most once a
/// second. Events that need a connection are logged once per connection.
using LogSink = std::function<void(const LogRecord&)>;

/// Logs a record if `sink` is not empty.
inline void say(const LogSink& sink, LogLevel level, std::string_view event,
                std::initializer_list<LogField> fields = {}) {
  if (sink) sink({level, event, {fields.begin(), fields.size()}});
}

/// Formats a record as one line without its level, for example `client refused reason="the server is full"`.
/// Text with special characters is quoted. Control characters, quotes and backslashes are escaped as in JSON.
[[nodiscard]] RECKONER_NET_API std::string text_of(const LogRecord& record);

}  // namespace reckoner
