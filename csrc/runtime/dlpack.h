#pragma once

#include <cstddef>
#include <cstdint>

/// The part of the published DLPack 1.x C layout that the runtime reads, declared here so that no tensor library's
/// headers are needed. Only the layout is shared; the names are ours.
namespace tilegym::runtime::dlpack {

inline constexpr std::uint32_t kMajorVersion = 1;
/// Attribute of a tensor type that holds the exchange API, and the name of the capsule in it.
inline constexpr const char* kTypeAttribute = "__dlpack_c_exchange_api__";
inline constexpr const char* kCapsuleName = "dlpack_exchange_api";

/// The device types that the runtime knows; others may occur as values.
enum class DeviceType : std::int32_t { cpu = 1, cuda = 2, cuda_host = 3, cuda_managed = 13 };

struct Device {
  DeviceType type;
  std::int32_t id;
};

enum class TypeCode : std::uint8_t {
  integer = 0,
  unsigned_integer = 1,
  floating = 2,
  bfloat = 4,
  complex = 5,
  boolean = 6,
  float8_e4m3fn = 10,
  float8_e4m3fnuz = 11,
  float8_e5m2 = 12,
  float8_e5m2fnuz = 13,
  float8_e8m0fnu = 14,
  float4_e2m1fn = 17,
};

struct DataType {
  TypeCode code;
  std::uint8_t bits;  ///< of one lane
  std::uint16_t lanes;

  friend bool operator==(const DataType&, const DataType&) = default;
};

/// A borrowed tensor: data, shape and strides belong to the producer and are valid until control returns to it.
struct Tensor {
  void* data;
  Device device;
  std::int32_t ndim;
  DataType dtype;
  const std::int64_t* shape;
  const std::int64_t* strides;  ///< elements; null: packed, as producers before 1.2 may say
  std::uint64_t byte_offset;    ///< from data to element 0
};

struct ApiHeader {
  std::uint32_t major;
  std::uint32_t minor;
  const ApiHeader* previous;  ///< an older API of the same producer, or null
};

/// The functions of a producer. Each returns 0, or -1 with a Python exception set; the caller holds the GIL.
struct ExchangeApi {
  ApiHeader header;
  void* allocate_managed;
  void* managed_from_object;
  void* object_from_managed;
  int (*tensor_from_object)(void* object, Tensor* out);  ///< may be null
  int (*current_work_stream)(DeviceType type, std::int32_t id, void** stream);
};

}  // namespace tilegym::runtime::dlpack
