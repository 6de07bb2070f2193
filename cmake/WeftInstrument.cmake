# What a project that tests its own code uses; installed, and used by our own scenarios alike.

include_guard(GLOBAL)

# Where <weft/...> lies: beside the package that was found, or in the source tree.
if(NOT DEFINED WEFT_INCLUDE_DIRECTORY)
  cmake_path(SET WEFT_INCLUDE_DIRECTORY NORMALIZE ${CMAKE_CURRENT_LIST_DIR}/../harness/api/include)
endif()
# A property, because the functions below are called from directories that do not see the variable.
set_property(GLOBAL PROPERTY WEFT_INCLUDE_DIRECTORY ${WEFT_INCLUDE_DIRECTORY})

# Compiles the sources of each TARGET so that every memory access, atomic operation and fence
# reports to the harness. The flags are for compiling alone: `-fsanitize=thread` at link time would
# bring in the genuine ThreadSanitizer, whose definitions collide with ours. Targets keep no
# instrumented interface: a library and the executable that uses it are instrumented one by one.
function(weft_instrument)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    # The driver refuses address and thread together; the front end does not.
    set(thread $<IF:$<BOOL:${WEFT_ASAN}>,SHELL:-fsanitize=address -Xclang -fsanitize=thread,-fsanitize=thread>)
    set(flags
        ${thread}
        # Without it a block that reads and then writes reports the write alone, and reads-from misses reads.
        "SHELL:-mllvm -tsan-instrument-read-before-write=1"
        "SHELL:-mllvm -tsan-instrument-func-entry-exit=0")
  elseif(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    set(flags
        -fsanitize=thread
        "SHELL:--param tsan-instrument-func-entry-exit=0"
        # Calls, which <weft/instrumented.h> directs to us.
        -fno-builtin-memcpy -fno-builtin-memmove -fno-builtin-memset
        # g++ warns that its own run-time library does not model fences; ours does.
        -Wno-tsan)
  else()
    message(FATAL_ERROR "weft_instrument: ${CMAKE_CXX_COMPILER_ID} is not supported; use clang++ or g++")
  endif()
  get_property(include GLOBAL PROPERTY WEFT_INCLUDE_DIRECTORY)
  list(APPEND flags "SHELL:-include \"${include}/weft/instrumented.h\"")
  # A call in tail position leaves no frame of its caller, so that an operation would seem to be the caller's caller's.
  foreach(target IN LISTS ARGN)
    target_compile_options(
      ${target} PRIVATE -g -fno-omit-frame-pointer -fno-optimize-sibling-calls ${flags}
                        # The fast executor tells threads apart by %fs:0, not by %fs.
                        -mno-tls-direct-seg-refs)
  endforeach()
endfunction()

# weft_add_test(NAME SOURCES... [LIBRARIES targets...] [ARGS arguments...] [SHARED])
#
# An executable of GoogleTest tests whose WEFT_TEST bodies are explored, registered in CTest under
# NAME. LIBRARIES are linked as they are: hand the ones under test to weft_instrument as well.
# SHARED uses libweft.so in place of the archive.
function(weft_add_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "SHARED" "" "SOURCES;LIBRARIES;ARGS")
  add_executable(${name} ${arg_SOURCES} ${arg_UNPARSED_ARGUMENTS})
  weft_instrument(${name})
  target_link_libraries(
    ${name} PRIVATE ${arg_LIBRARIES} weft::gtest_main $<IF:$<BOOL:${arg_SHARED}>,weft::weft_shared,weft::weft>)
  add_test(NAME ${name} COMMAND ${name} ${arg_ARGS})
endfunction()

# weft_add_fuzzer(NAME SOURCES... [LIBRARIES targets...])
#
# An executable in which libFuzzer decides the schedule: SOURCES have LLVMFuzzerTestOneInput(), which
# calls weft::fuzz_one() (<weft/fuzz.h>). LIBRARIES are linked as they are: hand the ones under test to
# weft_instrument, and give them -fsanitize=fuzzer-no-link for their coverage to count.
function(weft_add_fuzzer name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LIBRARIES")
  if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    message(FATAL_ERROR "weft_add_fuzzer: libFuzzer comes with clang; use clang++")
  endif()
  add_executable(${name} ${arg_SOURCES} ${arg_UNPARSED_ARGUMENTS})
  weft_instrument(${name})
  target_compile_options(${name} PRIVATE -fsanitize=fuzzer-no-link)
  # Not by -fsanitize=fuzzer, which puts libFuzzer before everything: what it instantiates of the
  # standard library's templates would be what the code under test gets too, not instrumented.
  execute_process(
    COMMAND ${CMAKE_CXX_COMPILER} -print-file-name=libclang_rt.fuzzer-x86_64.a
    OUTPUT_VARIABLE libfuzzer OUTPUT_STRIP_TRAILING_WHITESPACE)
  target_link_libraries(${name} PRIVATE ${arg_LIBRARIES} weft::weft ${libfuzzer})
endfunction()
