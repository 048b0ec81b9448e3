# Finds LLVM and MLIR 22 and their CMake helpers. The shared libraries have to be there; ResidArchives.cmake looks for the static ones.
# Owns: which LLVM is used and what is said when it is missing. Does not own: targets of resid.

find_package(MLIR CONFIG QUIET
  HINTS "${RESID_LLVM_PREFIX}/lib/cmake/mlir" "$ENV{RESID_LLVM_PREFIX}/lib/cmake/mlir")
if(NOT MLIR_FOUND OR NOT LLVM_VERSION_MAJOR EQUAL 22)
  message(FATAL_ERROR
    "resid needs LLVM and MLIR 22 with their development files, and they were not found under "
    "'${RESID_LLVM_PREFIX}'.\n"
    "On Debian 12:  apt-get install llvm-22-dev libmlir-22-dev mlir-22-tools   (or: make setup)\n"
    "Elsewhere:     configure with -DRESID_LLVM_PREFIX=<prefix of LLVM 22> or -DMLIR_DIR=<prefix>/lib/cmake/mlir")
endif()
foreach(required MLIR LLVM mlir-tblgen)
  if(NOT TARGET ${required})
    message(FATAL_ERROR
      "the MLIR package in '${MLIR_DIR}' has no target '${required}'; resid-opt and the plug-in link the shared "
      "libraries libMLIR.so and libLLVM.so.\nOn Debian 12:  apt-get install llvm-22-dev libmlir-22-dev mlir-22-tools")
  endif()
endforeach()

list(APPEND CMAKE_MODULE_PATH "${MLIR_CMAKE_DIR}" "${LLVM_CMAKE_DIR}")
# The package does not export this; without it the upstream helpers would pull in static archives beside the shared ones.
set(MLIR_LINK_MLIR_DYLIB ON)
set(LLVM_LINK_LLVM_DYLIB ON)
include(TableGen)
include(AddLLVM)
include(AddMLIR)

separate_arguments(RESID_LLVM_DEFINITIONS NATIVE_COMMAND "${LLVM_DEFINITIONS}")
list(TRANSFORM RESID_LLVM_DEFINITIONS REPLACE "^-D" "")
message(STATUS "resid: LLVM ${LLVM_PACKAGE_VERSION} in ${LLVM_TOOLS_BINARY_DIR}")
