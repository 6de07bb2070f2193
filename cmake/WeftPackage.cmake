# The harness as users link it: libweft.a and libweft.so from one relocatable object.

include_guard(GLOBAL)

get_property(objects GLOBAL PROPERTY WEFT_OBJECT_LIBRARIES)
get_property(system_libraries GLOBAL PROPERTY WEFT_SYSTEM_LIBRARIES)
list(REMOVE_DUPLICATES system_libraries)
list(TRANSFORM objects REPLACE "(.+)" "$<TARGET_OBJECTS:\\1>" OUTPUT_VARIABLE object_files)

# One object in which only the exported symbols are global. Plain archive members would not do: an
# inline function of the standard library that both the harness and the code under test use is one
# symbol to the linker, which keeps whichever copy comes first. The code under test would lose its
# instrumentation there, or the harness would gain it.
set(WEFT_OBJECT ${PROJECT_BINARY_DIR}/weft.o)
set(WEFT_EXPORTS ${CMAKE_ARCHIVE_OUTPUT_DIRECTORY}/weft.exports)
add_custom_command(
  OUTPUT ${WEFT_OBJECT} ${WEFT_EXPORTS}
  COMMAND
    ${CMAKE_COMMAND} -E env LD=${WEFT_LD} OBJCOPY=${WEFT_OBJCOPY} READELF=${WEFT_READELF}
    ${PROJECT_SOURCE_DIR}/cmake/link-object ${WEFT_OBJECT} ${WEFT_EXPORTS} ${object_files}
  DEPENDS ${object_files} ${PROJECT_SOURCE_DIR}/cmake/link-object
  COMMENT "Linking weft.o"
  COMMAND_EXPAND_LISTS VERBATIM)
add_custom_target(weft_object DEPENDS ${WEFT_OBJECT} ${WEFT_EXPORTS})

# Headers a test may include; weft::gtest_main and weft::main need them and neither flavour.
add_library(weft_headers INTERFACE)
target_include_directories(
  weft_headers INTERFACE $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/harness/api/include> $<INSTALL_INTERFACE:include>)
target_compile_features(weft_headers INTERFACE cxx_std_20)

add_library(weft_archive STATIC ${WEFT_OBJECT})
add_library(weft_shared SHARED ${WEFT_OBJECT})
foreach(flavour weft_archive weft_shared)
  set_target_properties(${flavour} PROPERTIES OUTPUT_NAME weft LINKER_LANGUAGE CXX)
  add_dependencies(${flavour} weft_object)
  target_link_libraries(${flavour} PUBLIC weft_headers)
endforeach()
target_link_libraries(weft_shared PRIVATE ${system_libraries} ${CMAKE_DL_LIBS})
target_link_options(weft_shared PRIVATE -Wl,-z,defs INTERFACE -Wl,--no-as-needed)

# The archive goes in whole (nothing need refer to an interposer for it to interpose), and its
# interposers are exported, so that shared libraries of the program bind to them.
add_library(weft_static INTERFACE)
target_link_libraries(
  weft_static
  # CMake 3.25 does not put the namespace before a target named inside LINK_LIBRARY when it exports it.
  INTERFACE $<BUILD_INTERFACE:$<LINK_LIBRARY:WHOLE_ARCHIVE,weft_archive>>
            $<INSTALL_INTERFACE:$<LINK_LIBRARY:WHOLE_ARCHIVE,weft::weft_archive>>
            ${system_libraries}
            ${CMAKE_DL_LIBS})
target_link_options(
  weft_static
  INTERFACE $<BUILD_INTERFACE:-Wl,--export-dynamic-symbol-list=${WEFT_EXPORTS}>
            $<INSTALL_INTERFACE:-Wl,--export-dynamic-symbol-list=$<INSTALL_PREFIX>/${CMAKE_INSTALL_LIBDIR}/weft.exports>)

add_library(weft::weft ALIAS weft_static)
add_library(weft::weft_shared ALIAS weft_shared)

# weft_user_library(NAME SUBDIRECTORY [LIBRARIES targets...]): a small archive beside the harness,
# from harness/api/SUBDIRECTORY, that knows the api's headers and is linked in either flavour.
function(weft_user_library name subdirectory)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "" "LIBRARIES")
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/harness/api/${subdirectory}/*.cc)
  list(FILTER sources EXCLUDE REGEX "_(test|bench)\\.cc$")
  add_library(weft_${name} STATIC ${sources})
  target_link_libraries(weft_${name} PUBLIC weft_headers ${arg_LIBRARIES} PRIVATE $<BUILD_INTERFACE:weft_build>)
  add_library(weft::${name} ALIAS weft_${name})
  set_target_properties(weft_${name} PROPERTIES EXPORT_NAME ${name})
endfunction()

weft_user_library(gtest_main gtest LIBRARIES GTest::gtest)
weft_user_library(main main)
weft_user_library(native native)

# Installing: `find_package(weftwork)` gives the targets above under the same names.
install(
  TARGETS weft_static weft_archive weft_shared weft_headers weft_gtest_main weft_main weft_native
  EXPORT weftwork)
set_target_properties(weft_static PROPERTIES EXPORT_NAME weft)
set(package_directory ${CMAKE_INSTALL_LIBDIR}/cmake/weftwork)
install(EXPORT weftwork NAMESPACE weft:: FILE weftwork-targets.cmake DESTINATION ${package_directory})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/harness/api/include/ TYPE INCLUDE)
install(FILES ${WEFT_EXPORTS} TYPE LIB)

include(CMakePackageConfigHelpers)
configure_package_config_file(
  ${PROJECT_SOURCE_DIR}/cmake/weftwork-config.cmake.in ${PROJECT_BINARY_DIR}/weftwork-config.cmake
  INSTALL_DESTINATION ${package_directory}
  PATH_VARS CMAKE_INSTALL_INCLUDEDIR)
write_basic_package_version_file(
  ${PROJECT_BINARY_DIR}/weftwork-config-version.cmake COMPATIBILITY SameMinorVersion)
install(
  FILES ${PROJECT_BINARY_DIR}/weftwork-config.cmake ${PROJECT_BINARY_DIR}/weftwork-config-version.cmake
        ${PROJECT_SOURCE_DIR}/cmake/WeftInstrument.cmake
  DESTINATION ${package_directory})

# Under AddressSanitizer there is more to export, and a consumer would have to take its library in, too.
if(BUILD_TESTING AND NOT WEFT_ASAN)
  add_test(NAME exports COMMAND ${PROJECT_SOURCE_DIR}/cmake/check-exports $<TARGET_FILE:weft_shared>)
  add_test(NAME consumer COMMAND ${PROJECT_SOURCE_DIR}/cmake/consumer/check ${PROJECT_BINARY_DIR}
                                 ${PROJECT_BINARY_DIR}/consumer ${CMAKE_CXX_COMPILER})
endif()

# The compiler wrapper, once for use from the build tree and once to install.
list(TRANSFORM system_libraries PREPEND "-l" OUTPUT_VARIABLE WEFT_CXX_LIBRARIES)
list(JOIN WEFT_CXX_LIBRARIES " " WEFT_CXX_LIBRARIES)
set(WEFT_CXX_LIBDIR "$here/../lib")
set(WEFT_CXX_INCLUDE ${PROJECT_SOURCE_DIR}/harness/api/include)
configure_file(cmake/weft-c++.in ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/weft-c++ @ONLY USE_SOURCE_PERMISSIONS)
set(WEFT_CXX_LIBDIR "$here/../${CMAKE_INSTALL_LIBDIR}")
set(WEFT_CXX_INCLUDE "$here/../include")
configure_file(cmake/weft-c++.in ${PROJECT_BINARY_DIR}/weft-c++ @ONLY USE_SOURCE_PERMISSIONS)
install(PROGRAMS ${PROJECT_BINARY_DIR}/weft-c++ TYPE BIN)
