# How the harness itself is built: one OBJECT library per directory, never instrumented.

include_guard(GLOBAL)

# Usage requirements of every harness source.
add_library(weft_build INTERFACE)
target_include_directories(weft_build INTERFACE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/harness/api/include)
target_compile_features(weft_build INTERFACE cxx_std_20)
target_compile_definitions(weft_build INTERFACE FMT_HEADER_ONLY $<$<BOOL:${WEFT_ASAN}>:WEFT_ASAN=1>)
target_compile_options(
  weft_build
  INTERFACE -fPIC
            -fvisibility=hidden
            -fvisibility-inlines-hidden
            # Our thread-local words are read at every schedule point, also from libweft.so.
            -ftls-model=initial-exec
            # Every thread_local is reached through %fs:0, which the alias executor changes.
            -mno-tls-direct-seg-refs
            # 16-byte atomic operations: clang emits them inline, g++ calls libatomic all the same.
            -mcx16
            # An address-significance table does not survive the relocatable link of weft.o.
            $<$<CXX_COMPILER_ID:Clang>:-fno-addrsig>
            # g++ makes static data of inline functions unique in the process, which objcopy cannot undo.
            $<$<CXX_COMPILER_ID:GNU>:-fno-gnu-unique>)

if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  target_link_libraries(weft_build INTERFACE atomic)
  set_property(GLOBAL APPEND PROPERTY WEFT_SYSTEM_LIBRARIES atomic)
endif()

# weft_harness_library(DIR [DEPENDS dirs...] [COMPLETED_BY dirs...] [LIBRARIES names...])
#
# The sources of the current directory as `weft_DIR`. DEPENDS names the directories whose symbols it
# may use, COMPLETED_BY those that define what it only declares (the engine's seams). Its unit test
# can link no more than these and what they depend on, so that a use outside the table of "may
# include" fails to link. LIBRARIES are system libraries. A directory of headers alone becomes an
# interface library.
function(weft_harness_library dir)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "DEPENDS;COMPLETED_BY;LIBRARIES")
  file(GLOB sources CONFIGURE_DEPENDS *.cc)
  file(GLOB tests CONFIGURE_DEPENDS *_test.cc)
  file(GLOB benches CONFIGURE_DEPENDS *_bench.cc)
  list(FILTER sources EXCLUDE REGEX "_(test|bench)\\.cc$")
  list(TRANSFORM arg_DEPENDS PREPEND weft_)
  list(TRANSFORM arg_COMPLETED_BY PREPEND weft_)
  if(sources)
    add_library(weft_${dir} OBJECT ${sources})
    target_link_libraries(weft_${dir} PUBLIC weft_build ${arg_DEPENDS} ${arg_LIBRARIES})
    # For unit tests, which take from other directories no more than they use.
    add_library(weft_${dir}_parts STATIC EXCLUDE_FROM_ALL $<TARGET_OBJECTS:weft_${dir}>)
    set_target_properties(weft_${dir}_parts PROPERTIES LINKER_LANGUAGE CXX)
    set_property(GLOBAL APPEND PROPERTY WEFT_OBJECT_LIBRARIES weft_${dir})
  else()
    add_library(weft_${dir} INTERFACE)
    target_link_libraries(weft_${dir} INTERFACE weft_build ${arg_DEPENDS} ${arg_LIBRARIES})
  endif()
  set_target_properties(
    weft_${dir} PROPERTIES WEFT_DEPENDS "${arg_DEPENDS}" WEFT_COMPLETED_BY "${arg_COMPLETED_BY}" WEFT_TESTS "${tests}"
    WEFT_BENCHES "${benches}")
  set_property(GLOBAL APPEND PROPERTY WEFT_HARNESS_LIBRARIES weft_${dir})
  set_property(GLOBAL APPEND PROPERTY WEFT_SYSTEM_LIBRARIES ${arg_LIBRARIES})
endfunction()

# Sets OUT to the archives of TARGETS and of all that they depend on.
function(weft_parts out)
  set(open ${ARGN})
  set(closed)
  set(parts)
  while(open)
    list(POP_FRONT open target)
    if(NOT target IN_LIST closed)
      list(APPEND closed ${target})
      if(TARGET ${target}_parts)
        list(APPEND parts ${target}_parts)
      endif()
      get_target_property(depends ${target} WEFT_DEPENDS)
      list(APPEND open ${depends})
    endif()
  endwhile()
  set(${out} ${parts} PARENT_SCOPE)
endfunction()

# weft_part_of(TARGET LIBRARY): TARGET, a test or benchmark of LIBRARY, links what the latter may use.
function(weft_part_of target library)
  get_target_property(depends ${library} WEFT_DEPENDS)
  get_target_property(completed_by ${library} WEFT_COMPLETED_BY)
  weft_parts(parts ${depends} ${completed_by})
  list(REMOVE_ITEM parts ${library}_parts)
  list(JOIN parts "," parts)
  target_link_libraries(${target} PRIVATE ${library})
  if(parts)
    target_link_libraries(${target} PRIVATE $<LINK_GROUP:RESCAN,${parts}>)
  endif()
endfunction()

# weft_executables(OUT SUFFIX PROPERTY LIBRARY...): what each harness library lists in PROPERTY as one
# executable, the library's name and SUFFIX, that links LIBRARY... too; OUT is their names.
function(weft_executables out suffix property)
  get_property(libraries GLOBAL PROPERTY WEFT_HARNESS_LIBRARIES)
  set(made)
  foreach(library IN LISTS libraries)
    get_target_property(sources ${library} ${property})
    if(sources)
      add_executable(${library}${suffix} ${sources})
      weft_part_of(${library}${suffix} ${library})
      target_link_libraries(${library}${suffix} PRIVATE ${ARGN})
      list(APPEND made ${library}${suffix})
    endif()
  endforeach()
  set(${out} ${made} PARENT_SCOPE)
endfunction()

# The `*_bench.cc` of each directory as one Google Benchmark executable `weft_DIR_bench`.
function(weft_benches)
  weft_executables(benches _bench WEFT_BENCHES benchmark::benchmark benchmark::benchmark_main)
endfunction()

# The `*_test.cc` of each directory as one GoogleTest executable `weft_DIR_test`: native code. Call
# when all directories are known.
function(weft_unit_tests)
  weft_executables(tests _test WEFT_TESTS GTest::gmock GTest::gtest_main)
  foreach(test IN LISTS tests)
    add_test(NAME ${test} COMMAND ${test})
  endforeach()
endfunction()
