// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An object in memory made callable. Owns the JIT session; knows nothing of arrays.

#ifndef RESID_TOOLS_RESID_RUN_LOADEDOBJECT_H
#define RESID_TOOLS_RESID_RUN_LOADEDOBJECT_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/Support/Error.h"
#include <memory>

namespace mlir::resid::run {

class LoadedObject {
public:
  /// `F__packed(void **args)`: args[i] points at the i-th argument of F in C, the last one at the resid_status it
  /// answers.
  using PackedFunction = void (*)(void **);

  static llvm::Expected<LoadedObject> load(llvm::ArrayRef<char> object);
  llvm::Expected<PackedFunction> lookUp(llvm::StringRef function);

private:
  std::unique_ptr<llvm::orc::LLJIT> jit;
};

} // namespace mlir::resid::run

#endif
