// Prints the layout of the shared structures as the C++ headers declare them.

#include <cstddef>
#include <cstdio>
#include <initializer_list>

#include "cpu_driver/api/private_table.h"
#include "runtime/kernel_abi.h"

using namespace tilegym;
using namespace tilegym::runtime;

#define SIZE(type) std::printf(#type " %zu", sizeof(type))
#define FIELD(type, field) std::printf(" " #field "=%zu", offsetof(type, field))
#define END() std::printf("\n")

namespace {

template <class T>
void list(std::initializer_list<T> values) {
  const char* separator = "[";
  for (const T value : values) std::printf("%s%d", separator, static_cast<int>(value)), separator = ", ";
  std::printf("]");
}

}  // namespace

int main() {
  SIZE(TensorDesc), FIELD(TensorDesc, ptr), FIELD(TensorDesc, ndim), FIELD(TensorDesc, shape),
      FIELD(TensorDesc, strides), FIELD(TensorDesc, dtype), END();
  SIZE(ParamRow), FIELD(ParamRow, name), FIELD(ParamRow, doc), FIELD(ParamRow, kind), FIELD(ParamRow, direction),
      FIELD(ParamRow, rank), FIELD(ParamRow, dtypes), FIELD(ParamRow, has_default), FIELD(ParamRow, reserved),
      FIELD(ParamRow, default_value), END();
  SIZE(OpRow), FIELD(OpRow, name), FIELD(OpRow, doc), FIELD(OpRow, params), FIELD(OpRow, param_count),
      FIELD(OpRow, entries), FIELD(OpRow, entry_count), FIELD(OpRow, packed), END();
  SIZE(Manifest), FIELD(Manifest, abi_version), FIELD(Manifest, tensor_desc_size), FIELD(Manifest, max_rank),
      FIELD(Manifest, op_count), FIELD(Manifest, ops), FIELD(Manifest, source_fingerprint),
      FIELD(Manifest, cutile_version), END();
  SIZE(HostTable), FIELD(HostTable, size), FIELD(HostTable, lookup), FIELD(HostTable, release), FIELD(HostTable, store),
      FIELD(HostTable, log), FIELD(HostTable, setting), END();
  SIZE(Counters), FIELD(Counters, launches), FIELD(Counters, compiles), FIELD(Counters, compile_nanoseconds), END();
  using cpu::PrivateTable;
  using cpu::RangeRow;
  SIZE(RangeRow), FIELD(RangeRow, pointer), FIELD(RangeRow, bytes), FIELD(RangeRow, name), END();
  // Rust knows the first functions only; the table may grow behind them.
  std::printf("PrivateTable"), FIELD(PrivateTable, size), FIELD(PrivateTable, set_launch_ranges),
      FIELD(PrivateTable, configure), FIELD(PrivateTable, set_cancelled), FIELD(PrivateTable, last_report),
      FIELD(PrivateTable, launch_totals), END();
  SIZE(Arg), END();
  std::printf("version %u rank %zu\n", kAbiVersion, kMaxRank);
  using enum ReturnCode;
  std::printf("codes "), list({ok, unsupported_dtype, launch_failed, device_failed, null_pointer});
  std::printf(" "), list({invalid_arguments, cancelled, panicked}), END();
  std::printf("kinds "), list({ParamKind::tensor, ParamKind::i32, ParamKind::i64, ParamKind::f32, ParamKind::device});
  std::printf(" %d\n", static_cast<int>(ParamKind::stream));
  std::printf("directions "), list({Direction::in, Direction::out, Direction::inout}), END();
  std::printf("dtypes ");
  list({DType::f32, DType::f16, DType::bf16, DType::f8e5m2, DType::f4e2m1x2, DType::f8e4m3fn});
  std::printf(" "), list({DType::i32, DType::i64}), END();
  std::printf("table [");
  for (std::size_t i = 0; i < sizeof cpu::kPrivateTableId; ++i) std::printf(i ? ", %d" : "%d", cpu::kPrivateTableId[i]);
  std::printf("]\n");
}
