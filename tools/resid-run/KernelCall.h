// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One call of a compiled function: buffers for its arrays and the packed argument list. Does not compile or load.

#ifndef RESID_TOOLS_RESID_RUN_KERNELCALL_H
#define RESID_TOOLS_RESID_RUN_KERNELCALL_H

#include "codegen/emit/Signature.h"
#include "runtime/resid_runtime.h"
#include "tools/resid-run/Arrays.h"
#include "tools/resid-run/LoadedObject.h"
#include <deque>

namespace mlir::resid::run {

class KernelCall {
public:
  /// Copies the arguments into their C form and makes room for the results. Sizes that must agree and do not are an
  /// error that names them.
  static llvm::Expected<std::unique_ptr<KernelCall>> create(emit::KernelSignature signature,
                                                            llvm::ArrayRef<Array> arguments);

  /// Calls `function` with `context`.
  resid_status call(LoadedObject::PackedFunction function, const resid_ctx &context);

  std::vector<Array> getResults() const;

private:
  struct Free {
    void operator()(void *pointer) const { resid_free(nullptr, pointer); }
  };
  using Buffer = std::unique_ptr<void, Free>;

  explicit KernelCall(emit::KernelSignature signature) : signature(std::move(signature)) {}
  llvm::Error readSizes(llvm::ArrayRef<Array> arguments);
  llvm::Error addArguments(llvm::ArrayRef<Array> arguments);
  llvm::Error addResults();
  /// The address of a new buffer of `bytes` bytes that lives as long as this.
  llvm::Expected<void *> addBuffer(int64_t bytes);
  /// Appends a C argument of at most eight bytes.
  template <typename Value> void push(Value value);

  emit::KernelSignature signature;
  std::vector<int64_t> sizes;
  std::vector<Buffer> buffers;
  std::vector<Array> results;
  std::vector<const char *> resultBytes;
  /// The values of the C arguments, and pointers at them; a deque since these must stay where they are.
  std::deque<uint64_t> slots;
  std::vector<void *> packed;
};

} // namespace mlir::resid::run

#endif
