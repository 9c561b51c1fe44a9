// SPDX-License-Identifier: MIT
#pragma once

#include <cassert>
#include <string>
#include <utility>
#include <variant>

namespace reckoner {

/// Describes a failure to a person in one line, and says how to fix it.
struct Error {
  std::string message;  ///< human-readable text, without a line break at the end
};

/// Holds a value, or an error message that explains why there is no value. Used for failures that a program
/// must expect: with files, with sockets and in received bytes.
template <class T>
class [[nodiscard]] Result {
 public:
  /// Success: holds `value`.
  Result(T value) : content_(std::in_place_index<0>, std::move(value)) {}
  /// Failure: holds `error`.
  Result(Error error) : content_(std::in_place_index<1>, std::move(error)) {}

  /// True if it holds a value, false if it holds an error.
  [[nodiscard]] explicit operator bool() const { return content_.index() == 0; }

  /// The value. The result must hold a value (asserted).
  [[nodiscard]] T& operator*() {
    assert(*this);
    return *std::get_if<0>(&content_);
  }
  /// The value. The result must hold a value (asserted).
  [[nodiscard]] const T& operator*() const {
    assert(*this);
    return *std::get_if<0>(&content_);
  }
  /// Access to a member of the value. The result must hold a value (asserted).
  [[nodiscard]] T* operator->() { return &**this; }
  /// Access to a member of the value. The result must hold a value (asserted).
  [[nodiscard]] const T* operator->() const { return &**this; }

  /// The error message. The result must hold an error (asserted).
  [[nodiscard]] const std::string& error() const {
    assert(!*this);
    return std::get_if<1>(&content_)->message;
  }

 private:
  std::variant<T, Error> content_;
};

}  // namespace reckoner
