#pragma once

#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace tilegym {

/// Why an operation failed: one text in the order subject, wanted, got, remedy.
struct Error {
  std::string message;
};

/// A value or the error that prevented it. Used inside rooms; exceptions exist only at the binding edge.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}      // NOLINT(google-explicit-constructor)
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}  // NOLINT(google-explicit-constructor)

  [[nodiscard]] bool ok() const noexcept { return state_.index() == 0; }
  explicit operator bool() const noexcept { return ok(); }

  /// Precondition: ok().
  [[nodiscard]] T& value() & { return std::get<0>(state_); }
  [[nodiscard]] const T& value() const& { return std::get<0>(state_); }
  [[nodiscard]] T&& value() && { return std::get<0>(std::move(state_)); }
  T* operator->() { return &std::get<0>(state_); }
  const T* operator->() const { return &std::get<0>(state_); }
  T& operator*() & { return std::get<0>(state_); }

  /// Precondition: !ok().
  [[nodiscard]] const Error& error() const& { return std::get<1>(state_); }
  [[nodiscard]] Error&& error() && { return std::get<1>(std::move(state_)); }

 private:
  std::variant<T, Error> state_;
};

/// Success, or the error that prevented it.
template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : error_(std::move(error)) {}  // NOLINT(google-explicit-constructor)

  [[nodiscard]] bool ok() const noexcept { return !error_.has_value(); }
  explicit operator bool() const noexcept { return ok(); }
  [[nodiscard]] const Error& error() const& { return *error_; }
  [[nodiscard]] Error&& error() && { return *std::move(error_); }

 private:
  std::optional<Error> error_;
};

using Status = Result<void>;

}  // namespace tilegym

#define TILEGYM_CONCAT_INNER(a, b) a##b
#define TILEGYM_CONCAT(a, b) TILEGYM_CONCAT_INNER(a, b)

/// Returns the error of a Status or Result to the caller.
#define TILEGYM_TRY(expression)                                     \
  do {                                                              \
    if (auto tilegym_status = (expression); !tilegym_status.ok()) { \
      return std::move(tilegym_status).error();                     \
    }                                                               \
  } while (false)

/// Declares `declaration` with the value of a Result, or returns its error to the caller.
#define TILEGYM_ASSIGN(declaration, expression)                          \
  auto TILEGYM_CONCAT(tilegym_result_, __LINE__) = (expression);         \
  if (!TILEGYM_CONCAT(tilegym_result_, __LINE__).ok()) {                 \
    return std::move(TILEGYM_CONCAT(tilegym_result_, __LINE__)).error(); \
  }                                                                      \
  declaration = std::move(TILEGYM_CONCAT(tilegym_result_, __LINE__)).value()
