// SPDX-License-Identifier: MIT
#pragma once

#include <cstdio>
#include <cstdlib>
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

  /// The value. If the result holds an error, the program prints that error and aborts, in every build.
  [[nodiscard]] T& operator*() {
    if (T* const value = std::get_if<0>(&content_)) return *value;
    fail("Result has no value, but the error: ", error().c_str());
  }
  /// The value. If the result holds an error, the program prints that error and aborts, in every build.
  [[nodiscard]] const T& operator*() const {
    if (const T* const value = std::get_if<0>(&content_)) return *value;
    fail("Result has no value, but the error: ", error().c_str());
  }
  /// Access to a member of the value. If the result holds an error, the program prints that error and aborts.
  [[nodiscard]] T* operator->() { return &**this; }
  /// Access to a member of the value. If the result holds an error, the program prints that error and aborts.
  [[nodiscard]] const T* operator->() const { return &**this; }

  /// The error message. If the result holds a value, the program prints this and aborts, in every build.
  [[nodiscard]] const std::string& error() const {
    if (const Error* const error = std::get_if<1>(&content_)) return error->message;
    fail("Result has no error, but a value", "");
  }

 private:
  [[noreturn]] static void fail(const char* what, const char* error) {
    std::fprintf(stderr, "reckoner: %s%s\n", what, error);
    std::abort();
  }

  std::variant<T, Error> content_;
};

}  // namespace reckoner
