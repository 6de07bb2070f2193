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
            -fno-omit-frame-pointer
            # 16-byte atomic operations inline: libatomic's are the subject's, and interposed.
            -mcx16
            # An address-significance table does not survive the relocatable link of weft.o.
            $<$<CXX_COMPILER_ID:Clang>:-fno-addrsig>)

# weft_harness_library(DIR [DEPENDS dirs...] [COMPLETED_BY dirs...] [LIBRARIES names...])
#
# The sources of the current directory as `weft_DIR`. DEPENDS names the directories whose symbols it
# may use; COMPLETED_BY those that define what it only declares (the engine's seams). Unit tests
# link no more than the closure of both, so that a use outside the table of "may include" fails to
# link. LIBRARIES are system libraries. A directory of headers alone becomes an interface library.
function(weft_harness_library dir)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "DEPENDS;COMPLETED_BY;LIBRARIES")
  file(GLOB sources CONFIGURE_DEPENDS *.cc)
  file(GLOB tests CONFIGURE_DEPENDS *_test.cc)
  list(FILTER sources EXCLUDE REGEX "_(test|bench)\\.cc$")
  list(TRANSFORM arg_DEPENDS PREPEND weft_)
  list(TRANSFORM arg_COMPLETED_BY PREPEND weft_)
  if(sources)
    add_library(weft_${dir} OBJECT ${sources})
    target_link_libraries(weft_${dir} PUBLIC weft_build ${arg_DEPENDS} ${arg_LIBRARIES})
    set_property(GLOBAL APPEND PROPERTY WEFT_OBJECT_LIBRARIES weft_${dir})
  else()
    add_library(weft_${dir} INTERFACE)
    target_link_libraries(weft_${dir} INTERFACE weft_build ${arg_DEPENDS} ${arg_LIBRARIES})
  endif()
  set_target_properties(weft_${dir} PROPERTIES WEFT_NEEDS "${arg_DEPENDS};${arg_COMPLETED_BY}" WEFT_TESTS "${tests}")
  set_property(GLOBAL APPEND PROPERTY WEFT_HARNESS_LIBRARIES weft_${dir})
  set_property(GLOBAL APPEND PROPERTY WEFT_SYSTEM_LIBRARIES ${arg_LIBRARIES})
endfunction()

# Sets OUT to TARGETS and all that they need.
function(weft_closure out)
  set(open ${ARGN})
  set(closed)
  while(open)
    list(POP_FRONT open target)
    if(NOT target IN_LIST closed)
      list(APPEND closed ${target})
      get_target_property(needs ${target} WEFT_NEEDS)
      list(APPEND open ${needs})
    endif()
  endwhile()
  set(${out} ${closed} PARENT_SCOPE)
endfunction()

# The `*_test.cc` of each directory as one GoogleTest executable `weft_DIR_test`: native code,
# linked to the objects of the directory's closure. Call when all directories are known.
function(weft_unit_tests)
  get_property(libraries GLOBAL PROPERTY WEFT_HARNESS_LIBRARIES)
  foreach(library IN LISTS libraries)
    get_target_property(tests ${library} WEFT_TESTS)
    if(tests)
      weft_closure(objects ${library})
      add_executable(${library}_test ${tests})
      target_link_libraries(${library}_test PRIVATE ${objects} GTest::gmock GTest::gtest_main)
      add_test(NAME ${library}_test COMMAND ${library}_test)
    endif()
  endforeach()
endfunction()
