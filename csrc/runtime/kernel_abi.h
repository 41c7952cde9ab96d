#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

/// C ABI between the C++ runtime and libcutile_kernels.so. The same declarations stand in ffi_util.rs; sizes and the
/// version are compared when a library is loaded.
namespace tilegym::runtime {

inline constexpr std::uint32_t kAbiVersion = 2;
inline constexpr std::size_t kMaxRank = 5;

enum class DType : std::int32_t {
  f32 = 0,
  f16 = 1,
  bf16 = 2,
  i32 = 3,
  i64 = 4,
  f8e5m2 = 5,
  f4e2m1x2 = 6,
  f8e4m3fn = 7
};

/// A borrowed view of a tensor. The caller owns the memory and keeps it alive until the launch has completed in stream
/// order. Entries of shape and strides at and beyond ndim are ignored.
struct TensorDesc {
  std::uint64_t ptr = 0;  ///< address of element 0, storage offset included
  std::int32_t ndim = 0;
  std::array<std::int64_t, kMaxRank> shape{};    ///< elements
  std::array<std::int64_t, kMaxRank> strides{};  ///< elements
  std::int32_t dtype = 0;                        ///< DType
};
static_assert(sizeof(TensorDesc) == 104);

enum class ReturnCode : std::int32_t {
  ok = 0,
  // -1 means "automatic" in num_cta_in_cga and occupancy and is never a return code
  unsupported_dtype = -2,
  launch_failed = -3,
  device_failed = -4,
  null_pointer = -5,
  invalid_arguments = -6,
  cancelled = -7,
  panicked = -8,
};

enum class ParamKind : std::int32_t { tensor = 0, i32 = 1, i64 = 2, f32 = 3, device = 4, stream = 5 };
enum class Direction : std::int32_t { in = 0, out = 1, inout = 2 };

/// One argument of a packed call; the kind is the parameter's.
union Arg {
  const TensorDesc* tensor;
  std::int64_t integer;  ///< i32, i64, device
  std::uint64_t stream;
  double floating;  ///< f32
};
static_assert(sizeof(Arg) == 8);

/// One parameter of an op. Strings are NUL-terminated and static.
struct ParamRow {
  const char* name;
  const char* doc;
  ParamKind kind;
  Direction direction;
  std::int32_t rank;         ///< tensor: required rank; -1: any
  std::uint32_t dtypes;      ///< tensor: bit i set = DType i accepted
  std::int32_t has_default;  ///< scalars only
  std::int32_t reserved;
  Arg default_value;
};
static_assert(sizeof(ParamRow) == 48);

using PackedFn = std::int32_t (*)(const Arg* arguments, std::size_t count);

struct OpRow {
  const char* name;  ///< "softmax"
  const char* doc;
  const ParamRow* params;
  std::size_t param_count;
  const char* const* entries;  ///< names of the kernels' entry functions
  std::size_t entry_count;
  PackedFn packed;
};

/// Exported as `cutile_kernels_manifest_v1`.
struct Manifest {
  std::uint32_t abi_version;
  std::uint32_t tensor_desc_size;
  std::uint32_t max_rank;
  std::uint32_t op_count;
  const OpRow* ops;
  const char* source_fingerprint;  ///< what autobuild passed in TILEGYM_SOURCE_FINGERPRINT, or ""
  const char* cutile_version;
};

enum class DriverKind : std::int32_t { cuda = 0, cpu = 1 };

/// Services of the host process that the kernel library may call; set once by cutile_bind_host. Null entries are
/// absent. Images are bytecode for the CPU device and cubins for a GPU.
///
/// A key is text: lines "name=value" that describe the kernel, an empty line, then whatever else decides the image. It
/// does not depend on the kind of driver.
struct HostTable {
  std::size_t size;  ///< sizeof(HostTable)
  /// Looks a compiled image up by key; returns its length and sets *image (valid until release), or 0.
  std::size_t (*lookup)(DriverKind kind, const std::uint8_t* key, std::size_t key_size, const std::uint8_t** image);
  void (*release)(const std::uint8_t* image);
  void (*store)(DriverKind kind, const std::uint8_t* key, std::size_t key_size, const std::uint8_t* image,
                std::size_t image_size);
  /// level: 0 trace, 1 debug, 2 info, 3 warning, 4 error.
  void (*log)(std::int32_t level, const char* text, std::size_t length);
  /// Value of a setting as text, or null where it is unset; valid until the next call on the thread.
  const char* (*setting)(const char* name);
  /// Compiles bytecode for a target ("sm_90"); `title` says what it is. Returns a ReturnCode: ok sets *image (valid
  /// until release) and *image_size, every other sets *reason (valid until the next call on the thread).
  std::int32_t (*assemble)(const char* title, const char* target, const std::uint8_t* bytecode,
                           std::size_t bytecode_size, const std::uint8_t** image, std::size_t* image_size,
                           const char** reason);
};

/// Exported functions of the library, by symbol name.
using BindDriverFn = std::int32_t (*)(std::int32_t kind, const char* path);  // cutile_bind_driver
using BindHostFn = std::int32_t (*)(const HostTable* host);                  // cutile_bind_host
using LastErrorFn = const char* (*)();                                       // cutile_last_error, thread-local
/// Launches submitted, kernels compiled, nanoseconds spent compiling, all since load.
struct Counters {
  std::uint64_t launches;
  std::uint64_t compiles;
  std::uint64_t compile_nanoseconds;
};
using CountersFn = void (*)(Counters* out);  // cutile_counters

}  // namespace tilegym::runtime
