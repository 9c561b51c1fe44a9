// SPDX-License-Identifier: MIT
#include "cluster/src/authority/cell_keeper.hpp"
#include "cluster/src/authority/entity_ids.hpp"
#include "cluster/src/authority/grid.hpp"
#include "cluster/src/authority/members.hpp"
#include "cluster/src/bus/requests.hpp"
#include "cluster/src/mail/conversation.hpp"
#include "cluster/src/mirror/mirror.hpp"
#include "cluster/src/name_lease.hpp"
#include "cluster/src/null_transport.hpp"
#include "cluster/src/wire/bus_messages.hpp"
#include "cluster/src/wire/subjects.hpp"
#include "server/src/world_access.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <deque>
#include <map>
#include <set>
#include <string_view>
#include <unordered_map>
#include <utility>

#include <reckoner/cluster/simulator.hpp>
#include <reckoner/reckoning/motion.hpp>

namespace reckoner {
namespace {

using namespace cluster;

// A simulator runs a tick so long before its time that its motions are at the gateways when they send the
// tick. Gateways then run on time: clients find the server's clock in the times of ticks.
constexpr double kLeadS = 0.006;
constexpr double kSilenceS = 1.0;      // ghosts of a silent simulator come to rest after this time
constexpr double kBatchEveryS = 0.25;  // a batch is sent at least this often, s
constexpr double kRepeatOfferS = 0.1;
constexpr double kOfferForS = 1.0;  // then the receiver is chosen again
constexpr double kRepeatCommitS = 0.1;
constexpr double kExpectCommitS = 0.5;  // after this time without a commit, the receiver asks the table
constexpr double kKeepOfferS = 5.0;
constexpr double kRecoverAgainS = 0.5;
constexpr double kCoastS = 1.0;               // an orphan has moved on for this time at most
constexpr std::size_t kSnapshotPart = 64;     // entities in one message of a snapshot
constexpr std::uint32_t kLostLetters = 1000;  // numbers that a dead holder may have used since its checkpoint
constexpr std::size_t kMostInFlight = 512;    // requests; more wait
// A tick that is this late, in shares of the lease time, was a pause: others may hold everything by now.
constexpr double kPause = 0.4;

// An entity that this simulator holds.
struct Held {
  enum class State : std::uint8_t { holding, asserting, offering, committing };
  State state = State::holding;
  std::uint32_t epoch = 0;
  std::uint64_t revision = 0;
  bool confirmed = false;  // the table of epochs names this process
  bool busy = false;       // a request about it is under way
  std::uint32_t cell = 0;
  std::uint32_t turn = 0;  // answers of an earlier turn are void
  bool describe = true;    // viewers do not know it in this cell yet
  Cause cause = Cause::spawned;
  bool fields_changed = false;
  ProcessId to;
  ProcessId committing_to;  // to whom this process tried to give it last
  double offered_s = -1e9;
  double offer_began_s = -1e9;
  std::vector<std::byte> data;
  MotionFit::Priors inherited;  // what its last holder had learned, until this one knows more
  double checkpoint_s = -1e9;
  Tick checkpoint_tick = 0;
  Tick checkpointed_motion = 0;
  bool checkpoint_due = true;
  struct Conversation {
    Inbox inbox;
    Outbox outbox;
    std::uint32_t polled = 0;  // number of the last message that the game has polled; it is acknowledged
    bool acknowledge = false;
  };
  std::map<ClusterClient, Conversation> mail;
};

// A message that waits for the game.
struct Queued {
  EntityMessage message;
  std::uint32_t number = 0;
};

struct Committed {
  Commit commit;
  ProcessId to;
  double sent_s = 0.0;
};

struct Expected {
  Offer offer;
  double accepted_s = 0.0;
  double asked_s = 0.0;  // when the table was asked last
  bool asked = false;    // and has not answered yet
  bool over = false;
};

}  // namespace

struct Simulator::Impl {
  Impl(const ClusterConfig& given, const WorldMember& given_member, Bus& given_bus, Server given_server,
       std::unique_ptr<NullTransport> given_transport, double now);

  [[nodiscard]] double world_s(double now) const { return now - member.epoch_s; }
  [[nodiscard]] Tick last_tick() const { return server.next_tick() - 1; }
  void send(ProcessId to, const BusPayload& message) {
    bus.publish(inbox_subject(config.world, to), encode(message, codec));
  }
  [[nodiscard]] Held* find(EntityId id) {
    const auto found = held.find(id);
    return found != held.end() ? &found->second : nullptr;
  }
  [[nodiscard]] bool may_write(const Held& h) const { return h.state != Held::State::asserting && !doubtful; }

  void handle(const BusMessage& message);
  void handle(const Batch& batch);
  void handle(const Heartbeat& heartbeat);
  void handle(const Ask& ask);
  void handle(const Offer& offer);
  void handle(const Accept& accept);
  void handle(const Commit& commit);
  void handle(const Done& done);
  void handle(const CellOffer& m) { cells.receive(m, now_s, leaving); }
  void handle(const CellAccept& m) { cells.receive(m, now_s); }
  void handle(const CellCommit& m) { cells.receive(m, now_s); }
  void handle(const Mail& mail);
  void handle(const MailReceived& received);

  void doubt();
  void confirm(EntityId id);
  void assert_entity(EntityId id, std::uint64_t revision, std::uint32_t at_least);
  void read_and_assert(EntityId id);
  void lose(EntityId id);
  [[nodiscard]] std::uint32_t cell_of(EntityId id, std::uint32_t before) const;
  [[nodiscard]] ProcessId target_of(EntityId id, const Held& h) const;
  void move_between_cells();
  void offer_entities();
  void begin_commit(EntityId id, ProcessId to);
  void finish_commit(EntityId id, ProcessId to, std::uint64_t revision);
  void repeat_commits();
  void check_expected();
  void take_over(EntityRecord entity, EntityBaggage baggage, std::uint32_t epoch, std::uint64_t revision,
                 bool adopted, const MotionFit::Memory& memory = {});
  void recover();
  void recover(const BusEntry& stored, const BusEntry* stored_epoch);
  void adopt(const CheckpointValue::Content& content, std::uint64_t revision, bool again);
  void read_and_adopt(const CheckpointValue::Content& content);
  [[nodiscard]] bool is_orphan(ProcessId holder) const {
    return holder == member.process || members.find(holder) == nullptr;
  }
  [[nodiscard]] std::optional<EntityRecord> record_of(EntityId id, const Held& h) const;
  [[nodiscard]] EntityBaggage baggage_of(EntityId id, const Held& h) const;
  void collect_batches();
  void send_batches();
  void send_batch(std::uint32_t cell, Batch& batch);
  [[nodiscard]] Batch new_batch(std::uint32_t cell) const;
  void send_heartbeat();
  void write_checkpoints();
  void send_mail();
  void watch_neighbours();
  void count_entities();

  ClusterConfig config;
  WorldMember member;
  Bus& bus;
  Requests requests;
  WorldCodec codec;
  ClusterStats stats;
  std::unique_ptr<NullTransport> transport;
  Server server;
  WorldAccess access;
  Grid grid;
  Members members;
  CellKeeper cells;
  Mirror mirror;
  EntityIds ids;
  NameLease name;

  std::map<EntityId, Held> held;
  std::map<EntityId, Committed> committed;
  std::map<EntityId, Expected> expected;
  std::set<EntityId> adopting;
  std::set<EntityId> unanswered;  // an attempt to adopt had no answer: the table may name this process
  std::map<std::uint32_t, Batch> batches;
  struct Stream {
    std::uint32_t sequence = 0;
    double sent_s = -1e9;
  };
  std::map<std::uint32_t, Stream> streams;  // by cell
  std::vector<std::size_t> entities_in;     // by cell
  std::deque<SimulatorEvent> events;
  std::deque<Queued> messages;
  std::vector<EntityId> published;
  std::vector<double> recover_at;
  std::set<std::uint32_t> subscribed;
  double now_s = 0.0;
  double ticked_s = 0.0;
  double heartbeat_s = -1e9;
  std::uint64_t connects = 0;
  bool doubtful = false;  // no connection: nothing is written
  bool leaving = false;
  std::size_t cells_before = 0;
};

Simulator::Impl::Impl(const ClusterConfig& given, const WorldMember& given_member, Bus& given_bus,
                      Server given_server, std::unique_ptr<NullTransport> given_transport, double now)
    : config(given),
      member(given_member),
      bus(given_bus),
      requests(given_bus),
      codec(config.archetypes),
      transport(std::move(given_transport)),
      server(std::move(given_server)),
      access(server),
      grid(config),
      cells(
          config, member.process, requests, members,
          [this](ProcessId to, const BusPayload& message) { send(to, message); }, stats),
      mirror(
          config, server, member.process,
          [this](ProcessId to, const BusPayload& message) { send(to, message); }, kSilenceS, stats),
      ids(requests),
      name(config, member, requests),
      entities_in(grid.size()),
      now_s(now),
      ticked_s(now),
      connects(bus.stats().connects) {
  access.start_at(whole_ticks(world_s(now) * config.tick_rate_hz) + 1);
  bus.subscribe(inbox_subject(config.world, member.process));
  bus.subscribe(members_subject(config.world));
}

Result<Simulator> Simulator::create(const ClusterConfig& config, const WorldMember& member, Bus& bus,
                                    double now_s) {
  if (auto error = find_invalid_setting(config)) return *error;
  ServerConfig settings;
  settings.tick_rate_hz = config.tick_rate_hz;
  settings.archetypes = config.archetypes;
  settings.max_entities = kMaxEntities;
  auto transport = std::make_unique<NullTransport>();
  auto server = Server::create(settings, *transport);
  if (!server) return Error{server.error()};
  for (const RouteDefinition& route : config.routes) {
    const auto added = server->add_route(route);
    if (!added) return Error{added.error()};
  }
  return Simulator{
      std::make_unique<Impl>(config, member, bus, std::move(*server), std::move(transport), now_s)};
}

Simulator::Simulator(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Simulator::~Simulator() = default;
Simulator::Simulator(Simulator&& other) noexcept = default;
Simulator& Simulator::operator=(Simulator&& other) noexcept = default;

// What the game calls.

SpawnResult Simulator::spawn(std::size_t archetype, const std::string& name, const State& state,
                             EntityId frame) {
  Impl& s = *impl_;
  const auto slot = s.ids.take(s.now_s);
  if (!slot) return CallError::world_full;
  const SpawnResult spawned = s.access.spawn_as(slot->id, archetype, name, state, frame);
  if (!spawned) {
    s.ids.give_back({slot->id.index1, static_cast<std::uint16_t>(slot->id.generation - 1)}, slot->epoch,
                    slot->revision, s.now_s);
    return spawned;
  }
  Held h;
  h.epoch = slot->epoch + 1;
  h.revision = slot->revision;
  h.cell = s.cell_of(slot->id, s.grid.cell_at(state.position));
  h.fields_changed = false;
  s.mirror.hold(slot->id, h.epoch, h.cell, static_cast<std::uint32_t>(archetype));
  s.held.emplace(slot->id, std::move(h));
  return slot->id;
}

bool Simulator::despawn(EntityId id) {
  Impl& s = *impl_;
  Held* h = s.find(id);
  if (h == nullptr || h->state == Held::State::committing) return false;
  if (s.may_write(*h)) {
    s.batches.try_emplace(h->cell, s.new_batch(h->cell))
        .first->second.gone.push_back({id, h->epoch, std::nullopt});
  }
  s.bus.put(BusTable::checkpoints, slot_key(id), encode_value(CheckpointValue{}, s.codec));
  // The revision is not known while a request is under way; the slot is then left alone.
  if (!h->busy) s.ids.give_back(id, h->epoch, h->revision, s.now_s);
  s.held.erase(id);
  s.mirror.forget(id);
  return true;
}

CallResult Simulator::move(EntityId id, const State& truth) {
  return impl_->server.move(id, truth);
}
CallResult Simulator::teleport(EntityId id, const State& truth) {
  if (!holds(id)) return impl_->server.state(id) ? CallError::owned : CallError::unknown_entity;
  return impl_->server.teleport(id, truth);
}
bool Simulator::follow(EntityId id, RouteId route) {
  return holds(id) && impl_->server.follow(id, route);
}
bool Simulator::leave_route(EntityId id) {
  return holds(id) && impl_->server.leave_route(id);
}
CallResult Simulator::move_along(EntityId id, const RouteState& along) {
  if (!holds(id)) return impl_->server.state(id) ? CallError::owned : CallError::unknown_entity;
  return impl_->server.move_along(id, along);
}
FrameResult Simulator::enter_frame(EntityId id, EntityId frame) {
  if (!holds(id)) return impl_->server.state(id) ? FrameResult::owned : FrameResult::unknown_entity;
  return impl_->server.enter_frame(id, frame);
}
bool Simulator::set_field(EntityId id, std::size_t field, const FieldValue& value) {
  Held* h = impl_->find(id);
  if (h == nullptr || !impl_->server.set_field(id, field, value)) return false;
  h->fields_changed = h->checkpoint_due = true;
  return true;
}
bool Simulator::set_relevance(EntityId id, Relevance relevance) {
  Held* h = impl_->find(id);
  if (h == nullptr) return false;
  h->describe = true;
  return impl_->server.set_relevance(id, relevance);
}
bool Simulator::set_groups(EntityId id, std::uint32_t groups) {
  Held* h = impl_->find(id);
  if (h == nullptr) return false;
  h->describe = true;
  return impl_->server.set_groups(id, groups);
}
bool Simulator::set_data(EntityId id, std::span<const std::byte> data) {
  Held* h = impl_->find(id);
  if (h == nullptr || data.size() > kMaxEntityDataBytes) return false;
  h->data.assign(data.begin(), data.end());
  h->checkpoint_due = true;
  return true;
}

bool Simulator::send(EntityId from, ClusterClient to, std::span<const std::byte> payload) {
  Held* h = impl_->find(from);
  if (h == nullptr || !to || payload.empty() || payload.size() > kMaxMailBytes) return false;
  if (!h->mail.contains(to) && h->mail.size() >= kMaxCorrespondents) return false;
  Outbox& outbox = h->mail[to].outbox;
  if (outbox.waiting() >= kMaxMailWaiting) return false;
  outbox.push(payload);
  ++impl_->stats.messages_sent;
  return true;
}

std::optional<EntityMessage> Simulator::poll_message() {
  Impl& s = *impl_;
  while (!s.messages.empty()) {
    Queued queued = std::move(s.messages.front());
    s.messages.pop_front();
    // Messages to an entity that was handed over before the game polled them go to its next holder.
    Held* h = s.find(queued.message.entity);
    const auto found = h != nullptr ? h->mail.find(queued.message.sender) : decltype(h->mail.end()){};
    if (h == nullptr || found == h->mail.end() || queued.number != found->second.polled + 1) continue;
    found->second.polled = queued.number;
    found->second.acknowledge = h->checkpoint_due = true;
    ++s.stats.messages_received;
    return std::move(queued.message);
  }
  return std::nullopt;
}

std::optional<SimulatorEvent> Simulator::poll_event() {
  if (impl_->events.empty()) return std::nullopt;
  SimulatorEvent event = std::move(impl_->events.front());
  impl_->events.pop_front();
  return event;
}

Tick Simulator::next_tick() const {
  return impl_->server.next_tick();
}
double Simulator::tick_time_s(Tick tick) const {
  return impl_->member.epoch_s + impl_->server.tick_time_s(tick) - kLeadS;
}
void Simulator::leave() {
  impl_->leaving = true;
}
bool Simulator::finished() const {
  const bool alone = impl_->members.simulators().empty();
  return impl_->leaving &&
         ((impl_->held.empty() && impl_->cells.held() == 0 && impl_->committed.empty()) || alone);
}
bool Simulator::ready() const {
  return impl_->ids.has_free();
}
bool Simulator::holds(EntityId id) const {
  return impl_->held.contains(id);
}
std::vector<EntityId> Simulator::held() const {
  std::vector<EntityId> ids;
  for (const auto& [id, h] : impl_->held)
    ids.push_back(id);
  return ids;
}
std::size_t Simulator::held_count() const {
  return impl_->held.size();
}
std::string Simulator::name(EntityId id) const {
  const std::string* name = impl_->access.name(id);
  return name != nullptr ? *name : std::string{};
}
bool Simulator::holds_cell(std::uint32_t cell) const {
  return cell < impl_->grid.size() && impl_->cells.holds(cell);
}
std::size_t Simulator::cell_count() const {
  return impl_->cells.held();
}
std::uint32_t Simulator::cell_epoch(std::uint32_t cell) const {
  return cell < impl_->grid.size() ? impl_->cells.epoch(cell) : 0;
}
const Server& Simulator::server() const {
  return impl_->server;
}
const ClusterStats& Simulator::stats() const {
  return impl_->stats;
}
std::uint32_t Simulator::epoch(EntityId id) const {
  const auto found = impl_->held.find(id);
  if (found != impl_->held.end()) return found->second.epoch;
  const Mirror::Known* known = impl_->mirror.find(id);
  return known != nullptr ? known->epoch : 0;
}

void Simulator::receive(double now_s) {
  Impl& s = *impl_;
  s.now_s = now_s;
  s.bus.service(now_s);
  // Before anything else: after a pause, nothing that this process believes holds.
  if (s.bus.stats().connects != s.connects || now_s - s.ticked_s > kPause * s.config.lease_s) s.doubt();
  s.doubtful = !s.bus.connected();
  while (const auto message = s.bus.poll())
    s.handle(*message);
  s.requests.poll();
  for (const EntityId id : s.mirror.take_overtaken()) {
    if (const Held* h = s.find(id); h != nullptr && s.mirror.newest_epoch(id) > h->epoch) s.lose(id);
  }
}

void Simulator::tick(double now_s) {
  Impl& s = *impl_;
  s.now_s = now_s;
  // A process can pause at any instruction. Here it checks for the last time before it writes.
  if (now_s - s.ticked_s > kPause * s.config.lease_s) s.doubt();
  s.ticked_s = now_s;
  s.doubtful = !s.bus.connected();
  if (s.doubtful) s.members.forgive(now_s);  // without a connection, the silence of the others means nothing
  if (s.members.review(now_s))
    for (const double later_s : {0.0, 1.0, 3.0, 6.0, 12.0})
      s.recover_at.push_back(now_s + later_s);
  s.count_entities();
  s.cells.run(now_s, s.bus.connected(), s.leaving, [&](std::uint32_t cell) { return s.entities_in[cell]; });
  if (s.cells.has_claimed())
    for (const double later_s : {0.05, 0.5, 1.0, 2.0, 6.0})
      s.recover_at.push_back(now_s + later_s);
  const std::size_t cells = s.cells.held();
  if (cells != s.cells_before)
    s.events.push_back(
        {cells > s.cells_before ? SimulatorEvent::Kind::cells_gained : SimulatorEvent::Kind::cells_lost});
  s.cells_before = cells;
  s.ids.run(now_s, s.bus.connected());
  s.name.run(now_s, s.bus.connected());
  s.watch_neighbours();
  s.mirror.run(s.world_s(now_s));
  s.move_between_cells();
  s.offer_entities();
  s.repeat_commits();
  s.check_expected();
  s.recover();
  s.access.set_distant_delay(s.members.delay_s());
  s.server.tick(s.world_s(now_s));
  s.collect_batches();
  s.send_batches();
  s.send_heartbeat();
  s.write_checkpoints();
  s.send_mail();
  s.bus.service(now_s);
}

// Authority.

// After a pause or a lost connection, others may hold the cells and entities. Nothing is written until the
// epochs are asserted again.
void Simulator::Impl::doubt() {
  connects = bus.stats().connects;
  ticked_s = now_s;
  members.forgive(now_s);
  cells.doubt(now_s);
  for (auto& [id, h] : held) {
    ++h.turn;
    h.busy = false;
    h.state = Held::State::asserting;
    h.to = {};
  }
}

// Writes the epoch of a new entity into the table.
void Simulator::Impl::confirm(EntityId id) {
  Held& h = held.at(id);
  h.busy = true;
  const std::uint32_t turn = h.turn;
  requests.put_if(BusTable::epochs, slot_key(id),
                  encode_value(EpochValue{h.epoch, member.process, id.generation}), h.revision,
                  [this, id, turn](const BusAnswer& answer) {
                    Held* written = find(id);
                    if (written == nullptr || written->turn != turn) return;
                    written->busy = false;
                    if (answer.status == BusAnswer::Status::conflict) return read_and_assert(id);
                    if (answer.status != BusAnswer::Status::done) return;
                    written->revision = answer.revision;
                    written->confirmed = true;
                  });
}

// Advances the epoch of a held entity. If another process has done so, the entity is lost.
void Simulator::Impl::assert_entity(EntityId id, std::uint64_t revision, std::uint32_t at_least) {
  Held& h = held.at(id);
  h.busy = true;
  const std::uint32_t turn = h.turn;
  const std::uint32_t epoch = std::max({h.epoch, at_least, mirror.newest_epoch(id)}) + 1;
  requests.put_if(
      BusTable::epochs, slot_key(id), encode_value(EpochValue{epoch, member.process, id.generation}),
      revision, [this, id, turn, epoch](const BusAnswer& answer) {
        Held* asserted = find(id);
        if (asserted == nullptr || asserted->turn != turn) return;
        asserted->busy = false;
        if (answer.status == BusAnswer::Status::conflict) return read_and_assert(id);
        if (answer.status != BusAnswer::Status::done) return;
        asserted->epoch = epoch;
        asserted->revision = answer.revision;
        asserted->confirmed = true;
        asserted->state = Held::State::holding;
        asserted->describe = true;
        asserted->cause = Cause::refresh;
        mirror.hold(id, epoch, asserted->cell, static_cast<std::uint32_t>(access.archetype(id).value_or(0)));
        access.publish_in_next_tick(id);
      });
}

// A compare-and-set failed. Either its predecessor succeeded without an answer, and the table names this
// process, or another process holds the entity.
void Simulator::Impl::read_and_assert(EntityId id) {
  Held& h = held.at(id);
  h.busy = true;
  const std::uint32_t turn = h.turn;
  requests.get(BusTable::epochs, slot_key(id), [this, id, turn](const BusAnswer& answer) {
    Held* doubtful_one = find(id);
    if (doubtful_one == nullptr || doubtful_one->turn != turn) return;
    doubtful_one->busy = false;
    if (answer.status == BusAnswer::Status::unavailable) return;
    const auto stored = decode_epoch(answer.value);
    // An attempt to give the entity away has succeeded after all: its new holder may not know it yet.
    if (stored && stored->holder == doubtful_one->committing_to && stored->epoch == doubtful_one->epoch + 1 &&
        stored->generation == id.generation)
      return finish_commit(id, stored->holder, answer.revision);
    if (stored && (stored->holder != member.process || stored->generation != id.generation)) {
      ++stats.writes_refused;
      return lose(id);
    }
    doubtful_one->state = Held::State::asserting;
    assert_entity(id, answer.status == BusAnswer::Status::done ? answer.revision : 0,
                  stored ? stored->epoch : 0);
  });
}

// Another process holds the entity.
void Simulator::Impl::lose(EntityId id) {
  const auto found = held.find(id);
  if (found == held.end()) return;
  const std::uint32_t epoch = found->second.epoch;
  held.erase(found);
  ++stats.entities_lost;
  events.push_back({SimulatorEvent::Kind::released, id});
  mirror.release(id, epoch, {}, world_s(now_s));
}

// The cell of an entity. An entity in a frame is in the cell of the outermost frame.
std::uint32_t Simulator::Impl::cell_of(EntityId id, std::uint32_t before) const {
  EntityId root = id;
  while (const EntityId outer = server.frame(root))
    root = outer;
  if (root != id) {
    if (const auto found = held.find(root); found != held.end()) return found->second.cell;
    if (const Mirror::Known* known = mirror.find(root)) return known->cell;
  }
  const auto state = server.in_world(root);
  return state ? grid.cell_at(state->position, before) : before;
}

// The process that should hold an entity; null if it is this one or nobody is known.
ProcessId Simulator::Impl::target_of(EntityId id, const Held& h) const {
  EntityId root = id;
  while (const EntityId outer = server.frame(root))
    root = outer;
  if (root != id) {
    if (held.contains(root)) return {};
    const Mirror::Known* known = mirror.find(root);
    return known != nullptr && members.takes(known->writer) ? known->writer : ProcessId{};
  }
  if (cells.holds(h.cell)) return {};
  const ProcessId holder = cells.holder(h.cell);
  return holder != member.process && members.takes(holder) ? holder : ProcessId{};
}

void Simulator::Impl::move_between_cells() {
  for (auto& [id, h] : held) {
    const std::uint32_t cell = cell_of(id, h.cell);
    if (cell == h.cell) continue;
    if (!h.describe && may_write(h))
      batches.try_emplace(h.cell, new_batch(h.cell)).first->second.gone.push_back({id, h.epoch, cell});
    h.cell = cell;
    h.describe = true;
    if (h.cause != Cause::spawned) h.cause = Cause::refresh;
    mirror.move_held(id, cell);
  }
}

// Handover: offer, accept, commit. Every message may be lost.

void Simulator::Impl::offer_entities() {
  for (auto& [id, h] : held) {
    if (requests.waiting() > kMostInFlight) return;
    if (h.busy || !bus.connected()) continue;
    if (h.state == Held::State::asserting) {
      assert_entity(id, h.revision, 0);
      continue;
    }
    if (h.state == Held::State::holding && !h.confirmed) {
      confirm(id);
      continue;
    }
    if (h.state == Held::State::committing) continue;
    const ProcessId to = target_of(id, h);
    if (!to) {
      h.state = Held::State::holding;
      continue;
    }
    if (h.state == Held::State::holding || h.to != to || now_s - h.offer_began_s > kOfferForS) {
      h.state = Held::State::offering;
      h.to = to;
      h.offer_began_s = now_s;
      h.offered_s = -1e9;
    }
    // The last motion of this process is then as new as possible, and the silence until the first one of the
    // receiver short.
    access.publish_in_next_tick(id);
    if (now_s - h.offered_s < kRepeatOfferS) continue;
    const auto entity = record_of(id, h);
    if (!entity) continue;
    h.offered_s = now_s;
    send(to, Offer{member.process, *entity, baggage_of(id, h)});
  }
}

void Simulator::Impl::handle(const Offer& offer) {
  const EntityRecord& entity = offer.entity;
  if (leaving || doubtful || held.contains(entity.id) || entity.epoch < mirror.newest_epoch(entity.id))
    return;
  const EntityId frame = entity.motion.frame;
  if (frame ? !held.contains(frame) : entity.cell >= grid.size() || !cells.holds(entity.cell)) return;
  expected[entity.id] = {offer, now_s, now_s};
  send(offer.from, Accept{member.process, entity.id, entity.epoch});
}

void Simulator::Impl::handle(const Accept& accept) {
  Held* h = find(accept.id);
  if (h == nullptr || h->state != Held::State::offering || h->to != accept.from || h->epoch != accept.epoch)
    return;
  if (h->busy || doubtful) return;
  begin_commit(accept.id, accept.from);
}

// Names the new holder in the table of epochs. Until the answer is there, this process continues to write.
void Simulator::Impl::begin_commit(EntityId id, ProcessId to) {
  Held& h = held.at(id);
  h.state = Held::State::committing;
  h.committing_to = to;
  h.busy = true;
  access.publish_in_next_tick(id);
  const std::uint32_t turn = h.turn;
  requests.put_if(BusTable::epochs, slot_key(id), encode_value(EpochValue{h.epoch + 1, to, id.generation}),
                  h.revision, [this, id, turn, to](const BusAnswer& answer) {
                    Held* given = find(id);
                    if (given == nullptr || given->turn != turn) return;
                    given->busy = false;
                    if (answer.status == BusAnswer::Status::done)
                      return finish_commit(id, to, answer.revision);
                    // Unknown, or overtaken. The table tells whether the write has happened after all.
                    given->busy = true;
                    requests.get(BusTable::epochs, slot_key(id), [this, id, turn, to](const BusAnswer& read) {
                      Held* unsure = find(id);
                      if (unsure == nullptr || unsure->turn != turn) return;
                      unsure->busy = false;
                      const auto stored = decode_epoch(read.value);
                      if (!stored) {
                        unsure->state = Held::State::asserting;
                      } else if (stored->holder == to && stored->epoch == unsure->epoch + 1) {
                        finish_commit(id, to, read.revision);
                      } else {
                        read_and_assert(id);
                      }
                    });
                  });
}

// The new holder is in the table: sends it everything and stops writing.
void Simulator::Impl::finish_commit(EntityId id, ProcessId to, std::uint64_t revision) {
  Held& h = held.at(id);
  auto entity = record_of(id, h);
  if (!entity) return lose(id);
  EntityBaggage baggage = baggage_of(id, h);
  entity->epoch = h.epoch + 1;
  baggage.holder = to;
  baggage.revision = revision;
  Commit commit{member.process, std::move(*entity), std::move(baggage), access.memory(id)};
  send(to, commit);
  committed[id] = {std::move(commit), to, now_s};
  const std::uint32_t epoch = h.epoch + 1;
  held.erase(id);
  ++stats.handovers_out;
  events.push_back({SimulatorEvent::Kind::released, id});
  mirror.release(id, epoch, to, world_s(now_s));
}

// Repeats commits until the new holder confirms them. If it dies before, this process takes the entity back:
// nobody else has a state that is as new.
void Simulator::Impl::repeat_commits() {
  std::vector<Committed> unclaimed;
  for (auto& [id, c] : committed) {
    if (is_orphan(c.to)) {
      unclaimed.push_back(c);
    } else if (now_s - c.sent_s > kRepeatCommitS) {
      c.sent_s = now_s;
      send(c.to, c.commit);
    }
  }
  if (!bus.connected()) return;
  for (const Committed& c : unclaimed) {
    committed.erase(c.commit.entity.id);
    if (!held.contains(c.commit.entity.id))
      adopt({c.commit.entity, c.commit.baggage}, c.commit.baggage.revision, true);
  }
}

void Simulator::Impl::handle(const Commit& commit) {
  const EntityRecord& entity = commit.entity;
  send(commit.from, Done{member.process, entity.id, entity.epoch});
  if (held.contains(entity.id) || entity.epoch <= mirror.newest_epoch(entity.id)) return;
  expected.erase(entity.id);
  take_over(entity, commit.baggage, entity.epoch, commit.baggage.revision, false, commit.memory);
}

void Simulator::Impl::handle(const Done& done) {
  const auto found = committed.find(done.id);
  if (found != committed.end() && found->second.commit.entity.epoch == done.epoch) committed.erase(found);
}

// An accepted offer without a commit: the commit was lost, and its sender may have died. If the table names
// this process, it takes the entity with what was offered.
void Simulator::Impl::check_expected() {
  std::erase_if(expected, [&](const auto& entry) { return entry.second.over || held.contains(entry.first); });
  for (auto& [key, e] : expected) {
    const EntityId id = key;
    if (e.asked || now_s - e.asked_s < kExpectCommitS || !bus.connected()) continue;
    e.asked = true;
    e.asked_s = now_s;
    requests.get(BusTable::epochs, slot_key(id), [this, id](const BusAnswer& read) {
      const auto waiting = expected.find(id);
      if (waiting == expected.end() || held.contains(id)) return;
      Expected& unsure = waiting->second;
      unsure.asked = false;
      if (read.status == BusAnswer::Status::unavailable) return;
      const auto stored = decode_epoch(read.value);
      const bool named = stored && stored->holder == member.process && stored->generation == id.generation;
      if (named) return adopt({unsure.offer.entity, unsure.offer.baggage}, read.revision, true);
      // It stays with the other process, or went elsewhere. The offer would be repeated.
      unsure.over = now_s - unsure.accepted_s > kKeepOfferS;
    });
  }
}

void Simulator::Impl::take_over(EntityRecord entity, EntityBaggage baggage, std::uint32_t epoch,
                                std::uint64_t revision, bool adopted, const MotionFit::Memory& memory) {
  const EntityId id = entity.id;
  State state = baggage.state;
  const Mirror::Known* known = mirror.find(id);
  if (adopted) {
    // The newest known motion is better than a checkpoint.
    const auto shown = server.state(id);
    if (known != nullptr && shown && !earlier(known->tick, baggage.tick)) {
      state = *shown;
    } else {
      const double age_s = static_cast<std::int32_t>(server.next_tick() - baggage.tick) / config.tick_rate_hz;
      if (is_sane(state)) state = extrapolate(state, std::clamp(age_s, 0.0, kCoastS));
    }
  }
  const Quantisation& q = codec.quantisation[entity.archetype];
  state = nearest_encodable(state, q);
  if (known == nullptr || !server.state(id)) {
    mirror.forget(id);
    if (!access.spawn_as(id, entity.archetype, entity.name, state, entity.motion.frame)) {
      ++stats.malformed;
      recover_at.push_back(now_s + kRecoverAgainS);
      return;
    }
  } else if (server.frame(id) != entity.motion.frame) {
    // The frame changed between the last batch and the commit; feeding the motion puts the entity into it.
    (void)access.feed(id, entity.motion, entity.tick, world_s(now_s), kSilenceS);
  }
  access.hold(id, state, baggage.priors, memory);
  if (baggage.route != 0) (void)server.follow(id, {baggage.route});
  for (std::size_t i = 0; i < entity.fields.size(); ++i)
    (void)server.set_field(id, i, entity.fields[i]);
  (void)server.set_relevance(id, entity.relevance);
  (void)server.set_groups(id, entity.groups);
  Held h;
  h.epoch = epoch;
  h.revision = revision;
  h.confirmed = true;
  h.cell = cell_of(id, entity.cell);
  h.cause = adopted ? Cause::adopted : Cause::handed_over;
  h.data = std::move(baggage.data);
  h.inherited = baggage.priors;
  h.checkpoint_tick = baggage.checkpoint_tick;
  h.checkpoint_s = adopted ? -1e9
                           : now_s - static_cast<std::int32_t>(server.next_tick() - baggage.checkpoint_tick) /
                                         config.tick_rate_hz;
  for (Correspondence& c : baggage.mail) {
    Held::Conversation& mine = h.mail[c.client];
    mine.inbox.resume(c.received);
    mine.polled = c.received;
    mine.outbox.resume(c.sent + (adopted ? kLostLetters : 0), std::move(c.waiting));
  }
  SimulatorEvent event{SimulatorEvent::Kind::acquired, id, h.data, adopted};
  mirror.hold(id, epoch, h.cell, entity.archetype);
  held.insert_or_assign(id, std::move(h));
  events.push_back(std::move(event));
  ++(adopted ? stats.adopted : stats.handovers_in);
}

// Recovery: the entities of dead simulators.

void Simulator::Impl::recover() {
  const auto due =
      std::find_if(recover_at.begin(), recover_at.end(), [&](double at_s) { return at_s <= now_s; });
  if (due == recover_at.end() || !bus.connected() || leaving) return;
  std::erase_if(recover_at, [&](double at_s) { return at_s <= now_s; });
  const auto later = [this] { recover_at.push_back(now_s + kRecoverAgainS); };
  requests.list(BusTable::checkpoints, [this, later](const BusAnswer& checkpoints) {
    if (checkpoints.status != BusAnswer::Status::done) return later();
    requests.list(BusTable::epochs, [this, later, stored = checkpoints.entries](const BusAnswer& epochs) {
      if (epochs.status != BusAnswer::Status::done) return later();
      std::unordered_map<std::string_view, const BusEntry*> by_key;
      for (const BusEntry& entry : epochs.entries)
        by_key.emplace(entry.key, &entry);
      for (const BusEntry& entry : stored) {
        const auto found = by_key.find(entry.key);
        recover(entry, found != by_key.end() ? found->second : nullptr);
      }
    });
  });
}

// Adopts the entity of a checkpoint if its holder is dead. The table of epochs names the holder: a checkpoint
// is older, and the holder that was named last may have died before it wrote anything.
void Simulator::Impl::recover(const BusEntry& stored, const BusEntry* stored_epoch) {
  const auto checkpoint = decode_checkpoint(stored.value, codec);
  if (!checkpoint || !checkpoint->content) return;
  CheckpointValue::Content content = *checkpoint->content;
  const EntityId id = content.entity.id;
  if (held.contains(id) || adopting.contains(id)) return;
  const auto epoch = stored_epoch != nullptr ? decode_epoch(stored_epoch->value) : std::nullopt;
  ProcessId holder = content.baggage.holder;
  std::uint64_t revision = content.baggage.revision;
  if (epoch) {
    if (epoch->generation > id.generation) return;  // the entity has ended
    revision = stored_epoch->revision;
    content.entity.epoch = std::max(content.entity.epoch, epoch->epoch);
    if (epoch->generation == id.generation) holder = epoch->holder;
  }
  // A handover is under way: the newer state is in its messages.
  const auto given = committed.find(id);
  if (holder == member.process ? expected.contains(id)
                               : given != committed.end() && given->second.to == holder)
    return;
  const Mirror::Known* known = mirror.find(id);
  const bool here = (content.entity.cell < grid.size() && cells.holds(content.entity.cell)) ||
                    unanswered.contains(id) || (known != nullptr && cells.holds(known->cell));
  if (here && is_orphan(holder)) adopt(content, revision, true);
}

// Takes an entity whose holder is dead. The table of epochs decides: it may name a living process.
void Simulator::Impl::adopt(const CheckpointValue::Content& content, std::uint64_t revision, bool again) {
  const EntityId id = content.entity.id;
  if (content.entity.motion.frame && !server.state(content.entity.motion.frame)) {
    adopting.erase(id);  // a later pass
    return;
  }
  if (again && !adopting.insert(id).second) return;
  const std::uint32_t epoch = std::max(content.entity.epoch, mirror.newest_epoch(id)) + 1;
  requests.put_if(BusTable::epochs, slot_key(id),
                  encode_value(EpochValue{epoch, member.process, id.generation}), revision,
                  [this, content, id, epoch, again](const BusAnswer& answer) {
                    if (answer.status == BusAnswer::Status::conflict && again) return read_and_adopt(content);
                    adopting.erase(id);
                    unanswered.erase(id);
                    if (answer.status == BusAnswer::Status::unavailable) {
                      unanswered.insert(id);
                      recover_at.push_back(now_s + kRecoverAgainS);
                    }
                    if (answer.status != BusAnswer::Status::done) return;
                    if (!held.contains(id) && epoch > mirror.newest_epoch(id))
                      take_over(content.entity, content.baggage, epoch, answer.revision, true);
                    // The table names this process, so nobody else takes it.
                    if (!held.contains(id)) recover_at.push_back(now_s + kRecoverAgainS);
                  });
}

// The checkpoint was older than the table. The entity may be taken if the process in the table is dead.
void Simulator::Impl::read_and_adopt(const CheckpointValue::Content& content) {
  const EntityId id = content.entity.id;
  requests.get(BusTable::epochs, slot_key(id), [this, content, id](const BusAnswer& read) {
    const auto stored = decode_epoch(read.value);
    const bool free = read.status == BusAnswer::Status::missing ||
                      (stored && is_orphan(stored->holder) && stored->generation <= id.generation);
    if (!free || held.contains(id)) {
      adopting.erase(id);
      if (read.status == BusAnswer::Status::done) unanswered.erase(id);
      return;
    }
    CheckpointValue::Content newest = content;
    if (stored) newest.entity.epoch = std::max(newest.entity.epoch, stored->epoch);
    adopt(newest, read.status == BusAnswer::Status::done ? read.revision : 0, false);
  });
}

// What is sent.

std::optional<EntityRecord> Simulator::Impl::record_of(EntityId id, const Held& h) const {
  const auto motion = access.published(id);
  if (!motion) return std::nullopt;
  EntityRecord entity;
  entity.id = id;
  entity.epoch = h.epoch;
  entity.archetype = static_cast<std::uint32_t>(*access.archetype(id));
  entity.name = *access.name(id);
  entity.groups = access.groups(id);
  entity.relevance = access.relevance(id);
  entity.cell = h.cell;
  entity.tick = motion->tick;
  entity.motion = motion->encoded;
  for (std::size_t i = 0; i < config.archetypes[entity.archetype].fields.size(); ++i)
    entity.fields.push_back(*server.field(id, i));
  return entity;
}

EntityBaggage Simulator::Impl::baggage_of(EntityId id, const Held& h) const {
  EntityBaggage baggage;
  baggage.holder = member.process;
  baggage.revision = h.confirmed ? h.revision : 0;
  baggage.state = server.state(id).value_or(State{});
  baggage.tick = last_tick();
  baggage.checkpoint_tick = h.checkpoint_tick;
  baggage.route = access.route(id).value;
  baggage.data = h.data;
  baggage.priors = access.priors(id);
  if (!baggage.priors.linear) baggage.priors.linear = h.inherited.linear;
  if (!baggage.priors.angular) baggage.priors.angular = h.inherited.angular;
  for (const auto& [client, c] : h.mail)
    baggage.mail.push_back({client, c.polled, c.outbox.last(), c.outbox.letters()});
  return baggage;
}

Batch Simulator::Impl::new_batch(std::uint32_t cell) const {
  Batch batch;
  batch.cell = cell;
  batch.writer = member.process;
  batch.tick = last_tick();
  return batch;
}

// Sorts what the tick has published into batches by cell.
void Simulator::Impl::collect_batches() {
  published.clear();
  access.append_published(published);
  const auto batch_of = [&](std::uint32_t cell) -> Batch& {
    return batches.try_emplace(cell, new_batch(cell)).first->second;
  };
  for (const EntityId id : published) {
    const Held* h = find(id);
    if (h == nullptr || h->describe || !may_write(*h)) continue;
    const auto motion = access.published(id);
    batch_of(h->cell).motions.push_back(
        {id, h->epoch, static_cast<std::uint32_t>(*access.archetype(id)), motion->tick, motion->encoded});
    ++stats.motions_sent;
  }
  for (auto& [id, h] : held) {
    if (h.state == Held::State::committing) access.publish_in_next_tick(id);
    if (!may_write(h) || !(h.describe || h.fields_changed)) continue;
    auto entity = record_of(id, h);
    if (!entity) continue;
    if (h.describe) {
      batch_of(h.cell).described.push_back({h.cause, std::move(*entity)});
      ++stats.motions_sent;
    } else {
      batch_of(h.cell).fields.push_back({id, h.epoch, entity->archetype, std::move(entity->fields)});
    }
    h.describe = h.fields_changed = false;
    h.cause = Cause::refresh;
  }
}

void Simulator::Impl::count_entities() {
  std::fill(entities_in.begin(), entities_in.end(), 0);
  for (const auto& [id, h] : held)
    ++entities_in[h.cell];
}

void Simulator::Impl::send_batch(std::uint32_t cell, Batch& batch) {
  batch.tick = last_tick();
  batch.holds_cell = cells.holds(cell);
  batch.cell_epoch = cells.epoch(cell);
  batch.entities = static_cast<std::uint32_t>(entities_in[cell]);
  if (!batch.snapshot) {
    Stream& stream = streams[cell];
    batch.sequence = ++stream.sequence;
    stream.sent_s = now_s;
  }
  bus.publish(cell_subject(config.world, cell), encode(batch, codec));
  ++stats.batches_sent;
}

void Simulator::Impl::send_batches() {
  if (doubtful) {
    batches.clear();
    return;
  }
  count_entities();
  for (std::uint32_t cell = 0; cell < grid.size(); ++cell) {
    const auto found = batches.find(cell);
    const bool silent =
        (cells.holds(cell) || entities_in[cell] > 0) && now_s - streams[cell].sent_s > kBatchEveryS;
    if (found == batches.end() && !silent) continue;
    Batch batch = found != batches.end() ? std::move(found->second) : new_batch(cell);
    // A large batch goes in parts, so that no message exceeds the limit of the bus.
    constexpr std::size_t kPart = 200;
    while (batch.described.size() > kPart) {
      Batch part = new_batch(cell);
      part.described.assign(std::make_move_iterator(batch.described.end() - kPart),
                            std::make_move_iterator(batch.described.end()));
      batch.described.resize(batch.described.size() - kPart);
      send_batch(cell, part);
    }
    send_batch(cell, batch);
  }
  batches.clear();
}

void Simulator::Impl::handle(const Ask& ask) {
  if (doubtful || ask.cell >= grid.size()) return;
  Batch batch = new_batch(ask.cell);
  batch.snapshot = true;
  batch.holds_cell = cells.holds(ask.cell);
  batch.cell_epoch = cells.epoch(ask.cell);
  batch.sequence = streams[ask.cell].sequence;
  batch.entities = static_cast<std::uint32_t>(entities_in[ask.cell]);
  batch.last_part = false;
  for (const auto& [id, h] : held) {
    if (h.cell != ask.cell || h.describe || !may_write(h)) continue;
    auto entity = record_of(id, h);
    if (!entity) continue;
    batch.described.push_back({Cause::refresh, std::move(*entity)});
    if (batch.described.size() < kSnapshotPart) continue;
    send(ask.from, batch);
    batch.described.clear();
  }
  batch.last_part = true;
  send(ask.from, batch);
}

void Simulator::Impl::send_heartbeat() {
  if (now_s - heartbeat_s < Members::kHeartbeatS || doubtful) return;
  heartbeat_s = now_s;
  Heartbeat heartbeat;
  heartbeat.process = member.process;
  heartbeat.name = member.name;
  heartbeat.simulator = true;
  heartbeat.entities = static_cast<std::uint32_t>(held.size());
  heartbeat.leaving = leaving;
  for (std::uint32_t cell = 0; cell < grid.size(); ++cell) {
    if (!cells.holds(cell)) continue;
    heartbeat.cells.push_back(cell);
    heartbeat.epochs.push_back(cells.epoch(cell));
  }
  bus.publish(members_subject(config.world), encode(heartbeat, codec));
}

// Stores what a successor needs: of a changed entity at most once per checkpoint_s.
void Simulator::Impl::write_checkpoints() {
  if (doubtful) return;
  for (auto& [id, h] : held) {
    if (now_s - h.checkpoint_s < config.checkpoint_s || !may_write(h) || h.state == Held::State::committing)
      continue;
    const auto motion = access.published(id);
    if (!motion) continue;
    const auto state = server.state(id);
    const bool moves =
        state && (state->velocity != glm::vec3{0.0f} || state->angular_velocity != glm::vec3{0.0f});
    const bool changed = h.checkpoint_due || motion->tick != h.checkpointed_motion || moves;
    if (!changed || (!h.confirmed && h.checkpoint_s > 0.0)) continue;
    h.checkpoint_s = now_s;
    h.checkpoint_tick = last_tick();
    h.checkpointed_motion = motion->tick;
    h.checkpoint_due = !h.confirmed;  // again, with the revision
    const CheckpointValue value{CheckpointValue::Content{*record_of(id, h), baggage_of(id, h)}};
    bus.put(BusTable::checkpoints, slot_key(id), encode_value(value, codec));
    ++stats.checkpoints;
  }
}

// What is received.

void Simulator::Impl::handle(const BusMessage& message) {
  const auto payload = decode(message.payload, codec);
  if (!payload) {
    ++stats.malformed;
    return;
  }
  std::visit([this](const auto& m) { handle(m); }, *payload);
}

void Simulator::Impl::handle(const Batch& batch) {
  if (batch.writer == member.process) return;
  if (batch.holds_cell && batch.cell < grid.size())
    cells.note_holder(batch.cell, batch.writer, batch.cell_epoch, now_s);
  mirror.receive(batch, world_s(now_s));
}

void Simulator::Impl::handle(const Heartbeat& heartbeat) {
  members.note(heartbeat, now_s);
  if (heartbeat.process == member.process || !heartbeat.simulator) return;
  for (std::size_t i = 0; i < heartbeat.cells.size(); ++i) {
    if (heartbeat.cells[i] < grid.size())
      cells.note_holder(heartbeat.cells[i], heartbeat.process, heartbeat.epochs[i], now_s);
  }
}

// Game messages. The messages of a client go to the inbox of the entity's holder. A holder acknowledges what
// the game has polled: all others are sent again, to the next holder if necessary.

void Simulator::Impl::handle(const Mail& mail) {
  Held* h = find(mail.entity);
  if (h == nullptr || mail.to_client || !may_write(*h) || !mail.client) return;
  if (!h->mail.contains(mail.client) && h->mail.size() >= kMaxCorrespondents) return;
  Held::Conversation& c = h->mail[mail.client];
  if (c.inbox.received() == c.polled && !mail.letters.empty() &&
      static_cast<std::int32_t>(mail.letters.front().number - c.polled) > 1)
    c.polled = mail.letters.front().number - 1;  // lost with a holder that died
  c.inbox.receive(mail.letters, [&](std::uint32_t number, const std::vector<std::byte>& payload) {
    messages.push_back({{mail.client, mail.entity, payload}, number});
  });
  c.acknowledge = true;
}

void Simulator::Impl::handle(const MailReceived& received) {
  Held* h = find(received.entity);
  if (h == nullptr || !received.to_client) return;
  const auto found = h->mail.find(received.client);
  if (found != h->mail.end()) found->second.outbox.acknowledge(received.number);
}

void Simulator::Impl::send_mail() {
  if (doubtful) return;
  for (auto& [id, h] : held) {
    if (h.mail.empty() || !may_write(h)) continue;
    for (auto it = h.mail.begin(); it != h.mail.end();) {
      auto& [client, c] = *it;
      // The correspondence with a gateway that has died is over.
      if (members.find(client.gateway) == nullptr && c.outbox.waiting() > 0) {
        it = h.mail.erase(it);
        continue;
      }
      if (std::exchange(c.acknowledge, false))
        send(client.gateway, MailReceived{member.process, client, id, false, c.polled});
      bool repeats = false;
      if (c.outbox.due(now_s, repeats)) {
        if (repeats) ++stats.messages_repeated;
        send(client.gateway, Mail{member.process, client, id, true, c.outbox.take(now_s)});
      }
      ++it;
    }
  }
}

// Subscribes to the held cells, because guests write there, and to their neighbours.
void Simulator::Impl::watch_neighbours() {
  std::set<std::uint32_t> wanted;
  for (std::uint32_t cell = 0; cell < grid.size(); ++cell) {
    if (!cells.holds(cell) && entities_in[cell] == 0) continue;
    grid.for_each_around(cell, [&](std::uint32_t near) { wanted.insert(near); });
  }
  if (wanted == subscribed) return;
  for (const std::uint32_t cell : wanted) {
    if (!subscribed.contains(cell)) bus.subscribe(cell_subject(config.world, cell));
  }
  for (const std::uint32_t cell : subscribed) {
    if (!wanted.contains(cell)) bus.unsubscribe(cell_subject(config.world, cell));
  }
  subscribed = wanted;
  mirror.watch(wanted);
}

}  // namespace reckoner
