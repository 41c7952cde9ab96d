# The caching front of tileiras. It runs alone, wherever it is copied to, hence its own libstdc++.
add_executable(tileiras_front ${CMAKE_SOURCE_DIR}/csrc/programs/tileiras.cpp)
target_link_libraries(tileiras_front PRIVATE runtime)
if(NOT TILEGYM_SANITIZE)
  target_link_options(tileiras_front PRIVATE -static-libstdc++ -static-libgcc)
endif()
set_target_properties(tileiras_front PROPERTIES OUTPUT_NAME tileiras RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
install(TARGETS tileiras_front RUNTIME DESTINATION tilegym_rs/bin)
