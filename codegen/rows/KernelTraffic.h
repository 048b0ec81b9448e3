// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a row kernel on tensors reads and writes: which phases touch which operand, counted in its body, and how many
// bytes that is. For every target; changes nothing.

#ifndef RESID_CODEGEN_ROWS_KERNELTRAFFIC_H
#define RESID_CODEGEN_ROWS_KERNELTRAFFIC_H

#include "codegen/rows/RowsDialect.h"
#include <map>
#include <string>

namespace mlir::resid::rows {

/// A number of bytes: a sum of products of sizes that are known at run time, by name, each with a factor.
class ByteCount {
public:
  void add(std::vector<std::string> sizes, int64_t factor);
  ByteCount &operator+=(const ByteCount &other);
  bool operator==(const ByteCount &other) const { return terms == other.terms; }
  /// The number where all sizes are known.
  std::optional<int64_t> getNumber() const;
  /// As in `6144*x_dim0 + 3072`.
  std::string print() const;

private:
  /// Sorted names to factors, which are positive.
  std::map<std::vector<std::string>, int64_t> terms;
};

/// One tensor that the kernel reads, or one that it writes.
struct OperandTraffic {
  Value tensor; ///< the input, or the result
  bool isOutput = false;
  ByteCount bytes;
  /// How many phases load and store its elements on the way of an ordinary row (rare branches aside). Rows that later
  /// phases load again come from the cache.
  unsigned loads = 0, stores = 0;
};

/// The operands, inputs first. `nameSize` gives a dynamic size, a kernel's dimension, its name.
SmallVector<OperandTraffic> measureTraffic(KernelOp kernel, function_ref<std::string(Value size)> nameSize);

} // namespace mlir::resid::rows

#endif // RESID_CODEGEN_ROWS_KERNELTRAFFIC_H
