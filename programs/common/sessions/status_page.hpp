// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include <reckoner/reckoning/result.hpp>

namespace reckoner::program {

/// A small HTTP server for monitoring: /metrics (Prometheus text format) and /health, GET only. The server
/// has no passwords and no encryption, so the caller must bind it to an address that only authorised readers
/// can reach.
class StatusPage {
 public:
  struct Health {
    bool well = true;  ///< true: status 200; false: status 503
    std::string text;  ///< one line of text
  };
  /// Functions that return the pages. Other threads call them at any time until the StatusPage is destroyed.
  struct Content {
    std::function<std::string()> metrics;
    std::function<Health()> health;
  };

  /// Starts the server on `host` and `port`. Port 0 means any free port. Fails if the address cannot be
  /// bound.
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
