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
  debug,    ///< details for finding a fault
  info,     ///< normal operation
  warning,  ///< unexpected, but operation continues
  error,    ///< something failed and was abandoned
};

/// Returns the level in lower case: "debug", "info", "warning", "error".
[[nodiscard]] constexpr std::string_view name_of(LogLevel level) {
  constexpr std::string_view kNames[] = {"debug", "info", "warning", "error"};
  return kNames[static_cast<std::size_t>(level)];
}

/// A detail of a log record. Names are in lower case with underscores and end with the unit, if there is one.
struct LogField {
  std::string_view name;                                                            ///< name of the detail
  std::variant<bool, std::int64_t, std::uint64_t, double, std::string_view> value;  ///< its value
};

/// An event inside a server, a client or a transport, for the log. All views are valid only during the call.
struct LogRecord {
  LogLevel level = LogLevel::info;     ///< severity
  std::string_view event;              ///< fixed text; variable parts are in `fields`
  std::span<const LogField> fields{};  ///< details, in a fixed order
};

/// Receives the log records of a server, a client or a transport, for an operator or a programmer. (Events
/// for the game are reported elsewhere.) Empty, the default: no log, and no record is built.
///
/// The sink is called during receive(), tick(), service() and other non-const calls, on the caller's thread.
/// It must not throw, and must not call the object that logs. Events that any stranger can cause with a
/// datagram are added up and logged at most once a second. Events that need a connection are logged once per
/// connection.
using LogSink = std::function<void(const LogRecord&)>;

/// Logs a record if `sink` is not empty.
inline void say(const LogSink& sink, LogLevel level, std::string_view event,
                std::initializer_list<LogField> fields = {}) {
  if (sink) sink({level, event, {fields.begin(), fields.size()}});
}

/// Formats a record as one line without its level: `client refused reason="the server is full"`. Text with
/// special characters is quoted. Control characters, quotes and backslashes are escaped as in JSON.
[[nodiscard]] RECKONER_NET_API std::string text_of(const LogRecord& record);

}  // namespace reckoner
