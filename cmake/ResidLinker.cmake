# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# `resid_linker`: LLVM's linker for ELF as a library, for --emit=shared. Without it that is refused with exit code 4.
# The package's own targets would bring the shared LLVM into tools that have it in themselves (ResidArchives.cmake).

# The linker asks for every code generator of LLVM at its start, for optimisation at link time, which no object of resid
# takes part in. Tools that have LLVM in themselves have those of two processors, and for the others functions that do
# nothing, as Polly's, which the package has no archive of.
function(_resid_write_absent_targets file)
  set(text "#include \"llvm/Plugins/PassPlugin.h\"\nllvm::PassPluginLibraryInfo getPollyPluginInfo() { return {}; }\n")
  set(others ${LLVM_ALL_TARGETS} M68k Xtensa)
  list(REMOVE_ITEM others X86 AArch64 NVPTX)
  list(REMOVE_DUPLICATES others)
  foreach(target IN LISTS others)
    foreach(part Target TargetInfo TargetMC AsmParser AsmPrinter)
      string(APPEND text "extern \"C\" void LLVMInitialize${target}${part}() {}\n")
    endforeach()
  endforeach()
  file(CONFIGURE OUTPUT "${file}" CONTENT "${text}" @ONLY)
endfunction()

add_library(resid_linker INTERFACE)
find_library(RESID_LLD_ELF_LIBRARY liblldELF.a HINTS "${LLVM_LIBRARY_DIR}" NO_DEFAULT_PATH)
find_library(RESID_LLD_COMMON_LIBRARY liblldCommon.a HINTS "${LLVM_LIBRARY_DIR}" NO_DEFAULT_PATH)
find_library(RESID_LLD_ZSTD_LIBRARY NAMES libzstd.a zstd libzstd.so.1)
find_library(RESID_LLD_ZLIB_LIBRARY NAMES libz.a z libz.so.1)
mark_as_advanced(RESID_LLD_ELF_LIBRARY RESID_LLD_COMMON_LIBRARY RESID_LLD_ZSTD_LIBRARY RESID_LLD_ZLIB_LIBRARY)
if(NOT RESID_LLD_ELF_LIBRARY OR NOT RESID_LLD_COMMON_LIBRARY OR NOT RESID_LLD_ZSTD_LIBRARY OR NOT RESID_LLD_ZLIB_LIBRARY)
  message(STATUS "resid: residc has no --emit=shared, since LLVM's linker is not here as a library (liblld-22-dev)")
  return()
endif()
target_compile_definitions(resid_linker INTERFACE RESID_HAS_LINKER)
target_link_libraries(resid_linker INTERFACE "${RESID_LLD_ELF_LIBRARY}" "${RESID_LLD_COMMON_LIBRARY}"
  "${RESID_LLD_ZSTD_LIBRARY}" "${RESID_LLD_ZLIB_LIBRARY}" resid_llvm)
if(RESID_STATIC_TOOLS)
  _resid_write_absent_targets("${PROJECT_BINARY_DIR}/absent-targets.cpp")
  add_library(resid_absent_targets OBJECT "${PROJECT_BINARY_DIR}/absent-targets.cpp")
  resid_configure_target(resid_absent_targets)
  target_link_libraries(resid_linker INTERFACE "$<TARGET_OBJECTS:resid_absent_targets>")
endif()
