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
  target_compile_options(${target} PRIVATE -fno-exceptions -Wall -Wextra -Wno-unused-parameter -Werror=switch)
  # A tool spends its time in LLVM and MLIR, which come compiled: -O3 makes the build a tenth longer and no tool faster.
  target_compile_options(${target} PRIVATE "$<$<CONFIG:Release>:-O2>")
  # The package's LLVM was built without asserts. Ours may still be on, as long as no class of LLVM changes its layout:
  # llvm::Statistic (and mlir::Pass::Statistic) would, so resid uses none.
  if(RESID_ASSERTS)
    target_compile_options(${target} PRIVATE -UNDEBUG)
  endif()
  # So that the linker can leave out what a tool does not reach.
  if(RESID_STATIC_TOOLS)
    target_compile_options(${target} PRIVATE -ffunction-sections -fdata-sections)
  endif()
endfunction()

# resid_add_library(<name> SOURCES … [ALONE …] [DEPENDS tablegen-targets…] [LINK libraries…]): a static library, which
# programs of both kinds link (ResidArchives.cmake). An installed one is for tools that use the shared libraries of
# MLIR. ALONE: those of the sources whose names clash with others', so that none is compiled together with another.
function(resid_add_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;ALONE;DEPENDS;LINK" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  set_source_files_properties(${ARG_ALONE} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  resid_configure_target(${name})
  if(ARG_DEPENDS)
    add_dependencies(${name} ${ARG_DEPENDS})
  endif()
  target_link_libraries(${name} PUBLIC ${ARG_LINK}
    "$<BUILD_INTERFACE:resid_llvm>" "$<INSTALL_INTERFACE:MLIR>" "$<INSTALL_INTERFACE:LLVM>")
  resid_share_headers(${name})
  set_property(GLOBAL APPEND PROPERTY RESID_LIBRARIES ${name})
endfunction()

# resid_add_tool(<name> SOURCES … LINK …): an executable in bin/ that uses the shared libraries of LLVM and MLIR.
function(resid_add_tool name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  add_executable(Resid::${name} ALIAS ${name})
  resid_configure_target(${name})
  target_link_libraries(${name} PRIVATE ${ARG_LINK} resid_llvm)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bin")
  set_property(GLOBAL APPEND PROPERTY RESID_TOOLS ${name})
endfunction()

# resid_add_standalone_tool(<name> SOURCES … [ALONE …] LINK …): the main function of a tool, and all that it alone
# needs, as the library <name>-main. The program is made by resid_add_driver.
function(resid_add_standalone_tool name)
  cmake_parse_arguments(ARG "" "" "SOURCES;ALONE;LINK" ${ARGN})
  add_library(${name}-main STATIC ${ARG_SOURCES})
  set_source_files_properties(${ARG_ALONE} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  resid_configure_target(${name}-main)
  target_link_libraries(${name}-main PUBLIC ${ARG_LINK} resid_llvm)
  resid_share_headers(${name}-main)
  set_property(GLOBAL APPEND PROPERTY RESID_STANDALONE_TOOLS ${name})
endfunction()

# resid_add_driver(<target> NAME <tool> DIRECTORY <folder> LINKS <variable> SOURCES … [TOOLS …]): one program for the tools
# (all standalone ones), which is <tool> by its own name, and the others by links to it, whose paths <variable> lists. It
# has LLVM and MLIR in itself where RESID_STATIC_TOOLS says so.
function(resid_add_driver target)
  cmake_parse_arguments(ARG "" "NAME;DIRECTORY;LINKS" "SOURCES;TOOLS" ${ARGN})
  get_property(tools GLOBAL PROPERTY RESID_STANDALONE_TOOLS)
  if(ARG_TOOLS)
    set(tools ${ARG_TOOLS})
  endif()
  list(TRANSFORM tools APPEND "-main" OUTPUT_VARIABLE mains)
  add_executable(${target} ${ARG_SOURCES})
  resid_configure_target(${target})
  target_link_libraries(${target} PRIVATE ${mains})
  set_target_properties(${target} PROPERTIES
    OUTPUT_NAME ${ARG_NAME} RUNTIME_OUTPUT_DIRECTORY "${ARG_DIRECTORY}" RESID_STATIC_LLVM ${RESID_STATIC_TOOLS})
  set(links)
  list(REMOVE_ITEM tools ${ARG_NAME})
  foreach(tool IN LISTS tools)
    add_custom_command(OUTPUT "${ARG_DIRECTORY}/${tool}" DEPENDS ${target}
      COMMAND "${CMAKE_COMMAND}" -E create_symlink ${ARG_NAME} "${ARG_DIRECTORY}/${tool}"
      COMMENT "Linking the name ${tool} to ${ARG_NAME}" VERBATIM)
    list(APPEND links "${ARG_DIRECTORY}/${tool}")
  endforeach()
  set(${ARG_LINKS} "${links}" PARENT_SCOPE)
endfunction()

# What many sources include is compiled once: upstream headers in a precompiled one, which pays with clang (2 s instead
# of 5 s a file) and costs with gcc; templates and inline functions once per group of sources that is compiled as one.
function(resid_share_headers target)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${RESID_UNITY_BUILD} UNITY_BUILD_BATCH_SIZE 12)
  if(CMAKE_CXX_COMPILER_ID MATCHES "Clang" AND RESID_PRECOMPILED_HEADERS)
    # The same header in another checkout is the same file, so that a cache of objects serves both.
    target_compile_options(${target} PRIVATE "SHELL:-Xclang -fno-pch-timestamp")
    if(target STREQUAL "ResidDialect")
      target_precompile_headers(${target} PRIVATE "${PROJECT_SOURCE_DIR}/cmake/Precompiled.h")
    else()
      target_precompile_headers(${target} REUSE_FROM ResidDialect)
    endif()
    # A program can be made of code for libraries, which the header was compiled for.
    get_target_property(type ${target} TYPE)
    if(type STREQUAL "EXECUTABLE")
      set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
      target_compile_options(${target} PRIVATE -fPIC)
    endif()
  endif()
endfunction()
