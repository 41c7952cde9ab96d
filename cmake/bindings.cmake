# _core: no torch ABI, one build for every torch that has the DLPack C exchange API.
find_package(pybind11 CONFIG REQUIRED HINTS ${PYBIND11_CMAKE_DIR})

# NO_EXTRAS: pybind11 would link with LTO, which loses inline functions of libstdc++ that the rooms' objects, compiled
# without it, refer to (Ubuntu's g++ 13). exclude-libs: where a toolchain links libstdc++ statically, each module keeps
# its own copy to itself; shared halves of two copies crash in the first use of a locale.
function(tilegym_python_module name)
  pybind11_add_module(${name} MODULE NO_EXTRAS ${ARGN})
  target_link_options(${name} PRIVATE -Wl,--exclude-libs,ALL)
endfunction()

file(GLOB core_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/csrc/bindings/core/*.cpp)
tilegym_python_module(_core ${core_sources})
target_link_libraries(_core PRIVATE runtime validation tile_ir cuda_headers)
include(cmake/compare_image.cmake)
if(compare_image)
  set(image_source ${CMAKE_SOURCE_DIR}/csrc/bindings/core/compare_image.cpp)
  set_source_files_properties(${image_source} PROPERTIES OBJECT_DEPENDS ${compare_image} COMPILE_DEFINITIONS
                                                         "TILEGYM_COMPARE_IMAGE=\"${compare_image}\"")
endif()
install(TARGETS _core LIBRARY DESTINATION tilegym_rs)

# _torch_<major>_<minor>: libtorch of the environment that builds, through our own imported target: find_package(Torch)
# fails without a CUDA toolkit.
include(cmake/libtorch.cmake)
if(TARGET libtorch)
  file(GLOB torch_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/csrc/bindings/torch/*.cpp)
  set(torch_module _torch_${TORCH_MAJOR}_${TORCH_MINOR})
  tilegym_python_module(${torch_module} ${torch_sources})
  target_compile_definitions(${torch_module} PRIVATE TILEGYM_TORCH_MODULE=${torch_module})
  target_link_libraries(${torch_module} PRIVATE runtime libtorch_python)
  install(TARGETS ${torch_module} LIBRARY DESTINATION tilegym_rs)
endif()
