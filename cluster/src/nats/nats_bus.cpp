// SPDX-License-Identifier: MIT
#include <algorithm>
#include <atomic>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <nats/nats.h>

#include <reckoner/cluster/nats_bus.hpp>

// The tables are key-value buckets: streams with one message per subject `$KV.BUCKET.KEY`. Requests to them
// are plain messages of JetStream's protocol, because the calls of the NATS library wait for the network.

namespace reckoner {
namespace {

constexpr const char* kTableNames[kBusTables] = {"leases", "epochs", "checkpoints", "world"};
constexpr int kWrongSequence = 10071;  // JetStream's error code for a compare-and-set that has lost
constexpr int kOtherSettings = 10058;  // JetStream's error code for a stream that exists with other settings
constexpr int kNotEnabled = 10039;     // JetStream's error code for an account that has none
constexpr int kNoStream = 10059;       // JetStream's error code for a stream that does not exist
constexpr int kNoCluster = 10074;      // JetStream's error code for replicas on a single server
constexpr std::int64_t kNanoseconds = 1'000'000'000;
constexpr double kKeepEndedS = 10.0;  // much longer than the library needs for one message

// Deleters of the library's objects.
struct DestroyOptions {
  void operator()(natsOptions* options) const { natsOptions_Destroy(options); }
};
struct DestroyMessage {
  void operator()(natsMsg* message) const { natsMsg_Destroy(message); }
};
struct DestroySubscription {
  void operator()(natsSubscription* subscription) const { natsSubscription_Destroy(subscription); }
};
struct DestroyConnection {
  void operator()(natsConnection* connection) const { natsConnection_Destroy(connection); }
};
using Subscription = std::unique_ptr<natsSubscription, DestroySubscription>;
using Message = std::unique_ptr<natsMsg, DestroyMessage>;

// A whole number after `"name":` in a JSON object of JetStream; nullopt if there is none.
std::optional<std::uint64_t> json_number(std::string_view json, std::string_view name) {
  const std::string key = "\"" + std::string(name) + "\":";
  std::size_t at = json.find(key);
  if (at == std::string_view::npos) return std::nullopt;
  at += key.size();
  while (at < json.size() && json[at] == ' ')
    ++at;
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(json.data() + at, json.data() + json.size(), value);
  return error == std::errc{} ? std::optional{value} : std::nullopt;
}

std::vector<std::string_view> parts_of(std::string_view subject) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t dot = subject.find('.');
    parts.push_back(subject.substr(0, dot));
    if (dot == std::string_view::npos) return parts;
    subject.remove_prefix(dot + 1);
  }
}

std::optional<std::uint64_t> number_of(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size() ? std::optional{value} : std::nullopt;
}

// A message of a subscription.
struct Arrived {
  std::string subject;
  std::string reply;
  std::vector<std::byte> payload;
  std::uint64_t sequence = 0;  // of a stored value that was read
  bool missing = false;        // there is no such value
};

// Everything that the library's threads write. They may still run callbacks after a connection or a
// subscription was closed, even after the bus has ended. So each of them owns a share of this object until
// its last callback.
struct Received {
  std::size_t max_waiting = 0;  // constant while callbacks may run
  std::string inbox;            // subject prefix of answers; constant while callbacks may run
  std::mutex mutex;
  std::deque<Arrived> arrivals;  // under the mutex
  std::uint64_t dropped = 0;     // under the mutex
  std::uint64_t foreign = 0;     // under the mutex
  std::atomic<bool> is_connected{false};
  std::atomic<std::uint64_t> connects{0};
};
using SharedReceived = std::shared_ptr<Received>;

// The share of a connection or a subscription, in the form in which the library passes it to callbacks.
void* make_closure(const SharedReceived& received) {
  return new SharedReceived(received);
}
void delete_closure(void* closure) {
  delete static_cast<SharedReceived*>(closure);
}
Received& received_of(void* closure) {
  return **static_cast<SharedReceived*>(closure);
}

// True for a message that no process publishes: with headers, or with a reply subject. The NATS server sends
// what a bucket stores to any reply subject, whatever its user may publish to, but always with headers.
bool is_foreign(natsMsg* message) {
  const char** keys = nullptr;
  int count = 0;
  const bool has_headers = natsMsgHeader_Keys(message, &keys, &count) == NATS_OK && count > 0;
  std::free(static_cast<void*>(keys));
  return has_headers || natsMsg_GetReply(message) != nullptr;
}

// Called by a thread of the library.
void take_message(natsConnection*, natsSubscription*, natsMsg* raw, void* closure) {
  const Message message{raw};
  Received& received = received_of(closure);
  Arrived one;
  one.subject = natsMsg_GetSubject(raw);
  if (const char* reply = natsMsg_GetReply(raw)) one.reply = reply;
  const auto* data = reinterpret_cast<const std::byte*>(natsMsg_GetData(raw));
  one.payload.assign(data, data + natsMsg_GetDataLength(raw));
  const char* header = nullptr;
  if (natsMsgHeader_Get(raw, "Nats-Sequence", &header) == NATS_OK && header != nullptr)
    one.sequence = number_of(header).value_or(0);
  if (natsMsgHeader_Get(raw, "Status", &header) == NATS_OK && header != nullptr) one.missing = true;
  const bool foreign = is_foreign(raw);
  const std::scoped_lock lock{received.mutex};
  // Answers are never dropped: each was asked for.
  const bool answers = one.subject.starts_with(received.inbox) || one.subject.starts_with("$KV.");
  if (!answers && foreign) {
    ++received.foreign;
    return;
  }
  if (received.arrivals.size() >= received.max_waiting && !answers) {
    ++received.dropped;
    return;
  }
  received.arrivals.push_back(std::move(one));
}

}  // namespace

struct NatsBus::Impl {
  explicit Impl(const NatsConfig& given) : config(given) {}
  ~Impl() {
    if (connection) natsConnection_Close(connection.get());
    subscriptions.clear();
    ended.clear();
    answers_subscription.reset();
    entries_subscription.reset();
    connection.reset();
  }

  struct Request {
    enum class Kind : std::uint8_t { get, put, list };
    Kind kind = Kind::get;
    BusTable table = BusTable::leases;
    double until_s = 0.0;
    std::vector<BusEntry> entries{};
  };

  [[nodiscard]] std::string bucket(std::size_t table) const {
    return config.world + "-" + kTableNames[table];
  }
  [[nodiscard]] std::string stream(BusTable table) const {
    return "KV_" + bucket(static_cast<std::size_t>(table));
  }
  [[nodiscard]] std::string subject(BusTable table, std::string_view key) const {
    return "$KV." + bucket(static_cast<std::size_t>(table)) + "." + std::string(key);
  }
  // The consumer of a list() request. Its name begins with the number of the request.
  [[nodiscard]] std::string consumer_of(std::uint64_t number) const {
    return std::to_string(number) + "-" + unique;
  }
  std::optional<Error> connect();
  std::optional<Error> make_bucket(jsCtx* js, std::size_t table) const;
  [[nodiscard]] bool is_imported() const;
  [[nodiscard]] Subscription listen(const std::string& to) const;
  std::uint64_t begin(Request::Kind kind, BusTable table);
  void send_request(std::uint64_t number, const std::string& to, std::span<const std::byte> payload,
                    std::optional<std::uint64_t> revision);
  void handle_answer(std::uint64_t number, Arrived& arrived_answer);
  void handle_entry(Arrived& entry);
  void delete_consumer(std::uint64_t number, const std::string& from);
  void finish(std::uint64_t number, BusAnswer answer);

  NatsConfig config;
  std::unique_ptr<natsConnection, DestroyConnection> connection;
  std::map<std::string, Subscription, std::less<>> subscriptions;
  // Ended subscriptions, and when they ended. The library (before 3.6) may still be about to lock one for a
  // message that has just arrived: nats-io/nats.c, issue 637.
  struct Ended {
    Subscription subscription;
    double at_s = 0.0;
  };
  std::deque<Ended> ended;
  Subscription answers_subscription;
  Subscription entries_subscription;
  std::string deliveries;  // subject to which consumers deliver
  std::string unique;      // part of a consumer's name that no other process uses

  SharedReceived received = std::make_shared<Received>();

  double now_s = 0.0;
  bool serviced = false;  // service() was called
  std::deque<BusMessage> messages;
  std::deque<BusAnswer> answers;
  std::unordered_map<std::uint64_t, Request> open;
  std::uint64_t next_request = 1;
  BusStats stats;
};

std::optional<Error> NatsBus::Impl::connect() {
  // One thread delivers the messages of all subscriptions, in the order of their arrival.
  nats_SetMessageDeliveryPoolSize(1);
  natsOptions* made = nullptr;
  if (natsOptions_Create(&made) != NATS_OK) return Error{"the NATS library does not start"};
  const std::unique_ptr<natsOptions, DestroyOptions> options{made};
  const auto ms = [](double seconds) { return static_cast<std::int64_t>(std::ceil(seconds * 1000.0)); };
  std::vector<std::string> urls;
  for (std::size_t from = 0; from <= config.url.size();) {
    const std::size_t comma = std::min(config.url.find(',', from), config.url.size());
    urls.push_back(config.url.substr(from, comma - from));
    from = comma + 1;
  }
  std::vector<const char*> servers;
  servers.reserve(urls.size());
  for (const std::string& url : urls)
    servers.push_back(url.c_str());
  natsStatus status = natsOptions_SetServers(made, servers.data(), static_cast<int>(servers.size()));
  const auto set = [&](natsStatus result) {
    if (status == NATS_OK) status = result;
  };
  set(natsOptions_SetTimeout(made, ms(config.connect_timeout_s)));
  if (!config.name.empty()) set(natsOptions_SetName(made, config.name.c_str()));
  if (!config.user.empty()) set(natsOptions_SetUserInfo(made, config.user.c_str(), config.password.c_str()));
  if (!config.ca_file.empty()) {
    set(natsOptions_SetSecure(made, true));
    set(natsOptions_LoadCATrustedCertificates(made, config.ca_file.c_str()));
  }
  if (!config.cert_file.empty())
    set(natsOptions_LoadCertificatesChain(made, config.cert_file.c_str(), config.key_file.c_str()));
  set(natsOptions_UseGlobalMessageDelivery(made, true));
  set(natsOptions_SetSendAsap(made, true));
  // A process reconnects for ever. What it publishes in the meantime is lost on purpose: a replay is stale.
  set(natsOptions_SetAllowReconnect(made, true));
  set(natsOptions_SetMaxReconnect(made, -1));
  set(natsOptions_SetReconnectWait(made, 100));
  set(natsOptions_SetReconnectJitter(made, 50, 50));
  set(natsOptions_SetReconnectBufSize(made, 1));
  set(natsOptions_SetPingInterval(made, ms(config.ping_s)));
  set(natsOptions_SetMaxPingsOut(made, 2));
  set(natsOptions_SetMaxPendingMsgs(made,
                                    static_cast<int>(std::min<std::size_t>(config.max_waiting, 1u << 30))));
  received->max_waiting = config.max_waiting;
  std::unique_ptr<void, void (*)(void*)> closure{make_closure(received), &delete_closure};
  set(natsOptions_SetDisconnectedCB(
      made, [](natsConnection*, void* own) { received_of(own).is_connected = false; }, closure.get()));
  set(natsOptions_SetReconnectedCB(
      made,
      [](natsConnection*, void* own) {
        ++received_of(own).connects;
        received_of(own).is_connected = true;
      },
      closure.get()));
  // The last callback of a connection.
  set(natsOptions_SetClosedCB(
      made, [](natsConnection*, void* own) { delete_closure(own); }, closure.get()));
  // Without a handler, the library prints errors. Slow consumers are counted in service().
  set(natsOptions_SetErrorHandler(
      made, [](natsConnection*, natsSubscription*, natsStatus, void*) {}, nullptr));
  if (status != NATS_OK)
    return Error{std::string("the settings for NATS are invalid: ") + natsStatus_GetText(status)};
  natsConnection* opened = nullptr;
  status = natsConnection_Connect(&opened, made);
  if (status != NATS_OK)
    return Error{"no NATS server at " + config.url + ": " + natsStatus_GetText(status) +
                 " (start one with `nats-server -js`)"};
  connection.reset(opened);
  (void)closure.release();  // the connection owns it
  received->is_connected = true;
  received->connects = 1;

  jsCtx* js = nullptr;
  if (natsConnection_JetStream(&js, opened, nullptr) != NATS_OK)
    return Error{"the NATS library has no JetStream"};
  const std::unique_ptr<jsCtx, decltype(&jsCtx_Destroy)> guard{js, &jsCtx_Destroy};
  for (std::size_t table = 0; table < kBusTables; ++table) {
    if (auto error = make_bucket(js, table)) return error;
  }
  natsInbox* made_inbox = nullptr;
  if (natsInbox_Create(&made_inbox) != NATS_OK) return Error{"the NATS library has no memory"};
  const std::string base = made_inbox;
  natsInbox_Destroy(made_inbox);
  unique = base.substr(base.rfind('.') + 1);
  received->inbox = base + ".a";
  deliveries = base + ".l";
  answers_subscription = listen(received->inbox + ".*");
  entries_subscription = listen(deliveries);
  if (!answers_subscription || !entries_subscription)
    return Error{"the NATS server at " + config.url + " refuses subscriptions"};
  return std::nullopt;
}

// Null if the NATS server or the library refuses the subscription.
Subscription NatsBus::Impl::listen(const std::string& to) const {
  natsSubscription* made = nullptr;
  void* const closure = make_closure(received);
  if (natsConnection_Subscribe(&made, connection.get(), to.c_str(), &take_message, closure) != NATS_OK) {
    delete_closure(closure);
    return nullptr;
  }
  (void)natsSubscription_SetOnCompleteCB(made, &delete_closure, closure);  // fails only for invalid arguments
  return Subscription{made};
}

// True if another account has the buckets, and this one may read the one with the settings of the world. Any
// answer will do.
bool NatsBus::Impl::is_imported() const {
  const std::string name = bucket(static_cast<std::size_t>(BusTable::world));
  const std::string to = "$JS.API.DIRECT.GET.KV_" + name + ".$KV." + name + ".world";
  natsMsg* raw = nullptr;
  const auto timeout_ms = static_cast<std::int64_t>(1000.0 * config.connect_timeout_s);
  const natsStatus status =
      natsConnection_Request(&raw, connection.get(), to.c_str(), nullptr, 0, timeout_ms);
  const Message answer{raw};
  return status == NATS_OK;
}

std::optional<Error> NatsBus::Impl::make_bucket(jsCtx* js, std::size_t table) const {
  const std::string name = "KV_" + bucket(table);
  const std::string subjects = "$KV." + bucket(table) + ".>";
  const char* list[] = {subjects.c_str()};
  jsStreamConfig settings;
  jsStreamConfig_Init(&settings);
  settings.Name = name.c_str();
  settings.Subjects = list;
  settings.SubjectsLen = 1;
  settings.MaxMsgsPerSubject = 1;
  settings.Discard = js_DiscardNew;
  settings.Storage = js_FileStorage;
  settings.Replicas = config.replicas;
  // No rollups: one write with a rollup header would remove all other keys.
  settings.DenyDelete = settings.AllowDirect = true;
  if (table == static_cast<std::size_t>(BusTable::leases)) {
    settings.MaxAge = static_cast<std::int64_t>(config.lease_s * kNanoseconds);
    settings.Duplicates = std::min<std::int64_t>(settings.MaxAge, kNanoseconds);
  }
  jsErrCode code{};
  const auto other_settings = [&] {
    return Error{
        "the bucket '" + bucket(table) +
        "' exists with other settings: all processes need one lease time and one number of replicas; "
        "delete the bucket to begin again"};
  };
  // Only who may create buckets needs more than this.
  jsStreamInfo* info = nullptr;
  natsStatus status = js_GetStreamInfo(&info, js, name.c_str(), nullptr, &code);
  if (status == NATS_OK) {
    const jsStreamConfig& found = *info->Config;
    const bool equal = found.MaxAge == settings.MaxAge && found.Replicas == settings.Replicas &&
                       found.MaxMsgsPerSubject == settings.MaxMsgsPerSubject && found.AllowDirect &&
                       !found.AllowRollup && found.SubjectsLen == 1 && subjects == found.Subjects[0];
    const bool other_replicas = found.Replicas != settings.Replicas;
    jsStreamInfo_Destroy(info);
    if (equal) return std::nullopt;
    if (other_replicas) status = js_AddStream(nullptr, js, &settings, nullptr, &code);  // for its reason
    if (static_cast<int>(code) != kNoCluster) return other_settings();
  } else if (static_cast<int>(code) == kNotEnabled && is_imported()) {
    return std::nullopt;
  } else if (status == NATS_NOT_FOUND || static_cast<int>(code) == kNoStream) {
    code = {};
    status = js_AddStream(nullptr, js, &settings, nullptr, &code);
  }
  // Another process is making the same bucket at this moment. Once it exists, making it again succeeds.
  constexpr int kSubjectsInUse = 10065, kAttempts = 50, kPauseMs = 20;
  for (int i = 0; i < kAttempts && static_cast<int>(code) == kSubjectsInUse; ++i) {
    nats_Sleep(kPauseMs);
    code = {};
    status = js_AddStream(nullptr, js, &settings, nullptr, &code);
  }
  if (status == NATS_OK) return std::nullopt;
  if (static_cast<int>(code) == kOtherSettings) return other_settings();
  if (static_cast<int>(code) == kNoCluster)
    return Error{"the NATS server at " + config.url +
                 " is not a NATS cluster, so a bucket has 1 replica, not " + std::to_string(config.replicas)};
  if (status == NATS_NO_RESPONDERS || static_cast<int>(code) == kNotEnabled)
    return Error{"the NATS server at " + config.url +
                 " has no JetStream for this user (start it with `nats-server -js`), or no bucket '" +
                 bucket(table) + "' yet (start a simulator first)"};
  return Error{
      "the NATS server at " + config.url + " does not make the bucket '" + bucket(table) +
      "': " + natsStatus_GetText(status) + ", error " + std::to_string(static_cast<int>(code)) +
      (status == NATS_TIMEOUT ? " (this user may not create buckets: start a simulator first)" : "")};
}

Result<std::unique_ptr<NatsBus>> NatsBus::open(const NatsConfig& config) {
  auto impl = std::make_unique<Impl>(config);
  if (auto error = impl->connect()) return *error;
  return std::unique_ptr<NatsBus>{new NatsBus{std::move(impl)}};
}

NatsBus::NatsBus(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
NatsBus::~NatsBus() = default;

bool NatsBus::connected() const {
  return impl_->received->is_connected;
}
const BusStats& NatsBus::stats() const {
  return impl_->stats;
}

void NatsBus::publish(std::string_view subject, std::span<const std::byte> payload) {
  Impl& s = *impl_;
  if (!s.received->is_connected) return;
  ++s.stats.messages_sent;
  s.stats.bytes_sent += payload.size();
  (void)natsConnection_Publish(s.connection.get(), std::string(subject).c_str(), payload.data(),
                               static_cast<int>(payload.size()));
}

void NatsBus::subscribe(std::string_view subject) {
  Impl& s = *impl_;
  if (s.subscriptions.contains(subject)) return;
  const std::string name{subject};
  if (Subscription made = s.listen(name)) s.subscriptions.emplace(name, std::move(made));
}

void NatsBus::unsubscribe(std::string_view subject) {
  const auto found = impl_->subscriptions.find(subject);
  if (found == impl_->subscriptions.end()) return;
  std::int64_t dropped = 0;
  if (natsSubscription_GetDropped(found->second.get(), &dropped) == NATS_OK)
    impl_->stats.dropped += static_cast<std::uint64_t>(std::max<std::int64_t>(0, dropped));
  (void)natsSubscription_Unsubscribe(found->second.get());
  impl_->ended.push_back({std::move(found->second), impl_->now_s});
  impl_->subscriptions.erase(found);
}

std::optional<BusMessage> NatsBus::poll() {
  if (impl_->messages.empty()) return std::nullopt;
  BusMessage message = std::move(impl_->messages.front());
  impl_->messages.pop_front();
  return message;
}

std::optional<BusAnswer> NatsBus::poll_answer() {
  if (impl_->answers.empty()) return std::nullopt;
  BusAnswer answer = std::move(impl_->answers.front());
  impl_->answers.pop_front();
  return answer;
}

void NatsBus::service(double now_s) {
  Impl& s = *impl_;
  // The time is not known before the first call. Requests before it begin now.
  if (!std::exchange(s.serviced, true)) {
    for (auto& [number, request] : s.open)
      request.until_s += now_s;
  }
  s.now_s = now_s;
  while (!s.ended.empty() && now_s - s.ended.front().at_s > kKeepEndedS)
    s.ended.pop_front();
  std::deque<Arrived> arrivals;
  {
    const std::scoped_lock lock{s.received->mutex};
    arrivals.swap(s.received->arrivals);
    s.stats.dropped += std::exchange(s.received->dropped, 0);
    s.stats.foreign += std::exchange(s.received->foreign, 0);
  }
  s.stats.connects = s.received->connects;
  const std::string& inbox = s.received->inbox;
  for (Arrived& one : arrivals) {
    s.stats.bytes_received += one.payload.size();
    if (one.subject.starts_with(inbox)) {
      const auto number = number_of(std::string_view(one.subject).substr(inbox.size() + 1));
      if (number) s.handle_answer(*number, one);
    } else if (one.subject.starts_with("$KV.")) {
      s.handle_entry(one);
    } else {
      ++s.stats.messages_received;
      s.messages.push_back({std::move(one.subject), std::move(one.payload)});
    }
  }
  std::vector<std::uint64_t> late;
  for (const auto& [number, request] : s.open) {
    if (request.until_s <= now_s) late.push_back(number);
  }
  for (const std::uint64_t number : late) {
    ++s.stats.requests_unanswered;
    s.finish(number, {.status = BusAnswer::Status::unavailable});
  }
}

std::uint64_t NatsBus::Impl::begin(Request::Kind kind, BusTable table) {
  const std::uint64_t number = next_request++;
  open.emplace(number, Request{kind, table, now_s + config.request_timeout_s});
  return number;
}

void NatsBus::Impl::send_request(std::uint64_t number, const std::string& to,
                                 std::span<const std::byte> payload, std::optional<std::uint64_t> revision) {
  stats.bytes_sent += payload.size();
  if (!received->is_connected) return;  // it ends as `unavailable`
  natsMsg* made = nullptr;
  const std::string reply = received->inbox + "." + std::to_string(number);
  if (natsMsg_Create(&made, to.c_str(), reply.c_str(), reinterpret_cast<const char*>(payload.data()),
                     static_cast<int>(payload.size())) != NATS_OK)
    return;
  const Message message{made};
  if (revision && natsMsgHeader_Set(made, "Nats-Expected-Last-Subject-Sequence",
                                    std::to_string(*revision).c_str()) != NATS_OK)
    return;
  (void)natsConnection_PublishMsg(connection.get(), made);
}

// Ends the delivery of a list. Otherwise the consumer would live as long as this process, and the server
// would deliver every later entry to it.
void NatsBus::Impl::delete_consumer(std::uint64_t number, const std::string& from) {
  send_request(number, "$JS.API.CONSUMER.DELETE." + from + "." + consumer_of(number), {}, std::nullopt);
}

void NatsBus::Impl::finish(std::uint64_t number, BusAnswer answer) {
  const auto found = open.find(number);
  if (found != open.end()) {
    if (found->second.kind == Request::Kind::list) delete_consumer(number, stream(found->second.table));
    open.erase(found);
  }
  answer.request = number;
  answers.push_back(std::move(answer));
}

// A stored value that a consumer delivers. Its reply subject names the consumer and ends with its numbers:
// $JS.ACK.STREAM.CONSUMER.TRIES.SEQUENCE.., or with a domain and an account after ACK.
void NatsBus::Impl::handle_entry(Arrived& entry) {
  const auto parts = parts_of(entry.reply);
  const std::size_t shift = parts.size() > 9 ? 2 : 0;
  if (parts.size() < 9 + shift) return;
  const std::string_view consumer = parts[3 + shift];
  const auto number = number_of(consumer.substr(0, consumer.find('-')));
  const auto sequence = number_of(parts[5 + shift]), pending = number_of(parts[8 + shift]);
  const auto found = number ? open.find(*number) : open.end();
  // The request to delete this consumer was lost with the connection.
  if (number && found == open.end() && pending == std::uint64_t{0} && consumer == consumer_of(*number))
    delete_consumer(*number, std::string(parts[2 + shift]));
  if (found == open.end() || found->second.kind != Request::Kind::list || !sequence || !pending) return;
  Request& request = found->second;
  const std::string before = subject(request.table, "");
  if (!entry.subject.starts_with(before)) return;
  request.until_s = now_s + config.request_timeout_s;
  request.entries.push_back({entry.subject.substr(before.size()), std::move(entry.payload), *sequence});
  if (*pending > 0) return;
  BusAnswer answer{.status = BusAnswer::Status::done};
  answer.entries = std::move(request.entries);
  finish(*number, std::move(answer));
}

void NatsBus::Impl::handle_answer(std::uint64_t number, Arrived& arrived_answer) {
  const auto found = open.find(number);
  if (found == open.end()) return;
  const Request& request = found->second;
  const std::string_view text{reinterpret_cast<const char*>(arrived_answer.payload.data()),
                              arrived_answer.payload.size()};
  const bool error = text.find("\"error\"") != std::string_view::npos;
  BusAnswer answer{.status = BusAnswer::Status::done};
  switch (request.kind) {
    case Request::Kind::list:
      if (error) return finish(number, {.status = BusAnswer::Status::unavailable});
      if (json_number(text, "num_pending").value_or(1) == 0 && request.entries.empty())
        finish(number, std::move(answer));
      return;
    case Request::Kind::get:
      if (arrived_answer.missing) {
        answer.status = BusAnswer::Status::missing;
      } else if (arrived_answer.sequence == 0) {
        answer.status = BusAnswer::Status::unavailable;
      } else {
        answer.revision = arrived_answer.sequence;
        answer.value = std::move(arrived_answer.payload);
      }
      return finish(number, std::move(answer));
    case Request::Kind::put:
      if (!error) answer.revision = json_number(text, "seq").value_or(0);
      if (answer.revision == 0)
        answer.status = json_number(text, "err_code") == std::uint64_t{kWrongSequence}
                            ? BusAnswer::Status::conflict
                            : BusAnswer::Status::unavailable;
      return finish(number, std::move(answer));
  }
}

std::uint64_t NatsBus::get(BusTable table, std::string_view key) {
  Impl& s = *impl_;
  const std::uint64_t number = s.begin(Impl::Request::Kind::get, table);
  s.send_request(number, "$JS.API.DIRECT.GET." + s.stream(table) + "." + s.subject(table, key), {},
                 std::nullopt);
  return number;
}

std::uint64_t NatsBus::put_if(BusTable table, std::string_view key, std::span<const std::byte> value,
                              std::uint64_t revision) {
  Impl& s = *impl_;
  const std::uint64_t number = s.begin(Impl::Request::Kind::put, table);
  s.send_request(number, s.subject(table, key), value, revision);
  return number;
}

void NatsBus::put(BusTable table, std::string_view key, std::span<const std::byte> value) {
  Impl& s = *impl_;
  if (!s.received->is_connected) return;
  s.stats.bytes_sent += value.size();
  (void)natsConnection_Publish(s.connection.get(), s.subject(table, key).c_str(), value.data(),
                               static_cast<int>(value.size()));
}

// A short-lived consumer delivers all entries; finish() deletes it.
std::uint64_t NatsBus::list(BusTable table) {
  Impl& s = *impl_;
  const std::uint64_t number = s.begin(Impl::Request::Kind::list, table);
  const std::string consumer = s.consumer_of(number);
  const std::string request =
      "{\"stream_name\":\"" + s.stream(table) + "\",\"config\":{\"name\":\"" + consumer +
      "\",\"deliver_subject\":\"" + s.deliveries +
      "\",\"deliver_policy\":\"all\",\"ack_policy\":\"none\",\"replay_policy\":\"instant\","
      "\"mem_storage\":true,\"inactive_threshold\":5000000000}}";
  s.send_request(number, "$JS.API.CONSUMER.CREATE." + s.stream(table) + "." + consumer,
                 std::as_bytes(std::span{request}), std::nullopt);
  return number;
}

}  // namespace reckoner
