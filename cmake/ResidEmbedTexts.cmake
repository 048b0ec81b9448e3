# Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Writes OUTPUT: one line {"<name>", R"page(<text>)page"}, per file of the list TEXTS, its name without folder and suffix.

set(table "")
foreach(page IN LISTS TEXTS)
  cmake_path(GET page STEM name)
  file(READ "${page}" text)
  string(APPEND table "{\"${name}\", R\"page(${text})page\"},\n")
endforeach()
file(WRITE "${OUTPUT}" "${table}")
