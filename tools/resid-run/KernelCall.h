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

/// Where the arrays of a call lie.
struct ArrayPlacement {
  /// Elements between the rows of strided arrays.
  int64_t rowPadding = 0;
  /// Whether each result lies in an argument that allows it, where one does that no result before has taken.
  bool inPlace = false;
};

class KernelCall {
public:
  /// Copies the arguments into their C form and makes room for the results. Sizes that must agree and do not are an
  /// error that names them. `placement` says where arrays lie.
  static llvm::Expected<std::unique_ptr<KernelCall>>
  create(boundary::KernelSignature signature, llvm::ArrayRef<Array> arguments, const ArrayPlacement &placement);

  /// Calls `function` with `context`.
  resid_status call(LoadedObject::PackedFunction function, const resid_ctx &context);

  std::vector<Array> getResults() const;
  /// The memory of all arrays, arguments before results, with what lies between their rows. A result in place has that
  /// of its argument.
  SmallVector<llvm::MutableArrayRef<char>> getBytesOfAll() const;
  /// Gives functions another address for an array, and for the result in place of it, by its number among all.
  void setAddress(size_t array, void *address) {
    for (uint64_t *slot : buffers[array].slots)
      std::memcpy(slot, &address, sizeof(address));
  }
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
    /// The C arguments that have its address.
    SmallVector<uint64_t *, 2> slots = {};

    int64_t size() const { return rows * stride; }
    void write(llvm::ArrayRef<char> contiguous);
    std::vector<char> read() const;
  };

  KernelCall(boundary::KernelSignature signature, const ArrayPlacement &placement)
      : signature(std::move(signature)), placement(placement) {}
  llvm::Error readSizes(llvm::ArrayRef<Array> arguments);
  llvm::Error addArguments(llvm::ArrayRef<Array> arguments);
  llvm::Error addResults();
  /// Makes a buffer for the array that lives as long as this, and appends what C takes for it: its address, of an
  /// argument its sizes, the row stride where there is one.
  llvm::Error addBuffer(const Array &array, const boundary::KernelValue &value, llvm::ArrayRef<int64_t> sizesOfArray);
  /// Appends what C takes for a result in the buffer of an argument, where one is free; says whether there is one.
  bool addInPlace(unsigned result);
  /// Appends a C argument of at most eight bytes.
  template <typename Value> void push(Value value);

  boundary::KernelSignature signature;
  std::vector<int64_t> sizes;
  std::vector<Buffer> buffers;
  ArrayPlacement placement;
  std::vector<Array> results;
  /// The buffer of each argument, and of each result; of a scalar none.
  std::vector<std::optional<size_t>> argumentBuffers;
  std::vector<size_t> resultBuffers;
  /// The values of the C arguments, and pointers at them; a deque since these must stay where they are.
  std::deque<uint64_t> slots;
  std::vector<void *> packed;
};

} // namespace mlir::resid::run

#endif
