# What the build stands on, by Debian package; scripts/bootstrap installs all of it.

include_guard(GLOBAL)

find_package(GTest REQUIRED)
find_package(benchmark REQUIRED)
find_package(fmt REQUIRED)
find_package(CLI11 REQUIRED)
find_package(nlohmann_json REQUIRED)
find_path(WEFT_XXHASH_INCLUDE xxhash.h REQUIRED)
find_library(WEFT_LIBDW dw REQUIRED)

# GNU binutils by name: CMAKE_LINKER may be lld, which dissolves COMDAT groups only since version 19.
find_program(WEFT_LD NAMES ld.bfd REQUIRED)
find_program(WEFT_OBJCOPY NAMES objcopy REQUIRED)
find_program(WEFT_READELF NAMES readelf REQUIRED)

if(WEFT_ASAN)
  # The shared run-time library alone keeps its thread-local block out of the executable's, which
  # is restored between executions. It must come first among the libraries, so libweft.so interposes
  # nothing that it defines: with AddressSanitizer, link the archive.
  execute_process(
    COMMAND ${CMAKE_CXX_COMPILER} -print-file-name=libclang_rt.asan-x86_64.so
    OUTPUT_VARIABLE asan_runtime OUTPUT_STRIP_TRAILING_WHITESPACE)
  cmake_path(GET asan_runtime PARENT_PATH asan_directory)
  add_link_options(-fsanitize=address -shared-libsan "LINKER:-rpath,${asan_directory}")
endif()

if(WEFT_TIDY)
  find_program(WEFT_CLANG_TIDY NAMES clang-tidy-22 clang-tidy-19 REQUIRED)
  set(CMAKE_CXX_CLANG_TIDY ${WEFT_CLANG_TIDY} --warnings-as-errors=*)
endif()

if(NOT CUDAToolkit_ROOT AND DEFINED ENV{CUDA_HOME})
  set(CUDAToolkit_ROOT $ENV{CUDA_HOME})
endif()
find_package(CUDAToolkit 13 QUIET)
if(NOT CUDAToolkit_FOUND)
  message(STATUS "CUDA Toolkit 13 not found: the parts that need its headers are left out. "
                 "Install it in /usr/local/cuda, or set CUDA_HOME or CUDAToolkit_ROOT.")
endif()
