// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Memory that the threads of a block share.

#ifndef RESID_CODEGEN_CUDA_SHAREDARRAY_H
#define RESID_CODEGEN_CUDA_SHAREDARRAY_H

#include "codegen/builder/Code.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace mlir::resid::cuda {

/// `count` elements for the blocks of the function that is emitted into, aligned to vectors of 16 bytes.
class SharedArray {
public:
  /// `suffix`: of its name, after that of the function.
  SharedArray(Code &code, Type element, int64_t count, StringRef suffix);

  /// Where it begins, and where element `index` (i64) is.
  Value getStart(Code &code) const;
  Value getAddress(Code &code, Value index) const { return code.at(getStart(code), element, index); }

private:
  Type element;
  std::string name;
};

} // namespace mlir::resid::cuda

#endif // RESID_CODEGEN_CUDA_SHAREDARRAY_H
