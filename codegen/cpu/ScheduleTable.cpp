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

// Chosen by measuring add + layer norm and add + RMS norm beyond the cache with `--schedule=prefetch=off` and `=on`, on
// a Zen 5 EPYC with one thread: f32 loses by prefetches up to width 1024 and gains from 2048 on, bf16 gains or stays
// the same at all widths. f16 goes with bf16; f64 has not been measured. Where random numbers are made, the processor
// does not get far enough ahead of itself to read memory in time, and prefetches gain at every width.
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
