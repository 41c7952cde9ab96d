#include <array>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <vector>

#include "cpu_driver/api/driver_test.h"
#include "cpu_driver/api/image.h"
#include "tile_ir/reader.h"
#include "tile_ir/verify.h"

namespace tilegym::cpu::test {
namespace {

class ModuleTest : public DriverTest {
 protected:
  CUmodule load(const std::vector<std::byte>& image) {
    CUmodule module = nullptr;
    EXPECT_EQ(cuModuleLoadData(&module, image.data()), CUDA_SUCCESS) << last_report();
    return module;
  }
};

std::vector<std::byte> wrap(std::span<const std::byte> bytecode, std::uint32_t version = kImageVersion) {
  const ImageHeader header{kImageMagic, version, 0, bytecode.size()};
  std::vector<std::byte> image(sizeof(header) + bytecode.size());
  std::memcpy(image.data(), &header, sizeof(header));
  std::memcpy(image.data() + sizeof(header), bytecode.data(), bytecode.size());
  return image;
}

TEST_F(ModuleTest, RawBytecodeLoads) {
  CUfunction function = nullptr;
  const CUmodule module = load(golden(kSilu));
  EXPECT_EQ(cuModuleGetFunction(&function, module, kSiluEntry), CUDA_SUCCESS) << last_report();
  EXPECT_EQ(cuModuleUnload(module), CUDA_SUCCESS);
}

TEST_F(ModuleTest, WrappedImageLoads) {
  CUfunction function = nullptr;
  const CUmodule module = load(wrap(golden(kSilu)));
  EXPECT_EQ(cuModuleGetFunction(&function, module, kSiluEntry), CUDA_SUCCESS) << last_report();
}

TEST_F(ModuleTest, ImageMayBeFreedAfterTheLoad) {
  std::vector<std::byte> image = golden(kSilu);
  const CUmodule module = load(image);
  image.assign(image.size(), std::byte{0xFF});
  CUfunction function = nullptr;
  EXPECT_EQ(cuModuleGetFunction(&function, module, kSiluEntry), CUDA_SUCCESS) << last_report();
}

/// The golden with the first changed byte that the reader lets through and the verifier does not.
std::vector<std::byte> broken_golden() {
  std::vector<std::byte> image = golden(kSilu);
  for (std::byte& byte : image) {
    byte = static_cast<std::byte>(std::to_integer<unsigned>(byte) ^ 1u);
    const auto module = tile_ir::read_module(image);
    if (module.ok() && !tile_ir::verify(module.value()).empty()) return image;
    byte = static_cast<std::byte>(std::to_integer<unsigned>(byte) ^ 1u);
  }
  ADD_FAILURE() << "every change is refused by the reader or harmless";
  return image;
}

TEST_F(ModuleTest, ABrokenRuleIsNamedAtTheLoad) {
  CUmodule module = nullptr;
  EXPECT_EQ(cuModuleLoadData(&module, broken_golden().data()), CUDA_ERROR_INVALID_IMAGE);
  EXPECT_NE(last_report().find("tile_ir: "), std::string::npos) << last_report();
  EXPECT_NE(last_report().find(": wanted "), std::string::npos) << last_report();
}

TEST_F(ModuleTest, AskingTwiceGivesTheSameFunction) {
  const CUmodule module = load(golden(kSilu));
  CUfunction first = nullptr;
  CUfunction second = nullptr;
  ASSERT_EQ(cuModuleGetFunction(&first, module, kSiluEntry), CUDA_SUCCESS);
  ASSERT_EQ(cuModuleGetFunction(&second, module, kSiluEntry), CUDA_SUCCESS);
  EXPECT_EQ(first, second);
}

TEST_F(ModuleTest, UnknownEntryIsNotFoundAndTheReportListsEntries) {
  CUfunction function = nullptr;
  EXPECT_EQ(cuModuleGetFunction(&function, load(golden(kSilu)), "other"), CUDA_ERROR_NOT_FOUND);
  EXPECT_EQ(last_report(), "cuModuleGetFunction: wanted entry 'other', the module has silu_and_mul_kernel_entry");
}

TEST_F(ModuleTest, UnloadEndsItsFunctions) {
  const CUmodule module = load(golden(kSilu));
  CUfunction function = nullptr;
  ASSERT_EQ(cuModuleGetFunction(&function, module, kSiluEntry), CUDA_SUCCESS);
  ASSERT_EQ(cuModuleUnload(module), CUDA_SUCCESS);
  EXPECT_EQ(launch(function), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuModuleUnload(module), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuModuleGetFunction(&function, module, kSiluEntry), CUDA_ERROR_INVALID_HANDLE);
}

TEST_F(ModuleTest, FunctionOfAnotherContextIsRefused) {
  CUfunction function = nullptr;
  ASSERT_EQ(cuModuleGetFunction(&function, load(golden(kSilu)), kSiluEntry), CUDA_SUCCESS);
  CUcontext other = nullptr;
  ASSERT_EQ(cuCtxCreate_v2(&other, 0, 0), CUDA_SUCCESS);
  EXPECT_EQ(launch(function), CUDA_ERROR_INVALID_HANDLE);
  cuCtxDestroy_v2(other);
}

TEST_F(ModuleTest, ForeignImagesAreInvalid) {
  CUmodule module = nullptr;
  const std::array<unsigned char, 64> elf{0x7F, 'E', 'L', 'F', 2, 1, 1};
  for (const void* image : {static_cast<const void*>(elf.data()), static_cast<const void*>("//"),
                            static_cast<const void*>(".version 8.0\n"), static_cast<const void*>("TILEGYM"),
                            static_cast<const void*>("")}) {
    EXPECT_EQ(cuModuleLoadData(&module, image), CUDA_ERROR_INVALID_IMAGE);
    EXPECT_NE(last_report().find("wanted Tile IR bytecode"), std::string::npos) << last_report();
  }
}

TEST_F(ModuleTest, NewerImageVersionIsRefusedByNumber) {
  CUmodule module = nullptr;
  EXPECT_EQ(cuModuleLoadData(&module, wrap(golden(kSilu), 2).data()), CUDA_ERROR_INVALID_IMAGE);
  EXPECT_NE(last_report().find("wanted format version 1, got 2"), std::string::npos) << last_report();
}

TEST_F(ModuleTest, DamagedBytecodeIsAnInvalidImage) {
  std::vector<std::byte> bytecode = golden(kSilu);
  bytecode[8] = std::byte{99};  // major version
  CUmodule module = nullptr;
  EXPECT_EQ(cuModuleLoadData(&module, wrap(bytecode).data()), CUDA_ERROR_INVALID_IMAGE);
}

TEST_F(ModuleTest, WrappedBytecodeCutShortIsAnInvalidImage) {
  const std::vector<std::byte> bytecode = golden(kSilu);
  CUmodule module = nullptr;
  for (const std::size_t size : {std::size_t{0}, std::size_t{12}, bytecode.size() / 2}) {
    EXPECT_EQ(cuModuleLoadData(&module, wrap(std::span(bytecode).first(size)).data()), CUDA_ERROR_INVALID_IMAGE);
  }
}

TEST_F(ModuleTest, NullArgumentsAreRefused) {
  CUmodule module = nullptr;
  EXPECT_EQ(cuModuleLoadData(&module, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuModuleLoadData(nullptr, "x"), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuModuleLoad(&module, nullptr), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(ModuleTest, FileLoads) {
  CUmodule module = nullptr;
  const auto path = std::filesystem::path(TILEGYM_GOLDENS) / "tile_ir" / (kSilu + ".tileirbc");
  EXPECT_EQ(cuModuleLoad(&module, path.c_str()), CUDA_SUCCESS) << last_report();
}

TEST_F(ModuleTest, FileShorterThanItsHeaderSaysIsInvalid) {
  const auto path = std::filesystem::path(testing::TempDir()) / "short.image";
  const std::vector<std::byte> image = wrap(golden(kSilu));
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(image.data()), static_cast<std::streamsize>(image.size() - 1));
  CUmodule module = nullptr;
  EXPECT_EQ(cuModuleLoad(&module, path.c_str()), CUDA_ERROR_INVALID_IMAGE);
  std::filesystem::remove(path);
}

TEST_F(ModuleTest, MissingFileIsNotFound) {
  CUmodule module = nullptr;
  EXPECT_EQ(cuModuleLoad(&module, "/nowhere/x.tileirbc"), CUDA_ERROR_FILE_NOT_FOUND);
}

TEST_F(ModuleTest, MissingGlobalIsNotFound) {
  CUdeviceptr address = 0;
  EXPECT_EQ(cuModuleGetGlobal_v2(&address, nullptr, load(golden(kSilu)), "g"), CUDA_ERROR_NOT_FOUND);
}

TEST_F(ModuleTest, ParametersFollowNaturalAlignment) {
  CUfunction function = nullptr;
  ASSERT_EQ(cuModuleGetFunction(&function, load(golden(kSilu)), kSiluEntry), CUDA_SUCCESS);
  const std::array<std::array<std::size_t, 2>, 5> expected{{{0, 8}, {8, 8}, {16, 4}, {20, 4}, {24, 4}}};
  for (std::size_t i = 0; i < expected.size(); ++i) {
    std::array<std::size_t, 2> got{};
    EXPECT_EQ(cuFuncGetParamInfo(function, i, got.data(), &got[1]), CUDA_SUCCESS);
    EXPECT_EQ(got, expected[i]);
  }
  std::size_t offset = 0;
  EXPECT_EQ(cuFuncGetParamInfo(function, 5, &offset, nullptr), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(ModuleTest, LibraryKernelIsAFunctionOfEveryContext) {
  CUlibrary library = nullptr;
  CUkernel kernel = nullptr;
  CUfunction function = nullptr;
  const std::vector<std::byte> image = golden(kSilu);
  ASSERT_EQ(cuLibraryLoadData(&library, image.data(), nullptr, nullptr, 0, nullptr, nullptr, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuLibraryGetKernel(&kernel, library, kSiluEntry), CUDA_SUCCESS) << last_report();
  ASSERT_EQ(cuKernelGetFunction(&function, kernel), CUDA_SUCCESS);
  const char* name = nullptr;
  EXPECT_EQ(cuFuncGetName(&name, function), CUDA_SUCCESS);
  EXPECT_STREQ(name, kSiluEntry);
  EXPECT_EQ(cuLibraryUnload(library), CUDA_SUCCESS);
  EXPECT_EQ(cuKernelGetFunction(&function, kernel), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuLibraryUnload(library), CUDA_ERROR_INVALID_HANDLE);
}

TEST_F(ModuleTest, FunctionAttributesFollowTheTarget) {
  const CUfunction function = make_function(outcome(Outcome::ok));
  int value = 0;
  EXPECT_EQ(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_BINARY_VERSION, function), CUDA_SUCCESS);
  EXPECT_EQ(value, 90);
  EXPECT_EQ(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX, function), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(ModuleTest, SharedMemoryIsHeldToTheTargetsLimit) {
  const CUfunction function = make_function(outcome(Outcome::ok));
  EXPECT_EQ(cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 232448), CUDA_SUCCESS);
  EXPECT_EQ(cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 232449),
            CUDA_ERROR_INVALID_VALUE);
}

}  // namespace
}  // namespace tilegym::cpu::test
