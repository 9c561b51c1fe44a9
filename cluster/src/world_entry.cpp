// SPDX-License-Identifier: MIT
#include "cluster/src/bus/requests.hpp"
#include "cluster/src/wire/bus_messages.hpp"
#include "cluster/src/wire/subjects.hpp"

#include <bit>
#include <cmath>
#include <cstdio>
#include <optional>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include <reckoner/cluster/world_entry.hpp>

namespace reckoner {
namespace {

using namespace cluster;

constexpr double kGiveUpS = 10.0;
constexpr double kTryEntryEveryS = 0.1;

// FNV-1a of numbers.
struct Hash {
  std::uint32_t value = 2166136261u;
  void add(std::uint64_t number) {
    for (int i = 0; i < 8; ++i) {
      value = (value ^ static_cast<std::uint32_t>(number & 0xff)) * 16777619u;
      number >>= 8;
    }
  }
  void add(double number) { add(std::bit_cast<std::uint64_t>(number)); }
};

// The thresholds decide how motions are encoded, so all processes must have equal ones.
std::uint32_t hash_of(const std::vector<Archetype>& archetypes) {
  Hash hash;
  hash.add(std::uint64_t{archetype_hash(archetypes)});
  for (const Archetype& kind : archetypes) {
    for (const double number : {kind.threshold_m, kind.threshold_rad, kind.max_speed_mps, kind.world_size_m})
      hash.add(number);
  }
  return hash.value;
}

void add_points(Hash& hash, const std::vector<glm::dvec3>& points) {
  hash.add(std::uint64_t{points.size()});
  for (const glm::dvec3& p : points) {
    for (const double number : {p.x, p.y, p.z})
      hash.add(number);
  }
}

void add(Hash& hash, const CatmullRomRoute& route) {
  add_points(hash, route.points);
  hash.add(static_cast<std::uint64_t>(route.knots));
  hash.add(std::uint64_t{route.reflect_ends});
}

void add(Hash& hash, const TcbRoute& route) {
  hash.add(std::uint64_t{route.keys.size()});
  for (const TcbKey<glm::dvec3>& key : route.keys) {
    for (const double number : {key.time, key.value.x, key.value.y, key.value.z, key.shape.tension,
                                key.shape.continuity, key.shape.bias, key.ease_to, key.ease_from})
      hash.add(number);
  }
  hash.add(route.closing_time);
}

void add(Hash& hash, const ChaikinRoute& route) {
  add_points(hash, route.points);
  hash.add(static_cast<std::uint64_t>(route.passes));
  constexpr double kNone = -1.0;
  hash.add(route.angle_limit.value_or(kNone));
  hash.add(route.outlier_limit.value_or(kNone));
}

void add(Hash& hash, const PolylineRoute& route) {
  add_points(hash, route.points);
}

std::uint32_t hash_of(const std::vector<RouteDefinition>& routes) {
  Hash hash;
  for (const RouteDefinition& route : routes) {
    hash.add(std::uint64_t{route.curve.index()});
    hash.add(static_cast<std::uint64_t>(route.wrap));
    hash.add(static_cast<std::uint64_t>(route.facing));
    std::visit([&hash](const auto& curve) { add(hash, curve); }, route.curve);
    for (const double number : {route.up.x, route.up.y, route.up.z, route.orientation.w, route.orientation.x,
                                route.orientation.y, route.orientation.z, route.tolerance})
      hash.add(number);
  }
  return hash.value;
}

std::string number_text(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%g", value);
  return text;
}

// Tells what differs between a world and a process that wants to enter it.
std::optional<Error> difference(const std::string& world, const WorldValue& stored, const WorldValue& own) {
  const std::string begin = "the world '" + world + "' ";
  if (stored.layout != own.layout)
    return Error{begin + "has layout " + std::to_string(stored.layout) +
                 " of messages and tables, this program " + std::to_string(own.layout) +
                 ": start all processes with one version, or delete its buckets"};
  if (stored.archetypes != own.archetypes)
    return Error{begin + "has other archetypes than this process: they must be equal, with their thresholds"};
  if (stored.routes != own.routes) return Error{begin + "has other routes than this process"};
  const auto differs = [&](const char* what, double theirs, double ours) {
    return Error{begin + "has " + what + " " + number_text(theirs) + ", this process " + number_text(ours)};
  };
  if (stored.tick_rate_hz != own.tick_rate_hz)
    return differs("a tick rate of", stored.tick_rate_hz, own.tick_rate_hz);
  if (stored.cell_m != own.cell_m) return differs("a cell size of", stored.cell_m, own.cell_m);
  if (stored.columns != own.columns) return differs("columns:", stored.columns, own.columns);
  if (stored.rows != own.rows) return differs("rows:", stored.rows, own.rows);
  return std::nullopt;
}

}  // namespace

std::optional<Error> find_invalid_setting(const ClusterConfig& config) {
  const auto wrong = [](const std::string& name, const std::string& value, const std::string& range) {
    return Error{name + " is " + value + "; valid are " + range};
  };
  if (!is_name(config.world))
    return wrong("world", "'" + config.world + "'", "1 to 32 letters, digits, - and _");
  const auto in = [](double v, double least, double most) { return v >= least && v <= most; };
  if (!in(config.tick_rate_hz, 1.0, 1000.0))
    return wrong("tick_rate_hz", number_text(config.tick_rate_hz), "1 to 1000");
  if (!in(config.cell_m, 1.0, 1e9)) return wrong("cell_m", number_text(config.cell_m), "1 to 1e9");
  const std::uint64_t cells = std::uint64_t{config.columns} * config.rows;
  if (cells == 0 || cells > ClusterConfig::kMaxCells)
    return wrong("columns * rows", std::to_string(cells), "1 to " + std::to_string(ClusterConfig::kMaxCells));
  if (!in(config.hysteresis_m, 0.0, 0.5 * config.cell_m))
    return wrong("hysteresis_m", number_text(config.hysteresis_m), "0 to half a cell");
  if (!in(config.lease_s, 0.5, 60.0)) return wrong("lease_s", number_text(config.lease_s), "0.5 to 60");
  if (!in(config.checkpoint_s, 0.1, 60.0))
    return wrong("checkpoint_s", number_text(config.checkpoint_s), "0.1 to 60");
  if (config.archetypes.empty()) return Error{"archetypes is empty; at least one is needed"};
  return std::nullopt;
}

struct WorldEntry::Impl {
  Impl(const ClusterConfig& given, std::string given_name, ProcessId given_number, Bus& given_bus)
      : config(given),
        name(std::move(given_name)),
        number(given_number),
        bus(given_bus),
        requests(given_bus) {
    own.archetypes = hash_of(config.archetypes);
    own.routes = hash_of(config.routes);
    own.tick_rate_hz = config.tick_rate_hz;
    own.cell_m = config.cell_m;
    own.columns = config.columns;
    own.rows = config.rows;
  }

  void step();
  void read_world();
  void take_name();
  void fail(const std::string& message) { result = Result<WorldMember>{Error{message}}; }

  ClusterConfig config;
  std::string name;
  ProcessId number;
  Bus& bus;
  Requests requests;
  WorldValue own;
  std::optional<Result<WorldMember>> result;
  bool busy = false;
  bool in_world = false;
  double epoch_s = 0.0;
  double now_s = 0.0;
  std::optional<double> began_s;
  double tried_s = -1e300;
  bool name_taken = false;
};

void WorldEntry::Impl::read_world() {
  busy = true;
  requests.get(BusTable::world, kWorldKey, [this](const BusAnswer& answer) {
    busy = false;
    if (answer.status == BusAnswer::Status::done) {
      const auto stored = decode_world(answer.value);
      if (!stored) return fail("the world '" + config.world + "' was made by another program or version");
      if (const auto error = difference(config.world, *stored, own)) return fail(error->message);
      in_world = true;
      epoch_s = stored->epoch_s;
    } else if (answer.status == BusAnswer::Status::missing) {
      busy = true;
      own.epoch_s = now_s;
      requests.put_if(BusTable::world, kWorldKey, encode_value(own), 0,
                      [this](const BusAnswer&) { busy = false; });
    }
  });
}

// The name is a lease: a process that has ended frees it after the lease time.
void WorldEntry::Impl::take_name() {
  busy = true;
  requests.put_if(BusTable::leases, name_key(name), encode_value(LeaseValue{number}), 0,
                  [this](const BusAnswer& answer) {
                    busy = false;
                    if (answer.status == BusAnswer::Status::done)
                      result = Result<WorldMember>{WorldMember{number, name, epoch_s}};
                    name_taken = answer.status == BusAnswer::Status::conflict;
                  });
}

void WorldEntry::Impl::step() {
  if (!began_s) began_s = now_s;
  if (result || busy) return;
  if (const auto error = find_invalid_setting(config)) return fail(error->message);
  if (!is_name(name)) return fail("the name '" + name + "' is not 1 to 32 letters, digits, - and _");
  if (name_taken && now_s - *began_s > 2.0 * config.lease_s + 1.0)
    return fail("a process with the name '" + name + "' lives in the world '" + config.world + "'");
  if (now_s - *began_s > kGiveUpS) return fail("the bus does not answer");
  if (now_s - tried_s < kTryEntryEveryS) return;
  tried_s = now_s;
  if (in_world) {
    take_name();
  } else {
    read_world();
  }
}

WorldEntry::WorldEntry(const ClusterConfig& config, std::string name, ProcessId number, Bus& bus)
    : impl_(std::make_unique<Impl>(config, std::move(name), number, bus)) {}

WorldEntry::~WorldEntry() = default;

std::optional<Result<WorldMember>> WorldEntry::service(double now_s) {
  impl_->now_s = now_s;
  impl_->bus.service(now_s);
  impl_->requests.poll();
  impl_->step();
  return impl_->result;
}

}  // namespace reckoner
