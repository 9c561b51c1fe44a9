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

/// Adds --log-level, --log-format and --quiet. `options` must outlive the parsing.
void add_log_options(CLI::App& app, LogOptions& options);

/// What a program has to say while it runs, on standard error: one line an event, with a time, a level and
/// named values. As text, or each line a JSON object with `time` (UTC), `level`, `program`, `event` and the
/// values under their names. Any thread.
class Log {
 public:
  using Fields = std::initializer_list<LogField>;

  Log(const std::string& program, const LogOptions& options);
  ~Log();
  Log(const Log&) = delete;
  Log& operator=(const Log&) = delete;

  void debug(std::string_view event, Fields fields = {}) { say(LogLevel::debug, event, fields); }
  void info(std::string_view event, Fields fields = {}) { say(LogLevel::info, event, fields); }
  void warn(std::string_view event, Fields fields = {}) { say(LogLevel::warning, event, fields); }
  void error(std::string_view event, Fields fields = {}) { say(LogLevel::error, event, fields); }

  /// As the libraries say it (LogSink).
  void say(const LogRecord& record);

 private:
  void say(LogLevel level, std::string_view event, Fields fields) {
    say({level, event, {fields.begin(), fields.size()}});
  }

  std::shared_ptr<spdlog::logger> logger_;
  bool json_;
};

/// Keeps what strangers can cause from filling the disk: so many lines a second are said, the others counted.
class LogLimit {
 public:
  explicit LogLimit(unsigned lines_per_second) : lines_per_second_(lines_per_second) {}

  /// True if one more may be said at `now_s`.
  [[nodiscard]] bool allows(double now_s);
  /// How many were not, until a second begins at `now_s`; 0 while it goes on. Then counts anew.
  [[nodiscard]] std::uint64_t take_suppressed(double now_s);

 private:
  unsigned lines_per_second_;
  double second_s_ = -1.0;
  unsigned said_ = 0;
  std::uint64_t suppressed_ = 0;
};

/// A sink of the libraries' that says so many lines a second in a log, and how many more there were.
class LimitedSink {
 public:
  /// `log` must outlive it.
  LimitedSink(Log& log, unsigned lines_per_second) : log_(log), limit_(lines_per_second) {}
  LimitedSink(const LimitedSink&) = delete;
  LimitedSink& operator=(const LimitedSink&) = delete;

  /// Lives as long as this. One thread at a time.
  [[nodiscard]] LogSink sink();
  /// To be called now and then: says what was left out in a second that is over.
  void say_rest();

 private:
  Log& log_;
  LogLimit limit_;
};

}  // namespace reckoner::program
