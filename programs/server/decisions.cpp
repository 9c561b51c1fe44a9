// SPDX-License-Identifier: MIT
#include "programs/server/decisions.hpp"

#include "programs/common/sessions/decision_columns.hpp"

#include <fmt/format.h>

namespace reckoner::program {

Result<std::unique_ptr<DecisionWriter>> DecisionWriter::open(const std::string& path) {
  auto file = scenario::OutputFile::create(path);
  if (!file) return Error{"could not write " + path + ": " + file.error()};
  file->write(fmt::format("{}\n", kDecisionColumns));
  return std::unique_ptr<DecisionWriter>(new DecisionWriter(std::move(*file)));
}

void DecisionWriter::published(const Published& p) {
  file_.write(fmt::format("published,{:.6f},,{},{},{},{:.6f},,{:.6f},{:.6f},{}\n", p.at_s, p.entity.index1,
                          p.entity.generation, p.level, p.motion_s, p.error_m, p.threshold_m, p.cause));
}

void DecisionWriter::delayed(const Delayed& d) {
  file_.write(fmt::format("delayed,{:.6f},{},{},{},{},{:.6f},{:.6f},,,{}\n", d.at_s, d.client.value,
                          d.entity.index1, d.entity.generation, d.level, d.motion_s, d.since_s,
                          name_of(d.why)));
}

}  // namespace reckoner::program
