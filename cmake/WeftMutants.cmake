# The runtime as a subject under test: the genuine one, and *mutants* of it, each with one planted bug.
#
# A mutant is a patch against lib/. Its copy lives in a namespace of its own, so that one program links
# any number of mutants beside the genuine runtime. Scenario code is written once, against the namespace
# that the macro WEFT_RT names, and compiled once for each library it links:
#
#   #include "lib/context/context.h"
#   namespace rt = WEFT_RT;
#
#   weft_add_runtime()
#   weft_add_mutant(context_early_free ${CMAKE_CURRENT_SOURCE_DIR}/mutants/context_early_free.patch)
#   target_link_libraries(fixed PRIVATE weftrt_genuine)             # WEFT_RT=weftrt
#   target_link_libraries(buggy PRIVATE weftrt_context_early_free)  # WEFT_RT=weftrt_context_early_free
#
# Linking sets WEFT_RT and the include directory that decides whose lib/ is included.

include_guard(GLOBAL)
include(WeftInstrument)

find_program(WEFT_PATCH NAMES patch REQUIRED)

function(_weft_instrumented_runtime target namespace include_directory)
  add_library(${target} STATIC ${ARGN})
  target_compile_features(${target} PUBLIC cxx_std_20)
  # BEFORE: a mutant's lib/ must hide the genuine one wherever both are in reach.
  target_include_directories(${target} BEFORE PUBLIC ${include_directory})
  target_compile_definitions(${target} INTERFACE WEFT_RT=${namespace})
  weft_instrument(${target})
endfunction()

# Sets OUT to the sources of lib/, headers included, relative to the source tree.
function(_weft_runtime_files out)
  file(GLOB_RECURSE files CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}
       ${PROJECT_SOURCE_DIR}/lib/*.cc ${PROJECT_SOURCE_DIR}/lib/*.h)
  list(FILTER files EXCLUDE REGEX "_(test|bench)\\.cc$")
  set(${out} ${files} PARENT_SCOPE)
endfunction()

# weft_add_runtime(): the genuine runtime, instrumented, as `weftrt_genuine`.
function(weft_add_runtime)
  _weft_runtime_files(files)
  list(FILTER files INCLUDE REGEX "\\.cc$")
  list(TRANSFORM files PREPEND ${PROJECT_SOURCE_DIR}/)
  _weft_instrumented_runtime(weftrt_genuine weftrt ${PROJECT_SOURCE_DIR} ${files})
endfunction()

# weft_add_mutant(NAME [PATCH]): lib/ with PATCH applied, in namespace weftrt_NAME, instrumented, as
# `weftrt_NAME`. Made at build time, again whenever lib/ or the patch changes; a patch that does not
# apply exactly stops the build. Without PATCH it is a second copy of the genuine runtime.
function(weft_add_mutant name)
  set(patch ${ARGV1})
  set(patch_or_none ${patch})
  if(NOT patch)
    set(patch_or_none -)
  endif()
  _weft_runtime_files(files)
  set(root ${PROJECT_BINARY_DIR}/mutants/${name})
  list(TRANSFORM files PREPEND ${root}/ OUTPUT_VARIABLE copies)
  list(TRANSFORM files PREPEND ${PROJECT_SOURCE_DIR}/ OUTPUT_VARIABLE originals)
  set(script ${PROJECT_SOURCE_DIR}/cmake/make-mutant)
  add_custom_command(
    OUTPUT ${copies}
    COMMAND ${script} ${WEFT_PATCH} ${PROJECT_SOURCE_DIR} ${root} ${name} ${patch_or_none} ${files}
    DEPENDS ${script} ${patch} ${originals}
    COMMENT "Mutant ${name}"
    VERBATIM)
  list(FILTER copies INCLUDE REGEX "\\.cc$")
  _weft_instrumented_runtime(weftrt_${name} weftrt_${name} ${root} ${copies})
  # In one translation unit: most of what compiling each alone takes is the standard library's headers,
  # and there are many mutants. The genuine runtime is compiled as its users compile it.
  set_target_properties(weftrt_${name} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 0)
  # Scenario objects include the copied headers: they wait for the copy.
  add_custom_target(weftrt_${name}_files DEPENDS ${copies})
  add_dependencies(weftrt_${name} weftrt_${name}_files)
  if(NOT TARGET weft_mutant_files)
    add_custom_target(weft_mutant_files)  # of all mutants, for tools that read and do not build
  endif()
  add_dependencies(weft_mutant_files weftrt_${name}_files)
endfunction()
