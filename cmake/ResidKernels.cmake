# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# resid_add_kernels(): kernels of .mlir files as a library target, with their headers. Used by projects that find resid
# installed, and by those that add its source tree. Owns: the commands that run residc. Does not own: where residc is,
# which the target Resid::residc says. How to use it: docs/embedding.md.
#
#   resid_add_kernels(<target> SOURCES <file.mlir>…
#     [TYPE OBJECT|STATIC|SHARED] [TARGET <machine>] [MCPU <cpu>…] [MTRIPLE <triple>] [MODE training|inference]
#     [PREFIX <prefix>] [SCHEDULE <file>] [OPTIONS <flag>…] [HEADER_DIRECTORY <folder>])

cmake_policy(PUSH)
cmake_policy(VERSION 3.25)

# A mistake of the caller ends the configuration, with the line that called.
macro(_resid_refuse text)
  message(FATAL_ERROR "resid_add_kernels(${target}): ${text}")
endmacro()

# What can be said before a file is looked at. Reads the ARG_… variables of resid_add_kernels.
function(_resid_check_arguments target)
  if(ARG_UNPARSED_ARGUMENTS)
    list(JOIN ARG_UNPARSED_ARGUMENTS "', '" unknown)
    _resid_refuse("expected SOURCES, TYPE, TARGET, MCPU, MTRIPLE, MODE, PREFIX, SCHEDULE, OPTIONS or HEADER_DIRECTORY, \
but got '${unknown}'")
  endif()
  if(ARG_KEYWORDS_MISSING_VALUES AND NOT "SOURCES" IN_LIST ARG_KEYWORDS_MISSING_VALUES)
    list(JOIN ARG_KEYWORDS_MISSING_VALUES ", " missing)
    _resid_refuse("expected a value after ${missing}, but got none")
  endif()
  if(NOT ARG_SOURCES)
    _resid_refuse("expected .mlir files after SOURCES, but got none")
  endif()
  if(NOT ARG_TYPE MATCHES "^(OBJECT|STATIC|SHARED)$")
    _resid_refuse("expected TYPE OBJECT, STATIC or SHARED, but got '${ARG_TYPE}'")
  endif()
  if(DEFINED ARG_MODE AND NOT ARG_MODE MATCHES "^(training|inference)$|\\$<")
    _resid_refuse("expected MODE training or inference, but got '${ARG_MODE}'")
  endif()
  if(ARG_SCHEDULE)
    cmake_path(ABSOLUTE_PATH ARG_SCHEDULE BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}" OUTPUT_VARIABLE schedule)
    get_source_file_property(generated "${schedule}" GENERATED)
    if(NOT generated AND (NOT EXISTS "${schedule}" OR IS_DIRECTORY "${schedule}"))
      _resid_refuse("expected a file after SCHEDULE, but there is none at '${schedule}'")
    endif()
  endif()
  set(own "^(-o|-S$|--?(emit|header|depfile|target|mcpu|mtriple|mode|prefix)(=|$))")
  foreach(option IN LISTS ARG_OPTIONS)
    if(option MATCHES "${own}")
      _resid_refuse("expected OPTIONS that the function does not set itself, but got '${option}'; there are TYPE, \
HEADER_DIRECTORY, TARGET, MCPU, MTRIPLE, MODE and PREFIX")
    endif()
  endforeach()
  if(NOT CMAKE_C_COMPILER_LOADED AND NOT CMAKE_CXX_COMPILER_LOADED)
    _resid_refuse("expected a project with the language C or CXX, but got neither")
  endif()
endfunction()

# Where resid came without its tools (for another machine, or the runtime library alone), any residc of this machine does.
function(_resid_find_residc target)
  if(TARGET Resid::residc)
    return()
  endif()
  find_program(RESID_RESIDC residc NO_CMAKE_FIND_ROOT_PATH DOC "The residc that compiles kernels, of this machine")
  if(NOT RESID_RESIDC)
    _resid_refuse("expected the compiler residc, but this resid comes without it; install the component 'tools', or set \
RESID_RESIDC to a residc that runs on this machine")
  endif()
  add_executable(Resid::residc IMPORTED GLOBAL)
  set_target_properties(Resid::residc PROPERTIES IMPORTED_LOCATION "${RESID_RESIDC}")
endfunction()

# <name>: the file's path without suffix as its header and its object have it: relative to the folder of the
# CMakeLists.txt, so that files of one name in two folders stay apart.
function(_resid_locate target source out_file out_name)
  if(source MATCHES "\\$<")
    _resid_refuse("expected files after SOURCES, but got the generator expression '${source}'")
  endif()
  cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}" NORMALIZE OUTPUT_VARIABLE file)
  get_source_file_property(generated "${file}" GENERATED)
  if(NOT generated AND (NOT EXISTS "${file}" OR IS_DIRECTORY "${file}"))
    _resid_refuse("expected a file after SOURCES, but there is none at '${file}'")
  endif()
  cmake_path(GET file FILENAME name)
  foreach(folder IN ITEMS "${CMAKE_CURRENT_SOURCE_DIR}" "${CMAKE_CURRENT_BINARY_DIR}")
    cmake_path(IS_PREFIX folder "${file}" NORMALIZE inside)
    if(inside)
      cmake_path(RELATIVE_PATH file BASE_DIRECTORY "${folder}" OUTPUT_VARIABLE name)
    endif()
  endforeach()
  cmake_path(REMOVE_EXTENSION name LAST_ONLY)
  set(${out_file} "${file}" PARENT_SCOPE)
  set(${out_name} "${name}" PARENT_SCOPE)
endfunction()

# The machine to compile for where the project is cross-compiled; empty where residc's own default is right.
function(_resid_default_triple target out)
  set(${out} "" PARENT_SCOPE)
  if(NOT CMAKE_CROSSCOMPILING AND CMAKE_SYSTEM_PROCESSOR STREQUAL CMAKE_HOST_SYSTEM_PROCESSOR)
    return()
  endif()
  if(CMAKE_SYSTEM_NAME STREQUAL "Linux" AND CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|amd64|AMD64)$")
    set(${out} "x86_64-unknown-linux-gnu" PARENT_SCOPE)
  elseif(CMAKE_SYSTEM_NAME STREQUAL "Linux" AND CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|arm64)$")
    set(${out} "aarch64-unknown-linux-gnu" PARENT_SCOPE)
  else()
    _resid_refuse("expected MTRIPLE, because the project is compiled for ${CMAKE_SYSTEM_NAME} on \
'${CMAKE_SYSTEM_PROCESSOR}', for which there is no default; x86_64 and aarch64 have one")
  endif()
endfunction()

# The flags of residc that all files of the target share. `native` would be the CPU of the machine that compiles.
function(_resid_flags target out)
  if(NOT DEFINED ARG_MTRIPLE)
    _resid_default_triple("${target}" ARG_MTRIPLE)
  endif()
  if(NOT DEFINED ARG_MCPU AND ARG_MTRIPLE MATCHES "^x86_64")
    set(ARG_MCPU x86-64-v3)
  elseif(NOT DEFINED ARG_MCPU AND ARG_MTRIPLE)
    set(ARG_MCPU generic)
  endif()
  list(JOIN ARG_MCPU "," ARG_MCPU)
  set(flags)
  foreach(flag IN ITEMS TARGET MCPU MTRIPLE MODE PREFIX)
    if(NOT "${ARG_${flag}}" STREQUAL "")
      string(TOLOWER "${flag}" name)
      list(APPEND flags "--${name}=${ARG_${flag}}")
    endif()
  endforeach()
  if(ARG_SCHEDULE)
    cmake_path(ABSOLUTE_PATH ARG_SCHEDULE BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}" NORMALIZE)
    list(APPEND flags "--schedule=@${ARG_SCHEDULE}")
  endif()
  set(${out} "${flags};${ARG_OPTIONS}" PARENT_SCOPE)
endfunction()

# One run of residc. The header goes to its place only where its text changed, so that a change inside of a kernel does
# not compile its callers again; to CMake it is a by-product, which may be older than what it comes from. A schedule file
# among the flags is an input as well.
function(_resid_compile target source file object header)
  set(fresh "${object}.h")
  set(schedule ${ARGN})
  list(FILTER schedule INCLUDE REGEX "^--schedule=@")
  list(TRANSFORM schedule REPLACE "^--schedule=@" "")
  foreach(output IN ITEMS "${object}" "${header}")
    cmake_path(GET output PARENT_PATH folder)
    set(configurations "${CMAKE_CONFIGURATION_TYPES}")
    if(NOT folder MATCHES "\\$<CONFIG>")
      set(configurations "none")
    endif()
    foreach(configuration IN LISTS configurations)
      string(REPLACE "$<CONFIG>" "${configuration}" made "${folder}")
      file(MAKE_DIRECTORY "${made}")
    endforeach()
  endforeach()
  add_custom_command(OUTPUT "${object}"
    BYPRODUCTS "${fresh}" "${header}"
    COMMAND Resid::residc "${file}" -o "${object}" "--header=${fresh}" "--depfile=${object}.d" ${ARGN}
    COMMAND "${CMAKE_COMMAND}" -E copy_if_different "${fresh}" "${header}"
    DEPENDS "${file}" ${schedule} Resid::residc
    DEPFILE "${object}.d"
    COMMENT "Compiling kernels of ${source} for ${target}"
    COMMAND_EXPAND_LISTS VERBATIM)
endfunction()

# Makes `stamp` where no two of the files export one function. Arguments: each source with its object.
function(_resid_check_names target stamp)
  set(pairs)
  set(objects)
  while(ARGN)
    list(POP_FRONT ARGN source object)
    list(APPEND pairs "${source}" "${object}.h")
    list(APPEND objects "${object}")
  endwhile()
  set(script "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/ResidCheckNames.cmake")
  add_custom_command(OUTPUT "${stamp}"
    COMMAND "${CMAKE_COMMAND}" -P "${script}" -- "${target}" "${stamp}" ${pairs}
    DEPENDS ${objects} "${script}"
    COMMENT "Checking the names of functions in ${target}"
    VERBATIM)
endfunction()

# CMake has no object library of objects that it did not compile itself, so that form is an interface that links them.
function(_resid_add_library target type objects stamp folder headers)
  if(type STREQUAL "OBJECT")
    add_custom_target("${target}-objects" DEPENDS ${objects} ${stamp})
    add_library("${target}" INTERFACE)
    add_dependencies("${target}" "${target}-objects")
    target_link_libraries("${target}" INTERFACE ${objects})
    set(scope INTERFACE)
  else()
    add_library("${target}" "${type}" ${objects})
    if(stamp)
      add_custom_target("${target}-names" DEPENDS "${stamp}")
      add_dependencies("${target}" "${target}-names")
    endif()
    set(language CXX)
    if(CMAKE_C_COMPILER_LOADED)
      set(language C)
    endif()
    set_target_properties("${target}" PROPERTIES LINKER_LANGUAGE "${language}")
    target_link_options("${target}" PRIVATE LINKER:--as-needed LINKER:--no-undefined)
    set(scope PUBLIC)
  endif()
  target_sources("${target}" "${scope}" FILE_SET HEADERS BASE_DIRS "${folder}" FILES ${headers})
  set_target_properties("${target}" PROPERTIES RESID_OBJECTS "${objects}" RESID_HEADERS "${headers}")
endfunction()

function(resid_add_kernels target)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "" "TYPE;TARGET;MTRIPLE;MODE;PREFIX;SCHEDULE;HEADER_DIRECTORY" "SOURCES;MCPU;OPTIONS")
  if(NOT DEFINED ARG_TYPE)
    set(ARG_TYPE STATIC)
  endif()
  _resid_check_arguments("${target}")
  _resid_find_residc("${target}")
  _resid_flags("${target}" flags)

  set(objects_folder "${CMAKE_CURRENT_BINARY_DIR}/${target}.resid/objects")
  set(include_folder "${CMAKE_CURRENT_BINARY_DIR}/${target}.resid/include")
  # A relative folder is part of the #include; an absolute one is what the compiler searches.
  if(IS_ABSOLUTE "${ARG_HEADER_DIRECTORY}")
    set(include_folder "${ARG_HEADER_DIRECTORY}")
    set(ARG_HEADER_DIRECTORY "")
  endif()
  get_property(multi_config GLOBAL PROPERTY GENERATOR_IS_MULTI_CONFIG)
  if(multi_config)
    string(APPEND objects_folder "/$<CONFIG>")
    string(APPEND include_folder "/$<CONFIG>")
  endif()
  cmake_path(APPEND include_folder "${ARG_HEADER_DIRECTORY}" OUTPUT_VARIABLE headers_folder)
  string(REGEX REPLACE "/$" "" headers_folder "${headers_folder}")

  set(names)
  set(objects)
  set(pairs)
  set(headers)
  foreach(source IN LISTS ARG_SOURCES)
    _resid_locate("${target}" "${source}" file name)
    if("${name}" IN_LIST names)
      _resid_refuse("expected files with different headers, but '${source}' is the second with the header '${name}.h'")
    endif()
    list(APPEND names "${name}")
    list(APPEND objects "${objects_folder}/${name}.o")
    list(APPEND pairs "${source}" "${objects_folder}/${name}.o")
    list(APPEND headers "${headers_folder}/${name}.h")
    _resid_compile("${target}" "${source}" "${file}" "${objects_folder}/${name}.o" "${headers_folder}/${name}.h"
                   ${flags})
  endforeach()
  set(stamp)
  list(LENGTH objects count)
  if(count GREATER 1)
    set(stamp "${objects_folder}/names.checked")
    _resid_check_names("${target}" "${stamp}" ${pairs})
  endif()
  _resid_add_library("${target}" "${ARG_TYPE}" "${objects}" "${stamp}" "${include_folder}" "${headers}")
endfunction()

cmake_policy(POP)
