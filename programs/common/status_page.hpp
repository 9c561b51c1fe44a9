// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include <reckoner/reckoning/result.hpp>

namespace reckoner::program {

/// A small HTTP server for those who watch a program: /metrics (Prometheus' text format) and /health, GET
/// only. It has neither passwords nor encryption: bind it where only those who may read it come.
class StatusPage {
 public:
  struct Health {
    bool well = true;  ///< answered with 200, else 503
    std::string text;  ///< one line
  };
  /// Both are called from other threads, at any time while the page lives.
  struct Content {
    std::function<std::string()> metrics;
    std::function<Health()> health;
  };

  /// Port 0: any free one. Fails if the address cannot be had.
  [[nodiscard]] static Result<std::unique_ptr<StatusPage>> open(const std::string& host, std::uint16_t port,
                                                                Content content);
  ~StatusPage();
  StatusPage(const StatusPage&) = delete;
  StatusPage& operator=(const StatusPage&) = delete;

  [[nodiscard]] std::uint16_t port() const;

 private:
  struct Impl;
  explicit StatusPage(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace reckoner::program
