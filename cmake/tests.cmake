# One executable per room, from tests/cpp/<room>/*.cpp.
find_package(GTest CONFIG REQUIRED)
include(GoogleTest)

function(tilegym_room_tests room)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/cpp/${room}/*.cpp)
  if(NOT sources)
    return()
  endif()
  add_executable(test_${room} ${sources})
  target_include_directories(test_${room} PRIVATE ${CMAKE_SOURCE_DIR}/tests/cpp)
  target_compile_definitions(test_${room} PRIVATE TILEGYM_GOLDENS="${CMAKE_SOURCE_DIR}/tests/goldens")
  target_link_libraries(test_${room} PRIVATE ${room} ${ARGN} GTest::gtest_main)
  # Compiling the tests takes longer than running them: what they test is optimised, they are not.
  target_compile_options(test_${room} PRIVATE -O0)
  target_precompile_headers(test_${room} PRIVATE <gtest/gtest.h> <functional> <memory> <optional> <string> <variant>
                                                 <vector>)
  gtest_discover_tests(test_${room} TEST_PREFIX ${room}. DISCOVERY_TIMEOUT 60)
  include(${CMAKE_SOURCE_DIR}/tests/cpp/${room}/fixtures.cmake OPTIONAL)
endfunction()

tilegym_room_tests(common)
tilegym_room_tests(tile_ir)
tilegym_room_tests(cpu_driver)
if(TARGET test_cpu_driver)
  # Its tests open the shared library beside the executable.
  add_dependencies(test_cpu_driver tilegym_cpu_driver)
endif()
tilegym_room_tests(runtime)
tilegym_room_tests(validation)
if(TARGET libtorch)
  tilegym_room_tests(oracle validation runtime cpu_driver libtorch)
endif()
