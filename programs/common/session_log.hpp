// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <reckoner/client/playout.hpp>
#include <reckoner/net/transport.hpp>
#include <reckoner/reckoning/result.hpp>

namespace reckoner::program {

/// A session of a client in a file (docs/RECORDING.md): all that passed between it and its transport, in
/// order, with the times it was told. Played back into a client, it comes to the same poses to the last bit.
///
/// What is in it is not encrypted any more; keys and tokens are not in it.

/// How the client was set up.
struct SessionSettings {
  std::uint16_t protocol = 0;  ///< kProtocolVersion of who recorded it
  std::string version;         ///< of Reckoner
  PlayoutConfig playout;
};

/// The client was told the time and took in what had arrived: Client::receive().
struct ServiceRecord {
  double local_s = 0.0;
};
/// The client drew: Client::frame().
struct FrameRecord {
  double local_s = 0.0;
};
/// The transport said something.
struct EventRecord {
  TransportEvent::Kind kind = TransportEvent::Kind::received;
  PeerId peer;
  Channel channel = Channel::state;
  std::uint32_t reason = 0;
  std::vector<std::byte> payload{};
};
/// Nothing more had arrived.
struct QuietRecord {};
/// The client sent something.
struct SendRecord {
  Channel channel = Channel::state;
  bool accepted = true;  ///< what the transport answered
  std::vector<std::byte> payload{};
};
/// Transport::max_state_bytes() from now on.
struct RoomRecord {
  std::uint32_t bytes = 0;
};
/// Nothing is missing at the end.
struct EndRecord {
  std::uint64_t records = 0;  ///< before this one
};
using SessionRecord =
    std::variant<ServiceRecord, FrameRecord, EventRecord, QuietRecord, SendRecord, RoomRecord, EndRecord>;

/// Writes a session. Records that do not fit on the disk are noticed by close(), which removes the file then.
class SessionWriter {
 public:
  [[nodiscard]] static Result<SessionWriter> create(const std::string& path, const SessionSettings& settings);

  void service(double local_s);
  void frame(double local_s);
  void event(const TransportEvent& event);
  void quiet();
  void send(Channel channel, bool accepted, std::span<const std::byte> payload);
  void room(std::size_t bytes);

  /// Ends the file. False if not all of it could be written.
  [[nodiscard]] bool close();

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  SessionWriter(std::FILE* file, std::string path) : file_(file), path_(std::move(path)) {}
  void begin(std::uint8_t kind);
  void flush();

  std::unique_ptr<std::FILE, Close> file_;
  std::string path_;
  std::vector<std::byte> bytes_;  // not written yet
  std::uint64_t records_ = 0;
  bool failed_ = false;
};

/// Reads a session, from a file of whatever origin.
class SessionReader {
 public:
  /// Fails on what is no such file, one of another version, or recorded with another protocol than this
  /// program speaks.
  [[nodiscard]] static Result<SessionReader> open(const std::string& path);
  /// The same of what is in a file; errors name it by `path`.
  [[nodiscard]] static Result<SessionReader> read(std::vector<std::byte> bytes, const std::string& path);

  [[nodiscard]] const SessionSettings& settings() const { return settings_; }

  /// The next record. Nothing after the last one, or where the file is cut short (cut_short()): whoever
  /// recorded it was killed. An error, with the place, if there is something that cannot be a record.
  [[nodiscard]] Result<std::optional<SessionRecord>> next();

  [[nodiscard]] bool cut_short() const { return cut_short_; }
  [[nodiscard]] std::uint64_t records() const { return records_; }

 private:
  SessionReader() = default;
  [[nodiscard]] Error error(const std::string& what) const;

  std::string path_;
  std::vector<std::byte> bytes_;
  std::size_t at_ = 0;
  SessionSettings settings_;
  double newest_s_ = 0.0;
  bool told_time_ = false;
  std::uint64_t records_ = 0;
  bool ended_ = false;
  bool cut_short_ = false;
};

}  // namespace reckoner::program
