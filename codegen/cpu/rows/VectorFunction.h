// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What everything shares that is emitted into one function of the vector path: stack memory, masks, the width of rows.
// Not: what is emitted (VectorRows.h, RowMemory.h).

#ifndef RESID_CODEGEN_CPU_ROWS_VECTORFUNCTION_H
#define RESID_CODEGEN_CPU_ROWS_VECTORFUNCTION_H

#include "codegen/builder/Code.h"
#include "codegen/cpu/choice/CPUTarget.h"
#include "codegen/cpu/rows/RowTail.h"
#include "codegen/kernels/ElementMemory.h"
#include "codegen/rows/RowAddressing.h"
#include "codegen/rows/SumOrder.h"

namespace mlir::resid::cpu {

class VectorFunction {
public:
  /// Stack memory is taken in `entry`, where the values of `addresses` are visible.
  VectorFunction(Code &builder, Block *entry, const rows::KernelAddresses &addresses, const CPUTarget &target)
      : builder(builder), entry(entry), addresses(addresses), target(target),
        tail(builder, addresses.width, /*hasMaskRegisters=*/target.maskedBits != 0 && target.maskedBits <= 16) {}

  /// The width (i64) in whole chunks; made at the builder's position where it is first asked for.
  Value getPaddedWidth(Location loc);
  /// Stack memory of the function, aligned to cache lines.
  Value allocate(Location loc, Type type);

  Code &builder;
  Block *entry;
  const rows::KernelAddresses &addresses;
  const CPUTarget &target;
  RowTail tail;
  /// Stack memory by type, for steps that go element by element.
  DenseMap<Type, Value> buffers;

private:
  Value paddedWidth;
};

} // namespace mlir::resid::cpu

#endif // RESID_CODEGEN_CPU_ROWS_VECTORFUNCTION_H
