# The checks of the fuzz targets, which the committed corpus is put through here.
target_sources(test_tile_ir PRIVATE ${CMAKE_SOURCE_DIR}/tests/fuzz/checks.cpp)
target_include_directories(test_tile_ir PRIVATE ${CMAKE_SOURCE_DIR}/tests)
