# cuda.h: from CUDA_TOOLKIT_PATH or CUDA_HOME, else the header wheels of the Python that builds, else /usr/local/cuda.
find_package(Python REQUIRED COMPONENTS Interpreter Development.Module)
execute_process(
  COMMAND ${Python_EXECUTABLE} -c
          "import importlib.util as u; s = u.find_spec('nvidia'); print(';'.join(p + '/cu13' for p in s.submodule_search_locations) if s else '')"
  OUTPUT_VARIABLE wheel_folders OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
find_path(CUDA_INCLUDE cuda.h PATHS $ENV{CUDA_TOOLKIT_PATH} $ENV{CUDA_HOME} ${wheel_folders} /usr/local/cuda
          PATH_SUFFIXES include NO_DEFAULT_PATH)
if(NOT CUDA_INCLUDE)
  message(FATAL_ERROR "cuda.h: wanted in CUDA_TOOLKIT_PATH, CUDA_HOME, the nvidia-cuda-runtime wheel or /usr/local/cuda; "
                      "found in none. Install it with: pip install nvidia-cuda-runtime nvidia-cuda-crt")
endif()
add_library(cuda_headers INTERFACE)
target_include_directories(cuda_headers SYSTEM INTERFACE ${CUDA_INCLUDE})
