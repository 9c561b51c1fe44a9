// SPDX-License-Identifier: MIT
#include "programs/common/sessions/session_log.hpp"

#include "net/src/messages/messages.hpp"
#include "net/src/wire/byte_stream.hpp"
#include "scenario/trace/memory.hpp"

#include <array>
#include <bit>
#include <cmath>
#include <concepts>
#include <cstring>

#include <fmt/format.h>
#include <glm/gtc/quaternion.hpp>

#include <reckoner/client/client.hpp>

namespace reckoner::program {
namespace {

constexpr std::string_view kMagic = "RECKLOG\n";
// Format 2 added the record kind kDelayedEvent, format 3 kMove. Format 4 dropped the channel of events and
// sends; no recording of an earlier format has a protocol version that this program reads. Format 5 added the
// calls of games that predict, and the settings of inputs in the head.
constexpr std::uint16_t kFormat = 5;
constexpr std::uint16_t kOldestFormat = 4;
constexpr std::uint16_t kFormatOfPredictions = 5;
constexpr std::size_t kMaxFileBytes = std::size_t{4} << 30;
constexpr double kMaxWaitS = 3600.0;
constexpr std::size_t kBufferBytes = std::size_t{64} << 10;

enum RecordKind : std::uint8_t {
  kService = 1,
  kFrame = 2,
  kEvent = 3,
  kSend = 4,
  kRoom = 5,
  kEnd = 6,
  kQuiet = 7,
  kDelayedEvent = 8,
  kMove = 9,
  kStep = 10,
  kPredict = 11,
  kPollCorrection = 12
};

constexpr std::uint8_t kLastEventKind = static_cast<std::uint8_t>(TransportEvent::Kind::received);
constexpr std::uint8_t kLastMode = static_cast<std::uint8_t>(PlayoutMode::ahead);

template <std::unsigned_integral T>
void put(std::vector<std::byte>& out, T value) {
  std::array<std::byte, sizeof value> bytes;
  wire::ByteWriter(bytes).number(value);
  out.insert(out.end(), bytes.begin(), bytes.end());
}
void put(std::vector<std::byte>& out, double value) {
  put(out, std::bit_cast<std::uint64_t>(value));
}
void put(std::vector<std::byte>& out, std::span<const std::byte> bytes) {
  put(out, static_cast<std::uint32_t>(bytes.size()));
  out.insert(out.end(), bytes.begin(), bytes.end());
}

void put(std::vector<std::byte>& out, const glm::vec3& v) {
  for (int i = 0; i < 3; ++i)
    put(out, std::bit_cast<std::uint32_t>(v[i]));
}
void put(std::vector<std::byte>& out, const State& state) {
  for (int i = 0; i < 3; ++i)
    put(out, state.position[i]);
  put(out, state.velocity);
  put(out, state.acceleration);
  const glm::quat& q = state.orientation;
  for (const float part : {q.w, q.x, q.y, q.z})
    put(out, std::bit_cast<std::uint32_t>(part));
  put(out, state.angular_velocity);
}

// Reads the values of a record. After the end of the file, all values are zero and truncated() is true.
class RecordReader {
 public:
  RecordReader(std::span<const std::byte> bytes, std::size_t at) : stream_(bytes) { stream_.skip(at); }

  template <std::unsigned_integral T>
  T number() {
    return stream_.number<T>();
  }
  double real() { return std::bit_cast<double>(number<std::uint64_t>()); }
  float single() { return std::bit_cast<float>(number<std::uint32_t>()); }
  glm::vec3 vector() {
    glm::vec3 v{0.0f};
    for (int i = 0; i < 3; ++i)
      v[i] = single();
    return v;
  }
  State state() {
    State state;
    for (int i = 0; i < 3; ++i)
      state.position[i] = real();
    state.velocity = vector();
    state.acceleration = vector();
    glm::quat& q = state.orientation;
    for (float* part : {&q.w, &q.x, &q.y, &q.z})
      *part = single();
    state.angular_velocity = vector();
    return state;
  }
  // Reads a length, and then this number of bytes. The record is malformed if the length exceeds `most`.
  std::vector<std::byte> bytes(std::size_t most) {
    const std::size_t size = number<std::uint32_t>();
    if (size > most) malformed_ = true;
    if (malformed_) return {};
    const auto content = stream_.read_bytes(size);
    return {content.begin(), content.end()};
  }

  [[nodiscard]] bool truncated() const { return stream_.failed(); }
  [[nodiscard]] bool malformed() const { return malformed_; }
  [[nodiscard]] std::size_t position() const { return stream_.position(); }

 private:
  wire::ByteReader stream_;
  bool malformed_ = false;
};

std::optional<std::vector<std::byte>> read_all(const std::string& path) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"), std::fclose);
  if (!file) return std::nullopt;
  std::vector<std::byte> bytes;
  const auto read = [&]() -> std::optional<std::vector<std::byte>> {
    std::array<std::byte, kBufferBytes> buffer;
    while (const std::size_t got = std::fread(buffer.data(), 1, buffer.size(), file.get())) {
      bytes.insert(bytes.end(), buffer.begin(), buffer.begin() + static_cast<std::ptrdiff_t>(got));
      if (bytes.size() > kMaxFileBytes) return std::nullopt;
    }
    if (std::ferror(file.get()) != 0) return std::nullopt;
    return std::move(bytes);
  };
  return scenario::naming_the_file(path, read);
}

// Reads one record. Nullopt if its kind or one of its values is invalid.
std::optional<SessionRecord> read_record(RecordReader& reader, std::uint16_t format) {
  const auto record = reader.number<std::uint8_t>();
  if (record >= kStep && format < kFormatOfPredictions) return std::nullopt;
  switch (record) {
    case kService:
      return ServiceRecord{reader.real()};
    case kFrame:
      return FrameRecord{reader.real()};
    case kMove: {
      MoveRecord move{reader.real()};
      move.entity = entity_id_of(reader.number<std::uint64_t>());
      const auto frame = reader.number<std::uint64_t>();
      move.frame = entity_id_of(frame);
      const auto teleports = reader.number<std::uint8_t>();
      move.teleports = teleports == 1;
      move.state = reader.state();
      const bool valid = move.entity && (move.frame || frame == 0) && teleports <= 1 && is_sane(move.state);
      if (!valid && !reader.truncated()) return std::nullopt;
      return move;
    }
    case kStep:
      return StepRecord{reader.bytes(kMaxInputBytes)};
    case kPredict: {
      PredictRecord result;
      result.entity = entity_id_of(reader.number<std::uint64_t>());
      result.tick = reader.number<Tick>();
      result.state = reader.state();
      result.game_state = reader.bytes(kMaxGameStateBytes);
      if ((!result.entity || !is_sane(result.state)) && !reader.truncated()) return std::nullopt;
      return result;
    }
    case kPollCorrection:
      return PollCorrectionRecord{};
    case kDelayedEvent:
    case kEvent: {
      const double waited_s = record == kDelayedEvent ? reader.real() : 0.0;
      if (!(waited_s >= 0.0 && waited_s <= kMaxWaitS)) return std::nullopt;
      const auto kind = reader.number<std::uint8_t>();
      if (kind > kLastEventKind) return std::nullopt;
      EventRecord event{static_cast<TransportEvent::Kind>(kind), {}};
      event.peer = PeerId{reader.number<std::uint32_t>()};
      event.reason = reader.number<std::uint32_t>();
      event.payload = reader.bytes(kMaxDatagramBytes);
      event.waited_s = waited_s;
      return event;
    }
    case kSend: {
      const auto accepted = reader.number<std::uint8_t>();
      if (accepted > 1) return std::nullopt;
      return SendRecord{accepted == 1, reader.bytes(kMaxDatagramBytes)};
    }
    case kRoom: {
      const auto bytes = reader.number<std::uint32_t>();
      if (bytes > kMaxDatagramBytes) return std::nullopt;
      return RoomRecord{bytes};
    }
    case kQuiet:
      return QuietRecord{};
    case kEnd:
      return EndRecord{reader.number<std::uint64_t>()};
    default:
      return std::nullopt;
  }
}

// The local time of a call of the game; nullopt for other records.
std::optional<double> time_of(const SessionRecord& record) {
  if (const auto* service = std::get_if<ServiceRecord>(&record)) return service->local_s;
  if (const auto* frame = std::get_if<FrameRecord>(&record)) return frame->local_s;
  if (const auto* move = std::get_if<MoveRecord>(&record)) return move->local_s;
  return std::nullopt;
}

}  // namespace

Result<SessionWriter> SessionWriter::create(const std::string& path, const SessionSettings& settings) {
  auto file = scenario::OutputFile::create(path);
  if (!file) return Error{"could not create " + path + ": " + file.error()};
  SessionWriter writer;
  writer.file_ = std::move(*file);
  writer.write_head(settings);
  return writer;
}

SessionWriter SessionWriter::to_memory(std::vector<std::byte>& bytes, const SessionSettings& settings) {
  SessionWriter writer;
  bytes.clear();
  writer.memory_ = &bytes;
  writer.write_head(settings);
  return writer;
}

void SessionWriter::write_head(const SessionSettings& settings) {
  for (const char c : kMagic)
    bytes_.push_back(static_cast<std::byte>(c));
  put(bytes_, kFormat);
  put(bytes_, settings.protocol);
  put(bytes_, std::as_bytes(std::span(settings.version)));
  put(bytes_, static_cast<std::uint8_t>(settings.playout.mode));
  put(bytes_, settings.playout.delay_s);
  put(bytes_, settings.playout.max_delay_s);
  put(bytes_, settings.playout.blend_s);
  put(bytes_, 1.0);  // a blend may also be given in frames; then this is their rate
  put(bytes_, static_cast<std::uint8_t>(settings.playout.blend_curve));
  put(bytes_, static_cast<std::uint8_t>(settings.input_delay_ticks));
  put(bytes_, static_cast<std::uint8_t>(settings.inputs_per_datagram));
}

void SessionWriter::begin(std::uint8_t kind) {
  if (bytes_.size() >= kBufferBytes) flush();
  put(bytes_, kind);
  ++records_;
}

void SessionWriter::flush() {
  if (memory_ != nullptr) {
    memory_->insert(memory_->end(), bytes_.begin(), bytes_.end());
    bytes_.clear();
    return;
  }
  file_->write({reinterpret_cast<const char*>(bytes_.data()), bytes_.size()});
  bytes_.clear();
}

void SessionWriter::service(double local_s) {
  begin(kService);
  put(bytes_, local_s);
}

void SessionWriter::frame(double local_s) {
  begin(kFrame);
  put(bytes_, local_s);
}

void SessionWriter::move(const MoveRecord& record) {
  begin(kMove);
  put(bytes_, record.local_s);
  put(bytes_, to_number(record.entity));
  put(bytes_, to_number(record.frame));
  put(bytes_, static_cast<std::uint8_t>(record.teleports ? 1 : 0));
  put(bytes_, record.state);
}

void SessionWriter::step(std::span<const std::byte> input) {
  begin(kStep);
  put(bytes_, input);
}

void SessionWriter::predict(EntityId entity, Tick tick, const State& state,
                            std::span<const std::byte> game_state) {
  begin(kPredict);
  put(bytes_, to_number(entity));
  put(bytes_, tick);
  put(bytes_, state);
  put(bytes_, game_state);
}

void SessionWriter::poll_correction() {
  begin(kPollCorrection);
}

void SessionWriter::event(const TransportEvent& event) {
  begin(event.waited_s > 0.0 ? kDelayedEvent : kEvent);
  if (event.waited_s > 0.0) put(bytes_, event.waited_s);
  put(bytes_, static_cast<std::uint8_t>(event.kind));
  put(bytes_, event.peer.value);
  put(bytes_, event.reason);
  put(bytes_, event.payload);
}

void SessionWriter::quiet() {
  begin(kQuiet);
}

void SessionWriter::send(bool accepted, std::span<const std::byte> payload) {
  begin(kSend);
  put(bytes_, static_cast<std::uint8_t>(accepted ? 1 : 0));
  put(bytes_, payload);
}

void SessionWriter::room(std::size_t bytes) {
  begin(kRoom);
  put(bytes_, static_cast<std::uint32_t>(bytes));
}

bool SessionWriter::close() {
  const std::uint64_t records = records_;
  begin(kEnd);
  put(bytes_, records);
  flush();
  return memory_ != nullptr || file_->close();
}

Result<SessionReader> SessionReader::open(const std::string& path) {
  auto bytes = read_all(path);
  if (!bytes) return Error{"could not read " + path};
  return read(std::move(*bytes), path);
}

Result<SessionReader> SessionReader::read(std::vector<std::byte> bytes, const std::string& path) {
  SessionReader reader;
  reader.path_ = path;
  reader.bytes_ = std::move(bytes);
  const bool ours = reader.bytes_.size() >= kMagic.size() &&
                    std::memcmp(reader.bytes_.data(), kMagic.data(), kMagic.size()) == 0;
  if (!ours) return Error{path + " is not a recorded session"};
  RecordReader values{reader.bytes_, kMagic.size()};
  const auto format = values.number<std::uint16_t>();
  const auto other_format = [&] {
    return Error{fmt::format("{} has format {}; this program reads formats {} to {}", path, format,
                             kOldestFormat, kFormat)};
  };
  if (!values.truncated() && (format == 0 || format > kFormat)) return other_format();
  SessionSettings& s = reader.settings_;
  s.protocol = values.number<std::uint16_t>();
  constexpr std::size_t kLongestVersion = 64;
  for (const std::byte b : values.bytes(kLongestVersion)) {
    const auto c = static_cast<char>(b);
    s.version.push_back(c > ' ' && c < 0x7f ? c : '?');
  }
  const auto mode = values.number<std::uint8_t>();
  s.playout.mode = static_cast<PlayoutMode>(mode);
  s.playout.delay_s = values.real();
  s.playout.max_delay_s = values.real();
  s.playout.blend_s = values.real();
  s.playout.blend_s = frames_to_seconds(s.playout.blend_s, values.real());
  s.playout.blend_curve = BlendCurve::cubic;
  std::uint8_t curve = 0;
  if (format >= kFormatOfPredictions) {
    curve = values.number<std::uint8_t>();
    s.input_delay_ticks = values.number<std::uint8_t>();
    s.inputs_per_datagram = values.number<std::uint8_t>();
  }
  if (curve == 1) s.playout.blend_curve = BlendCurve::damped;
  if (values.truncated() || values.malformed() || mode > kLastMode || curve > 1)
    return Error{path + ": the header is malformed"};
  if (const auto invalid = find_invalid_setting(s.playout))
    return Error{path + ": the header is malformed: " + invalid->message};
  if (s.protocol != kProtocolVersion) {
    return Error{fmt::format("{} was recorded with protocol {} (Reckoner {}); this program uses {}", path,
                             s.protocol, s.version, kProtocolVersion)};
  }
  if (format < kOldestFormat) return other_format();
  reader.format_ = format;
  constexpr std::uint32_t kMostDelay = 3, kMostInputs = 4;  // as find_invalid_setting(ClientConfig) allows
  if (s.input_delay_ticks > kMostDelay || s.inputs_per_datagram < 1 || s.inputs_per_datagram > kMostInputs)
    return Error{path + ": the header is malformed"};
  reader.at_ = values.position();
  return reader;
}

Result<std::optional<SessionRecord>> SessionReader::next() {
  using Next = std::optional<SessionRecord>;
  if (ended_ || truncated_) return Next{};
  RecordReader values{bytes_, at_};
  auto record = read_record(values, format_);
  if (values.truncated()) {
    truncated_ = true;
    return Next{};
  }
  if (!record || values.malformed()) return error("the record is invalid");
  if (const auto time_s = time_of(*record)) {
    constexpr double kLatestS = 1e12;
    if (!(std::abs(*time_s) < kLatestS) || (has_time_ && *time_s < newest_s_))
      return error("the time is invalid");
    has_time_ = true;
    newest_s_ = *time_s;
  } else if (!has_time_ && !std::holds_alternative<EndRecord>(*record)) {
    return error("there is a record before the first time");
  }
  if (const auto* end = std::get_if<EndRecord>(&*record)) {
    if (end->records != records_ || values.position() != bytes_.size())
      return error("the end record is invalid");
    ended_ = true;
    return Next{};
  }
  at_ = values.position();
  ++records_;
  return Next{std::move(record)};
}

Error SessionReader::error(const std::string& what) const {
  return Error{fmt::format("{}: byte {}: {}", path_, at_, what)};
}

}  // namespace reckoner::program
