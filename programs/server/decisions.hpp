// SPDX-License-Identifier: MIT
#pragma once

#include "server/src/util/server_observer.hpp"

#include <cstdio>
#include <memory>
#include <string>

#include <reckoner/reckoning/result.hpp>

namespace reckoner::program {

/// Writes the decisions of a server to a CSV file (--decisions), for `reckoner-harness explain --decisions`.
/// The columns are those of kDecisionColumns. Not thread-safe.
class DecisionWriter final : public ServerObserver {
 public:
  /// Creates or truncates the file and writes the header.
  [[nodiscard]] static Result<std::unique_ptr<DecisionWriter>> open(const std::string& path);
  ~DecisionWriter() override;

  void published(const Published& published) override;
  void delayed(const Delayed& delayed) override;

  /// Closes the file. Returns false if any output was not written.
  [[nodiscard]] bool close();

 private:
  explicit DecisionWriter(std::FILE* file) : file_(file) {}

  std::FILE* file_ = nullptr;
  bool failed_ = false;
};

}  // namespace reckoner::program
