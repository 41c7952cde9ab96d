# tilegym_room(NAME [LOWER...] [SUBFOLDERS dir...]): a static library of every source below csrc/NAME, on top of LOWER.
function(tilegym_room name)
  cmake_parse_arguments(ROOM "" "" "SUBFOLDERS" ${ARGN})
  set(patterns ${CMAKE_SOURCE_DIR}/csrc/${name}/*.cpp)
  foreach(folder IN LISTS ROOM_SUBFOLDERS)
    list(APPEND patterns ${CMAKE_SOURCE_DIR}/csrc/${name}/${folder}/*.cpp)
  endforeach()
  file(GLOB sources CONFIGURE_DEPENDS ${patterns})
  add_library(${name} STATIC ${sources})
  target_link_libraries(${name} PUBLIC tilegym_flags ${ROOM_UNPARSED_ARGUMENTS})
endfunction()

# spdlog, fmt and toml++ come from the system as plain header folders: their packaged targets would add shared libraries
# to what the extension needs at run time.
add_library(header_only INTERFACE)
find_path(SPDLOG_INCLUDE spdlog/spdlog.h REQUIRED)
find_path(FMT_INCLUDE fmt/core.h REQUIRED)
find_path(TOML_INCLUDE toml++/toml.h REQUIRED)
target_include_directories(header_only SYSTEM INTERFACE ${SPDLOG_INCLUDE} ${FMT_INCLUDE} ${TOML_INCLUDE})
target_compile_definitions(header_only INTERFACE SPDLOG_FMT_EXTERNAL FMT_HEADER_ONLY TOML_HEADER_ONLY=1)
