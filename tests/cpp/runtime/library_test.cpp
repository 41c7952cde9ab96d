#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "runtime/fakes.h"
#include "runtime/host_table.h"
#include "runtime/kernel_library.h"
#include "runtime/scoped_place.h"

namespace tilegym::runtime {
namespace {

using testing::AllOf;
using testing::HasSubstr;

std::string load_error(const std::string& path, const std::string& driver = fake("fake_driver")) {
  const auto library = KernelLibrary::load(path, driver, host_table());
  return library.ok() ? "loaded" : library.error().message;
}

TEST(KernelLibrary, LoadsAndKnowsItsOps) {
  const auto library = load_fake();
  EXPECT_EQ(library->manifest().op_count, 10U);
  EXPECT_STREQ(library->find("scale").value()->doc, "Multiplies by a number.");
}

TEST(KernelLibrary, UnknownOpErrorListsTheOps) {
  const auto library = load_fake();
  const auto op = library->find("conv");
  ASSERT_FALSE(op.ok());
  EXPECT_THAT(op.error().message, HasSubstr("wanted the op 'conv', it has: noop, scale, echo, "));
}

TEST(KernelLibrary, ReadsCounters) {
  const Counters counters = load_fake()->counters();
  EXPECT_EQ(counters.compiles, 1U);
  EXPECT_EQ(counters.compile_nanoseconds, 2U);
}

TEST(KernelLibrary, BindsCudaOnFirstUseAndSaysWhyItCannot) {
  const auto library = load_fake();
  const Status status = library->ensure_driver(DriverKind::cuda);
  ASSERT_FALSE(status.ok());
  EXPECT_THAT(status.error().message, AllOf(HasSubstr("libcuda.so.1"), HasSubstr("no CUDA driver")));
}

TEST(KernelLibrary, CpuDeviceIsBoundFromTheStart) {
  EXPECT_TRUE(load_fake()->ensure_driver(DriverKind::cpu).ok());
}

TEST(KernelLibrary, MissingFileIsNamed) {
  EXPECT_THAT(
      load_error("/nowhere/libcutile_kernels.so"),
      HasSubstr("kernel library: wanted a shared library at '/nowhere/libcutile_kernels.so', found no file there"));
}

TEST(KernelLibrary, EmptyPathIsRefused) {
  EXPECT_THAT(load_error(""), HasSubstr("found no file there"));
}

TEST(KernelLibrary, FolderIsRefused) {
  EXPECT_THAT(load_error(TempFolder().path()), HasSubstr("found no file there"));
}

TEST(KernelLibrary, TextFileIsRefusedWithTheLoadersReason) {
  const TempFolder folder;
  const auto file =
      folder.write("libcutile_kernels.so", "not a library, but long enough to hold an ELF header at its start");
  EXPECT_THAT(load_error(file), AllOf(HasSubstr("the loader refused it"), HasSubstr("invalid ELF header")));
}

TEST(KernelLibrary, EmptyFileIsRefused) {
  const TempFolder folder;
  EXPECT_THAT(load_error(folder.write("libcutile_kernels.so", "")), HasSubstr("the loader refused it"));
}

TEST(KernelLibrary, LibraryWithoutManifestIsRefused) {
  EXPECT_THAT(load_error(fake("fake_kernels_bare")), HasSubstr("wanted the symbol cutile_kernels_manifest_v1"));
}

TEST(KernelLibrary, MissingFunctionIsNamed) {
  EXPECT_THAT(load_error(fake("fake_kernels_uncounted")), HasSubstr("wanted the symbol cutile_counters"));
}

TEST(KernelLibrary, OtherAbiVersionIsRefusedWithBothNumbers) {
  EXPECT_THAT(load_error(fake("fake_kernels_abi")), HasSubstr("wanted ABI version 2, got 99; rebuild it"));
}

TEST(KernelLibrary, OtherDescriptorSizeIsRefusedWithBothNumbers) {
  EXPECT_THAT(load_error(fake("fake_kernels_desc")),
              HasSubstr("wanted tensor descriptor size 104, got 96; rebuild it"));
}

TEST(KernelLibrary, RefusedDriverCarriesTheLibrarysReason) {
  EXPECT_THAT(load_error(fake("fake_kernels_driverless")),
              AllOf(HasSubstr("it cannot use the driver"), HasSubstr("no such driver here")));
}

TEST(KernelLibrary, MissingDriverIsNamed) {
  EXPECT_THAT(load_error(fake("fake_kernels"), "/nowhere/driver.so"), HasSubstr("CPU device: wanted a shared library"));
}

TEST(CpuDevice, AnotherCudaDriverIsRefused) {
  const auto device = CpuDevice::open(fake("fake_driver_foreign"));
  ASSERT_FALSE(device.ok());
  EXPECT_THAT(device.error().message, HasSubstr("wanted the stand-in driver of this package"));
}

TEST(CpuDevice, LibraryThatIsNoDriverIsRefused) {
  const auto device = CpuDevice::open(fake("fake_kernels"));
  ASSERT_FALSE(device.ok());
  EXPECT_THAT(device.error().message, HasSubstr("wanted the symbol cuGetExportTable"));
}

TEST(CpuDevice, ReadsTotals) {
  const auto device = CpuDevice::open(fake("fake_driver"));
  ASSERT_TRUE(device.ok());
  EXPECT_EQ(device.value().totals().launches, 3U);
  EXPECT_EQ(device.value().totals().nanoseconds, 4000U);
}

TEST(CpuDevice, TellsWhichGpuItStandsInFor) {
  const auto device = CpuDevice::open(fake("fake_driver"));
  ASSERT_TRUE(device.ok());
  const DeviceTarget target = device.value().target().value();
  EXPECT_EQ(target.compute_capability, 90);
  EXPECT_EQ(target.multiprocessors, 132);
}

TEST(CpuDevice, UnknownOptionIsRefused) {
  const auto device = CpuDevice::open(fake("fake_driver"));
  ASSERT_TRUE(device.ok());
  EXPECT_TRUE(device.value().configure("threads", "1").ok());
  const Status status = device.value().configure("colour", "red");
  ASSERT_FALSE(status.ok());
  EXPECT_THAT(status.error().message, HasSubstr("option 'colour' with value 'red'"));
}

}  // namespace
}  // namespace tilegym::runtime
