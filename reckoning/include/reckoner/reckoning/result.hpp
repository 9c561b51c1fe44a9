// SPDX-License-Identifier: MIT
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

namespace reckoner {

/// Describes a failure to a person in one line, and says how to fix it.
struct Error {
  std::string message;  ///< human-readable text, without a line break at the end
};

/// The text of the error.
[[nodiscard]] inline std::string_view describe(const Error& error) {
  return error.message;
}

/// Contains a value, or an error that explains why there is no value. Used for failures that a program must
/// expect: with files, with sockets and in received bytes.
///
/// `E` is the type of the error: Error for a text, or an enum such as CallError. There must be a function
/// describe(E) that returns the text of the error.
template <class T, class E = Error>
class [[nodiscard]] Result {
 public:
  /// Success: contains `value`.
  Result(T value) : content_(std::in_place_index<0>, std::move(value)) {}
  /// Failure: contains `error`.
  Result(E error) : content_(std::in_place_index<1>, std::move(error)) {}

  /// True if it contains a value, false if it contains an error.
  [[nodiscard]] explicit operator bool() const { return content_.index() == 0; }

  /// The value. If the result is an error, the program prints that error and aborts, in every build.
  [[nodiscard]] T& operator*() {
    if (T* const value = std::get_if<0>(&content_)) return *value;
    fail("Result has no value, but the error: ", describe(std::get<1>(content_)));
  }
  /// The value. If the result is an error, the program prints that error and aborts, in every build.
  [[nodiscard]] const T& operator*() const {
    if (const T* const value = std::get_if<0>(&content_)) return *value;
    fail("Result has no value, but the error: ", describe(std::get<1>(content_)));
  }
  /// Access to a member of the value. If the result is an error, the program prints that error and aborts.
  [[nodiscard]] T* operator->() { return &**this; }
  /// Access to a member of the value. If the result is an error, the program prints that error and aborts.
  [[nodiscard]] const T* operator->() const { return &**this; }

  /// The error: the text if `E` is Error, else the value of `E`. If the result is a value, the program
  /// prints this and aborts, in every build.
  [[nodiscard]] const auto& error() const {
    const E* const error = std::get_if<1>(&content_);
    if (error == nullptr) fail("Result has no error, but a value", "");
    if constexpr (std::is_same_v<E, Error>) {
      return error->message;
    } else {
      return *error;
    }
  }

 private:
  [[noreturn]] static void fail(const char* what, std::string_view error) {
    std::fprintf(stderr, "reckoner: %s%.*s\n", what, static_cast<int>(error.size()), error.data());
    std::abort();
  }

  std::variant<T, E> content_;
};

}  // namespace reckoner
