// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What was measured, and what follows from it.

#include "codegen/cpu/ScheduleTable.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::cpu;

std::optional<int64_t> cpu::getStaticWidth(rows::KernelOp kernel) {
  int64_t width = 1;
  for (Value size : kernel.getColumnDims()) {
    APInt value;
    if (!matchPattern(size, m_ConstantInt(&value)))
      return std::nullopt;
    width *= value.getSExtValue();
  }
  return width;
}

// On a Zen 5 EPYC, one thread, beyond the cache, objects of `residc --schedule=prefetch=off` and `=on` called by turns:
// add + layer norm, on against off, medians:
//
//   f32  4096x768   1.20 to 1.36    16384x1024  0.99 to 1.35    16384x256  1.01    65536x64   0.98
//   bf16                                                        32768x256  1.39    131072x64  1.06
//   f16  16384x768  1.34            2048x4096   1.71
//   f64  4096x768   1.68            2048x4096   1.24
//
// RMS norm, bf16 16384x768: 1.16; dropout + add + layer norm, f32 65536x64: 2.7. What prefetches bring changes from
// run to run and between processors: an earlier run on the same kind of processor saw f32 lose a few percent up to
// width 1024. What they bring is more than that, so there is one answer for every width and type, also for widths that
// are known at run time only. `make bench BENCH_FLAGS='--only …'` beside a build with another answer measures it again.
bool cpu::usesPrefetch(rows::KernelOp, const Schedule &schedule) { return schedule.prefetch != PrefetchKind::Off; }
