// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <utility>

#include <reckoner/cluster/bus.hpp>

namespace reckoner::cluster {

/// Requests to the tables of a bus, each with what to do with its answer. The bus must outlive the object.
class Requests {
 public:
  using Then = std::function<void(const BusAnswer&)>;

  explicit Requests(Bus& bus) : bus_(bus) {}

  void get(BusTable table, std::string_view key, Then then) {
    waiting_.emplace(bus_.get(table, key), std::move(then));
  }
  void put_if(BusTable table, std::string_view key, std::span<const std::byte> value, std::uint64_t revision,
              Then then) {
    waiting_.emplace(bus_.put_if(table, key, value, revision), std::move(then));
  }
  void list(BusTable table, Then then) { waiting_.emplace(bus_.list(table), std::move(then)); }

  /// Handles all answers that have arrived.
  void poll() {
    while (const auto answer = bus_.poll_answer()) {
      const auto found = waiting_.find(answer->request);
      if (found == waiting_.end()) continue;
      const Then then = std::move(found->second);
      waiting_.erase(found);
      then(*answer);
    }
  }
  [[nodiscard]] std::size_t waiting() const { return waiting_.size(); }

 private:
  Bus& bus_;
  std::unordered_map<std::uint64_t, Then> waiting_;
};

}  // namespace reckoner::cluster
