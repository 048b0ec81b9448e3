# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# How LLVM and MLIR come into a program: `resid_llvm`, which every library of resid names, is either the shared libraries
# or the static archives, as the program that is linked says by its property RESID_STATIC_LLVM. So no program gets both.
# Owns: RESID_STATIC_TOOLS, the archives and what they need themselves. Does not own: which program is of which kind.

# The archives of the package, without code generators of other processors than those that resid compiles for: whatever
# asked for one would bring all of it. Empty where the package has shared libraries only.
function(_resid_find_archives out)
  set(others ${LLVM_ALL_TARGETS} M68k Xtensa)
  list(REMOVE_ITEM others X86 AArch64 NVPTX)
  list(JOIN others "|" others)
  set(archives)
  foreach(library IN LISTS MLIR_EXPORTED_TARGETS LLVM_AVAILABLE_LIBS)
    if(NOT TARGET ${library} OR library MATCHES "^LLVM(${others})[A-Z]")
      continue()
    endif()
    get_target_property(type ${library} TYPE)
    get_target_property(file ${library} LOCATION)
    if(type STREQUAL "STATIC_LIBRARY" AND EXISTS "${file}")
      list(APPEND archives "${file}")
    endif()
  endforeach()
  if(NOT archives MATCHES "libMLIRIR\\.a" OR NOT archives MATCHES "libLLVMCore\\.a")
    set(archives)
  endif()
  set(${out} "${archives}" PARENT_SCOPE)
endfunction()

# A library that LLVM was built with, as an archive where the system has one, else the shared one that libLLVM.so needs.
macro(_resid_find_dependency variable name)
  find_library(${variable} NAMES "lib${name}.a" "${name}" "lib${name}.so.1" DOC "${name}, which LLVM was built with")
  mark_as_advanced(${variable})
  if(NOT ${variable})
    message(FATAL_ERROR "LLVM in '${LLVM_DIR}' was built with ${name}, and its library was not found; install its "
      "development files or configure with -DRESID_STATIC_TOOLS=OFF")
  endif()
  list(APPEND dependencies "${${variable}}")
endmacro()

# What archives name beyond LLVM. Parts of it that need more (libxml2, libffi, libedit) are in no tool of resid.
function(_resid_find_dependencies out)
  set(dependencies)
  if(LLVM_ENABLE_ZSTD)
    _resid_find_dependency(RESID_ZSTD_LIBRARY zstd)
  endif()
  if(LLVM_ENABLE_ZLIB)
    _resid_find_dependency(RESID_ZLIB_LIBRARY z)
  endif()
  set(${out} "${dependencies}" PARENT_SCOPE)
endfunction()

_resid_find_archives(archives)
set(default OFF)
if(archives AND CMAKE_BUILD_TYPE MATCHES "^(Release|MinSizeRel)$" AND NOT CMAKE_CXX_FLAGS MATCHES "-fsanitize=")
  set(default ON)
endif()
option(RESID_STATIC_TOOLS "Have LLVM and MLIR in residc, resid-run, resid-tune, resid-reduce and resid-lsp-server themselves" ${default})

add_library(resid_llvm_shared INTERFACE)
target_link_libraries(resid_llvm_shared INTERFACE MLIR LLVM)
add_library(resid_llvm INTERFACE)
if(NOT RESID_STATIC_TOOLS)
  target_link_libraries(resid_llvm INTERFACE resid_llvm_shared)
  message(STATUS "resid: the tools use the shared libraries of LLVM and MLIR (RESID_STATIC_TOOLS=OFF)")
  return()
endif()
if(NOT archives)
  message(FATAL_ERROR "RESID_STATIC_TOOLS needs the static archives of LLVM and MLIR, and the package in '${MLIR_DIR}' has "
    "none; install them or configure with -DRESID_STATIC_TOOLS=OFF")
endif()
_resid_find_dependencies(dependencies)
find_package(Threads REQUIRED)

# The archives name each other in circles. What no tool reaches is left out, and with it the names that it needs.
add_library(resid_llvm_archives INTERFACE)
target_link_libraries(resid_llvm_archives INTERFACE
  "$<LINK_GROUP:RESCAN,${archives}>" ${dependencies} Threads::Threads ${CMAKE_DL_LIBS} m)
target_link_options(resid_llvm_archives INTERFACE LINKER:--gc-sections LINKER:--as-needed)

# The C++ library too, where it is there as an archive: it is a part of the time that a tool takes to start. And libgcc, but
# for what has the property RESID_SHARED_LIBGCC: as an archive it asks for a glibc of its own age.
include(CheckCXXSourceCompiles)
set(CMAKE_REQUIRED_LINK_OPTIONS -static-libstdc++ -static-libgcc)
check_cxx_source_compiles("#include <string>\nint main(int n, char **v) { return std::string(v[0]).size() == 7; }"
  RESID_HAS_STATIC_LIBSTDCXX)
unset(CMAKE_REQUIRED_LINK_OPTIONS)
if(RESID_HAS_STATIC_LIBSTDCXX)
  target_link_options(resid_llvm_archives INTERFACE -static-libstdc++
    "$<IF:$<BOOL:$<TARGET_PROPERTY:RESID_SHARED_LIBGCC>>,-shared-libgcc,-static-libgcc>")
endif()

target_link_libraries(resid_llvm INTERFACE
  "$<IF:$<BOOL:$<TARGET_PROPERTY:RESID_STATIC_LLVM>>,resid_llvm_archives,resid_llvm_shared>")
list(JOIN dependencies ", " dependencies)
message(STATUS "resid: the tools have LLVM and MLIR in themselves (RESID_STATIC_TOOLS=ON), with ${dependencies}")
