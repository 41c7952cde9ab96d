# The tileiras of the CPU device. It runs alone, wherever it is linked to, hence its own libstdc++.
add_executable(tileiras_cpu ${CMAKE_SOURCE_DIR}/csrc/programs/tileiras_cpu.cpp)
target_link_libraries(tileiras_cpu PRIVATE tile_ir)
if(NOT TILEGYM_SANITIZE)
  target_link_options(tileiras_cpu PRIVATE -static-libstdc++ -static-libgcc)
endif()
set_target_properties(tileiras_cpu PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
install(TARGETS tileiras_cpu RUNTIME DESTINATION tilegym_rs/bin)
