// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What was measured, and what follows from it.

#include "codegen/cpu/RowOrderChoice.h"

using namespace mlir;
using namespace mlir::resid;

// What pipelined rows bring beyond the cache, on a Zen 5 EPYC, one thread: the time one row after the other (measured
// before and after) over theirs, medians, called by turns:
//
//                               4096x768    16384x1024  2048x4096   1024x8192
//   f32   add + layer norm      1.28, 1.19  1.15, 1.12  1.19, 1.16  1.05, 1.06
//         add + RMS norm        1.15, 1.16  1.04, 1.03  1.14, 1.15  1.17, 1.20
//         dropout + add + norm  1.13, 1.10  1.16, 1.13  1.09, 1.09  1.15, 1.14
//         layer norm            1.21, 1.16  1.14, 1.13  0.99, 0.94  0.88, 0.87
//         RMS norm              1.10, 1.13  1.13, 1.09  1.09, 1.04  0.99, 1.04
//   bf16  add + layer norm      1.02, 1.03  1.14, 1.09  1.04, 1.03  1.02, 1.01
//         add + RMS norm        1.06, 1.03  1.08, 1.09  1.09, 1.10  1.07, 1.10
//         dropout + add + norm  0.82, 0.82  0.81, 0.81  0.79, 0.78  0.77, 0.77
//         layer norm            1.01, 1.03  1.13, 1.15  1.07, 1.08  1.07, 1.05
//         RMS norm              0.99, 0.95  1.19, 1.25  1.12, 1.08  0.95, 0.93
//
// by `make bench-quick PEERS=none BENCH_FLAGS='--tries=3 --only=norm --also=--schedule=prefetch=on
// --also=--schedule=rows=single --also=--schedule=rows=pipelined --also=--schedule=rows=single,stores=auto
// --shapes=4096x768,16384x1024,2048x4096,1024x8192'` (the first of these flags is there because what follows the
// scalar path is slowed down by what that has left in the cache). A second run of the kernels with an add has 0.98 to
// 1.22, and the same losses in bf16 dropout. So the kernels that keep a row on the stack are pipelined, but for random
// numbers beside 16-bit rows. The others read their inputs again, which are further away then. Widths that are known at
// run time only were not measured.

/// Narrower rows would gain as well. But to compile f32 add + layer norm of 768 columns takes 420 million instructions
/// instead of 376 (`valgrind --tool=callgrind residc add_layer_norm.mlir --mcpu=znver5 --schedule=rows=pipelined`), and
/// to do so in 100 ms is an aim (docs/benchmarks.md).
static constexpr int64_t kLeastColumns = 1024;

bool cpu::paysToPipeline(rows::KernelOp kernel, const StreamedRows &streamed, bool prefetch) {
  std::optional<int64_t> width = getStaticWidth(kernel);
  if (!prefetch || !width || *width < kLeastColumns || streamed.getKept().empty())
    return false;
  bool isNarrow = llvm::any_of(streamed.getKept(), [](BlockArgument row) {
    return cast<rows::RowType>(row.getType()).getElementType().getIntOrFloatBitWidth() < 32;
  });
  return !isNarrow || !kernel.walk([](rows::RandomHalfOp) { return WalkResult::interrupt(); }).wasInterrupted();
}
