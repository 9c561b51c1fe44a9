// SPDX-License-Identifier: MIT
#include "playground/src/digest.hpp"

#include "harness/metrics/figures.hpp"
#include "harness/replay/compare.hpp"

#include <bit>
#include <cstdint>

#include <fmt/format.h>

namespace reckoner::playground {
namespace {

class Hash {
 public:
  void add(std::uint64_t value) {
    for (int i = 0; i < 8; ++i)
      add_byte(static_cast<std::uint8_t>(value >> (8 * i)));
  }
  void add(double value) { add(std::bit_cast<std::uint64_t>(value)); }
  void add(float value) { add(std::uint64_t{std::bit_cast<std::uint32_t>(value)}); }
  void add(const std::string& text) {
    for (const char c : text)
      add_byte(static_cast<std::uint8_t>(c));
  }
  [[nodiscard]] std::uint64_t value() const { return value_; }

 private:
  void add_byte(std::uint8_t byte) { value_ = (value_ ^ byte) * 0x100000001b3u; }
  std::uint64_t value_ = 0xcbf29ce484222325u;
};

void add_frame(Hash& hash, double time_s, std::span<const harness::ShownPose> shown) {
  hash.add(time_s);
  for (const harness::ShownPose& pose : shown) {
    hash.add(std::uint64_t{pose.entity});
    for (int i = 0; i < 3; ++i)
      hash.add(pose.pose.position[i]);
    const glm::quat& q = pose.pose.orientation;
    for (const float part : {q.w, q.x, q.y, q.z})
      hash.add(part);
    hash.add(pose.shown_time_s);
  }
}

void add_packet(Hash& hash, const harness::PacketRecord& packet) {
  hash.add(packet.sent_s);
  hash.add(packet.arrived_s.value_or(-1.0));
  hash.add(std::uint64_t{packet.bytes});
  hash.add(std::uint64_t{packet.wire_bytes});
  hash.add(std::uint64_t{packet.entities});
  hash.add(std::uint64_t{packet.down});
  hash.add(std::uint64_t{packet.duplicate});
}

}  // namespace

Result<std::string> digest(const Settings& settings, const std::string& recording) {
  auto options = harness::replay_options(settings.run, settings.source, settings.link);
  if (!options) return Error{options.error()};
  const auto source = open_source(settings, recording);
  if (!source) return Error{source.error()};
  options->log_packets = true;
  std::string lines;
  Hash hash;
  harness::MethodObserver observer;
  observer.begin = [&](const std::string&) -> harness::PictureSink {
    hash = Hash();
    return
        [&hash](double time_s, std::span<const harness::ShownPose> shown) { add_frame(hash, time_s, shown); };
  };
  observer.end = [&](const std::string& method, const harness::ReplayResult& result) {
    for (const harness::PacketRecord& packet : result.packets)
      add_packet(hash, packet);
    hash.add(harness::to_json(result.run));
    lines += fmt::format("{} {:016x}\n", method, hash.value());
  };
  if (const auto wrong = harness::replay_methods(**source, *options, settings.methods, observer))
    return *wrong;
  return lines;
}

}  // namespace reckoner::playground
