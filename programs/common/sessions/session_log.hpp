// SPDX-License-Identifier: MIT
#pragma once

#include "scenario/trace/output_file.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <reckoner/client/playout.hpp>
#include <reckoner/net/ids.hpp>
#include <reckoner/net/transport.hpp>
#include <reckoner/reckoning/result.hpp>
#include <reckoner/reckoning/state.hpp>

namespace reckoner::program {

// A recorded session of a client (docs/RECORDING.md). It contains all calls between the client and its
// transport, in order, and the times that the game passed to the client. If the calls are repeated for
// another client, that client computes poses that are equal bit for bit. Payloads are not encrypted in the
// file. The file contains no keys and no tokens.

/// The configuration of the recorded client.
struct SessionSettings {
  std::uint16_t protocol = 0;  ///< kProtocolVersion of the recording program
  std::string version;         ///< version of Reckoner
  PlayoutConfig playout;
  std::uint32_t input_delay_ticks = 0;    ///< ClientConfig::input_delay_ticks
  std::uint32_t inputs_per_datagram = 1;  ///< ClientConfig::inputs_per_datagram
};

/// A record: the game called Client::update().
struct ServiceRecord {
  double local_s = 0.0;
};
/// A record: the game called Client::shown().
struct FrameRecord {
  double local_s = 0.0;  ///< time of the last update()
};
/// A record: the game called Client::move() or Client::teleport() for an entity that the client owns.
struct MoveRecord {
  double local_s = 0.0;  ///< time of the last update()
  EntityId entity{};
  EntityId frame{};
  bool teleports = false;
  State state{};  ///< relative to `frame`; sane (is_sane())
};
/// A record: the game called Client::next_step(), whether a tick was due or not. The time of this record and
/// of the next two is that of the last update().
struct StepRecord {
  std::vector<std::byte> input{};  ///< at most kMaxInputBytes
};
/// A record: the game called Client::predict().
struct PredictRecord {
  EntityId entity{};
  Tick tick = 0;
  State state{};                        ///< in the server's coordinates; sane (is_sane())
  std::vector<std::byte> game_state{};  ///< at most kMaxGameStateBytes
};
/// A record: the game called Client::poll_correction(), whether there was a correction or not.
struct PollCorrectionRecord {};
/// A record: Transport::poll() returned an event.
struct EventRecord {
  TransportEvent::Kind kind = TransportEvent::Kind::received;
  PeerId peer;
  std::uint32_t reason = 0;
  std::vector<std::byte> payload{};
  double waited_s = 0.0;
};
/// A record: Transport::poll() returned no event.
struct QuietRecord {};
/// A record: the client called Transport::send().
struct SendRecord {
  bool accepted = true;  ///< result of Transport::send()
  std::vector<std::byte> payload{};
};
/// A record: the result of Transport::max_datagram_bytes() has changed.
struct RoomRecord {
  std::uint32_t bytes = 0;
};
/// The record at the end of a complete file.
struct EndRecord {
  std::uint64_t records = 0;  ///< number of records before this one
};
using SessionRecord =
    std::variant<ServiceRecord, FrameRecord, MoveRecord, StepRecord, PredictRecord, PollCorrectionRecord,
                 EventRecord, QuietRecord, SendRecord, RoomRecord, EndRecord>;

/// Writes a session. If a write fails, close() reports it and removes the file.
class SessionWriter {
 public:
  [[nodiscard]] static Result<SessionWriter> create(const std::string& path, const SessionSettings& settings);

  /// Writes to memory: close() leaves the whole file in `bytes`, which must outlive the writer.
  [[nodiscard]] static SessionWriter to_memory(std::vector<std::byte>& bytes,
                                               const SessionSettings& settings);

  void service(double local_s);
  void frame(double local_s);
  /// The state must be sane (is_sane()).
  void move(const MoveRecord& record);
  /// Has at most kMaxInputBytes.
  void step(std::span<const std::byte> input);
  /// The state must be sane, and the game state at most kMaxGameStateBytes long.
  void predict(EntityId entity, Tick tick, const State& state, std::span<const std::byte> game_state);
  void poll_correction();
  void event(const TransportEvent& event);
  void quiet();
  void send(bool accepted, std::span<const std::byte> payload);
  void room(std::size_t bytes);

  /// Completes the file. Returns false if a write failed. Then no partial file remains, and an earlier file
  /// with this name is unchanged.
  [[nodiscard]] bool close();

 private:
  SessionWriter() = default;
  void write_head(const SessionSettings& settings);
  void begin(std::uint8_t kind);
  void flush();

  std::optional<scenario::OutputFile> file_;
  std::vector<std::byte>* memory_ = nullptr;  // instead of the file
  std::vector<std::byte> bytes_;              // bytes that are not yet written to the file
  std::uint64_t records_ = 0;
};

/// Reads a session from an untrusted file.
class SessionReader {
 public:
  /// Fails if the file is not a recorded session, or if this program does not support the version of its
  /// format or of its protocol.
  [[nodiscard]] static Result<SessionReader> open(const std::string& path);
  /// Reads the content of a file. `path` is only for error messages.
  [[nodiscard]] static Result<SessionReader> read(std::vector<std::byte> bytes, const std::string& path);

  [[nodiscard]] const SessionSettings& settings() const { return settings_; }

  /// The next record. Nullopt after the last record, and also at the end of an incomplete file. In the second
  /// case is_truncated() is true; for example, the recording program may have been killed. If the bytes are
  /// not a record, returns an error with their offset.
  [[nodiscard]] Result<std::optional<SessionRecord>> next();

  [[nodiscard]] bool is_truncated() const { return truncated_; }
  [[nodiscard]] std::uint64_t records() const { return records_; }

 private:
  SessionReader() = default;
  [[nodiscard]] Error error(const std::string& what) const;

  std::string path_;
  std::vector<std::byte> bytes_;
  std::size_t at_ = 0;
  SessionSettings settings_;
  double newest_s_ = 0.0;
  bool has_time_ = false;
  std::uint16_t format_ = 0;
  std::uint64_t records_ = 0;
  bool ended_ = false;
  bool truncated_ = false;
};

}  // namespace reckoner::program
