add_dependencies(test_oracle tilegym_cpu_driver)
target_compile_definitions(test_oracle PRIVATE TILEGYM_STAND_IN="$<TARGET_FILE:tilegym_cpu_driver>")
