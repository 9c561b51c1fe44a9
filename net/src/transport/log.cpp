// SPDX-License-Identifier: MIT
#include "net/src/transport/refusal_log.hpp"

#include <cstdio>

#include <reckoner/net/log.hpp>

namespace reckoner {
namespace {

bool is_plain(std::string_view text) {
  constexpr std::string_view kSpecial = "\"=\\";
  for (const char c : text) {
    if (static_cast<unsigned char>(c) <= ' ' || static_cast<unsigned char>(c) >= 0x7f ||
        kSpecial.find(c) != std::string_view::npos)
      return false;
  }
  return !text.empty();
}

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < ' ' || byte == 0x7f) {
      char escaped[8];
      std::snprintf(escaped, sizeof escaped, "\\u%04x", byte);
      out += escaped;
      continue;
    }
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

struct Printed {
  std::string operator()(bool value) const { return value ? "true" : "false"; }
  std::string operator()(std::int64_t value) const { return std::to_string(value); }
  std::string operator()(std::uint64_t value) const { return std::to_string(value); }
  std::string operator()(double value) const {
    char text[32];
    std::snprintf(text, sizeof text, "%.6g", value);
    return text;
  }
  std::string operator()(std::string_view value) const {
    return is_plain(value) ? std::string(value) : quoted(value);
  }
};

// A slow or lossy network causes these refusals. No end is at fault.
bool is_merely_late(Refusal why) {
  return why == Refusal::repeated || why == Refusal::too_old || why == Refusal::unknown_baseline;
}

}  // namespace

std::string text_of(const LogRecord& record) {
  std::string line(record.event);
  for (const LogField& field : record.fields) {
    line += ' ';
    line += field.name;
    line += '=';
    line += std::visit(Printed{}, field.value);
  }
  return line;
}

void RefusalLog::say(const LogSink& sink, std::string_view event, const RefusalCounts& counts) {
  for (std::size_t i = 0; i < RefusalCounts::kReasons; ++i) {
    const auto why = static_cast<Refusal>(i);
    const std::uint64_t more = counts[why] >= said_[why] ? counts[why] - said_[why] : counts[why];
    if (more == 0) continue;
    reckoner::say(sink, is_merely_late(why) ? LogLevel::debug : LogLevel::warning, event,
                  {{"reason", name_of(why)}, {"count", more}});
  }
  said_ = counts;
}

}  // namespace reckoner
