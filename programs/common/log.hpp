// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>

#include <reckoner/net/log.hpp>

namespace spdlog {
class logger;
}

namespace CLI {
class App;
}

namespace reckoner::program {

struct LogOptions {
  std::string level = "info";
  std::string format = "text";
  bool quiet = false;
};

/// Adds the options --log-level, --log-format and --quiet. `options` must exist until the command line is
/// parsed.
void add_log_options(CLI::App& app, LogOptions& options);

/// Writes the program's log to standard error: one line for each event, with time, level and named values.
/// The format is text, or one JSON object per line with `time` (UTC), `level`, `program`, `event` and the
/// values under their names. Thread-safe.
class Log {
 public:
  using Fields = std::initializer_list<LogField>;

  Log(const std::string& program, const LogOptions& options);
  ~Log();
  Log(const Log&) = delete;
  Log& operator=(const Log&) = delete;

  void debug(std::string_view event, Fields fields = {}) { write(LogLevel::debug, event, fields); }
  void info(std::string_view event, Fields fields = {}) { write(LogLevel::info, event, fields); }
  void warn(std::string_view event, Fields fields = {}) { write(LogLevel::warning, event, fields); }
  void error(std::string_view event, Fields fields = {}) { write(LogLevel::error, event, fields); }

  /// Writes a log record that comes from the libraries. Use it as their LogSink.
  void write(const LogRecord& record);

 private:
  void write(LogLevel level, std::string_view event, Fields fields) {
    write({level, event, {fields.begin(), fields.size()}});
  }

  std::shared_ptr<spdlog::logger> logger_;
  bool json_;
};

/// Limits the lines per second that unknown peers can cause, so that they cannot fill the disk. Counts the
/// suppressed lines.
class LogLimit {
 public:
  explicit LogLimit(unsigned lines_per_second) : lines_per_second_(lines_per_second) {}

  /// True if a line may be written at `now_s`. If not, counts the line as suppressed.
  [[nodiscard]] bool allows(double now_s);
  /// When a new second has begun at `now_s`, returns the number of lines that were suppressed before, and
  /// resets it. Otherwise returns 0.
  [[nodiscard]] std::uint64_t take_suppressed(double now_s);

 private:
  unsigned lines_per_second_;
  double second_s_ = -1e300;
  unsigned written_ = 0;
  std::uint64_t suppressed_ = 0;
};

/// A log sink for the libraries. It writes a limited number of lines per second to a log, and then the number
/// of suppressed lines.
class LimitedSink {
 public:
  /// `log` must outlive this object.
  LimitedSink(Log& log, unsigned lines_per_second) : log_(log), limit_(lines_per_second) {}
  LimitedSink(const LimitedSink&) = delete;
  LimitedSink& operator=(const LimitedSink&) = delete;

  /// Returns the sink. This object must outlive the sink. Not thread-safe.
  [[nodiscard]] LogSink sink();
  /// Writes the number of lines that were suppressed in the last second. Call it regularly.
  void write_suppressed();

 private:
  Log& log_;
  LogLimit limit_;
};

}  // namespace reckoner::program
