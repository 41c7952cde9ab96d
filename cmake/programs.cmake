# The caching front of tileiras. It runs alone, wherever it is copied to, hence its own libstdc++.
add_executable(tileiras_front ${CMAKE_SOURCE_DIR}/csrc/programs/tileiras.cpp)
target_link_libraries(tileiras_front PRIVATE runtime)
if(NOT TILEGYM_SANITIZE)
  target_link_options(tileiras_front PRIVATE -static-libstdc++ -static-libgcc)
endif()
set_target_properties(tileiras_front PROPERTIES OUTPUT_NAME tileiras RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
install(TARGETS tileiras_front RUNTIME DESTINATION tilegym_rs/bin)

# `ir dump` as a program of its own, beside the command: reading a module takes no longer than starting Python does.
add_executable(tile_ir_dump ${CMAKE_SOURCE_DIR}/csrc/programs/tile_ir_dump.cpp)
target_link_libraries(tile_ir_dump PRIVATE tile_ir)
if(NOT TILEGYM_SANITIZE)
  target_link_options(tile_ir_dump PRIVATE -static-libstdc++ -static-libgcc)
endif()
set_target_properties(tile_ir_dump PROPERTIES OUTPUT_NAME tilegym-ir RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
if(SKBUILD_SCRIPTS_DIR)
  install(TARGETS tile_ir_dump RUNTIME DESTINATION ${SKBUILD_SCRIPTS_DIR})
endif()
