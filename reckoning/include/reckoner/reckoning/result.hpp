// SPDX-License-Identifier: MIT
#pragma once

#include <cassert>
#include <string>
#include <utility>
#include <variant>

namespace reckoner {

/// What went wrong, in one line that a person can act on.
struct Error {
  std::string message;  ///< for a person, without an end of line
};

/// A value, or the reason why there is none. For failures that are expected: files, sockets, bytes.
template <class T>
class [[nodiscard]] Result {
 public:
  /// It worked.
  Result(T value) : content_(std::in_place_index<0>, std::move(value)) {}
  /// It did not, and why.
  Result(Error error) : content_(std::in_place_index<1>, std::move(error)) {}

  /// Whether it worked.
  [[nodiscard]] explicit operator bool() const { return content_.index() == 0; }

  /// The value. There must be one.
  [[nodiscard]] T& operator*() {
    assert(*this);
    return *std::get_if<0>(&content_);
  }
  /// Only if it worked.
  [[nodiscard]] const T& operator*() const {
    assert(*this);
    return *std::get_if<0>(&content_);
  }
  /// Only if it worked.
  [[nodiscard]] T* operator->() { return &**this; }
  /// Only if it worked.
  [[nodiscard]] const T* operator->() const { return &**this; }

  /// The reason. There must be no value.
  [[nodiscard]] const std::string& error() const {
    assert(!*this);
    return std::get_if<1>(&content_)->message;
  }

 private:
  std::variant<T, Error> content_;
};

}  // namespace reckoner
