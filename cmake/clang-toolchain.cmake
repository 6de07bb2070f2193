# The compiler of every preset but gcc: clang 22 where Debian has it, else 19. Presets cannot say "else".
if(NOT CMAKE_CXX_COMPILER)
  find_program(WEFT_CLANGXX NAMES clang++-22 clang++-19)
  if(NOT WEFT_CLANGXX)
    message(FATAL_ERROR "neither clang++-22 nor clang++-19 is installed: run scripts/bootstrap")
  endif()
  set(CMAKE_CXX_COMPILER "${WEFT_CLANGXX}")
endif()
