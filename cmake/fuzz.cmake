# Coverage-guided tests of what reads bytes of unknown origin; clang only. tools/fuzz configures, builds and runs them.
# The engine is built in, without the driver's entry points, which a process exports only once.
file(GLOB engine_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/csrc/cpu_driver/engine/*.cpp
     ${CMAKE_SOURCE_DIR}/csrc/cpu_driver/kernels/*.cpp)
add_executable(fuzz_tile_ir ${CMAKE_SOURCE_DIR}/tests/fuzz/tile_ir_fuzz.cpp ${engine_sources})
target_link_libraries(fuzz_tile_ir PRIVATE tile_ir OpenMP::OpenMP_CXX)
target_link_options(fuzz_tile_ir PRIVATE -fsanitize=fuzzer)
