# The comparison's kernels for GPUs, made by nvcc where there is one: CUDACXX, CUDA_TOOLKIT_PATH or CUDA_HOME, the nvcc
# wheel of the building Python, /usr/local/cuda, PATH. Sets compare_image to the file, or leaves it unset: then CUDA
# tensors are compared with torch's operations. No CUDA language, which would ask for a whole toolkit.
option(TILEGYM_CUDA "Compile the comparison of CUDA tensors where nvcc is found" ON)
set(TILEGYM_CUDA_ARCHITECTURES 80 90 100 120 CACHE STRING "What it is compiled for; GPUs in between run the lower one")
if(NOT TILEGYM_CUDA)
  return()
endif()
find_program(NVCC nvcc HINTS $ENV{CUDACXX} $ENV{CUDA_TOOLKIT_PATH} $ENV{CUDA_HOME} ${wheel_folders} /usr/local/cuda
             PATH_SUFFIXES bin)
if(NOT NVCC)
  message(STATUS "nvcc: not found; CUDA tensors will be compared with torch's operations")
  return()
endif()
set(codes "")
foreach(architecture IN LISTS TILEGYM_CUDA_ARCHITECTURES)
  list(APPEND codes -gencode arch=compute_${architecture},code=sm_${architecture})
endforeach()
set(compare_image ${CMAKE_BINARY_DIR}/compare.fatbin)
file(GLOB compare_headers CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/csrc/validation/device/*.h
     ${CMAKE_SOURCE_DIR}/csrc/validation/pair.h)
# No contraction: a pair is judged to the last bit as on the host.
add_custom_command(
  OUTPUT ${compare_image}
  COMMAND ${NVCC} -std=c++20 -fmad=false -fatbin -t 0 ${codes} -ccbin ${CMAKE_CXX_COMPILER} -I${CMAKE_SOURCE_DIR}/csrc
          -o ${compare_image} ${CMAKE_SOURCE_DIR}/csrc/validation/device/compare.cu
  DEPENDS ${CMAKE_SOURCE_DIR}/csrc/validation/device/compare.cu ${compare_headers}
  COMMENT "Compiling the comparison of CUDA tensors" VERBATIM)
