# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# What `cmake --install` installs, and where: the one place that knows. Included when all targets that it names exist.
#
# Components: `runtime` (the shared runtime library: what a machine needs that runs programs linked to it), `tools` (the
# tools that stand alone), `mlir` (resid-opt and the plug-in, which need MLIR's shared libraries), `development` (headers,
# static library, CMake package, dialect and passes, documentation). Nothing that is installed names the source or the
# build tree, so the folder may be moved.

include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(RESID_PACKAGE_DIR "${CMAKE_INSTALL_LIBDIR}/cmake/Resid")
set(RESID_DIALECT_INCLUDEDIR "${CMAKE_INSTALL_INCLUDEDIR}/resid")

install(FILES LICENSE DESTINATION "${CMAKE_INSTALL_DOCDIR}" COMPONENT runtime)

# The runtime library.
install(TARGETS resid_runtime resid_runtime_shared EXPORT ResidRuntimeTargets
  LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT runtime NAMELINK_COMPONENT development
  ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT development)
install(FILES runtime/resid.h runtime/resid_runtime.h DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" COMPONENT development)
install(EXPORT ResidRuntimeTargets NAMESPACE Resid:: DESTINATION "${RESID_PACKAGE_DIR}" COMPONENT development)

file(RELATIVE_PATH RESID_PC_TO_PREFIX "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
string(REGEX REPLACE "/$" "" RESID_PC_TO_PREFIX "${RESID_PC_TO_PREFIX}")
configure_file(cmake/resid_runtime.pc.in "${PROJECT_BINARY_DIR}/cmake/resid_runtime.pc" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/cmake/resid_runtime.pc"
  DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig" COMPONENT development)

# The CMake package.
configure_package_config_file(cmake/ResidConfig.cmake.in "${PROJECT_BINARY_DIR}/cmake/ResidConfig.cmake"
  INSTALL_DESTINATION "${RESID_PACKAGE_DIR}" PATH_VARS RESID_DIALECT_INCLUDEDIR)
write_basic_package_version_file("${PROJECT_BINARY_DIR}/cmake/ResidConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/cmake/ResidConfig.cmake" "${PROJECT_BINARY_DIR}/cmake/ResidConfigVersion.cmake"
              cmake/ResidCheckNames.cmake
              cmake/ResidKernels.cmake
  DESTINATION "${RESID_PACKAGE_DIR}" COMPONENT development)

# Documents, with the folders that they link to.
install(FILES README.md CHANGELOG.md DESTINATION "${CMAKE_INSTALL_DOCDIR}" COMPONENT development)
install(DIRECTORY docs examples DESTINATION "${CMAKE_INSTALL_DOCDIR}" COMPONENT development
  PATTERN "build*" EXCLUDE PATTERN "__pycache__" EXCLUDE)

if(NOT RESID_BUILD_COMPILER)
  return()
endif()

# The names of functions of LLVM in the symbol table are a third of a tool that has LLVM in it.
if(CMAKE_BUILD_TYPE MATCHES "^(Release|MinSizeRel)$")
  install(CODE "set(CMAKE_INSTALL_DO_STRIP ON)" ALL_COMPONENTS)
endif()

# The tools. Where a program needs libMLIR.so and libLLVM.so, their folder stays in its search path.
set(programs resid-opt resid-plugin)
if(NOT RESID_STATIC_TOOLS)
  list(APPEND programs residc)
endif()
file(RELATIVE_PATH tools_to_libraries "/${CMAKE_INSTALL_BINDIR}" "/${CMAKE_INSTALL_LIBDIR}")
set_target_properties(${programs} PROPERTIES
  INSTALL_RPATH "$ORIGIN/${tools_to_libraries}" INSTALL_RPATH_USE_LINK_PATH ON)
get_property(links GLOBAL PROPERTY RESID_TOOL_LINKS)
install(TARGETS residc EXPORT ResidToolsTargets RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}" COMPONENT tools)
install(FILES ${links} DESTINATION "${CMAKE_INSTALL_BINDIR}" COMPONENT tools)
install(EXPORT ResidToolsTargets NAMESPACE Resid:: DESTINATION "${RESID_PACKAGE_DIR}" COMPONENT tools)
install(TARGETS resid-opt EXPORT ResidMLIRToolsTargets RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}" COMPONENT mlir)
install(TARGETS resid-plugin LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT mlir)
install(EXPORT ResidMLIRToolsTargets NAMESPACE Resid:: DESTINATION "${RESID_PACKAGE_DIR}" COMPONENT mlir)

# Man pages, and what bash, zsh and fish complete, each with its tool.
get_property(pages GLOBAL PROPERTY RESID_PAGES_DIR)
foreach(kind "man;${CMAKE_INSTALL_MANDIR}/man1" "bash;${CMAKE_INSTALL_DATADIR}/bash-completion/completions"
             "zsh;${CMAKE_INSTALL_DATADIR}/zsh/site-functions" "fish;${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d")
  list(GET kind 0 folder)
  list(GET kind 1 destination)
  install(DIRECTORY "${pages}/${folder}/" DESTINATION "${destination}" COMPONENT tools PATTERN "*resid-opt*" EXCLUDE)
  install(DIRECTORY "${pages}/${folder}/" DESTINATION "${destination}" COMPONENT mlir FILES_MATCHING PATTERN "*resid-opt*")
endforeach()

# The dialect and the passes, for other MLIR tools. Installed headers are those that such a tool includes.
install(TARGETS ResidDialect ResidPasses EXPORT ResidDialectTargets
  ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT development
  INCLUDES DESTINATION "${RESID_DIALECT_INCLUDEDIR}")
install(EXPORT ResidDialectTargets NAMESPACE Resid:: DESTINATION "${RESID_PACKAGE_DIR}" COMPONENT development)
configure_file(cmake/ResidDialect.cmake.in "${PROJECT_BINARY_DIR}/cmake/ResidDialect.cmake" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/cmake/ResidDialect.cmake"
  DESTINATION "${RESID_PACKAGE_DIR}" COMPONENT development)
install(FILES dialect/ActivationKinds.h dialect/DropoutScheme.h dialect/NormKinds.h dialect/Placement.h dialect/QuantizedResult.h dialect/ResidDialect.h
  dialect/ResidEnums.h dialect/Shapes.h dialect/TextHooks.h
  DESTINATION "${RESID_DIALECT_INCLUDEDIR}/dialect" COMPONENT development)
install(FILES passes/Passes.h DESTINATION "${RESID_DIALECT_INCLUDEDIR}/passes" COMPONENT development)
foreach(folder dialect passes)
  install(DIRECTORY "${folder}/" "${PROJECT_BINARY_DIR}/${folder}/"
    DESTINATION "${RESID_DIALECT_INCLUDEDIR}/${folder}" COMPONENT development
    FILES_MATCHING PATTERN "*.td" PATTERN "*.h.inc"
    PATTERN "CMakeFiles" EXCLUDE PATTERN "*.dir" EXCLUDE PATTERN "docs" EXCLUDE)
endforeach()
