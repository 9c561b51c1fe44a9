// SPDX-License-Identifier: MIT
#pragma once

#include "harness/methods/method.hpp"
#include "scenario/source.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include <reckoner/client/client.hpp>

namespace reckoner::harness {

/// The client whose pictures a replay measures. Its clock is not the server's. Times are server time, s.
class Viewer {
 public:
  /// `transport` must outlive it; `source` is only read here.
  Viewer(const scenario::Source& source, ClientConfig config, Transport& transport);

  [[nodiscard]] Client& client() { return client_; }
  [[nodiscard]] static double local_s(double time_s);

  void receive(double time_s) { client_.receive(local_s(time_s)); }

  /// Draws a frame, and appends what is shown of the source's entities to `shown`, in order of entity.
  /// Returns all that is drawn.
  std::span<const ShownEntity> frame(double time_s, std::vector<ShownPose>& shown);

  [[nodiscard]] double delay_s() const { return client_.stats().delay_s; }
  /// Nothing until it knows the time.
  [[nodiscard]] std::optional<double> clock_error_s(double time_s) const;

 private:
  Client client_;
  std::unordered_map<std::string, std::size_t> indices_;  // of the source's entities, by name
};

}  // namespace reckoner::harness
