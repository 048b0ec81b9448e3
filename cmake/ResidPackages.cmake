# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The packages for Debian that `make deb` builds: one per component of the installation. Included after ResidInstall.cmake,
# which says what is in each. Their version is that of the project; dpkg finds which packages have the libraries they need.

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_DIRECTORY "${PROJECT_BINARY_DIR}/packages")
set(CPACK_PACKAGING_INSTALL_PREFIX "/usr")
set(CPACK_PACKAGE_CONTACT "resid <resid@example.org>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_PACKAGE_CHECKSUM)

set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_ALL runtime development)
if(RESID_BUILD_COMPILER)
  list(APPEND CPACK_COMPONENTS_ALL tools mlir)
endif()
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_TOOLS_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_ENABLE_COMPONENT_DEPENDS ON)
# In seconds, where xz takes half a minute for a little less.
set(CPACK_DEBIAN_COMPRESSION_TYPE zstd)

get_target_property(soversion resid_runtime_shared SOVERSION)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_NAME "libresid-runtime${soversion}")
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_RUNTIME_DESCRIPTION "runtime library of programs with kernels of resid")

set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libresid-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_DESCRIPTION "headers, libraries, CMake package and documentation of resid")
set(CPACK_COMPONENT_DEVELOPMENT_DEPENDS runtime)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_RECOMMENDS resid)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SUGGESTS "libmlir-${LLVM_VERSION_MAJOR}-dev, mlir-${LLVM_VERSION_MAJOR}-tools")

set(CPACK_DEBIAN_TOOLS_PACKAGE_NAME resid)
set(CPACK_DEBIAN_TOOLS_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_TOOLS_DESCRIPTION "compiler for the residual stream of Transformers")
set(CPACK_DEBIAN_TOOLS_PACKAGE_RECOMMENDS "gcc | c-compiler")
set(CPACK_DEBIAN_TOOLS_PACKAGE_SUGGESTS "libresid-dev, resid-mlir")

# The packages of libMLIR.so and libLLVM.so, in this version or a later one. dpkg-shlibdeps would say the same after it has
# gone through all of their functions.
function(_resid_find_mlir_packages out)
  set(packages)
  foreach(library IN ITEMS MLIR LLVM)
    get_target_property(file ${library} LOCATION)
    file(REAL_PATH "${file}" file)
    execute_process(COMMAND dpkg-query --search "${file}" OUTPUT_VARIABLE package RESULT_VARIABLE failed ERROR_QUIET)
    string(REGEX REPLACE ":.*" "" package "${package}")
    execute_process(COMMAND dpkg-query --show "--showformat=\${Version}" "${package}"
      OUTPUT_VARIABLE version RESULT_VARIABLE failed_version ERROR_QUIET)
    if(failed OR failed_version)
      set(${out} "" PARENT_SCOPE)
      return()
    endif()
    string(REGEX REPLACE "-[^-]*$" "" version "${version}")
    list(APPEND packages "${package} (>= ${version})")
  endforeach()
  list(JOIN packages ", " packages)
  set(${out} "${packages}" PARENT_SCOPE)
endfunction()

if(RESID_BUILD_COMPILER)
  _resid_find_mlir_packages(CPACK_DEBIAN_MLIR_PACKAGE_DEPENDS)
endif()
if(NOT CPACK_DEBIAN_MLIR_PACKAGE_DEPENDS)
  # Of no package: dpkg-shlibdeps says so when packages are made.
  set(CPACK_DEBIAN_MLIR_PACKAGE_SHLIBDEPS ON)
endif()
set(CPACK_DEBIAN_MLIR_PACKAGE_NAME resid-mlir)
set(CPACK_DEBIAN_MLIR_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_MLIR_DESCRIPTION "single passes of resid, and its plug-in for mlir-opt")
set(CPACK_DEBIAN_MLIR_PACKAGE_SUGGESTS "resid, mlir-${LLVM_VERSION_MAJOR}-tools")

include(CPack)
