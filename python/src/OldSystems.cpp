// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What archives that are linked into the wheels take from the C library of the system that builds them, and what older
// systems lack. Names stay inside (exports.map).

#include <sys/random.h>

/// A random word. glibc has it from 2.36 on.
extern "C" __attribute__((visibility("hidden"))) unsigned arc4random() {
  unsigned word;
  while (getrandom(&word, sizeof word, 0) != sizeof word)
    ;
  return word;
}
