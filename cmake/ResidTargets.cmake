# Target helpers: every library and tool of the compiler is made by one of these functions. The global properties
# RESID_LIBRARIES and RESID_TOOLS list what they made; the tests build and link all of it.

# resid_tablegen(<name> <file.td> <output> <generator flags…> ...): see the calls in dialect/CMakeLists.txt.
# Usage: resid_tablegen(TARGET <t> SOURCE <file.td> OUTPUTS <out1> "<flags1>" <out2> "<flags2>" …)
function(resid_tablegen)
  cmake_parse_arguments(ARG "" "TARGET;SOURCE" "OUTPUTS" ${ARGN})
  set(LLVM_TARGET_DEFINITIONS ${ARG_SOURCE})
  set(TABLEGEN_OUTPUT)
  while(ARG_OUTPUTS)
    list(POP_FRONT ARG_OUTPUTS output flags)
    separate_arguments(flags NATIVE_COMMAND "${flags}")
    mlir_tablegen(${output} ${flags} "-I${PROJECT_SOURCE_DIR}" "-I${MLIR_INCLUDE_DIRS}")
  endwhile()
  add_public_tablegen_target(${ARG_TARGET})
endfunction()

# resid_configure_target(<t>): include paths and language rules of code that uses MLIR.
function(resid_configure_target target)
  # Where resid is installed, its package says all this instead (ResidInstall.cmake, ResidDialect.cmake.in).
  target_include_directories(${target} PUBLIC
    "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>" "$<BUILD_INTERFACE:${PROJECT_BINARY_DIR}>")
  target_include_directories(${target} SYSTEM PUBLIC
    "$<BUILD_INTERFACE:${LLVM_INCLUDE_DIRS}>" "$<BUILD_INTERFACE:${MLIR_INCLUDE_DIRS}>")
  target_compile_definitions(${target} PUBLIC "$<BUILD_INTERFACE:${RESID_LLVM_DEFINITIONS}>")
  # The packaged LLVM is built without exceptions and with run-time type information.
  target_compile_options(${target} PRIVATE -fno-exceptions -Wall -Wextra -Wno-unused-parameter)
  # The package's LLVM was built without asserts. Ours may still be on, as long as no class of LLVM changes its layout:
  # llvm::Statistic (and mlir::Pass::Statistic) would, so resid uses none.
  if(RESID_ASSERTS)
    target_compile_options(${target} PRIVATE -UNDEBUG)
  endif()
endfunction()

# resid_add_library(<name> SOURCES … [DEPENDS tablegen-targets…] [LINK libraries…])
function(resid_add_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPENDS;LINK" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  resid_configure_target(${name})
  if(ARG_DEPENDS)
    add_dependencies(${name} ${ARG_DEPENDS})
  endif()
  target_link_libraries(${name} PUBLIC ${ARG_LINK} MLIR LLVM)
  resid_use_precompiled_headers(${name})
  set_property(GLOBAL APPEND PROPERTY RESID_LIBRARIES ${name})
endfunction()

# resid_add_tool(<name> SOURCES … LINK …): an executable in bin/.
function(resid_add_tool name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  add_executable(Resid::${name} ALIAS ${name})
  resid_configure_target(${name})
  target_link_libraries(${name} PRIVATE ${ARG_LINK} MLIR LLVM)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bin")
  set_property(GLOBAL APPEND PROPERTY RESID_TOOLS ${name})
endfunction()

# Precompiled headers pay with clang (2 s instead of 5 s a file) and cost with gcc.
function(resid_use_precompiled_headers target)
  if(CMAKE_CXX_COMPILER_ID MATCHES "Clang" AND RESID_PRECOMPILED_HEADERS)
    if(target STREQUAL "ResidDialect")
      target_precompile_headers(${target} PRIVATE "${PROJECT_SOURCE_DIR}/cmake/Precompiled.h")
    else()
      target_precompile_headers(${target} REUSE_FROM ResidDialect)
    endif()
  endif()
endfunction()
