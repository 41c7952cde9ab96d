# The stand-in CUDA driver: own SONAME, nothing exported but the driver's entry points, symbols bound inside, so that it
# lives beside a real libcuda in one process.
add_library(tilegym_cpu_driver SHARED $<TARGET_OBJECTS:cpu_driver>)
target_link_libraries(tilegym_cpu_driver PRIVATE tile_ir OpenMP::OpenMP_CXX)
set(version_script ${CMAKE_SOURCE_DIR}/csrc/cpu_driver/api/exports.map)
# Its worker threads and exit handlers outlive a dlclose, hence nodelete.
target_link_options(tilegym_cpu_driver PRIVATE -Wl,-Bsymbolic -Wl,-z,nodelete -Wl,--version-script=${version_script})
if(NOT TILEGYM_SANITIZE)
  # A sanitizer's runtime is resolved at load, everything else here.
  target_link_options(tilegym_cpu_driver PRIVATE -Wl,-z,defs)
endif()
set_target_properties(tilegym_cpu_driver PROPERTIES LINKER_LANGUAGE CXX LINK_DEPENDS ${version_script})
# libgomp is torch's own, from the neighbouring package, so that a process holds one; else the system's.
set_target_properties(tilegym_cpu_driver PROPERTIES INSTALL_RPATH "$ORIGIN/../../torch/lib")
install(TARGETS tilegym_cpu_driver LIBRARY DESTINATION tilegym_rs/lib)
