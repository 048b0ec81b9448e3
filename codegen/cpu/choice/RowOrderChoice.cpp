// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What was measured, and what follows from it.

#include "codegen/cpu/choice/RowOrderChoice.h"

#include "codegen/cpu/rows/LaneLoops.h"
#include "codegen/rows/ElementMemory.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::cpu;

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
// scalar path is slowed down by what that has left in the cache). And without the last flag, at other shapes:
//
//                               196608x64  98304x128  49152x256  24576x512  16384x768  8192x2048
//   f32   add + layer norm           1.05       1.09       1.06       1.02       1.05       1.12
//         add + RMS norm             1.08       1.03       1.06       1.07       1.08       1.16
//         dropout + add + norm       1.19       1.11       1.08       1.05       1.05       1.20
//         layer norm                 0.99       1.13       0.98       1.01       1.04       1.16
//         RMS norm                   1.07       1.07       1.08       1.04       1.10       1.06
//   bf16  add + layer norm           1.02       1.15       1.04       1.03       1.08       1.02
//         add + RMS norm             1.01       1.05       1.03       1.05       1.03       1.06
//         dropout + add + norm       1.01       1.22       1.16       1.13       1.11       1.05
//         layer norm                 1.00       1.03       1.08       1.12       1.13       1.07
//         RMS norm                   1.00       1.06       1.15       1.23       1.25       1.49
//
// So kernels that keep a row on the stack are pipelined from one chunk of columns on. The others read their inputs
// again, which are further away then: they are where rows are short enough. Random numbers beside 16-bit rows are bound
// by arithmetic; what they gain in one run they lose twice in another. Rows of a width that is known at run time only
// are pipelined where they are kept on the stack: they are as fast as those of known widths then (docs/benchmarks.md).
// Where rows of f32 do not begin at cache lines, and are copied after their last phase, random numbers leave no time to
// win: dropout + add + norm of 4097x769 has 0.98, that of 16384x769 0.94 (the same command, with --only=dropout).

/// The number of columns from which on kernels that keep a row are pipelined, and those that read their inputs again.
static constexpr int64_t kLeastKept = 64, kLeastReread = 128;
/// Columns of f32 in a cache line.
static constexpr int64_t kColumnsOfLine = 16;
/// What of a row's inputs the first level of the cache holds beside the next row and the parameters.
static constexpr int64_t kMostReread = 8 * 1024;

static bool hasNarrowRows(rows::KernelOp kernel) {
  return llvm::any_of(kernel.getBody().getArguments(), [](BlockArgument argument) {
    auto row = dyn_cast<rows::RowType>(argument.getType());
    return row && row.getElementType().getIntOrFloatBitWidth() < 32;
  });
}

static bool drawsNumbers(rows::KernelOp kernel) {
  return kernel.walk([](rows::RandomHalfOp) { return WalkResult::interrupt(); }).wasInterrupted();
}

/// What each row has of the inputs by itself.
static int64_t countInputBytes(rows::KernelOp kernel, int64_t width) {
  int64_t bytes = 0;
  for (int64_t operand = 0, inputs = kernel.getInputs().size(); operand < inputs; ++operand) {
    AffineMap map = kernel.getIndexingMap(operand);
    auto isOf = [&](unsigned dim) { return map.isFunctionOfDim(dim); };
    if (!kernel.isAlongColumns(operand) || llvm::none_of(llvm::seq<unsigned>(0, kernel.getRowDims().size()), isOf))
      continue;
    Type element = cast<rows::RowType>(kernel.getRowArgument(operand).getType()).getElementType();
    bytes += width * rows::getElementBytes(element);
  }
  return bytes;
}

// What pipelined rows bring over batches, likewise: the time in batches over theirs.
//
//                               93750x128  62500x192  46875x256  31250x384  23437x512
//   f32   add + layer norm           1.03       1.09       1.07       1.04       1.06
//         add + RMS norm             1.08       1.05       1.01       1.07       1.03
//         dropout + add + norm       0.93       0.93       0.97       0.97       1.08
//   bf16  add + layer norm           0.67       0.67       0.69       0.80       0.86
//         add + RMS norm             0.86       0.84       0.86       1.04       1.02
//         dropout + add + norm       0.87       0.89       0.91       0.99       1.00
//
// by `make bench-quick PEERS=none BENCH_FLAGS='--tries=1 --only=add_ --also=--schedule=prefetch=on
// --also=--schedule=rows=batched --also=--schedule=rows=pipelined
// --shapes=93750x128,62500x192,46875x256,31250x384,23437x512'`. In f32 of 46875x256 on two threads, 0.99, 1.03, 1.02,
// by `make bench` with the same flags and --shapes=46875x256. Norms alone gain or lose by the width and by where in
// cache lines their rows begin, so they stay in batches.

/// From how many columns on rows past the cache are pipelined instead of batched, and where random numbers are drawn.
static constexpr int64_t kLeastInsteadOfBatches = 128, kLeastDrawnInsteadOfBatches = 512;

/// Whether pipelined rows are faster than batches of rows of a known width.
static bool beatsBatches(rows::KernelOp kernel, const StreamedRows &streamed, int64_t width) {
  return !streamed.getKept().empty() && !hasNarrowRows(kernel) && width % kLanes == 0 &&
         width >= (drawsNumbers(kernel) ? kLeastDrawnInsteadOfBatches : kLeastInsteadOfBatches);
}

bool cpu::paysToPipeline(rows::KernelOp kernel, const StreamedRows &streamed, bool prefetch, bool isBatched) {
  std::optional<int64_t> width = getStaticWidth(kernel);
  if (!prefetch || (drawsNumbers(kernel) && hasNarrowRows(kernel)))
    return false;
  if (width && isBatched)
    return beatsBatches(kernel, streamed, *width);
  if (!streamed.getKept().empty())
    return !width || (*width >= kLeastKept && (!drawsNumbers(kernel) || *width % kColumnsOfLine == 0));
  return width && *width >= kLeastReread && countInputBytes(kernel, *width) <= kMostReread;
}

// What batches bring to known widths beyond the cache, one thread, on a Zen 5 EPYC: the time one row after the other
// over theirs, medians, called by turns:
//
//                               262144x33  131072x65  65536x129  32768x256
//   f32   add + layer norm           1.85       1.00       0.93       1.01
//         dropout + add + norm       1.59       0.87       1.04       1.10
//   bf16  add + layer norm           2.45       1.91       1.87       1.54
//         dropout + add + norm       1.42       1.57       1.46       1.27
//
// by `make bench-quick PEERS=none BENCH_FLAGS='--tries=1 --only=add_layer_norm --also=--schedule=rows=single
// --shapes=262144x33,131072x65,65536x129,32768x256'`. Where memory is the limit, it stays that; what is lost at 65
// columns comes and goes between runs. In the cache, and where the width is known at run time only, they bring more
// (docs/benchmarks.md). With registers of 256 bits and random numbers, the loops would keep some values on the stack.
bool cpu::paysToBatch(rows::KernelOp kernel, const CPUTarget &target) {
  return target.isX86 && (target.vectorBits >= 512 || !drawsNumbers(kernel));
}
