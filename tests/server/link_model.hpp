// SPDX-License-Identifier: MIT
#pragma once

#include "harness/sim/link.hpp"
#include "net/src/link/link_estimate.hpp"
#include "server/src/session/byte_budget.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <vector>

namespace reckoner::test {

/// A server that sends one client what its ByteBudget allows, over a bottleneck and a link, in virtual time.
/// Like a Reckoner client, the client acknowledges every 8 datagrams or every 50 ms and names the last 32
/// datagrams.
class LinkModel {
 public:
  struct Options {
    harness::LinkOptions down;  ///< its rate and queue describe the bottleneck
    harness::LinkOptions up{};
    double demand = 1e9;  ///< payload that the server has to send, bytes/s
    double most = 256e3;  ///< configured budget, bytes/s; 0: none
    double tick_s = 1.0 / 60.0;
    std::uint64_t seed = 1;
  };

  explicit LinkModel(const Options& options);

  /// Runs until this time. The figures that the functions below return cover this interval only.
  void run_to(double end_s);

  /// Changes the link from the server to the client from now on.
  void change(const harness::LinkOptions& down);

  /// The client acknowledges nothing until this time.
  void silence_until(double time_s) { silent_until_s_ = time_s; }

  [[nodiscard]] double time_s() const { return time_s_; }
  [[nodiscard]] const ByteBudget& budget() const { return budget_; }

  [[nodiscard]] double sent_rate() const { return figures_.sent / figures_.seconds; }
  [[nodiscard]] double delivered_rate() const { return figures_.delivered / figures_.seconds; }
  /// Delivered bytes divided by the bytes that the bottleneck could have carried.
  [[nodiscard]] double utilisation() const;
  /// Quantile over all ticks of the delay (s) that the bottleneck's queue would add to a new datagram.
  [[nodiscard]] double queue_s(double quantile) const;
  /// Share of the ticks after which more data was unsent than the demand produces in 100 ms.
  [[nodiscard]] double postponed() const;
  [[nodiscard]] double lowest_rate() const { return figures_.lowest_rate; }
  [[nodiscard]] double highest_rate() const { return figures_.highest_rate; }

 private:
  struct Datagram {
    double sent_s;
    std::size_t bytes;
    bool settled = false, acknowledged = false;
  };
  struct Acknowledgement {
    std::vector<std::size_t> sequences;
    double delay_s;
  };
  struct Figures {
    std::vector<double> queue_s;
    std::size_t postponed = 0;
    double sent = 0.0, delivered = 0.0, seconds = 0.0;
    double lowest_rate = 1e18, highest_rate = 0.0;
  };

  void tick();
  void send(double wire_bytes);
  void client_receives();
  void client_acknowledges(double at_s);
  void server_receives();
  void give_up();

  Options options_;
  ByteBudget budget_;
  harness::Link down_, up_;
  Figures figures_;
  double time_s_ = 0.0;
  double silent_until_s_ = 0.0;

  double backlog_ = 0.0;  // bytes
  double line_free_s_ = 0.0;
  double last_send_s_ = 0.0;
  LinkEstimate link_;
  std::deque<Datagram> datagrams_;  // index: sequence number
  std::size_t oldest_open_ = 0, newest_acknowledged_ = 0;
  std::multimap<double, std::size_t> arrivals_;  // sequence numbers by arrival time
  std::multimap<double, Acknowledgement> acknowledgements_;

  std::deque<std::size_t> received_;  // the most recently received sequence numbers
  std::size_t newest_received_ = 0, unacknowledged_ = 0;
  double newest_received_s_ = 0.0;
  double acknowledge_at_s_ = 1e18;
};

}  // namespace reckoner::test
