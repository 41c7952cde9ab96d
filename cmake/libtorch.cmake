# Imported targets `libtorch` and `libtorch_python` from the torch package of the building Python, found without importing
# it (an import takes seconds). Absent torch leaves the targets undefined.
execute_process(
  COMMAND ${Python_EXECUTABLE} -c
          "import importlib.util as u, pathlib; s = u.find_spec('torch'); print(pathlib.Path(s.origin).parent if s else '')"
  OUTPUT_VARIABLE TORCH_ROOT OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
if(NOT TORCH_ROOT)
  message(STATUS "torch: not in this environment; the _torch extension and the libtorch tests are not built")
  return()
endif()
file(READ ${TORCH_ROOT}/version.py torch_version)
string(REGEX MATCH "__version__ = '([0-9]+)\\.([0-9]+)" unused "${torch_version}")
set(TORCH_MAJOR ${CMAKE_MATCH_1})
set(TORCH_MINOR ${CMAKE_MATCH_2})
message(STATUS "torch: ${TORCH_MAJOR}.${TORCH_MINOR} in ${TORCH_ROOT}")

add_library(libtorch INTERFACE)
target_include_directories(libtorch SYSTEM INTERFACE ${TORCH_ROOT}/include
                                                     ${TORCH_ROOT}/include/torch/csrc/api/include)
foreach(part c10 torch_cpu torch)
  find_library(TORCH_LIB_${part} ${part} PATHS ${TORCH_ROOT}/lib NO_DEFAULT_PATH REQUIRED)
  target_link_libraries(libtorch INTERFACE ${TORCH_LIB_${part}})
endforeach()
find_library(TORCH_LIB_torch_python torch_python PATHS ${TORCH_ROOT}/lib NO_DEFAULT_PATH REQUIRED)
add_library(libtorch_python INTERFACE)
target_link_libraries(libtorch_python INTERFACE libtorch ${TORCH_LIB_torch_python})
