// SPDX-License-Identifier: MIT
#include "client/src/testing/test_switches.hpp"
#include "harness/report/report_error.hpp"
#include "harness/sim/sim_transport.hpp"
#include "harness/stress/load/recording/resource_use.hpp"
#include "harness/stress/soak/numbered.hpp"
#include "harness/stress/soak/soak.hpp"
#include "harness/stress/soak/wrap_watch.hpp"
#include "net/src/messages/messages.hpp"
#include "scenario/builtin/random.hpp"
#include "server/src/test_switches.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <utility>

#include <fmt/core.h>
#include <glm/geometric.hpp>

#include <reckoner/client/client.hpp>
#include <reckoner/server/server.hpp>

namespace reckoner::harness {
namespace {

constexpr double kTickHz = 75.0;
constexpr std::size_t kTicksPerTurn = 2;  // a client runs every second tick
constexpr std::size_t kTurnsPerFrame = 3;
// Clients that never leave and run every tick, so that all 16-bit counters wrap.
constexpr std::size_t kSteady = 8;
constexpr std::int64_t kWrapsPerHour = 3;  // least number of wraps
// When the server is killed, as a share of the run; early, because its counters start again at 0.
constexpr double kKilled = 0.05;
constexpr double kCalmEndS = 40.0;  // at the end; clients can rejoin and correct their poses
constexpr double kRejoinS = 15.0;
constexpr double kMeanVirtualStayS = 60.0;
constexpr double kVirtualSampleS = 5.0;
constexpr double kClearS = 15.0;        // at the end; no datagram is lost
constexpr double kVirtualCheckS = 5.0;  // at the end; everything must be right
constexpr double kWrongM = 0.25;
// While datagrams are lost, an entity may be shown wrong until the loss is repaired. A repair takes the round
// trip, four deviations, the one-way delay, the acknowledgement interval and two ticks, which is 0.45 s on
// this link; the blend takes up to 0.1 s. The limit allows for two more losses in a row, which happens once
// in ten thousand losses.
constexpr double kRepairedS = 3 * 0.45 + 0.1;

// A link script with a different fault each minute. Between the faults the link is good.
std::string script_for(double seconds) {
  constexpr const char* kFair = "network=intercity loss=1 duplicate=0";
  constexpr const char* kFaults[] = {"loss=100",
                                     "up loss=100",
                                     "down loss=100",
                                     "loss=30 burst=6",
                                     "duplicate=50",
                                     "latency-ms=20 jitter-ms=150",
                                     "latency-ms=500 jitter-ms=10"};
  std::string script = fmt::format("0 {}\n", kFair);
  std::size_t turn = 0;
  for (double at_s = 30.0; at_s + 60.0 < seconds - kCalmEndS; at_s += 60.0, ++turn) {
    // Half of the faults are shorter than the silence timeout of a connection, and half are longer.
    const double lasts_s = turn % 2 == 0 ? 6.0 : 14.0;
    script += fmt::format("{} {}\n{} {}\n", at_s, kFaults[turn % std::size(kFaults)], at_s + lasts_s, kFair);
  }
  script += fmt::format("{} loss=0\n", seconds - kClearS);
  return script;
}

// The true state of an entity: it moves in a circle that depends on its number.
State true_state(std::uint64_t number, double time_s) {
  const double phase = 0.7 * static_cast<double>(number % 1000),
               radius_m = 4.0 + static_cast<double>(number % 5);
  constexpr double kTurn = 0.8;
  const double angle = phase + kTurn * time_s;
  State state;
  state.position = {radius_m * std::cos(angle), radius_m * std::sin(angle), static_cast<double>(number % 7)};
  state.velocity = {static_cast<float>(-radius_m * kTurn * std::sin(angle)),
                    static_cast<float>(radius_m * kTurn * std::cos(angle)), 0.0f};
  state.acceleration = {static_cast<float>(-radius_m * kTurn * kTurn * std::cos(angle)),
                        static_cast<float>(-radius_m * kTurn * kTurn * std::sin(angle)), 0.0f};
  return state;
}

// The server and the clients that never leave send this to each other every tick, so that every tick has a
// datagram in each direction.
constexpr std::array kPing{std::byte{1}};
bool is_ping(const GameMessage& message) {
  return message.payload.size() == kPing.size();
}

struct SoakPlayer {
  std::unique_ptr<WatchedDialer> dialer;
  std::unique_ptr<Client> client;  // null: not connected
  double until_s = 0.0;            // end of its present activity
  bool asleep = false;
  std::uint64_t turns = 0;
  std::uint64_t session = 0;  // of the messages it sends
  std::uint32_t sent = 0;
  NumberedMessages received;
  std::map<EntityId, double> wrong_since_s;  // for each entity shown wrong: since when
};

class VirtualSoak {
 public:
  VirtualSoak(const SoakOptions& options, const SoakProgress& progress)
      : options_(options), progress_(progress), network_(network_config(options)), players_(options.clients) {
    start_server(0.0);
  }

  SoakReport run() {
    const auto ticks = static_cast<std::uint64_t>(options_.seconds * kTickHz);
    const double killed_s = kKilled * options_.seconds;
    double next_sample_s = 0.0;
    for (std::uint64_t tick = 0; tick < ticks; ++tick) {
      const double time_s = static_cast<double>(tick) / kTickHz;
      if (!killed_s_ && time_s >= killed_s) kill_server(time_s);
      if (!server_ && time_s >= *killed_s_ + 8.0) start_server(time_s);
      network_.advance(time_s);
      if (server_) turn_server(time_s, tick);
      network_.advance(time_s + 0.4 / kTickHz);
      for (std::size_t i = 0; i < players_.size(); ++i) {
        if (i < kSteady || i % kTicksPerTurn == tick % kTicksPerTurn) turn(i, time_s + 0.4 / kTickHz);
      }
      if (time_s < next_sample_s) continue;
      next_sample_s += kVirtualSampleS;
      sample(time_s);
    }
    judge();
    return std::move(report_);
  }

 private:
  static SimNetworkConfig network_config(const SoakOptions& options) {
    SimNetworkConfig config;
    config.script = *LinkScript::parse(script_for(options.seconds));
    config.silence_timeout_s = 10.0;
    config.seed = options.seed;
    return config;
  }
  [[nodiscard]] double chance() {
    return scenario::to_unit_interval(scenario::hash(options_.seed, std::uint64_t{0x50A}, ++draws_));
  }
  [[nodiscard]] double stay_s() { return -kMeanVirtualStayS * std::log(1.0 - chance()); }
  [[nodiscard]] bool is_quiet(double time_s) const { return time_s > options_.seconds - kCalmEndS; }
  void report_error(std::string what) {
    if (report_.wrong.size() < 20) report_.wrong.push_back(std::move(what));
  }

  void start_server(double time_s) {
    ServerConfig config;
    config.tick_rate_hz = kTickHz;
    config.epoch_s = time_s;
    config.max_clients = static_cast<std::uint32_t>(options_.clients);
    config.bytes_per_second = 64'000;
    network_.set_server_up(true);
    server_ = std::make_unique<Server>(make_test_server(config, network_.server()));
    entities_.clear();
    while (entities_.size() < options_.entities)
      spawn(time_s);
    received_.clear();
    steady_.clear();
    sent_messages_.clear();
  }
  void kill_server(double time_s) {
    killed_s_ = time_s;
    server_.reset();
    network_.set_server_up(false);
  }
  void spawn(double time_s) {
    const std::uint64_t number = ++spawned_;
    const auto id = server_->spawn(0, std::to_string(number), true_state(number, time_s));
    if (id) entities_.push_back({*id, number});
  }

  void turn_server(double time_s, std::uint64_t tick) {
    server_->receive(time_s);
    // Replace one entity five times a second.
    if (tick % 15 == 0 && !entities_.empty()) {
      (void)server_->despawn(entities_.front().id);
      entities_.erase(entities_.begin());
      spawn(time_s);
    }
    for (const Known& known : entities_)
      (void)server_->move(known.id, true_state(known.number, time_s));
    server_->tick(time_s);
    while (const auto event = server_->poll_event()) {
      if (event->kind == ServerEvent::Kind::client_joined) sent_messages_[event->client] = {++sessions_, 0};
      if (event->kind == ServerEvent::Kind::client_left)
        sent_messages_.erase(event->client), received_.erase(event->client), steady_.erase(event->client);
      joined_ += event->kind == ServerEvent::Kind::client_joined ? 1 : 0;
      back_ += event->kind == ServerEvent::Kind::client_back ? 1 : 0;
    }
    while (const auto message = server_->poll_message()) {
      if (is_ping(*message)) {
        steady_.insert(message->sender);
        continue;
      }
      ++messages_;
      // Messages to the server before its restart were lost with it, so the first number may be any.
      if (!received_[message->sender].accept(message->payload, true))
        report_error(fmt::format("at {:.1f} s a client's message was lost, duplicated or reordered", time_s));
      // Answer each message, so that the counters of reliable messages wrap for the clients that never leave.
      const ClientId sender = message->sender;
      if (const auto sent_messages = sent_messages_.find(sender); sent_messages != sent_messages_.end())
        send_next(sender, sent_messages->second);
    }
    for (auto& [client, sent_messages] : sent_messages_) {
      if (tick % 60 == client.value % 60 && !is_quiet(time_s)) send_next(client, sent_messages);
    }
    for (const ClientId client : steady_)
      (void)server_->send(client, kPing, Delivery::unreliable);
  }
  // Sends the next numbered message of the session.
  void send_next(ClientId client, std::pair<std::uint64_t, std::uint32_t>& sent_messages) {
    const auto message = NumberedMessages::bytes(sent_messages.first, sent_messages.second + 1);
    if (server_->send(client, message, Delivery::reliable)) ++sent_messages.second;
  }

  void turn(std::size_t i, double time_s) {
    SoakPlayer& p = players_[i];
    if (!p.client && time_s >= p.until_s) begin(p, i, time_s);
    if (!p.client) return;
    if (p.asleep && time_s < p.until_s && !is_quiet(time_s)) return;
    if (std::exchange(p.asleep, false)) p.until_s = time_s + stay_s();
    if (time_s >= p.until_s && i >= kSteady && !is_quiet(time_s)) return leave_or_sleep(p, time_s);
    p.client->update(time_s);
    if (++p.turns % kTurnsPerFrame == 0) (void)p.client->shown();
    while (const auto event = p.client->poll_event())
      note(p, *event);
    // The client was refused (no free slot or no answer). Try again, as a player would.
    const ClientStatus status = p.client->status();
    if (status == ClientStatus::refused || status == ClientStatus::disconnected) return end(p, time_s + 1.0);
    while (const auto message = p.client->poll_message()) {
      if (is_ping(*message)) continue;
      ++messages_;
      if (!p.received.accept(message->payload))
        report_error(
            fmt::format("at {:.1f} s a message to client {} was lost, duplicated or reordered", time_s, i));
    }
    if (i < kSteady) (void)p.client->send(kPing, Delivery::unreliable);
    const std::uint64_t pace = i < kSteady ? 1 : 30;
    if (p.turns % pace == 0 && p.session != 0 && !is_quiet(time_s) &&
        p.client->send(NumberedMessages::bytes(p.session, p.sent + 1), Delivery::reliable))
      ++p.sent;
    if (time_s > options_.seconds - kCalmEndS + kRejoinS) check_client(p, i, time_s);
  }

  void begin(SoakPlayer& p, std::size_t i, double time_s) {
    p.dialer = std::make_unique<WatchedDialer>(network_, kProtocolVersion, ++dialers_);
    ClientConfig config;
    if (i % 5 == 1) config.playout.mode = PlayoutMode::adaptive;
    p.client = std::make_unique<Client>(make_test_client(config, *p.dialer));
    p.until_s = time_s + stay_s();
    p.session = 0;
    p.received = {};
    ++begun_;
  }

  // The client leaves, is killed, or sleeps.
  void leave_or_sleep(SoakPlayer& p, double time_s) {
    const double what = chance();
    if (what < 0.4) {
      p.asleep = true;
      p.until_s = time_s + 90.0 * chance() * chance();
      ++slept_;
      return;
    }
    if (what < 0.7) p.client->leave();
    end(p, time_s + 5.0 * chance());
  }

  void end(SoakPlayer& p, double until_s) {
    p.client.reset();
    if (p.dialer->client()) network_.drop_client(*p.dialer->client(), false);
    p.dialer.reset();
    p.until_s = until_s;
  }

  void note(SoakPlayer& p, const ClientEvent& event) {
    const bool fresh = event.kind == ClientEvent::Kind::joined || event.kind == ClientEvent::Kind::restarted;
    if (fresh) p.session = ++sessions_, p.sent = 0;
    if (event.kind == ClientEvent::Kind::restarted) p.dialer->wraps.restart();
    resumed_ += event.kind == ClientEvent::Kind::resumed ? 1 : 0;
    restarted_ += event.kind == ClientEvent::Kind::restarted ? 1 : 0;
  }

  // Checks that the client is in the world and shows all entities in their true positions. At the very end,
  // errors are not allowed. Before that, while datagrams are sometimes lost, errors are allowed for a short
  // time.
  void check_client(SoakPlayer& p, std::size_t i, double time_s) {
    if (p.client->status() != ClientStatus::joined)
      return report_error(
          fmt::format("client {} is not in the world at the end: {}", i, p.client->refusal()));
    const bool at_the_end = time_s > options_.seconds - kVirtualCheckS;
    const auto shown = p.client->shown();
    for (const ShownEntity& entity : shown) {
      const auto truth = std::find_if(entities_.begin(), entities_.end(),
                                      [&](const Known& known) { return known.id == entity.id; });
      if (truth == entities_.end()) continue;  // despawned just now
      const double off_m =
          glm::distance(entity.shown.position, true_state(truth->number, entity.shown_time_s).position);
      if (at_the_end) worst_m_ = std::max(worst_m_, off_m);
      if (off_m <= kWrongM) {
        p.wrong_since_s.erase(entity.id);
        continue;
      }
      const double since_s = p.wrong_since_s.emplace(entity.id, time_s).first->second;
      longest_wrong_s_ = std::max(longest_wrong_s_, time_s - since_s);
    }
    // Allow for entities that spawned just now.
    if (at_the_end && shown.size() + 3 < entities_.size())
      report_error(
          fmt::format("client {} shows {} of {} entities at the end", i, shown.size(), entities_.size()));
  }

  void sample(double time_s) {
    progress_(time_s / options_.seconds);
    heap_.values.push_back(static_cast<double>(heap_bytes()));
    std::size_t there = 0;
    for (const SoakPlayer& p : players_)
      there += p.client && p.client->status() == ClientStatus::joined ? 1 : 0;
    there_.values.push_back(static_cast<double>(there));
  }

  void judge() {
    if (longest_wrong_s_ > kRepairedS)
      report_error(fmt::format("a client shows an entity wrong for {:.2f} s", longest_wrong_s_));
    if (worst_m_ > kWrongM)
      report_error(fmt::format("a client shows an entity with an error of {:.2f} m at the end", worst_m_));
    if (const std::string grew = growth(heap_, 0.05, 256e3); !grew.empty()) report_error(grew);
    judge_wraps();
    const double malformed = static_cast<double>(server_->stats().malformed);
    if (malformed > 0.0)
      report_error(fmt::format("the server refused {} payloads of honest clients", malformed));
    auto& f = report_.figures;
    f["seconds"] = options_.seconds;
    f["clients"] = options_.clients;
    f["clients_there_mean"] = there_.mean(0.0, 1.0);
    f["clients_begun"] = begun_;
    f["slept"] = slept_;
    f["sessions"] = joined_;
    f["resumed"] = resumed_;
    f["restarted"] = restarted_;
    f["messages"] = messages_;
    f["server_ticks"] = server_->next_tick();
    f["longest_wrong_s"] = longest_wrong_s_;
    f["worst_error_at_the_end_m"] = worst_m_;
    f["heap_mb_by_fifth"] = nlohmann::json::array();
    for (int fifth = 0; fifth < 5; ++fifth)
      f["heap_mb_by_fifth"].push_back(std::round(heap_.mean(0.2 * fifth, 0.2 * (fifth + 1)) / 1e4) / 100.0);
  }

  // Of the clients that never leave, checks the one with the most wraps.
  void judge_wraps() {
    const auto steady = std::span(players_).first(std::min(kSteady, players_.size()));
    const SoakPlayer& player =
        *std::ranges::max_element(steady, {}, [](const SoakPlayer& p) { return p.dialer->wraps.least(); });
    report_.figures["wraps"] = player.dialer->wraps.json();
    if (const auto wraps = player.dialer->wraps.least(); options_.seconds >= 3600.0 && wraps < kWrapsPerHour)
      report_error(fmt::format("a 16-bit counter wrapped only {} times", wraps));
  }

  SoakOptions options_;
  const SoakProgress& progress_;
  SimNetwork network_;
  std::unique_ptr<Server> server_;
  std::vector<SoakPlayer> players_;
  struct Known {
    EntityId id;
    std::uint64_t number;
  };
  std::vector<Known> entities_;  // the oldest first
  std::map<ClientId, NumberedMessages> received_;
  std::set<ClientId> steady_;
  std::map<ClientId, std::pair<std::uint64_t, std::uint32_t>>
      sent_messages_;  // session and number of messages sent
  std::uint64_t draws_ = 0, spawned_ = 0, dialers_ = 0, sessions_ = 0;
  std::uint64_t begun_ = 0, slept_ = 0, joined_ = 0, back_ = 0, resumed_ = 0, restarted_ = 0, messages_ = 0;
  std::optional<double> killed_s_;
  double worst_m_ = 0.0, longest_wrong_s_ = 0.0;
  SoakSeries heap_{"memory in use", {}};
  SoakSeries there_{"clients", {}};
  SoakReport report_;
};

}  // namespace

SoakReport soak_in_virtual_time(const SoakOptions& options, const SoakProgress& progress) {
  return VirtualSoak(options, progress).run();
}

}  // namespace reckoner::harness
