// SPDX-License-Identifier: MIT
#include "server/src/session/reliable_section.hpp"

#include <algorithm>
#include <array>

namespace reckoner {
namespace {

// Session::is_stuck() limits the messages of the library, so that 16 bits of the confirmed count suffice.
constexpr MessageCounts::Limits kLimits{.window = {}, .game = {1024, 256 * 1024}};

// A client that respects the window (MessageCounts::kClientWindow) sends no more than that beyond what was
// taken from the stream, and the lengths of its messages.
constexpr ReliableReceiver::Limits kFromClient{
    .bytes = 160 * 1024, .parts = 512, .message = 17 * 1024, .early = 512};

}  // namespace

ReliableSection::ReliableSection(const ByteBudget& budget, const SpawnQueue& spawns, const PeerLink& link)
    : budget_(budget), spawns_(spawns), link_(link), counts_(kLimits), received_(kFromClient) {}

void ReliableSection::send(std::span<const std::byte> message) {
  add(message, MessageCounts::Origin::library);
}

void ReliableSection::add(std::span<const std::byte> message, MessageCounts::Origin origin) {
  if (!is_unordered(message)) add_order_mark();
  counts_.add(message.size(), origin);
  (void)sender_.add(message);
}

// The client processes the messages that follow only when it has the spawns that were written before.
void ReliableSection::add_order_mark() {
  if (spawns_.has_all() || marked_ == spawns_.newest_number()) return;
  marked_ = spawns_.newest_number();
  std::array<std::byte, 16> buffer;
  const auto mark = encode(AfterSpawnsMessage{marked_}, buffer);
  counts_.add(mark.size(), MessageCounts::Origin::library);
  (void)sender_.add(mark);
}

void ReliableSection::send_welcome(const WelcomeMessage& message) {
  std::vector<std::byte> buffer(kMaxReliableMessageBytes);
  send(encode(message, buffer));
  lacks_welcome_ = true;
}

void ReliableSection::send_route(const RouteMessage& message) {
  std::vector<std::byte> buffer(kMaxReliableMessageBytes);
  send(encode(message, buffer));
  routes_.push_back(counts_.added_count());
}

bool ReliableSection::knows_route(RouteId route) const {
  return !route || (route.value <= routes_.size() && sender_.has_received(routes_[route.value - 1]));
}

bool ReliableSection::send_game(std::span<const std::byte> encoded) {
  if (!counts_.has_room_for_game(encoded.size())) return false;
  add(encoded, MessageCounts::Origin::game);
  return true;
}

void ReliableSection::restart(std::uint32_t count) {
  sender_.restart(count);
  if (count > 0) lacks_welcome_ = false;
  room_ = kBurst;
  share_ = 1.0;
  uncharged_ = 0.0;
}

// Messages yield to motions: while the connection has a queue, their share falls, and then it rises again.
std::size_t ReliableSection::refill(double bytes, double now_s) {
  constexpr double kEveryS = 0.1, kDown = 0.7, kUp = 0.02, kLeast = 1.0 / 16.0;
  // A burst on a connection with a queue would delay the motions behind it.
  const double most = share_ < 1.0 ? ByteBudget::kDatagramBytes : kBurst;
  room_ = std::min(room_ + share_ * bytes, std::max(bytes, most));
  const auto charged = static_cast<std::size_t>(std::min(uncharged_, bytes));
  uncharged_ -= static_cast<double>(charged);
  if (sender_.bytes() == 0 || (followed_s_ && now_s < *followed_s_ + kEveryS)) return charged;
  followed_s_ = now_s;
  share_ = std::clamp(budget_.may_have_queue() ? kDown * share_ : share_ + kUp, kLeast, 1.0);
  return charged;
}

bool ReliableSection::is_due() const {
  const bool has_room =
      room_ > 0.0 && static_cast<double>(sender_.bytes_in_flight()) < budget_.max_in_flight();
  return has_room && sender_.is_due(now_s_);
}

bool ReliableSection::write(BitWriter& writer, std::size_t most_bits, Sequence sequence,
                            TrafficShare& traffic) {
  const std::size_t before = writer.bits_written();
  const bool twice = link_.loses() || !is_welcomed();  // a client waits for the welcome message
  (void)sender_.write(writer, most_bits, sequence, now_s_, twice);
  const std::size_t bits = writer.bits_written() - before;
  const std::size_t bytes = bits / 8;
  if (bits > 0) traffic.other(SentContent::reliable_message, 1, bits);
  room_ -= static_cast<double>(bytes);
  written_ += bytes;
  if (!uses_spare_) {
    credit_ += bytes;
    uncharged_ += static_cast<double>(bytes);
  }
  return bytes > 0;
}

}  // namespace reckoner
