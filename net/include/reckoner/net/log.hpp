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
  debug,    ///< for whoever looks for a fault
  info,     ///< as it should be
  warning,  ///< not as it should be; all goes on
  error,    ///< something is given up
};

/// In lower case: "debug", "info", "warning", "error".
[[nodiscard]] constexpr std::string_view name_of(LogLevel level) {
  constexpr std::string_view kNames[] = {"debug", "info", "warning", "error"};
  return kNames[static_cast<std::size_t>(level)];
}

/// Something that is known of an event: lower case with underscores, and the unit in the name where it has
/// one.
struct LogField {
  std::string_view name;                                                            ///< what is known
  std::variant<bool, std::int64_t, std::uint64_t, double, std::string_view> value;  ///< of it
};

/// Something that happened inside a server, a client or a transport. All of it is valid during the call only.
struct LogRecord {
  LogLevel level = LogLevel::info;  ///< how grave it is
  std::string_view event;  ///< what happened: a fixed text, without what changes from one to the next
  std::span<const LogField> fields{};  ///< what is known of it, in a fixed order
};

/// Where a server, a client or a transport says what happens, for an operator or a programmer; the game's own
/// news come as events. Empty, as it is by default: nowhere, and nothing is put together for it.
///
/// Called from within receive(), tick(), service() and the other calls that change something, by the thread
/// that makes them. It must not throw, nor call what it is called from. What a stranger can cause by a
/// datagram is said once a second at most, added up; what takes a connection, once for each.
using LogSink = std::function<void(const LogRecord&)>;

/// Says something, if there is where to.
inline void say(const LogSink& sink, LogLevel level, std::string_view event,
                std::initializer_list<LogField> fields = {}) {
  if (sink) sink({level, event, {fields.begin(), fields.size()}});
}

/// A record in one line, without its level: `client refused reason="the server is full"`. Texts with other
/// than plain characters are in quotes, and what could end the line, or its quotes, is escaped as in JSON.
[[nodiscard]] RECKONER_NET_API std::string text_of(const LogRecord& record);

}  // namespace reckoner
