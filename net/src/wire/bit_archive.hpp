// SPDX-License-Identifier: MIT
#pragma once

#include "net/src/wire/bit_stream.hpp"
#include "net/src/wire/prefix_code.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include <cereal/cereal.hpp>

/// Bit-packed archives for Cereal. A message's serialize() lists its parts and their sizes in bits; one
/// function both writes and reads. Cereal's own containers are not supported on purpose, because they trust a
/// 64-bit size from the network.
namespace reckoner::wire {

/// An integer from `least` to `most`, in as few bits as the range allows. Reading another value fails.
template <class T>
struct Ranged {
  T& value;
  std::int64_t least;
  std::int64_t most;
};

/// The low `bits` bits of an unsigned number; its other bits are zero.
template <class T>
struct Fixed {
  T& value;
  unsigned bits;
};

/// An unsigned number from 0 to `most`, in as few bits as the range allows. Reading a larger one fails.
/// Unlike Ranged, it covers all 64 bits.
struct UpTo {
  std::uint64_t& value;
  std::uint64_t most;
};

/// A signed number of roughly known size: fold() and the prefix code of prefix_code.hpp, of the given order.
struct Prefixed {
  std::int64_t& value;
  unsigned order;
};

/// A fixed number of bytes. `Byte` is const when they are written.
template <class Byte>
struct Raw {
  std::span<Byte> value;
};

/// An unsigned number that is usually small, as an exponential Golomb code of order `k` (J. Teuhola, 1978),
/// which is a prefix code. The value has at most 32 bits.
template <class T>
struct Golomb {
  T& value;
  unsigned k;
};

/// A finite double from `least` to `most`, as its 64 bits.
struct Real {
  double& value;
  double least;
  double most;
};

/// A string of at most `most` bytes.
struct Text {
  std::string& value;
  std::size_t most;
};

/// At most `most` bytes. One bit says whether there are any.
struct Bytes {
  std::vector<std::byte>& value;
  std::size_t most;
};

/// A list of at most `most` elements, each with its own serialize().
template <class T>
struct List {
  std::vector<T>& value;
  std::size_t most;
};

/// Three signed numbers. All use the width that the largest one needs; the width comes first. At most
/// `most_bits` bits each; `most_bits` is at most 48.
template <class T>
struct Signed3 {
  std::array<T, 3>& value;
  unsigned most_bits;
};

template <class T>
Ranged<T> ranged(T& value, std::int64_t least, std::int64_t most) {
  return {value, least, most};
}
template <class T>
Fixed<T> fixed(T& value, unsigned bits) {
  return {value, bits};
}
inline UpTo up_to(std::uint64_t& value, std::uint64_t most) {
  return {value, most};
}
inline Prefixed prefixed(std::int64_t& value, unsigned order) {
  return {value, order};
}
template <class Byte>
Raw<Byte> raw(std::span<Byte> value) {
  return {value};
}
template <class T>
Golomb<T> golomb(T& value, unsigned k) {
  return {value, k};
}
inline Real real(double& value, double least, double most) {
  return {value, least, most};
}
inline Text text(std::string& value, std::size_t most) {
  return {value, most};
}
inline Bytes bytes(std::vector<std::byte>& value, std::size_t most) {
  return {value, most};
}
template <class T>
List<T> list(std::vector<T>& value, std::size_t most) {
  return {value, most};
}

template <class T>
Signed3<T> signed3(std::array<T, 3>& value, unsigned most_bits) {
  return {value, most_bits};
}

/// Number of bits for `value` in two's complement; 0 for zero.
constexpr unsigned signed_width(std::int64_t value) {
  if (value == 0) return 0;
  return static_cast<unsigned>(std::bit_width(static_cast<std::uint64_t>(value < 0 ? ~value : value))) + 1;
}

/// Number of bits for the numbers 0 to `span`.
constexpr unsigned bits_for(std::uint64_t span) {
  return static_cast<unsigned>(std::bit_width(span));
}

/// Writes to a BitWriter. It trusts the caller: a value out of range is a programming error.
class BitOutputArchive : public cereal::OutputArchive<BitOutputArchive, cereal::AllowEmptyClassElision> {
 public:
  explicit BitOutputArchive(BitWriter& writer) : OutputArchive(this), writer_(writer) {}
  [[nodiscard]] BitWriter& bits() { return writer_; }

 private:
  BitWriter& writer_;
};

/// Reads from a BitReader. It trusts nothing: an invalid value marks the reader as failed and is replaced by
/// a value in range.
class BitInputArchive : public cereal::InputArchive<BitInputArchive, cereal::AllowEmptyClassElision> {
 public:
  explicit BitInputArchive(BitReader& reader) : InputArchive(this), reader_(reader) {}
  [[nodiscard]] BitReader& bits() { return reader_; }

 private:
  BitReader& reader_;
};

// Unsigned integers and bools use their full width. For any other number, serialize() must choose an
// encoding.
template <class T>
concept FullWidth = std::is_integral_v<T> && std::is_unsigned_v<T>;

template <FullWidth T>
constexpr unsigned kBits = std::is_same_v<T, bool> ? 1u : static_cast<unsigned>(8 * sizeof(T));

template <FullWidth T>
void save(BitOutputArchive& archive, const T& value) {
  archive.bits().write(value, kBits<T>);
}
template <FullWidth T>
void load(BitInputArchive& archive, T& value) {
  value = static_cast<T>(archive.bits().read(kBits<T>));
}

template <class T>
void save(BitOutputArchive& archive, const Ranged<T>& r) {
  const auto value = static_cast<std::int64_t>(r.value);
  assert(value >= r.least && value <= r.most);
  archive.bits().write(static_cast<std::uint64_t>(value - r.least),
                       bits_for(static_cast<std::uint64_t>(r.most - r.least)));
}
template <class T>
void load(BitInputArchive& archive, Ranged<T>& r) {
  const auto span = static_cast<std::uint64_t>(r.most - r.least);
  std::uint64_t offset = archive.bits().read(bits_for(span));
  if (offset > span) {
    archive.bits().fail();
    offset = 0;
  }
  r.value = static_cast<T>(r.least + static_cast<std::int64_t>(offset));
}

template <class T>
void save(BitOutputArchive& archive, const Fixed<T>& f) {
  archive.bits().write(f.value, f.bits);
}
template <class T>
void load(BitInputArchive& archive, Fixed<T>& f) {
  f.value = static_cast<T>(archive.bits().read(f.bits));
}

inline void save(BitOutputArchive& archive, const UpTo& u) {
  assert(u.value <= u.most);
  archive.bits().write(u.value, bits_for(u.most));
}
inline void load(BitInputArchive& archive, UpTo& u) {
  u.value = archive.bits().read(bits_for(u.most));
  if (u.value <= u.most) return;
  archive.bits().fail();
  u.value = 0;
}

inline void save(BitOutputArchive& archive, const Prefixed& p) {
  write_prefixed(archive.bits(), fold(p.value), p.order);
}
inline void load(BitInputArchive& archive, Prefixed& p) {
  p.value = unfold(read_prefixed(archive.bits(), p.order));
}

template <class Byte>
void save(BitOutputArchive& archive, const Raw<Byte>& r) {
  archive.bits().append(r.value, r.value.size() * 8);
}
inline void load(BitInputArchive& archive, Raw<std::byte>& r) {
  for (std::byte& byte : r.value)
    byte = static_cast<std::byte>(archive.bits().read(8));
}

/// A code word of at most 64 bits.
struct Code {
  std::uint64_t value = 0;
  unsigned bits = 0;
};

/// Exponential Golomb code of a small number: w ones, a zero, then the low w + k bits of value + 2^k. The
/// code has 2 w + k + 1 bits, which must not exceed 64: with k = 0, `value` must be below 2^32 - 1. Gaps,
/// ages and references are far smaller. For any 32-bit value, use save() of Golomb.
constexpr Code golomb_code(std::uint32_t value, unsigned k) {
  const std::uint64_t shifted = std::uint64_t{value} + (std::uint64_t{1} << k);
  const unsigned prefix = bits_for(shifted) - 1 - k;
  const std::uint64_t ones = (std::uint64_t{1} << prefix) - 1;
  return {ones | (shifted - (std::uint64_t{1} << (prefix + k))) << (prefix + 1), 2 * prefix + 1 + k};
}

/// Joins short codes into one word, so that they are written together.
class CodeJoiner {
 public:
  explicit CodeJoiner(BitWriter& writer) : writer_(writer) {}

  void append(const Code& code) {
    if (joined_.bits + code.bits > 64) finish();
    joined_.value |= joined_.bits < 64 ? code.value << joined_.bits : 0;
    joined_.bits += code.bits;
  }
  void finish() {
    writer_.write(joined_.value, joined_.bits);
    joined_ = {};
  }

 private:
  BitWriter& writer_;
  Code joined_;
};

template <class T>
void save(BitOutputArchive& archive, const Golomb<T>& g) {
  const std::uint64_t shifted =
      std::uint64_t{static_cast<std::uint32_t>(g.value)} + (std::uint64_t{1} << g.k);
  const unsigned prefix = bits_for(shifted) - 1 - g.k;
  archive.bits().write((std::uint64_t{1} << prefix) - 1, prefix + 1);
  archive.bits().write(shifted - (std::uint64_t{1} << (prefix + g.k)), prefix + g.k);
}

template <class T>
void load(BitInputArchive& archive, Golomb<T>& g) {
  unsigned prefix = 0;
  while (prefix <= 32 && archive.bits().read(1) == 1)
    ++prefix;
  g.value = 0;
  if (prefix > 32) {
    archive.bits().fail();
    return;
  }
  const std::uint64_t value =
      archive.bits().read(prefix + g.k) + (std::uint64_t{1} << (prefix + g.k)) - (std::uint64_t{1} << g.k);
  if (value > UINT32_MAX) archive.bits().fail();
  if (!archive.bits().failed()) g.value = static_cast<T>(value);
}

inline void save(BitOutputArchive& archive, const Real& r) {
  assert(r.value >= r.least && r.value <= r.most);
  archive.bits().write(std::bit_cast<std::uint64_t>(r.value), 64);
}
inline void load(BitInputArchive& archive, Real& r) {
  r.value = std::bit_cast<double>(archive.bits().read(64));
  if (!(r.value >= r.least && r.value <= r.most)) {  // false for NaN, which fails
    archive.bits().fail();
    r.value = r.least;
  }
}

inline void save(BitOutputArchive& archive, const Text& t) {
  assert(t.value.size() <= t.most);
  archive.bits().write(t.value.size(), bits_for(t.most));
  for (const char c : t.value)
    archive.bits().write(static_cast<unsigned char>(c), 8);
}
inline void load(BitInputArchive& archive, Text& t) {
  const std::uint64_t size = archive.bits().read(bits_for(t.most));
  t.value.clear();
  if (size > t.most || size * 8 > archive.bits().bits_left()) {
    archive.bits().fail();
    return;
  }
  for (std::uint64_t i = 0; i < size; ++i)
    t.value.push_back(static_cast<char>(archive.bits().read(8)));
}

inline void save(BitOutputArchive& archive, const Bytes& b) {
  assert(b.value.size() <= b.most);
  archive.bits().write(b.value.empty() ? 0 : 1, 1);
  if (b.value.empty()) return;
  archive.bits().write(b.value.size() - 1, bits_for(b.most - 1));
  archive.bits().append(b.value, b.value.size() * 8);
}
inline void load(BitInputArchive& archive, Bytes& b) {
  b.value.clear();
  if (archive.bits().read(1) == 0) return;
  const std::uint64_t size = archive.bits().read(bits_for(b.most - 1)) + 1;
  // Check before allocating: the claimed size must not exceed the received data.
  if (size > b.most || size * 8 > archive.bits().bits_left()) return archive.bits().fail();
  for (std::uint64_t i = 0; i < size; ++i)
    b.value.push_back(static_cast<std::byte>(archive.bits().read(8)));
}

template <class T>
void save(BitOutputArchive& archive, const List<T>& l) {
  assert(l.value.size() <= l.most);
  archive.bits().write(l.value.size(), bits_for(l.most));
  for (T& element : l.value)
    archive(element);
}
template <class T>
void load(BitInputArchive& archive, List<T>& l) {
  const std::uint64_t size = archive.bits().read(bits_for(l.most));
  l.value.clear();
  if (size > l.most) archive.bits().fail();
  // Elements are added one by one, so that a false size allocates no memory for missing data.
  for (std::uint64_t i = 0; i < size && !archive.bits().failed(); ++i)
    archive(l.value.emplace_back());
}

template <class T>
void save(BitOutputArchive& archive, const Signed3<T>& s) {
  unsigned width = 0;
  for (const std::int64_t v : s.value)
    width = std::max(width, signed_width(v));
  assert(width <= s.most_bits);
  archive.bits().write(width, bits_for(s.most_bits));
  const std::uint64_t mask = (std::uint64_t{1} << width) - 1;
  for (const std::int64_t v : s.value)
    archive.bits().write(static_cast<std::uint64_t>(v) & mask, width);
}
template <class T>
void load(BitInputArchive& archive, Signed3<T>& s) {
  auto width = static_cast<unsigned>(archive.bits().read(bits_for(s.most_bits)));
  if (width > s.most_bits) {
    archive.bits().fail();
    width = 0;
  }
  for (T& v : s.value) {
    std::uint64_t bits = archive.bits().read(width);
    if (width > 0 && (bits >> (width - 1)) != 0) bits |= ~std::uint64_t{0} << width;  // sign extension
    v = static_cast<T>(static_cast<std::int64_t>(bits));
  }
}

}  // namespace reckoner::wire

CEREAL_REGISTER_ARCHIVE(reckoner::wire::BitOutputArchive)
CEREAL_REGISTER_ARCHIVE(reckoner::wire::BitInputArchive)
CEREAL_SETUP_ARCHIVE_TRAITS(reckoner::wire::BitInputArchive, reckoner::wire::BitOutputArchive)
