# Coverage-guided tests of what reads bytes of unknown origin; clang only. tools/fuzz configures, builds and runs them.
function(tilegym_fuzz target)
  set(folder ${CMAKE_SOURCE_DIR}/tests/fuzz)
  add_executable(fuzz_${target} ${folder}/${target}_fuzz.cpp ${folder}/mutator.cpp ${ARGN})
  target_link_libraries(fuzz_${target} PRIVATE tile_ir)
  # One file that runs wherever its C library does.
  target_link_options(fuzz_${target} PRIVATE -fsanitize=fuzzer -static-libstdc++ -static-libgcc)
endfunction()

tilegym_fuzz(tile_ir ${CMAKE_SOURCE_DIR}/tests/fuzz/checks.cpp)
tilegym_fuzz(reports ${CMAKE_SOURCE_DIR}/tests/fuzz/checks.cpp)

# The engine is built in, without the driver's entry points, which a process exports only once.
file(GLOB engine_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/csrc/cpu_driver/engine/*.cpp
     ${CMAKE_SOURCE_DIR}/csrc/cpu_driver/kernels/*.cpp)
tilegym_fuzz(lowering ${engine_sources})
target_link_libraries(fuzz_lowering PRIVATE OpenMP::OpenMP_CXX)
