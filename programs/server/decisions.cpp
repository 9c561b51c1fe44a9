// SPDX-License-Identifier: MIT
#include "programs/server/decisions.hpp"

#include "programs/common/sessions/decision_columns.hpp"

#include <cinttypes>
#include <utility>

namespace reckoner::program {

Result<std::unique_ptr<DecisionWriter>> DecisionWriter::open(const std::string& path) {
  std::FILE* const file = std::fopen(path.c_str(), "wb");
  if (file == nullptr) return Error{"could not write " + path};
  std::unique_ptr<DecisionWriter> writer(new DecisionWriter(file));
  writer->failed_ = std::fprintf(file, "%s\n", kDecisionColumns) < 0;
  return writer;
}

DecisionWriter::~DecisionWriter() {
  (void)close();
}

void DecisionWriter::published(const Published& p) {
  failed_ =
      failed_ || std::fprintf(file_, "published,%.6f,,%" PRIu32 ",%u,%u,%.6f,,%.6f,%.6f,%.*s\n", p.at_s,
                              p.entity.index1, unsigned{p.entity.generation}, unsigned{p.level}, p.motion_s,
                              p.error_m, p.threshold_m, static_cast<int>(p.cause.size()), p.cause.data()) < 0;
}

void DecisionWriter::delayed(const Delayed& d) {
  const std::string_view why = name_of(d.why);
  failed_ = failed_ ||
            std::fprintf(file_, "delayed,%.6f,%" PRIu32 ",%" PRIu32 ",%u,%u,%.6f,%.6f,,,%.*s\n", d.at_s,
                         d.client.value, d.entity.index1, unsigned{d.entity.generation}, unsigned{d.level},
                         d.motion_s, d.since_s, static_cast<int>(why.size()), why.data()) < 0;
}

bool DecisionWriter::close() {
  if (file_ == nullptr) return !failed_;
  failed_ = std::fclose(std::exchange(file_, nullptr)) != 0 || failed_;
  return !failed_;
}

}  // namespace reckoner::program
