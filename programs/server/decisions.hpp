// SPDX-License-Identifier: MIT
#pragma once

#include "scenario/trace/output_file.hpp"
#include "server/src/util/server_observer.hpp"

#include <memory>
#include <string>
#include <utility>

#include <reckoner/reckoning/result.hpp>

namespace reckoner::program {

/// Writes the decisions of a server to a CSV file (--decisions), for `reckoner-harness explain --decisions`.
/// The columns are those of kDecisionColumns. Not thread-safe.
class DecisionWriter final : public ServerObserver {
 public:
  /// Creates the file and writes the header.
  [[nodiscard]] static Result<std::unique_ptr<DecisionWriter>> open(const std::string& path);

  void published(const Published& published) override;
  void delayed(const Delayed& delayed) override;

  /// Completes the file. Returns false if any output was not written; then no partial file remains, and an
  /// earlier file with this name is unchanged.
  [[nodiscard]] bool close() { return file_.close(); }

 private:
  explicit DecisionWriter(scenario::OutputFile file) : file_(std::move(file)) {}

  scenario::OutputFile file_;
};

}  // namespace reckoner::program
