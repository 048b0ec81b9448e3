// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The table.

#include "codegen/cpu/ScheduleTable.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::resid;
using namespace mlir::resid::cpu;

namespace {

/// What kernels on inputs with elements of so many bits do from this width on, up to the next entry of the type.
struct ScheduleEntry {
  unsigned elementBits;
  int64_t fromWidth;
  bool prefetch;
};

} // namespace

// Add + layer norm and add + RMS norm with two results, one thread, results beyond the cache, on a Zen 5 EPYC; part of
// the speed of moving the same streams, without -> with prefetches (medians; the layer norm, then the RMS norm):
//   f32   768: 0.85 -> 0.78, 0.84 -> 0.81      bf16   768: 0.76 -> 0.78, 0.90 -> 0.91
//   f32  1024: 0.83 -> 0.78, 0.85 -> 0.79      bf16  1024: 0.68 -> 0.75, 0.79 -> 0.94
//   f32  2048: 0.64 -> 0.72, 0.74 -> 0.77      bf16  2048: 0.76 -> 0.80, 0.88 -> 0.90
//   f32  3072: 0.61 -> 0.70, 0.67 -> 0.74      bf16  3072: 0.69 -> 0.83, 0.92 -> 0.88
//   f32  4096: 0.60 -> 0.66, 0.64 -> 0.73      bf16  4096: 0.56 -> 0.83, 0.88 -> 0.87
//   f32  8192: 0.63 -> 0.62, 0.64 -> 0.68      bf16  8192: 0.61 -> 0.78, 0.69 -> 0.80
// f16 goes with bf16; f64 has not been measured. Where random numbers are made, the processor does not get far enough
// ahead of itself to read memory in time: by hand, dropout + add + layer norm in f32 gains 2.2x at width 768 and 1.8x
// at 4096.
static constexpr ScheduleEntry kTable[] = {
    {16, 0, /*prefetch=*/true},
    {32, 0, /*prefetch=*/false},
    {32, 2048, /*prefetch=*/true},
    {64, 0, /*prefetch=*/false},
};

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

/// The widest element among the inputs that have one element per column of each row.
static unsigned getInputBits(rows::KernelOp kernel) {
  unsigned bits = 0;
  for (unsigned i = 0; i < kernel.getInputs().size(); ++i)
    if (kernel.isAlongColumns(i) && kernel.getIndexingMap(i).getNumResults() == kernel.getIndexingMap(i).getNumDims())
      bits = std::max(bits,
                      cast<rows::RowType>(kernel.getRowArgument(i).getType()).getElementType().getIntOrFloatBitWidth());
  return bits;
}

bool cpu::usesPrefetch(rows::KernelOp kernel, const Schedule &schedule) {
  if (schedule.prefetch != PrefetchKind::Auto)
    return schedule.prefetch == PrefetchKind::On;
  if (kernel.getBody().walk([](rows::RandomHalfOp) { return WalkResult::interrupt(); }).wasInterrupted())
    return true;
  // A width that is known at run time only counts as narrow.
  int64_t width = getStaticWidth(kernel).value_or(0);
  bool prefetch = false;
  for (const ScheduleEntry &entry : kTable)
    if (entry.elementBits == getInputBits(kernel) && entry.fromWidth <= width)
      prefetch = entry.prefetch;
  return prefetch;
}
