// Memory in its element format to lanes and back, for one instruction set.
#include "cpu_driver/kernels/codecs.inl"

using tile_ir::ElementType;

/// Floats in a narrow format.
template <class Codec>
struct Converted {
  using Code = typename Codec::Code;
  using Value = float;

  static void load(float* to, const Code* from, std::size_t lanes) {
    std::size_t i = 0;
    for (; i + kCount<float> <= lanes; i += kCount<float>) store_vector(to + i, Codec::widen(from + i));
    if (i == lanes) return;
    Code rest[kCount<float>] = {};
    __builtin_memcpy(rest, from + i, (lanes - i) * sizeof(Code));
    store_vector(to + i, Codec::widen(rest));
  }

  static void store(Code* to, const float* from, std::size_t lanes) {
    std::size_t i = 0;
    for (; i + kCount<float> <= lanes; i += kCount<float>) Codec::narrow(to + i, load_vector(from + i));
    if (i == lanes) return;
    Code rest[kCount<float>];
    Codec::narrow(rest, load_vector(from + i));
    __builtin_memcpy(to + i, rest, (lanes - i) * sizeof(Code));
  }

 private:
  TILEGYM_INLINE static void store_vector(float* to, Vec<float> v) { __builtin_memcpy(to, &v, sizeof v); }
  TILEGYM_INLINE static Vec<float> load_vector(const float* from) {
    Vec<float> v;
    __builtin_memcpy(&v, from, sizeof v);
    return v;
  }
};

/// Elements that lie in memory as lanes hold them.
template <class T>
struct Verbatim {
  using Code = T;
  using Value = T;
  static void load(T* to, const T* from, std::size_t lanes) { __builtin_memcpy(to, from, lanes * sizeof(T)); }
  static void store(T* to, const T* from, std::size_t lanes) { __builtin_memcpy(to, from, lanes * sizeof(T)); }
};

/// Any byte but 0 is true.
struct Boolean : Verbatim<std::uint8_t> {
  static void load(std::uint8_t* to, const std::uint8_t* from, std::size_t lanes) {
    for (std::size_t i = 0; i < lanes; ++i) to[i] = from[i] != 0;
  }
};

/// 4-bit elements, two in a byte, the first in the low half. An odd last element leaves its neighbour as it is.
struct Nibbles {
  using Code = std::uint8_t;
  TILEGYM_INLINE static std::uint8_t get(const std::uint8_t* from, std::size_t i) {
    return static_cast<std::uint8_t>(from[i / 2] >> (i % 2 * 4) & 15);
  }
  TILEGYM_INLINE static void set(std::uint8_t* to, std::size_t i, std::uint8_t code) {
    const unsigned keep = i % 2 == 0 ? to[i / 2] & 0xf0U : to[i / 2] & 0x0fU;
    to[i / 2] = static_cast<std::uint8_t>(keep | (code & 15U) << (i % 2 * 4));
  }
};

/// i4 in i8 lanes, sign-extended.
struct PackedInt4 : Nibbles {
  using Value = std::int8_t;
  static void load(Value* to, const Code* from, std::size_t lanes) {
    for (std::size_t i = 0; i < lanes; ++i) to[i] = static_cast<Value>((get(from, i) ^ 8) - 8);
  }
  static void store(Code* to, const Value* from, std::size_t lanes) {
    for (std::size_t i = 0; i < lanes; ++i) set(to, i, static_cast<Code>(from[i]));
  }
};

struct PackedFloat4 : Nibbles {
  using Value = float;
  using Bytes = Converted<ByteCodec<F4E2M1FN>>;
  static void load(Value* to, const Code* from, std::size_t lanes) {
    Code codes[kStripLanes];
    for (std::size_t i = 0; i < lanes; ++i) codes[i] = get(from, i);
    Bytes::load(to, codes, lanes);
  }
  static void store(Code* to, const Value* from, std::size_t lanes) {
    Code codes[kStripLanes];
    Bytes::store(codes, from, lanes);
    for (std::size_t i = 0; i < lanes; ++i) set(to, i, codes[i]);
  }
};

template <class Access>
void load_strip(void* dst, const void* memory, std::size_t lanes) noexcept {
  Access::load(static_cast<typename Access::Value*>(dst), static_cast<const typename Access::Code*>(memory), lanes);
}

template <class Access>
void store_strip(void* memory, const void* src, std::size_t lanes) noexcept {
  Access::store(static_cast<typename Access::Code*>(memory), static_cast<const typename Access::Value*>(src), lanes);
}

template <class Access>
void gather_strip(void* dst, const std::int64_t* addresses, const std::uint8_t* mask, const void* padding,
                  std::size_t lanes) noexcept {
  using Code = typename Access::Code;
  using Value = typename Access::Value;
  alignas(kVectorBytes) Code codes[kStripLanes];
  for (std::size_t i = 0; i < lanes; ++i) {
    codes[i] = Code{};
    if (mask == nullptr || mask[i] != 0) {
      __builtin_memcpy(codes + i, reinterpret_cast<const void*>(addresses[i]), sizeof(Code));
    }
  }
  load_strip<Access>(dst, codes, lanes);
  if (mask == nullptr || padding == nullptr) return;
  const Value fill = *static_cast<const Value*>(padding);
  auto* out = static_cast<Value*>(dst);
  for (std::size_t i = 0; i < lanes; ++i) out[i] = mask[i] != 0 ? out[i] : fill;
}

/// Lanes are written in order: of several with one address the last stays.
template <class Access>
void scatter_strip(const std::int64_t* addresses, const void* src, const std::uint8_t* mask,
                   std::size_t lanes) noexcept {
  using Code = typename Access::Code;
  alignas(kVectorBytes) Code codes[kStripLanes];
  store_strip<Access>(codes, src, lanes);
  for (std::size_t i = 0; i < lanes; ++i) {
    if (mask == nullptr || mask[i] != 0) {
      __builtin_memcpy(reinterpret_cast<void*>(addresses[i]), codes + i, sizeof(Code));
    }
  }
}

/// Packed elements, one by one: `addresses` count half bytes.
template <class Access>
void gather_packed(void* dst, const std::int64_t* addresses, const std::uint8_t* mask, const void* padding,
                   std::size_t lanes) noexcept {
  using Value = typename Access::Value;
  std::uint8_t codes[kStripLanes / 2] = {};
  for (std::size_t i = 0; i < lanes; ++i) {
    if (mask != nullptr && mask[i] == 0) continue;
    const auto* byte = reinterpret_cast<const std::uint8_t*>(addresses[i] >> 1);
    Nibbles::set(codes, i, Nibbles::get(byte, static_cast<std::size_t>(addresses[i] & 1)));
  }
  load_strip<Access>(dst, codes, lanes);
  if (mask == nullptr || padding == nullptr) return;
  const Value fill = *static_cast<const Value*>(padding);
  auto* out = static_cast<Value*>(dst);
  for (std::size_t i = 0; i < lanes; ++i) out[i] = mask[i] != 0 ? out[i] : fill;
}

/// The other half of a byte may be another tile block's.
template <class Access>
void scatter_packed(const std::int64_t* addresses, const void* src, const std::uint8_t* mask,
                    std::size_t lanes) noexcept {
  std::uint8_t codes[kStripLanes / 2] = {};
  store_strip<Access>(codes, src, lanes);
  for (std::size_t i = 0; i < lanes; ++i) {
    if (mask != nullptr && mask[i] == 0) continue;
    auto* byte = reinterpret_cast<std::uint8_t*>(addresses[i] >> 1);
    std::uint8_t old = __atomic_load_n(byte, __ATOMIC_RELAXED);
    std::uint8_t changed;
    do {
      changed = old;
      Nibbles::set(&changed, static_cast<std::size_t>(addresses[i] & 1), Nibbles::get(codes, i));
    } while (!__atomic_compare_exchange_n(byte, &old, changed, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
  }
}

/// The four kernels of one element type.
struct MemoryKernels {
  ElementType element;
  LoadFn load;
  StoreFn store;
  GatherFn gather;
  ScatterFn scatter;
};

template <ElementType kElement, class Access>
constexpr MemoryKernels memory_row() {
  return {kElement, load_strip<Access>, store_strip<Access>, gather_strip<Access>, scatter_strip<Access>};
}

/// Elements that have half a byte each.
template <ElementType kElement, class Access>
constexpr MemoryKernels packed_row() {
  return {kElement, load_strip<Access>, store_strip<Access>, gather_packed<Access>, scatter_packed<Access>};
}

inline constexpr MemoryKernels kMemoryTable[] = {
    memory_row<ElementType::i1, Boolean>(),
    memory_row<ElementType::i8, Verbatim<std::int8_t>>(),
    memory_row<ElementType::i16, Verbatim<std::int16_t>>(),
    memory_row<ElementType::i32, Verbatim<std::int32_t>>(),
    memory_row<ElementType::i64, Verbatim<std::int64_t>>(),
    memory_row<ElementType::f32, Verbatim<float>>(),
    memory_row<ElementType::tf32, Verbatim<float>>(),
    memory_row<ElementType::f64, Verbatim<double>>(),
    memory_row<ElementType::f16, Converted<F16Codec>>(),
    memory_row<ElementType::bf16, Converted<Bf16Codec>>(),
    memory_row<ElementType::f8e4m3fn, Converted<ByteCodec<F8E4M3FN>>>(),
    memory_row<ElementType::f8e5m2, Converted<ByteCodec<F8E5M2>>>(),
    memory_row<ElementType::f8e8m0fnu, Converted<E8M0Codec>>(),
    packed_row<ElementType::f4e2m1fn, PackedFloat4>(),
    packed_row<ElementType::i4, PackedInt4>(),
};

inline constexpr MemoryKernels kNoMemoryKernels{};

inline const MemoryKernels& memory_kernels(ElementType element) noexcept {
  for (const MemoryKernels& row : kMemoryTable) {
    if (row.element == element) return row;
  }
  return kNoMemoryKernels;
}

LoadFn find_load(ElementType element) noexcept {
  return memory_kernels(element).load;
}
StoreFn find_store(ElementType element) noexcept {
  return memory_kernels(element).store;
}
GatherFn find_gather(ElementType element) noexcept {
  return memory_kernels(element).gather;
}
ScatterFn find_scatter(ElementType element) noexcept {
  return memory_kernels(element).scatter;
}
