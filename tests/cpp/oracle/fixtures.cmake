# The room has tests only; its library is empty.
add_library(oracle INTERFACE)
add_dependencies(test_oracle tilegym_cpu_driver)
target_compile_definitions(test_oracle PRIVATE TILEGYM_STAND_IN="$<TARGET_FILE:tilegym_cpu_driver>")
