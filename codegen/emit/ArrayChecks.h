// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a C function checks about its arrays before it works on them: pointers, sizes, row strides, overlaps. Does not own
// which outputs may be an input's buffer (SharedBuffers.h).

#ifndef RESID_CODEGEN_EMIT_ARRAYCHECKS_H
#define RESID_CODEGEN_EMIT_ARRAYCHECKS_H

#include "codegen/emit/EntryCode.h"
#include "codegen/emit/SizeCode.h"

namespace mlir::resid::emit {

class ArrayChecks {
public:
  ArrayChecks(EntryCode &entry, SizeCode &code, const KernelSignature &signature, ArrayRef<EntryParameter> arguments,
              ArrayRef<EntryParameter> results)
      : entry(entry), code(code), signature(signature), arguments(arguments), results(results) {}

  /// Leaves with BadPointer, BadShape or Alias, in this order.
  void emit();

private:
  struct Extent {
    Value start, end;
  };

  void checkPointers();
  void checkSizes();
  void checkOverlap(const EntryParameter &output, const EntryParameter &other, bool mayBeEqual);
  Extent emitExtent(const EntryParameter &array);
  /// Whether the rows of two strided arrays take turns, each in columns of its own.
  Value areInterleaved(const EntryParameter &a, const EntryParameter &b);

  EntryCode &entry;
  SizeCode &code;
  const KernelSignature &signature;
  ArrayRef<EntryParameter> arguments, results;
};

} // namespace mlir::resid::emit

#endif // RESID_CODEGEN_EMIT_ARRAYCHECKS_H
