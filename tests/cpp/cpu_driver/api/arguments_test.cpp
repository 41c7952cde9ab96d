#include <array>
#include <cstddef>
#include <type_traits>

#include "cpu_driver/api/driver_test.h"

/// Every call of the driver with arguments that name nothing.
namespace tilegym::cpu::test {
namespace {

template <class T>
concept Complete = requires { sizeof(T); };
/// A pointer to what only the driver knows.
template <class T>
concept Handle = std::is_pointer_v<T> && !Complete<std::remove_pointer_t<T>> &&
                 !std::is_void_v<std::remove_pointer_t<T>> && !std::is_function_v<std::remove_pointer_t<T>>;

static_assert(Handle<CUstream> && Handle<CUmodule> && !Handle<CUstream*> && !Handle<const char*> && !Handle<CUhostFn>);

/// Rooms that calls may read zeros from and write to, one an argument.
alignas(64) std::array<std::array<std::byte, 4096>, 16> rooms;

std::byte* next_room() {
  static std::size_t room = 0;
  return rooms[room++ % rooms.size()].data();
}

template <class T>
T wild() {
  if constexpr (Handle<T>) {
    return reinterpret_cast<T>(std::uintptr_t{0x5eed0040});
  } else if constexpr (std::is_pointer_v<T> && !std::is_function_v<std::remove_pointer_t<T>>) {
    return reinterpret_cast<T>(next_room());
  } else {
    return T{};
  }
}

template <class... Arguments>
CUresult call_with_nothing(CUresult (*function)(Arguments...)) {
  return function(Arguments{}...);
}
template <class... Arguments>
CUresult call_with_wild_handles(CUresult (*function)(Arguments...)) {
  return function(wild<Arguments>()...);
}
template <class... Arguments>
constexpr bool takes_handle(CUresult (*)(Arguments...)) {
  return (Handle<Arguments> || ...);
}

class Arguments : public DriverTest {
 protected:
  void TearDown() override {
    prepare();
    DriverTest::TearDown();
  }
  /// Nothing is left of what the call before did: rooms of zeros, one context, retained once.
  void prepare() {
    rooms = {};
    for (CUcontext current = nullptr; cuCtxPopCurrent_v2(&current) == CUDA_SUCCESS && current != nullptr;) {
      if (current != context_) cuCtxDestroy_v2(current);
    }
    int active = 0;
    while (cuDevicePrimaryCtxGetState(0, nullptr, &active) == CUDA_SUCCESS && active != 0) {
      cuDevicePrimaryCtxRelease_v2(0);
    }
    ASSERT_EQ(cuDevicePrimaryCtxRetain(&context_, 0), CUDA_SUCCESS);
    ASSERT_EQ(cuCtxSetCurrent(context_), CUDA_SUCCESS);
  }
  static bool is_known(CUresult code) {
    const char* name = nullptr;
    return cuGetErrorName(code, &name) == CUDA_SUCCESS && name != nullptr;
  }
};

TEST_F(Arguments, NullsGiveACode) {
#define DRIVER_CALL(name, symbol, since, per_thread) \
  prepare();                                         \
  EXPECT_TRUE(is_known(call_with_nothing(symbol))) << #symbol;
#include "cpu_driver/api/driver_calls.def"
#undef DRIVER_CALL
}

TEST_F(Arguments, HandlesOfNothingAreRefused) {
#define DRIVER_CALL(name, symbol, since, per_thread)                                                   \
  prepare();                                                                                           \
  if (const CUresult code = call_with_wild_handles(symbol); takes_handle(symbol) || !is_known(code)) { \
    EXPECT_NE(code, CUDA_SUCCESS) << #symbol;                                                          \
    EXPECT_TRUE(is_known(code)) << #symbol << " gave " << code;                                        \
  }
#include "cpu_driver/api/driver_calls.def"
#undef DRIVER_CALL
}

}  // namespace
}  // namespace tilegym::cpu::test
