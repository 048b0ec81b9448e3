// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One call of a compiled function: buffers for its arrays and the packed argument list. Does not compile or load.

#ifndef RESID_TOOLS_RESID_RUN_KERNELCALL_H
#define RESID_TOOLS_RESID_RUN_KERNELCALL_H

#include "codegen/boundary/Signature.h"
#include "runtime/resid_runtime.h"
#include "tools/resid-run/Arrays.h"
#include "tools/resid-run/LoadedObject.h"
#include <cstring>
#include <deque>

namespace mlir::resid::run {

class KernelCall {
public:
  /// Copies the arguments into their C form and makes room for the results. Sizes that must agree and do not are an
  /// error that names them. The rows of strided arrays get `rowPadding` elements between them.
  static llvm::Expected<std::unique_ptr<KernelCall>> create(boundary::KernelSignature signature,
                                                            llvm::ArrayRef<Array> arguments, int64_t rowPadding);

  /// Calls `function` with `context`.
  resid_status call(LoadedObject::PackedFunction function, const resid_ctx &context);

  std::vector<Array> getResults() const;
  /// The memory of all arrays, arguments before results, with what lies between their rows.
  SmallVector<llvm::MutableArrayRef<char>> getBytesOfAll() const;
  /// Gives functions another address for an array, by its number among all.
  void setAddress(size_t array, void *address) { std::memcpy(buffers[array].slot, &address, sizeof(address)); }
  /// The memory of each result, with what lies between its rows.
  SmallVector<llvm::MutableArrayRef<char>> getResultBytes() const;
  /// Memory that a call reads and writes: arguments and results.
  int64_t getBytes() const;
  /// Whether nothing was written between the rows of strided arrays.
  bool arePaddingsIntact() const;

private:
  struct Free {
    void operator()(void *pointer) const { resid_free(nullptr, pointer); }
  };
  /// Bytes in rows that lie evenly apart; what is contiguous is one row.
  struct Buffer {
    std::unique_ptr<char, Free> bytes;
    int64_t rows, rowBytes, stride;
    /// The C argument that has its address.
    uint64_t *slot = nullptr;

    int64_t size() const { return rows * stride; }
    void write(llvm::ArrayRef<char> contiguous);
    std::vector<char> read() const;
  };

  KernelCall(boundary::KernelSignature signature, int64_t rowPadding)
      : signature(std::move(signature)), rowPadding(rowPadding) {}
  llvm::Error readSizes(llvm::ArrayRef<Array> arguments);
  llvm::Error addArguments(llvm::ArrayRef<Array> arguments);
  llvm::Error addResults();
  /// Makes a buffer for the array that lives as long as this, and appends what C takes for it: its address, of an
  /// argument its sizes, the row stride where there is one.
  llvm::Error addBuffer(const Array &array, const boundary::KernelValue &value, llvm::ArrayRef<int64_t> sizesOfArray);
  /// Appends a C argument of at most eight bytes.
  template <typename Value> void push(Value value);

  boundary::KernelSignature signature;
  std::vector<int64_t> sizes;
  std::vector<Buffer> buffers;
  int64_t rowPadding;
  /// Results stand in the last buffers.
  std::vector<Array> results;
  /// The values of the C arguments, and pointers at them; a deque since these must stay where they are.
  std::deque<uint64_t> slots;
  std::vector<void *> packed;
};

} // namespace mlir::resid::run

#endif
