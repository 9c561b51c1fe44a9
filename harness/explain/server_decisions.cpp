// SPDX-License-Identifier: MIT
#include "harness/explain/server_decisions.hpp"

#include "programs/common/sessions/decision_columns.hpp"
#include "scenario/trace/csv.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

namespace reckoner::harness {
namespace {

using scenario::CsvCursor;
using scenario::expected;

constexpr std::size_t kFields = 11;
constexpr std::string_view kHeader = program::kDecisionColumns;
// The file has six decimals.
constexpr double kRoundingS = 2e-6;

template <class T>
std::optional<T> whole(std::string_view text) {
  const auto value = scenario::parse_number(text);
  if (!value || *value < 0.0 || *value > static_cast<double>(std::numeric_limits<T>::max()) ||
      *value != std::floor(*value))
    return std::nullopt;
  return static_cast<T>(*value);
}

std::optional<DelayFact::Why> why_of(std::string_view text) {
  if (text == "budget") return DelayFact::Why::budget;
  if (text == "repair") return DelayFact::Why::repair;
  if (text == "late") return DelayFact::Why::late;
  if (text == "turn") return DelayFact::Why::turn;
  return std::nullopt;
}

// Reads a record. Returns the index of the first wrong field, or nullopt.
std::optional<std::size_t> read_record(const std::vector<std::string_view>& f, ServerDecisions& out) {
  const bool published = f[0] == "published";
  if (!published && f[0] != "delayed") return 0;
  const auto at_s = scenario::parse_number(f[1]);
  const auto client = published ? std::optional<std::uint32_t>(0) : whole<std::uint32_t>(f[2]);
  const auto index1 = whole<std::uint32_t>(f[3]);
  const auto generation = whole<std::uint16_t>(f[4]);
  const auto level = whole<std::uint8_t>(f[5]);
  const auto motion_s = scenario::parse_number(f[6]);
  if (!at_s) return 1;
  if (!client) return 2;
  if (!index1) return 3;
  if (!generation) return 4;
  if (!level) return 5;
  if (!motion_s) return 6;
  const EntityId entity{*index1, *generation};
  if (!published) {
    const auto since_s = scenario::parse_number(f[7]);
    const auto why = why_of(f[10]);
    if (!since_s) return 7;
    if (!why) return 10;
    out.delayed.push_back({ClientId{*client}, entity, *level, *at_s, *motion_s, *since_s, *why});
    return std::nullopt;
  }
  const auto error_m = scenario::parse_number(f[8]);
  const auto threshold_m = scenario::parse_number(f[9]);
  if (!error_m) return 8;
  if (!threshold_m) return 9;
  out.published.push_back({entity, *level, *at_s, *motion_s, *error_m, *threshold_m, std::string(f[10])});
  return std::nullopt;
}

bool is_at(double a_s, double b_s) {
  return std::abs(a_s - b_s) <= kRoundingS;
}

}  // namespace

const PublishFact* ServerDecisions::publication(EntityId entity, std::uint8_t level, double motion_s) const {
  // A motion is published in the tick of its time stamp or, from an owner, later.
  for (auto it = std::ranges::lower_bound(published, motion_s - kRoundingS, {}, &PublishFact::at_s);
       it != published.end() && it->at_s < motion_s + 5.0; ++it) {
    if (it->entity == entity && it->level == level && is_at(it->motion_s, motion_s)) return &*it;
  }
  return nullptr;
}

const DelayFact* ServerDecisions::delay(ClientId client, EntityId entity, double motion_s) const {
  const DelayFact* found = nullptr;
  for (auto it = std::ranges::lower_bound(delayed, motion_s - kRoundingS, {}, &DelayFact::at_s);
       it != delayed.end() && it->at_s < motion_s + 30.0; ++it) {
    const bool is_it = it->client == client && it->entity == entity && is_at(it->motion_s, motion_s);
    if (is_it && (found == nullptr || it->why != DelayFact::Why::repair)) found = &*it;
  }
  return found;
}

Result<ServerDecisions> parse_decisions(std::string_view text, std::string_view name) {
  static constexpr const char* kNames[kFields] = {"'published' or 'delayed'",
                                                  "a time",
                                                  "a client",
                                                  "an entity",
                                                  "a generation",
                                                  "a level",
                                                  "a time",
                                                  "a time",
                                                  "a distance",
                                                  "a distance",
                                                  "budget, repair or late"};
  ServerDecisions decisions;
  CsvCursor cursor(text);
  std::vector<std::string_view> fields;
  bool first = true;
  for (;;) {
    const CsvCursor::Step step = cursor.next(fields);
    if (step == CsvCursor::Step::bad_quoting)
      return expected(name, cursor.line(), "a CSV record", "bad quoting");
    if (step == CsvCursor::Step::end) break;
    if (first) {
      std::string header;
      for (const std::string_view field : fields)
        header.append(header.empty() ? "" : ",").append(field);
      if (header != kHeader)
        return expected(name, cursor.line(), "the header " + std::string(kHeader), header);
      first = false;
      continue;
    }
    if (fields.size() != kFields)
      return expected(name, cursor.line(), std::to_string(kFields) + " fields",
                      std::to_string(fields.size()));
    if (const auto wrong = read_record(fields, decisions))
      return expected(name, cursor.line(), kNames[*wrong], fields[*wrong]);
  }
  if (first) return expected(name, 1, "the header " + std::string(kHeader), "nothing");
  std::ranges::stable_sort(decisions.published, {}, &PublishFact::at_s);
  std::ranges::stable_sort(decisions.delayed, {}, &DelayFact::at_s);
  return decisions;
}

}  // namespace reckoner::harness
