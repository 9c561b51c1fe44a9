// SPDX-License-Identifier: MIT
#include "cluster/src/bus/sim_bus.hpp"

#include <algorithm>
#include <utility>

namespace reckoner::cluster {

double SimHub::delay_s() {
  const double share = static_cast<double>(random_() >> 11) * 0x1p-53;
  return config_.delay_s + share * config_.jitter_s;
}

void SimHub::stop(double now_s) {
  advance(now_s);
  running_ = false;
  operations_ = {};
  for (SimBus* bus : buses_) {
    bus->incoming_.clear();
    bus->held_.clear();
    bus->postponed_.clear();
    bus->broken_since_s_ = now_s;
  }
}

void SimHub::start(double now_s) {
  running_ = true;
  for (SimBus* bus : buses_) {
    if (bus->cut_ != Cut::none) continue;
    bus->broken_since_s_.reset();
    bus->connected_ = true;
    ++bus->stats_.connects;
    bus->last_sent_s_ = bus->last_received_s_ = now_s;
  }
}

void SimHub::cut(SimBus& bus, Cut how, double now_s) {
  advance(now_s);
  const Cut before = bus.cut_;
  bus.cut_ = how;
  if (how != Cut::none) {
    bus.broken_since_s_ = now_s;
    return;
  }
  if (before == Cut::none || !running_) return;
  // A connection that was noticed as lost is a new one: nothing of the old one arrives.
  const bool noticed = !bus.connected_;
  bus.broken_since_s_.reset();
  bus.connected_ = true;
  auto held = std::exchange(bus.held_, {});
  auto back = std::exchange(bus.postponed_, {});
  if (noticed) ++bus.stats_.connects;
  if (noticed) return;
  for (Operation& operation : held)
    send(std::move(operation), now_s);
  for (SimBus::Delivery& delivery : back)
    bus.deliver(std::move(delivery), now_s);
}

void SimHub::send(Operation operation, double now_s) {
  SimBus& from = *operation.from;
  if (!running_ || from.cut_ == Cut::lose) return;
  if (from.cut_ == Cut::delay) {
    from.held_.push_back(std::move(operation));
    return;
  }
  operation.due_s = from.last_sent_s_ = std::max(from.last_sent_s_, now_s + delay_s());
  operation.order = order_++;
  operations_.push(std::move(operation));
}

void SimHub::advance(double now_s) {
  while (!operations_.empty() && operations_.top().due_s <= now_s) {
    const Operation operation = operations_.top();
    operations_.pop();
    execute(operation);
  }
}

SimHub::Stored* SimHub::find(BusTable table, const std::string& key, double now_s) {
  auto& entries = tables_[static_cast<std::size_t>(table)];
  const auto found = entries.find(key);
  if (found == entries.end()) return nullptr;
  if (table == BusTable::leases && now_s - found->second.written_s > config_.lease_s) {
    entries.erase(found);
    return nullptr;
  }
  return &found->second;
}

void SimHub::execute(const Operation& operation) {
  const double now_s = operation.due_s;
  if (operation.kind == Kind::publish) {
    for (SimBus* bus : buses_) {
      if (bus->wants(operation.name))
        bus->deliver({0.0, BusMessage{operation.name, operation.bytes}, {}}, now_s);
    }
    return;
  }
  const auto table = static_cast<std::size_t>(operation.table);
  BusAnswer answer{.request = operation.request, .status = BusAnswer::Status::done};
  if (operation.kind == Kind::list) {
    for (const auto& [key, stored] : tables_[table])
      answer.entries.push_back({key, stored.value, stored.revision});
    operation.from->deliver({0.0, std::nullopt, std::move(answer)}, now_s);
    return;
  }
  Stored* stored = find(operation.table, operation.name, now_s);
  if (operation.kind == Kind::get) {
    if (stored == nullptr) {
      answer.status = BusAnswer::Status::missing;
    } else {
      answer.revision = stored->revision;
      answer.value = stored->value;
    }
  } else {
    const bool allowed =
        operation.kind == Kind::put || operation.revision == (stored != nullptr ? stored->revision : 0);
    if (allowed) {
      answer.revision = ++revisions_[table];
      tables_[table][operation.name] = {operation.bytes, answer.revision, now_s};
    } else {
      answer.status = BusAnswer::Status::conflict;
    }
  }
  if (operation.kind != Kind::put) operation.from->deliver({0.0, std::nullopt, std::move(answer)}, now_s);
}

SimBus::SimBus(SimHub& hub) : hub_(hub) {
  hub_.buses_.insert(this);
  connected_ = hub_.running_;
  if (connected_) ++stats_.connects;
}

SimBus::~SimBus() {
  hub_.buses_.erase(this);
  // The server may still execute what the process has sent, but no answer finds it.
  auto left = std::move(hub_.operations_);
  hub_.operations_ = {};
  for (; !left.empty(); left.pop()) {
    if (left.top().from != this) hub_.operations_.push(left.top());
  }
}

bool SimBus::wants(std::string_view subject) const {
  return subjects_.contains(subject);
}

void SimBus::unsubscribe(std::string_view subject) {
  const auto found = subjects_.find(subject);
  if (found != subjects_.end()) subjects_.erase(found);
}

void SimBus::deliver(Delivery delivery, double now_s) {
  if (cut_ == SimHub::Cut::lose) return;
  if (cut_ == SimHub::Cut::delay) {
    postponed_.push_back(std::move(delivery));
    return;
  }
  delivery.due_s = last_received_s_ = std::max(last_received_s_, now_s + hub_.delay_s());
  incoming_.push_back(std::move(delivery));
}

void SimBus::service(double now_s) {
  now_s_ = now_s;
  hub_.advance(now_s);
  if (broken_since_s_ && connected_ && now_s - *broken_since_s_ > hub_.config_.notice_s) {
    connected_ = false;
    held_.clear();
    postponed_.clear();
  }
  while (!incoming_.empty() && incoming_.front().due_s <= now_s) {
    Delivery& delivery = incoming_.front();
    if (delivery.message) {
      ++stats_.messages_received;
      stats_.bytes_received += delivery.message->payload.size();
      messages_.push_back(std::move(*delivery.message));
    } else if (open_.erase(delivery.answer.request) > 0) {
      stats_.bytes_received += delivery.answer.value.size();
      answers_.push_back(std::move(delivery.answer));
    }
    incoming_.pop_front();
  }
  std::erase_if(open_, [&](const auto& entry) {
    if (entry.second > now_s) return false;
    ++stats_.requests_unanswered;
    answers_.push_back({.request = entry.first, .status = BusAnswer::Status::unavailable});
    return true;
  });
}

void SimBus::publish(std::string_view subject, std::span<const std::byte> payload) {
  ++stats_.messages_sent;
  stats_.bytes_sent += payload.size();
  if (!connected_) return;
  SimHub::Operation operation{.from = this, .kind = SimHub::Kind::publish};
  operation.name = subject;
  operation.bytes.assign(payload.begin(), payload.end());
  hub_.send(std::move(operation), now_s_);
}

std::optional<BusMessage> SimBus::poll() {
  if (messages_.empty()) return std::nullopt;
  BusMessage message = std::move(messages_.front());
  messages_.pop_front();
  return message;
}

std::optional<BusAnswer> SimBus::poll_answer() {
  if (answers_.empty()) return std::nullopt;
  BusAnswer answer = std::move(answers_.front());
  answers_.pop_front();
  return answer;
}

std::uint64_t SimBus::request(SimHub::Operation operation) {
  operation.from = this;
  operation.request = next_request_++;
  const std::uint64_t number = operation.request;
  stats_.bytes_sent += operation.bytes.size();
  open_.emplace(number, now_s_ + hub_.config_.timeout_s);
  if (connected_) hub_.send(std::move(operation), now_s_);
  return number;
}

std::uint64_t SimBus::get(BusTable table, std::string_view key) {
  return request({.kind = SimHub::Kind::get, .table = table, .name = std::string(key)});
}

std::uint64_t SimBus::put_if(BusTable table, std::string_view key, std::span<const std::byte> value,
                             std::uint64_t revision) {
  return request({.kind = SimHub::Kind::put_if,
                  .table = table,
                  .name = std::string(key),
                  .bytes = {value.begin(), value.end()},
                  .revision = revision});
}

void SimBus::put(BusTable table, std::string_view key, std::span<const std::byte> value) {
  stats_.bytes_sent += value.size();
  if (!connected_) return;
  SimHub::Operation operation{
      .from = this, .kind = SimHub::Kind::put, .table = table, .name = std::string(key)};
  operation.bytes.assign(value.begin(), value.end());
  hub_.send(std::move(operation), now_s_);
}

std::uint64_t SimBus::list(BusTable table) {
  return request({.kind = SimHub::Kind::list, .table = table});
}

}  // namespace reckoner::cluster
