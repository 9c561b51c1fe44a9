// SPDX-License-Identifier: MIT
#include "server/src/publish/field_updates.hpp"

#include "net/src/codec/field_codec.hpp"

#include <algorithm>
#include <array>
#include <bit>

#include <reckoner/net/ids.hpp>
#include <reckoner/net/transport.hpp>

namespace reckoner {
namespace {

constexpr std::uint32_t bit(std::size_t field) {
  return std::uint32_t{1} << field;
}

template <class List>
auto place_of(List& list, std::size_t slot) {
  return std::lower_bound(list.begin(), list.end(), slot,
                          [](const auto& due, std::size_t s) { return due.id.slot() < s; });
}

// Returns an upper bound for the size of the changes of an entity, bits. The bound is the size that the
// changes have at the start of the section, where the slot number takes the most bits.
std::size_t bits_of(const FieldTable::Row& row, std::uint32_t fields, Tick now, const FieldTable& table) {
  std::array<std::byte, kMaxFields*(kMaxBlobBytes + 16)> scratch;
  BitWriter sizing{scratch};
  write_field_slot(sizing, static_cast<std::uint32_t>(row.id.slot()), -1);
  write_changes(sizing, table.specs(row), row.values, row.changed, fields, now);
  return sizing.bits_written();
}

// Returns the fields that fit into `most_bits` bits, chosen in ascending order. Not all may fit, because the
// blobs of a single entity may be larger than a datagram.
std::uint32_t fields_that_fit(const FieldTable::Row& row, std::uint32_t fields, std::size_t most_bits,
                              Tick now, const FieldTable& table) {
  std::uint32_t some = 0;
  for_each_field(fields, [&](std::size_t field) {
    if (bits_of(row, some | bit(field), now, table) <= most_bits) some |= bit(field);
  });
  return some;
}

}  // namespace

void FieldUpdates::add(std::vector<Due>& list, const Due& due) {
  const auto place = place_of(list, due.id.slot());
  if (place == list.end() || place->id.slot() != due.id.slot()) {
    list.insert(place, due);
  } else if (place->id != due.id) {
    *place = due;
  } else {
    place->repairs = (place->repairs | (due.repairs & ~place->fields)) & ~(due.fields & ~due.repairs);
    place->fields |= due.fields;
    if (earlier(due.since, place->since)) place->since = due.since;
  }
}

void FieldUpdates::changed(EntityId id, std::uint32_t fields, Tick tick, bool allowed) {
  add(allowed ? due_ : postponed_, {id, fields, 0, tick});
}

void FieldUpdates::release_postponed(EntityId id) {
  const auto postponed = place_of(postponed_, id.slot());
  if (postponed == postponed_.end() || postponed->id != id) return;
  add(due_, *postponed);
  postponed_.erase(postponed);
}

void FieldUpdates::forget(EntityId id) {
  for (std::vector<Due>* list : {&due_, &postponed_}) {
    const auto place = place_of(*list, id.slot());
    if (place != list->end() && place->id == id) list->erase(place);
  }
  const auto of_it = [&](const SentChange& c) { return c.id == id; };
  sent_changes_.erase_if(of_it);
  std::erase_if(lost_, of_it);
}

// Chooses which changes to send: oldest first, then by slot.
void FieldUpdates::choose(std::size_t most_bits, Tick now, const FieldTable& table) {
  chosen_.clear();
  for (std::size_t i = 0; i < due_.size(); ++i)
    chosen_.push_back({i, 0});
  // std::stable_sort would allocate memory.
  std::sort(chosen_.begin(), chosen_.end(), [&](const Choice& a, const Choice& b) {
    const Tick since = due_[a.due].since, other = due_[b.due].since;
    return since == other ? a.due < b.due : earlier(since, other);
  });
  constexpr std::size_t kEndBits = 1;
  std::size_t left = most_bits > kEndBits ? most_bits - kEndBits : 0;
  std::size_t count = 0;
  for (; count < chosen_.size() && left > 0; ++count) {
    const Due& due = due_[chosen_[count].due];
    const FieldTable::Row* row = table.find(due.id);
    if (row == nullptr) continue;  // the entity has ended; forget() will be called
    const std::size_t bits = bits_of(*row, due.fields, now, table);
    const bool fits = bits <= left;
    chosen_[count].fields = fits ? due.fields : fields_that_fit(*row, due.fields, left, now, table);
    left = fits ? left - bits : 0;  // an entity that does not fit ends the section
  }
  chosen_.resize(count);
  std::erase_if(chosen_, [](const Choice& choice) { return choice.fields == 0; });
  std::sort(chosen_.begin(), chosen_.end(), [](const Choice& a, const Choice& b) { return a.due < b.due; });
}

FieldUpdates::Written FieldUpdates::write(BitWriter& writer, std::size_t most_bits, Sequence sequence,
                                          Tick now, const FieldTable& table, TrafficShare* traffic) {
  choose(most_bits, now, table);
  Written written;
  std::int64_t previous = -1;
  for (const Choice& choice : chosen_) {
    Due& due = due_[choice.due];
    const FieldTable::Row& row = *table.find(due.id);
    const auto slot = static_cast<std::uint32_t>(row.id.slot());
    const std::size_t before = writer.bits_written();
    std::array<std::uint32_t, kMaxFields> value_bits{};
    write_field_slot(writer, slot, previous);
    write_changes(writer, table.specs(row), row.values, row.changed, choice.fields, now, value_bits);
    if (traffic != nullptr) traffic->fields(slot, choice.fields, value_bits, writer.bits_written() - before);
    previous = slot;
    ++written.entities;
    written.changes += static_cast<std::size_t>(std::popcount(choice.fields));
    written.repairs += static_cast<std::size_t>(std::popcount(choice.fields & due.repairs));
    sent(due, choice.fields, sequence, row);
  }
  if (written.entities > 0) writer.write(0, 1);
  std::erase_if(due_, [](const Due& due) { return due.fields == 0; });
  return written;
}

void FieldUpdates::sent(Due& due, std::uint32_t fields, Sequence sequence, const FieldTable::Row& row) {
  for_each_field(fields, [&](std::size_t field) {
    sent_changes_.add(sequence, {due.id, static_cast<std::uint8_t>(field), row.changed[field]});
  });
  due.fields &= ~fields;
  due.repairs &= ~fields;
  for_each_field(due.fields, [&](std::size_t field) {
    const bool first = (due.fields & (bit(field) - 1)) == 0;
    if (first || earlier(row.changed[field], due.since)) due.since = row.changed[field];
  });
}

void FieldUpdates::settle(Sequence sequence, bool acked) {
  sent_changes_.settle(sequence, [&](const SentChange& change) {
    if (!acked) lost_.push_back(change);
  });
}

void FieldUpdates::requeue_lost(const FieldTable& table) {
  for (const SentChange& c : lost_) {
    const FieldTable::Row* row = table.find(c.id);
    if (row == nullptr || row->changed[c.field] != c.tick) continue;
    add(due_, {c.id, bit(c.field), bit(c.field), c.tick});
  }
  lost_.clear();
}

}  // namespace reckoner
