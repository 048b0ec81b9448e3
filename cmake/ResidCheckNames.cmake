# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Ends with an error where two of the files of one resid_add_kernels() export one function: a static library would hold
# both, and callers of the one would get the other. Run at build time, since functions follow from what files say then:
#   cmake -P ResidCheckNames.cmake -- <target> <stamp> <source> <header> [<source> <header>…]

math(EXPR last "${CMAKE_ARGC} - 1")
set(given)
foreach(index RANGE 0 ${last})
  if(CMAKE_ARGV${index} STREQUAL "--")
    math(EXPR given "${index} + 1")
    break()
  endif()
endforeach()
set(target "${CMAKE_ARGV${given}}")
math(EXPR given "${given} + 1")
set(stamp "${CMAKE_ARGV${given}}")
math(EXPR given "${given} + 1")

foreach(index RANGE ${given} ${last} 2)
  set(source "${CMAKE_ARGV${index}}")
  math(EXPR next "${index} + 1")
  file(STRINGS "${CMAKE_ARGV${next}}" lines REGEX "^RESID_API [^(]*[ *][A-Za-z0-9_]+\\(")
  foreach(line IN LISTS lines)
    string(REGEX REPLACE "^RESID_API [^(]*[ *]([A-Za-z0-9_]+)\\(.*$" "\\1" name "${line}")
    # The runtime's own, which every header declares.
    if(name STREQUAL "resid_status_string")
      continue()
    endif()
    if(DEFINED "source_of_${name}")
      message(FATAL_ERROR "resid_add_kernels(${target}): expected functions of different names, but '${source}' and \
'${source_of_${name}}' both export '${name}'; give one of them a target of its own with another PREFIX, or rename the \
function")
    endif()
    set("source_of_${name}" "${source}")
  endforeach()
endforeach()
file(TOUCH "${stamp}")
