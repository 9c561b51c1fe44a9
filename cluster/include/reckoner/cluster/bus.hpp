// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <reckoner/cluster/export.hpp>

namespace reckoner {

/// The tables of key-value pairs that the processes of a world share. A store keeps the last value of every
/// key, and a revision that grows with every write to the table.
enum class BusTable : std::uint8_t {
  leases,       ///< who may write a cell at present; a key vanishes when it is not written for the lease time
  epochs,       ///< epochs of cells and entities; keys never vanish
  checkpoints,  ///< the last checkpoint of every entity
  world,        ///< what all processes of the world must agree on, and which ids are taken
};
inline constexpr std::size_t kBusTables = 4;  ///< number of tables

/// A message from the bus.
struct BusMessage {
  std::string subject;             ///< the subject to which it was published
  std::vector<std::byte> payload;  ///< untrusted bytes
};

/// An entry of a table.
struct BusEntry {
  std::string key;               ///< the key
  std::vector<std::byte> value;  ///< untrusted bytes
  std::uint64_t revision = 0;    ///< above 0
};

/// The answer to a request.
struct BusAnswer {
  /// What became of the request.
  enum class Status : std::uint8_t {
    done,         ///< read or written
    missing,      ///< the key does not exist
    conflict,     ///< the key has another revision; nothing was written
    unavailable,  ///< no answer in time: a write may or may not have happened
  };
  std::uint64_t request = 0;            ///< the number that the request returned
  Status status = Status::unavailable;  ///< what became of it
  std::uint64_t revision = 0;           ///< of the key after a read or write that is done
  std::vector<std::byte> value{};       ///< after get(); untrusted bytes
  std::vector<BusEntry> entries{};      ///< after list(); untrusted bytes
};

/// Counters of a connection to the bus.
struct BusStats {
  std::uint64_t messages_sent = 0;        ///< published messages
  std::uint64_t messages_received = 0;    ///< messages returned by poll()
  std::uint64_t bytes_sent = 0;           ///< payload bytes of published messages and of writes
  std::uint64_t bytes_received = 0;       ///< payload bytes of messages and answers
  std::uint64_t dropped = 0;              ///< messages that this process received too slowly, and lost
  std::uint64_t foreign = 0;              ///< messages that were not published by publish(); refused
  std::uint64_t connects = 0;             ///< how often the connection was established
  std::uint64_t requests_unanswered = 0;  ///< requests that ended as `unavailable`
};

/// Connects a process with the other processes of a world. Messages may be lost, but not changed; messages of
/// one sender to one subject keep their order. Nothing is delivered twice. Requests are answered in any
/// order, exactly once each.
///
/// No function waits for the network. Not thread-safe: one thread at a time may use an object.
class RECKONER_CLUSTER_API Bus {
 public:
  virtual ~Bus() = default;

  /// Advances the time to `now_s`, s of any monotonic clock, and receives what has arrived.
  virtual void service(double now_s) = 0;
  /// True while there is a connection, as far as this process knows.
  [[nodiscard]] virtual bool connected() const = 0;

  /// Sends a message to all processes that subscribe to `subject`, this process included. Without a
  /// connection, the message is lost: a later replay would be stale.
  virtual void publish(std::string_view subject, std::span<const std::byte> payload) = 0;
  /// Receives the messages of a subject from now on. A last part `*` stands for any one part.
  virtual void subscribe(std::string_view subject) = 0;
  /// Receives no more messages of a subject. The text must be that of subscribe().
  virtual void unsubscribe(std::string_view subject) = 0;
  /// Removes and returns the oldest message that has arrived.
  [[nodiscard]] virtual std::optional<BusMessage> poll() = 0;

  /// Asks for the value of a key. Returns the number of the request. A value may be out of date.
  virtual std::uint64_t get(BusTable table, std::string_view key) = 0;
  /// Writes a key if it has the revision `revision`; 0: if it does not exist (compare-and-set). Returns the
  /// number of the request.
  virtual std::uint64_t put_if(BusTable table, std::string_view key, std::span<const std::byte> value,
                               std::uint64_t revision) = 0;
  /// Writes a key in any case, without an answer.
  virtual void put(BusTable table, std::string_view key, std::span<const std::byte> value) = 0;
  /// Asks for all entries of a table. Returns the number of the request.
  virtual std::uint64_t list(BusTable table) = 0;
  /// Removes and returns the oldest answer that has arrived.
  [[nodiscard]] virtual std::optional<BusAnswer> poll_answer() = 0;

  /// Counters since the object was created. Valid as long as the object.
  [[nodiscard]] virtual const BusStats& stats() const = 0;

 protected:
  Bus() = default;
  /// Copies the base class. Only a derived class can call it.
  Bus(const Bus&) = default;
  /// Assigns the base class. Only a derived class can call it.
  Bus& operator=(const Bus&) = default;
};

}  // namespace reckoner
