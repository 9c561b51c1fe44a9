// SPDX-License-Identifier: MIT
#include "programs/common/log.hpp"

#include "programs/common/loop/clock.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <spdlog/logger.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/stdout_color_sinks.h>

namespace reckoner::program {
namespace {

// Quotes a text and replaces invalid UTF-8. Names come from traces and reasons from the network, so both may
// contain invalid UTF-8.
std::string quoted(std::string_view text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

constexpr spdlog::level::level_enum kLevels[] = {spdlog::level::debug, spdlog::level::info,
                                                 spdlog::level::warn, spdlog::level::err};

struct AsJson {
  std::string operator()(std::string_view text) const { return quoted(text); }
  std::string operator()(bool value) const { return value ? "true" : "false"; }
  std::string operator()(double value) const { return nlohmann::json(value).dump(); }
  std::string operator()(std::int64_t value) const { return fmt::format("{}", value); }
  std::string operator()(std::uint64_t value) const { return fmt::format("{}", value); }
};

}  // namespace

void add_log_options(CLI::App& app, LogOptions& options) {
  app.add_option("--log-level", options.level, "lowest level of the log records to print")
      ->check(CLI::IsMember({"debug", "info", "warning", "error", "off"}))
      ->capture_default_str();
  app.add_option("--log-format", options.format, "format of the log: text, or json with one object per line")
      ->check(CLI::IsMember({"text", "json"}))
      ->capture_default_str();
  app.add_flag("--quiet", options.quiet, "same as --log-level warning");
}

Log::Log(const std::string& program, const LogOptions& options) : json_(options.format == "json") {
  logger_ =
      std::make_shared<spdlog::logger>(program, std::make_shared<spdlog::sinks::stderr_color_sink_mt>());
  if (json_) {
    logger_->set_formatter(std::make_unique<spdlog::pattern_formatter>(
        R"({"time":"%Y-%m-%dT%H:%M:%S.%eZ","level":"%l","program":"%n",%v})",
        spdlog::pattern_time_type::utc));
  } else {
    logger_->set_pattern("[%Y-%m-%d %H:%M:%S.%e] [%n] [%^%l%$] %v");
  }
  auto level = spdlog::level::from_str(options.level);
  if (options.quiet && level < spdlog::level::warn) level = spdlog::level::warn;
  logger_->set_level(level);
  logger_->flush_on(spdlog::level::trace);
}

Log::~Log() = default;

void Log::write(const LogRecord& record) {
  const auto level = kLevels[static_cast<std::size_t>(record.level)];
  if (!logger_->should_log(level)) return;
  std::string line;
  if (json_) {
    line = "\"event\":" + quoted(record.event);
    for (const LogField& field : record.fields)
      line += fmt::format(",{}:{}", quoted(field.name), std::visit(AsJson{}, field.value));
  } else {
    line = text_of(record);
  }
  logger_->log(level, spdlog::string_view_t(line));
}

bool LogLimit::allows(double now_s) {
  if (now_s - second_s_ >= 1.0) {
    second_s_ = now_s;
    written_ = 0;
  }
  if (written_ < lines_per_second_) {
    ++written_;
    return true;
  }
  ++suppressed_;
  return false;
}

std::uint64_t LogLimit::take_suppressed(double now_s) {
  if (now_s - second_s_ < 1.0) return 0;
  const std::uint64_t suppressed = suppressed_;
  suppressed_ = 0;
  return suppressed;
}

LogSink LimitedSink::sink() {
  return [this](const LogRecord& record) {
    if (limit_.allows(monotonic_s())) log_.write(record);
  };
}

void LimitedSink::write_suppressed() {
  if (const auto more = limit_.take_suppressed(monotonic_s()); more > 0)
    log_.warn("log records suppressed", {{"events", more}});
}

}  // namespace reckoner::program
