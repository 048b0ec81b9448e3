// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What was measured, and what follows from it.

#include "codegen/cpu/choice/PrefetchChoice.h"

using namespace mlir::resid;

// What prefetches bring beyond the cache, on a Zen 5 EPYC, one thread: the time without them over the time with them,
// medians, the two called by turns:
//
//                               4096x768  16384x1024  16384x256  65536x64  2048x4096
//   f32   add + layer norm          1.07        1.19       1.03      1.15       1.24
//         dropout + add + norm      2.12        1.82       2.37      2.87       1.67
//         layer norm                1.13        1.18       0.83      1.03       1.19
//         RMS norm                  1.22        1.62       0.84      1.05       1.20
//   bf16  add + layer norm          1.06        1.17       1.02      1.00       1.91
//         dropout + add + norm      1.00        1.02       0.99      1.00       1.17
//         layer norm                1.01        1.17       1.00      1.12       1.48
//
// by `make bench-quick BENCH_FLAGS='--tries=2 --also=--schedule=prefetch=off
// --shapes=4096x768,16384x1024,16384x256,65536x64,2048x4096'`. What they cost somewhere (width 256) changes
// from run to run and between processors; what they bring is more than that. So there is one answer for every width and
// type, also for widths that are known at run time only.
bool cpu::usesPrefetch(const Schedule &schedule) { return schedule.prefetch != PrefetchKind::Off; }
