// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <queue>
#include <random>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <reckoner/cluster/bus.hpp>

namespace reckoner::cluster {

class SimBus;

/// How messages travel on a simulated bus.
struct SimBusConfig {
  double delay_s = 0.0004;   ///< from a process to the server, and back
  double jitter_s = 0.0004;  ///< largest additional delay
  double lease_s = 2.0;      ///< keys of BusTable::leases vanish after this time
  double timeout_s = 1.0;    ///< a request without an answer for this time is `unavailable`
  double notice_s = 1.0;     ///< a process notices a lost connection after this time
};

/// The server of a simulated bus, in virtual time. It must outlive its connections, and all of them must be
/// used with one clock. A process that is not serviced is paused: what it receives waits.
class SimHub {
 public:
  SimHub(const SimBusConfig& config, std::uint64_t seed) : config_(config), random_(seed) {}

  /// Stops the server: messages in flight are lost, and all connections break. Tables keep their values,
  /// as on a disk.
  void stop(double now_s);
  void start(double now_s);

  /// How the connection of a process is broken.
  enum class Cut : std::uint8_t {
    none,
    lose,   ///< what is sent is lost
    delay,  ///< what is sent arrives when the connection works again, as on TCP
  };
  void cut(SimBus& bus, Cut how, double now_s);

  /// Executes everything up to `now_s`.
  void advance(double now_s);

 private:
  friend class SimBus;
  enum class Kind : std::uint8_t { publish, get, put_if, put, list };
  struct Operation {
    double due_s = 0.0;
    std::uint64_t order = 0;
    SimBus* from = nullptr;
    Kind kind = Kind::publish;
    BusTable table = BusTable::leases;
    std::string name;  // subject or key
    std::vector<std::byte> bytes;
    std::uint64_t revision = 0;
    std::uint64_t request = 0;
  };
  struct Later {
    bool operator()(const Operation& a, const Operation& b) const {
      return a.due_s != b.due_s ? a.due_s > b.due_s : a.order > b.order;
    }
  };
  struct Stored {
    std::vector<std::byte> value;
    std::uint64_t revision = 0;
    double written_s = 0.0;
  };

  [[nodiscard]] double delay_s();
  void send(Operation operation, double now_s);
  void execute(const Operation& operation);
  [[nodiscard]] Stored* find(BusTable table, const std::string& key, double now_s);

  SimBusConfig config_;
  std::mt19937_64 random_;
  std::priority_queue<Operation, std::vector<Operation>, Later> operations_;
  std::map<std::string, Stored> tables_[kBusTables];
  std::uint64_t revisions_[kBusTables] = {};
  std::uint64_t order_ = 0;
  std::set<SimBus*> buses_;
  bool running_ = true;
};

/// The connection of one process to a simulated bus.
class SimBus : public Bus {
 public:
  explicit SimBus(SimHub& hub);
  ~SimBus() override;
  SimBus(const SimBus&) = delete;
  SimBus& operator=(const SimBus&) = delete;

  void service(double now_s) override;
  [[nodiscard]] bool connected() const override { return connected_; }
  void publish(std::string_view subject, std::span<const std::byte> payload) override;
  void subscribe(std::string_view subject) override { subjects_.emplace(subject); }
  void unsubscribe(std::string_view subject) override;
  [[nodiscard]] std::optional<BusMessage> poll() override;
  std::uint64_t get(BusTable table, std::string_view key) override;
  std::uint64_t put_if(BusTable table, std::string_view key, std::span<const std::byte> value,
                       std::uint64_t revision) override;
  void put(BusTable table, std::string_view key, std::span<const std::byte> value) override;
  std::uint64_t list(BusTable table) override;
  [[nodiscard]] std::optional<BusAnswer> poll_answer() override;
  [[nodiscard]] const BusStats& stats() const override { return stats_; }

 private:
  friend class SimHub;
  struct Delivery {
    double due_s = 0.0;
    std::optional<BusMessage> message;
    BusAnswer answer;
  };
  [[nodiscard]] bool wants(std::string_view subject) const;
  std::uint64_t request(SimHub::Operation operation);
  void deliver(Delivery delivery, double now_s);

  SimHub& hub_;
  double now_s_ = 0.0;
  std::set<std::string, std::less<>> subjects_;
  std::deque<Delivery> incoming_;
  std::deque<BusMessage> messages_;
  std::deque<BusAnswer> answers_;
  std::map<std::uint64_t, double> open_;  // requests and when they time out
  std::uint64_t next_request_ = 1;
  double last_sent_s_ = -1e300;      // when the last operation reaches the server
  double last_received_s_ = -1e300;  // when the last delivery arrives
  bool connected_ = true;
  SimHub::Cut cut_ = SimHub::Cut::none;
  std::optional<double> broken_since_s_;  // empty: the connection works
  std::vector<SimHub::Operation> held_;
  std::vector<Delivery> postponed_;
  BusStats stats_;
};

}  // namespace reckoner::cluster
